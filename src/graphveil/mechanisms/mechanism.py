"""The interface of a mechanism, and the registry in which each one enters itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.mechanisms.factorisations import factorisation
from graphveil.mechanisms.factorisations.factorisation import Factorisation
from graphveil.mechanisms.factorisations.objectives import PLAIN, Aim, Objective, objective
from graphveil.noise.joint_laws import JOINT_LAWS, LONGEST, JointLaw, joint_law_from_dict
from graphveil.noise.laws import Law, NoiseLaw, law_from_dict
from graphveil.noise.zcdp import laplace_for, rho_of
from graphveil.registry import PlugIn, Registry
from graphveil.statistics.sensitivity import (
    Cells,
    Columns,
    Recent,
    Sensitivity,
    Shape,
    shape_from_dict,
)

# The public request that a mechanism answers, and the epochs that it answers with.


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
        projected_rises: whether one person can only raise the totals after projection.
        shape: what one person's change can look like over time; None if only Γ is known.
        minimise: in what the noise is to be small, where a mechanism can choose.
        pool_share: the share of ρ that the series has, where ε and δ are those of several series
            together; None where they are its own.
        guess: where the threshold of the projection follows what was published, the public guess
            of how many links there will be at the end and, perhaps, of the threshold there. What
            one person changes is then counted in parts of a threshold.
    """

    sensitivity: Sensitivity
    epsilon: Fraction
    delta: Fraction | None = None
    horizon: int | None = None
    width: int = 1
    projected_l1: int | None = None
    projected_rises: bool = False
    shape: Shape | None = None
    minimise: Objective = PLAIN
    pool_share: Fraction | None = None
    guess: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.horizon is not None and self.horizon < 1:
            raise ParameterError("horizon", "must be at least 1, or unknown")
        if self.sensitivity.l1 == 0:
            raise ParameterError(
                "statistic",
                "cannot change under this bound: its value is always 0",
                hint="There is nothing to publish; choose other parameters.",
            )

    @property
    def rho(self) -> Fraction:
        """What Gaussian noise may cost in zCDP: all that ε and δ allow, or a share of it.

        Guarantees: series whose shares sum to at most 1 are (ε, δ)-DP together
            (`docs/mechanisms.md#a-pool-of-several-series`).
        """
        assert self.delta is not None, "pure noise is not charged in zCDP"
        whole = rho_of(self.epsilon, self.delta)
        return whole if self.pool_share is None else whole * self.pool_share

    @property
    def recent(self) -> bool:
        """Whether the values of a recent network are published, in which people do not stay."""
        return isinstance(self.shape, Recent)

    @property
    def by_cells(self) -> bool:
        """Whether the numbers of a release are a table by groups of people."""
        return isinstance(self.shape, Cells)

    def known_horizon(self) -> int:
        """The number of releases, which the caller has to know."""
        if self.horizon is None:
            raise ParameterError("horizon", "must be known", hint="Choose 'epochs' if it is not.")
        return self.horizon

    def known_projected_l1(self) -> int:
        """What one person can change in one projected total, which the caller has to know."""
        assert self.projected_l1 is not None, "refused before"
        return self.projected_l1

    def aim(self) -> Aim:
        """What is to be minimised over the horizon."""
        return self.minimise.aim(self.known_horizon())

    def lasting(self, horizon: int) -> Request:
        """The same for another number of releases; what does not fit it is no longer minimised."""
        return replace(self, horizon=horizon, minimise=self.minimise.fitted(horizon))

    def cost(self, matrix: Columns) -> int:
        """How far one person can move what a matrix measures, in L1, over the whole horizon.

        Guarantees: no less than ‖C·d‖₁ for every change d (`docs/sensitivities.md#shapes`), in one
            epoch that covers all releases; a move between two epochs would count twice.
        """
        most = self.sensitivity.l1 * matrix.column_l1()
        return most if self.shape is None else min(most, self.shape.cost(matrix))

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store, with every fraction as text; what is not known is left out."""
        sensitivity = vars(self.sensitivity) | {"exact_for": sorted(self.sensitivity.exact_for)}
        stored = vars(self) | {
            "sensitivity": sensitivity,
            "epsilon": str(self.epsilon),
            "delta": None if self.delta is None else str(self.delta),
            "shape": self.shape.to_dict() if self.shape else None,
            "minimise": None if self.minimise == PLAIN else str(self.minimise),
            "pool_share": None if self.pool_share is None else str(self.pool_share),
            "guess": None if self.guess is None else list(self.guess),
        }
        later = (
            "projected_rises",
            "shape",
            "minimise",
            "pool_share",
            "guess",
        )  # than the first stored plans
        return {key: value for key, value in stored.items() if value or key not in later}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Request:
        """The request that `to_dict` wrote."""
        sensitivity = dict(data["sensitivity"])
        sensitivity["exact_for"] = frozenset(sensitivity["exact_for"])
        return cls(
            **{
                **data,
                "sensitivity": Sensitivity(**sensitivity),
                "epsilon": Fraction(data["epsilon"]),
                "delta": None if data["delta"] is None else Fraction(data["delta"]),
                "shape": shape_from_dict(data["shape"]) if "shape" in data else None,
                "minimise": objective(data["minimise"]) if "minimise" in data else PLAIN,
                "pool_share": Fraction(data["pool_share"]) if "pool_share" in data else None,
                "guess": tuple(data["guess"]) if "guess" in data else None,
            }
        )


@dataclass(frozen=True)
class Epoch:
    """A stretch of steps with its own factorisation and its own noise, all drawn at its start.

    Attributes:
        factorisation: what is measured, and how it is decoded.
        law: of each integer of noise.
        cut: after how many steps it was left permanently; None if it goes to its end. What follows
            begins with the noise of its last release, as that was rounded.
    """

    factorisation: Factorisation
    law: NoiseLaw
    cut: int | None = None

    @property
    def steps(self) -> int:
        """How many steps it has."""
        return self.factorisation.steps if self.cut is None else self.cut

    @property
    def resumes(self) -> bool:
        """Whether the noise of its later steps can be drawn anew, given that of the earlier."""
        return isinstance(self.law, JointLaw)

    @property
    def single_law(self) -> Law:
        """The law of each of its noises, where these are independent."""
        assert isinstance(self.law, Law), "a law is joint or of single integers"
        return self.law

    @property
    def joint_law(self) -> JointLaw:
        """The law of all its noises together, where these are not independent."""
        assert isinstance(self.law, JointLaw), "a law is joint or of single integers"
        return self.law

    def joint_variances(self, law: JointLaw) -> Iterator[float]:
        """The variance at each step, where the noise is of a joint law: of whole numbers."""
        for place in range(self.steps):
            yield law.variance(np.rint(self.factorisation.single_row(place)).astype(np.int64))

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        cut = {} if self.cut is None else {"cut": self.cut}
        return {"law": self.law.to_dict(), "factorisation": self.factorisation.to_dict()} | cut

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Epoch:
        """The epoch that `to_dict` wrote."""
        return cls(
            factorisation.from_dict(data["factorisation"]),
            _law_from_dict(data["law"]),
            data.get("cut"),
        )


def _law_from_dict(data: Mapping[str, str]) -> NoiseLaw:
    return joint_law_from_dict(data) if data["kind"] in JOINT_LAWS else law_from_dict(data)


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
        follows: whether it counts links at thresholds that follow what was published.
        proof: where its privacy proof is written.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    measured: ClassVar[Measured] = Measured.DIFFERENCES
    pure: ClassVar[bool] = True
    needs_horizon: ClassVar[bool] = True
    whole: ClassVar[bool] = False
    follows: ClassVar[bool] = False
    proof: ClassVar[str]

    def refusal(self, request: Request) -> str | None:
        """Why this mechanism does not admit the request, or None if it does."""
        if request.recent != (self.measured is Measured.RECENT):
            return (
                "is for people who stay: in a recent network they leave again"
                if request.recent
                else "is for recent networks: give a window"
            )
        if self.follows != (request.guess is not None):
            return (
                "needs a threshold that follows: projection=follow:LINKS"
                if self.follows
                else "counts at one threshold, not at one that follows"
            )
        if self.needs_horizon and request.horizon is None:
            return "needs a known horizon"
        if self.pure == (request.delta is not None):
            return "is pure ε: leave δ out" if self.pure else "needs a δ"
        if self.pure and request.pool_share is not None:
            return "has an ε of its own: only Gaussian noise shares a pool"
        if self.projects and not self.follows and request.projected_l1 is None:
            return "has no known sensitivity after projection for this statistic"
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

    def unit(self, request: Request, epoch: Epoch, place: int) -> float:
        """What a noise of 1 is expected to be in a release: 1, unless thresholds follow."""
        return 1.0

    @abstractmethod
    def epoch(self, request: Request, number: int) -> Epoch | None:
        """The epoch with this number, from 0 on; None after the last one.

        Deterministic, so that a series of unknown length can be continued for years.
        """


Member = TypeVar("Member", bound=type[Mechanism])
_REGISTRY: Registry[Mechanism] = Registry(
    "mechanism", "graphveil.mechanisms", group="graphveil.mechanisms"
)


def register(member: Member) -> Member:
    """Enter a mechanism under its name."""
    _REGISTRY.enter(member.name, member())
    return member


def registered() -> dict[str, Mechanism]:
    """Every mechanism by name; each module of this package is one place to look."""
    return _REGISTRY.members()


def plug_in(name: str) -> PlugIn | None:
    """The distribution that defines a mechanism; None if this package does."""
    return _REGISTRY.plug_in(name)


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
