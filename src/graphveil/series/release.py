"""A release: what a series publishes at one step, and how it is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphveil.errors import ParameterError
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.exact_numbers import Exact
from graphveil.noise.laws import NoiseSource
from graphveil.series.counting import Differences, difference_at
from graphveil.series.postprocessing import Processing
from graphveil.series.state import SeriesState, advance
from graphveil.series.terms import SeriesTerms

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
        from graphveil.mechanisms.planning.intervals import interval

        return interval(self.plan, self.place, self.value, level)

    def intervals(self, level: Exact = "0.95") -> list[tuple[int, int]]:
        """Such bounds for each number by itself."""
        from graphveil.mechanisms.planning.intervals import interval

        return [interval(self.plan, self.place, number, level) for number in self.raw]


@dataclass(frozen=True)
class MadeRelease:
    """A release, and what only its keeper may know.

    Attributes:
        release: what is published.
        difference: the exact change since the release before; a secret.
        state: the series after it; a secret.
        processing: the post-processing after it, which knows published values only.
    """

    release: Release
    difference: tuple[int, ...] = field(repr=False)
    state: SeriesState = field(repr=False)
    processing: Processing = field(repr=False)

    @property
    def noise(self) -> tuple[int, ...]:
        """What was added to the exact values; a secret."""
        return tuple(
            raw - total for raw, total in zip(self.release.raw, self.state.totals, strict=True)
        )


def has_same_past(terms: SeriesTerms, state: SeriesState, differences: Differences) -> bool:
    """Whether counting the graph again gives what was counted when its releases were made."""
    made = terms.first_step + state.step
    if state.step == 0:
        return True
    return len(differences) >= made and tuple(differences[:made].sum(axis=0)) == state.totals


def make_release(
    terms: SeriesTerms,
    state: SeriesState,
    differences: Differences,
    processing: Processing,
    label: str,
    source: NoiseSource,
) -> MadeRelease:
    """The next release of a series: noise is drawn where a new epoch begins, and only there.

    Args:
        terms: what is published, and how.
        state: the series after the release before.
        differences: the exact change at each step of the graph, up to the new one at least.
        processing: the post-processing, after all releases so far.
        label: the public name of the step.
        source: where noise comes from.
    """
    step = terms.first_step + state.step
    difference = difference_at(differences, terms.first_step, step)
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
