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
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from graphveil.deferred import np
from graphveil.registry import Registry

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Columns of an integer matrix: how far apart they lie, without forming all differences.


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
    def measurements(self) -> int:
        """How many rows C has, so how many integers of noise are drawn: one per step, as a rule."""
        return self.steps

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
        """One row of B; −1 is the last, whose noise is carried over to later epochs."""
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
_REGISTRY: Registry[type[Factorisation]] = Registry(
    "factorisation", "graphveil.mechanisms.factorisations"
)


def register(member: Member) -> Member:
    """Enter a form under its kind, so that what was stored can be read back."""
    _REGISTRY.enter(member.kind, member)
    return member


def from_dict(data: Mapping[str, Any]) -> Factorisation:
    """The factorisation whose `to_dict` gave this."""
    return _REGISTRY.named(data["kind"]).from_dict(data)


# Totals: every total is measured as it is, for noise that is made for all of them together.


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


@register
@dataclass(frozen=True)
class Questions(Totals):
    """Totals, and some questions to spare: which of them are asked, earlier answers decide.

    The noises are exchangeable, so that a release may be taken to have the one of its place.
    """

    spare: int = 0

    kind = "questions"

    @property
    def measurements(self) -> int:
        """One per step, and the spare ones."""
        return self.length + self.spare

    def strategy(self) -> NDArray[np.int64]:
        """C as a dense matrix; a question to spare may ask for any total, here for the last."""
        last = np.ones((self.spare, self.length), dtype=np.int64)
        return np.vstack([super().strategy(), last])

    def column_l1(self) -> int:
        """A change at the first step is in every answer."""
        return self.measurements

    def column_l2_squared(self) -> int:
        """As `column_l1`, since the entries are 0 and 1."""
        return self.measurements

    def decoder(self) -> NDArray[np.float64]:
        """B as floats."""
        return np.eye(self.length, self.measurements)

    def combined_row(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """The coefficients themselves, and nothing of the spare ones."""
        return np.append(coefficients, np.zeros(self.spare))

    def decode(self, noise: Sequence[int]) -> list[Fraction]:
        """The noise of each place."""
        return super().decode(noise[: self.length])

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return super().to_dict() | {"spare": self.spare}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Questions:
        """What `to_dict` gave."""
        return cls(data["steps"], data["spare"])
