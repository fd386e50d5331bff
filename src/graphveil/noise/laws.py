"""Laws of noise on the integers: what is drawn, and everything that follows from the law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import exp, expm1, inf, pi, sqrt
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

from graphveil.deferred import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


Floats: TypeAlias = "NDArray[np.float64]"


class NoiseLaw(ABC):
    """What noise is drawn from: a law of single integers, or of as many as an epoch has steps.

    Attributes:
        name: what people call it.
        size_name: what the number that fixes it is called: its scale or its variance.
        kind: what it is called where it is stored.
    """

    name: ClassVar[str]
    size_name: ClassVar[str]
    kind: ClassVar[str]

    @property
    @abstractmethod
    def size(self) -> Fraction:
        """The number that fixes the law, exact."""

    @property
    @abstractmethod
    def privacy_loss(self) -> Fraction:
        """What a distance of 1 costs: ε for Laplace, ρ of zCDP for Gaussian."""

    @abstractmethod
    def to_dict(self) -> dict[str, str]:
        """Plain data to store."""


class Law(NoiseLaw):
    """A symmetric law on the integers."""

    @abstractmethod
    def variance(self) -> float:
        """E k²."""

    @abstractmethod
    def characteristic(self, angle: Floats) -> Floats:
        """E exp(i·angle·k), which is real."""

    @property
    @abstractmethod
    def steepest(self) -> float:
        """Below which exponents E exp(exponent·k) is finite."""

    @abstractmethod
    def log_moment(self, exponent: Floats) -> Floats:
        """An upper bound of log E exp(exponent·k)."""

    def log_series(self, order: int) -> Floats | None:
        """Log E exp(i·angle·k) as a power series in (angle / steepest)², from its first power on.

        None where there is no use for one.
        """
        return None


@dataclass(frozen=True)
class DiscreteLaplace(Law):
    """P(k) proportional to exp(−|k| / scale), for every integer k."""

    scale: Fraction

    name = "discrete Laplace"
    size_name = "scale"
    kind = "discrete-laplace"

    @property
    def size(self) -> Fraction:
        """The scale."""
        return self.scale

    @property
    def privacy_loss(self) -> Fraction:
        """ε = 1/scale."""
        return 1 / self.scale

    @cached_property
    def rate(self) -> float:
        """1 / scale; cached, since dividing fractions takes longer than what is done with it."""
        return float(1 / self.scale)

    def variance(self) -> float:
        """2q / (1 − q)² with q = exp(−1/scale), in a form that stays exact for large scales."""
        return self._variance

    @cached_property
    def _variance(self) -> float:
        return 2 * exp(-self.rate) / expm1(-self.rate) ** 2

    def characteristic(self, angle: Floats) -> Floats:
        """E exp(i·angle·k), which is real."""
        gap = expm1(-self.rate) ** 2
        return gap / (gap + 4 * exp(-self.rate) * np.sin(angle / 2) ** 2)

    @property
    def steepest(self) -> float:
        """The rate at which the tails fall."""
        return self.rate

    def log_moment(self, exponent: Floats) -> Floats:
        """Log E exp(exponent·k), exactly."""
        lift = np.exp(exponent - self.rate) * np.expm1(-exponent) ** 2
        return np.asarray(-np.log1p(-lift / expm1(-self.rate) ** 2))

    def log_series(self, order: int) -> Floats:
        """The cumulants: the series of −log(1 + c·sin²(angle/2)), with c = 4q / (1 − q)²."""
        return _laplace_series(self.rate, order)

    def to_dict(self) -> dict[str, str]:
        """Plain data to store."""
        return {"kind": self.kind, "scale": str(self.scale)}


@lru_cache(maxsize=64)
def _laplace_series(rate: float, order: int) -> Floats:
    """The logarithm of a power series, coefficient by coefficient."""
    size = 2 * exp(-rate) / expm1(-rate) ** 2
    waves = [size * rate**2 / 2]  # c·sin²(angle/2) = size·(1 − cos angle)
    for place in range(2, order + 1):
        waves.append(-waves[-1] * rate**2 / (2 * place * (2 * place - 1)))
    logs: list[float] = []
    for place in range(1, order + 1):
        earlier = sum(k * logs[k - 1] * waves[place - k - 1] for k in range(1, place))
        logs.append(waves[place - 1] - earlier / place)
    return -np.array(logs)


@dataclass(frozen=True)
class DiscreteGaussian(Law):
    """P(k) proportional to exp(−k² / (2σ²)), for every integer k."""

    sigma_squared: Fraction

    name = "discrete Gaussian"
    size_name = "variance"
    kind = "discrete-gaussian"

    @property
    def size(self) -> Fraction:
        """σ²."""
        return self.sigma_squared

    @property
    def privacy_loss(self) -> Fraction:
        """ρ = 1/(2σ²)."""
        return 1 / (2 * self.sigma_squared)

    def variance(self) -> float:
        """Close to σ², and a little less for small ones."""
        sigma_squared = float(self.sigma_squared)
        if sigma_squared > 25:  # the theta correction is below 1e-200
            return sigma_squared
        farthest = int(40 * sqrt(sigma_squared)) + 40
        k = np.arange(-farthest, farthest + 1)
        weights = np.exp(-(k**2) / (2 * sigma_squared))
        return float((k**2 * weights).sum() / weights.sum())

    def characteristic(self, angle: Floats) -> Floats:
        """E exp(i·angle·k), by Poisson summation: a sum of shifted bells."""
        half = float(self.sigma_squared) / 2
        turns = np.arange(-4, 5) if half > 0.025 else np.arange(-40, 41)
        wrapped = np.remainder(np.asarray(angle) + pi, 2 * pi) - pi
        bells = np.exp(-half * (wrapped[..., None] + 2 * pi * turns) ** 2).sum(axis=-1)
        return np.asarray(bells / np.exp(-half * (2 * pi * turns) ** 2).sum())

    @property
    def steepest(self) -> float:
        """Every exponent has a finite moment."""
        return inf

    def log_moment(self, exponent: Floats) -> Floats:
        """That of a normal law, which is never below."""
        return np.asarray(float(self.sigma_squared) * exponent**2 / 2)

    def to_dict(self) -> dict[str, str]:
        """Plain data to store; format 1 calls σ² the spread."""
        return {"kind": self.kind, "spread": str(self.sigma_squared)}


def law_from_dict(data: Mapping[str, str]) -> Law:
    """The law whose `to_dict` gave this."""
    if data["kind"] == DiscreteLaplace.kind:
        return DiscreteLaplace(Fraction(data["scale"]))
    return DiscreteGaussian(Fraction(data["spread"]))


class NoiseSource(Protocol):
    """Where integers of a law come from; releases and simulations have different ones."""

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        """`count` integers of this law: independent ones, or independent whole vectors."""
        ...


class ResumingSource(Protocol):
    """Where the rest of a vector of a joint law comes from, once its beginning was used."""

    def draw_rest(self, law: NoiseLaw, used: Sequence[int]) -> list[int]:
        """The entries that follow `used`, from their law given these; fresh every time."""
        ...


# Bends: how far a − 2b + c reaches, for three whole numbers drawn alike from 0, …, m − 1.
#
# What is new in a step, against the step before, is such a sum of three releases, and noise that
# is uniform within a random size is a mixture of such laws.


def is_bend(weights: list[int]) -> bool:
    """Whether a sum with these nonzero weights is a bend or its opposite."""
    return sorted(weights) in ([-2, 1, 1], [-1, -1, 2])


def bends_beyond(choices: Floats, width: int) -> Floats:
    """P(|a − 2b + c| > width) for each number m ≥ 1 of choices.

    By symmetry twice the chance that a + c ≥ y = 2b + width + 1. Of the pairs (a, c), those with
    a + c ≥ y are C(2m − y, 2) if y ≥ m − 1, and m² − C(y + 1, 2) if 0 ≤ y ≤ m.
    """
    last = choices - 1
    # The b for which y is at most m − 1, and those for which it is at most 2m − 2.
    low = np.clip((last - width - 1) // 2, -1, last)
    high = np.clip((2 * last - width - 1) // 2, low, last)
    few = (low + 1) * choices**2 - _pairs(width + 2, low)
    many = _pairs(width + 2 - 2 * choices, high) - _pairs(width + 2 - 2 * choices, low)
    return np.asarray(2 * (few + many) / choices**3)


def _pairs(first: Floats | int, last: Floats) -> Floats:
    """Σ C(first + 2b, 2) over b = 0, …, last, which may be −1; also of negative first + 2b.

    C(−n, 2) = C(n + 1, 2), so that it also sums C(2m − y, 2), with first = y − 2m + 1 at b = 0.
    """
    terms = last + 1
    ones, squares = last * terms / 2, last * terms * (2 * last + 1) / 6
    return (first * (first - 1) * terms + (4 * first - 2) * ones + 4 * squares) / 2
