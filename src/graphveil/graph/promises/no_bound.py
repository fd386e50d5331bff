"""No promise at all: nothing is said about anybody's links, and nothing can be broken.

What is published then must not depend on a bound: counts of a projected graph, whose threshold does
what a promise would do, and counts that nobody's links can change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from graphveil.errors import ParameterError
from graphveil.graph.promises.bound import Bound, Direction, NodeDegrees


@dataclass(frozen=True)
class NoBound(Bound):
    """Everybody may have any number of links.

    Attributes:
        links: of which kind the sequences are.

    Examples:
        >>> NoBound().in_words
        'any number of links'
    """

    links: Literal["undirected", "directed"] = "undirected"

    checked = False
    limits = ()
    brief = "none"
    in_words = "any number of links"
    assumption = "nothing: it holds for every network"

    @property
    def directed(self) -> bool:
        """As was said."""
        return self.links == "directed"

    @property
    def reciprocal(self) -> bool:
        """Nothing forbids them where there are two directions."""
        return self.directed

    def limit(self, direction: Direction) -> int:
        """Refused: there is none."""
        raise ParameterError("bound", "is needed: without one, one person could change everything")

    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """By every graph."""
        return True

    def wider(self, by: int) -> NoBound:
        """Nothing is wider."""
        return self

    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """None that would follow from it."""
        return []

    def __str__(self) -> str:
        return "no bound"
