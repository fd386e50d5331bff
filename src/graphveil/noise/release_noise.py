"""Noise for releases: the only source of randomness that a release has.

Exact samplers of the discrete Laplace and the discrete Gaussian law on 64-bit integers, from
OpenDP, which draws from the operating system. There is no seed. A law's exact scale becomes
the float that OpenDP wants by rounding towards more noise, and OpenDP's own privacy map has
to confirm, in exact fractions, what the law promises; otherwise nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isqrt, nextafter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from graphveil.errors import ParameterError
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, Law

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

    def draw(self, law: Law, count: int) -> list[int]:
        """`count` independent integers of this law, in one call."""
        return [int(value) for value in measurement(law)([0] * count)]


def measurement(law: Law) -> Measurement:
    """OpenDP's sampler of a law, with the least scale that its privacy map vouches for."""
    sampler = _SAMPLERS[type(law)]
    if law.size <= 0:
        raise ParameterError("noise scale", "must be greater than 0")
    if law.size > sampler.largest:
        raise ParameterError(
            "noise scale",
            f"must be at most {LARGEST_SCALE}, to stay far from the limit of 64 bits",
            hint="Choose a larger epsilon, a smaller bound or fewer releases.",
        )
    return _vouched(sampler.make, sampler.scale(law.size), loss=law.privacy_loss)


def float_above(number: Fraction) -> float:
    """The least float that is no less than a fraction."""
    near = float(number)
    return near if Fraction(near) >= number else nextafter(near, inf)


def root_above(number: Fraction) -> float:
    """A float no less than the square root of a fraction, and next to the least such one."""
    shift = 128  # enough bits below the point for any float
    whole = isqrt((number.numerator << 2 * shift) // number.denominator) + 1
    return float_above(Fraction(whole, 1 << shift))


def _vouched(make: Callable[[float], Measurement], scale: float, loss: Fraction) -> Measurement:
    """The sampler with the first scale from `scale` up whose privacy map is at most `loss`."""
    for _ in range(MOST_NUDGES):
        made: Any = make(scale)
        claimed = made.map(1)
        if isfinite(claimed) and Fraction(claimed) <= loss:
            return cast("Measurement", made)
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


_SAMPLERS: dict[type[Law], _Sampler] = {
    DiscreteLaplace: _Sampler(_laplace, float_above, LARGEST_SCALE),
    DiscreteGaussian: _Sampler(_gaussian, root_above, LARGEST_SCALE**2),
}
