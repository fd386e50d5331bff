"""Which function counts which tally, and how new steps join those counted before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from graphveil.engines.counts import Answer, ExactCounts
from graphveil.engines.local.clusters import Forest, count_clusters
from graphveil.engines.local.components import count_components
from graphveil.engines.local.degrees import Degrees, count_degrees
from graphveil.engines.local.nodes_and_edges import count_edges, count_nodes
from graphveil.engines.local.patterns import count_copies
from graphveil.engines.local.recent import count_growing, count_recent, joined
from graphveil.engines.local.triangles import count_triangles
from graphveil.engines.local.work import Work
from graphveil.statistics.tallies import (
    ClusterTally,
    ComponentTally,
    DegreeTally,
    EdgeTally,
    GrowthTally,
    NodeTally,
    PatternTally,
    RecentTally,
    Tally,
    TriangleTally,
)

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


def _copies(tally: PatternTally, work: Work, from_step: int, state: None) -> Answer:
    return Answer(count_copies(work, tally.pattern, from_step))


def _growing(tally: GrowthTally, work: Work, from_step: int, state: None) -> Answer:
    return Answer(count_growing(work.sequence, tally))


def _recent(tally: RecentTally, work: Work, from_step: int, state: Any) -> Answer:
    inner = partial(COUNTERS[type(tally.tally)], tally.tally)
    return count_recent(tally, inner, work, from_step, state)


COUNTERS: dict[type[Tally | GrowthTally], Counter] = {
    NodeTally: _nodes,
    EdgeTally: _edges,
    DegreeTally: _degrees,
    TriangleTally: _triangles,
    ComponentTally: _components,
    ClusterTally: _clusters,
    PatternTally: _copies,
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
