"""Optimised for moves: the factorisation found numerically where a sum over all steps is cheap."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from graphveil.factorisations.optimiser import aimed, optimised_with_sum
from graphveil.mechanisms.mechanism import Mechanism, register
from graphveil.mechanisms.moves import Returning
from graphveil.mechanisms.optimised import LONGEST
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.calibration import laplace_for

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
