"""Optimised: factorisations found numerically, and noise that returns to zero for moves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from graphveil.mechanisms.factorisations.bordered import identity
from graphveil.mechanisms.factorisations.optimiser import aimed, optimised, optimised_with_sum
from graphveil.mechanisms.mechanism import (
    Epoch,
    Mechanism,
    Request,
    joint_refusal,
    laplace_epoch,
    register,
)
from graphveil.noise.joint_laws import MovesNoise
from graphveil.noise.zcdp import laplace_for

LONGEST = 4096  # beyond it the numerics take minutes


@register
@dataclass(frozen=True)
class Optimised(Mechanism):
    """C without restriction of its shape: a diagonal and some dense rows, tuned to the horizon.

    The factorisation depends on the horizon, and on what is to be minimised. It is computed once
    and stored with the plan: another version of the numerical libraries may find a slightly
    different one.

    Guarantees: ε-node-DP for the whole series (`docs/mechanisms.md#optimised`).
    """

    name = "optimised"
    summary = "the factorisation with the smallest error, found numerically"
    proof = "docs/mechanisms.md#optimised"

    def refusal(self, request: Request) -> str | None:
        """Very long horizons are refused."""
        if request.horizon is not None and request.horizon > LONGEST:
            return f"is computed for horizons up to {LONGEST} only"
        return super().refusal(request)

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon."""
        steps = request.known_horizon()
        return None if number else laplace_epoch(request, optimised(steps, request.aim()))


# Moves: noise on differences that returns to zero, for changes that consist of moves.


@dataclass(frozen=True)
class Returning:
    """The matrix behind the norm ‖d‖₁ + |Σd|: every step, and a sum over all of them."""

    def column_l1(self) -> int:
        """A step by itself, and in the sum."""
        return 2

    def pair_l1(self, rises: int, falls: int) -> int:
        """Rises and falls at two steps, and what of them is left in the sum."""
        return rises + falls + abs(rises - falls)


@register
@dataclass(frozen=True)
class Moves(Mechanism):
    """Discrete Laplace noise on each difference, conditioned on adding up to 0 in the end.

    The scale is 2·max(rises, falls)/ε, about that of SensDiff where one person moves as much as
    it adds; but the noise of the totals is a bridge, which comes back to 0 one step after the
    last release instead of growing.

    Guarantees: ε-node-DP for the whole series (`docs/mechanisms.md#moves`).
    """

    name = "moves"
    summary = "noise that returns to zero after the last release, for changes that move"
    whole = True
    proof = "docs/mechanisms.md#moves"

    def refusal(self, request: Request) -> str | None:
        """Very long or very wide noise is refused."""
        return super().refusal(request) or joint_refusal(_law(request))

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon."""
        return None if number else Epoch(identity(request.known_horizon()), _law(request))

    def loss(self, request: Request, exposed: Request) -> Fraction:
        """Charged is what a change costs with its sum."""
        charged = Fraction(exposed.cost(Returning()), request.cost(Returning()))
        return request.epsilon * charged


def _law(request: Request) -> MovesNoise:
    return MovesNoise(request.cost(Returning()) / request.epsilon, request.known_horizon())


# Optimised for moves: the factorisation found numerically where a sum over all steps is cheap.


EIGHTHS = (8, 7, 6, 4, 3, 2)  # weights of the sum that are tried; what does not move pays for it


@register
@dataclass(frozen=True)
class OptimisedMoves(Mechanism):
    """As `optimised`, with a row that sums over all steps, calibrated to the shape of the change.

    Better than `moves` from about 35 releases on. The factorisation depends on the horizon and on
    what is to be minimised, the weight of the sum on rises and falls as well; all are stored.

    Guarantees: ε-node-DP for the whole series (`docs/mechanisms.md#optimised-for-moves`).
    """

    name = "optimised-moves"
    summary = "the factorisation with the smallest error for changes that move"
    whole = True
    proof = "docs/mechanisms.md#optimised-for-moves"

    def refusal(self, request: Request) -> str | None:
        """Needs changes that move: otherwise `optimised` is never worse."""
        reason = super().refusal(request)
        if reason is None and request.known_horizon() > LONGEST:
            reason = f"is computed for horizons up to {LONGEST} only"
        if reason is None and request.cost(Returning()) >= 2 * request.sensitivity.l1:
            reason = "gains nothing: one person's changes do not move from step to step"
        return reason

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon, with noise for what its matrix costs."""
        if number:
            return None
        steps = request.known_horizon()
        aim = request.aim()
        offered = [optimised_with_sum(steps, Fraction(eighths, 8), aim) for eighths in EIGHTHS]
        cost, factorisation = min(
            ((request.cost(each), each) for each in offered),
            key=lambda each: each[0] * aimed(each[1], aim),
        )
        return Epoch(factorisation, laplace_for(cost, request.epsilon))

    def loss(self, request: Request, exposed: Request) -> Fraction:
        """Charged is what a change costs in the matrix that was chosen."""
        epoch = self.epoch(request, 0)
        assert epoch is not None, "there is a first one"
        matrix = epoch.factorisation
        return request.epsilon * Fraction(exposed.cost(matrix), request.cost(matrix))
