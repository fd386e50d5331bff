"""A release under way: from a growing graph to published numbers, in a few lines.

    release = Release.open(plan, statistic("edges"), DegreeBound(15))
    published, release = release.publish(sequence)

A `Release` holds true counts and the noise of the future, so it is a secret; what it
publishes is not. It takes no source of noise: the only one it knows is `ReleaseNoise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from graphveil.errors import InputError, ParameterError
from graphveil.noise.exact_numbers import Exact
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.planning.plan import Plan
from graphveil.series import state as series
from graphveil.series.state import SeriesState
from graphveil.statistics.statistic import Statistic

if TYPE_CHECKING:
    from graphveil.engines import ExactCounts
    from graphveil.graph.bound import Bound
    from graphveil.graph.sequence import GraphSequence


@dataclass(frozen=True)
class Published:
    """What a series says at one step; public, all of it.

    Attributes:
        step: the number of the step, from 0 on.
        label: the public name of the step.
        numbers: the raw values: one, or one per degree.
        standard_deviation: of the noise in each of them, known beforehand.
        plan: how they were made.
    """

    step: int
    label: str
    numbers: tuple[int, ...]
    standard_deviation: float
    plan: Plan = field(repr=False, compare=False)

    @property
    def raw(self) -> int:
        """The raw value of a statistic that is one number."""
        if len(self.numbers) != 1:
            raise ParameterError("raw", "is one number, but this release has one per degree")
        return self.numbers[0]

    def interval(self, level: Exact = "0.95") -> tuple[int, int]:
        """Bounds between which the true value lies, with a probability of at least `level`.

        With a projecting mechanism, the true value is that of the projected graph.
        """
        from graphveil.planning.intervals import interval

        return interval(self.plan, self.step, self.raw, level)

    def intervals(self, level: Exact = "0.95") -> list[tuple[int, int]]:
        """Such bounds for each number by itself."""
        from graphveil.planning.intervals import interval

        return [interval(self.plan, self.step, number, level) for number in self.numbers]


@dataclass(frozen=True, eq=False)
class Release:
    """One statistic of one growing graph, published step after step; a secret.

    Each value publishes once: it hands back the one that goes on. To publish again from the
    same value would draw the noise of a step twice, so it is refused.

    Guarantees: what all calls together publish is node-private as the plan says, if every
    node keeps the bound; with a projecting mechanism, whatever the degrees are.

    Attributes:
        plan: the mechanism, the budget and the horizon.
        statistic: what is counted.
        bound: the promised degree bound, or the threshold of a projecting mechanism.
        state: totals and noise, to be stored; a secret.
        counts: what was counted so far, so that only new steps are counted; a secret.
    """

    plan: Plan
    statistic: Statistic
    bound: Bound
    state: SeriesState
    counts: ExactCounts | None = field(default=None, repr=False)
    _once: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        request = self.plan.request
        fitting = self.statistic.sensitivity(self.bound), self.statistic.width(self.bound)
        if (request.sensitivity, request.width) != fitting:
            raise ParameterError("plan", "was made for another statistic or another bound")
        if self._projects and request.projected_l1 != self.statistic.projected_l1(self.bound):
            raise ParameterError("plan", "was made for another threshold of the projection")
        if len(self.state.totals) != request.width:
            raise ParameterError("state", "belongs to another plan")

    def __repr__(self) -> str:
        what = f"{self.statistic}, {self.bound}, {self.plan.mechanism.name}"
        return f"<Release of {what}, {self.state.step} steps published; its contents are secret>"

    @classmethod
    def open(cls, plan: Plan, statistic: Statistic, bound: Bound) -> Release:
        """A series before its first release; nothing is counted or drawn."""
        return cls(plan, statistic, bound, series.start(plan))

    @classmethod
    def resume(cls, plan: Plan, statistic: Statistic, bound: Bound, state: SeriesState) -> Release:
        """The series that was stored with `state`; its past is counted anew and compared."""
        return cls(plan, statistic, bound, state)

    def publish(self, sequence: GraphSequence) -> tuple[tuple[Published, ...], Release]:
        """Every step that is new in the sequence, and the release that goes on from there.

        All or nothing: where anything is refused, nothing was published, and this value can
        be used again. It can, too, where no step was new.

        Args:
            sequence: the growing graph; its earlier steps are as they were.
        """
        self._require_admissible(sequence)
        if sequence.steps == self.state.step:
            return (), self
        if not self._once.acquire(blocking=False):
            raise ParameterError(
                "release",
                "has already published, and would now draw other noise for the same steps",
                hint="Go on with the release that `publish` returned.",
            )
        try:
            return self._publish(sequence)
        except BaseException:
            self._once.release()
            raise

    def _publish(self, sequence: GraphSequence) -> tuple[tuple[Published, ...], Release]:
        counts = self._count(sequence)
        differences = counts.differences(self.statistic).reshape(sequence.steps, -1)
        made = self.state.step
        if tuple(differences[:made].sum(axis=0).tolist()) != self.state.totals:
            raise _another_past()
        deviations = self._deviations(sequence.steps)
        published, state = [], self.state
        for step in range(made, sequence.steps):
            numbers, state = series.advance(
                self.plan, state, differences[step].tolist(), ReleaseNoise()
            )
            label = sequence.calendar.label(step)
            published.append(Published(step, label, numbers, deviations[step], self.plan))
        return tuple(published), replace(self, state=state, counts=counts)

    def _deviations(self, steps: int) -> Sequence[float]:
        known = self.plan.predicted
        return known if steps <= len(known) else self.plan.standard_deviations(steps)

    @property
    def _projects(self) -> bool:
        return self.plan.mechanism.projects

    def _require_admissible(self, sequence: GraphSequence) -> None:
        """Everything that can be refused before a step is counted or noise is drawn."""
        from graphveil.graph.degrees import require_bound, require_fit

        self.statistic.require_domain(directed=sequence.directed)
        if sequence.steps < self.state.step:
            raise ParameterError("sequence", "has fewer steps than were published")
        series.require_room(self.plan, self.state, sequence.steps)
        require = require_fit if self._projects else require_bound
        require(sequence, self.bound)

    def _count(self, sequence: GraphSequence) -> ExactCounts:
        from graphveil.engines import LocalEngine
        from graphveil.graph.projection import greedy_projection

        seen = greedy_projection(sequence, self.bound) if self._projects else sequence
        try:
            return LocalEngine().count(seen, [self.statistic], after=self.counts, bound=self.bound)
        except ParameterError as error:
            if error.parameter == "after":
                raise _another_past() from error
            raise


def _another_past() -> InputError:
    return InputError(
        "the steps that were published are no longer what they were in this sequence",
        hint="Give the sequence from which the earlier releases were made, with its new steps.",
    )
