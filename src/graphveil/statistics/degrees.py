"""What statistics of degrees share: whose degree a person raises, and by how much."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import ClassVar

from graphveil.errors import BoundError
from graphveil.graph.promises import Bound, Direction
from graphveil.statistics.relations import Known, Relation
from graphveil.statistics.statistic import Domain, Statistic
from graphveil.statistics.tallies import DegreeReach, DegreeTally


@dataclass(frozen=True)
class Reach:
    """What a person, or an edge, can do to the degrees that a statistic looks at.

    Attributes:
        touched: how many other nodes a person's edges can raise, each by one.
        highest: the highest degree that the bound admits.
        ends: how many endpoints of an edge it raises, each by one.
        tied: whether each edge that raises another node also raises the person.
    """

    touched: int
    highest: int
    ends: int
    tied: bool


@dataclass(frozen=True)
class DegreeStatistic(Statistic, ABC):
    """A statistic of the degrees in one direction: of all links, out- or in-links.

    Attributes:
        direction: which links make the degree.
    """

    direction: ClassVar[Direction]

    def tally(self) -> DegreeTally:
        """Which degrees are first reached at each step."""
        return DegreeTally(self.direction)

    def reach(self, bound: Bound) -> Reach:
        """Whom a person touches under `bound`; refuses a bound of the wrong kind."""
        if self.domain is Domain.UNDIRECTED:
            degree = self.require_undirected(bound).degree
            return Reach(touched=degree, highest=degree, ends=2, tied=True)
        limits = self.require_directed(bound)
        touched = limits.limit("out" if self.direction == "in" else "in")
        return Reach(touched, limits.limit(self.direction), ends=1, tied=False)

    def relations(self, known: Known) -> Iterator[Relation]:
        """More links, fewer people."""
        return known.ordered(self.direction)

    def width(self, bound: Bound) -> int:
        """A vector has one number per degree from 0 to the highest within `bound`."""
        return self.reach(bound).highest + 1 if self.vector else 1

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """The parameters, then whether links are counted where they end."""
        return (*astuple(self), int(self.direction == "in"))


class OfTotalDegrees(DegreeStatistic, ABC):
    """Of all links of a node, in an undirected graph."""

    domain = Domain.UNDIRECTED
    direction = "total"
    advice = (
        "On a directed graph use the out- or in-degree version, or read the graph as undirected."
    )


class OfOutDegrees(DegreeStatistic, ABC):
    """Of the links from a node, in a directed graph."""

    domain = Domain.DIRECTED
    direction = "out"
    advice = "On an undirected graph use the version without 'out-' or 'in-'."


class OfInDegrees(DegreeStatistic, ABC):
    """Of the links to a node, in a directed graph."""

    domain = Domain.DIRECTED
    direction = "in"
    advice = OfOutDegrees.advice


def highest_column(tallied: DegreeReach, width: int | None) -> int:
    """The last degree that a table shows; refuses data beyond the promised width."""
    highest = tallied.highest()
    if width is None:
        return highest
    if highest >= width:
        raise BoundError(
            "the sequence breaks its promised degree bound, so no sensitivity holds for it. "
            "That this happened is private: it must not be published, nor anything counted here."
        )
    return width - 1
