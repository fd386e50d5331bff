"""A large forest with a limited number of links per node, and hubs that show it is largest.

Local search, after Fürer and Raghavachari (1994). A node is *good* if it has room for one more link
of the forest, or if an exchange would give it some: a link between two good nodes closes a circle
with the forest, and of that circle a link at the node can be left out. A link between good nodes of
two trees makes the forest larger. When there is none, the nodes that are not good are the *hubs* W:
without them, the forest spans every connected part of the network. So it has at most as many links
fewer than room(W) + rank(G − W), which no solution exceeds, as it has links between hubs; these are
exchanged, where possible, for links of hubs to others.

Whatever the search does, its two numbers are checked by themselves: a forest within the rooms is a
solution, and every set of nodes gives a bound (docs/sensitivities.md#how-forests-are-computed).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels import kernel

Flags = NDArray[np.bool_]
Int64s = NDArray[np.int64]
NONE = -1
BEGINNINGS = 8
HOPELESS = 20  # one of so many nodes between both numbers: other beginnings would not close that
MIXING = 7919  # a prime, by which links of equal degrees are put into another order


class Brackets(NamedTuple):
    """What a search has shown.

    Attributes:
        least: how many links its forest has.
        most: how many links no solution exceeds.
        chosen: the links of the forest.
        hubs: the nodes W whose room(W) + rank(G − W) is `most`; nobody, where it is all nodes
            less one.
    """

    least: int
    most: int
    chosen: Flags
    hubs: Flags


class _Search(NamedTuple):
    """The network, the forest, and what is known of each node.

    Attributes:
        starts: where the list of each node begins.
        places: the links at each node, one list after the other.
        one: an end of each link.
        other: its other end.
        room: how many links of the forest a node may have.
        chosen: which links are in the forest.
        degree: how many of them a node has.
        parent: the node above, in the tree of each; NONE at the root.
        up: the link to it.
        depth: how far the root is.
        tree: the root.
        good: whether a node has room, or can get some.
        reason: the link that gives it room in exchange; NONE if it has some.
        part: good nodes that the forest connects through good nodes, as parents.
        top: of each such part, at its oldest parent, the node nearest to the root.
    """

    starts: Int64s
    places: Int64s
    one: Int64s
    other: Int64s
    room: Int64s
    chosen: Flags
    degree: Int64s
    parent: Int64s
    up: Int64s
    depth: Int64s
    tree: Int64s
    good: Flags
    reason: Int64s
    part: Int64s
    top: Int64s


def capped_forest(nodes: int, one: Int64s, other: Int64s, room: Int64s) -> Brackets:
    """A forest within the rooms of a connected network, and a bound; often they meet.

    Where they nearly do, the search begins again from some other forests.
    """
    best = Brackets(0, nodes - 1, np.zeros(len(one), np.bool_), np.zeros(nodes, np.bool_))
    for number in range(BEGINNINGS):
        found = _searched(nodes, one, other, room, number)
        larger = max(best, found, key=lambda each: each.least)
        closer = min(best, found, key=lambda each: each.most)
        best = larger._replace(most=closer.most, hubs=closer.hubs)
        gap = best.most - best.least
        if gap == 0 or gap * HOPELESS > nodes:
            break
    return best


def _searched(nodes: int, one: Int64s, other: Int64s, room: Int64s, number: int) -> Brackets:
    """One search; its number decides which of equal links are taken first."""
    ends = np.concatenate([one, other])
    places = np.argsort(ends, kind="stable") % len(one)
    starts = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=nodes), out=starts[1:])
    degrees = np.diff(starts)

    def numbers() -> Int64s:
        return np.zeros(nodes, np.int64)

    search = _Search(
        starts,
        places,
        one,
        other,
        room,
        chosen=np.zeros(len(one), np.bool_),
        degree=numbers(),
        parent=numbers(),
        up=numbers(),
        depth=numbers(),
        tree=numbers(),
        good=np.zeros(nodes, np.bool_),
        reason=numbers(),
        part=numbers(),
        top=numbers(),
    )
    mixed = np.arange(len(one)) * pow(MIXING, number, len(one)) % len(one)
    _grow(search, np.lexsort((mixed, degrees[one] * degrees[other])))
    hubs = np.zeros(nodes, np.bool_)
    most = _improve(search, hubs)
    return Brackets(int(np.count_nonzero(search.chosen)), most, search.chosen, hubs)


@kernel
def _oldest(node: int, part: Int64s) -> int:
    while part[node] != node:
        part[node] = part[part[node]]
        node = part[node]
    return node


@kernel
def _far(search: _Search, place: int, node: int) -> int:
    """The other end of a link."""
    far: int = search.other[place] if search.one[place] == node else search.one[place]
    return far


@kernel
def _grow(search: _Search, order: Int64s) -> None:
    """Choose links in this order, where both ends have room and no circle closes."""
    part = np.arange(len(search.room))
    for place in order:
        u, v = search.one[place], search.other[place]
        if search.degree[u] < search.room[u] and search.degree[v] < search.room[v]:
            a, b = _oldest(u, part), _oldest(v, part)
            if a != b:
                part[a] = b
                _take(search, place)


@kernel
def _take(search: _Search, place: int) -> None:
    """Put a link into the forest."""
    search.chosen[place] = True
    search.degree[search.one[place]] += 1
    search.degree[search.other[place]] += 1


@kernel
def _give(search: _Search, place: int) -> None:
    """Take a link out of the forest."""
    search.chosen[place] = False
    search.degree[search.one[place]] -= 1
    search.degree[search.other[place]] -= 1


@kernel
def _improve(search: _Search, hubs: Flags) -> int:
    """Let the forest grow until nothing helps; returns the best bound, and notes its hubs."""
    nodes, links = len(search.room), len(search.one)
    tried, left = np.zeros(links, np.bool_), np.zeros(links, np.bool_)
    most = nodes
    while search.chosen.sum() < most:
        place = _marked(search, tried)
        if place >= 0:
            tried[place] = True
            if _joined(search, place):
                tried[:] = False
                left[:] = False
            continue
        bound = _bound(search)
        if bound < most:
            most = bound
            hubs[:] = ~search.good
        if not _exchanged(search, left):
            break
    return most


# Marking: which nodes are good, and whether two trees can be joined.


@kernel
def _root(search: _Search) -> None:
    """The tree of every node, and the way to its root."""
    nodes = len(search.room)
    stack = np.empty(nodes, np.int64)
    search.tree[:] = NONE
    for root in range(nodes):
        if search.tree[root] >= 0:
            continue
        search.tree[root], search.parent[root], search.up[root] = root, NONE, NONE
        search.depth[root], stack[0], top = 0, root, 1
        while top:
            top -= 1
            u = stack[top]
            for at in range(search.starts[u], search.starts[u + 1]):
                place = search.places[at]
                if search.chosen[place] and place != search.up[u]:
                    v = _far(search, place, u)
                    search.tree[v], search.parent[v], search.up[v] = root, u, place
                    search.depth[v], stack[top] = search.depth[u] + 1, v
                    top += 1


@kernel
def _marked(search: _Search, tried: Flags) -> int:
    """Mark good nodes until a link between two trees has both ends good; NONE if none does."""
    nodes = len(search.room)
    _root(search)
    work, number = np.empty(nodes, np.int64), 0
    for v in range(nodes):
        search.part[v] = search.top[v] = v
        search.reason[v], search.good[v] = NONE, search.degree[v] < search.room[v]
        if search.good[v]:
            work[number] = v
            number += 1
    for v in range(nodes):
        if search.good[v] and search.parent[v] >= 0 and search.good[search.parent[v]]:
            _unite(search, v, search.parent[v])
    done = 0
    while done < number:
        u = work[done]
        done += 1
        for at in range(search.starts[u], search.starts[u + 1]):
            place = search.places[at]
            v = _far(search, place, u)
            if search.chosen[place] or not search.good[v] or tried[place]:
                continue
            if search.tree[u] != search.tree[v]:
                return int(place)
            number = _around(search, u, v, place, work, number)
    return NONE


@kernel
def _unite(search: _Search, u: int, v: int) -> None:
    """Make one part of two."""
    a, b = _oldest(u, search.part), _oldest(v, search.part)
    if a != b:
        if search.depth[search.top[a]] < search.depth[search.top[b]]:
            search.top[b] = search.top[a]
        search.part[a] = b


@kernel
def _around(search: _Search, u: int, v: int, place: int, work: Int64s, number: int) -> int:
    """Mark everybody on the circle that a link closes; how many are to be looked at then."""
    a, b = _oldest(u, search.part), _oldest(v, search.part)
    while a != b:
        deeper = a if search.depth[search.top[a]] >= search.depth[search.top[b]] else b
        w = search.parent[search.top[deeper]]
        if not search.good[w]:
            search.good[w], search.reason[w], work[number] = True, place, w
            number += 1
            for at in range(search.starts[w], search.starts[w + 1]):
                x = _far(search, search.places[at], w)
                if search.chosen[search.places[at]] and search.good[x]:
                    _unite(search, x, w)
        _unite(search, search.top[deeper], w)
        a, b = _oldest(u, search.part), _oldest(v, search.part)
    return number


# Exchanging: giving good nodes room, and joining trees.


@kernel
def _joined(search: _Search, place: int) -> bool:
    """Give both ends of a link room and take it; if that fails, all is as before."""
    chosen, degree = search.chosen.copy(), search.degree.copy()
    u, v = search.one[place], search.other[place]
    if _freed(search, u) and _freed(search, v) and not search.chosen[place]:
        _root(search)
        if search.tree[u] != search.tree[v] and search.degree[u] < search.room[u]:
            _take(search, place)
            return True
    search.chosen[:], search.degree[:] = chosen, degree
    return False


@kernel
def _freed(search: _Search, node: int) -> bool:
    """Give a good node room, by an exchange whose ends get room first; whether that worked."""
    nodes = len(search.room)
    stack, top = np.empty(nodes + 1, np.int64), 1
    stack[0] = node
    for _ in range(4 * nodes):
        x = stack[top - 1]
        place = search.reason[x]
        if search.degree[x] < search.room[x]:
            top -= 1
            if top == 0:
                return True
            continue
        if place < 0 or search.chosen[place] or top == nodes:
            return False
        for end in (search.one[place], search.other[place]):
            if search.degree[end] >= search.room[end]:
                stack[top] = end
                top += 1
                break
        else:
            if not _swapped(search, x, place):
                return False
    return False


@kernel
def _swapped(search: _Search, x: int, place: int) -> bool:
    """Take a link, and leave out one at x of the circle that it closes."""
    _root(search)
    a, b, leaves = search.one[place], search.other[place], NONE
    if search.tree[a] != search.tree[b]:
        return False
    while a != b:
        if search.depth[a] < search.depth[b]:
            a, b = b, a
        if x in (a, search.parent[a]):
            leaves = search.up[a]
        a = search.parent[a]
    if leaves < 0:
        return False
    _give(search, leaves)
    _take(search, place)
    return True


# Hubs: what they prove, and links between them.


@kernel
def _bound(search: _Search) -> int:
    """room(W) + rank(G − W) for the nodes W that are not good.

    The rank is counted in the network itself, so that the bound holds whatever was marked: links
    that were tried in vain are passed over then, and the forest might not span all of G − W.
    """
    part, most = np.arange(len(search.room)), 0
    for v in range(len(search.room)):
        if not search.good[v]:
            most += search.room[v]
    for place in range(len(search.one)):
        u, v = search.one[place], search.other[place]
        if search.good[u] and search.good[v]:
            a, b = _oldest(u, part), _oldest(v, part)
            if a != b:
                part[a] = b
                most += 1
    return most


@kernel
def _exchanged(search: _Search, left: Flags) -> bool:
    """Exchange a link between hubs for one from a hub to somebody with room, across the same gap.

    Links that were exchanged are `left` for good, until the forest grows: so this ends.
    """
    for place in range(len(search.one)):
        if not search.chosen[place] or left[place]:
            continue
        one, other = search.one[place], search.other[place]
        if search.good[one] or search.good[other]:
            continue
        left[place] = True
        _give(search, place)
        _root(search)
        for hub in (one, other):
            new = _across(search, hub)
            if new >= 0:
                _take(search, new)
                return True
        _take(search, place)
    return False


@kernel
def _across(search: _Search, hub: int) -> int:
    """A link of a hub to a good node with room in another tree; NONE if there is none."""
    for at in range(search.starts[hub], search.starts[hub + 1]):
        place = search.places[at]
        to = _far(search, place, hub)
        with_room = search.good[to] and search.degree[to] < search.room[to]
        if with_room and search.tree[to] != search.tree[hub]:
            return int(place)
    return NONE
