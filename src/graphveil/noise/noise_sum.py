"""The law of what releases add to the truth: a sum of integer noises, rounded where need be.

A release adds round(S), S = Σ weight·z over independent integer noises z of known laws. S is
symmetric, so one number per width says everything: how likely the noise is beyond it. It is
found by inverting the characteristic function of S, the product of those of its terms:

- if all weights are multiples of 1/N for a small N, N·S is a whole number and a Fourier
  transform gives its probabilities, but for what lies outside the range (at most 1e-12);
- otherwise a normal error of standard deviation s is added to S, which makes the inversion
  converge, and the width is shortened by 6.5·s, which pays for it: P(|S| ≥ x) is at most
  P(|S + error| ≥ x − 6.5·s) + 1e-10.

Every probability of being beyond a width is rounded up by `MARGIN`, far more than all of
these errors and those of floating point, so that an interval never promises too much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log, pi, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.noise.laws import Law

Floats: TypeAlias = NDArray[np.float64]

MARGIN = 1e-9  # added to every probability of being outside
VANISHING = 1e-300  # of a variance: an ε so large that no noise is ever seen
LOG_OUTSIDE = log(2e12)  # what lies out of reach has a probability of at most 1e-12
FINEST_MESH = 64  # weights that are multiples of 1/N, N up to this, are computed on a lattice
LARGEST_LATTICE = 2**20
MOST_WIDTHS = 2**13  # beyond this, and off the lattice, widths are distinguished in larger units
ANGLES = 2**17
LEAST_SMOOTHING = 2e-4  # s, in units of a width
SHORTENING = 6.5  # a normal error is beyond 6.5·s with a probability of 8e-11
NEGLIGIBLE = 1e-18
ROUNDING_VARIANCE = 1 / 12  # of rounding what spreads over several whole numbers
WIDE = 4.0  # from this variance on, rounding adds just that


@dataclass(frozen=True)
class Term:
    """`copies` independent noises of one law, each times `weight`."""

    law: Law
    weight: float
    copies: int

    def characteristic(self, angle: Floats) -> Floats:
        """E exp(i·angle·Σ), which is real and positive."""
        return np.asarray(self.law.characteristic(self.weight * angle) ** self.copies)

    def variance(self) -> float:
        """Of the sum of all copies."""
        return self.copies * self.weight**2 * self.law.variance()

    def steepest(self) -> float:
        """Below which exponents E exp(exponent·Σ) is finite."""
        return self.law.steepest / self.weight

    def log_moment(self, exponent: Floats) -> Floats:
        """An upper bound of log E exp(exponent·Σ)."""
        return np.asarray(self.copies * self.law.log_moment(exponent * self.weight))


@dataclass(frozen=True)
class NoiseSum:
    """The law of a noise that lies within `slack` of Σ weight·z.

    Attributes:
        terms: the independent noises, largest weight first.
        slack: how far rounding can move it: ½ for every release that had to be rounded.
    """

    terms: tuple[Term, ...]
    slack: Fraction = Fraction()

    @classmethod
    def of(cls, rows: Iterable[tuple[Law, Floats]], slack: Fraction = Fraction()) -> NoiseSum:
        """Gather the weights of each law; equal ones, whatever their sign, go together."""
        tally: Counter[tuple[Law, float]] = Counter()
        for law, weights in rows:
            sizes, copies = np.unique(np.round(np.abs(weights), 12), return_counts=True)
            for size, number in zip(sizes.tolist(), copies.tolist(), strict=True):
                tally[law, size] += number
        terms = (Term(law, size, number) for (law, size), number in tally.items() if size > 0)
        return cls(tuple(sorted(terms, key=lambda term: -term.variance())), slack)

    def __add__(self, other: NoiseSum) -> NoiseSum:
        """The law of the sum of two independent noises, such as those of two bins."""
        return NoiseSum(self.terms + other.terms, self.slack + other.slack)

    def half_width(self, level: Fraction) -> int:
        """The smallest whole w for which |noise| ≤ w is shown to have this probability."""
        outside = self._outside
        found = int(np.searchsorted(-outside, -(1 - float(level)), side="left"))
        return found * self._unit

    def outside(self, width: int) -> float:
        """An upper bound of the probability that |noise| > width, hardly above it."""
        place = width // self._unit
        return float(self._outside[place]) if place < len(self._outside) else MARGIN

    def variance(self) -> float:
        """Of Σ weight·z, before any rounding."""
        return sum(term.variance() for term in self.terms)

    def rounded_variance(self) -> float:
        """Of the noise itself, for one release: what rounding adds, or takes, included."""
        plain = self.variance()
        if not self.slack:
            return plain
        if plain >= WIDE:
            return plain + ROUNDING_VARIANCE
        if self._mesh:
            chances = _lattice(self.terms, self._mesh, self._reach)
            whole = np.rint(np.arange(len(chances)) / self._mesh)
            return max(float(2 * (whole**2 * chances).sum()), 0.0)
        return _rounded_variance(self.terms, plain)

    @cached_property
    def _reach(self) -> int:
        """A width that Σ weight·z leaves with a probability of at most 1e-12 (Chernoff)."""
        if not self.terms:
            return 0
        spread = max(self.variance(), VANISHING)
        steep = min(*(term.steepest() for term in self.terms), 4 * sqrt(57 / spread))
        exponents = steep * np.linspace(0.02, 0.99, 98)
        moments = sum((term.log_moment(exponents) for term in self.terms), np.zeros(98))
        return ceil(float(((moments + LOG_OUTSIDE) / exponents).min()))

    @cached_property
    def _on_lattice(self) -> bool:
        return self._mesh is not None and 2 * self._mesh * self._reach <= LARGEST_LATTICE

    @cached_property
    def _unit(self) -> int:
        return 1 if self._on_lattice else ceil(max(self._reach, 1) / MOST_WIDTHS)

    @cached_property
    def _mesh(self) -> int | None:
        """The smallest N, if it is small, for which all weights are multiples of 1/N."""
        weights = np.array([term.weight for term in self.terms])
        for mesh in range(1, FINEST_MESH + 1):
            if np.all(np.abs(mesh * weights - np.rint(mesh * weights)) < 1e-10):
                return mesh
        return None

    @cached_property
    def _outside(self) -> Floats:
        """P(|noise| > w·unit), rounded up, for every w within reach; never increasing."""
        if self._on_lattice and self._mesh:
            outside = _beyond(self.terms, self._mesh, self._reach, 1 - self.slack)
        else:
            outside = _smoothed(self.terms, self._reach, self._unit, 1 - self.slack)
        return np.asarray(np.minimum.accumulate(np.clip(outside + MARGIN, 0.0, 1.0)))


def _characteristic(terms: tuple[Term, ...], angles: Floats) -> Floats:
    """The product over all terms, leaving out angles once it has become negligible there."""
    alive = np.arange(len(angles))
    product = np.ones(len(angles))
    for place, term in enumerate(terms):
        product *= term.characteristic(angles[alive])
        if place % 8 == 7:
            kept = product > NEGLIGIBLE
            alive, product = alive[kept], product[kept]
    full = np.zeros(len(angles))
    full[alive] = product
    return full


def _lattice(terms: tuple[Term, ...], mesh: int, reach: int) -> Floats:
    """P(S = k/mesh) for k = 0, 1, … within reach."""
    size = 2 * mesh * (reach + 1)
    angles = np.asarray(2 * pi * mesh / size * np.arange(size // 2 + 1), dtype=np.float64)
    return np.asarray(np.fft.irfft(_characteristic(terms, angles), size)[: size // 2])


def _beyond(terms: tuple[Term, ...], mesh: int, reach: int, least: Fraction) -> Floats:
    """P(|S| ≥ w + least) for every w within reach."""
    beyond = 2 * _lattice(terms, mesh, reach)[::-1].cumsum()[::-1]
    first = ceil(mesh * least) + mesh * np.arange(reach + 1)
    found = np.append(beyond, 0.0)[np.clip(first, 0, len(beyond))]
    return np.where(first > 0, found, 1.0)


def _smoothed(terms: tuple[Term, ...], reach: int, unit: int, least: Fraction) -> Floats:
    """An upper bound of P(|S| ≥ w·unit + least) for every w within reach, but for `MARGIN`.

    On a circle of length L the law of |S + error| < x is 2x/L + (2/π)·Σ φ(2πj/L)·sin(2πjx/L)/j;
    points x that are whole steps apart share one Fourier transform.
    """
    length = 2 * (ceil(reach / unit) + 3)
    spread = max(LEAST_SMOOTHING, 8 * length / (2 * pi * ANGLES))
    number = np.arange(1, ceil(8 / spread * length / (2 * pi)) + 1)
    angles = 2 * pi / length * number
    values = _characteristic(terms, angles / unit) * np.exp(-((spread * angles) ** 2) / 2)
    start = float(least) / unit - SHORTENING * spread
    waves = values / number * np.exp(1j * angles * start)
    folded = np.bincount(number % length, waves.real, length) + 1j * np.bincount(
        number % length, waves.imag, length
    )
    points = np.arange(length // 2 - 1) + start
    within = 2 * points / length + 2 / pi * (np.fft.ifft(folded) * length).imag[: len(points)]
    return np.where(points > 0, 1 - within, 1.0)


def _rounded_variance(terms: tuple[Term, ...], plain: float) -> float:
    """The variance of round(S) for S without a coarse lattice, from the series of a sawtooth.

    E round(S)² = E S² + 1/12 + Σ (−1)ⁿ·(φ(2πn)/(πn)² − 2·φ'(2πn)/(πn)), summed for
    S + a small normal error, so that the sum can be cut off.
    """
    spread, step = 0.007, 1e-4
    number = np.arange(1, 193)
    angles = 2 * pi * number[:, None] + np.array([-step, 0.0, step])
    values = _characteristic(terms, angles.ravel()).reshape(angles.shape)
    values = values * np.exp(-((spread * angles) ** 2) / 2)
    slope = (values[:, 2] - values[:, 0]) / (2 * step)
    terms = values[:, 1] / (pi * number) ** 2 - 2 * slope / (pi * number)
    signs = np.where(number % 2, -1.0, 1.0)
    found = float(plain + spread**2 + ROUNDING_VARIANCE + (signs * terms).sum())
    return max(found, 0.0)  # noise that is nearly always 0 leaves only rounding errors here
