"""The interface of a mechanism, the public request it answers, and the plan it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from importlib import import_module
from pkgutil import iter_modules
from typing import ClassVar, TypeVar

from graphveil.errors import ParameterError, nearest_name
from graphveil.mechanisms.factorisation import Factorisation
from graphveil.mechanisms.laws import Law
from graphveil.statistics.sensitivity import Sensitivity


class Measured(Enum):
    """What the noise is added to."""

    DIFFERENCES = "differences"
    TOTALS = "totals"
    PROJECTED_TOTALS = "totals of the projected graph"


@dataclass(frozen=True)
class Request:
    """Public parameters, and nothing else, from which a mechanism plans.

    Attributes:
        sensitivity: what one person can change.
        epsilon: the privacy loss of the whole series.
        delta: the probability of more, for mechanisms that need one; None is pure ε.
        horizon: the number of releases, if it is known.
        width: how many numbers a release has: 1, or one per degree.
        projected_l1: the static sensitivity after projection, where projection is asked for.
    """

    sensitivity: Sensitivity
    epsilon: Fraction
    delta: Fraction | None = None
    horizon: int | None = None
    width: int = 1
    projected_l1: int | None = None

    def __post_init__(self) -> None:
        if self.horizon is not None and self.horizon < 1:
            raise ParameterError("horizon", "must be at least 1, or unknown")
        if self.sensitivity.l1 == 0:
            raise ParameterError(
                "statistic",
                "cannot change under this bound: its value is always 0",
                mend="There is nothing to publish; choose other parameters.",
            )


@dataclass(frozen=True)
class Epoch:
    """A stretch of steps with its own factorisation and its own noise, all drawn at its start."""

    factorisation: Factorisation
    law: Law

    @property
    def steps(self) -> int:
        """How many steps it has."""
        return self.factorisation.steps


@dataclass(frozen=True)
class Mechanism(ABC):
    """A way to publish a series: a value with pure functions.

    Attributes:
        name: how users call it.
        summary: one line that says what it does.
        measured: what the noise is added to.
        pure: whether it gives pure ε; otherwise it needs a δ.
        needs_horizon: whether the number of releases must be known beforehand.
        proof: where its privacy proof stands.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    measured: ClassVar[Measured] = Measured.DIFFERENCES
    pure: ClassVar[bool] = True
    needs_horizon: ClassVar[bool] = True
    proof: ClassVar[str]

    def refusal(self, request: Request) -> str | None:
        """Why this mechanism does not admit the request, or None if it does."""
        if self.needs_horizon and request.horizon is None:
            return "needs a known horizon"
        if self.pure == (request.delta is not None):
            return "is pure ε: leave δ out" if self.pure else "needs a δ"
        return None

    @abstractmethod
    def epoch(self, request: Request, number: int) -> Epoch | None:
        """The epoch with this number, from 0 on; None after the last one.

        Deterministic, so that a series of unknown length can be continued for years.
        """


Member = TypeVar("Member", bound=type[Mechanism])
_REGISTRY: dict[str, Mechanism] = {}


def register(member: Member) -> Member:
    """Enter a mechanism under its name."""
    if member.name in _REGISTRY:
        raise ValueError(f"two mechanisms are called {member.name!r}")
    _REGISTRY[member.name] = member()
    return member


def registered() -> dict[str, Mechanism]:
    """Every mechanism by name; each module of this package is one place to look."""
    import graphveil.mechanisms as package

    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    return dict(_REGISTRY)


def mechanism(name: str) -> Mechanism:
    """The mechanism called `name`."""
    known = registered()
    if name not in known:
        offer = nearest_name(name, known, ", auto")
        raise ParameterError("mechanism", f"there is none called '{name}'", mend=offer)
    return known[name]
