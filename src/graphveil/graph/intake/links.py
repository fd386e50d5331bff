"""Links: the new edges of a batch, sorted into prompt lists and late edges."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.errors import PastStepError, RecordError
from graphveil.graph.intake.arrivals import steps_of_labels
from graphveil.graph.intake.id_table import Index
from graphveil.graph.intake.identity import UNKNOWN
from graphveil.graph.intake.records import IntakeReport, Table, Violation
from graphveil.graph.intake.resolving import stated_steps
from graphveil.graph.intake.rules import Late
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, UNSTATED, edges_in
from graphveil.threads import available_threads, in_threads

if TYPE_CHECKING:
    from graphveil.graph.sequence import GraphSequence

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ALL = np.empty(0, dtype=np.bool_)  # every edge is prompt
_NONE = np.empty(0, dtype=np.bool_)  # no edge is raised
_MOST_SHARES = 8
_WORTH_A_THREAD = 1 << 14  # rows
_MOST_SMALL = 2**31 - 1  # rows whose places are numbers of 32 bits: half as much memory to visit
UNKNOWN_END = "the edge names a node that is not in the nodes"
UNKNOWN_END_HINT = "Add the node with its time, or remove the edge."
CLOSED = "the edge belongs to a closed step; the first open one is {}"
CLOSED_HINT = (
    "Give the edge its own, later time, or choose the rule that late records join the open step."
)
RECIPROCAL = "the edge is the reverse of an existing one, in a sequence declared oriented"
RECIPROCAL_HINT = "Remove one of the two, or declare the sequence directed but not oriented."


# The rules, over columns of rows: whoever moves the rows asks them, here or on a cluster.


def own_steps(stated: Int32s, arrival: Int32s) -> tuple[Int32s, Mask]:
    """The step of each edge, and whether it was raised to that at which its newer end arrives."""
    return np.maximum(stated, arrival), (stated != UNSTATED) & (stated < arrival)


def entries_of(source: Int32s, target: Int32s, *, directed: bool) -> Int32s:
    """The older end of each edge, and its direction from there."""
    direction = np.where(source < target, FORWARD, BACKWARD) if directed else BOTH
    return (np.minimum(source, target) << 2 | direction).astype(np.int32)


def keys_of(newer: Int32s, entries: Int32s) -> Int64s:
    """One number per pair and direction."""
    return newer.astype(np.int64) << 31 | entries


def first_of_each(keys: Int64s, steps: Int32s, rows: Int64s) -> Int64s:
    """The place of the row that counts of each edge, by key: the earliest step, then row."""
    order = np.argsort(keys)
    begins = np.append(True, keys[order][1:] != keys[order][:-1])[: len(order)]
    if not begins.all():  # seldom, and what follows takes five times as long
        order = np.lexsort((rows, steps, keys))
    found: Int64s = order[begins]
    return found


def contradicting(keys: Int64s, waits: Mask, known: Mask, reverse_known: Mask) -> Mask:
    """Rows of an oriented sequence whose reverse is known, or in the batch as well.

    What is known stays, and may be listed again. Of two that are new both are refused: nobody
    can say which is right, and the order of rows must not decide.

    Args:
        keys: of rows between different people.
        waits: which of them came before, and wait.
        known: which the sequence has already.
        reverse_known: of which it has the reverse.
    """
    known_before = known | np.isin(keys, keys[waits])
    return (reverse_known | np.isin(keys ^ BOTH, keys)) & ~known_before


class Survey(NamedTuple):
    """What rows of edges have in common.

    Attributes:
        lowest: of all labels; negative if some end is unknown, and large if there is no row.
        lowest_newer: the lowest of the labels at newer ends, likewise.
        self_links: how many rows join a node to itself.
    """

    lowest: int
    lowest_newer: int
    self_links: int


class Endpoints(NamedTuple):
    """The labels at both ends of every edge row."""

    source: Int32s
    target: Int32s

    def part(self, rows: slice) -> Endpoints:
        """Those of some rows."""
        return Endpoints(self.source[rows], self.target[rows])

    def survey(self) -> Survey:
        """What holds for all rows."""
        from graphveil.graph.intake import kernels

        shares = [self.part(rows) for rows in _row_shares(len(self.source))]
        found = in_threads(kernels.survey, shares)
        lowest, lowest_newer, self_links = zip(*found, strict=True)
        return Survey(min(lowest), min(lowest_newer), sum(self_links))

    def distinct(self, *, directed: bool) -> int:
        """How many different edges the rows are; a self-link is none."""
        rows = self.source != self.target
        first, second = self.source[rows].astype(np.int64), self.target[rows]
        if not directed:
            first, second = np.minimum(first, second), np.maximum(first, second)
        return pl.Series(first << 32 | second).n_unique()


@dataclass(frozen=True, eq=False)
class Lists:
    """The prompt edges of new nodes: one ascending list of older neighbours per node."""

    offsets: Int64s
    entries: Int32s


@dataclass(frozen=True, eq=False)
class LateRows:
    """Edges with a later step of their own, and the rows they stand in."""

    rows: Int64s
    steps: Int32s
    newer: Int32s
    entries: Int32s

    def keys(self) -> Int64s:
        """One number per pair and direction."""
        return keys_of(self.newer, self.entries)

    def take(self, chosen: NDArray[np.int64] | Mask) -> LateRows:
        """The chosen edges, in the chosen order."""
        return LateRows(
            self.rows[chosen], self.steps[chosen], self.newer[chosen], self.entries[chosen]
        )

    def __len__(self) -> int:
        return len(self.rows)


_NO_LISTS = Lists(np.zeros(1, np.int64), np.empty(0, np.int32))


@dataclass(frozen=True, eq=False)
class Links:
    """The new edges of a batch, and what became of its rows."""

    lists: Lists
    late: LateRows
    report: IntakeReport


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """Resolved rows of edges: first those that wait, then those of the batch.

    Attributes:
        table: all of them, each with its place.
        waiting: how many wait; only what the others add is reported.
    """

    table: Table
    waiting: int

    @classmethod
    def of(cls, waiting: Table, given: Table) -> EdgeRows:
        """Both as one."""
        count = len(waiting.frame)
        return cls(Table.joined([waiting, given]) if count else given, count)

    def refusal(self, violation: Violation) -> RecordError:
        """The error that refuses rows of the batch, by their number in it."""
        place = self.table.place(violation.named, violation.column)
        rows = violation.rows[violation.rows >= self.waiting] - self.waiting
        return replace(violation, rows=rows).error(place, "edges")


def links(
    sequence: GraphSequence, edges: EdgeRows, index: Index, arrived: Int64s, late: Late
) -> Links:
    """The edges that a sequence does not have, laid out in its way.

    Args:
        sequence: what is there.
        edges: none of those that wait is there.
        index: the labels of all nodes, those that arrive included.
        arrived: (steps + 1,) where the labels of each step begin, likewise.
        late: what to do with edges of closed steps.
    """
    ends = _endpoints(edges, index)
    seen = ends.survey()
    if seen.lowest < 0:
        _refuse_unknown(edges, ends)
    steps, prompt, raised = _edge_steps(sequence, edges.table, ends, seen, arrived)
    lists = _prompt_lists(sequence, edges, ends, prompt, len(index.ids))
    rows = _late_rows(ends, steps, prompt, directed=sequence.directed)
    fresh, joining = _new_late_edges(sequence, edges, ends, rows, lists, late)
    report = replace(
        _first_and_repeated(sequence, ends, seen.self_links, edges.waiting, lists, fresh),
        raised_edges=int(raised[edges.waiting :].sum()),
        late_edges=joining,
    )
    return Links(lists, fresh, report)


def _first_and_repeated(
    sequence: GraphSequence,
    ends: Endpoints,
    self_links: int,
    waiting: int,
    lists: Lists,
    late: LateRows,
) -> IntakeReport:
    """What each row of the batch is: something new, something known, or a repetition."""
    directed, old = sequence.directed, len(sequence.entries) + len(sequence.late) + waiting
    before, given = ends.part(slice(waiting)), ends.part(slice(waiting, None))
    self_links -= before.survey().self_links
    waited = before.distinct(directed=directed) if waiting else 0
    added = edges_in(lists.entries, directed=directed) + len(late) - waited
    again = len(given.source) - self_links - added
    # To find the different ones takes a while, and mostly there is nothing to find.
    known = given.distinct(directed=directed) - added if again and old else 0
    return IntakeReport(
        edges_added=added,
        known_edges=known,
        repeated_edges=again - known,
        self_links=self_links,
    )


def _endpoints(edges: EdgeRows, index: Index) -> Endpoints:
    """The label of each end of each edge, or UNKNOWN."""
    frame = edges.table.frame
    return Endpoints(index.labels(frame["source"]), index.labels(frame["target"]))


def _refuse_unknown(edges: EdgeRows, ends: Endpoints) -> None:
    """Refuse the rows of which an end is not a node; of both columns, those of the first."""
    for column, found in zip(("source", "target"), ends, strict=True):
        rows = np.flatnonzero(found < 0)
        if len(rows):
            raise edges.refusal(Violation(rows, column, UNKNOWN_END, UNKNOWN_END_HINT))


def _edge_steps(
    sequence: GraphSequence, table: Table, ends: Endpoints, seen: Survey, node_offsets: Int64s
) -> tuple[Int32s | None, Mask, Mask]:
    """Each edge's step (None: its newer endpoint's), which are prompt, which were raised."""
    timeless = table.frame["step"].null_count() == len(table.frame)
    if timeless and seen.lowest_newer >= sequence.nodes:
        return None, _ALL, _NONE
    newer = np.maximum(ends.source, ends.target)
    arrival = steps_of_labels(node_offsets, newer)
    own, raised = arrival, _NONE
    if not timeless:
        own, raised = own_steps(stated_steps(table), arrival)
    prompt = (newer >= sequence.nodes) & (own == arrival)
    return own, _ALL if prompt.all() else prompt, raised


def _prompt_lists(
    sequence: GraphSequence, edges: EdgeRows, ends: Endpoints, prompt: Mask, nodes: int
) -> Lists:
    """Lay out the prompt edges; refuses reciprocal ones if the sequence is oriented."""
    from graphveil.graph.intake import kernels

    first = sequence.nodes
    shares = _row_shares(len(ends.source))
    small = len(ends.source) <= _MOST_SMALL
    places = np.zeros((len(shares), nodes - first), np.int32 if small else np.int64)
    rows = [(*ends.part(share), prompt[share], first) for share in shares]
    in_threads(
        kernels.count_list_lengths,
        [(*some, own) for some, own in zip(rows, places, strict=True)],
    )
    offsets = np.empty(nodes - first + 1, np.int64)
    kernels.line_up(places, offsets)
    entries = np.empty(int(offsets[-1]), dtype=np.int32)
    directions = np.array([FORWARD, BACKWARD] if sequence.directed else [BOTH, BOTH], np.int32)
    in_threads(
        kernels.fill_lists,
        [(*some, directions, own, entries) for some, own in zip(rows, places, strict=True)],
    )
    again = in_threads(
        kernels.sort_lists,
        [(offsets, entries, a, b) for a, b in _list_shares(offsets)],
    )
    if sum(again):
        kernels.merge_pairs(offsets, entries)
    entries = entries[: offsets[-1]]
    if sequence.oriented and ((entries & BOTH) == BOTH).any():
        raise _reverses(sequence, edges, ends, _first_reverse(ends))
    return Lists(offsets, entries)


def _row_shares(count: int) -> list[slice]:
    """Rows in as many parts as there are threads to work on them: at least one, but not many.

    Each part has a number for every list, which is not much beside what its rows take.
    """
    parts = max(1, min(available_threads(), _MOST_SHARES, count // _WORTH_A_THREAD))
    cuts = [count * part // parts for part in range(parts + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]


def _list_shares(offsets: Int64s) -> list[tuple[int, int]]:
    """Ranges of lists with about as many entries each, some for every thread."""
    aims = np.linspace(0, offsets[-1], 4 * available_threads() + 1)[1:-1]
    aims = aims.astype(offsets.dtype)  # else all offsets would become floats, for a dozen cuts
    cuts = np.searchsorted(offsets, aims)
    return list(itertools.pairwise([0, *cuts.tolist(), len(offsets) - 1]))


def _first_reverse(ends: Endpoints) -> int:
    """Returns the first row whose reverse is an earlier row; there is one."""
    seen: set[tuple[int, int]] = set()
    pairs = enumerate(zip(ends.source.tolist(), ends.target.tolist(), strict=True))
    for row, pair in pairs:
        if pair[::-1] in seen and pair[0] != pair[1]:
            return row
        seen.add(pair)
    raise AssertionError("no row is the reverse of another")


def _reverses(sequence: GraphSequence, edges: EdgeRows, ends: Endpoints, named: int) -> RecordError:
    """The error that refuses every row of the batch whose reverse is known or in it as well."""
    source, target = ends
    keys = keys_of(np.maximum(source, target), entries_of(source, target, directed=True))
    old = Endpoints(*(np.where(end < sequence.nodes, end, UNKNOWN) for end in ends))
    known, against = already_linked(sequence, *old), already_linked(sequence, *old[::-1])
    waits = np.arange(len(keys)) < edges.waiting
    rows = np.flatnonzero(contradicting(keys, waits, known, against) & (source != target))
    return edges.refusal(Violation(rows, "target", RECIPROCAL, RECIPROCAL_HINT, named))


def _late_rows(ends: Endpoints, steps: Int32s | None, prompt: Mask, *, directed: bool) -> LateRows:
    """The rows that are neither prompt nor self-links."""
    if steps is None or prompt is _ALL:
        return LateRows(*(np.empty(0, dtype=kind) for kind in (np.int64, *[np.int32] * 3)))
    rows = np.flatnonzero(~prompt & (ends.source != ends.target))
    source, target = ends.source[rows], ends.target[rows]
    entries = entries_of(source, target, directed=directed)
    return LateRows(rows, steps[rows], np.maximum(source, target), entries)


def _new_late_edges(
    sequence: GraphSequence,
    edges: EdgeRows,
    ends: Endpoints,
    rows: LateRows,
    lists: Lists,
    late: Late,
) -> tuple[LateRows, int]:
    """Late edges that the sequence does not have, in order of step, newer and older.

    Also how many the batch adds to those that join the open step from a closed one.
    """
    first = np.int32(sequence.steps)
    fresh = _without_known(sequence, edges, ends, _earliest(rows), lists)
    past = fresh.take(fresh.steps < first)
    if len(past) and late == "refuse":
        _refuse_past(sequence, edges.table, past)
    waiting = rows.take((rows.rows < edges.waiting) & (rows.steps < first))
    joining = int((~np.isin(past.keys(), waiting.keys())).sum())
    opened = replace(fresh, steps=np.maximum(fresh.steps, first))
    return opened.take(np.lexsort((opened.entries, opened.newer, opened.steps))), joining


def _earliest(late: LateRows) -> LateRows:
    """One row per edge, in order of keys."""
    return late.take(first_of_each(late.keys(), late.steps, late.rows))


def _without_known(
    sequence: GraphSequence, edges: EdgeRows, ends: Endpoints, late: LateRows, lists: Lists
) -> LateRows:
    if not len(late):
        return late
    linked = _linked_before(sequence, late, lists)
    direction = late.entries & BOTH
    fresh = late.take((linked & direction) == 0)
    if sequence.oriented:
        named = _first_late_reverse(fresh, linked[(linked & direction) == 0])
        if named is not None:
            raise _reverses(sequence, edges, ends, named)
    return fresh


def _linked_before(sequence: GraphSequence, late: LateRows, lists: Lists) -> Int32s:
    """How each pair is linked already: in any list, old or new, or by an old late edge."""
    from graphveil.graph.intake.kernels import prompt_directions

    linked = np.zeros(len(late), dtype=np.int32)
    older = late.entries >> 2
    old = late.newer < sequence.nodes
    linked[old] = prompt_directions(sequence.offsets, sequence.entries, late.newer[old], older[old])
    linked[~old] = prompt_directions(
        lists.offsets, lists.entries, late.newer[~old] - np.int32(sequence.nodes), older[~old]
    )
    earlier = sequence.late
    pairs = keys_of(earlier.newer, earlier.entries)
    stem = late.keys() & ~np.int64(BOTH)
    for direction in (FORWARD, BACKWARD, BOTH):
        linked[np.isin(stem | direction, pairs)] |= direction
    return linked


def already_linked(sequence: GraphSequence, source: Int32s, target: Int32s) -> Mask:
    """Which pairs of labels have this edge already; a label below 0 is not a node yet."""
    known_links = np.zeros(len(source), dtype=np.bool_)
    rows = np.flatnonzero((source >= 0) & (target >= 0) & (source != target))
    ends = Endpoints(source[rows], target[rows])
    steps, nobody = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.bool_)
    asked = _late_rows(ends, steps, nobody, directed=sequence.directed)
    linked = _linked_before(sequence, asked, _NO_LISTS)
    known_links[rows] = (linked & asked.entries & BOTH) != 0
    return known_links


def _first_late_reverse(fresh: LateRows, linked: Int32s) -> int | None:
    """Returns the first row whose reverse is known already or is an earlier row."""
    if not len(fresh):
        return None
    keys = fresh.keys()  # ascending
    reverse = np.searchsorted(keys, keys ^ BOTH).clip(max=len(keys) - 1)
    against = (linked != 0) | ((keys[reverse] == keys ^ BOTH) & (fresh.rows[reverse] < fresh.rows))
    return int(fresh.rows[against].min()) if against.any() else None


def _refuse_past(sequence: GraphSequence, table: Table, past: LateRows) -> None:
    raise PastStepError(
        CLOSED.format(sequence.calendar.label(sequence.steps)),
        place=table.place(int(past.rows.min()), "source"),
        hint=CLOSED_HINT,
    )
