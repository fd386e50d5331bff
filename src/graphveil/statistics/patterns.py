"""Copies of any small connected pattern."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound
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
from graphveil.statistics.sensitivity import Sensitivity, sensitivity_of_copies
from graphveil.statistics.statistic import Domain, Statistic, described, register
from graphveil.statistics.tallies import Counts, PatternTally
from graphveil.statistics.triangles import (
    CyclicTriangles,
    InStars,
    OutStars,
    Stars,
    TransitiveTriangles,
    Triangles,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
