"""Noise for releases: the only source of randomness that a release has.

Exact samplers of the discrete Laplace and the discrete Gaussian law on 64-bit integers, from
OpenDP, which draws from the operating system. There is no seed. A law's exact scale becomes
the float that OpenDP wants by rounding towards more noise, and OpenDP's own privacy map has
to confirm, in exact fractions, what the law promises; otherwise nothing is drawn.

Joint laws are made of those same Laplace draws, of which the ones that are not negative are
geometric, and of uniform whole numbers from the operating system.

A core is a first part, drawn from finitely many with known whole weights, and a sum of
geometric numbers; then the vector is uniform in a simple set. That this gives just the laws of
`joint_laws` rests on three identities between polynomials, with x = exp(−rate of the core):

    moves:  Σ C(s+T, T)²·x^s          = Σ C(T, j)²·x^j / (1−x)^(2T+1)      (Li Shanlan)
    range:  Σ ((s+1)^n − s^n)·x^s     = Σ A(n, j)·x^j  / (1−x)^n           (Eulerian numbers)
    box:    Σ (2s+1)^T·x^s            = Σ B(T, j)·x^j  / (1−x)^(T+1)       (those of type B)

The right sides say how to draw s: j with the weights of the sum, and one geometric number for
each factor of the denominator. Proof: docs/mechanisms.md#exact-samplers.

Given the beginning of a vector, the core of the rest has another law, P(s) ∝ f(s)·x^s for a
polynomial f without negative coefficients. Its differences at 0 are not negative either, and

    f(s) = Σ Δ^j f(0)·C(s, j),   Σ C(s, j)·x^s = (x/(1−x))^j / (1−x)

say how to draw it: j with these weights, and s = j + (j + 1) geometric numbers. Proof:
docs/mechanisms.md#adoption.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import comb, inf, isfinite, isqrt, nextafter
from secrets import randbelow
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from graphveil.errors import ParameterError
from graphveil.noise.joint_laws import BoxNoise, JointLaw, MovesNoise, RangeNoise
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, NoiseLaw

if TYPE_CHECKING:
    from opendp.mod import Measurement

LARGEST_SCALE = 2**40  # a draw beyond 2^62 then has a probability below exp(−4,000,000)
INTEGERS = "i64"  # OpenDP reads "int" as 32 bits, and saturates there
MOST_NUDGES = 8  # its maps round up by an ulp or two; more than that is not rounding
BLOCK = 10**30  # how finely a uniform number is drawn at a time
GUARD = 15  # digits that are computed beyond those that are needed


@dataclass(frozen=True)
class ReleaseNoise:
    """Draws the noise of releases; has no parameter, so that nobody can choose what it draws.

    Guarantees: integers of exactly the discrete law with a scale that is no less than, and
    within 8 ulp of, the asked one. OpenDP's privacy map at distance 1 is at most 1/scale
    (pure ε) for Laplace and at most 1/(2σ²) (ρ of zCDP) for Gaussian.
    """

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        """`count` integers of this law, in one call."""
        if isinstance(law, JointLaw):
            return _vectors(law, count)
        return [int(value) for value in measurement(law)([0] * count)]

    def draw_rest(self, law: NoiseLaw, used: Sequence[int]) -> list[int]:
        """The entries of a joint law that follow `used`, from their law given these."""
        assert isinstance(law, JointLaw), "independent noises have no rest"
        return draw_rest(law, used, _ReleaseChance(*_vouched_laplace(law)))


def _vectors(law: JointLaw, count: int) -> list[int]:
    """Whole vectors of a joint law, one after the other."""
    if count % law.steps:
        raise ValueError("a joint law is drawn in whole vectors")
    chance = _ReleaseChance(*_vouched_laplace(law))
    return [entry for _ in range(count // law.steps) for entry in draw_vector(law, chance)]


@dataclass(frozen=True)
class _ReleaseChance:
    """Geometric numbers by OpenDP, and uniform ones by the operating system.

    OpenDP draws from just the law with the scale that it was given, a float, which is a fraction:
    so the rate is known exactly.
    """

    sampler: Measurement
    scale: float

    @property
    def rate(self) -> Fraction:
        """The rate of the law that OpenDP draws from; at most that of the requested law."""
        return 1 / Fraction(self.scale)

    def geometric(self, count: int) -> list[int]:
        """Discrete Laplace draws that are not negative."""
        drawn: list[int] = []
        while len(drawn) < count:
            drawn += [int(each) for each in self.sampler([0] * (2 * count)) if each >= 0]
        return drawn[:count]

    def below(self, number: int) -> int:
        """A uniform whole number, exactly."""
        return randbelow(number)


def measurement(law: NoiseLaw) -> Measurement:
    """OpenDP's sampler of a law, with the least scale that its privacy map vouches for.

    For a joint law, the sampler of the Laplace draws of which it is made.
    """
    if isinstance(law, JointLaw):
        return _vouched_laplace(law)[0]
    sampler = _SAMPLERS[type(law)]
    _require_size(law, sampler.largest)
    return _vouched(sampler.make, sampler.scale(law.size), loss=law.privacy_loss)[0]


def _vouched_laplace(law: JointLaw) -> tuple[Measurement, float]:
    """The sampler of the Laplace draws behind a joint law, and its scale."""
    _require_size(law, LARGEST_SCALE)
    return _vouched(_laplace, float_above(law.size), loss=law.privacy_loss)


def _require_size(law: NoiseLaw, largest: int) -> None:
    if law.size <= 0:
        raise ParameterError("noise scale", "must be greater than 0")
    if law.size > largest:
        raise ParameterError(
            "noise scale",
            f"must be at most {LARGEST_SCALE}, to stay far from the limit of 64 bits",
            hint="Choose a larger epsilon, a smaller bound or fewer releases.",
        )


def float_above(number: Fraction) -> float:
    """The least float that is no less than a fraction."""
    near = float(number)
    return near if Fraction(near) >= number else nextafter(near, inf)


def root_above(number: Fraction) -> float:
    """A float no less than the square root of a fraction, and next to the least such one."""
    shift = 128  # enough bits below the point for any float
    whole = isqrt((number.numerator << 2 * shift) // number.denominator) + 1
    return float_above(Fraction(whole, 1 << shift))


def _vouched(
    make: Callable[[float], Measurement], scale: float, loss: Fraction
) -> tuple[Measurement, float]:
    """The sampler, and its scale: the first from `scale` up whose privacy map is at most `loss`."""
    for _ in range(MOST_NUDGES):
        made: Any = make(scale)
        claimed = made.map(1)
        if isfinite(claimed) and Fraction(claimed) <= loss:
            return cast("Measurement", made), scale
        scale = nextafter(scale, inf)
    raise ParameterError("noise scale", "OpenDP's privacy map does not confirm its privacy")


def _laplace(scale: float) -> Measurement:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=INTEGERS)), dp.l1_distance(T=INTEGERS)
    return dp.m.make_laplace(*space, scale=scale)


def _gaussian(scale: float) -> Measurement:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=INTEGERS)), dp.l2_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=scale)


class _Sampler(NamedTuple):
    """How OpenDP draws a law: with which scale, and up to which size of the law."""

    make: Callable[[float], Measurement]
    scale: Callable[[Fraction], float]
    largest: int


_SAMPLERS: dict[type[NoiseLaw], _Sampler] = {
    DiscreteLaplace: _Sampler(_laplace, float_above, LARGEST_SCALE),
    DiscreteGaussian: _Sampler(_gaussian, root_above, LARGEST_SCALE**2),
}


class Chance(Protocol):
    """Where randomness comes from; releases and simulations have different ones."""

    @property
    def rate(self) -> Fraction:
        """The rate of the geometric numbers, exactly."""

    def geometric(self, count: int) -> list[int]:
        """Independent numbers j = 0, 1, … with P(j) ∝ exp(−rate·j)."""

    def below(self, number: int) -> int:
        """One of 0, …, number − 1, all equally likely."""


def draw_vector(law: JointLaw, chance: Chance) -> list[int]:
    """One vector of the law, whose scale is taken to be 1/chance.rate."""
    if isinstance(law, MovesNoise):
        return _moves(law.steps, chance)
    if isinstance(law, RangeNoise):
        return _range(law.steps, chance)
    assert isinstance(law, BoxNoise), "there are three"
    return _box(law.steps, chance)


def draw_rest(law: JointLaw, used: Sequence[int], chance: Chance) -> list[int]:
    """The other entries of a vector that begins with `used`, from their law given these."""
    left = law.steps - len(used)
    if isinstance(law, MovesNoise):
        return _rest_of_moves(used, left, chance)
    if isinstance(law, RangeNoise):
        return _rest_of_range(used, left, chance)
    assert isinstance(law, BoxNoise), "there are three"
    return _rest_of_box(used, left, chance)


def _rest_of_moves(used: Sequence[int], left: int, chance: Chance) -> list[int]:
    """All entries, the hidden one included, are independent Laplace numbers but for their sum.

    So all but the hidden one are drawn freely, and accepted with probability exp(−rate·|hidden|).
    """
    while True:
        ups, downs = (chance.geometric(left) for _ in range(2))
        rest = [up - down for up, down in zip(ups, downs, strict=True)]
        hidden = -sum(used) - sum(rest)
        if chance.geometric(1)[0] >= abs(hidden):
            return rest


def _rest_of_range(used: Sequence[int], left: int, chance: Chance) -> list[int]:
    """Anywhere between two ends, around 0 and all that was used, in all s + 1 ways to place them.

    With ends that lie s further apart than what was used, f(s) = (s + 1)·(s + width)^left.
    """
    low, high = min(0, *used), max(0, *used)
    width = high - low + 1
    apart = _polynomial_core([(s + 1) * (s + width) ** left for s in range(left + 2)], chance)
    below = chance.below(apart + 1)
    return [low - below + chance.below(width + apart) for _ in range(left)]


def _rest_of_box(used: Sequence[int], left: int, chance: Chance) -> list[int]:
    """Anywhere between −core and core; for a core s above what was used, (2s + width)^left ways."""
    least = max(map(abs, used))
    values = [(2 * s + 2 * least + 1) ** left for s in range(left + 1)]
    core = least + _polynomial_core(values, chance)
    return [chance.below(2 * core + 1) - core for _ in range(left)]


def _polynomial_core(values: Sequence[int], chance: Chance) -> int:
    """A whole number s ≥ 0 with P(s) ∝ f(s)·exp(−rate·s), f a polynomial without negatives.

    Args:
        values: f(0), f(1), …, f(its degree).
        chance: where randomness comes from.
    """
    index = weighted_index(_differences(values), chance.rate, chance, odds=True)
    return index + sum(chance.geometric(index + 1))


def _differences(values: Sequence[int]) -> tuple[int, ...]:
    """Each Δ^j f(0), from j = 0 on."""
    found = []
    while values:
        found.append(values[0])
        values = [later - earlier for earlier, later in pairwise(values)]
    return tuple(found)


def _moves(steps: int, chance: Chance) -> list[int]:
    """Two ways to write the core as a sum; a half of a geometric number has twice its rate."""
    first = weighted_index(squared_binomials(steps), 2 * chance.rate, chance)
    core = first + sum(each // 2 for each in chance.geometric(2 * steps + 1))
    ups, downs = (_composition(core, steps + 1, chance) for _ in range(2))
    return [up - down for up, down in zip(ups[:steps], downs, strict=False)]


def _range(steps: int, chance: Chance) -> list[int]:
    """Between 0 and the core, touching 0; the first entry is where the totals begin."""
    parts = steps + 1
    core = weighted_index(eulerian(parts), chance.rate, chance) + sum(chance.geometric(parts))
    zero = _first_zero(core, parts, chance)
    before = [1 + chance.below(core) for _ in range(zero)]
    after = [chance.below(core + 1) for _ in range(parts - 1 - zero)]
    entries = [*before, 0, *after]
    return [each - entries[0] for each in entries[1:]]


def _box(steps: int, chance: Chance) -> list[int]:
    """Anywhere between −core and core."""
    first = weighted_index(eulerian_b(steps), chance.rate, chance)
    core = first + sum(chance.geometric(steps + 1))
    return [chance.below(2 * core + 1) - core for _ in range(steps)]


def _first_zero(core: int, parts: int, chance: Chance) -> int:
    """Where a uniform vector that touches 0 first does: place i has core^i·(core+1)^(n−1−i)."""
    place, left = 0, chance.below((core + 1) ** parts - core**parts)
    while left >= (here := core**place * (core + 1) ** (parts - 1 - place)):
        left -= here
        place += 1
    return place


def _composition(total: int, parts: int, chance: Chance) -> list[int]:
    """A uniform way to write `total` as a sum of `parts` whole numbers ≥ 0.

    It is a choice of parts − 1 bars among total + parts − 1 places, made by Floyd's algorithm.
    """
    places = total + parts - 1
    bars: set[int] = set()
    for last in range(places - parts + 1, places):
        chosen = chance.below(last + 1)
        bars.add(last if chosen in bars else chosen)
    return [right - left - 1 for left, right in pairwise([-1, *sorted(bars), places])]


def weighted_index(
    weights: tuple[int, ...], rate: Fraction, chance: Chance, *, odds: bool = False
) -> int:
    """An index j with P(j) ∝ weights[j]·x^j, exactly; x is exp(−rate), or its odds x/(1 − x).

    A uniform number is drawn digit by digit, until it is certain between which two partial
    sums it lies: these are known to as many digits as it takes.
    """
    drawn, unit = 0, 1
    while True:
        drawn, unit = drawn * BLOCK + chance.below(BLOCK), unit * BLOCK
        sums, error = _partial_sums(weights, rate, len(str(unit)) + GUARD, odds)
        low, high = (Fraction((drawn + one) * sums[-1], unit) for one in (0, 1))
        index = bisect_right(sums, low)
        # Where the whole is off by `error`, so is any part of it; and so is each partial sum.
        after = sums[index - 1] + 2 * error if index else 0
        if after <= low and high + 2 * error <= sums[index]:
            return index


@lru_cache(maxsize=16)
def _partial_sums(
    weights: tuple[int, ...], rate: Fraction, digits: int, odds: bool
) -> tuple[list[int], int]:
    """The partial sums of weights[j]·x^j in whole units, and a bound of their error.

    The largest term has one digit more than `digits`. `Decimal.exp` is correctly rounded; the
    exponent is off by less than a part in 10^precision of itself, which is below 10^7 or leaves
    nothing of a term; and each of the few operations by that part of its result. The odds are off
    by 1/rate + rate + 5 such parts, and their j-th power by j times that. With the digits
    of `GUARD` that is far below one unit in all terms together. Rounded down, each loses less
    than one.
    """
    context = Context(prec=digits + GUARD)
    powers = _powers(rate, len(weights), context, odds)
    terms = [
        context.multiply(context.create_decimal(weight), power)
        for weight, power in zip(weights, powers, strict=True)
    ]
    shift = digits - max(term.adjusted() for term in terms)
    sums = list(accumulate(int(context.scaleb(term, shift)) for term in terms))
    return sums, len(weights) + 1


def _powers(rate: Fraction, count: int, context: Context, odds: bool) -> list[Decimal]:
    """The first powers of x; every operation is the context's, as a sign would be rounded, too."""
    slope = context.divide(Decimal(-rate.numerator), Decimal(rate.denominator))
    if not odds:
        return [context.exp(context.multiply(slope, j)) for j in range(count)]
    one, ratio = Decimal(1), context.exp(slope)
    ratio = context.divide(ratio, context.subtract(one, ratio))
    return list(
        accumulate(range(1, count), lambda power, _: context.multiply(power, ratio), initial=one)
    )


@lru_cache(maxsize=16)
def squared_binomials(steps: int) -> tuple[int, ...]:
    """C(T, j)² for j = 0, …, T."""
    return tuple(comb(steps, j) ** 2 for j in range(steps + 1))


@lru_cache(maxsize=16)
def eulerian(number: int) -> tuple[int, ...]:
    """How many permutations of `number` things have j descents, j = 0, …, number − 1."""
    row = [1]
    for n in range(2, number + 1):
        row = [(j + 1) * a + (n - j) * b for j, (a, b) in enumerate(_beside(row))]
    return tuple(row)


@lru_cache(maxsize=16)
def eulerian_b(number: int) -> tuple[int, ...]:
    """How many signed permutations of `number` things have j descents, j = 0, …, number."""
    row = [1]
    for n in range(1, number + 1):
        row = [(2 * j + 1) * a + (2 * (n - j) + 1) * b for j, (a, b) in enumerate(_beside(row))]
    return tuple(row)


def _beside(row: list[int]) -> list[tuple[int, int]]:
    """Each number of the next row's two parents in this one: the same place, and the one before."""
    return list(zip([*row, 0], [0, *row], strict=True))
