"""Totals: every total is measured as it is, for noise that is made for all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.deferred import np
from graphveil.factorisations.factorisation import Factorisation, register

if TYPE_CHECKING:
    from numpy.typing import NDArray


@register
@dataclass(frozen=True)
class Totals(Factorisation):
    """C = A, B = I: what is measured is what is published."""

    length: int

    kind = "totals"

    @property
    def steps(self) -> int:
        """How many steps the epoch has."""
        return self.length

    @property
    def measurements(self) -> int:
        """One per step."""
        return self.length

    def strategy(self) -> NDArray[np.int64]:
        """C as a dense matrix."""
        return np.tril(np.ones((self.length, self.length), dtype=np.int64))

    def column_l1(self) -> int:
        """A change at the first step is in every total."""
        return self.length

    def column_l2_squared(self) -> int:
        """As `column_l1`, since the entries are 0 and 1."""
        return self.length

    def decoder(self) -> NDArray[np.float64]:
        """B as floats."""
        return np.eye(self.length)

    def combined_row(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """The coefficients themselves."""
        return coefficients

    def integral_steps(self) -> NDArray[np.bool_]:
        """All of them."""
        return np.ones(self.length, dtype=bool)

    def decode(self, noise: Sequence[int]) -> list[Fraction]:
        """The noise itself."""
        return [Fraction(each) for each in noise]

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return {"kind": self.kind, "steps": self.steps}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Totals:
        """What `to_dict` gave."""
        return cls(data["steps"])
