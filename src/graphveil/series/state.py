"""A series under way: what is stored between releases, and how the next one is made.

The state holds true counts and the noise of the future: it is a secret, it is stored once,
and it is never redrawn.

Where thresholds follow what was published, they and the questions are functions of answers that
were published before, and of nothing else: `Trail` holds published numbers alone, and only `ask`
sees counts (docs/mechanisms.md#following).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count, pairwise
from math import sqrt
from typing import Any

from graphveil.errors import CountOverflowError, ParameterError
from graphveil.mechanisms.factorisations.factorisation import Questions
from graphveil.mechanisms.following import Answer, Rule
from graphveil.mechanisms.mechanism import Epoch
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import NoiseSource, ResumingSource

FORMAT = 2  # of a stored state that counts its questions; others are of the first
LARGEST_COUNT = 2**62  # far enough from the end of 64 bits for any noise that is admitted


@dataclass(frozen=True)
class SeriesState:
    """Everything a series must remember; a secret, which `repr` does not show.

    An epoch's noise is decoded once, when it is drawn. What its steps add to the true value
    is stored as whole numbers; what the next epoch begins with is stored exactly.

    Attributes:
        step: how many releases were made.
        epoch: the number of the current epoch; -1 before the first.
        epoch_start: the step at which it began.
        totals: the exact value so far, one per number of a release.
        noise: what each step of the epoch adds to it, (numbers, steps).
        carried: the exact noise with which the next epoch begins, one per number.
        asked: how much of the epoch's noise was used, where that is not one per release.
    """

    step: int
    epoch: int
    epoch_start: int
    totals: tuple[int, ...] = field(repr=False)
    noise: tuple[tuple[int, ...], ...] = field(repr=False)
    carried: tuple[Fraction, ...] = field(repr=False)
    asked: int | None = field(default=None, repr=False)

    @property
    def epoch_end(self) -> int:
        """The step before which the current epoch ends."""
        return self.epoch_start + (len(self.noise[0]) if self.noise else 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store, whole numbers and texts only; still a secret."""
        questions = {} if self.asked is None else {"format": FORMAT, "asked": self.asked}
        return questions | {
            "step": self.step,
            "epoch": self.epoch,
            "epoch_start": self.epoch_start,
            "totals": list(self.totals),
            "noise": [list(drawn) for drawn in self.noise],
            "carried": [str(exact) for exact in self.carried],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SeriesState:
        """The state that `to_dict` wrote."""
        return cls(
            step=data["step"],
            epoch=data["epoch"],
            epoch_start=data["epoch_start"],
            totals=tuple(data["totals"]),
            noise=tuple(tuple(drawn) for drawn in data["noise"]),
            carried=tuple(Fraction(exact) for exact in data["carried"]),
            asked=data.get("asked"),
        )


def start(plan: Plan) -> SeriesState:
    """The state before the first release; no noise is drawn yet."""
    return first(plan.request.width)


def first(width: int) -> SeriesState:
    """The state before the first release; every release has so many numbers."""
    return SeriesState(0, -1, 0, (0,) * width, (), (Fraction(),) * width)


def advance(
    plan: Plan, state: SeriesState, difference: Sequence[int], source: NoiseSource
) -> tuple[tuple[int, ...], SeriesState]:
    """The raw estimate of the next release, and the state after it.

    The estimate is the exact value plus the decoded noise, rounded to a whole number: just
    what rounding the decoded integer measurement would give (`docs/mechanisms.md`).
    """
    if len(difference) != plan.request.width:
        raise ParameterError("difference", f"must have {plan.request.width} numbers")
    totals = tuple(a + int(b) for a, b in zip(state.totals, difference, strict=True))
    if any(abs(total) > LARGEST_COUNT for total in totals):
        raise CountOverflowError("a count is too close to the limit of 64 bits to add noise safely")
    begun = ready(plan, state, source)
    place = begun.step - begun.epoch_start
    raw = tuple(total + noise[place] for total, noise in zip(totals, begun.noise, strict=True))
    return raw, replace(begun, step=begun.step + 1, totals=totals)


def ready(plan: Plan, state: SeriesState, source: NoiseSource) -> SeriesState:
    """The state in the epoch of the next release; its noise is drawn if it begins now."""
    return state if state.step < end_of_epoch(plan, state) else _next_epoch(plan, state, source)


def end_of_epoch(plan: Plan, state: SeriesState) -> int:
    """The step before which the current epoch ends; it may have more noise than steps."""
    if state.asked is None:
        return state.epoch_end
    return state.epoch_start + plan.epoch(state.epoch).steps


def require_room(plan: Plan, state: SeriesState, steps: int) -> None:
    """Refuse to come to `steps` releases where the plan ends before; draws nothing."""
    end = end_of_epoch(plan, state)
    for number in count(state.epoch + 1):
        if steps <= end:
            return
        end += plan.epoch(number).steps


def _next_epoch(plan: Plan, state: SeriesState, source: NoiseSource) -> SeriesState:
    """The state in the epoch that begins now, with all its noise, drawn at once."""
    number = state.epoch + 1
    epoch = plan.epoch(number)
    size = epoch.factorisation.measurements
    drawn = source.draw(epoch.law, size * plan.request.width)
    errors = [
        _errors(epoch, drawn[first : first + size])[: epoch.cut]
        for first in range(0, len(drawn), size)
    ]
    decoded = [
        [carried + error for error in each]
        for carried, each in zip(_left_behind(plan, state), errors, strict=True)
    ]
    noise = tuple(tuple(map(_rounded, each)) for each in decoded)
    return replace(
        state,
        epoch=number,
        epoch_start=state.step,
        noise=noise,
        carried=_carried(plan, decoded) if epoch.cut is None else _as_fractions(noise),
        asked=0 if plan.mechanism.follows else None,
    )


def _left_behind(plan: Plan, state: SeriesState) -> tuple[Fraction, ...]:
    """The noise that the epochs before leave; where it was resumed, that of its new end."""
    resumed = state.epoch >= 0 and plan.epoch(state.epoch).resumes and plan.mechanism.adds_up
    return _as_fractions(state.noise) if resumed else state.carried


def renewed(plan: Plan, state: SeriesState, source: ResumingSource) -> SeriesState:
    """The state with fresh noise for later steps, for a plan from `continuation.renewed`.

    What was drawn is thrown away. Either the next release begins another epoch, which starts from
    the number that was published last, or the rest of the epoch's noise is drawn now, from its
    law given what was used.

    Args:
        plan: by which the series was published so far.
        state: after its last release.
        source: where the rest of an epoch's noise comes from.
    """
    if state.step == end_of_epoch(plan, state):
        return state
    epoch = plan.epoch(state.epoch)
    made = state.step - state.epoch_start if state.asked is None else state.asked
    if epoch.resumes:
        resumed = tuple(_resumed(plan, epoch, drawn[:made], source) for drawn in state.noise)
        return replace(state, noise=resumed)
    noise = tuple(drawn[:made] for drawn in state.noise)
    return replace(state, noise=noise, carried=_as_fractions(noise))


def _resumed(
    plan: Plan, epoch: Epoch, used_noise: Sequence[int], source: ResumingSource
) -> tuple[int, ...]:
    """The noise of an epoch of a joint law, of whole numbers, with a fresh end."""
    used = list(used_noise)
    if plan.mechanism.adds_up:  # such an epoch is the first: there is no noise before it
        used = [later - earlier for earlier, later in pairwise([0, *used_noise])]
    whole = _errors(epoch, [*used, *source.draw_rest(epoch.law, used)])
    return tuple(map(_rounded, whole))


def _errors(epoch: Epoch, drawn: Sequence[int]) -> list[Fraction]:
    """What the steps of an epoch add; where its questions are chosen later, all that was drawn."""
    if isinstance(epoch.factorisation, Questions):
        return [Fraction(each) for each in drawn]
    return epoch.factorisation.decode(drawn)


def _rounded(error: Fraction) -> int:
    """The nearest whole number; there is exactly one, as denominators of decoders are odd.

    A tie would be broken by the noise alone: then equal measurements could be rounded differently,
    and reveal which true value was in them.
    """
    if error.denominator % 2 == 0:
        raise ValueError("a factorisation needs odd denominators, so that rounding has no ties")
    return round(error)


def _as_fractions(noise: tuple[tuple[int, ...], ...]) -> tuple[Fraction, ...]:
    """The noise of the last release, as it was published."""
    return tuple(Fraction(drawn[-1]) for drawn in noise)


def _carried(plan: Plan, decoded: list[list[Fraction]]) -> tuple[Fraction, ...]:
    """Noise on differences adds up over epochs; noise on totals does not."""
    if plan.mechanism.adds_up:
        return tuple(errors[-1] for errors in decoded)
    return (Fraction(),) * len(decoded)


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
class AnsweredQuestions:
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
) -> AnsweredQuestions:
    """Ask the questions of the next release; noise is drawn where an epoch begins, and only there.

    Guarantees: counts reach what is published through `Rule.measured` plus noise alone, and
        thresholds depend on answers alone.

    Args:
        trail: what was published.
        state: the series after the release before.
        count: the exact count at a threshold; a secret.
        source: where noise comes from.
    """
    begun = ready(trail.plan, state, source)
    rule, drawn, answers = trail.rule, begun.noise[0], list[Answer]()
    first, exact = begun.asked or 0, 0
    while (threshold := trail.next(answers)) is not None:
        exact = count(threshold)
        noise = drawn[first + len(answers)]
        answers.append(Answer(threshold, rule.measured(exact, threshold) + noise))
    used = first + len(answers)
    after = replace(begun, step=begun.step + 1, totals=(exact,), asked=used)
    return AnsweredQuestions(tuple(answers), drawn[first:used], after)


def standard_deviation(trail: Trail, answer: Answer) -> float:
    """That of the noise in the raw value of the next release, rounding included."""
    number, _ = trail.place
    epoch, parts = trail.plan.epoch(number), trail.rule.parts
    single, _ = epoch.joint_law.spread()
    return sqrt(single * (answer.threshold / parts) ** 2 + ROUNDING)
