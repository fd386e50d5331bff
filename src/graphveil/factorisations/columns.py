"""Columns of an integer matrix: how far apart they lie, without forming all differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from graphveil.deferred import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


Integers: TypeAlias = "NDArray[np.int64]"

MOST_ENTRIES = 2**22  # of a block of differences that is held in memory at a time
LARGEST = 2**62  # sums up to here are exact in 64 bits


@dataclass(frozen=True, eq=False)
class Dense:
    """Any integer matrix, as a shape of changes looks at it."""

    matrix: Integers

    def column_l1(self) -> int:
        """The largest column sum of |C|."""
        return int(np.abs(self.matrix).sum(axis=0).max())

    def pair_l1(self, rises: int, falls: int) -> int:
        """The largest of ‖rises·c_s − falls·c_t‖₁, s ≠ t, and of either alone."""
        none = np.zeros(self.matrix.shape[1], dtype=np.int64)
        return farthest_pair(none, self.matrix, rises, falls, self.column_l1())


def farthest_pair(diagonal: Integers, rows: Integers, rises: int, falls: int, longest: int) -> int:
    """The largest ‖rises·c_s − falls·c_t‖₁ over s ≠ t, and over one of the two alone.

    Where whole numbers of 64 bits could overflow, the sum of the norms, which bounds it.

    Args:
        diagonal: what c_s alone has at its own place, never negative; zeros if there is none.
        rows: the other entries of C.
        rises: how often the first column is taken.
        falls: how often the second one is.
        longest: the largest L1 norm of a column.
    """
    alone, most = max(rises, falls) * longest, (rises + falls) * longest
    if most == alone or len(diagonal) < 2:
        return alone
    if most > LARGEST:
        return most
    # Steps of a long horizon share columns: equal ones are looked at once.
    stacked = np.vstack([diagonal, rows])
    found, often = np.unique(stacked, axis=1, return_counts=True)
    columns = _Distinct(found[0], found[1:], often == 1)
    size = max(1, MOST_ENTRIES // len(often))
    firsts = range(0, len(often), size)
    return max(alone, *(columns.farthest(rises, falls, slice(i, i + size)) for i in firsts))


class _Distinct(NamedTuple):
    """The different columns of a matrix.

    Attributes:
        diagonal: what each has at its own place.
        rows: its other entries.
        single: whether only one step has it, so that it is not apart from itself.
    """

    diagonal: Integers
    rows: Integers
    single: NDArray[np.bool_]

    def farthest(self, rises: int, falls: int, here: slice) -> int:
        """The largest distance of a few first columns from all second ones."""
        apart = rises * self.diagonal[here, None] + falls * self.diagonal
        for row in self.rows:
            apart += np.abs(rises * row[here, None] - falls * row)
        same = np.arange(len(self.diagonal))[here]
        apart[np.arange(len(same)), same] *= ~self.single[here]
        return int(apart.max())
