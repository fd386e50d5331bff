"""Noise for releases: the only source of randomness that a release has.

Exact samplers of the discrete Laplace and the discrete Gaussian law on 64-bit integers, from
OpenDP, which draws from the operating system. There is no seed. A law's exact scale becomes
the float that OpenDP wants by rounding towards more noise, and OpenDP's own privacy map has
to confirm, in exact fractions, what the law promises; otherwise nothing is drawn.

Joint laws are made of those same Laplace draws, of which the ones that are not negative are
geometric, and of uniform whole numbers from the operating system (`joint_samplers`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isqrt, nextafter
from secrets import randbelow
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from graphveil.errors import ParameterError
from graphveil.noise.joint_laws import JointLaw
from graphveil.noise.joint_samplers import draw_rest, draw_vector
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, NoiseLaw

if TYPE_CHECKING:
    from opendp.mod import Measurement

LARGEST_SCALE = 2**40  # a draw beyond 2^62 then has a probability below exp(−4,000,000)
INTEGERS = "i64"  # OpenDP reads "int" as 32 bits, and saturates there
MOST_NUDGES = 8  # its maps round up by an ulp or two; more than that is not rounding


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
