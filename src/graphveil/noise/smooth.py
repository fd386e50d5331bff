"""A smooth function at many evenly spaced places, from its values at a few.

From any place to twice as far, what is smooth there is hardly anything but a polynomial: one
through `NODES` places, chosen as Chebyshev did, finds all others. A function that is smooth but on
a line through 0, as the logarithm of 1 + x² is, is found to 5.8 ** −NODES of its size; and no worse
if there is anything else from 2 times the end on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from graphveil.deferred import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"

NODES = 24
SHORTEST, LONGEST = 64, 1024  # pieces: a shorter one takes as long by itself, see `Piece.filled`


@dataclass(frozen=True)
class Piece:
    """Some of the places 1, 2 and so on.

    Attributes:
        begin: the first of them.
        length: how many it has, or would have if there were no last place.
        stop: where it is cut off.
    """

    begin: int
    length: int
    stop: int

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.begin + self.length

    @property
    def filled(self) -> bool:
        """Whether it ends within twice its begin, so that a few places are enough."""
        return self.length <= self.begin

    def places(self) -> Floats:
        """All of them."""
        return np.arange(self.begin, min(self.end, self.stop), dtype=np.float64)

    def nodes(self) -> Floats:
        """The few from which all others follow, in order."""
        return np.asarray(self.begin + self.length * (_nodes() + 1) / 2)

    def fill(self, at_nodes: Floats) -> Floats:
        """The values at all places, from those at the nodes."""
        weights = _weights(self.length)[: self.stop - self.begin]
        found = np.einsum("pn,n->p", weights, at_nodes)  # too little work for several threads
        return np.asarray(found)


def pieces(number: int) -> Iterator[Piece]:
    """The places from 1 up to a number, in order."""
    begin, length = 1, SHORTEST - 1
    while begin <= number:
        yield Piece(begin, length, number + 1)
        begin += length
        length = min(begin, LONGEST)


@lru_cache(maxsize=1)
def _nodes() -> Floats:
    return np.polynomial.chebyshev.chebpts1(NODES)


@lru_cache(maxsize=16)
def _weights(length: int) -> Floats:
    """How values at the nodes make up those at so many places, of which the first is at −1."""
    polynomials = np.polynomial.chebyshev.chebvander
    coefficients = polynomials(_nodes(), NODES - 1).T * (2 / NODES)
    coefficients[0] /= 2
    places = 2 * np.arange(length) / length - 1
    return np.asarray(polynomials(places, NODES - 1) @ coefficients)
