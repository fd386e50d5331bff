"""Following what was published: the public history that chooses thresholds, and the next answers.

Thresholds and questions are functions of answers that were published before, and of nothing else:
`Trail` holds published numbers alone, and only `ask` sees counts (docs/mechanisms.md#following).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

from graphveil.mechanisms.following import Answer, Rule
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import NoiseSource
from graphveil.series import state as states
from graphveil.series.state import SeriesState

DONE = "what thresholds drop is allowed for; each value ends a rising fit of those before it"
ROUNDING = 1 / 12  # the variance of rounding to a whole number


@dataclass(frozen=True)
class Trail:
    """What a series has published so far, as far as its thresholds depend on it; public.

    Attributes:
        plan: how it is published.
        made: how many releases there are.
        asked: how many questions of the epoch under way were answered.
        fit: stretches of the rising fit of all corrected answers: sum, length.
        before: the size that was estimated before the newest release.
    """

    plan: Plan
    made: int = 0
    asked: int = 0
    fit: tuple[tuple[Fraction, int], ...] = ()
    before: Fraction = Fraction()

    done = DONE

    @classmethod
    def of(cls, plan: Plan, releases: Iterable[Sequence[Answer]] = ()) -> Trail:
        """After some releases, each with the answers to its questions."""
        trail = cls(plan)
        for answers in releases:
            trail = trail.after(answers)
        return trail

    @property
    def place(self) -> tuple[int, int]:
        """The epoch of the next release, and how many of its releases were made."""
        number, there = self.plan.place_of(self.made + 1)
        return number, there - 1

    @property
    def rule(self) -> Rule:
        """By which the thresholds of the next release are chosen."""
        return Rule.of(self.plan.request, self.plan.epoch(self.place[0]))

    @property
    def size(self) -> Fraction:
        """The estimate that all releases so far lead to, at least 0."""
        if not self.fit:
            return Fraction()
        total, length = self.fit[-1]
        return max(total / length, Fraction())

    @property
    def forecast(self) -> Fraction:
        """The size expected next: it grows once more as it did last, and at most doubles."""
        growth = min(max(self.size - self.before, Fraction()), self.size)
        return self.size + growth

    def next(self, answers: Sequence[Answer]) -> int | None:
        """The threshold of the next question of the next release; None if none is left to ask."""
        number, there = self.place
        epoch = self.plan.epoch(number)
        begun = self.asked if there else 0
        left = epoch.factorisation.measurements - begun - len(answers)
        later = epoch.steps - there - 1  # releases that need a question each
        return self.rule.next(self.forecast, answers, spare=left > later)

    def after(self, answers: Sequence[Answer]) -> Trail:
        """With one release more, whose number is its last answer."""
        begun = self.asked if self.place[1] else 0
        fit = _pooled(self.fit, self.rule.corrected(answers[-1]))
        asked = begun + len(answers)
        return replace(self, made=self.made + 1, asked=asked, fit=fit, before=self.size)

    def is_due(self, answers: Sequence[Answer]) -> bool:
        """Whether these answers are to just the questions that the rule asks at the next release.

        Anybody can find that out from what is published.
        """
        expected = [self.next(answers[:asked]) for asked in range(len(answers) + 1)]
        return bool(answers) and expected == [*(each.threshold for each in answers), None]


def corrected_answers(plan: Plan, releases: Iterable[Sequence[Answer]]) -> Iterator[Fraction]:
    """The released answers, with about as much added as their thresholds drop."""
    trail = Trail(plan)
    for answers in releases:
        yield trail.rule.corrected(answers[-1])
        trail = trail.after(answers)


def _pooled(
    fit: tuple[tuple[Fraction, int], ...], value: Fraction
) -> tuple[tuple[Fraction, int], ...]:
    """The rising fit with one more value: the last stretches are merged while they do not rise."""
    total, length = value, 1
    while fit and fit[-1][0] * length >= total * fit[-1][1]:
        total, length, fit = total + fit[-1][0], length + fit[-1][1], fit[:-1]
    return (*fit, (total, length))


@dataclass(frozen=True)
class Asked:
    """The questions of one release.

    Attributes:
        answers: in order; the last is what is released.
        noise: in each of them, in parts of its threshold; a secret.
        state: after the release; a secret, as it holds the exact count of the last question.
    """

    answers: tuple[Answer, ...]
    noise: tuple[int, ...]
    state: SeriesState


def ask(
    trail: Trail, state: SeriesState, count: Callable[[int], int], source: NoiseSource
) -> Asked:
    """Ask the questions of the next release; noise is drawn where an epoch begins, and only there.

    Guarantees: counts reach what is published through `Rule.measured` plus noise alone, and
        thresholds depend on answers alone.

    Args:
        trail: what was published.
        state: the series after the release before.
        count: the exact count at a threshold; a secret.
        source: where noise comes from.
    """
    ready = states.ready(trail.plan, state, source)
    rule, drawn, answers = trail.rule, ready.noise[0], list[Answer]()
    begun, exact = ready.asked or 0, 0
    while (threshold := trail.next(answers)) is not None:
        exact = count(threshold)
        noise = drawn[begun + len(answers)]
        answers.append(Answer(threshold, rule.measured(exact, threshold) + noise))
    used = begun + len(answers)
    after = replace(ready, step=ready.step + 1, totals=(exact,), asked=used)
    return Asked(tuple(answers), drawn[begun:used], after)


def standard_deviation(trail: Trail, answer: Answer) -> float:
    """That of the noise in the raw value of the next release, rounding included."""
    number, _ = trail.place
    epoch, parts = trail.plan.epoch(number), trail.rule.parts
    single, _ = epoch.joint_law.spread()
    return sqrt(single * (answer.threshold / parts) ** 2 + ROUNDING)
