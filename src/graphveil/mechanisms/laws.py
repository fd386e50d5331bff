"""Laws of noise on the integers: what is drawn, and its variance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, pi, sqrt
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DiscreteLaplace:
    """P(k) proportional to exp(−|k| / scale), for every integer k."""

    scale: Fraction

    @cached_property
    def rate(self) -> float:
        """1 / scale; kept, since dividing fractions takes longer than all that follows."""
        return float(1 / self.scale)

    def variance(self) -> float:
        """2q / (1 − q)² with q = exp(−1/scale), in a form that stays exact for large scales."""
        return 2 * exp(-self.rate) / expm1(-self.rate) ** 2

    def characteristic(self, angle: NDArray[np.float64]) -> NDArray[np.float64]:
        """E exp(i·angle·k), which is real."""
        gap = expm1(-self.rate) ** 2
        return gap / (gap + 4 * exp(-self.rate) * np.sin(angle / 2) ** 2)


@dataclass(frozen=True)
class DiscreteGaussian:
    """P(k) proportional to exp(−k² / (2·spread)), for every integer k."""

    spread: Fraction

    def variance(self) -> float:
        """Close to `spread`, and a little less for small ones."""
        spread = float(self.spread)
        if spread > 25:  # the theta correction is below 1e-200
            return spread
        k = np.arange(-int(40 * sqrt(spread)) - 40, int(40 * sqrt(spread)) + 41)
        weights = np.exp(-(k**2) / (2 * spread))
        return float((k**2 * weights).sum() / weights.sum())

    def characteristic(self, angle: NDArray[np.float64]) -> NDArray[np.float64]:
        """E exp(i·angle·k), by Poisson summation: a sum of shifted bells."""
        spread = float(self.spread)
        turns = np.arange(-4, 5) if spread > 0.05 else np.arange(-40, 41)
        wrapped = np.remainder(np.asarray(angle) + pi, 2 * pi) - pi
        bells = np.exp(-spread / 2 * (wrapped[..., None] + 2 * pi * turns) ** 2).sum(axis=-1)
        return np.asarray(bells / np.exp(-spread / 2 * (2 * pi * turns) ** 2).sum())


Law: TypeAlias = DiscreteLaplace | DiscreteGaussian


class NoiseSource(Protocol):
    """Where integers of a law come from; releases and simulations have different ones."""

    def draw(self, law: Law, count: int) -> list[int]:
        """`count` independent integers of this law."""
        ...
