"""The graphs that are measured: grown from a seed, the same on every machine.

Every node cites older nodes. A citation is copied from the list of a node that is cited
already (which closes a triangle), or follows an earlier citation (which makes the degrees
heavy-tailed), or goes to any older node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyarrow import parquet

from graphveil.kernels import kernel

DATA = Path(__file__).parent / "data"
HUB_LINKS = 200_000
PIECE = 1_000_000  # rows that are written at a time
TEXT_ID = 20  # characters
SEEDLINGS = 10_000  # the first nodes cite anyone, or they would become hubs of all later ones

Labels = NDArray[np.int32]
Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """What a graph is grown from; copying and preferring are in percent of citations."""

    nodes: int
    edges: int
    steps: int
    copying: int
    preferring: int
    seed: int

    def shrunk(self, factor: int) -> Recipe:
        """The same kind of graph with a fraction of its nodes and edges."""
        return replace(self, nodes=self.nodes // factor, edges=self.edges // factor)

    def multiplied(self, times: int) -> Recipe:
        """The same kind of graph with several times its nodes and edges."""
        return replace(self, nodes=self.nodes * times, edges=self.edges * times)


RECIPES = {
    "A": Recipe(nodes=100_000, edges=500_000, steps=15, copying=40, preferring=20, seed=1),
    "B": Recipe(nodes=3_800_000, edges=16_500_000, steps=37, copying=41, preferring=0, seed=2),
}


@dataclass(frozen=True, eq=False)
class Graph:
    """A grown graph; nodes are numbered by arrival, edges stand in order of the newer end.

    Attributes:
        name: how the tables call it.
        node_step: (nodes,) the step of each node, never falling.
        newer: (edges,) the citing node, never falling.
        older: (edges,) the cited node.
        ids: (nodes,) a shuffled id per node, used in files.
        steps: how many steps there are.
    """

    name: str
    node_step: Labels
    newer: Labels
    older: Labels
    ids: Labels
    steps: int

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.node_step)

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.newer)

    def node_ends(self) -> Positions:
        """(steps,) how many nodes have arrived by the end of each step."""
        return np.searchsorted(self.node_step, np.arange(self.steps), side="right")

    def edge_ends(self) -> Positions:
        """(steps,) how many edges have appeared by the end of each step."""
        return np.searchsorted(self.newer, self.node_ends(), side="left")

    def head(self, steps: int) -> Graph:
        """The graph as it was after its first `steps` steps."""
        nodes, edges = self.node_ends()[steps - 1], self.edge_ends()[steps - 1]
        return replace(
            self,
            name=f"{self.name}, first {steps} steps",
            node_step=self.node_step[:nodes],
            newer=self.newer[:edges],
            older=self.older[:edges],
            ids=self.ids[:nodes],
            steps=steps,
        )


@kernel
def _draw(state: NDArray[np.uint64], below: int) -> int:
    """A pseudo-random whole number in 0..below-1 (a linear congruential generator)."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64((state[0] >> np.uint64(33)) % np.uint64(below))  # type: ignore[return-value]


@kernel
def _candidate(
    state: NDArray[np.uint64],
    node: int,
    placed: int,
    starts: Positions,
    targets: Labels,
    copying: int,
    preferring: int,
) -> int:
    """A node that `node` might cite after it has cited `placed` others."""
    start = starts[node]
    if placed > 0 and node > SEEDLINGS and _draw(state, 100) < copying:
        friend = targets[start + _draw(state, placed)]
        length = starts[friend + 1] - starts[friend]
        if length > 0:
            return np.int64(targets[starts[friend] + _draw(state, length)])  # type: ignore[return-value]
    if start > 0 and _draw(state, 100) < preferring:
        return np.int64(targets[_draw(state, start)])  # type: ignore[return-value]
    return _draw(state, node)


@kernel
def _contains(values: Labels, value: int) -> bool:
    for known in values:  # noqa: SIM110 (numba compiles the loop, not the generator)
        if known == value:
            return True
    return False


@kernel
def _cite(wanted: Labels, copying: int, preferring: int, seed: int) -> tuple[Positions, Labels]:
    """Let every node in turn cite as many older nodes as it wants; unmet wishes carry over."""
    nodes = len(wanted)
    state = np.full(1, seed, dtype=np.uint64)
    starts = np.zeros(nodes + 1, dtype=np.int64)
    targets = np.empty(wanted.sum(), dtype=np.int32)
    carried = 0
    for node in range(nodes):
        start, placed = starts[node], 0
        wish = min(wanted[node] + carried, node // 8)
        tries = 10 * wish
        while placed < wish and tries > 0:
            tries -= 1
            cited = _candidate(state, node, placed, starts, targets, copying, preferring)
            if not _contains(targets[start : start + placed], cited):
                targets[start + placed] = cited
                placed += 1
        carried += wanted[node] - placed
        starts[node + 1] = start + placed
    return starts, targets[: starts[nodes]]


def _wishes(recipe: Recipe, rng: np.random.Generator) -> Labels:
    """How many older nodes each node wants to cite: a long tail with the exact sum."""
    shares = rng.lognormal(sigma=0.8, size=recipe.nodes).cumsum()
    ends = np.rint(shares / shares[-1] * recipe.edges).astype(np.int64)
    wishes: Labels = np.diff(ends, prepend=0).astype(np.int32)
    return wishes


def _node_steps(nodes: int, steps: int) -> Labels:
    """Steps that grow slowly, so that the last of 37 is about 3% of the whole."""
    shares = np.linspace(0.88, 1.12, steps).cumsum()
    ends = np.rint(shares / shares[-1] * nodes).astype(np.int64)
    steps_of_nodes: Labels = np.repeat(np.arange(steps, dtype=np.int32), np.diff(ends, prepend=0))
    return steps_of_nodes


def grow(name: str, recipe: Recipe) -> Graph:
    """Grow one graph."""
    rng = np.random.default_rng(recipe.seed)
    wanted = _wishes(recipe, rng)
    starts, targets = _cite(wanted, recipe.copying, recipe.preferring, recipe.seed)
    if len(targets) != recipe.edges:
        raise RuntimeError(f"graph {name} has {len(targets)} edges instead of {recipe.edges}")
    newer = np.repeat(np.arange(recipe.nodes, dtype=np.int32), np.diff(starts))
    ids = rng.permutation(recipe.nodes).astype(np.int32)
    node_step = _node_steps(recipe.nodes, recipe.steps)
    return Graph(name, node_step, newer, targets, ids, recipe.steps)


def with_steps(graph: Graph, steps: int) -> Graph:
    """The same graph, cut into another number of steps."""
    node_step = _node_steps(graph.nodes, steps)
    return replace(graph, name=f"{graph.name}, {steps} steps", node_step=node_step, steps=steps)


def with_late_hub(graph: Graph) -> Graph:
    """The same graph and, at its last step, one node that links to very many others."""
    links = min(HUB_LINKS, graph.nodes // 19)
    linked = np.random.default_rng(3).choice(graph.nodes, links, replace=False)
    return Graph(
        f"{graph.name} with a late hub",
        np.append(graph.node_step, np.int32(graph.steps - 1)),
        np.append(graph.newer, np.full(links, graph.nodes, dtype=np.int32)),
        np.append(graph.older, np.sort(linked).astype(np.int32)),
        np.append(graph.ids, np.int32(graph.nodes)),
        graph.steps,
    )


def with_turned_edges(graph: Graph) -> Graph:
    """The same graph with every second edge or so turned round; for directed counts only."""
    turned = np.random.default_rng(4).random(graph.edges) < 0.5
    newer, older = graph.newer, graph.older
    return replace(
        graph,
        name=f"{graph.name} with turned edges",
        newer=np.where(turned, older, newer),
        older=np.where(turned, newer, older),
    )


def like_a_tree(nodes: int, steps: int) -> Graph:
    """Most nodes link to one older node, as the infected do; a few to a second one."""
    chance = np.random.default_rng(5)
    chances, later = ((0.8, 0.02), np.arange(1, nodes, dtype=np.int32))
    newer = np.sort(np.concatenate([later[chance.random(nodes - 1) < each] for each in chances]))
    older = (chance.random(len(newer)) * newer).astype(np.int32)
    ids = np.arange(nodes, dtype=np.int32)
    return Graph("a network like a tree", _node_steps(nodes, steps), newer, older, ids, steps)


@dataclass(frozen=True)
class Pair:
    """The two files of a graph: nodes(node, time) and edges(source, target)."""

    nodes: Path
    edges: Path


def _frames(graph: Graph) -> tuple[pl.DataFrame, pl.DataFrame]:
    nodes = pl.DataFrame({"node": graph.ids, "time": graph.node_step + 1})
    edges = pl.DataFrame({"source": graph.ids[graph.newer], "target": graph.ids[graph.older]})
    return nodes.cast(pl.Int64), edges.cast(pl.Int64)


def _with_text_ids(frame: pl.DataFrame) -> pl.DataFrame:
    """Ids of twenty characters, as registers have them."""
    ids = [name for name in frame.columns if name != "time"]
    return frame.with_columns(
        pl.concat_str(pl.lit("P"), pl.col(name).cast(pl.String).str.zfill(TEXT_ID - 1)).alias(name)
        for name in ids
    )


def _mark(column: Labels) -> int:
    """A short mark of a column, so that files of an older recipe are never reused."""
    return crc32(column.data)


def files(graph: Graph, suffix: str, *, texts: bool = False) -> Pair:
    """The graph's pair of CSV or Parquet files, written unless they are there already."""
    folder = DATA / f"{graph.name}-{_mark(graph.older) ^ _mark(graph.node_step):08x}"
    folder = folder / "texts" if texts else folder
    pair = Pair(folder / f"nodes.{suffix}", folder / f"edges.{suffix}")
    if not (pair.nodes.exists() and pair.edges.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        frames = [_with_text_ids(each) if texts else each for each in _frames(graph)]
        _write(frames, (pair.nodes, pair.edges))
    return pair


def write_in_pieces(graph: Graph, pair: Pair) -> None:
    """The graph's pair of Parquet files, without a copy of the whole in memory."""
    _write_pieces(
        pair.nodes,
        (
            {"node": graph.ids[rows], "time": graph.node_step[rows] + 1}
            for rows in _pieces(graph.nodes)
        ),
    )
    _write_pieces(
        pair.edges,
        (
            {"source": graph.ids[graph.newer[rows]], "target": graph.ids[graph.older[rows]]}
            for rows in _pieces(graph.edges)
        ),
    )


def _pieces(many: int) -> Iterator[slice]:
    return (slice(first, first + PIECE) for first in range(0, many, PIECE))


def _write_pieces(path: Path, pieces: Iterator[dict[str, Labels]]) -> None:
    tables = (pl.DataFrame(piece).cast(pl.Int64).to_arrow() for piece in pieces)
    first = next(tables)
    with parquet.ParquetWriter(path, first.schema) as out:
        for table in chain([first], tables):
            out.write_table(table)


def _write(frames: Sequence[pl.DataFrame], paths: Sequence[Path]) -> None:
    for frame, path in zip(frames, paths, strict=True):
        unfinished = path.with_suffix(".unfinished")
        if path.suffix == ".csv":
            frame.write_csv(unfinished)
        else:
            frame.write_parquet(unfinished)
        unfinished.rename(path)  # a file with its final name is always whole
