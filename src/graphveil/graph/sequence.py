"""The graph sequence: every node and edge so far, in columns, in order of arrival.

Nodes are labelled 0, 1, 2, … by step and, within a step, by identity, so that labels
never depend on the order of rows in a file. Every edge joins an *older* node (smaller
label) to a *newer* one. An edge that appears together with its newer endpoint is
*prompt*: it is in that node's list of older neighbours, and since lists follow labels,
appending a step appends lists. An edge with a later step of its own is *late* and is stored
in order of its step, separate from the lists.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.errors import ParameterError
from graphveil.graph.columns import Column
from graphveil.graph.groups import NO_GROUPS, Groups
from graphveil.graph.intake.id_table import Ids, Index, as_series
from graphveil.graph.intake.identity import IdIndex
from graphveil.graph.intake.rules import Late, RecordRules, Undated

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.graph.intake.appending import Intake
    from graphveil.graph.intake.records import Records


# An entry packs an older neighbour and how the pair is linked: older << 2 | direction.
FORWARD = 1  # older → newer
BACKWARD = 2  # newer → older
BOTH = 3  # both; also every undirected edge
MOST_NODES = 2**29  # what fits beside the two direction bits
UNSTATED = -1  # among the stated steps, marks a record without a time


@dataclass(frozen=True, eq=False)
class LateEdges:
    """Edges that appear later than both their endpoints, ordered by step, newer, older.

    Attributes:
        offsets: (steps + 1,) the late edges of step t are offsets[t]..offsets[t + 1].
        newer: (late,) int32 label of the newer endpoint.
        entries: (late,) int32 older endpoint and direction, packed as in the lists.
    """

    offsets: NDArray[np.int64]
    newer: NDArray[np.int32]
    entries: NDArray[np.int32]

    @classmethod
    def none(cls, steps: int) -> LateEdges:
        """No late edges in `steps` steps."""
        empty = np.empty(0, dtype=np.int32)
        return cls(np.zeros(steps + 1, dtype=np.int64), empty, empty)

    def until(self, steps: int) -> LateEdges:
        """Those of the first `steps` steps."""
        end = self.offsets[steps]
        return LateEdges(self.offsets[: steps + 1], self.newer[:end], self.entries[:end])

    def __len__(self) -> int:
        return len(self.newer)


@dataclass(frozen=True, eq=False)
class Growth:
    """What a sequence needs in order to grow at the cost of what is new."""

    index: Index
    stated: Column[np.int32]
    offsets: Column[np.int64]
    entries: Column[np.int32]
    late_newer: Column[np.int32]
    late_entries: Column[np.int32]
    strata: Column[np.int32] | None = None

    @classmethod
    def of(cls, sequence: GraphSequence) -> Growth:
        """Columns that hold what the sequence has."""
        return cls(
            index=IdIndex.of(sequence.ids),
            stated=Column.of(sequence.stated),
            offsets=Column.of(sequence.offsets),
            entries=Column.of(sequence.entries),
            late_newer=Column.of(sequence.late.newer),
            late_entries=Column.of(sequence.late.entries),
            strata=None if sequence.strata is None else Column.of(sequence.strata),
        )


@dataclass(frozen=True, eq=False)
class GraphSequence:
    """All batches so far of one growing graph; a value that is never changed in place.

    It is a secret: `repr` shows its calendar and kind, but nobody in it.

    Attributes:
        calendar: how times become steps.
        directed: whether u→v differs from v→u.
        oriented: whether reciprocal edges were declared impossible (and are refused).
        names: (nodes,) the id of each label, perhaps in a form that is mapped from a file.
        stated: (nodes,) int32, the step that each node's record stated, or UNSTATED: of a late
            record, another one than the step that it joined.
        node_offsets: (steps + 1,) the nodes of step t are node_offsets[t]..node_offsets[t + 1].
        offsets: (nodes + 1,) the list of label v is entries[offsets[v]:offsets[v + 1]].
        entries: (prompt pairs,) int32, ascending within each list.
        late: the edges with a later step of their own.
        growth: the columns above in a form that grows.
        strata: (nodes,) int32, the labels of each node in all groups of its study; None if there
            are no groups.

    Examples:
        >>> sequence = GraphSequence.begin(Calendar.yearly(2021))
        >>> sequence, report = sequence.extend(from_rows([("ann", 2021), ("bob", 2023)]))
        >>> sequence.labels
        ['2021', '2022', '2023']
    """

    calendar: Calendar
    directed: bool
    oriented: bool
    names: Ids = field(repr=False)
    stated: NDArray[np.int32] = field(repr=False)
    node_offsets: NDArray[np.int64] = field(repr=False)
    offsets: NDArray[np.int64] = field(repr=False)
    entries: NDArray[np.int32] = field(repr=False)
    late: LateEdges = field(repr=False)
    growth: Growth | None = field(default=None, repr=False)
    strata: NDArray[np.int32] | None = field(default=None, repr=False)

    @classmethod
    def begin(
        cls,
        calendar: Calendar,
        *,
        directed: bool = False,
        oriented: bool = False,
        grouped: bool = False,
    ) -> GraphSequence:
        """A sequence without steps, to be extended by batches of records."""
        if oriented and not directed:
            raise ParameterError("oriented", "is a property of directed sequences only")
        return cls(
            calendar=calendar,
            directed=directed,
            oriented=oriented,
            names=pl.Series("id", [], dtype=pl.Int64),
            stated=np.empty(0, dtype=np.int32),
            node_offsets=np.zeros(1, dtype=np.int64),
            offsets=np.zeros(1, dtype=np.int64),
            entries=np.empty(0, dtype=np.int32),
            late=LateEdges.none(0),
            strata=np.empty(0, dtype=np.int32) if grouped else None,
        )

    def extend(
        self,
        records: Records,
        *,
        undated: Undated = "refuse",
        late: Late = "refuse",
        upto: int | None = None,
        groups: Groups = NO_GROUPS,
    ) -> Intake:
        """The sequence with a batch of records appended, and a private report about them.

        Nothing that has arrived is recomputed, and this sequence stays as it is. Records of
        closed steps, and nodes without a time, are refused unless a rule says otherwise.

        Args:
            records: nodes and edges of open steps, in any row order.
            undated: refuse a node without a time, or put it into the "first" open step.
            late: refuse records of closed steps, or let them "join" the first open step.
            upto: the last step to close; None closes up to the last one with a record.
            groups: the public lists of labels that people have, if the sequence was begun with any.
        """
        from graphveil.graph.intake.appending import append
        from graphveil.graph.intake.resolving import resolve

        rules = RecordRules(undated=undated)
        given = resolve(records, self.calendar, rules, groups=groups)
        return append(self, given, late=late, upto=upto)

    def until(self, steps: int) -> GraphSequence:
        """The sequence as it was after its first `steps` steps."""
        if not 0 <= steps <= self.steps:
            raise ParameterError("steps", f"must lie in 0..{self.steps}")
        nodes = int(self.node_offsets[steps])
        return replace(
            self,
            names=self.names.head(nodes),
            stated=self.stated[:nodes],
            node_offsets=self.node_offsets[: steps + 1],
            offsets=self.offsets[: nodes + 1],
            entries=self.entries[: self.offsets[nodes]],
            late=self.late.until(steps),
            growth=None,
            strata=None if self.strata is None else self.strata[:nodes],
        )

    def closed(self, through: int) -> GraphSequence:
        """The sequence up to the step `through`; steps that no record names are empty."""
        from graphveil.graph.intake.appending import append
        from graphveil.graph.intake.resolving import nothing

        if through < self.steps:
            return self.until(through + 1) if through + 1 < self.steps else self
        return append(self, nothing(), late="refuse", upto=through).sequence

    def undirected(self) -> GraphSequence:
        """The same sequence without directions; a pair linked both ways is one edge."""
        if not self.directed:
            return self
        return replace(
            self,
            directed=False,
            oriented=False,
            entries=self.entries | BOTH,
            late=_undirected_late(self),
            growth=None,
        )

    @property
    def index(self) -> Index:
        """From ids to labels."""
        return self.growth.index if self.growth else IdIndex.of(self.ids)

    @property
    def ids(self) -> pl.Series:
        """(nodes,) the id of each label."""
        return as_series(self.names)

    @property
    def labels(self) -> list[str]:
        """The public names of the steps."""
        return [self.calendar.label(step) for step in range(self.steps)]

    @property
    def steps(self) -> int:
        """How many steps the sequence has so far."""
        return len(self.node_offsets) - 1

    @property
    def nodes(self) -> int:
        """How many nodes have arrived (a true count: private)."""
        return int(self.node_offsets[-1])

    @property
    def edges(self) -> int:
        """How many edges have appeared (a true count: private)."""
        prompt = edges_in(self.entries, directed=self.directed)
        return prompt + edges_in(self.late.entries, directed=self.directed)


def edges_in(entries: NDArray[np.int32], *, directed: bool) -> int:
    """How many edges some entries are: in a directed graph, a pair linked both ways is two."""
    both = int(((entries & BOTH) == BOTH).sum()) if directed else 0
    return len(entries) + both


def _undirected_late(sequence: GraphSequence) -> LateEdges:
    """Late edges whose pair has no earlier edge, in either direction."""
    from graphveil.graph.intake.kernels import prompt_directions

    late = sequence.late
    older = late.entries >> 2
    known = prompt_directions(sequence.offsets, sequence.entries, late.newer, older) != 0
    pairs = late.newer.astype(np.int64) << 32 | older
    first = np.zeros(len(late), dtype=np.bool_)
    first[np.unique(pairs, return_index=True)[1]] = True
    new = first & ~known
    ends = np.concatenate([[0], np.cumsum(new)])
    return LateEdges(ends[late.offsets], late.newer[new], late.entries[new] | np.int32(BOTH))


# The recent network: the people of some steps in a row, and the links among them so far.


def recent_part(sequence: GraphSequence, step: int, window: int) -> GraphSequence:
    """Who arrived in the last `window` steps up to `step`, and what links them by then.

    A sequence of these steps alone; an edge that is late in the whole one is late in it. It takes
    no longer than its own people and their lists are long.
    """
    start = max(0, step + 1 - window)
    first, last = (int(sequence.node_offsets[place]) for place in (start, step + 1))
    lists = sequence.offsets[first : last + 1]
    entries = sequence.entries[lists[0] : lists[-1]]
    among = entries >> 2 >= first
    return replace(
        sequence,
        names=sequence.names.slice(first, last - first),
        stated=sequence.stated[first:last],
        node_offsets=sequence.node_offsets[start : step + 2] - first,
        offsets=_ends(among)[lists - lists[0]],
        entries=entries[among] - np.int32(first << 2),
        late=_recent_late(sequence.late, start, step, first),
        growth=None,
        strata=None if sequence.strata is None else sequence.strata[first:last],
    )


def at_once(sequence: GraphSequence) -> GraphSequence:
    """The same graph in the end, all of it there at a single step."""
    if sequence.steps < 2:
        return sequence
    late, ends = sequence.late, np.array([0, sequence.nodes], dtype=np.int64)
    offsets = np.array([0, len(late)], dtype=np.int64)
    return replace(sequence, node_offsets=ends, late=LateEdges(offsets, late.newer, late.entries))


def _recent_late(late: LateEdges, start: int, step: int, first: int) -> LateEdges:
    """The late edges of some steps between nodes from `first` on."""
    offsets = late.offsets[start : step + 2]
    share = slice(int(offsets[0]), int(offsets[-1]))
    entries = late.entries[share]
    among = entries >> 2 >= first  # then so is the newer end
    return LateEdges(
        _ends(among)[offsets - offsets[0]],
        late.newer[share][among] - np.int32(first),
        entries[among] - np.int32(first << 2),
    )


def _ends(retained: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> np.ndarray:
    """How many are retained before each place, and in all."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(retained)])
