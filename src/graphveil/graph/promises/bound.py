"""The degree bound: the public promise on which every sensitivity rests.

A bound comes from knowledge of the population, never from the data at hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

from graphveil.deferred import np
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Direction: TypeAlias = Literal["total", "out", "in"]
NodeDegrees: TypeAlias = "NDArray[np.integer]"


BoundLike: TypeAlias = "Bound | int | tuple[int, int]"


def as_bound(given: BoundLike) -> Bound:
    """A bound, or the one that a number means; two are for links to and from a person."""
    if isinstance(given, Bound):
        return given
    if isinstance(given, tuple | list):
        if len(given) != 2:
            raise ParameterError("bound", "is one number, or two for links to and from a person")
        return InOutBound(*given)
    return DegreeBound(given)


def _require_positive(parameter: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(parameter, f"must be a whole number of at least 1, not {value!r}")


class Bound(ABC):
    """What is promised about everybody's links, at every step.

    A formula that is proved for one promise says nothing about another. Hence a promise that
    leaves somebody's links unlimited must refuse `limit`, not answer with a large number.
    """

    @property
    @abstractmethod
    def directed(self) -> bool:
        """Whether it speaks of directed sequences."""

    @abstractmethod
    def limit(self, direction: Direction) -> int:
        """The most links of one direction, or in total, that anybody has.

        An undirected link is an out-link and an in-link of both its ends at once.
        """

    @property
    def counted(self) -> Bound:
        """The degree bound that holds of what is counted under this promise."""
        return self

    @property
    def checked(self) -> bool:
        """Whether records that break it are refused; numbers then hold for all that are not."""
        return True

    @property
    @abstractmethod
    def reciprocal(self) -> bool:
        """Whether u→v and v→u may occur together, as two edges."""

    @property
    @abstractmethod
    def limits(self) -> tuple[int, ...]:
        """The numbers of the promise, as users give them."""

    @property
    @abstractmethod
    def brief(self) -> str:
        """The promise in a table's cell."""

    @property
    @abstractmethod
    def in_words(self) -> str:
        """What a person has, for readers of what is published: "at most 15 links"."""

    @abstractmethod
    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """Whether these degrees keep the promise, whoever is linked to whom.

        An undirected graph has equal ones outward and inward.
        """

    @abstractmethod
    def wider(self, by: int) -> Bound:
        """The same promise with every limit raised."""

    @abstractmethod
    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """What graphs of this kind can be projected to: each limit at each of its `levels`."""

    @property
    def kind(self) -> str:
        """The graphs that it speaks of, in a word."""
        if not self.directed:
            return "undirected"
        return "directed" if self.reciprocal else "oriented"

    @property
    def assumption(self) -> str:
        """The assumption under which numbers for this bound hold, as a sentence."""
        text = f"every node has {self}, at every step"
        return f"{text}; reciprocal edges may occur" if self.reciprocal else text


@dataclass(frozen=True)
class DegreeBound(Bound):
    """Every node of an undirected sequence has at most `degree` links, at every step.

    Examples:
        >>> DegreeBound(15).in_words
        'at most 15 links'
    """

    degree: int

    directed = False
    reciprocal = False

    def __post_init__(self) -> None:
        _require_positive("bound", self.degree)

    def limit(self, direction: Direction) -> int:
        """One number for all: an undirected link has no direction."""
        return self.degree

    @property
    def limits(self) -> tuple[int]:
        """D alone."""
        return (self.degree,)

    @property
    def brief(self) -> str:
        """D alone."""
        return str(self.degree)

    @property
    def in_words(self) -> str:
        """As in "at most 15 links"."""
        return f"at most {self.degree:,} links"

    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """Whether nobody has more than D links."""
        return _within(outward, self.degree)

    def wider(self, by: int) -> DegreeBound:
        """D raised."""
        return DegreeBound(self.degree + by)

    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """A threshold per level."""
        return [DegreeBound(level) for level in levels(self.degree)]

    def __str__(self) -> str:
        return f"degree at most {self.degree}"


@dataclass(frozen=True)
class InOutBound(Bound):
    """Every node of a directed sequence has at most `inward` in- and `outward` out-links.

    `oriented` declares that u→v and v→u never occur together; a sequence declared so
    refuses reciprocal edges. Without the declaration they belong to the domain.

    Examples:
        >>> print(InOutBound(inward=3, outward=10))
        in-degree at most 3, out-degree at most 10
    """

    inward: int
    outward: int
    oriented: bool = False

    directed = True

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

    def limit(self, direction: Direction) -> int:
        """Din, Dout, or both together."""
        return {"in": self.inward, "out": self.outward}.get(direction, self.inward + self.outward)

    @property
    def reciprocal(self) -> bool:
        """Unless the promise excludes them."""
        return not self.oriented

    @property
    def limits(self) -> tuple[int, int]:
        """Din and Dout."""
        return self.inward, self.outward

    @property
    def brief(self) -> str:
        """As in "in 3, out 4"."""
        return f"in {self.inward}, out {self.outward}"

    @property
    def in_words(self) -> str:
        """As in "at most 3 incoming and 4 outgoing links"."""
        both = f"at most {self.inward:,} incoming and {self.outward:,} outgoing links"
        return f"{both}, never both ways between two people" if self.oriented else both

    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """Whether nobody has more than Dout out-links or Din in-links."""
        return _within(outward, self.outward) and _within(inward, self.inward)

    def wider(self, by: int) -> InOutBound:
        """Din and Dout raised."""
        return replace(self, inward=self.inward + by, outward=self.outward + by)

    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """A threshold per pair of levels; a projection takes away no reciprocal edges."""
        return [InOutBound(*pair) for pair in product(levels(self.inward), levels(self.outward))]

    def __str__(self) -> str:
        text = f"in-degree at most {self.inward}, out-degree at most {self.outward}"
        return f"{text}, oriented" if self.oriented else text


def _within(degrees: NodeDegrees, most: int) -> bool:
    return len(degrees) == 0 or int(degrees.max()) <= most
