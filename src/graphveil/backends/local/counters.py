"""Which function counts which tally, and how new steps join those counted before.

Nodes and edges are read off the columns. A recent network is counted by itself, at the cost of its
own people and links. Answers are kept between runs as plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.backend import Answer, ExactCounts
from graphveil.backends.local.components import Forest, count_clusters, count_components
from graphveil.backends.local.degrees import Degrees, count_degrees, no_degrees
from graphveil.backends.local.forests import count_forests
from graphveil.backends.local.groups import Members, count_by_groups
from graphveil.backends.local.patterns import count_copies, count_triangles
from graphveil.backends.local.work import Work
from graphveil.graph.sequence import GraphSequence, at_once, recent_part
from graphveil.kernels import kernel
from graphveil.statistics.tallies import (
    ClusterTally,
    ComponentTally,
    Counts,
    DegreeReach,
    DegreeTally,
    EdgeTally,
    ForestTally,
    GroupTally,
    GrowthTally,
    NodeTally,
    PatternTally,
    RecentTally,
    Tally,
    TriangleTally,
)

# (tally, work, first step to count, state after the step before) -> the steps counted
Counter: TypeAlias = Callable[[Any, Work, int, Any], Answer]


def count_nodes(sequence: GraphSequence, from_step: int) -> Counts:
    """Nodes that arrive at each step from `from_step` on."""
    return np.diff(sequence.node_offsets)[from_step:]


def count_edges(sequence: GraphSequence, from_step: int) -> Counts:
    """Edges that appear at each step from `from_step` on; directed ones by direction."""
    prompt = sequence.offsets[sequence.node_offsets[from_step:]]
    late = sequence.late.offsets[from_step:]
    edges: Counts = np.diff(prompt) + np.diff(late)
    if sequence.directed and not sequence.oriented:
        edges += _reciprocal(sequence.entries, prompt)
        edges += _reciprocal(sequence.late.entries, late)
    return edges


@kernel
def _reciprocal(entries: NDArray[np.int32], cuts: NDArray[np.int64]) -> Counts:
    """Pairs linked both ways between each two cuts."""
    counts = np.zeros(len(cuts) - 1, dtype=np.int64)
    for share in range(len(counts)):
        both = 0
        for place in range(cuts[share], cuts[share + 1]):
            both += entries[place] & 3 == 3
        counts[share] = both
    return counts


def _nodes(tally: NodeTally, work: Work, from_step: int, state: None) -> Answer:
    return Answer(count_nodes(work.sequence, from_step))


def _edges(tally: EdgeTally, work: Work, from_step: int, state: None) -> Answer:
    return Answer(count_edges(work.sequence, from_step))


def _degrees(tally: DegreeTally, work: Work, from_step: int, state: Degrees | None) -> Answer:
    return Answer(*count_degrees(work.sequence, tally.direction, from_step, state))


def _triangles(tally: TriangleTally, work: Work, from_step: int, state: None) -> Answer:
    return Answer(count_triangles(work, from_step))


def _components(tally: ComponentTally, work: Work, from_step: int, state: Any) -> Answer:
    return Answer(*count_components(work.sequence, from_step, state))


def _clusters(tally: ClusterTally, work: Work, from_step: int, state: Forest | None) -> Answer:
    return Answer(*count_clusters(work.sequence, tally.least, from_step, state))


def _forests(tally: ForestTally, work: Work, from_step: int, state: Counts | None) -> Answer:
    return Answer(*count_forests(work.sequence, tally.branches, from_step, state))


def _copies(tally: PatternTally, work: Work, from_step: int, state: None) -> Answer:
    return Answer(count_copies(work, tally.pattern, from_step))


def _growing(tally: GrowthTally, work: Work, from_step: int, state: None) -> Answer:
    return Answer(count_growing(work.sequence, tally))


def _recent(tally: RecentTally, work: Work, from_step: int, state: Any) -> Answer:
    inner = partial(COUNTERS[type(tally.tally)], tally.tally)
    return count_recent(tally, inner, work, from_step, state)


def _groups(tally: GroupTally, work: Work, from_step: int, state: Any) -> Answer:
    return count_by_groups(tally, work, from_step, state)


COUNTERS: dict[type[Tally | GrowthTally], Counter] = {
    NodeTally: _nodes,
    EdgeTally: _edges,
    DegreeTally: _degrees,
    TriangleTally: _triangles,
    ComponentTally: _components,
    ClusterTally: _clusters,
    ForestTally: _forests,
    PatternTally: _copies,
    GroupTally: _groups,
    GrowthTally: _growing,
    RecentTally: _recent,
}


def answer_all(
    tallies: Iterable[Tally], work: Work, after: ExactCounts | None
) -> dict[Tally, Answer]:
    """Every tally's answer for all steps; only those not in `after` are counted."""
    return {tally: _answer(tally, work, after) for tally in tallies}


def _answer(tally: Tally, work: Work, after: ExactCounts | None) -> Answer:
    count = COUNTERS[type(tally)]
    if after is None or tally not in after.answers:
        return count(tally, work, 0, None)
    before = after.answers[tally]
    new = count(tally, work, after.extent.steps, before.state)
    return Answer(joined((before.tallied, new.tallied)), new.state)


def count_recent(
    tally: RecentTally,
    count: Callable[[Work, int, Any], Answer],
    work: Work,
    from_step: int,
    state: Any,
) -> Answer:
    """The values of a tally in the recent network of each step from `from_step` on.

    Args:
        tally: what is counted, and for how many steps people are in the network.
        count: counts it in one sequence, from a step and a state on.
        work: the whole sequence.
        from_step: the first step.
        state: with which counting begins in every network; computed here at the first step.
    """
    sequence = work.sequence
    state = state or _beginning(tally, sequence)
    # The count of no step at all comes first: it gives the result its form if no step is new.
    rows = [count(Work(sequence.until(0), work.threads), 0, state).tallied]
    first = min(max(from_step, work.since), sequence.steps)
    rows.append(_zeros(rows[0], first - from_step))
    for step in range(first, sequence.steps):
        part = recent_part(sequence, step, tally.window)
        if not isinstance(tally.tally, GrowthTally):  # which asks who is new
            part = at_once(part)
        rows.append(_settled(count(Work(part, work.threads), 0, state).tallied, step))
    return Answer(joined(rows), state)


def count_growing(sequence: GraphSequence, tally: GrowthTally) -> Counts:
    """Components of enough new nodes: clusters in which only these have a size."""
    new = np.zeros(sequence.nodes, dtype=np.int32)
    first = sequence.node_offsets[max(0, sequence.steps - tally.recent)]
    new[first:] = 1
    alone = Forest(np.arange(sequence.nodes, dtype=np.int32), new)
    changes, _ = count_clusters(at_once(sequence), tally.least, 0, alone)
    return changes[:, 0]


def _beginning(tally: RecentTally, sequence: GraphSequence) -> Any:
    """Tables of degrees are as wide in short sequences as in the whole one, to be put together."""
    return no_degrees(sequence) if isinstance(tally.tally, DegreeTally) else None


def _settled(tallied: Counts | DegreeReach, step: int) -> Counts | DegreeReach:
    """The one row of a recent network, as of the step of the whole sequence."""
    if isinstance(tallied, DegreeReach):
        tallied.runs[:, 0] = step
    return tallied


def _zeros(form: Counts | DegreeReach, steps: int) -> Counts | DegreeReach:
    """Rows of steps that nobody asks for."""
    if isinstance(form, DegreeReach):
        return DegreeReach(np.zeros((steps, form.low.shape[1]), dtype=np.int64), form.runs)
    return np.zeros((steps, *form.shape[1:]), dtype=np.int64)


def joined(parts: Iterable[Any]) -> Counts | DegreeReach:
    """Rows of several steps as one table."""
    parts = list(parts)
    if isinstance(parts[0], DegreeReach):
        low, runs = zip(*((part.low, part.runs) for part in parts), strict=True)
        return DegreeReach(np.concatenate(low), np.concatenate(runs))
    widest = max(part.shape[-1] for part in parts)
    return np.concatenate([_widened(part, widest) for part in parts])


def _widened(part: Counts, width: int) -> Counts:
    """Degrees by groups end at the highest that was reached, or somewhat later."""
    if part.ndim < 3 or part.shape[-1] == width:
        return part
    return np.pad(part, ((0, 0), (0, 0), (0, width - part.shape[-1])))


@dataclass(frozen=True)
class LocalKeeping:
    """The format in which answers of the local engine are stored.

    Attributes:
        form: to be changed whenever a counter counts something else, or has another state.
    """

    form: str = "local 1"

    def packed(self, answer: Answer) -> dict[str, Any]:
        """An answer as numbers and arrays; of a table of degrees, what is not zero."""
        return {**packed_tally(answer.tallied), "state": _state(answer.state)}

    def unpacked(self, tally: Tally, data: Mapping[str, Any]) -> Answer:
        """The answer that was packed."""
        return Answer(unpacked_tally(data), _state_of(tally, data["state"]))

    def agree(self, tally: Tally, one: Answer, other: Answer) -> bool:
        """Whether two answers are equal; of recent networks, for the newest step.

        Those before it are counted only where somebody asks for them.
        """
        last = slice(-1, None) if isinstance(tally, RecentTally) else slice(None)
        if not same_tally(one.tallied, other.tallied, last):
            return False
        settled = (_final_part(tally, each) for each in (one, other))
        return all(np.array_equal(*pair) for pair in zip(*settled, strict=True))


def packed_tally(tallied: Counts | DegreeReach) -> dict[str, Any]:
    """What was tallied as numbers and arrays; of a table of degrees, what is not zero."""
    if not isinstance(tallied, DegreeReach):
        return {"counts": tallied}
    places = np.flatnonzero(tallied.low)
    table = {"shape": list(tallied.low.shape), "places": places}
    return {"table": table | {"values": tallied.low.ravel()[places], "runs": tallied.runs}}


def same_tally(
    one: Counts | DegreeReach, other: Counts | DegreeReach, steps: slice = slice(None)
) -> bool:
    """Whether both are equal for some steps."""
    return np.array_equal(*_equally_wide(_rows(one)[steps], _rows(other)[steps]))


def _rows(tallied: Counts | DegreeReach) -> Counts:
    return tallied.table(tallied.highest()) if isinstance(tallied, DegreeReach) else tallied


def _equally_wide(one: Counts, other: Counts) -> tuple[Counts, Counts]:
    """Tables of degrees end at the highest degree that is in them."""
    if one.ndim < 2:
        return one, other
    widest = max(one.shape[-1], other.shape[-1])
    return _wide(one, widest), _wide(other, widest)


def _wide(table: Counts, width: int) -> Counts:
    none = [(0, 0)] * (table.ndim - 1)
    return np.pad(table, [*none, (0, width - table.shape[-1])])


def _final_part(tally: Tally, answer: Answer) -> tuple[NDArray[Any], ...]:
    """A state in normal form, which is the same for equivalent states."""
    state = answer.state
    if isinstance(state, Degrees):
        return (state.degree,)
    if isinstance(state, Forest | Members):
        root = _oldest(state.parent)
        return root, np.where(root == np.arange(len(root)), state.size, 0)
    if state is None or isinstance(tally, ForestTally | GroupTally):
        return () if state is None else (state,)
    return (_oldest(state),)


def _oldest(parent: NDArray[np.int32]) -> NDArray[np.int32]:
    """The oldest node of the component of each."""
    while not np.array_equal(above := parent[parent], parent):
        parent = above
    return parent


def _state(state: Any) -> Any:
    if isinstance(state, Degrees):
        return {"degree": state.degree, "hubs": state.hubs, "width": state.width}
    return state._asdict() if isinstance(state, Forest | Members) else state


def _state_of(tally: Tally, data: Any) -> Any:
    within = tally.tally if isinstance(tally, RecentTally) else tally
    if isinstance(within, GroupTally) and isinstance(within.tally, ClusterTally):
        return None if data is None else Members(**data)
    kinds: dict[type, Any] = {DegreeTally: Degrees, ClusterTally: Forest}
    kind = kinds.get(type(within))
    return data if kind is None or data is None else kind(**data)


def unpacked_tally(data: Mapping[str, Any]) -> Counts | DegreeReach:
    """What was tallied."""
    if "counts" in data:
        return data["counts"]  # type: ignore[no-any-return]
    table = data["table"]
    low = np.zeros(table["shape"], np.int64)
    low.ravel()[table["places"]] = table["values"]
    return DegreeReach(low, table["runs"])
