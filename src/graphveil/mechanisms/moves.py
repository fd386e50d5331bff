"""Moves: noise on differences that returns to zero, for changes that consist of moves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from graphveil.factorisations.bordered import identity
from graphveil.mechanisms.mechanism import Mechanism, joint_refusal, register
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.joint_laws import MovesNoise


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
