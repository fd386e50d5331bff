"""Components and clusters by forests in which nobody has more than c links, at every step.

For each step two numbers are found: ⌊f_c⌋, the size of the largest such forest, where fractions of
links are allowed (`forest_polytope`), and s_c, how many people can be named if everybody names at
most c of those they are linked to, and nobody is named twice. Then n − ⌊f_c⌋ counts components, and
s_c − ⌊f_c⌋ clusters of two or more; one person changes each by little, in every network.

Most of a network needs no linear program. Two rules take parts away that are decided, until neither
finds any (docs/sensitivities.md#how-forests-are-computed):

- *hubs*: if too many people can be named by too few, the few have all their links to the many;
- *leaves*: a person with one link left has it in the forest, and the other end one room less.

What is left falls apart into connected cores. Each is solved once: a core that is the same at the
next step is found again by its content. Meant for networks whose cores are small, such as those of
infections and contacts, with millions of people; a core of many linked hubs may take very long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.local.forest_polytope import Network, forest_size
from graphveil.kernels import kernel
from graphveil.statistics.tallies import Counts

if TYPE_CHECKING:
    from graphveil.graph.sequence import GraphSequence

Flags = NDArray[np.bool_]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
NOBODY = -1


@dataclass(frozen=True)
class ForestNumbers:
    """What is counted at a step; a secret.

    Attributes:
        nodes: how many people there are.
        named: s_c, how many of them can be named.
        links: f_c, the size of the largest forest.
    """

    nodes: int
    named: int
    links: Fraction

    def counts(self) -> tuple[int, int]:
        """Components, and clusters of at least two."""
        return self.nodes - floor(self.links), self.named - floor(self.links)


def count_forests(
    sequence: GraphSequence, branches: int, from_step: int, before: Counts | None
) -> tuple[Counts, Counts]:
    """The changes at each step from `from_step` on, and the totals after the last.

    Columns: components, and clusters of at least two nodes; both with at most `branches` links per
    person in the forest that holds them together.
    """
    totals = np.zeros((sequence.steps - from_step + 1, 2), np.int64)
    if before is not None:
        totals[0] = before
    for place, numbers in enumerate(forest_numbers(sequence, branches, from_step), 1):
        totals[place] = numbers.counts()
    return np.diff(totals, axis=0), totals[-1]


def forest_numbers(
    sequence: GraphSequence, branches: int, from_step: int = 0
) -> Iterator[ForestNumbers]:
    """The two numbers at each step from `from_step` on, exactly."""
    edges = _edges_by_step(sequence)
    solved: dict[bytes, Fraction] = {}
    namer = np.full(sequence.nodes, NOBODY, np.int32)
    for step in range(from_step, sequence.steps):
        nodes, links = int(sequence.node_offsets[step + 1]), int(edges.ends[step])
        graph = _Lists.of(nodes, edges.one[:links], edges.other[:links])
        reduced = _Reduced.of(graph, branches, namer[:nodes])
        size = Fraction(reduced.decided)
        for core in reduced.cores():
            size += _once(core, solved)
        yield ForestNumbers(nodes, reduced.named, size)


def _once(core: Network, solved: dict[bytes, Fraction]) -> Fraction:
    """The size of a core's forest; one with the same content is not solved again."""
    content = b"".join(each.tobytes() for each in (core.one, core.other, core.room))
    if content not in solved:
        solved[content] = forest_size(core)
    return solved[content]


# Links in the order of their steps, each pair of people once.


@dataclass(frozen=True, eq=False)
class _Edges:
    """Both ends of each link, step by step, and how many there are after each step."""

    one: Int32s
    other: Int32s
    ends: Int64s


def _edges_by_step(sequence: GraphSequence) -> _Edges:
    late, steps = sequence.late, sequence.steps
    prompt_steps = np.repeat(np.arange(steps), np.diff(sequence.offsets[sequence.node_offsets]))
    late_steps = np.repeat(np.arange(steps), np.diff(late.offsets))
    newer = np.repeat(np.arange(sequence.nodes, dtype=np.int32), np.diff(sequence.offsets))
    when = np.concatenate([prompt_steps, late_steps])
    one = np.concatenate([newer, late.newer])
    other = np.concatenate([sequence.entries >> 2, late.entries >> 2])
    order = np.argsort(when, kind="stable")
    if sequence.directed:  # two people may be linked both ways, at different steps
        pairs = np.maximum(one, other).astype(np.int64) << 32 | np.minimum(one, other)
        order = order[np.sort(np.unique(pairs[order], return_index=True)[1])]
    ends = np.cumsum(np.bincount(when[order], minlength=steps))
    return _Edges(one[order].astype(np.int32), other[order].astype(np.int32), ends)


@dataclass(frozen=True, eq=False)
class _Lists:
    """Everybody's neighbours, one list after the other."""

    starts: Int64s
    neighbours: Int32s

    @classmethod
    def of(cls, nodes: int, one: Int32s, other: Int32s) -> _Lists:
        """The lists of some links."""
        starts, neighbours = np.zeros(nodes + 1, np.int64), np.empty(2 * len(one), np.int32)
        _fill_lists(one, other, starts, neighbours)
        return cls(starts, neighbours)

    @property
    def nodes(self) -> int:
        """How many people."""
        return len(self.starts) - 1


@kernel
def _fill_lists(one: Int32s, other: Int32s, starts: Int64s, neighbours: Int32s) -> None:
    for place in range(len(one)):
        starts[one[place] + 1] += 1
        starts[other[place] + 1] += 1
    for node in range(len(starts) - 1):
        starts[node + 1] += starts[node]
    at = starts[:-1].copy()
    for place in range(len(one)):
        u, v = one[place], other[place]
        neighbours[at[u]], neighbours[at[v]] = v, u
        at[u] += 1
        at[v] += 1


# What is decided without a linear program, and the cores that are left.


@dataclass(frozen=True, eq=False)
class _Reduced:
    """A network without what is decided.

    Attributes:
        graph: all of it.
        left: who is left.
        room: how many links of the forest each may still have.
        named: how many people can be named in all of it.
        decided: how many links of the forest are decided.
    """

    graph: _Lists = field(repr=False)
    left: Flags = field(repr=False)
    room: Int64s = field(repr=False)
    named: int
    decided: int

    @classmethod
    def of(cls, graph: _Lists, branches: int, namer: Int32s) -> _Reduced:
        """Apply both rules until neither finds anything.

        Args:
            graph: the network.
            branches: how many links of the forest everybody may have.
            namer: who named whom at the step before; it is brought up to date.
        """
        room = np.full(graph.nodes, branches, np.int64)
        left, hubs = np.ones(graph.nodes, np.bool_), np.zeros(graph.nodes, np.bool_)
        crowd = np.zeros(graph.nodes, np.bool_)
        _name(graph.starts, graph.neighbours, left, room, namer, hubs, crowd)
        named, decided = int(np.count_nonzero(namer != NOBODY)), 0
        while True:
            decided += int(room[hubs].sum())
            left &= ~(hubs | crowd)
            stripped = _strip(graph.starts, graph.neighbours, left, room)
            decided += stripped
            if not stripped and not hubs.any():
                return cls(graph, left, room, named, decided)
            anew, hubs, crowd = (
                np.full_like(namer, NOBODY),
                np.zeros_like(left),
                np.zeros_like(left),
            )
            _name(graph.starts, graph.neighbours, left, room, anew, hubs, crowd)

    def cores(self) -> Iterator[Network]:
        """What is left, in connected parts."""
        part = np.full(self.graph.nodes, NOBODY, np.int64)
        parts = _connected(self.graph.starts, self.graph.neighbours, self.left, part)
        nodes = np.flatnonzero(self.left)
        order = nodes[np.argsort(part[nodes], kind="stable")]
        ends = np.cumsum(np.bincount(part[nodes], minlength=parts))
        rank = np.empty(self.graph.nodes, np.int64)
        rank[order] = np.arange(len(order))
        one, other = _links(self.graph.starts, self.graph.neighbours, self.left, order)
        cuts = np.searchsorted(part[one], np.arange(parts + 1))
        for number, (first, last) in enumerate(pairwise([0, *ends])):
            links = slice(cuts[number], cuts[number + 1])
            ranks = rank[one[links]] - first, rank[other[links]] - first
            yield Network(int(last - first), *ranks, self.room[order[first:last]])


@kernel
def _connected(starts: Int64s, neighbours: Int32s, left: Flags, part: Int64s) -> int:
    """Number the connected parts of who is left, in the order of their oldest; how many."""
    stack, parts = np.empty(len(left), np.int32), 0
    for start in range(len(left)):
        if not left[start] or part[start] >= 0:
            continue
        part[start], stack[0], top = parts, start, 1
        while top:
            top -= 1
            v = stack[top]
            for at in range(starts[v], starts[v + 1]):
                u = neighbours[at]
                if left[u] and part[u] < 0:
                    part[u], stack[top] = parts, u
                    top += 1
        parts += 1
    return parts


@kernel
def _links(starts: Int64s, neighbours: Int32s, left: Flags, order: Int64s) -> tuple[Int64s, Int64s]:
    """Both ends of every link between people who are left, by the older end in this order."""
    number = 0
    for v in order:
        for at in range(starts[v], starts[v + 1]):
            number += left[neighbours[at]] and neighbours[at] > v
    one, other, place = np.empty(number, np.int64), np.empty(number, np.int64), 0
    for v in order:
        for at in range(starts[v], starts[v + 1]):
            if left[neighbours[at]] and neighbours[at] > v:
                one[place], other[place] = v, neighbours[at]
                place += 1
    return one, other


@kernel
def _name(
    starts: Int64s,
    neighbours: Int32s,
    left: Flags,
    room: Int64s,
    namer: Int32s,
    hubs: Flags,
    crowd: Flags,
) -> None:
    """Let as many people as possible be named by somebody beside them.

    Where a search for somebody's name fails, all who were reached are a crowd that only the hubs
    among them can name, and these have named as many of it as they may: no later search gains
    anything there, so that it is left out of them.
    """
    nodes = len(left)
    free = np.zeros(nodes, np.int64)
    _name_freely(starts, neighbours, left, room, namer, free)
    seen, came = np.full(nodes, -1, np.int32), np.empty(nodes, np.int32)
    queue, asked = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    for start in range(nodes):
        if not left[start] or namer[start] >= 0:
            continue
        end, people, number = _with_room(
            starts, neighbours, left, free, namer, hubs, start, seen, came, queue, asked
        )
        if end < 0:
            hubs[asked[:number]] = True
            crowd[queue[:people]] = True
            continue
        free[end] -= 1
        while True:  # everybody on the way is named by the next
            v = came[end]
            end, namer[v] = namer[v], end
            if v == start:
                break


@kernel
def _name_freely(
    starts: Int64s, neighbours: Int32s, left: Flags, room: Int64s, namer: Int32s, free: Int64s
) -> None:
    """Let people be named by whoever has room, beside those who have a name already."""
    for v in range(len(left)):
        if left[v]:
            free[v] += room[v]
        if namer[v] >= 0:
            free[namer[v]] -= 1
    for v in range(len(left)):
        if left[v] and namer[v] < 0:
            for at in range(starts[v], starts[v + 1]):
                if free[neighbours[at]] > 0:
                    free[neighbours[at]] -= 1
                    namer[v] = neighbours[at]
                    break


@kernel
def _with_room(
    starts: Int64s,
    neighbours: Int32s,
    left: Flags,
    free: Int64s,
    namer: Int32s,
    hubs: Flags,
    start: int,
    seen: Int32s,
    came: Int32s,
    queue: Int32s,
    asked: Int32s,
) -> tuple[int, int, int]:
    """Somebody with room whom a chain of other names leads to, or −1; and how many were reached.

    Those who need another name are in `queue`, and those who could give one in `asked`.
    """
    queue[0], head, people, number = start, 0, 1, 0
    while head < people:
        v = queue[head]
        head += 1
        for at in range(starts[v], starts[v + 1]):
            w = neighbours[at]
            if not left[w] or hubs[w] or seen[w] == start:
                continue
            seen[w], came[w], asked[number] = start, v, w
            number += 1
            if free[w] > 0:
                return w, people, number
            for place in range(starts[w], starts[w + 1]):
                if namer[neighbours[place]] == w:
                    queue[people] = neighbours[place]
                    people += 1
    return -1, people, number


@kernel
def _strip(starts: Int64s, neighbours: Int32s, left: Flags, room: Int64s) -> int:
    """Take leaves away, each with its link, and who has no room left; how many links."""
    nodes = len(left)
    degree, stack = np.zeros(nodes, np.int64), np.empty(2 * nodes, np.int32)  # at 1, and at 0
    top, taken = _leaves(starts, neighbours, left, degree, stack), 0
    while top:
        top -= 1
        v = stack[top]
        if not left[v]:
            continue
        left[v] = False
        for at in range(starts[v], starts[v + 1]):
            u = neighbours[at]
            if not left[u]:
                continue
            taken += 1
            room[u] -= 1
            degree[u] -= 1
            if room[u] == 0:
                left[u] = False
                top = _leave(starts, neighbours, left, degree, u, stack, top)
            elif degree[u] <= 1:
                stack[top] = u
                top += 1
    return taken


@kernel
def _leaves(starts: Int64s, neighbours: Int32s, left: Flags, degree: Int64s, stack: Int32s) -> int:
    """Put everybody with at most one link to who is left on a stack; how many."""
    top = 0
    for v in range(len(left)):
        if left[v]:
            for at in range(starts[v], starts[v + 1]):
                degree[v] += left[neighbours[at]]
            if degree[v] <= 1:
                stack[top] = v
                top += 1
    return top


@kernel
def _leave(
    starts: Int64s, neighbours: Int32s, left: Flags, degree: Int64s, u: int, stack: Int32s, top: int
) -> int:
    """Take somebody's links away; the stack grows by new leaves."""
    for at in range(starts[u], starts[u + 1]):
        x = neighbours[at]
        if left[x]:
            degree[x] -= 1
            if degree[x] <= 1:
                stack[top] = x
                top += 1
    return top
