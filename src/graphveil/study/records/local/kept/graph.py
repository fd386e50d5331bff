"""The sealed graph as it is kept: its columns in an arena, and beside them what is small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphveil.graph.columns import Column
from graphveil.graph.degrees import FinalDegrees
from graphveil.graph.intake.id_table import IdColumns, IdTable, Numbers, Slots, Texts
from graphveil.graph.sequence import GraphSequence, Growth, LateEdges
from graphveil.study.records.local.kept.arena import Arena, Values

if TYPE_CHECKING:
    from graphveil.graph.projection import EdgeLists

GROWING = ("stated", "offsets", "entries", "late_newer", "late_entries")
SLOTS, NUMBERS, TEXT_ENDS, TEXTS = "slots", "numbers", "text_ends", "texts"


@dataclass(frozen=True, eq=False)
class KeptGraph:
    """The graph as of a sealed step; a secret.

    Attributes:
        sequence: the graph, mapped.
        degrees: of everybody, so that a promise is checked at the cost of what is new.
        arena: where its columns lie.
    """

    sequence: GraphSequence = field(repr=False)
    degrees: FinalDegrees = field(repr=False)
    arena: Arena = field(repr=False)


def column(arena: Arena, name: str) -> Column[Any]:
    """A column of an arena, with the room behind it."""
    return Column.within(arena.whole(name), arena.length(name))


def columns_of(sequence: GraphSequence, index: IdTable) -> dict[str, Values]:
    """Everything that grows with the graph, by name."""
    growth = sequence.growth or Growth.of(sequence)
    held = {name: getattr(growth, name).values for name in GROWING}
    return held | _ids(index.known) | {SLOTS: index.slots.places}


def table_of(sequence: GraphSequence) -> IdTable:
    """Its table of ids, which is made from all ids if there is none yet."""
    import polars as pl

    index = sequence.index
    if isinstance(index, IdTable):
        return index
    ids = sequence.ids.rechunk()
    return IdTable.of(Numbers.of(ids) if ids.dtype == pl.Int64 else Texts.of(ids))


def lists_of(lists: EdgeLists) -> dict[str, Values]:
    """The edges of a projection, by name."""
    return {name: each.values for name, each in lists._asdict().items()}


def beside(sequence: GraphSequence, index: IdTable, degrees: FinalDegrees) -> dict[str, Any]:
    """What does not lie in the arena."""
    directed = {"inward": degrees.inward} if sequence.directed else {}
    return {
        "node_offsets": sequence.node_offsets,
        "late_offsets": sequence.late.offsets,
        "seed": index.seed,
        "outward": degrees.outward,
        **directed,
    }


def read_graph(empty: GraphSequence, arena: Arena, data: Mapping[str, Any]) -> KeptGraph:
    """The graph that lies in an arena."""
    growth = Growth(index=_table(arena, data), **{name: column(arena, name) for name in GROWING})
    late = LateEdges(
        data["late_offsets"].copy(), growth.late_newer.values, growth.late_entries.values
    )
    sequence = replace(
        empty,
        names=growth.index.ids,
        stated=growth.stated.values,
        node_offsets=data["node_offsets"].copy(),  # not read-only, as kernels want it
        offsets=growth.offsets.values,
        entries=growth.entries.values,
        late=late,
        growth=growth,
    )
    outward = data["outward"]
    return KeptGraph(
        sequence,
        FinalDegrees(outward, data.get("inward", outward), sequence.steps),
        arena,
    )


def _ids(known: IdColumns) -> dict[str, Values]:
    if isinstance(known, Texts):
        return {TEXT_ENDS: known.ends.values, TEXTS: known.content.values}
    return {NUMBERS: known.column.values}


def _table(arena: Arena, data: Mapping[str, Any]) -> IdTable:
    texts = TEXTS in arena.layout.regions
    known: IdColumns = (
        Texts(column(arena, TEXT_ENDS), column(arena, TEXTS))
        if texts
        else Numbers(column(arena, NUMBERS))
    )
    places = arena.whole(SLOTS)[: arena.length(SLOTS)]
    return IdTable(known, Slots(places, len(known)), data["seed"])


def same_graph(found: GraphSequence, expected: GraphSequence) -> bool:
    """Whether two graphs are the same, entry by entry."""
    own = ("node_offsets", "stated", "offsets", "entries")
    pairs = [(getattr(found, each), getattr(expected, each)) for each in own]
    late = ("offsets", "newer", "entries")
    pairs += [(getattr(found.late, each), getattr(expected.late, each)) for each in late]
    same = all(np.array_equal(one, other) for one, other in pairs)
    return same and found.ids.cast(str).equals(expected.ids.cast(str))
