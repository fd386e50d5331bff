"""The pattern: a small connected graph whose copies are counted, and its symmetries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound

MOST_VERTICES = 8
Edge = tuple[int, int]
Mapping = tuple[int, ...]

_LETTERS = "abcdefgh"


def _refuse(problem: str, hint: str = "") -> ParameterError:
    return ParameterError("edges", problem, hint=hint)


@dataclass(frozen=True, eq=False)
class Pattern:
    """A connected graph on the vertices 0..k-1, k ≤ 8; equal to every pattern of its shape.

    Attributes:
        edges: pairs of vertices, sorted; (u, v) means u→v if directed, else u < v.
        directed: whether the pattern is looked for in directed graphs.

    Examples:
        >>> Pattern(((0, 1), (1, 2))) == Pattern(((2, 0), (0, 1)))
        True
    """

    edges: tuple[Edge, ...]
    directed: bool = False

    def __post_init__(self) -> None:
        edges = self.edges if self.directed else [(min(edge), max(edge)) for edge in self.edges]
        object.__setattr__(self, "edges", tuple(sorted(edges)))
        self._check_edges()
        self._check_shape()

    def _check_edges(self) -> None:
        if not self.edges:
            raise _refuse("a pattern needs at least one edge", 'Write for example "a-b,b-c".')
        if any(u == v for u, v in self.edges):
            raise _refuse("a pattern has no self-loops", "Join two different vertices.")
        if len(set(self.edges)) < len(self.edges):
            raise _refuse("an edge is given twice", "Write each edge once.")

    def _check_shape(self) -> None:
        if self.vertices > MOST_VERTICES:
            raise _refuse(f"a pattern has at most {MOST_VERTICES} vertices, not {self.vertices}")
        if {vertex for edge in self.edges for vertex in edge} != set(range(self.vertices)):
            raise _refuse("vertices must be numbered 0, 1, 2, … without a gap")
        if not self._is_connected():
            raise _refuse("a pattern must be connected", "Count each part on its own.")

    def _is_connected(self) -> bool:
        reached = {0}
        frontier = [0]
        while frontier:
            fresh = self.neighbours[frontier.pop()] - reached
            reached |= fresh
            frontier.extend(fresh)
        return len(reached) == self.vertices

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Read ``"a-b,b-c"`` (undirected) or ``"a>b,b>c"`` (directed); names are free."""
        directed = ">" in text
        if directed and "-" in text:
            raise _refuse("'-' and '>' are mixed", "Use '-' throughout or '>' throughout.")
        sign = ">" if directed else "-"
        numbers: dict[str, int] = {}
        edges: list[Edge] = []
        for piece in text.split(",") if text.strip() else ():
            names = [name.strip() for name in piece.split(sign)]
            if len(names) != 2 or not all(names):
                raise _refuse(
                    f"'{piece.strip()}' is not an edge", 'Write for example "a-b,b-c" or "a>b,b>c".'
                )
            u, v = (numbers.setdefault(name, len(numbers)) for name in names)
            edges.append((u, v))
        return cls(tuple(edges), directed)

    def __str__(self) -> str:
        sign = ">" if self.directed else "-"
        return ",".join(f"{_LETTERS[u]}{sign}{_LETTERS[v]}" for u, v in self.edges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.is_isomorphic_to(other)

    def __hash__(self) -> int:
        return hash((self.directed, tuple(sorted(self._degrees))))

    @cached_property
    def vertices(self) -> int:
        """How many vertices there are."""
        return 1 + max(max(edge) for edge in self.edges)

    @cached_property
    def outward(self) -> tuple[frozenset[int], ...]:
        """For each vertex the vertices it points to; all its neighbours if undirected."""
        arcs = self.arcs
        return tuple(frozenset(v for u, v in arcs if u == x) for x in range(self.vertices))

    @cached_property
    def inward(self) -> tuple[frozenset[int], ...]:
        """For each vertex the vertices that point to it; all its neighbours if undirected."""
        arcs = self.arcs
        return tuple(frozenset(u for u, v in arcs if v == x) for x in range(self.vertices))

    @cached_property
    def neighbours(self) -> tuple[frozenset[int], ...]:
        """For each vertex the vertices joined to it in either direction."""
        return tuple(out | into for out, into in zip(self.outward, self.inward, strict=True))

    @cached_property
    def arcs(self) -> frozenset[Edge]:
        """The edges as ordered pairs: both ways round if undirected."""
        backward = () if self.directed else ((v, u) for u, v in self.edges)
        return frozenset((*self.edges, *backward))

    @cached_property
    def _degrees(self) -> tuple[tuple[int, int], ...]:
        return tuple(
            (len(out), len(into)) for out, into in zip(self.outward, self.inward, strict=True)
        )

    @property
    def has_reciprocal_pair(self) -> bool:
        """Whether two vertices of a directed pattern point to each other."""
        return self.directed and any((v, u) in self.arcs for u, v in self.edges)

    @property
    def is_tree(self) -> bool:
        """Whether there is no cycle; a reciprocal pair counts as one."""
        return len(self.edges) == self.vertices - 1

    @property
    def is_clique(self) -> bool:
        """Whether every two vertices are joined, both ways if directed."""
        return len(self.arcs) == self.vertices * (self.vertices - 1)

    @property
    def is_complete_bipartite(self) -> bool:
        """Whether an undirected pattern has two sides, joined completely and only across."""
        near = self.neighbours[0]
        far = frozenset(range(self.vertices)) - near
        return not self.directed and all(
            self.neighbours[x] == (far if x in near else near) for x in range(self.vertices)
        )

    def is_isomorphic_to(self, other: Pattern) -> bool:
        """Whether both have the same shape, whatever their vertices are called."""
        return (
            self.directed == other.directed
            and sorted(self._degrees) == sorted(other._degrees)
            and next(self._maps_onto(other), None) is not None
        )

    @cached_property
    def automorphisms(self) -> tuple[Mapping, ...]:
        """Every renaming of the vertices that keeps the edges; m[x] is the new name of x."""
        return tuple(self._maps_onto(self))

    @cached_property
    def orbits(self) -> tuple[tuple[int, ...], ...]:
        """The vertices in groups of those that some automorphism carries into each other."""
        groups = {tuple(sorted({m[x] for m in self.automorphisms})) for x in range(self.vertices)}
        return tuple(sorted(groups))

    @property
    def representatives(self) -> tuple[int, ...]:
        """The smallest vertex of each orbit."""
        return tuple(orbit[0] for orbit in self.orbits)

    def stabiliser(self, vertex: int) -> tuple[Mapping, ...]:
        """The automorphisms that leave `vertex` where it is."""
        return tuple(m for m in self.automorphisms if m[vertex] == vertex)

    def _maps_onto(self, other: Pattern, placed: Mapping = ()) -> Iterator[Mapping]:
        """Bijections of the vertices that carry the edges of one onto those of the other."""
        x = len(placed)
        if x == self.vertices:
            yield placed
            return
        for y in range(other.vertices):
            if y in placed or self._degrees[x] != other._degrees[y]:
                continue
            if all(self._agrees(other, (x, past), (y, placed[past])) for past in range(x)):
                yield from self._maps_onto(other, (*placed, y))

    def _agrees(self, other: Pattern, here: Edge, there: Edge) -> bool:
        """Whether two pairs of vertices are joined in the same way."""
        return (here in self.arcs) == (there in other.arcs) and (here[::-1] in self.arcs) == (
            there[::-1] in other.arcs
        )


def star(k: int) -> Pattern:
    """A centre joined to k leaves."""
    return Pattern(tuple((0, leaf) for leaf in range(1, k + 1)))


def out_star(k: int) -> Pattern:
    """A centre that points to k leaves."""
    return Pattern(tuple((0, leaf) for leaf in range(1, k + 1)), directed=True)


def in_star(k: int) -> Pattern:
    """A centre to which k leaves point."""
    return Pattern(tuple((leaf, 0) for leaf in range(1, k + 1)), directed=True)


def path(n: int, *, directed: bool = False) -> Pattern:
    """A row of n vertices."""
    return Pattern(tuple((x, x + 1) for x in range(n - 1)), directed)


def cycle(n: int, *, directed: bool = False) -> Pattern:
    """A ring of n vertices."""
    return Pattern(tuple((x, (x + 1) % n) for x in range(n)), directed)


def clique(n: int) -> Pattern:
    """A set of n vertices, every two of them joined."""
    return Pattern(tuple(combinations(range(n), 2)))


def triangle() -> Pattern:
    """Three vertices, every two of them joined."""
    return clique(3)


def cyclic_triangle() -> Pattern:
    """a→b→c→a, the paper's triangle I."""
    return cycle(3, directed=True)


def transitive_triangle() -> Pattern:
    """a→b→c and a→c, the paper's triangle II, also called feed-forward loop."""
    return Pattern(((0, 1), (0, 2), (1, 2)), directed=True)


# The general rule: how many copies of a pattern can run through one node or one edge.
#
# A copy is an embedding up to the pattern's symmetries. Embeddings that send a given vertex to a
# given node are bounded by placing the other vertices one by one, each beside a vertex already
# placed: that vertex has a limited number of links in the direction needed, and some of them
# already lead to placed vertices. Every order of placing gives a valid bound, so the smallest is
# taken.


def copies_through_node(pattern: Pattern, bound: Bound) -> int:
    """The most copies of `pattern` that one node can belong to.

    Guarantees:
        No graph within `bound` has a node in more copies; it is the Γ of the pattern's
        count. Proof: docs/sensitivities.md#the-general-rule.
    """
    if not can_occur(pattern, bound):
        return 0
    embeddings = sum(_completions(pattern, bound, 1 << x) for x in range(pattern.vertices))
    return embeddings // len(pattern.automorphisms)


def copies_through_edge(pattern: Pattern, bound: Bound) -> int:
    """The most copies of `pattern` that one edge can belong to.

    Guarantees:
        No graph within `bound` has an edge in more copies; it is the edge-level
        sensitivity of the pattern's count. Proof: docs/sensitivities.md#the-general-rule.
    """
    if not can_occur(pattern, bound):
        return 0
    embeddings = sum(_completions(pattern, bound, 1 << u | 1 << v) for u, v in pattern.arcs)
    return embeddings // len(pattern.automorphisms)


def can_occur(pattern: Pattern, bound: Bound) -> bool:
    """Whether some graph within `bound` may contain the pattern at all."""
    outward, inward = _limits(pattern, bound)
    if pattern.has_reciprocal_pair and not bound.reciprocal:
        return False
    return all(len(out) <= outward for out in pattern.outward) and all(
        len(into) <= inward for into in pattern.inward
    )


def _limits(pattern: Pattern, bound: Bound) -> tuple[int, int]:
    """The bound on out- and on in-links, which are the same links if undirected."""
    if bound.directed != pattern.directed:
        needed = "an in-degree and an out-degree bound" if pattern.directed else "one degree bound"
        kind = "directed" if pattern.directed else "undirected"
        raise ParameterError("pattern", f"a pattern of {kind} edges needs {needed}")
    return bound.limit("out"), bound.limit("in")


def _completions(pattern: Pattern, bound: Bound, start: int) -> int:
    """The most embeddings once the vertices in the bit set `start` have their place."""
    everything = (1 << pattern.vertices) - 1

    @cache
    def fewest(placed: int) -> int:
        if placed == everything:
            return 1
        free = (y for y in range(pattern.vertices) if not placed >> y & 1)
        choices = ((y, _choices(pattern, bound, placed, y)) for y in free)
        return min(count * fewest(placed | 1 << y) for y, count in choices if count is not None)

    return fewest(start)


def _choices(pattern: Pattern, bound: Bound, placed: int, y: int) -> int | None:
    """How many nodes can take the place of y; None while no neighbour of y is placed.

    Where the pattern can occur at all, there is one at least: y is itself among the links of p.
    """
    outward, inward = _limits(pattern, bound)
    remaining = [
        limit - sum(placed >> other & 1 for other in links[p])
        for limit, links in ((outward, pattern.outward), (inward, pattern.inward))
        for p in pattern.neighbours[y]
        if placed >> p & 1 and y in links[p]
    ]
    return min(remaining) if remaining else None
