"""Joint laws: noise for all steps of an epoch at once, shaped like what one person can change.

Each is the law P(y) ∝ exp(−‖y‖/scale) on whole vectors y, for a norm that fits the change
(`docs/mechanisms.md#noise-shaped-like-the-change`). A vector has a *core*, one whole number that
says how large it is, given which it is uniform in a simple set: samplers, variances and
intervals all come from the law of the core.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from math import ceil, exp, expm1, sqrt
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from graphveil.deferred import np
from graphveil.noise.laws import DiscreteLaplace, Floats, NoiseLaw, bends_beyond, is_bend
from graphveil.noise.tails import MARGIN, NoiseTails

if TYPE_CHECKING:
    from numpy.typing import NDArray

Weights: TypeAlias = "NDArray[np.int64]"

LONGEST = 1024  # steps; samplers work with numbers of that many digits
NEGLIGIBLE = 1e-15  # of the largest probability: what is smaller may be left out of a sum
LARGEST_CORE = 2**22  # cores above this are not tabulated, so noise that needs them is refused


def _floats(number: int) -> Floats:
    """0, 1, …, number − 1."""
    return np.arange(number, dtype=np.float64)


@dataclass(frozen=True)
class JointLaw(NoiseLaw):
    """A law of integer vectors, one entry per step, that is symmetric.

    Attributes:
        scale: P(y) ∝ exp(−‖y‖/scale).
        steps: how many entries a vector has.
    """

    scale: Fraction
    steps: int

    size_name: ClassVar[str] = "scale"

    @property
    def size(self) -> Fraction:
        """The scale."""
        return self.scale

    @property
    def privacy_loss(self) -> Fraction:
        """ε of a change by 1 in the norm."""
        return 1 / self.scale

    @property
    def too_large(self) -> bool:
        """Whether it is too long, or too wide, for its core to be tabulated."""
        return self.steps > LONGEST or self._farthest > LARGEST_CORE

    @cached_property
    def core(self) -> Floats:
        """P(core = k) for k = 0, 1, …, as far as it is not negligible."""
        sizes = _floats(self._farthest)
        logs = self._log_count(sizes) - self._core_rate * sizes
        chances = np.exp(logs - logs.max())
        return np.asarray(chances / chances.sum())

    @abstractmethod
    def variance(self, weights: Weights) -> float:
        """Of Σ weight·entry."""

    @abstractmethod
    def combination(self, weights: Weights) -> NoiseTails:
        """How far Σ weight·entry reaches; exact for releases, their differences and bends."""

    def spread(self) -> tuple[float, float]:
        """The variance of an entry, and the covariance of two: entries are exchangeable."""
        single, both = self.variance(np.array([1])), self.variance(np.array([1, 1]))
        return single, (both / 2 - single) * (self.steps > 1)

    def to_dict(self) -> dict[str, str]:
        """Plain data to store."""
        return {"kind": self.kind, "scale": str(self.scale), "steps": str(self.steps)}

    @property
    def _core_rate(self) -> float:
        """By how much log P falls when the core grows by one, the number of vectors apart."""
        return float(1 / self.scale)

    @property
    def _parts(self) -> int:
        """Of how many geometric numbers the core is about the sum."""
        return self.steps + 1

    @property
    def _farthest(self) -> int:
        """A core that is reached with a negligible probability."""
        parts = self._parts
        return ceil((parts + 12 * sqrt(parts) + 60) * (1 / self._core_rate + 1))

    @abstractmethod
    def _log_count(self, sizes: Floats) -> Floats:
        """The log of the number of vectors that belong to each core."""

    def _core_mean(self, value: Callable[[Floats], Floats]) -> float:
        """The mean of a function of the core."""
        return float((self.core * value(_floats(len(self.core)))).sum())

    def _hoeffding(self, weights: Weights, halves: float, rarity: Floats) -> Callable[[int], float]:
        """Tails from Hoeffding's inequality, core by core, for entries of a given half width.

        Args:
            weights: of independent entries, uniform between −halves·core and halves·core.
            halves: half the width of an entry's interval, in units of the core.
            rarity: the probability, for each core, of a condition that they are known to meet and
                without which they would be independent; it divides the bound.
        """
        square = float((weights.astype(np.float64) ** 2).sum())
        sizes = halves * _floats(len(self.core))

        def outside(width: int) -> float:
            with np.errstate(divide="ignore"):  # a core of 0 leaves nothing beyond
                exponents = -((width + 1) ** 2) / (2 * square * sizes**2)
            chances = np.minimum(1.0, 2 * np.exp(exponents) / rarity)
            return float((self.core * chances).sum()) + MARGIN

        return outside


@dataclass(frozen=True)
class MovesNoise(JointLaw):
    """Norm ‖y‖₁ + |Σy|: discrete Laplace noises that, with one more at the end, add up to 0.

    With m = steps + 1 entries, the last of them hidden, y is the difference of two independent
    uniform ways to write the core as a sum of m whole numbers ≥ 0.
    """

    name = "discrete Laplace conditioned on adding up to 0"
    kind = "moves"

    @property
    def _core_rate(self) -> float:
        return float(2 / self.scale)

    @property
    def _parts(self) -> int:
        return 2 * self.steps + 1

    def _log_count(self, sizes: Floats) -> Floats:
        """C(core + steps, steps)², which is 1 at 0 and grows by (1 + steps / core)² from there."""
        growth = np.log1p(self.steps / sizes[1:])
        return 2 * np.concatenate(([0.0], growth.cumsum()))

    def variance(self, weights: Weights) -> float:
        """Entries are exchangeable, and add up to 0 with the hidden one."""
        parts = self.steps + 1
        unit = 2 * self._core_mean(lambda size: size * (size + parts)) / (parts * (parts + 1))
        given = weights.astype(np.float64)
        return unit * float((given**2).sum() - given.sum() ** 2 / parts)

    def combination(self, weights: Weights) -> NoiseTails:
        """Exact where all weights that are not 0 are equal, but for their signs."""
        sizes = set(np.abs(weights[weights != 0]).tolist())
        if len(sizes) > 1:
            return self._chernoff(weights)
        signs = sorted((int((weights > 0).sum()), int((weights < 0).sum())))
        return NoiseTails.of_half(_moves_chances(self, *signs), self.variance(weights), *sizes)

    def of_some(self, count: int) -> Floats:
        """P(`count` entries add up to x), x = 0, 1, …, up to a factor.

        It is P(count Laplaces add up to x)·P(the others to −x).
        """
        here, there = self._sums(count, self.steps + 1 - count)
        return here * there

    def of_signed(self, fewer: int, more: int) -> Floats:
        """P(`more` entries less `fewer` others add up to x), x = 0, 1, …, up to a factor.

        It is Σ over a: P(fewer Laplaces add up to a)·P(more to a + x)·P(the rest to −2a − x).
        """
        halves = self._sums(fewer, more, self.steps + 1 - fewer - more)
        reach = len(halves[0]) - 1
        least, most, rest = (
            np.pad(np.concatenate([half[:0:-1], half]), margin)  # so that every slice is there
            for half, margin in zip(halves, (0, reach, 2 * reach), strict=True)
        )
        chances = np.zeros(reach + 1)
        for place in np.flatnonzero(least > NEGLIGIBLE * least.max()).tolist():
            # a + x and 2a + x for all x, a = place − reach; −2a − x is as likely as 2a + x.
            here, there = (slice(at, at + reach + 1) for at in (place + reach, 2 * place + reach))
            chances += least[place] * most[here] * rest[there]
        return chances

    def _sums(self, *counts: int) -> tuple[Floats, ...]:
        """P(so many independent Laplaces add up to x), x = 0, 1, …, for each count."""
        single, parts = DiscreteLaplace(self.scale), self.steps + 1
        reach = ceil((9 * sqrt(2 * parts) + 45) * (float(self.scale) + 1))
        size = 1 << (2 * reach).bit_length()
        waves = single.characteristic(_floats(size // 2 + 1) * (2 * np.pi / size))
        return tuple(np.fft.irfft(waves**count, size)[: size // 2] for count in counts)

    def _chernoff(self, weights: Weights) -> NoiseTails:
        """E e^{λS} ≤ Π M(λ·w_i + α) / P(the unconditioned noises add up to 0), for every α."""
        single = DiscreteLaplace(self.scale)
        given = np.append(weights, 0).astype(np.float64)
        centred = given - given.mean()
        steep = single.rate / np.abs(centred).max()
        exponents = steep * np.linspace(0.01, 0.99, 99)
        moments = single.log_moment(exponents[:, None] * centred).sum(axis=1)
        moments = moments - np.log(self._chance_of_zero())

        def outside(width: int) -> float:
            return 2 * exp(float((moments - exponents * (width + 1)).min())) + MARGIN

        return NoiseTails(outside, self.variance(weights))

    def _chance_of_zero(self) -> float:
        """That independent discrete Laplace noises, one per step and one more, add up to 0.

        Σ over y of q^‖y‖ with sum 0 is Σ over cores of x^core·C(core + steps, steps)²·(1 − x)^m,
        x = q², over ((1 + q)/(1 − q))^m.
        """
        rate, parts = float(1 / self.scale), self.steps + 1
        sizes = _floats(self._farthest)
        logs = self._log_count(sizes) - 2 * rate * sizes
        total = logs.max() + np.log(np.exp(logs - logs.max()).sum())
        every = np.log(-expm1(-2 * rate)) - np.log((1 + exp(-rate)) / -expm1(-rate))
        return float(np.exp(total + parts * every))


@lru_cache(maxsize=256)
def _moves_chances(law: MovesNoise, fewer: int, more: int) -> Floats:
    """Entries are exchangeable: which of them are added or subtracted makes no difference."""
    return law.of_signed(fewer, more) if fewer else law.of_some(more)


@dataclass(frozen=True)
class RangeNoise(JointLaw):
    """Norm max(0, y) − min(0, y), for totals that one person can only raise.

    y_t = w_t − w_0, where w is uniform among the vectors between 0 and the core that touch 0.
    """

    name = "range-shaped discrete Laplace"
    kind = "range"

    def _log_count(self, sizes: Floats) -> Floats:
        """log((core + 1)^n − core^n), n = steps + 1."""
        parts = self.steps + 1
        return np.asarray(parts * np.log1p(sizes) + np.log(self._touching(sizes)))

    def _touching(self, sizes: Floats) -> Floats:
        """The part of all vectors between 0 and the core that touch 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1((self.steps + 1) * np.log(sizes / (sizes + 1))))

    def variance(self, weights: Weights) -> float:
        """All differences of two entries of w have one law, and weights on w add up to 0."""
        given = _on_all(weights).astype(np.float64)
        return float((given**2).sum()) / 2 * self._difference_variance

    @cached_property
    def _difference_variance(self) -> float:
        chances = self._difference
        return float(2 * (chances * _floats(len(chances)) ** 2).sum())

    @cached_property
    def _bend(self) -> Callable[[int], float]:
        """P(|w_r − 2·w_s + w_t| > width).

        Vectors between 0 and k that do not touch 0 are those between 0 and k − 1, moved by one,
        which no bend notices: of (k + 1)^n vectors k^n are left out, n = steps + 1.
        """
        sizes = _floats(len(self.core))
        touching = self._touching(sizes)

        def outside(width: int) -> float:
            beyond = bends_beyond(sizes + 1, width)
            without = np.append(0.0, beyond[:-1])
            chances = (beyond - without * (1 - touching)) / touching
            return float((self.core * chances).sum()) + MARGIN

        return cache(outside)

    @cached_property
    def _difference(self) -> Floats:
        """P(w_s − w_t = x), x = 0, 1, ….

        Given the core k, it is (k+1)^{n−2} + (k − x)·((k+1)^{n−2} − k^{n−2}) over
        (k+1)^n − k^n: one pair of values touches 0, and k − x pairs leave that to the others.
        """
        sizes = _floats(len(self.core))
        pairs = self.core / self._touching(sizes) / (sizes + 1) ** 2
        others = self.steps - 1
        with np.errstate(divide="ignore"):
            filled = -np.expm1(others * np.log(sizes / (sizes + 1))) if others else 0 * sizes
        touching = pairs * filled
        later, beyond = (np.cumsum(each[::-1])[::-1] for each in (touching, touching * sizes))
        return np.asarray(np.cumsum(pairs[::-1])[::-1] + beyond - sizes * later)

    def combination(self, weights: Weights) -> NoiseTails:
        """Exact for a release, for the difference of two, and for what is new against before."""
        given, variance = _on_all(weights), self.variance(weights)
        used = given[given != 0].tolist()
        if len(used) == 2:
            return NoiseTails.of_half(self._difference, variance, *set(map(abs, used)))
        if is_bend(used):
            return NoiseTails(self._bend, variance)
        # Without the condition to touch 0, entries of w are independent and uniform.
        touching = self._touching(_floats(len(self.core)))
        return NoiseTails(self._hoeffding(given, 0.5, touching), variance)


def _on_all(weights: Weights) -> Weights:
    """The weights on w_1, w_2, …, w_0 of what has these weights on y."""
    return np.append(weights, -weights.sum())


@dataclass(frozen=True)
class BoxNoise(JointLaw):
    """Norm max|y_t|, for totals that one person can raise and lower.

    y is uniform among all vectors between −core and core.
    """

    name = "box-shaped discrete Laplace"
    kind = "box"

    def _log_count(self, sizes: Floats) -> Floats:
        """log((2·core + 1)^steps)."""
        return np.asarray(self.steps * np.log1p(2 * sizes))

    def variance(self, weights: Weights) -> float:
        """Entries are uncorrelated."""
        single = self._core_mean(lambda size: size * (size + 1) / 3)
        return single * float((weights.astype(np.float64) ** 2).sum())

    def combination(self, weights: Weights) -> NoiseTails:
        """Exact for a release, for the difference of two, and for what is new against before."""
        used, variance = weights[weights != 0].tolist(), self.variance(weights)
        sizes = set(map(abs, used))
        if is_bend(used):
            return NoiseTails(self._bend, variance)
        if len(used) > 2 or len(sizes) > 1:
            return NoiseTails(self._hoeffding(weights, 1.0, np.ones(len(self.core))), variance)
        chances = self._single if len(used) == 1 else self._difference
        return NoiseTails.of_half(chances, variance, *sizes)

    @cached_property
    def _bend(self) -> Callable[[int], float]:
        """P(|y_r − 2·y_s + y_t| > width): a mixture over the core."""
        choices = 2 * _floats(len(self.core)) + 1

        def outside(width: int) -> float:
            return float((self.core * bends_beyond(choices, width)).sum()) + MARGIN

        return cache(outside)

    @cached_property
    def _single(self) -> Floats:
        """P(y_t = x), x = 0, 1, …: a mixture of uniform laws."""
        widths = 2 * _floats(len(self.core)) + 1
        return np.asarray(np.cumsum((self.core / widths)[::-1])[::-1])

    @cached_property
    def _difference(self) -> Floats:
        """P(y_s − y_t = x), x = 0, 1, …: a mixture of triangles."""
        widths = 2 * _floats(len(self.core)) + 1
        pairs = self.core / widths**2
        later, wide = (np.cumsum(each[::-1])[::-1] for each in (pairs, pairs * widths))
        apart = np.arange(2 * len(self.core) - 1)
        first = apart // 2  # smaller cores do not reach so far; of an odd distance, nor does this
        return np.asarray(wide[first] - apart * later[first])


JOINT_LAWS: dict[str, type[JointLaw]] = {
    each.kind: each for each in (MovesNoise, RangeNoise, BoxNoise)
}


def joint_law_from_dict(data: Mapping[str, str]) -> JointLaw:
    """The joint law whose `to_dict` gave this."""
    return JOINT_LAWS[data["kind"]](Fraction(data["scale"]), int(data["steps"]))
