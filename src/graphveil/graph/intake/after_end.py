"""Records of after the last step: ignored one by one, where their steward says so.

A row is judged by its own time, an edge also by when its two ends arrive: whoever arrives after
the last step is not there, and has no links. So what is ignored depends on records of the persons
in it alone, and deleting one person's records changes nothing about anybody else's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.intake.identity import IdIndex
from graphveil.graph.intake.resolving import Resolved, stated_steps

if TYPE_CHECKING:
    import polars as pl

    from graphveil.graph.intake.records import Table

Mask = NDArray[np.bool_]


def until_end(
    resolved: Resolved, last_step: int | None, is_known: Callable[[pl.Series], Mask]
) -> Resolved:
    """Resolved records without those of after the last step, which are counted.

    A row of somebody who is known already says nothing about their time, as one without it.

    Args:
        resolved: with a step after the last where the time is after the end.
        last_step: of the calendar; None if nothing is after its end.
        is_known: whether nodes were there before these records.
    """
    late, late_edges = (_after(table, last_step) for table in (resolved.nodes, resolved.edges))
    if not late.any() and not late_edges.any():
        return resolved
    ids = resolved.nodes.frame["node"]
    again = late & is_known(ids)
    ignored = late & ~again
    late_edges |= linked_to(resolved.edges, ids, ignored)
    return replace(
        replace(resolved, nodes=_undated(resolved.nodes, again)).without(ignored, late_edges),
        nodes_after_end=int(ignored.sum()),
        edges_after_end=int(late_edges.sum()),
    )


def _after(table: Table, last_step: int | None) -> Mask:
    steps = stated_steps(table)
    return np.zeros(len(steps), np.bool_) if last_step is None else steps > last_step


def _undated(nodes: Table, rows: Mask) -> Table:
    """Nodes of which some rows no longer state a step."""
    import polars as pl

    step = pl.when(pl.Series(rows)).then(None).otherwise(pl.col("step")).alias("step")
    return replace(nodes, frame=nodes.frame.with_columns(step))


def linked_to(edges: Table, ids: pl.Series, ignored: Mask) -> Mask:
    """The edges of people of whom every row is ignored."""
    import polars as pl

    gone, here = (IdIndex.of(ids.filter(pl.Series(rows)).unique()) for rows in (ignored, ~ignored))
    found = np.zeros(len(edges.frame), np.bool_)
    for end in ("source", "target"):
        named = edges.frame[end]
        found |= (gone.labels(named) >= 0) & (here.labels(named) < 0)
    return found
