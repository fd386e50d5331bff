"""Segments: the sealed graph, step by step, in private tables that are only ever added to.

The nodes of a step in label order, each with the step that its record stated and the number of
its prompt edges; and the edges of the step: first the prompt ones in list order, then the late
ones. Read one after the other they are the columns of a graph sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.columns import Column
from graphveil.graph.identity import IdIndex, same_form
from graphveil.graph.sequence import BOTH, GraphSequence, Growth, LateEdges
from graphveil.study.ledger import SealedTables
from graphveil.study.records.private_tables import read_table

if TYPE_CHECKING:
    import polars as pl

    from graphveil.study.promise import Promise


@dataclass(frozen=True, eq=False)
class Segment:
    """The tables of one step; a secret."""

    nodes: pl.DataFrame = field(repr=False)
    edges: pl.DataFrame = field(repr=False)


def segment(sequence: GraphSequence, step: int) -> Segment:
    """What a step adds to the graph."""
    import polars as pl

    first, stop = sequence.node_offsets[step : step + 2].tolist()
    lengths = np.diff(sequence.offsets[first : stop + 1]).astype(np.int32)
    nodes = pl.DataFrame(
        {
            "node": sequence.ids.slice(first, stop - first),
            "stated": sequence.stated[first:stop],
            "links": lengths,
        }
    )
    prompt = sequence.entries[sequence.offsets[first] : sequence.offsets[stop]]
    newer = np.repeat(np.arange(first, stop, dtype=np.int32), lengths)
    begin, end = sequence.late.offsets[step : step + 2]
    late = sequence.late.newer[begin:end], sequence.late.entries[begin:end]
    edges = pl.concat([_edges(newer, prompt, late=False), _edges(*late, late=True)])
    return Segment(nodes, edges)


def _edges(newer: NDArray[np.int32], entries: NDArray[np.int32], *, late: bool) -> pl.DataFrame:
    import polars as pl

    direction = (entries & BOTH).astype(np.uint8)
    return pl.DataFrame(
        {"newer": newer, "older": entries >> np.int32(2), "direction": direction}
    ).with_columns(late=pl.lit(late))


def load(folder: Path, sealed: Sequence[SealedTables], promise: Promise) -> GraphSequence:
    """The sealed graph, once every file is found to be unchanged."""
    empty = GraphSequence.begin(
        promise.calendar, directed=promise.directed, oriented=promise.bound.oriented
    )
    if not sealed:
        return empty
    parts = [
        Segment(read_table(folder, each.nodes), read_table(folder, each.edges)) for each in sealed
    ]
    return _joined(empty, parts)


def _joined(empty: GraphSequence, parts: Sequence[Segment]) -> GraphSequence:
    import polars as pl

    ids = pl.concat(same_form(*(part.nodes["node"] for part in parts))).rename("id")
    nodes = pl.concat([part.nodes.select("stated", "links") for part in parts])
    prompt = [int(part.nodes["links"].sum()) for part in parts]  # these come first
    late = [part.edges.slice(first) for part, first in zip(parts, prompt, strict=True)]
    growth = Growth(
        index=IdIndex.of(ids),
        stated=Column.joined([nodes["stated"].to_numpy()]),
        offsets=Column.joined([_ends(nodes["links"].to_numpy())]),
        entries=_entries([part.edges.head(n) for part, n in zip(parts, prompt, strict=True)]),
        late_newer=Column.joined([edges["newer"].to_numpy() for edges in late]),
        late_entries=_entries(late),
    )
    return replace(
        empty,
        ids=ids,
        stated=growth.stated.values,
        node_offsets=_ends([len(part.nodes) for part in parts]),
        offsets=growth.offsets.values,
        entries=growth.entries.values,
        late=LateEdges(
            _ends([len(edges) for edges in late]),
            growth.late_newer.values,
            growth.late_entries.values,
        ),
        growth=growth,
    )


def _entries(parts: Sequence[pl.DataFrame]) -> Column[np.int32]:
    """Older neighbours and directions, packed as a sequence has them."""
    column = Column.joined([part["older"].to_numpy() for part in parts])
    entries = column.values  # as yet, nobody else has it
    entries <<= 2
    entries |= np.concatenate([part["direction"].to_numpy() for part in parts])
    return column


def _ends(lengths: NDArray[np.int32] | Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
