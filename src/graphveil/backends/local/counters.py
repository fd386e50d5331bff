"""Which function counts which tally, and how new steps join those counted before.

Nodes and edges are read off the columns. A recent network is counted by itself, at the cost of its
own people and links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.backend import Answer, ExactCounts
from graphveil.backends.local.components import Forest, count_clusters, count_components
from graphveil.backends.local.degrees import Degrees, count_degrees, no_degrees
from graphveil.backends.local.forests import count_forests
from graphveil.backends.local.groups import count_by_groups
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
