"""Which function counts which tally, and how new steps join those counted before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.backend import Answer, ExactCounts
from graphveil.backends.local.components import Forest, count_clusters, count_components
from graphveil.backends.local.degrees import Degrees, count_degrees
from graphveil.backends.local.forests import count_forests
from graphveil.backends.local.groups import count_by_groups
from graphveil.backends.local.patterns import count_copies
from graphveil.backends.local.recent import count_growing, count_recent, joined
from graphveil.backends.local.triangles import count_triangles
from graphveil.backends.local.work import Work
from graphveil.graph.sequence import GraphSequence
from graphveil.kernels import kernel
from graphveil.statistics.tallies import (
    ClusterTally,
    ComponentTally,
    Counts,
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

# Nodes and edges per step, read off the columns.


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


# (tally, work, first step to count, state after the step before) -> the steps counted
Counter: TypeAlias = Callable[[Any, Work, int, Any], Answer]


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
