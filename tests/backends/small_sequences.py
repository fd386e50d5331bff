"""Small growing graphs for the engine's tests, built by hand from plain edge lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.calendar.calendar import Calendar
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, GraphSequence, LateEdges

Link = tuple[int, int, int]  # source, target, step; an undirected link has any source


@dataclass(frozen=True)
class Growth:
    """A growing graph in plain words: when nodes arrive (ascending), when links appear."""

    directed: bool
    steps: int
    arrivals: tuple[int, ...]
    links: tuple[Link, ...]

    def until(self, steps: int) -> Growth:
        """What has happened in the first steps."""
        arrivals = tuple(step for step in self.arrivals if step < steps)
        links = tuple(link for link in self.links if link[2] < steps)
        return Growth(self.directed, steps, arrivals, links)

    def matrix(self, step: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Links and nodes present at a step, as a statistic's definition takes them."""
        size = len(self.arrivals)
        links = np.zeros((size, size), dtype=np.uint8)
        for source, target, since in self.links:
            if since <= step:
                links[source, target] = 1
                links[target, source] |= not self.directed
        return links, np.array([since <= step for since in self.arrivals], dtype=np.uint8)

    def recent(self, step: int, window: int | None) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """The same among those who arrived in the last steps, with how long they are there."""
        links, present = self.matrix(step)
        if window is None:
            return links, present
        there = np.array([step + 1 - since for since in self.arrivals], dtype=np.int64)
        there[(there < 1) | (there > window)] = 0
        links[there == 0] = links[:, there == 0] = 0
        return links, there.astype(np.uint8)

    def sequence(self) -> GraphSequence:
        """The same in columns."""
        pairs = _bits_by_pair(self)
        prompt = sorted(key for key in pairs if key[2] == self.arrivals[key[0]])
        late = sorted((key for key in pairs if key not in set(prompt)), key=lambda k: (k[2], *k))
        lengths = np.bincount([newer for newer, _, _ in prompt], minlength=len(self.arrivals))
        return GraphSequence(
            calendar=cast(Calendar, None),
            directed=self.directed,
            oriented=False,
            names=pl.Series([], dtype=pl.Int64),
            stated=np.array(self.arrivals, dtype=np.int32),
            node_offsets=_offsets(np.bincount(self.arrivals, minlength=self.steps)),
            offsets=_offsets(lengths),
            entries=_packed([(older, pairs[newer, older, s]) for newer, older, s in prompt]),
            late=LateEdges(
                offsets=_offsets(np.bincount([s for _, _, s in late], minlength=self.steps)),
                newer=np.array([newer for newer, _, _ in late], dtype=np.int32),
                entries=_packed([(older, pairs[newer, older, s]) for newer, older, s in late]),
            ),
        )


def _bits_by_pair(growth: Growth) -> dict[tuple[int, int, int], int]:
    """The direction bits of each (newer, older, step)."""
    pairs: dict[tuple[int, int, int], int] = {}
    for source, target, step in growth.links:
        key = (max(source, target), min(source, target), step)
        bits = FORWARD if source < target else BACKWARD
        pairs[key] = pairs.get(key, 0) | (bits if growth.directed else BOTH)
    return pairs


def _packed(pairs: list[tuple[int, int]]) -> NDArray[np.int32]:
    return np.array([older << 2 | bits for older, bits in pairs], dtype=np.int32)


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


@st.composite
def growths(draw: st.DrawFn, *, directed: bool, late: bool) -> Growth:
    """Random growing graphs of up to nine nodes and five steps, empty steps included."""
    steps = draw(st.integers(1, 5))
    arrivals = sorted(draw(st.lists(st.integers(0, steps - 1), max_size=9)))
    pairs = [(u, v) for v in range(len(arrivals)) for u in range(v)]
    if directed:
        pairs += [(v, u) for u, v in pairs]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    links = []
    for source, target in chosen:
        earliest = max(arrivals[source], arrivals[target])
        links.append((source, target, draw(st.integers(earliest, steps - 1)) if late else earliest))
    return Growth(directed, steps, tuple(arrivals), tuple(links))


def random_growth(
    nodes: int, steps: int, probability: float, *, directed: bool, late: bool, seed: int
) -> Growth:
    """A larger random growing graph."""
    random = np.random.default_rng(seed)
    arrivals = np.sort(random.integers(0, steps, nodes))
    linked = random.random((nodes, nodes)) < probability
    links = []
    for source, target in np.argwhere(linked if directed else np.tril(linked)):
        if source != target:
            earliest = arrivals[max(source, target)]
            step = random.integers(earliest, steps) if late else earliest
            links.append((int(source), int(target), int(step)))
    return Growth(directed, steps, tuple(arrivals.tolist()), tuple(links))
