"""The degree bound: the public promise on which every sensitivity rests.

A bound comes from knowledge of the population, never from the data at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from graphveil.errors import ParameterError


def _require_positive(parameter: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(parameter, f"must be a whole number of at least 1, not {value!r}")


@dataclass(frozen=True)
class DegreeBound:
    """Every node of an undirected sequence has at most `degree` links, at every step."""

    degree: int

    def __post_init__(self) -> None:
        _require_positive("bound", self.degree)

    def __str__(self) -> str:
        return f"degree at most {self.degree}"


@dataclass(frozen=True)
class InOutBound:
    """Every node of a directed sequence has at most `inward` in- and `outward` out-links.

    `oriented` declares that u→v and v→u never occur together; a sequence declared so
    refuses reciprocal edges. Without the declaration they belong to the domain.
    """

    inward: int
    outward: int
    oriented: bool = False

    def __post_init__(self) -> None:
        _require_positive("in-bound", self.inward)
        _require_positive("out-bound", self.outward)

    @property
    def smaller(self) -> int:
        """The paper-independent shorthand m = min(Din, Dout)."""
        return min(self.inward, self.outward)

    @property
    def larger(self) -> int:
        """The shorthand M = max(Din, Dout)."""
        return max(self.inward, self.outward)

    def __str__(self) -> str:
        text = f"in-degree at most {self.inward}, out-degree at most {self.outward}"
        return f"{text}, oriented" if self.oriented else text


Bound: TypeAlias = DegreeBound | InOutBound
