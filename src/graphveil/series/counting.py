"""The public terms of a series, and counting: each graph that series look at is counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.graph.promises import HubBound
from graphveil.graph.thresholds import FollowingBound
from graphveil.mechanisms.mechanism import Measured, Request
from graphveil.mechanisms.planning.plan import Plan
from graphveil.statistics.change import sensitivity_under, shape_under
from graphveil.statistics.sensitivity import Mass, Moves, Sensitivity, Shape
from graphveil.statistics.statistic import Statistic
from graphveil.statistics.tallies import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphveil.backends import Engine, ExactCounts
    from graphveil.graph.degrees import FinalDegrees
    from graphveil.graph.promises import Bound
    from graphveil.graph.sequence import GraphSequence

Differences: TypeAlias = "NDArray[np.int64]"  # (steps, numbers of a release)
View: TypeAlias = "tuple[bool, Bound]"  # whether the graph is projected, and the bound


@dataclass(frozen=True)
class SeriesTerms:
    """One statistic of one growing graph, and how it is published.

    Attributes:
        statistic: what is counted.
        bound: the promised degree bound, or the threshold of a projecting mechanism.
        plan: the mechanism, the budget and the horizon.
        first_step: the step of the graph at which the series begins.
    """

    statistic: Statistic
    bound: Bound
    plan: Plan
    first_step: int = 0

    @property
    def projects(self) -> bool:
        """Whether the projected graph is counted, on which no promise is needed."""
        return self.plan.mechanism.projects

    @property
    def follows(self) -> bool:
        """Whether links are counted at thresholds that follow what was published."""
        return self.plan.mechanism.follows

    def require_fitting_plan(self) -> None:
        """Refuse a plan that was made for something else."""
        request = self.plan.request
        sensitivity = sensitivity_under(self.statistic, self.bound)
        width = self.statistic.width(self.bound.counted)
        known_by_hubs = isinstance(self.bound, HubBound)
        if not (known_by_hubs and self._is_covered_by(request, sensitivity, width)):
            self._require_same(request, sensitivity, width)
        if (self.statistic.counted_for is None) == (
            self.plan.mechanism.measured is Measured.RECENT
        ):
            raise ParameterError("plan", "was made for people who stay, or for those who leave")
        if self.projects:
            self._require_fitting_projection()

    def _require_same(self, request: Request, sensitivity: Sensitivity, width: int) -> None:
        if (request.sensitivity, request.width) != (sensitivity, width):
            raise ParameterError("plan", "was made for another statistic or another bound")
        if request.shape not in (None, shape_under(self.statistic, self.bound)):
            raise ParameterError("plan", "was made for another shape of what one person changes")

    def _is_covered_by(self, request: Request, needed: Sensitivity, width: int) -> bool:
        """Whether a plan under hubs allows for all that one person can change, or for more.

        Smaller sensitivities were proved over time, but a stored plan stays as it was made.
        """
        held = request.sensitivity
        measures = ("l1", "static_l1", "l2_squared", "variation_squared")
        return (
            (held.assumption, request.width) == (needed.assumption, width)
            and all(getattr(held, each) >= getattr(needed, each) for each in measures)
            and _covers(request.shape, shape_under(self.statistic, self.bound), needed.l1)
        )

    def _require_fitting_projection(self) -> None:
        """An older plan does not know that totals only rise; one that claims it must be right."""
        request, shape = self.plan.request, self.statistic.projected_shape(self.bound)
        known = None if shape is None else shape.height
        wrong = request.projected_rises and not (shape and shape.rising)
        guess = self.bound.guess if isinstance(self.bound, FollowingBound) else None
        if request.projected_l1 != known or wrong or request.guess != guess:
            raise ParameterError("plan", "was made for another threshold of the projection")


def _covers(held: Shape | None, needed: Shape, l1: int) -> bool:
    """Whether every change of one shape is one of another, which None and Γ limit alone."""
    if isinstance(held, Moves) and isinstance(needed, Moves):
        return held.rises >= needed.rises and held.falls >= needed.falls
    if isinstance(held, Mass):
        return held.total >= l1
    return held is None or held == needed


@dataclass(frozen=True, eq=False)
class ViewCounts:
    """What some series look at, and what was counted there; a secret.

    Attributes:
        seen: the part of the graph.
        counts: of all steps so far.
    """

    seen: GraphSequence = field(repr=False)
    counts: ExactCounts = field(repr=False)


@dataclass(frozen=True, eq=False)
class SeriesCounts:
    """Exact counts of the graphs that some series look at; a secret.

    Attributes:
        steps: how many steps were counted.
        views: the graph as its promise has it, and each of its projections.
    """

    steps: int
    views: Mapping[View, ViewCounts] = field(repr=False)
    engine: Engine | None = field(default=None, repr=False)

    def differences(self, terms: SeriesTerms) -> Differences:
        """The change of a series at every step of the graph."""
        counts = self.views[view_of(terms)].counts
        return counts.differences(terms.statistic).reshape(self.steps, -1)

    def of(self, terms: SeriesTerms) -> Differences | ThresholdCounts:
        """What a series is made from: its changes, or its totals at any threshold."""
        if not isinstance(terms.bound, FollowingBound):
            return self.differences(terms)
        assert self.engine is not None, "what was read from a cache only begins a count"
        seen = self.views[view_of(terms)].seen
        return ThresholdCounts(self.engine, seen, terms.statistic, terms.bound)


@dataclass(frozen=True, eq=False)
class ThresholdCounts:
    """Totals after projection to any threshold, for a series that chooses it late; a secret.

    The graph is projected when somebody asks, as far as the step asked for. Once a threshold leaves
    nothing out anywhere, neither does a larger one.
    """

    engine: Engine = field(repr=False)
    seen: GraphSequence = field(repr=False)
    statistic: Statistic
    bound: FollowingBound
    _found: dict[int, Counts] = field(default_factory=dict, repr=False)
    _enough: list[int] = field(default_factory=list, repr=False)  # thresholds that leave all in

    def total(self, step: int, threshold: int) -> int:
        """How many links are left at a step if at most so many of each person count."""
        if self._enough and threshold >= min(self._enough):
            return int(self._all[step])
        if threshold not in self._found or len(self._found[threshold]) <= step:
            self._found[threshold] = self._left(self.seen.until(step + 1), threshold)
        left = int(self._found[threshold][step])
        if left == self._all[step] and self._leaves_all(threshold):
            self._enough.append(threshold)
        return left

    @cached_property
    def _all(self) -> Counts:
        return self.engine.count(self.seen, [self.statistic]).totals(self.statistic)

    def _left(self, seen: GraphSequence, threshold: int) -> Counts:
        bound = self.bound.at(threshold, directed=seen.directed)
        counts = self.engine.count(self.engine.project(seen, bound), [self.statistic])
        return counts.totals(self.statistic)

    def _leaves_all(self, threshold: int) -> bool:
        """Whether nobody has more links at any step; not asked of links in and out together."""
        bound = self.bound.at(threshold, directed=self.seen.directed)
        return not self.seen.directed and self.engine.keeps_bound(self.seen, bound)


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
    views = {}
    for view, members in by_view(series).items():
        projected, bound = view
        look = engine.project if projected else engine.counted_part
        statistics = list(dict.fromkeys(terms.statistic for terms in members))
        before = after.views.get(view) if after else None
        seen = look(sequence, bound, after=before.seen if before else None)
        counts = engine.count(
            seen,
            statistics,
            after=before.counts if before else None,
            bound=bound.counted,
            since=since,
        )
        views[view] = ViewCounts(seen, counts)
    return SeriesCounts(sequence.steps, views, engine)


def by_view(series: Iterable[SeriesTerms]) -> dict[View, list[SeriesTerms]]:
    """Series that look at the same part of a graph, together."""
    views: dict[View, list[SeriesTerms]] = {}
    for terms in series:
        views.setdefault(view_of(terms), []).append(terms)
    return views


def view_of(terms: SeriesTerms) -> View:
    """What a series looks at."""
    return terms.projects, terms.bound


def difference_at(differences: Differences, first_step: int, step: int) -> tuple[int, ...]:
    """What a series adds at a step; one that opens late begins with all that is there."""
    since = 0 if step == first_step else step
    return tuple(int(number) for number in differences[since : step + 1].sum(axis=0))


def first_break(
    engine: Engine,
    sequence: GraphSequence,
    bound: Bound,
    since: int,
    after: FinalDegrees | None = None,
) -> int | None:
    """The first step from `since` on at which somebody has more links than was promised.

    Args:
        engine: where degrees are checked.
        sequence: the growing graph.
        bound: the promise.
        since: from which step on.
        after: the degrees at a state of the sequence before that.
    """
    low, high = since, sequence.steps
    if engine.keeps_bound(sequence, bound, after=after):
        return None
    while low < high:  # degrees never fall, so one half of the steps can be ruled out
        middle = (low + high) // 2
        if engine.keeps_bound(sequence.until(middle + 1), bound, after=after):
            low = middle + 1
        else:
            high = middle
    return low
