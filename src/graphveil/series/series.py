"""A series in memory: from a growing graph to releases, in a few lines.

    series = Series.open(plan, statistic("edges"), DegreeBound(15))
    releases, series = series.publish(sequence, through=4)

A `Series` holds true counts and the noise of the future, so it is a secret; what it
publishes is not. It takes no source of noise: the only one it knows is `ReleaseNoise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from graphveil.backends import LocalEngine
from graphveil.errors import InputError, ParameterError
from graphveil.mechanisms.following import Answer
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.series import state as states
from graphveil.series.counting import SeriesCounts, SeriesTerms, count_series
from graphveil.series.following import Trail
from graphveil.series.postprocessing import Processing
from graphveil.series.release import Release, has_same_past, make_release
from graphveil.series.state import SeriesState
from graphveil.statistics.statistic import Statistic

if TYPE_CHECKING:
    from graphveil.backends import Engine
    from graphveil.graph.promises import Bound
    from graphveil.graph.sequence import GraphSequence


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
