"""Range and box: all projected totals at once, with noise shaped like what one person can do."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.totals import Totals
from graphveil.mechanisms.compose import NO_PROJECTION
from graphveil.mechanisms.mechanism import Measured, Mechanism, joint_refusal, register
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.joint_laws import BoxNoise, RangeNoise


@register
@dataclass(frozen=True)
class RangeProjection(Mechanism):
    """Totals of the projected graph that one person can only raise, by at most Δ each.

    Guarantees: ε-node-DP for T releases on *every* sequence, whatever its degrees: the projection,
    not a promise, limits what one person can change (`docs/mechanisms.md#range-and-box`).
    """

    name = "range-projection"
    summary = "all projected totals at once, with noise that fits totals that only rise"
    measured = Measured.PROJECTED_TOTALS
    whole = True
    proof = "docs/mechanisms.md#range-and-box"

    def refusal(self, request: Request) -> str | None:
        """Needs totals that a person can only raise after projection."""
        reason = super().refusal(request) or _no_projection(request)
        if reason is None and not request.projected_rises:
            reason = "needs totals that one person can only raise: take 'box-projection'"
        return reason or joint_refusal(_range(request))

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon."""
        return None if number else Epoch(Totals(request.known_horizon()), _range(request))


@register
@dataclass(frozen=True)
class BoxProjection(Mechanism):
    """Totals of the projected graph that one person can raise or lower, by at most Δ each.

    Guarantees: ε-node-DP for T releases on *every* sequence, whatever its degrees: the projection,
    not a promise, limits what one person can change (`docs/mechanisms.md#range-and-box`).
    """

    name = "box-projection"
    summary = "all projected totals at once, with noise that fits totals that rise and fall"
    measured = Measured.PROJECTED_TOTALS
    whole = True
    proof = "docs/mechanisms.md#range-and-box"

    def refusal(self, request: Request) -> str | None:
        """Needs a sensitivity after projection."""
        reason = super().refusal(request) or _no_projection(request)
        return reason or joint_refusal(_box(request))

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon."""
        return None if number else Epoch(Totals(request.known_horizon()), _box(request))


def _no_projection(request: Request) -> str | None:
    return NO_PROJECTION if request.projected_l1 is None else None


def _range(request: Request) -> RangeNoise:
    assert request.projected_l1 is not None, "refused before"
    return RangeNoise(request.projected_l1 / request.epsilon, request.known_horizon())


def _box(request: Request) -> BoxNoise:
    assert request.projected_l1 is not None, "refused before"
    return BoxNoise(request.projected_l1 / request.epsilon, request.known_horizon())
