"""Recent networks: fresh noise on every value, by itself, in blocks, or Gaussian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from graphveil.mechanisms.factorisations.bordered import single_step
from graphveil.mechanisms.factorisations.factorisation import Totals
from graphveil.mechanisms.gaussian import GaussianMechanism
from graphveil.mechanisms.mechanism import (
    Epoch,
    Measured,
    Mechanism,
    Request,
    joint_refusal,
    laplace_epoch,
    register,
)
from graphveil.noise.joint_laws import BoxNoise, JointLaw, RangeNoise
from graphveil.statistics.sensitivity import Recent


@register
@dataclass(frozen=True)
class RecentValues(Mechanism):
    """Noise of scale w·s/ε on each value: one person changes w of them, each by at most s.

    Guarantees: ε-node-DP for the whole series, of any length (`docs/mechanisms.md#recent`).
    """

    name = "recent"
    summary = "fresh Laplace noise on every value of a recent network"
    measured = Measured.RECENT
    needs_horizon = False
    proof = "docs/mechanisms.md#recent"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Every step is an epoch of its own."""
        return laplace_epoch(request, single_step())


# Recent, in blocks: noise shaped like what one person does to some values in a row.


@register
@dataclass(frozen=True)
class RecentBlocks(Mechanism):
    """Blocks of b values, each with range or box noise, of which one person touches m.

    Closed forms without any numerics, so that the same blocks come out in ten years.

    Guarantees: ε-node-DP for the whole series, of any length (`docs/mechanisms.md#recent-blocks`).
    """

    name = "recent-blocks"
    summary = "noise for blocks of values of a recent network, for windows from 3 steps on"
    measured = Measured.RECENT
    needs_horizon = False
    proof = "docs/mechanisms.md#recent-blocks"

    def refusal(self, request: Request) -> str | None:
        """Needs single numbers, and a window in which blocks gain something."""
        reason = super().refusal(request)
        if reason is None and request.width > 1:
            reason = "is for statistics of one number"
        if reason is None and _shape(request).window < 3:
            reason = "gains nothing in a window of less than 3 steps"
        return reason or joint_refusal(_block(_shape(request), request.epsilon).joint_law)

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """All blocks are alike."""
        return _block(_shape(request), request.epsilon)

    def loss(self, request: Request, exposed: Request) -> Fraction:
        """Charged is the span, or the height, as the law of the blocks has it."""
        in_range = isinstance(_block(_shape(request), request.epsilon).law, RangeNoise)
        shapes = _shape(exposed), _shape(request)
        now, made_for = (each.span if in_range else each.height for each in shapes)
        return request.epsilon * Fraction(now, made_for)


def _shape(request: Request) -> Recent:
    assert isinstance(request.shape, Recent), "others are refused before"
    return request.shape


@lru_cache(maxsize=64)
def _block(shape: Recent, epsilon: Fraction) -> Epoch:
    """The kind and length of blocks with the smallest noise: of scale m·span/ε, or m·height/ε."""
    lengths = best_length(shape.window, _of_range), best_length(shape.window, _of_box)
    ranges, boxes = (touched(shape.window, length) for length in lengths)
    in_range = (ranges * shape.span) ** 2 * _of_range(lengths[0])
    in_box = (boxes * shape.height) ** 2 * _of_box(lengths[1])
    law: JointLaw
    if in_range <= in_box:
        law = RangeNoise(ranges * shape.span / epsilon, lengths[0])
    else:
        law = BoxNoise(boxes * shape.height / epsilon, lengths[1])
    return Epoch(Totals(law.steps), law)


def touched(window: int, length: int) -> int:
    """The most blocks of a length that a window of steps in a row can touch."""
    return -(-(window - 1) // length) + 1


def best_length(window: int, spread: Callable[[int], int]) -> int:
    """The shortest of the best lengths, by how the variance of wide noise grows with it."""
    # Of all lengths with which a window touches as many blocks, the shortest is the best.
    lengths = sorted({-(-(window - 1) // parts) for parts in range(1, window)})
    return min(lengths, key=lambda each: touched(window, each) ** 2 * spread(each), default=1)


def _of_range(length: int) -> int:
    """Six times the variance of range noise of scale 1, where it is wide."""
    return (length + 2) * (length + 3)


def _of_box(length: int) -> int:
    """Six times the variance of box noise of scale 1, where it is wide."""
    return 2 * (length + 1) * (length + 2)


# Recent, Gaussian: fresh Gaussian noise on every value of a recent network.


@register
@dataclass(frozen=True)
class RecentGaussian(GaussianMechanism):
    """Discrete Gaussian noise on each value, for a long window or for vectors.

    One person moves all values together by √w·s in L2, where they move by w·s in L1.

    Guarantees: (ε, δ)-node-DP for the whole series, of any length, through ρ-zCDP
        (`docs/mechanisms.md#recent`).
    """

    name = "recent-gaussian"
    summary = "fresh Gaussian noise on every value of a recent network, quoted as (ε, δ)"
    measured = Measured.RECENT
    needs_horizon = False
    proof = "docs/mechanisms.md#recent"

    def change_squared(self, request: Request) -> int:
        """The squared L2 distance of all values together."""
        return request.sensitivity.l2_squared

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Every step is an epoch of its own."""
        return self.gaussian_epoch(request, single_step())
