"""What one person can change: the numbers to which noise is calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal, TypeAlias

from graphveil.graph.promises import Bound

Measure: TypeAlias = Literal["l1", "static_l1", "l2_squared", "edge_l1", "variation_squared"]

EVERY_MEASURE: frozenset[Measure] = frozenset(("l1", "static_l1", "l2_squared", "edge_l1"))
PROOFS = "docs/sensitivities.md"
PARTS = 2**10  # of a threshold that follows, in which its counts are measured


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


EVERY_STATIC: frozenset[Literal["l1", "l2_squared", "edge_l1"]] = frozenset(
    ("l1", "l2_squared", "edge_l1")
)


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
