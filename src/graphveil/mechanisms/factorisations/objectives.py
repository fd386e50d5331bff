"""Objectives: what the noise of a series is to be small in, chosen without looking at data.

An objective is written as its name, with what it takes after a colon: `mean`, `windows:4`. For a
number of releases it gives an `Aim`, which the optimiser follows and by which mechanisms are
compared.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.noise.exact_numbers import as_text, exact
from graphveil.registry import Registry

if TYPE_CHECKING:
    from numpy.typing import NDArray


# An aim: which sums of steps are to be estimated well, and how their errors are weighed.


Floats: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True)
class Aim:
    """The mean of the deviations of all sums over the last `reach` steps, or the worst of them.

    A sum that ends before `reach` steps have passed begins with the first step; so totals are the
    sums whose reach is the whole length.

    Attributes:
        weights: of the sum that ends with each step: not negative, adding up to 1; one of weight 0
            does not matter.
        reach: over how many steps a sum goes.
        worst: whether the largest deviation counts, and not their mean.
    """

    weights: tuple[float, ...]
    reach: int
    worst: bool = False

    @classmethod
    def of_totals(cls, weights: Sequence[Fraction], *, worst: bool = False) -> Aim:
        """One that looks at totals, whose weights are made to add up to 1."""
        return cls(shares(weights), len(weights), worst)

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.weights)

    @property
    def totals(self) -> bool:
        """Whether it looks at totals."""
        return self.reach >= self.steps

    @property
    def mean_of_totals(self) -> bool:
        """Whether it is a mean of all totals, whatever their weights."""
        return self.totals and not self.worst and min(self.weights) > 0

    def value(self, deviations: Sequence[float] | Floats) -> float:
        """What is to be small, of the standard deviations of the sums that end with each step."""
        weights, given = np.array(self.weights), np.asarray(deviations, dtype=np.float64)
        return float(given[weights > 0].max() if self.worst else (weights * given).sum())

    def coarse(self, each: int) -> Aim:
        """The same for columns of so many steps each, evaluated at their last step."""
        ends = [*self.weights[each - 1 :: each], *self.weights[-1:] * (self.steps % each > 0)]
        whole = sum(ends)
        taken = tuple(weight / whole for weight in ends) if whole else (1 / len(ends),) * len(ends)
        return Aim(taken, max(1, round(self.reach / each)), self.worst)


def shares(weights: Sequence[Fraction]) -> tuple[float, ...]:
    """The weights as parts of their sum."""
    whole = sum(weights)
    return tuple(float(weight / whole) for weight in weights)


@lru_cache(maxsize=8)
def plain_mean(steps: int) -> Aim:
    """All totals alike."""
    return Aim.of_totals([Fraction(1)] * steps)


PARAMETER = "minimise"
LONGEST_NAME = 40  # characters of an unknown name that an error message repeats


@dataclass(frozen=True)
class Objective(ABC):
    """A way to weigh the errors of all releases against each other.

    Attributes:
        name: what users call it.
        usage: how it is written.
        summary: one line that says what is to be small.
        needs_horizon: whether the number of releases must be known in advance.
    """

    name: ClassVar[str]
    usage: ClassVar[str]
    summary: ClassVar[str]
    needs_horizon: ClassVar[bool] = False

    @classmethod
    def read(cls, given: str | None) -> Objective:
        """The objective with what was written after the colon; most take nothing."""
        if given is not None:
            raise ParameterError(PARAMETER, f"'{cls.name}' takes nothing after it")
        return cls()

    @abstractmethod
    def aim(self, steps: int) -> Aim:
        """The aim for so many releases; refuses a number of releases that it does not fit."""

    def require(self, horizon: int | None, reference: int) -> None:
        """Refuse a horizon that it does not fit; an unknown one is judged on `reference` steps."""
        if horizon is None and self.needs_horizon:
            problem = f"'{self.name}' needs a known number of releases"
            raise ParameterError(PARAMETER, problem, hint="Choose 'mean' if it is not known.")
        self.aim(horizon or reference)

    def fitted(self, steps: int | None) -> Objective:
        """The same for another part of a series, or the plain mean if it does not fit that."""
        try:
            self.require(steps, steps or 1)
        except ParameterError:
            return PLAIN
        return self

    def __str__(self) -> str:
        return self.name


Member = TypeVar("Member", bound=type[Objective])
_REGISTRY: Registry[type[Objective]] = Registry(PARAMETER, "graphveil.mechanisms.factorisations")


def register(member: Member) -> Member:
    """Enter an objective under its name."""
    _REGISTRY.enter(member.name, member)
    return member


def registered() -> dict[str, type[Objective]]:
    """Every objective by name."""
    return _REGISTRY.members()


def objective(text: str) -> Objective:
    """The objective that is written so; refuses what cannot be read."""
    name, colon, given = text.strip().partition(":")
    known = _REGISTRY.named(name.strip()[:LONGEST_NAME])
    return known.read(given.strip() if colon else None)


@register
@dataclass(frozen=True)
class Mean(Objective):
    """Σ weight·deviation over all releases, with weights 1/√t unless others are given.

    Noise that is good on average over all totals is poor at the first ones, which are small: so
    those weigh more. Against equal weights this costs 3% of the plain mean at most, and saves up to
    a sixth of the mean relative error (`docs/planning.md#what-to-minimise`).
    """

    weights: tuple[Fraction, ...] = ()
    equal: bool = False

    name = "mean"
    usage = "mean, mean:equal or mean:W1,W2,…"
    summary = "the mean over all releases, early ones weighing more (1/√t), or as given"

    @classmethod
    def read(cls, given: str | None) -> Mean:
        """Weights, or the word for equal ones."""
        if given is None or given == "equal":
            return cls(equal=given is not None)
        weights = _numbers(given)
        if min(weights) < 0 or not any(weights):
            raise ParameterError(PARAMETER, "weights must be at least 0, and one of them above 0")
        return cls(weights)

    @property
    def needs_horizon(self) -> bool:  # type: ignore[override]
        """Given weights are for a given number of releases."""
        return bool(self.weights)

    def aim(self, steps: int) -> Aim:
        """Refuses weights of another number."""
        if self.equal:
            return plain_mean(steps)
        if self.weights and len(self.weights) != steps:
            raise ParameterError(
                PARAMETER,
                f"has {len(self.weights)} weights for {_releases(steps)}",
                hint="Give one weight for each.",
            )
        if self.weights:
            return Aim.of_totals(self.weights)
        return _early(steps)

    def __str__(self) -> str:
        return f"{self.name}:equal" if self.equal else _written(self.name, self.weights)


@register
@dataclass(frozen=True)
class Relative(Objective):
    """The mean of deviation/expected total: linear growth from 0, or as the steward expects.

    What is expected must come from public knowledge, never from the data.
    """

    expected: tuple[Fraction, ...] = ()

    name = "relative"
    usage = "relative, relative:FIRST,LAST or relative:N1,N2,…"
    summary = "the mean error in percent of the total, which grows evenly, or as expected"

    @classmethod
    def read(cls, given: str | None) -> Relative:
        """Expected totals: the first and the last, or all."""
        expected = () if given is None else _numbers(given)
        if given is not None and (min(expected) <= 0 or len(expected) < 2):
            problem = "expected totals must be above 0: the first and the last, or one per release"
            raise ParameterError(PARAMETER, problem)
        return cls(expected)

    @property
    def needs_horizon(self) -> bool:  # type: ignore[override]
        """What is expected at the last release is for a given number of them."""
        return bool(self.expected)

    def aim(self, steps: int) -> Aim:
        """Refuses expectations of another number."""
        return Aim.of_totals([1 / total for total in self._totals(steps)])

    def _totals(self, steps: int) -> list[Fraction]:
        if not self.expected:
            return [Fraction(t) for t in range(1, steps + 1)]
        if len(self.expected) == steps:
            return list(self.expected)
        if len(self.expected) != 2:
            raise ParameterError(
                PARAMETER,
                f"has {len(self.expected)} expected totals for {_releases(steps)}",
                hint="Give one for each, or the first and the last.",
            )
        first, last = self.expected
        return [first + (last - first) * t / max(1, steps - 1) for t in range(steps)]

    def __str__(self) -> str:
        return _written(self.name, self.expected)


@register
@dataclass(frozen=True)
class Last(Objective):
    """The last release alone: those before it may be useless."""

    name = usage = "last"
    summary = "the last release alone"
    needs_horizon = True

    def aim(self, steps: int) -> Aim:
        """One weight."""
        return Aim.of_totals([Fraction(0)] * (steps - 1) + [Fraction(1)])


@register
@dataclass(frozen=True)
class Worst(Objective):
    """The release with the largest error."""

    name = usage = "worst"
    summary = "the release with the largest error"

    def aim(self, steps: int) -> Aim:
        """All alike."""
        return Aim.of_totals([Fraction(1)] * steps, worst=True)


@register
@dataclass(frozen=True)
class Differences(Objective):
    """What is new at each step: the difference of two releases that follow each other."""

    name = usage = "differences"
    summary = "the mean error of what is new at each step"

    def aim(self, steps: int) -> Aim:
        """Sums over one step."""
        return Aim((1 / steps,) * steps, 1)


@register
@dataclass(frozen=True)
class Windows(Objective):
    """What is new over K steps, such as the twelve months up to each release."""

    length: int

    name = "windows"
    usage = "windows:K"
    summary = "the mean error of what is new over K steps"

    @classmethod
    def read(cls, given: str | None) -> Windows:
        """K."""
        if given is None or not re.fullmatch("0*[1-9][0-9]{0,8}", given):
            problem = "'windows' needs its length in steps, such as windows:4"
            raise ParameterError(PARAMETER, problem)
        return cls(int(given))

    def aim(self, steps: int) -> Aim:
        """Refuses windows that are longer than the series; those that are complete count alike."""
        if self.length > steps:
            raise ParameterError(
                PARAMETER,
                f"windows of {self.length} steps are longer than {_releases(steps)}",
                hint="Choose a shorter window.",
            )
        complete = [Fraction(step >= self.length) for step in range(1, steps + 1)]
        return Aim(shares(complete), self.length)

    def __str__(self) -> str:
        return f"{self.name}:{self.length}"


PLAIN = Mean(equal=True)  # what plans and studies follow that do not say it
DEFAULT = Mean()
COMPARED = (DEFAULT, PLAIN, Relative(), Last(), Worst(), Differences())  # in tables


@lru_cache(maxsize=32)
def _early(steps: int) -> Aim:
    return Aim.of_totals([Fraction(1 / sqrt(step)) for step in range(1, steps + 1)])


def _numbers(given: str) -> tuple[Fraction, ...]:
    return tuple(exact(PARAMETER, each.strip()) for each in given.split(","))


def _written(name: str, numbers: tuple[Fraction, ...]) -> str:
    return f"{name}:{','.join(map(as_text, numbers))}" if numbers else name


def _releases(number: int) -> str:
    return f"{number} release{'' if number == 1 else 's'}"
