"""An aim: which sums of steps are to be estimated well, and how their errors are weighed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from graphveil.deferred import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
        """The same for columns that stand for so many steps each, looked at with their last."""
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
