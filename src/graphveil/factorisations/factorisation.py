"""Factorisations A = B·C: what is measured, and how estimates are made of it.

A is the matrix of prefix sums. The difference sequence x of one epoch is measured as
C·x + z, with integer C and integer noise z; the estimates are B·(C·x + z) = A·x + B·z.
B is held exactly, as fractions with B·C = A, so that adding the rounded noise to the exact
count gives just what rounding the decoded measurement would give
(`docs/mechanisms.md#rounding-to-a-grid-keeps-everything-exact`). All denominators are odd:
then no estimate ever falls halfway between two whole numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from graphveil.deferred import np
from graphveil.factorisations.columns import Dense
from graphveil.registry import Registry

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Factorisation(ABC):
    """One epoch's pair of matrices, in a form that need not be dense.

    Attributes:
        kind: what this form is called where it is stored.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many steps the epoch has."""

    @property
    @abstractmethod
    def measurements(self) -> int:
        """How many rows C has: how many integers of noise are drawn."""

    @abstractmethod
    def strategy(self) -> NDArray[np.int64]:
        """C, (measurements, steps), as a dense matrix: for checks and simulation."""

    @abstractmethod
    def column_l1(self) -> int:
        """The largest column sum of |C|: by how much C stretches L1 distances."""

    @abstractmethod
    def column_l2_squared(self) -> int:
        """The largest column sum of squares of C."""

    def pair_l1(self, rises: int, falls: int) -> int:
        """The largest of ‖rises·c_s − falls·c_t‖₁, s ≠ t, ‖rises·c_s‖₁ and ‖falls·c_t‖₁."""
        return Dense(self.strategy()).pair_l1(rises, falls)

    @abstractmethod
    def decoder(self) -> NDArray[np.float64]:
        """B, (steps, measurements), as floats: for prediction and simulation."""

    @abstractmethod
    def decode(self, noise: Sequence[int]) -> list[Fraction]:
        """B·z exactly, one per step."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data to store, with the kind in it."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Factorisation:
        """What `to_dict` gave."""

    def decoder_squares(self) -> NDArray[np.float64]:
        """The squared length of each row of B, one per step."""
        return np.asarray((self.decoder() ** 2).sum(axis=1))

    def combined_row(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ coefficient·row of B: the weights of the noises in a combination of the steps."""
        return np.asarray(coefficients @ self.decoder())

    def single_row(self, place: int) -> NDArray[np.float64]:
        """One row of B; −1 is the last, which is what an epoch leaves to those that follow."""
        coefficients = np.zeros(self.steps)
        coefficients[place] = 1.0
        return self.combined_row(coefficients)

    def span_row(self, place: int, reach: int) -> NDArray[np.float64]:
        """The weights of the noises in what is new over the `reach` steps up to one."""
        row = self.single_row(place)
        return row - self.single_row(place - reach) if place >= reach else row

    def integral_steps(self) -> NDArray[np.bool_]:
        """At which steps the decoded noise is always a whole number, so nothing is rounded."""
        decoder = self.decoder()
        return np.asarray((decoder == np.rint(decoder)).all(axis=1))


Member = TypeVar("Member", bound=type[Factorisation])
_REGISTRY: Registry[type[Factorisation]] = Registry("factorisation", "graphveil.factorisations")


def register(member: Member) -> Member:
    """Enter a form under its kind, so that what was stored can be read back."""
    _REGISTRY.enter(member.kind, member)
    return member


def from_dict(data: Mapping[str, Any]) -> Factorisation:
    """The factorisation whose `to_dict` gave this."""
    return _REGISTRY.named(data["kind"]).from_dict(data)
