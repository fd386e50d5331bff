"""A release: what a series publishes at one step; and a series in memory, which makes them.

    series = Series.open(plan, statistic("edges"), DegreeBound(15))
    releases, series = series.publish(sequence, through=4)

A `Series` holds true counts and the noise of the future, so it is a secret; what it
publishes is not. It takes no source of noise: the only one it knows is `ReleaseNoise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from graphveil.backends import LocalEngine
from graphveil.errors import InputError, ParameterError
from graphveil.mechanisms.following import Answer
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.exact_numbers import Exact
from graphveil.noise.laws import NoiseSource
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.series import state as states
from graphveil.series.counting import (
    Differences,
    SeriesCounts,
    SeriesTerms,
    ThresholdCounts,
    count_series,
    difference_at,
)
from graphveil.series.postprocessing import Processing
from graphveil.series.state import SeriesState, Trail, advance, ask, standard_deviation
from graphveil.statistics.statistic import Statistic

if TYPE_CHECKING:
    from graphveil.backends import Engine
    from graphveil.graph.promises import Bound
    from graphveil.graph.sequence import GraphSequence

_SHOWN = 6  # numbers of a vector that a line has


@dataclass(frozen=True)
class Release:
    """What a series publishes at one step; all of it is public.

    Attributes:
        step: the number of the step, from 0 on.
        label: the public name of the step.
        raw: the exact counts with their noise: one, or one per degree.
        processed: the same, post-processed by public knowledge alone; not unbiased.
        processing: what was done to them, in words.
        noise_std: the standard deviation of the noise in each raw value, known in advance.
        place: which release of its series it is, from 0 on.
        plan: how it was made.
        answers: where thresholds follow, the answers to the questions of this release, exact; the
            last of them, rounded, is the raw value.

    Examples:
        >>> edges, bound = statistic("edges"), DegreeBound(15)
        >>> chosen = plan(edges, bound, epsilon=1, horizon=20)
        >>> records = from_rows([("ann", 2021)])
        >>> sequence, _ = GraphSequence.begin(Calendar.yearly(2021)).extend(records)
        >>> (release,), series = Series.open(chosen, edges, bound).publish(sequence, through=0)
        >>> low, high = release.interval("0.95")
        >>> release.label, low < release.value < high
        ('2021', True)
    """

    step: int
    label: str
    raw: tuple[int, ...]
    processed: tuple[float, ...]
    processing: str
    noise_std: float
    place: int = field(repr=False)
    plan: Plan = field(repr=False, compare=False)
    answers: tuple[Answer, ...] = ()

    @property
    def value(self) -> int:
        """The raw value of a statistic that is one number."""
        if len(self.raw) != 1:
            raise ParameterError("value", "is one number, but this release has one per degree")
        return self.raw[0]

    def __str__(self) -> str:
        shown = [f"{number:,}" for number in self.raw[:_SHOWN]]
        more = ["…"] * (len(self.raw) > _SHOWN)
        return f"{self.label}: {', '.join(shown + more)} (± {self.noise_std:,.1f} in each)"

    def interval(self, level: Exact = "0.95") -> tuple[int, int]:
        """Bounds between which the true value lies, with a probability of at least `level`.

        With a projecting mechanism, the true value is that of the projected graph.
        """
        assert self.value == self.raw[0], "which refuses a vector"
        return self.intervals(level)[0]

    def intervals(self, level: Exact = "0.95") -> list[tuple[int, int]]:
        """Such bounds for each number by itself."""
        from graphveil.mechanisms.planning.intervals import half_widths

        (width,) = half_widths(self.plan, range(self.place, self.place + 1), level)
        reach = self.reach(width)
        return [(number - reach, number + reach) for number in self.raw]

    def reach(self, width: int) -> int:
        """How far the truth can be from a raw value where the noise is at most `width`.

        Where thresholds follow, the noise is in parts of one, and the truth is what is left of the
        links at the threshold that the release states.
        """
        parts = self.plan.request.projected_l1
        return self.answers[-1].reach(width, parts) if self.answers and parts else width


@dataclass(frozen=True)
class MadeRelease:
    """A release, and what only its keeper may know.

    Attributes:
        release: what is published.
        difference: the exact change since the release before; a secret.
        state: the series after it; a secret.
        processing: the post-processing after it, which knows published values only.
        asked: the noise in the answers, in parts of their thresholds; a secret.
    """

    release: Release
    difference: tuple[int, ...] = field(repr=False)
    state: SeriesState = field(repr=False)
    processing: Processing | Trail = field(repr=False)
    asked: tuple[int, ...] = field(default=(), repr=False)

    @property
    def noise(self) -> tuple[int, ...]:
        """What was added to the exact values, or to what was measured of them; a secret."""
        return self.asked or tuple(
            raw - total for raw, total in zip(self.release.raw, self.state.totals, strict=True)
        )


def has_same_past(
    terms: SeriesTerms,
    state: SeriesState,
    counted: Differences | ThresholdCounts,
    answers: Sequence[Answer] = (),
) -> bool:
    """Whether counting the graph again gives what was counted when its releases were made.

    Where thresholds follow, it is the newest release that is counted again.

    Args:
        terms: what is published, and how.
        state: after the newest release.
        counted: what was counted now.
        answers: of the newest release, where thresholds follow.
    """
    made = terms.first_step + state.step
    if state.step == 0:
        return True
    if isinstance(counted, ThresholdCounts):
        there = bool(answers) and counted.seen.steps >= made
        return there and (counted.total(made - 1, answers[-1].threshold),) == state.totals
    differences = counted
    return len(differences) >= made and tuple(differences[:made].sum(axis=0)) == state.totals


def make_release(
    terms: SeriesTerms,
    state: SeriesState,
    counted: Differences | ThresholdCounts,
    processing: Processing | Trail,
    label: str,
    source: NoiseSource,
) -> MadeRelease:
    """The next release of a series: noise is drawn where a new epoch begins, and only there.

    Args:
        terms: what is published, and how.
        state: the series after the release before.
        counted: the exact change at each step of the graph, up to the new one at least; where
            thresholds follow, the totals at any threshold.
        processing: the post-processing, after all releases so far.
        label: the public name of the step.
        source: where noise comes from.
    """
    step = terms.first_step + state.step
    if isinstance(counted, ThresholdCounts):
        assert isinstance(processing, Trail), "which is how such a series is processed"
        return _follow(terms, state, counted, processing, label, source)
    assert isinstance(processing, Processing), "no threshold follows"
    difference = difference_at(counted, terms.first_step, step)
    raw, after = advance(terms.plan, state, difference, source)
    values, processed = processing.take(raw)
    release = Release(
        step=step,
        label=label,
        raw=raw,
        processed=values,
        processing=processing.done,
        noise_std=terms.plan.standard_deviation(state.step),
        place=state.step,
        plan=terms.plan,
    )
    return MadeRelease(release, difference, after, processed)


def _follow(
    terms: SeriesTerms,
    state: SeriesState,
    counted: ThresholdCounts,
    trail: Trail,
    label: str,
    source: NoiseSource,
) -> MadeRelease:
    """The same where thresholds follow; its difference is to the count of the release before."""
    step = terms.first_step + state.step
    made = ask(trail, state, partial(counted.total, step), source)
    newest, after = made.answers[-1], trail.after(made.answers)
    release = Release(
        step=step,
        label=label,
        raw=(newest.raw(trail.rule.parts),),
        processed=(float(after.size),),
        processing=trail.done,
        noise_std=standard_deviation(trail, newest),
        place=state.step,
        plan=terms.plan,
        answers=made.answers,
    )
    difference = made.state.totals[0] - state.totals[0]
    return MadeRelease(release, (difference,), made.state, after, made.noise)


@dataclass(frozen=True, eq=False)
class Series:
    """One statistic of one growing graph, published step after step; a secret.

    Each value publishes once: it hands back the one that goes on. To publish again from the
    same value would draw the noise of a step twice, so it is refused.

    Guarantees: what all calls together publish is node-private as the plan says, if every
    node keeps the bound; with a promise that is not checked, for everybody who keeps it; with a
    projecting mechanism, whatever the degrees are.

    Attributes:
        terms: what is published, and how.
        state: totals and noise, to be stored; a secret.
        history: the raw values that were published so far.
        answers: where thresholds follow, the answers that were published so far, by release.
        counts: what was counted so far, so that only new steps are counted; a secret.
        engine: where counting runs.

    Examples:
        >>> edges, bound = statistic("edges"), DegreeBound(15)
        >>> series = Series.open(plan(edges, bound, epsilon=1, horizon=20), edges, bound)
        >>> records = from_rows([("ann", 2021)])
        >>> sequence, _ = GraphSequence.begin(Calendar.yearly(2021)).extend(records)
        >>> releases, series = series.publish(sequence, through=1)
        >>> [each.label for each in releases]
        ['2021', '2022']
    """

    terms: SeriesTerms
    state: SeriesState
    history: tuple[tuple[int, ...], ...] = ()
    counts: SeriesCounts | None = field(default=None, repr=False)
    engine: Engine = field(default_factory=LocalEngine, repr=False)
    answers: tuple[tuple[Answer, ...], ...] = ()
    _once: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        self.terms.require_fitting_plan()
        if len(self.state.totals) != self.terms.plan.request.width:
            raise ParameterError("state", "belongs to another plan")
        if len(self.history) != self.state.step:
            raise ParameterError(
                "history", f"must hold the raw values of all {self.state.step} releases so far"
            )
        if self.terms.follows and len(self.answers) != self.state.step:
            raise ParameterError("answers", "must hold those of all releases so far")

    def __repr__(self) -> str:
        terms = self.terms
        what = f"{terms.statistic}, {terms.bound}, {terms.plan.mechanism.name}"
        return f"<Series of {what}, {self.state.step} steps published; its contents are secret>"

    @classmethod
    def open(
        cls, plan: Plan, statistic: Statistic, bound: Bound, *, engine: Engine | None = None
    ) -> Series:
        """A series before its first release; nothing is counted or drawn."""
        terms = SeriesTerms(statistic, bound, plan)
        return cls(terms, states.start(plan), engine=engine or LocalEngine())

    @classmethod
    def resume(
        cls,
        plan: Plan,
        statistic: Statistic,
        bound: Bound,
        state: SeriesState,
        history: Sequence[Sequence[int]],
        *,
        answers: Sequence[Sequence[Answer]] = (),
        engine: Engine | None = None,
    ) -> Series:
        """The series that was stored; its past is counted again and compared.

        Args:
            plan: the plan it was opened with, or one that continues it.
            statistic: what is counted.
            bound: the promise, or the threshold of a projecting mechanism.
            state: what was stored after its last release.
            history: the raw values that it has published.
            answers: where thresholds follow, the answers of each release.
            engine: where counting runs; by default on this machine.
        """
        terms, raw = SeriesTerms(statistic, bound, plan), tuple(tuple(each) for each in history)
        asked = tuple(tuple(each) for each in answers)
        return cls(terms, state, raw, engine=engine or LocalEngine(), answers=asked)

    def publish(
        self, sequence: GraphSequence, *, through: int
    ) -> tuple[tuple[Release, ...], Series]:
        """A release of every step up to `through` that is new, and the series that goes on.

        All or nothing: where anything is refused, nothing was published, and this value can
        be used again. It can, too, where no step was new.

        Args:
            sequence: the growing graph; its earlier steps are as they were.
            through: the last step to publish, from 0 on. It is public, so it comes from the
                calendar and never from the data: how far the records reach would reveal when
                the last person came. Steps without records are published, too.
        """
        if isinstance(through, bool) or not isinstance(through, int) or through < 0:
            raise ParameterError("through", "must be the number of a step, from 0 on")
        if through < self.state.step:
            return (), self
        sequence = sequence.closed(through)
        self._require_admissible(sequence)
        if not self._once.acquire(blocking=False):
            raise ParameterError(
                "series",
                "has already published, and would now draw different noise for the same steps",
                hint="Continue with the series that `publish` returned.",
            )
        try:
            return self._publish(sequence)
        except BaseException:
            self._once.release()
            raise

    def _publish(self, sequence: GraphSequence) -> tuple[tuple[Release, ...], Series]:
        counts = self._count(sequence)
        counted = counts.of(self.terms)
        newest = self.answers[-1] if self.answers else ()
        if not has_same_past(self.terms, self.state, counted, newest):
            raise _another_past()
        releases: list[Release] = []
        state, processing = self.state, self._processing()
        for step in range(state.step, sequence.steps):
            label = sequence.calendar.label(step)
            made = make_release(self.terms, state, counted, processing, label, ReleaseNoise())
            state, processing = made.state, made.processing
            releases.append(made.release)
        history = (*self.history, *(release.raw for release in releases))
        answers = (*self.answers, *(release.answers for release in releases if release.answers))
        after = replace(self, state=state, history=history, counts=counts, answers=answers)
        return tuple(releases), after

    def _processing(self) -> Processing | Trail:
        if self.terms.follows:
            return Trail.of(self.terms.plan, self.answers)
        return Processing.of(self.terms.statistic, self.terms.plan.request.width, self.history)

    def _require_admissible(self, sequence: GraphSequence) -> None:
        """Everything that can be refused before a step is counted or noise is drawn."""
        from graphveil.graph.degrees import broken_promise, require_fit

        terms = self.terms
        terms.statistic.require_domain(directed=sequence.directed)
        states.require_room(terms.plan, self.state, sequence.steps)
        require_fit(sequence, terms.bound)
        counts_on_it = terms.bound.checked and not terms.projects
        if counts_on_it and not self.engine.keeps_bound(sequence, terms.bound):
            raise broken_promise(terms.bound)

    def _count(self, sequence: GraphSequence) -> SeriesCounts:
        try:
            return count_series(self.engine, sequence, [self.terms], after=self.counts)
        except ParameterError as error:
            if error.parameter == "after":
                raise _another_past() from error
            raise


def _another_past() -> InputError:
    return InputError(
        "the published steps have changed in this sequence",
        hint="Give the sequence from which the earlier releases were made, with its new steps.",
    )
