"""Intervals: between which whole numbers the truth lies, from the exact law of the noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import count
from math import sqrt
from operator import add
from typing import TYPE_CHECKING

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.mechanisms.mechanism import Epoch
from graphveil.mechanisms.planning.change import Change
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.exact_numbers import HIGHEST_LEVEL, Exact, exact
from graphveil.noise.joint_laws import JointLaw
from graphveil.noise.laws import Law
from graphveil.noise.noise_sum import ROUNDING_VARIANCE, NoiseSum, Term
from graphveil.noise.tails import Noise, NoiseTails

if TYPE_CHECKING:
    from numpy.typing import NDArray


DEFAULT_LEVEL = Fraction(95, 100)


def interval(plan: Plan, step: int, raw: int, level: Exact = DEFAULT_LEVEL) -> tuple[int, int]:
    """Bounds between which the true number lies, with a probability of at least `level`.

    Args:
        plan: how the number was published.
        step: the release, from 0 on.
        raw: the raw value that was published.
        level: the probability, over the noise, that the bounds hold.

    Examples:
        >>> chosen = plan("edges", 15, epsilon=1, horizon=20)
        >>> low, high = interval(chosen, step=0, raw=120)
        >>> low < 120 < high
        True
    """
    return noise_interval(noise_of(plan, {step: 1}), raw, level)


def change_interval(
    plan: Plan, earlier: int, later: int, change: int, level: Exact = DEFAULT_LEVEL
) -> tuple[int, int]:
    """Such bounds for the true change between two releases, whose raw values differ by `change`.

    Examples:
        >>> chosen = plan("edges", 15, epsilon=1, horizon=20)
        >>> low, high = change_interval(chosen, earlier=0, later=1, change=30)
        >>> low < 30 < high
        True
    """
    return noise_interval(noise_of(plan, {earlier: -1, later: 1}), change, level)


def half_widths(plan: Plan, steps: range, level: Exact = DEFAULT_LEVEL) -> list[int]:
    """How far the bounds lie from the raw value, at each of these releases, in one pass."""
    share = checked_level(level)
    return [noise.half_width(share) for noise in _noises(plan, steps)]


def _noises(plan: Plan, steps: range) -> Iterator[Noise]:
    """The law of the noise in each of these releases, one after the other."""
    joint = any(isinstance(epoch.law, JointLaw) for epoch in plan.epochs)
    if joint and plan.mechanism.adds_up:
        yield from (noise_of(plan, {step: 1}) for step in steps)
        return
    carried, start = _Carried(), 0
    for number in count():
        epoch = plan.epoch(number)
        end = start + epoch.steps
        exact_steps = epoch.factorisation.integral_steps() & carried.whole
        for step in range(max(start, steps.start), min(end, steps.stop)):
            if isinstance(epoch.law, JointLaw):
                yield epoch.law.combination(
                    _whole_row(epoch.factorisation.single_row(step - start))
                )
                continue
            own = Term.of(epoch.single_law, epoch.factorisation.single_row(step - start))
            slack = carried.slack + _rounding(bool(exact_steps[step - start]))
            yield NoiseSum.gathered((*carried.terms(), own), slack)
        if end >= steps.stop:
            return
        if plan.mechanism.adds_up:
            carried = carried.after(epoch, bool(exact_steps[epoch.steps - 1]))
        start = end


def _rounding(exact: bool) -> Fraction:
    """How far rounding can move a release."""
    return Fraction(0 if exact else 1, 2)


@dataclass(frozen=True)
class _Carried:
    """What finished epochs leave in all later releases; equal ones in a row are only counted.

    Attributes:
        before: the noise of all but the newest.
        newest: the last of them, and
        times: how many like it there are in a row.
        whole: whether all of it together is a whole number.
        slack: how far rounding has moved it, where epochs were cut.
    """

    before: tuple[Term, ...] = ()
    newest: Epoch | None = None
    times: int = 0
    whole: bool = True
    slack: Fraction = Fraction()

    def after(self, epoch: Epoch, exact: bool) -> _Carried:
        """The same with one epoch more, whose last release is exact or rounded."""
        again = epoch == self.newest
        before, times = (self.before, self.times + 1) if again else (self.terms(), 1)
        if epoch.cut is None:
            return _Carried(before, epoch, times, exact, self.slack)
        return _Carried(before, epoch, times, True, self.slack + _rounding(exact))

    def terms(self) -> tuple[Term, ...]:
        """The noise itself."""
        if self.newest is None:
            return self.before
        last = self.newest.factorisation.single_row(self.newest.steps - 1)
        left = Term.of(self.newest.single_law, last)
        return NoiseSum.gathered((*self.before, left.times(self.times))).terms


def noise_interval(noise: Noise, value: int, level: Exact = DEFAULT_LEVEL) -> tuple[int, int]:
    """Such bounds for any whole number that carries this noise."""
    width = noise.half_width(checked_level(level))
    return value - width, value + width


def noise_of(plan: Plan, coefficients: Mapping[int, int]) -> NoiseSum | NoiseTails:
    """The law of the noise in Σ coefficient · release, over releases of one series.

    Noise of different series, or of different numbers of a vector release, is independent:
    such laws may be added.

    Args:
        plan: how the releases are made.
        coefficients: a whole number for each release, which is named by its step, from 0 on.
    """
    if not coefficients or min(coefficients) < 0:
        raise ParameterError("step", "must be a whole number of at least 0")
    return _noise(_Identity(plan), tuple(sorted(coefficients.items())))


class _Identity:
    """A plan as a key of a cache: by identity, since hashing a plan would cost more than it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __hash__(self) -> int:
        return id(self.plan)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.plan is self.plan


@lru_cache(maxsize=1024)
def _noise(key: _Identity, coefficients: tuple[tuple[int, int], ...]) -> NoiseSum | NoiseTails:
    return noise_from(key.plan, dict(coefficients), Beginning())


@dataclass(frozen=True)
class Beginning:
    """Where an epoch begins.

    Attributes:
        epoch: its number.
        step: its first release.
        whole: whether the noise that it carries on is a whole number by itself.
    """

    epoch: int = 0
    step: int = 0
    whole: bool = True

    def next(self, plan: Plan) -> Beginning:
        """Where the epoch after it begins."""
        epoch, whole = plan.epoch(self.epoch), self.whole
        if plan.mechanism.adds_up:
            ended = epoch.factorisation.integral_steps()[epoch.steps - 1]
            # What follows a cut begins with noise that was rounded.
            whole = epoch.cut is not None or (whole and bool(ended))
        return Beginning(self.epoch + 1, self.step + epoch.steps, whole)


def noise_from(
    plan: Plan, coefficients: Mapping[int, int], begin: Beginning
) -> NoiseSum | NoiseTails:
    """The same law, walking through the epochs from one of them on.

    Args:
        plan: how the releases are made.
        coefficients: of releases from there on; they add up to 0, unless it is the first epoch:
            then what earlier epochs left in all of them cancels.
        begin: where to begin.
    """
    wanted, adds_up = dict(coefficients), plan.mechanism.adds_up
    rows: list[tuple[Law, NDArray[np.float64]]] = []
    joint: list[NoiseTails] = []
    slack, at = Fraction(), begin
    while True:
        epoch = plan.epoch(at.epoch)
        weights = np.zeros(epoch.factorisation.steps)
        exact_steps = epoch.factorisation.integral_steps() & at.whole
        for step in [step for step in wanted if at.step <= step < at.step + epoch.steps]:
            weights[step - at.step] = wanted.pop(step)
        rounded = weights.copy()
        if adds_up:
            weights[epoch.steps - 1] += sum(wanted.values())
            if epoch.cut is not None:
                rounded = weights
        slack += Fraction(int(np.abs(rounded[~exact_steps]).sum()), 2)
        if weights.any():
            row = epoch.factorisation.combined_row(weights)
            if isinstance(epoch.law, JointLaw):
                joint.append(epoch.law.combination(_whole_row(row)))
            else:
                rows.append((epoch.single_law, row))
        if not wanted:
            return _together(joint, NoiseSum.of(rows, slack))
        at = at.next(plan)


def _whole_row(row: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights of joint noise, which are whole numbers."""
    return np.rint(row).astype(np.int64)


def _together(joint: Sequence[NoiseTails], single: NoiseSum) -> NoiseSum | NoiseTails:
    """The sum of the noise of joint laws and of noise by noise, all of it independent."""
    if not joint:
        return single
    first, *others = joint
    return reduce(add, [*others, single] if single.terms else others, first)


def checked_level(level: Exact) -> Fraction:
    """The probability, if intervals can have it."""
    share = exact("level", level)
    if not 0 < share <= HIGHEST_LEVEL:
        raise ParameterError("level", "must be above 0 and at most 0.999999", hint="Try 0.95.")
    return share


# Changes: how far noise can reach in what is new over some steps, and in how that compares.
#
# Changes are functions of published numbers, so they cost no privacy, and the law of their noise
# follows from the plan.


COARSE = 1e-3  # the smoothing of a change, as a part of its spread


@dataclass(frozen=True)
class ChangeError:
    """How far the noise in a change can reach.

    Attributes:
        std: its standard deviation.
        width: |noise| is at most this, with the probability that was asked for.
    """

    std: float
    width: int


def change_errors(
    plan: Plan, change: Change, places: range, level: Fraction
) -> list[ChangeError | None]:
    """The error of a change at each of these releases; None where it needs earlier ones."""
    share = checked_level(level)
    return list(_errors(plan, change, places, share))


def _errors(
    plan: Plan, change: Change, places: range, share: Fraction
) -> Iterator[ChangeError | None]:
    known: dict[object, ChangeError] = {}  # many steps have the very same noise
    begin = Beginning()
    for place in places:
        if place < change.reach:
            yield None
            continue
        while (following := begin.next(plan)).step <= place - change.reach:
            begin = following
        releases = {place - ago: weight for ago, weight in change.weights.items()}
        noise = noise_from(plan, releases, begin)
        key = _content(noise)
        if key not in known:
            known[key] = ChangeError(_std(noise, change), quickly(noise).half_width(share))
        yield known[key]


def quickly(noise: Noise) -> Noise:
    """The same law; its widths are computed in a fraction of the time, and are 0.3% too large."""
    if not isinstance(noise, NoiseSum):
        return noise
    return replace(noise, smoothing=max(noise.smoothing, COARSE * sqrt(noise.variance())))


def _content(noise: Noise) -> object:
    """A key that is the same for equal laws, where equality is cheap to decide."""
    if not isinstance(noise, NoiseSum):
        return noise
    terms = tuple((each.law, each.weights.tobytes(), each.copies.tobytes()) for each in noise.terms)
    return terms, noise.slack


def _std(noise: Noise, change: Change) -> float:
    """With what rounding adds: each release that was rounded may be off by up to ½."""
    rounded = isinstance(noise, NoiseSum) and noise.slack > 0
    added = ROUNDING_VARIANCE * sum(weight**2 for weight in change.weights.values())
    return sqrt(noise.variance() + added * rounded)
