"""Copies of patterns: of any small connected one; triangles and stars, which have formulas."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, InOutBound
from graphveil.statistics.degrees import DegreeStatistic, OfInDegrees, OfOutDegrees, OfTotalDegrees
from graphveil.statistics.edges import Edges
from graphveil.statistics.pattern_shape import (
    Pattern,
    clique,
    copies_through_edge,
    copies_through_node,
    cycle,
    cyclic_triangle,
    in_star,
    out_star,
    path,
    star,
    transitive_triangle,
    triangle,
)
from graphveil.statistics.relations import Fact, Known, Relation, never_negative
from graphveil.statistics.sensitivity import Sensitivity, sensitivity_of_copies
from graphveil.statistics.statistic import Domain, Statistic, described, register, require_at_least
from graphveil.statistics.tallies import (
    LARGEST,
    Counts,
    DegreeReach,
    PatternTally,
    TriangleTally,
    checked,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class StarCount(DegreeStatistic, ABC):
    """How many stars with `k` leaves there are: the sum of C(degree, k) over the nodes."""

    only_adds = True
    by_groups = True

    k: int = field(metadata=described("--k", meaning="Number of leaves of the stars."))

    def __post_init__(self) -> None:
        require_at_least("k", self.k, 2, "A star with one leaf is an edge: use 'edges'.")

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """Small stars."""
        return tuple(cls(k) for k in (2, 3))

    def differences(self, tallied: DegreeReach, width: int | None = None) -> Counts:
        """A node that comes to degree d has C(d − 1, k − 1) stars more than before."""
        low = _stars_at_low_degrees(tallied.low, self.k)
        high = _stars_along_runs(tallied, self.k)
        return checked([a + b for a, b in zip(low, high, strict=True)])

    def relations(self, known: Known) -> Iterator[Relation]:
        """Who comes to degree d has C(d − 1, k − 1) stars more than before."""
        yield from known.ordered(self.direction)
        (stars,) = self.facts(1)
        yield from known.summed(stars, self.direction, lambda d: comb(d - 1, self.k - 1))

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """Stars around the person, and stars around others in which the person is a leaf.

        Guarantees:
            Exact in every measure. Proof: docs/sensitivities.md#stars.
        """
        reach = self.reach(bound)
        as_leaf = comb(reach.highest - 1, self.k - 1)
        copies = reach.touched * as_leaf + comb(reach.highest, self.k)
        return sensitivity_of_copies(
            copies, reach.ends * as_leaf, bound, anchor="stars", paper=copies
        )

    def projected_l1(self, threshold: Bound) -> int:
        """The person's own stars, and those of one degree of others for each retained link.

        Guarantees:
            Whatever the degrees in the graph. Proof: docs/sensitivities.md#after-projection.
        """
        most = self.reach(threshold).highest
        as_leaf = comb(most - 1, self.k - 1)
        falls = max(own * as_leaf - comb(own, self.k) for own in range(most + 1))
        return max(self.sensitivity(threshold).static_l1, falls)

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Sum C(degree, k) over the nodes, with k = given[0]."""
        for u in range(len(present)):
            degree = 0
            for v in range(len(present)):
                if links[v, u] if given[1] else links[u, v]:
                    degree += 1
            stars = 1
            for chosen in range(given[0]):
                stars = stars * (degree - chosen) // (chosen + 1)
            out[0] += stars


def _stars_at_low_degrees(low: Counts, k: int) -> list[int]:
    """The new stars per step of nodes in the dense table."""
    reached = np.flatnonzero(low[:, 1:].any(axis=0)) + 1
    counts = low[:, reached]
    weights = [comb(degree - 1, k - 1) for degree in reached.tolist()]
    busiest = int(counts.sum(axis=1).max(initial=0))
    fits = busiest * max(weights, default=0) <= LARGEST  # then no partial sum can wrap either
    numbers = np.int64 if fits else np.object_
    stars = counts.astype(numbers) * np.array(weights, dtype=numbers)
    return [int(number) for number in stars.sum(axis=1)]


def _stars_along_runs(tallied: DegreeReach, k: int) -> list[int]:
    """The new stars per step of nodes that climb from first − 1 to last at once."""
    stars = [0] * tallied.steps
    around = {int(d): comb(int(d), k) for d in np.unique(tallied.runs[:, 1:] - [1, 0])}
    for step, first, last in tallied.runs.tolist():
        stars[step] += around[last] - around[first - 1]
    return stars


@register
@dataclass(frozen=True)
class Stars(OfTotalDegrees, StarCount):
    """How many stars with `k` leaves an undirected graph contains."""

    name = "stars"
    summary = "number of k-stars: a node and k of its links"
    formulas: ClassVar[dict[str, str]] = {"undirected": "D·C(D−1, k−1) + C(D, k)"}


@register
@dataclass(frozen=True)
class OutStars(OfOutDegrees, StarCount):
    """How many stars with `k` leaves, all pointed to, a directed graph contains."""

    name = "out-stars"
    summary = "number of out-k-stars: a node and k of its out-links"
    formulas: ClassVar[dict[str, str]] = {"directed": "Din·C(Dout−1, k−1) + C(Dout, k)"}


@register
@dataclass(frozen=True)
class InStars(OfInDegrees, StarCount):
    """How many stars with `k` leaves, all pointing inwards, a directed graph contains."""

    name = "in-stars"
    summary = "number of in-k-stars: a node and k of its in-links"
    formulas: ClassVar[dict[str, str]] = {"directed": "Dout·C(Din−1, k−1) + C(Din, k)"}


@dataclass(frozen=True)
class TriangleCount(Statistic, ABC):
    """How many triangles of one kind there are.

    Attributes:
        kind: the column of the tally that holds them.
    """

    kind: ClassVar[int]
    by_groups = True

    def tally(self) -> TriangleTally:
        """New triangles per step, by kind."""
        return TriangleTally()

    def differences(self, tallied: Counts, width: int | None = None) -> Counts:
        """The new triangles of this kind."""
        return tallied[:, self.kind]


@register
@dataclass(frozen=True)
class Triangles(TriangleCount):
    """How many triples of nodes are all linked to each other."""

    name = "triangles"
    summary = "number of triangles"
    formulas: ClassVar[dict[str, str]] = {"undirected": "C(D, 2)"}
    domain = Domain.UNDIRECTED
    only_adds = True
    kind = TriangleTally.UNDIRECTED
    advice = (
        "On a directed graph use 'cyclic-triangles' or 'transitive-triangles', "
        "or read the graph as undirected."
    )

    def relations(self, known: Known) -> Iterator[Relation]:
        """A triangle has three stars of two links."""
        (triangles,) = self.facts(1)
        stars = {fact: -3 * times for fact, times in triangles.items()}
        yield never_negative({Fact(str(Stars(2))): 1, **stars})

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """Every two of the person's neighbours may be linked.

        Guarantees:
            Exact in every measure. Proof: docs/sensitivities.md#triangles.
        """
        degree = self.require_undirected(bound).degree
        copies = comb(degree, 2)
        return sensitivity_of_copies(copies, degree - 1, bound, anchor="triangles", paper=copies)

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Look at every three nodes."""
        for u in range(len(present)):
            for v in range(u):
                for w in range(v):
                    if links[u, v] and links[v, w] and links[u, w]:
                        out[0] += 1


@register
@dataclass(frozen=True)
class CyclicTriangles(TriangleCount):
    """How many ways there are round three nodes, u→v→w→u."""

    name = "cyclic-triangles"
    summary = "number of cyclic triangles u→v→w→u (the paper's triangle I)"
    formulas: ClassVar[dict[str, str]] = {"directed": "min(Din, Dout)²"}
    domain = Domain.DIRECTED
    only_adds = True
    kind = TriangleTally.CYCLIC
    advice = "On an undirected graph use 'triangles'."

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """Each of the person's links on one side closes at most m triangles.

        Guarantees:
            Exact in every measure, oriented or not.
            Proof: docs/sensitivities.md#cyclic-triangles.
        """
        limits = self.require_directed(bound)
        return sensitivity_of_copies(
            limits.smaller**2,
            limits.smaller,
            bound,
            anchor="cyclic-triangles",
            paper=limits.inward * limits.outward,
        )

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Go round from the largest of the three nodes, so that each is met once."""
        for u in range(len(present)):
            for v in range(u):
                for w in range(u):
                    if links[u, v] and links[v, w] and links[w, u]:
                        out[0] += 1


@register
@dataclass(frozen=True)
class TransitiveTriangles(TriangleCount):
    """How many triples there are with u→v→w and u→w."""

    name = "transitive-triangles"
    summary = "number of transitive triangles u→v→w, u→w (the paper's triangle II)"
    formulas: ClassVar[dict[str, str]] = {
        "directed": "(m − 1)(m + 2M), m = min(Din, Dout), M = max(Din, Dout)",
        "oriented": "(m − 1)(m + 2M) / 2",
    }
    domain = Domain.DIRECTED
    only_adds = True
    kind = TriangleTally.TRANSITIVE
    advice = "On an undirected graph use 'triangles'."

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """A person has three roles; a pair of its links may serve several at once.

        Guarantees:
            Exact in every measure, oriented or not. The paper's C(Din + Dout, 2) is too
            small with reciprocal edges, e.g. 15 for (3, 3) where 18 is reached, and is
            only reported. Proof: docs/sensitivities.md#transitive-triangles.
        """
        limits = self.require_directed(bound)
        through_node, through_edge = _transitive_copies(limits)
        return sensitivity_of_copies(
            through_node,
            through_edge,
            bound,
            anchor="transitive-triangles",
            paper=comb(limits.inward + limits.outward, 2),
        )

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Look at every ordered three nodes."""
        for u in range(len(present)):
            for v in range(len(present)):
                for w in range(len(present)):
                    if links[u, v] and links[v, w] and links[u, w]:
                        out[0] += 1


def _transitive_copies(limits: InOutBound) -> tuple[int, int]:
    """The most transitive triangles through a node and through an edge."""
    m, larger = limits.smaller, limits.larger
    if m == 1:  # the last node of such a triangle has two in-links, the first two out-links
        return 0, 0
    doubled = (m - 1) * (m + 2 * larger)
    if limits.oriented:
        return doubled // 2, m + larger - 2
    return doubled, 2 * m + larger - 3


@register
@dataclass(frozen=True)
class PatternCount(Statistic):
    """How many copies of `pattern` there are; a copy may have further links among its nodes."""

    pattern: Pattern = field(
        metadata=described(
            "--edges",
            "--pattern",
            metavar="EDGES",
            meaning='Edges of a pattern: "a-b,b-c" or, directed, "a>b,b>c".',
            parse=lambda given: given if isinstance(given, Pattern) else Pattern.parse(str(given)),
        )
    )

    name = "pattern"
    summary = "number of copies of a small connected pattern, given by its edges"
    formulas: ClassVar[dict[str, str]] = {
        "undirected": "the general rule: embeddings through one node / symmetries",
        "directed": "the general rule: embeddings through one node / symmetries",
    }
    domain = Domain.BOTH
    only_adds = True
    undivided = "its copies are not counted by the labels of their people"

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """Small patterns of every sort: trees, cycles, cliques, reciprocal pairs."""
        undirected = (path(2), path(4), cycle(4), clique(4), Pattern.parse("a-b,b-c,c-a,c-d"))
        directed = (
            path(3, directed=True),
            transitive_triangle(),
            cycle(4, directed=True),
            Pattern.parse("a>b,b>a"),
            Pattern.parse("a>b,b>a,b>c"),
        )
        return tuple(cls(pattern) for pattern in (*undirected, *directed))

    def tally(self) -> PatternTally:
        """New copies per step."""
        return PatternTally(self.pattern)

    def require_domain(self, *, directed: bool) -> None:
        """Refuse graphs of another kind than the pattern."""
        if directed != self.pattern.directed:
            kind, sign = ("directed", ">") if directed else ("undirected", "-")
            raise ParameterError(
                "edges",
                f"the pattern's edges are not of the graph's kind, which is {kind}",
                hint=f"Write them with '{sign}'.",
            )

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """All copies through the person.

        Guarantees:
            Proven by the general rule. Exact for named subgraphs, trees, cliques, complete
            bipartite patterns, and where the bound leaves no room for the pattern.
            Proof: docs/sensitivities.md#the-general-rule.
        """
        self.require_domain(directed=bound.directed)
        named = _named(self.pattern)
        if named is not None:
            return named.sensitivity(bound)
        through_node = copies_through_node(self.pattern, bound)
        through_edge = copies_through_edge(self.pattern, bound)
        exact = through_node == 0 or _reaches_general_rule(self.pattern)
        return sensitivity_of_copies(
            through_node, through_edge, bound, anchor="the-general-rule", exact=exact
        )

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Try every way to place the vertices, and divide by the pattern's symmetries.

        `given` holds the number of vertices, of automorphisms, and the edges as pairs.
        """
        last = given[0] - 1
        node = np.full(given[0], -1)
        vertex = 0
        while vertex >= 0:
            node[vertex] += 1
            if node[vertex] == len(present):
                node[vertex] = -1
                vertex -= 1
                continue
            fits = present[node[vertex]] > 0
            for earlier in range(vertex):
                fits = fits and node[earlier] != node[vertex]
            for edge in range(2, len(given), 2):
                if max(given[edge], given[edge + 1]) == vertex:
                    fits = fits and links[node[given[edge]], node[given[edge + 1]]] == 1
            out[0] += fits and vertex == last
            vertex += fits and vertex < last
        out[0] //= given[1]

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """Vertices, automorphisms, edges."""
        ends = (vertex for edge in self.pattern.edges for vertex in edge)
        return self.pattern.vertices, len(self.pattern.automorphisms), *ends


def _named(pattern: Pattern) -> Statistic | None:
    """The named statistic that counts the same copies, if there is one."""
    leaves = pattern.vertices - 1
    if leaves == 1 and pattern.is_tree:
        return Edges()
    candidates: tuple[tuple[Pattern, Statistic], ...] = (
        (triangle(), Triangles()),
        (cyclic_triangle(), CyclicTriangles()),
        (transitive_triangle(), TransitiveTriangles()),
    )
    if leaves > 1:
        candidates += (
            (star(leaves), Stars(leaves)),
            (out_star(leaves), OutStars(leaves)),
            (in_star(leaves), InStars(leaves)),
        )
    return next((named for shape, named in candidates if shape == pattern), None)


def _reaches_general_rule(pattern: Pattern) -> bool:
    """Whether regular trees, complete graphs or complete bipartite ones attain the rule."""
    return pattern.is_tree or pattern.is_clique or pattern.is_complete_bipartite
