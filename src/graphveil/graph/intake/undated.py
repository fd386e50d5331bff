"""People without a date: left out one by one, with their links, where their steward says so.

Whoever has a date in another row, or was there before, is not left out. So what is left out depends
on records of the persons in it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.intake.after_end import linked_to
from graphveil.graph.intake.resolving import Resolved

if TYPE_CHECKING:
    import polars as pl

Mask = NDArray[np.bool_]


def dated_only(resolved: Resolved, is_known: Callable[[pl.Series], Mask]) -> Resolved:
    """Resolved records without people who have no date; both are counted.

    Args:
        resolved: with no step where nobody dates a node.
        is_known: whether nodes were there before these records.
    """
    nodes = resolved.nodes.frame
    undated = nodes["step"].is_null().to_numpy()
    if not undated.any():
        return resolved
    dropped = undated & ~is_known(nodes["node"])
    theirs = linked_to(resolved.edges, nodes["node"], dropped)
    return replace(
        resolved.without(dropped, theirs),
        nodes_undated=int(dropped.sum()),
        edges_undated=int(theirs.sum()),
    )
