"""Tails: how likely a noise is beyond each width, where it is no sum of independent noises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import TYPE_CHECKING, Protocol, TypeAlias

from graphveil.deferred import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


MARGIN = 1e-9  # added to every probability of being outside; above all errors of floats
SPLITS = 41  # in how many ways the width of a sum is divided between its two parts
POWERS = (0.5, 0.75, 1.0, 1.25)  # of spreads, by which the width of a sum is shared out
NEGLIGIBLE = 1e-12


class Noise(Protocol):
    """What an interval needs to know of a noise."""

    def half_width(self, level: Fraction) -> int:
        """A whole w for which |noise| ≤ w is shown to have this probability."""

    def outside(self, width: int) -> float:
        """An upper bound of the probability that |noise| > width."""

    def variance(self) -> float:
        """Of the noise, before any rounding."""


@dataclass(frozen=True, eq=False)
class NoiseTails:
    """A symmetric integer noise, known by its tails.

    Attributes:
        beyond: an upper bound of the probability that |noise| > width; never increasing.
        spread: its variance.
        half: P(noise = x) for x = 0, 1, …, where that is known.
    """

    beyond: Callable[[int], float]
    spread: float
    half: NDArray[np.float64] | None = None

    @classmethod
    def of_half(cls, chances: NDArray[np.float64], variance: float, factor: int = 1) -> NoiseTails:
        """Of a symmetric noise, times a whole number.

        Args:
            chances: P(noise = x), x = 0, 1, …, up to a factor.
            variance: of the product.
            factor: with what the noise is multiplied.
        """
        half = chances / (2 * chances.sum() - chances[0])
        tails = 2 * np.append(np.cumsum(half[::-1])[::-1][1:], 0.0) + MARGIN

        def outside(width: int) -> float:
            place = width // factor
            return float(tails[place]) if place < len(tails) else MARGIN

        return cls(outside, variance, half if factor == 1 else None)

    def outside(self, width: int) -> float:
        """An upper bound of the probability that |noise| > width."""
        return min(1.0, self.beyond(width)) if width >= 0 else 1.0

    def half_width(self, level: Fraction) -> int:
        """The smallest whole w for which |noise| ≤ w is shown to have this probability."""
        allowed, high = 1 - float(level), 1
        while self.outside(high) > allowed:
            high *= 2
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.outside(middle) <= allowed else (middle, high)
        return high

    def variance(self) -> float:
        """Of the noise."""
        return self.spread

    def __add__(self, other: Noise) -> NoiseTails:
        """The sum with an independent noise, which is symmetric as well."""
        return _convolved(self.half, self, other) if self.half is not None else _split(self, other)

    __radd__ = __add__


def _split(one: Noise, other: Noise) -> NoiseTails:
    """Beyond w only if one is beyond its part of w; the best of some divisions is taken."""

    def outside(width: int) -> float:
        parts = {width * share // (SPLITS - 1) for share in range(SPLITS)}
        return min(one.outside(part) + other.outside(width - part) for part in parts)

    return NoiseTails(outside, one.variance() + other.variance())


def in_parts(noises: Sequence[Noise]) -> NoiseTails:
    """The sum of any number of noises, independent or not, at the cost of each once.

    Guarantees: the sum is beyond w only if one of them is beyond its part of w. Parts are shared
        out by powers of the spreads, and the best of some powers is taken.
    """
    spreads = np.sqrt([each.variance() for each in noises])
    shares = [spreads**power / (spreads**power).sum() for power in POWERS]

    def outside(width: int) -> float:
        return min(
            sum(
                each.outside(floor(width * share))
                for each, share in zip(noises, parts, strict=True)
            )
            for parts in shares
        )

    return NoiseTails(outside, sum(each.variance() for each in noises))


def _convolved(half: NDArray[np.float64], one: Noise, other: Noise) -> NoiseTails:
    """P(|x + s| > w) ≤ 2·Σ_x P(x)·P(s > w − x), with P(s > k) ≤ ½P(|s| > k), and ≤ 1 for k < 0.

    x goes as far as it may with a probability of 1e-12; beyond that, it is taken to be outside.
    """
    after = np.append(np.cumsum(half[::-1])[::-1][1:], 0.0)
    reach = int(np.argmax(after <= NEGLIGIBLE))
    chances = np.concatenate([half[reach:0:-1], half[: reach + 1]])
    remainder = 2 * float(after[reach]) + MARGIN

    beyond = lru_cache(maxsize=1 << 14)(other.outside)  # neighbouring widths ask for the same ones

    @lru_cache(maxsize=64)
    def outside(width: int) -> float:
        gaps = (width - np.arange(-reach, reach + 1)).tolist()
        tails = np.array([beyond(gap) / 2 if gap >= 0 else 1.0 for gap in gaps])
        return min(1.0, 2 * float(chances @ tails) + remainder)

    return NoiseTails(outside, one.variance() + other.variance())


# A smooth function at many evenly spaced places, from its values at a few.
#
# From any place to twice as far, what is smooth there is hardly anything but a polynomial: one
# through `NODES` places, chosen as Chebyshev did, finds all others. A function that is smooth
# but on a line through 0, as the logarithm of 1 + x² is, is found to 5.8 ** −NODES of its size;
# and no worse if there is anything else from 2 times the end on.


Floats: TypeAlias = "NDArray[np.float64]"

NODES = 24
SHORTEST, LONGEST = 64, 1024  # pieces: a shorter one takes as long by itself, see `Piece.filled`


@dataclass(frozen=True)
class Piece:
    """Some of the places 1, 2 and so on.

    Attributes:
        begin: the first of them.
        length: how many it has, or would have if there were no last place.
        stop: where it is cut off.
    """

    begin: int
    length: int
    stop: int

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.begin + self.length

    @property
    def filled(self) -> bool:
        """Whether it ends within twice its begin, so that a few places are enough."""
        return self.length <= self.begin

    def places(self) -> Floats:
        """All of them."""
        return np.arange(self.begin, min(self.end, self.stop), dtype=np.float64)

    def nodes(self) -> Floats:
        """The few from which all others follow, in order."""
        return np.asarray(self.begin + self.length * (_nodes() + 1) / 2)

    def fill(self, at_nodes: Floats) -> Floats:
        """The values at all places, from those at the nodes."""
        weights = _weights(self.length)[: self.stop - self.begin]
        found = np.einsum("pn,n->p", weights, at_nodes)  # too little work for several threads
        return np.asarray(found)


def pieces(number: int) -> Iterator[Piece]:
    """The places from 1 up to a number, in order."""
    begin, length = 1, SHORTEST - 1
    while begin <= number:
        yield Piece(begin, length, number + 1)
        begin += length
        length = min(begin, LONGEST)


@lru_cache(maxsize=1)
def _nodes() -> Floats:
    return np.polynomial.chebyshev.chebpts1(NODES)


@lru_cache(maxsize=16)
def _weights(length: int) -> Floats:
    """The weights of the values at the nodes for so many places; the first place is −1."""
    polynomials = np.polynomial.chebyshev.chebvander
    coefficients = polynomials(_nodes(), NODES - 1).T * (2 / NODES)
    coefficients[0] /= 2
    places = 2 * np.arange(length) / length - 1
    return np.asarray(polynomials(places, NODES - 1) @ coefficients)
