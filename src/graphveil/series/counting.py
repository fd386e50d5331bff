"""Counting for series: each graph that they look at is counted once, for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from graphveil.deferred import np
from graphveil.series.terms import SeriesTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphveil.engines import Engine, ExactCounts
    from graphveil.graph.promises.bound import Bound
    from graphveil.graph.sequence import GraphSequence

Differences: TypeAlias = "NDArray[np.int64]"  # (steps, numbers of a release)
_View: TypeAlias = "tuple[bool, Bound]"  # whether the graph is projected, and the bound


@dataclass(frozen=True, eq=False)
class SeriesCounts:
    """Exact counts of the graphs that some series look at; a secret.

    Attributes:
        steps: how many steps were counted.
        views: the counts on the graph as its promise has it, and on each of its projections.
    """

    steps: int
    views: Mapping[_View, ExactCounts] = field(repr=False)

    def differences(self, terms: SeriesTerms) -> Differences:
        """The change of a series at every step of the graph."""
        counts = self.views[_view(terms)]
        return counts.differences(terms.statistic).reshape(self.steps, -1)


def count_series(
    engine: Engine,
    sequence: GraphSequence,
    series: Iterable[SeriesTerms],
    after: SeriesCounts | None = None,
    since: int = 0,
) -> SeriesCounts:
    """Count all series that look at the same graph together.

    Args:
        engine: where counting runs.
        sequence: the growing graph.
        series: what is published of it.
        after: what was counted on an earlier state of the sequence, so that only new steps
            are counted.
        since: the first step of which values are wanted; those of recent networks are 0 before.
    """
    wanted: dict[_View, list[SeriesTerms]] = {}
    for terms in series:
        wanted.setdefault(_view(terms), []).append(terms)
    views = {}
    for view, members in wanted.items():
        projected, bound = view
        look = engine.project if projected else engine.counted_part
        statistics = list(dict.fromkeys(terms.statistic for terms in members))
        before = after.views.get(view) if after else None
        seen = look(sequence, bound)
        counted = bound.counted
        views[view] = engine.count(seen, statistics, after=before, bound=counted, since=since)
    return SeriesCounts(sequence.steps, views)


def _view(terms: SeriesTerms) -> _View:
    return terms.projects, terms.bound


def difference_at(differences: Differences, first_step: int, step: int) -> tuple[int, ...]:
    """What a series adds at a step; one that opens late begins with all that is there."""
    since = 0 if step == first_step else step
    return tuple(int(number) for number in differences[since : step + 1].sum(axis=0))


def first_break(engine: Engine, sequence: GraphSequence, bound: Bound, since: int) -> int | None:
    """The first step from `since` on at which somebody has more links than was promised."""
    low, high = since, sequence.steps
    if engine.keeps_bound(sequence, bound):
        return None
    while low < high:  # degrees never fall, so one half of the steps can be ruled out
        middle = (low + high) // 2
        if engine.keeps_bound(sequence.until(middle + 1), bound):
            low = middle + 1
        else:
            high = middle
    return low
