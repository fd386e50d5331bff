"""The interface of a mechanism, and the registry in which each one enters itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar, TypeVar

from graphveil.factorisations.factorisation import Factorisation
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.calibration import laplace_for
from graphveil.noise.joint_laws import LONGEST, JointLaw
from graphveil.registry import Registry


class Measured(Enum):
    """What the noise is added to."""

    DIFFERENCES = "differences"
    TOTALS = "totals"
    PROJECTED_TOTALS = "totals of the projected graph"
    RECENT = "values of the recent network"


@dataclass(frozen=True)
class Mechanism(ABC):
    """A way to publish a series: a value with pure functions.

    Attributes:
        name: what users call it.
        summary: one line that says what it does.
        measured: what the noise is added to.
        pure: whether it gives pure ε; otherwise it needs a δ.
        needs_horizon: whether the number of releases must be known in advance.
        whole: whether its noise is made for the whole horizon, so that no epoch may follow.
        proof: where its privacy proof stands.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    measured: ClassVar[Measured] = Measured.DIFFERENCES
    pure: ClassVar[bool] = True
    needs_horizon: ClassVar[bool] = True
    whole: ClassVar[bool] = False
    proof: ClassVar[str]

    def refusal(self, request: Request) -> str | None:
        """Why this mechanism does not admit the request, or None if it does."""
        if request.recent != (self.measured is Measured.RECENT):
            return (
                "is for people who stay: in a recent network they leave again"
                if request.recent
                else "is for recent networks: give a window"
            )
        if self.needs_horizon and request.horizon is None:
            return "needs a known horizon"
        if self.pure == (request.delta is not None):
            return "is pure ε: leave δ out" if self.pure else "needs a δ"
        if self.pure and request.pool_share is not None:
            return "has an ε of its own: only Gaussian noise shares a pool"
        return None

    @property
    def projects(self) -> bool:
        """Whether it counts the projected graph, on which no promise is needed."""
        return self.measured is Measured.PROJECTED_TOTALS

    @property
    def adds_up(self) -> bool:
        """Whether the noise of finished epochs stays in all later releases."""
        return self.measured is Measured.DIFFERENCES

    def loss(self, request: Request, exposed: Request) -> Fraction:
        """ε of somebody who can change more than was promised.

        Args:
            request: what the noise was made for.
            exposed: the same request with what that person can change instead.

        Guarantees: noise is scaled to what one person changes, in the norm that the mechanism
            charges; so the loss grows as that norm does (`docs/mechanisms.md#more-than-promised`).
            Mechanisms that charge anything but Γ, or one release, say so themselves.
        """
        if self.projects:
            return request.epsilon
        one_release = self.measured is Measured.TOTALS
        made_for, now = (
            each.sensitivity.static_l1 if one_release else each.sensitivity.l1
            for each in (request, exposed)
        )
        return request.epsilon * Fraction(now, made_for)

    @abstractmethod
    def epoch(self, request: Request, number: int) -> Epoch | None:
        """The epoch with this number, from 0 on; None after the last one.

        Deterministic, so that a series of unknown length can be continued for years.
        """


Member = TypeVar("Member", bound=type[Mechanism])
_REGISTRY: Registry[Mechanism] = Registry("mechanism", "graphveil.mechanisms")


def register(member: Member) -> Member:
    """Enter a mechanism under its name."""
    _REGISTRY.enter(member.name, member())
    return member


def registered() -> dict[str, Mechanism]:
    """Every mechanism by name; each module of this package is one place to look."""
    return _REGISTRY.members()


def mechanism(name: str) -> Mechanism:
    """The mechanism called `name`."""
    return _REGISTRY.named(name, besides=["auto"])


def joint_refusal(law: JointLaw) -> str | None:
    """Why noise of this law cannot be made, or None if it can."""
    if law.steps > LONGEST:
        return f"is computed for horizons up to {LONGEST} only"
    return "would need noise of millions: choose a larger ε" if law.too_large else None


def laplace_epoch(request: Request, factorisation: Factorisation) -> Epoch:
    """Discrete Laplace noise of scale Γ·‖C‖₁/ε.

    Guarantees: ε-DP for the epoch, and for any number of such epochs
        (`docs/mechanisms.md#any-factorisation-at-pure-ε`).
    """
    change = request.sensitivity.l1 * factorisation.column_l1()
    return Epoch(factorisation, laplace_for(change, request.epsilon))
