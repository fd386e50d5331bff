"""The law of what releases add to the truth: a sum of integer noises, rounded where need be.

A release adds round(S), S = Σ weight·z over independent integer noises z of known laws. S is
symmetric, so one number per width says everything: how likely the noise is beyond it. It is
computed by inverting the characteristic function of S, the product of those of its terms:

- if all weights are multiples of 1/N for a small N, N·S is a whole number and a Fourier
  transform gives its probabilities, but for what lies outside the range (at most 1e-12);
- otherwise a normal error of standard deviation s is added to S, which makes the inversion
  converge, and the width is shortened by 6.5·s, which pays for it: P(|S| ≥ x) is at most
  P(|S + error| ≥ x − 6.5·s) + 1e-10.

Every probability of being beyond a width is rounded up by `MARGIN`, far more than all of
these errors and those of floating point, so that an interval never promises too much.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log, pi, sqrt
from typing import TYPE_CHECKING, TypeAlias

from graphveil.deferred import np
from graphveil.noise.laws import Law
from graphveil.noise.tails import Piece, pieces

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"

MARGIN = 1e-9  # added to every probability of being outside
VANISHING = 1e-300  # of a variance: an ε so large that no noise is ever seen
LOG_OUTSIDE = log(2e12)  # what lies out of reach has a probability of at most 1e-12
FINEST_MESH = 64  # weights that are multiples of 1/N, N up to this, are computed on a lattice
LARGEST_LATTICE = 2**20
MOST_WIDTHS = 2**13  # beyond this, and off the lattice, widths are distinguished in larger units
ANGLES = 2**17
LEAST_SMOOTHING = 2e-4  # s, in units of a width
SHORTENING = 6.5  # a normal error is beyond 6.5·s with a probability of 8e-11
LOG_NEGLIGIBLE = log(1e-18)
LOG_SMALLEST = -600.0  # of a float, with room to spare
ORDER = 13  # of a series whose terms fall by 1/16: what is left out is below 1e-15 of the first
BLOCK = 64  # how many sizes stand in a row: their angles are sums of a few
CELLS = 2**18  # how many values are computed at a time
ROUNDING_VARIANCE = 1 / 12  # of rounding what spreads over several whole numbers
WIDE = 4.0  # from this variance on, rounding adds just that


@dataclass(frozen=True, eq=False)
class Term:
    """Independent noises of one law, each times a weight.

    Attributes:
        law: of every one of them.
        weights: all positive, the largest first.
        copies: how many there are of each weight.
    """

    law: Law
    weights: Floats
    copies: Floats

    @classmethod
    def of(cls, law: Law, weights: Floats) -> Term:
        """Gather equal weights, whatever their sign."""
        sizes, copies = np.unique(np.round(np.abs(weights), 12), return_counts=True)
        nonzero = sizes > 0
        return cls(
            law,
            np.asarray(sizes[nonzero][::-1], dtype=np.float64),
            np.asarray(copies[nonzero][::-1], dtype=np.float64),
        )

    def and_also(self, other: Term) -> Term:
        """Both together, of the same law."""
        sizes, places = np.unique(
            np.concatenate([self.weights, other.weights]), return_inverse=True
        )
        copies = np.bincount(places, np.concatenate([self.copies, other.copies]), len(sizes))
        return Term(self.law, sizes[::-1], np.asarray(copies[::-1], dtype=np.float64))

    def times(self, number: int) -> Term:
        """As many of each, several times over."""
        return Term(self.law, self.weights, number * self.copies)

    def part(self, begin: int, end: int | None = None) -> Term:
        """Some of the weights."""
        if not begin and end is None:
            return self
        return Term(self.law, self.weights[begin:end], self.copies[begin:end])

    def above(self, weight: float) -> int:
        """How many weights are larger than this."""
        return int(np.searchsorted(-self.weights, -weight, side="left"))

    def log_characteristic(self, angles: Floats) -> Floats:
        """Log E exp(i·angle·Σ), weight by weight."""
        logs = np.zeros(len(angles))
        rows = max(1, CELLS // max(len(self.weights), 1))
        with np.errstate(divide="ignore"):  # where a law has no such frequency at all
            for begin in range(0, len(angles), rows):
                each = self.law.characteristic(np.outer(angles[begin : begin + rows], self.weights))
                logs[begin : begin + rows] = np.log(each) @ self.copies
        return logs

    def variance(self) -> float:
        """Of the sum of all copies."""
        return float(self.copies @ self.weights**2) * self.law.variance()

    def steepest(self) -> float:
        """Below which exponents E exp(exponent·Σ) is finite."""
        return self.law.steepest / float(self.weights[0])

    def log_moment(self, exponents: Floats) -> Floats:
        """An upper bound of log E exp(exponent·Σ)."""
        large, series = self.split(float(exponents.max()))
        each = self.law.log_moment(np.outer(exponents, large.weights)) @ large.copies
        return np.asarray(each + series(-(exponents**2)))

    def split(self, farthest: float) -> tuple[Term, Callable[[Floats], Floats]]:
        """The large weights; and for all others the logarithm, as a function of angle².

        The terms of the series fall by 1/16 each, up to the angle `farthest`.
        """
        coefficients = self.law.log_series(ORDER)
        small = self.above(self.law.steepest / (4 * farthest)) if coefficients is not None else None
        if coefficients is None or small == len(self.weights):
            return self, np.zeros_like
        sums = coefficients * self._power_sums[:, small]
        return self.part(0, small), lambda squares: sums @ _powers(squares)

    @cached_property
    def _power_sums(self) -> Floats:
        """Σ copies·(weight / steepest)^2k, k = 1, 2, …, over the weights from each place on."""
        with np.errstate(over="ignore"):  # of weights that are too large for a series
            powers = _powers((self.weights / self.law.steepest) ** 2) * self.copies
            return np.cumsum(powers[:, ::-1], axis=1)[:, ::-1]


@dataclass(frozen=True)
class NoiseSum:
    """The law of a noise that lies within `slack` of Σ weight·z.

    Attributes:
        terms: the independent noises, one for each law.
        slack: how far rounding can move it: ½ for every release that had to be rounded.
        smoothing: s, where a normal error is added; a larger one is quicker, and widths grow by
            up to 6.5 times as much.
    """

    terms: tuple[Term, ...]
    slack: Fraction = Fraction()
    smoothing: float = LEAST_SMOOTHING

    @classmethod
    def of(cls, rows: Iterable[tuple[Law, Floats]], slack: Fraction = Fraction()) -> NoiseSum:
        """Gather the weights of each law; equal ones, whatever their sign, go together."""
        return cls.gathered((Term.of(law, weights) for law, weights in rows), slack)

    @classmethod
    def gathered(cls, terms: Iterable[Term], slack: Fraction = Fraction()) -> NoiseSum:
        """Put terms of the same law together."""
        by_law: dict[Law, Term] = {}
        for term in terms:
            if len(term.weights):
                known = by_law.get(term.law)
                by_law[term.law] = term if known is None else known.and_also(term)
        return cls(tuple(by_law.values()), slack)

    def __add__(self, other: NoiseSum) -> NoiseSum:
        """The law of the sum of two independent noises, such as those of two bins."""
        if not isinstance(other, NoiseSum):
            return NotImplemented
        return NoiseSum.gathered(self.terms + other.terms, self.slack + other.slack)

    def half_width(self, level: Fraction) -> int:
        """The smallest whole w for which |noise| ≤ w is shown to have this probability."""
        chance = 1 - float(level)
        if not self._on_lattice:
            return self._waves.first_below(chance - MARGIN) * self._unit
        return int(np.searchsorted(-self._outside, -chance, side="left"))

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
        return 1 if self._on_lattice else ceil(self._reach / MOST_WIDTHS)

    @cached_property
    def _mesh(self) -> int | None:
        """The smallest N, if it is small, for which all weights are multiples of 1/N."""
        weights = np.concatenate([np.zeros(0), *(term.weights for term in self.terms)])
        meshes = np.arange(1, FINEST_MESH + 1)
        fitting = meshes[_whole(np.outer(meshes, weights[:8])).all(axis=1)]
        return next((int(mesh) for mesh in fitting if _whole(mesh * weights).all()), None)

    @cached_property
    def _waves(self) -> _Waves:
        smoothing = self.smoothing / self._unit
        return _Waves.of(self.terms, self._reach, self._unit, 1 - self.slack, smoothing)

    @cached_property
    def _outside(self) -> Floats:
        """P(|noise| > w·unit), rounded up, for every w within reach; never increasing."""
        if self._on_lattice and self._mesh:
            outside = _beyond(self.terms, self._mesh, self._reach, 1 - self.slack)
        else:
            outside = self._waves.everywhere()
        return np.asarray(np.minimum.accumulate(np.clip(outside + MARGIN, 0.0, 1.0)))


def _whole(numbers: Floats) -> NDArray[np.bool_]:
    return np.asarray(np.abs(numbers - np.rint(numbers)) < 1e-10)


def _characteristic(terms: tuple[Term, ...], angles: Floats) -> Floats:
    """E exp(i·angle·S), leaving out angles once it has become negligible there."""
    alive = np.arange(len(angles))
    log_value = np.zeros(len(angles))
    for term in terms:
        large, series = term.split(float(angles.max()))
        log_value += series(angles[alive] ** 2)
        begin, count = 0, 8
        while begin < len(large.weights):
            log_value += large.part(begin, begin + count).log_characteristic(angles[alive])
            relevant = log_value > LOG_NEGLIGIBLE
            alive, log_value = alive[relevant], log_value[relevant]
            begin, count = begin + count, 2 * count
    full = np.zeros(len(angles))
    full[alive] = np.exp(log_value)
    return full


def _characteristic_along(terms: tuple[Term, ...], spacing: float, number: int) -> Floats:
    """The same at spacing·j, j = 1, 2, …, number: most from a few, where its logarithm is smooth.

    That of a law is smooth up to π, but for a line through 0. So it is from an angle to twice as
    far, and a little more, if no weight is beyond π/2 there.
    """
    largest = max((float(term.weights[0]) for term in terms), default=0.0)

    def found(piece: Piece) -> Floats:
        if piece.filled and largest * spacing * piece.end <= pi / 2:
            at_nodes = _log_characteristic(terms, spacing * piece.nodes())
            if at_nodes[-1] > LOG_SMALLEST:
                return np.exp(piece.fill(at_nodes))
        return _characteristic(terms, spacing * piece.places())

    return np.concatenate([np.zeros(0), *map(found, pieces(number))])


def _log_characteristic(terms: tuple[Term, ...], angles: Floats) -> Floats:
    """Log E exp(i·angle·S), at every angle."""
    log_value = np.zeros(len(angles))
    for term in terms:
        large, series = term.split(float(angles[-1]))
        log_value += large.log_characteristic(angles) + series(angles**2)
    return log_value


def _last_angle(terms: tuple[Term, ...], spacing: float, number: int) -> int:
    """How many multiples of an angle have to be looked at: the value at all others is negligible.

    The characteristic function of a law falls up to π, and nothing else in the product exceeds 1.
    """
    falling = tuple(term.part(term.above(pi / (spacing * number))) for term in terms)
    first = 8
    while first < number:
        tried = first * 16 ** np.linspace(0, 1, 13)
        log_value = _log_characteristic(falling, spacing * tried)
        if log_value[-1] <= LOG_NEGLIGIBLE:
            return min(ceil(float(tried[log_value <= LOG_NEGLIGIBLE][0])), number)
        first *= 16
    return number


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


@dataclass(frozen=True, eq=False)
class _Waves:
    """An upper bound of P(|S| ≥ w·unit + least) for every w within reach, but for `MARGIN`.

    On a circle of length L the law of |S + error| < x is 2x/L + (2/π)·Σ φ(2πj/L)·sin(2πjx/L)/j.

    Attributes:
        length: L, in units.
        number: how many of the w lie within reach.
        start: x at w = 0.
        sizes: φ(2πj/L)/j of S + error, for j = 1, 2, …, as far as it is not negligible.
    """

    length: int
    number: int
    start: float
    sizes: Floats

    @classmethod
    def of(
        cls, terms: tuple[Term, ...], reach: int, unit: int, least: Fraction, smoothing: float
    ) -> _Waves:
        length = 2 * (ceil(reach / unit) + 3)
        spread = max(LEAST_SMOOTHING, smoothing, 8 * length / (2 * pi * ANGLES))
        farthest = ceil(8 / spread * length / (2 * pi))
        number = np.arange(1, _last_angle(terms, 2 * pi / length / unit, farthest) + 1)
        error = np.exp(-((spread * 2 * pi / length * number) ** 2) / 2)
        values = _characteristic_along(terms, 2 * pi / length / unit, len(number)) * error
        start = float(least) / unit - SHORTENING * spread
        return cls(length, length // 2 - 1, start, values / number)

    def at(self, place: int) -> float:
        """At one w."""
        point = place + self.start
        rows, columns = (np.exp(1j * point * turns) for turns in self._turns)
        waves = float(np.einsum("r,rc,c->", rows, self._blocks, columns).imag)
        within = 2 * point / self.length + 2 / pi * waves
        return 1 - within if point > 0 else 1.0

    @cached_property
    def _blocks(self) -> Floats:
        """The sizes, from j = 0 on, in rows of `BLOCK`."""
        padded = np.zeros((len(self.sizes) // BLOCK + 1, BLOCK))
        padded.ravel()[1 : len(self.sizes) + 1] = self.sizes
        return padded

    @cached_property
    def _turns(self) -> tuple[Floats, Floats]:
        """2πj/L is the turn of its row and the one of its column."""
        rows, columns = (np.arange(size, dtype=np.float64) for size in self._blocks.shape)
        turn = 2 * pi / self.length
        return turn * BLOCK * rows, turn * columns

    def everywhere(self) -> Floats:
        """At every w within reach: points that are whole steps apart share a Fourier transform."""
        number = np.arange(1, len(self.sizes) + 1)
        turned = self.sizes * np.exp(2j * pi / self.length * number * self.start)
        places = number % self.length
        folded = np.bincount(places, turned.real, self.length) + 1j * np.bincount(
            places, turned.imag, self.length
        )
        points = np.arange(self.number) + self.start
        sums = (np.fft.ifft(folded) * self.length).imag[: self.number]
        within = 2 * points / self.length + 2 / pi * sums
        return np.where(points > 0, 1 - within, 1.0)

    def first_below(self, chance: float) -> int:
        """The first w at which it is at most `chance`; `number` if there is none."""
        if len(self.sizes) > 4 * self.length:  # then a few single ones cost more than all
            below = np.flatnonzero(self.everywhere() <= chance)
            return int(below[0]) if len(below) else self.number
        return bisect_left(range(self.number), True, key=lambda place: self.at(place) <= chance)


def _powers(numbers: Floats) -> Floats:
    """Number^k, a row for each k = 1, 2, … up to `ORDER`."""
    return np.multiply.accumulate(np.broadcast_to(numbers, (ORDER, len(numbers))), axis=0)


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
    sawtooth = values[:, 1] / (pi * number) ** 2 - 2 * slope / (pi * number)
    signs = np.where(number % 2, -1.0, 1.0)
    variance = float(plain + spread**2 + ROUNDING_VARIANCE + (signs * sawtooth).sum())
    return max(variance, 0.0)  # noise that is nearly always 0 leaves only rounding errors here
