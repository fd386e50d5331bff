"""What one person can change: the numbers to which noise is calibrated, and the shape of a change.

Γ is only the L1 norm of the change d. How its rises and falls are divided decides what it
costs to measure d through a matrix C: the cost, max ‖C·d‖₁ over the shape, is what noise has
to hide (`docs/sensitivities.md#shapes`). Range and box are shapes of totals instead, for
counts of the projected graph, and so is what one person does to a recent network.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from graphveil.graph.promises import Bound

Measure: TypeAlias = Literal["l1", "static_l1", "l2_squared", "edge_l1", "variation_squared"]

EVERY_MEASURE: frozenset[Measure] = frozenset(("l1", "static_l1", "l2_squared", "edge_l1"))
PROOFS = "docs/sensitivities.md"
PARTS = 2**10  # of a threshold that follows, in which its counts are measured
EVERY_STATIC: frozenset[Literal["l1", "l2_squared", "edge_l1"]] = frozenset(
    ("l1", "l2_squared", "edge_l1")
)


@dataclass(frozen=True)
class Sensitivity:
    """How far one person can move a statistic, under a degree bound.

    Every number is a proven upper bound. Those named in `exact_for` are also reached by
    some pair of neighbouring sequences, so that no smaller number would be private.

    Attributes:
        l1: Γ, the L1 distance of the whole difference sequences of neighbours; of a recent
            network, in which people are counted for some steps only, that of all its values.
        static_l1: the L1 distance of one release, f(G_t), of neighbours.
        l2_squared: the square of the L2 distance of what `l1` is about, rounded up.
        edge_l1: as `l1`, for sequences that differ in one edge instead of one person.
        exact_for: the measures above that some pair of neighbours reaches.
        variation: over all numbers of a release, the sum of (all rises)² + (all falls)², where
            the rises are the positive entries of the distance at any step, added up, and the
            falls the negative ones; None where no better is known than Γ². Correlated
            Gaussian noise needs it (`docs/mechanisms.md#gaussian-noise`).
        paper: the value that the paper states for `l1`, where it states one.
        assumption: what must hold for these numbers to be true.
        proof: where the proof is written.

    Examples:
        >>> found = statistic("high-degree", tau=3).sensitivity(DegreeBound(15))
        >>> found.l1, found.exact
        (31, True)
    """

    l1: int
    static_l1: int
    l2_squared: int
    edge_l1: int
    exact_for: frozenset[Measure]
    assumption: str
    proof: str
    paper: int | None = None
    variation: int | None = None

    @property
    def exact(self) -> bool:
        """Whether some pair of neighbours reaches `l1`."""
        return "l1" in self.exact_for

    @property
    def variation_squared(self) -> int:
        """`variation`, or the square of `l1`, which bounds it."""
        return self.l1**2 if self.variation is None else self.variation

    @property
    def l2(self) -> float:
        """The L2 distance as a number for display; compute with `l2_squared`."""
        return sqrt(self.l2_squared)


@dataclass(frozen=True)
class StaticChange:
    """How far one person can move one release, f(G), of a graph within a degree bound.

    Attributes:
        l1: the L1 distance; the `static_l1` of a `Sensitivity`.
        l2_squared: the square of the L2 distance.
        edge_l1: the L1 distance where one edge is missing instead of one person.
        span: from the farthest fall to the farthest rise that a person can make in different
            releases; at most `l1` where there are only rises.
        edge_span: the same for one edge.
        exact_for: the measures that some pair of graphs reaches.
        one_way: whether persons and edges can only raise the numbers.
    """

    l1: int
    l2_squared: int
    edge_l1: int
    span: int
    edge_span: int
    exact_for: frozenset[Literal["l1", "l2_squared", "edge_l1"]]
    one_way: bool = False

    @classmethod
    def rising(cls, l1: int, edge_l1: int, *, l2_squared: int | None = None) -> StaticChange:
        """That of numbers, or of one number, that can only rise; exact in every measure."""
        squared = l1**2 if l2_squared is None else l2_squared
        return cls(l1, squared, edge_l1, l1, edge_l1, EVERY_STATIC, one_way=True)


def sensitivity_of_copies(
    through_node: int,
    through_edge: int,
    bound: Bound,
    *,
    anchor: str,
    exact: bool = True,
    paper: int | None = None,
) -> Sensitivity:
    """The sensitivity of a count of copies of one connected subgraph.

    Args:
        through_node: the most copies that can run through one node.
        through_edge: the most copies that can run through one edge.
        bound: the degree bound under which that holds.
        anchor: the heading of the proof that there are at most so many copies.
        exact: whether some graph has that many copies, through a node and through an edge.
        paper: what the paper states for the node.

    Guarantees:
        Copies only accumulate, and a copy without the person appears at the same step in
        both sequences, so only copies through the person count; they may all appear
        at once. Proof: docs/sensitivities.md#copies.
    """
    return Sensitivity(
        l1=through_node,
        static_l1=through_node,
        l2_squared=through_node**2,
        edge_l1=through_edge,
        exact_for=EVERY_MEASURE if exact else frozenset(),
        assumption=bound.assumption,
        proof=f"{PROOFS}#{anchor}",
        paper=paper,
    )


class Columns(Protocol):
    """What a shape asks of a matrix C; c_s is its column of step s."""

    def column_l1(self) -> int:
        """The largest ‖c_s‖₁."""

    def pair_l1(self, rises: int, falls: int) -> int:
        """The largest of ‖rises·c_s − falls·c_t‖₁, s ≠ t, ‖rises·c_s‖₁ and ‖falls·c_t‖₁."""


class Shape(ABC):
    """A set of changes d of a difference sequence, of any length.

    Attributes:
        kind: what it is called where it is stored.
    """

    kind: ClassVar[str]

    @abstractmethod
    def cost(self, matrix: Columns) -> int:
        """The largest ‖C·d‖₁ over all d of this shape, summed over the numbers of a release."""

    @abstractmethod
    def words(self) -> str:
        """What one person can do, in plain words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data to store, with the kind in it."""


@dataclass(frozen=True)
class Mass(Shape):
    """‖d‖₁ ≤ total, in any way."""

    total: int

    kind = "mass"

    def cost(self, matrix: Columns) -> int:
        """All of it at the step that C stretches most."""
        return self.total * matrix.column_l1()

    def words(self) -> str:
        """What one person can do, in plain words."""
        return f"changes of {self.total:,} in all, at any steps"

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return {"kind": self.kind, "total": self.total}


@dataclass(frozen=True)
class Moves(Shape):
    """The rises of d add up to at most `rises`, and its falls to at most `falls`.

    So it consists of min(rises, falls) moves from one step to another, or halves of moves,
    and of further rises, or falls, of its own.
    """

    rises: int
    falls: int

    kind = "moves"

    def cost(self, matrix: Columns) -> int:
        """All rises at one step and all falls at another: a corner, where a norm is largest."""
        return matrix.pair_l1(self.rises, self.falls)

    def words(self) -> str:
        """What one person can do, in plain words."""
        moves, own = min(self.rises, self.falls), abs(self.rises - self.falls)
        alone = _number(own, "rise" if self.rises > self.falls else "fall")
        if not moves:
            return f"up to {alone}, at any steps"
        besides = f", and {alone} besides" if own else ""
        return f"up to {_number(moves, 'move')} from one step to another{besides}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return {"kind": self.kind, "rises": self.rises, "falls": self.falls}


@dataclass(frozen=True)
class Bins(Shape):
    """A vector: each number of a release has rises and falls of its own.

    Attributes:
        bins: number by number.
        loose: how many entries of one more are besides, in any numbers and at any steps.
    """

    bins: tuple[Moves, ...]
    loose: int = 0

    kind = "bins"

    def cost(self, matrix: Columns) -> int:
        """The sum over the numbers, as if one person could do its worst to each."""
        distinct = {each: each.cost(matrix) for each in set(self.bins)}
        besides = self.loose * matrix.column_l1() if self.loose else 0
        return sum(distinct[each] for each in self.bins) + besides

    def words(self) -> str:
        """What one person can do, in plain words."""
        most = max(self.bins, key=lambda each: each.rises + each.falls)
        besides = f", and {_number(self.loose, 'change')} of any of them" if self.loose else ""
        return f"in each of {len(self.bins)} numbers {most.words()}{besides}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        bins = [[each.rises, each.falls] for each in self.bins]
        return {"kind": self.kind, "bins": bins} | ({"loose": self.loose} if self.loose else {})


@dataclass(frozen=True)
class Cells(Shape):
    """A table of cells: each object that one person changes is in one of them, for ever.

    Attributes:
        moves: how many objects go from one step to another, each within its cell.
        alone: how many entries of one are besides, in any cells and at any steps.
    """

    moves: int
    alone: int

    kind = "cells"

    @property
    def mass(self) -> int:
        """Γ: what all of it comes to."""
        return 2 * self.moves + self.alone

    def times(self, number: int) -> Cells:
        """The same where every object counts so often."""
        return Cells(number * self.moves, number * self.alone)

    def cost(self, matrix: Columns) -> int:
        """The sum over the objects, since none of them has to meet another in its cell."""
        moved = self.moves * matrix.pair_l1(1, 1) if self.moves else 0
        return moved + self.alone * matrix.column_l1()

    def words(self) -> str:
        """What one person can do, in plain words."""
        alone = f"{_number(self.alone, 'change')} at any steps, in any cells"
        if not self.moves:
            return f"up to {alone}"
        return f"up to {_number(self.moves, 'move')} from one step to another within cells, {alone}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return {"kind": self.kind, "moves": self.moves, "alone": self.alone}


@dataclass(frozen=True)
class Recent(Shape):
    """Changes of the values of a recent network: of up to `height` in all, each passing by.

    The person, and with hubs each lost link of somebody else, changes the values of at most
    `window` steps in a row, and together they change one value by at most `height`.

    Attributes:
        window: for how many steps somebody is counted.
        height: what all these changes come to where they meet.
        span: the sum, over them, of the distance from the lowest to the highest value of each; at
            most `height` where each of them only raises values, or only lowers them.
    """

    window: int
    height: int
    span: int

    kind = "recent"

    def cost(self, matrix: Columns) -> int:
        """Of measuring values, not differences: all of it at the steps that C stretches most."""
        return self.window * self.height * matrix.column_l1()

    def words(self) -> str:
        """What one person can do, in plain words."""
        steps = "one release" if self.window == 1 else f"no more than {self.window:,} in a row"
        return f"changes of {self.height:,} in a release, each of them in {steps}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        sizes = {"window": self.window, "height": self.height, "span": self.span}
        return {"kind": self.kind} | sizes


@dataclass(frozen=True)
class TotalsShape:
    """Every total changes by at most `height`, and may go up and down as often as it likes.

    Attributes:
        height: how far one total can be apart.
        rising: whether the person can only make it larger: a range; otherwise a box.
    """

    height: int
    rising: bool

    def words(self) -> str:
        """What one person can do, in plain words."""
        sides = "0 to" if self.rising else f"−{self.height:,} to"
        return f"every total changes by {sides} {self.height:,}, anew at every step"


def _number(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def shape_from_dict(data: Mapping[str, Any]) -> Shape:
    """The shape whose `to_dict` gave this."""
    if data["kind"] == Mass.kind:
        return Mass(data["total"])
    if data["kind"] == Moves.kind:
        return Moves(data["rises"], data["falls"])
    if data["kind"] == Cells.kind:
        return Cells(data["moves"], data["alone"])
    if data["kind"] == Recent.kind:
        return Recent(data["window"], data["height"], data["span"])
    bins = tuple(Moves(rises, falls) for rises, falls in data["bins"])
    return Bins(bins, data.get("loose", 0))
