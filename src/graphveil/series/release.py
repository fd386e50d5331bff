"""A release: what a series publishes at one step, and how it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from graphveil.errors import ParameterError
from graphveil.mechanisms.following import Answer
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.exact_numbers import Exact
from graphveil.noise.laws import NoiseSource
from graphveil.series.counting import Differences, SeriesTerms, ThresholdCounts, difference_at
from graphveil.series.following import Trail, ask, standard_deviation
from graphveil.series.postprocessing import Processing
from graphveil.series.state import SeriesState, advance

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
