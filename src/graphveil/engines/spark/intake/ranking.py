"""Ranking: new nodes in order of step and identity, in files whose place tells their labels.

A few nodes of every part tell the driver where to cut, so that files are of like size. Each part
then sends its nodes to the files in which they belong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.engines.spark.graph import NodePart, SparkGraph
from graphveil.engines.spark.intake.people import PartFound
from graphveil.engines.spark.jobs import SparkCluster
from graphveil.engines.spark.packets import Packet, as_arrow, opened_rows, packets
from graphveil.engines.spark.workspace import Workspace
from graphveil.graph.intake.identity import identity_order

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
IN_A_FILE = 1 << 18  # nodes, or about as many


class Cuts(NamedTuple):
    """Where files begin: steps and ids, in their order; and whether ids are text."""

    steps: Int32s
    ids: list[object]
    text: bool

    @property
    def series(self) -> pl.Series:
        """The ids."""
        import polars as pl

        return pl.Series(self.ids, dtype=pl.String if self.text else pl.Int64)

    def ranks(self, ids: pl.Series, steps: Int32s) -> Int64s:
        """In which file each node belongs."""
        import polars as pl

        both = pl.concat([ids.rename(""), self.series.rename("")])
        order = identity_order(both, np.concatenate([steps, self.steps]))
        found = np.empty(len(both), np.int64)
        found[order] = np.cumsum(order >= len(ids))
        return found[: len(ids)]


class _Ranked(NamedTuple):
    """A file of nodes: how many at which steps."""

    name: str
    rows: int
    steps: Int32s
    counts: Int64s


def ranked(
    cluster: SparkCluster, graph: SparkGraph, parts: Sequence[PartFound]
) -> tuple[tuple[NodePart, ...], Int64s]:
    """Files of the new nodes in order of labels, and how many arrive at each step."""
    count, text = sum(each.new for each in parts), graph.text_ids
    if not count:
        return (), np.zeros(graph.steps, np.int64)
    cuts = _cuts(parts, max(1, count // IN_A_FILE), text=text)
    came = cluster.exchange(
        partial(_send, graph.workspace, cuts),
        [each.each for each in parts if each.each and each.new],
        partial(_write, graph.workspace, text),
        len(cuts.ids) + 1,
    )
    people, first, total = [], graph.nodes, np.zeros(graph.steps, np.int64)
    for file in filter(None, came):
        people.append(NodePart(file.name, first, file.rows, text))
        first += file.rows
        total = np.pad(total, (0, max(0, int(file.steps.max()) + 1 - len(total))))
        total[file.steps] += file.counts
    return tuple(people), total


def _cuts(parts: Sequence[PartFound], files: int, *, text: bool) -> Cuts:
    """Cuts between so many files of about the same size, as far as the samples tell.

    A part stands for as many nodes as it has, whatever the size of its sample.
    """
    sampled = [each for each in parts if each.new]
    cuts = Cuts(
        np.concatenate([each.sample[0] for each in sampled]),
        [node for each in sampled for node in each.sample[1]],
        text,
    )
    weights = np.concatenate(
        [np.full(len(each.sample[1]), each.new / len(each.sample[1])) for each in sampled]
    )
    order = identity_order(cuts.series, cuts.steps)
    before = np.cumsum(weights[order])
    aims = before[-1] * np.arange(1, files) / files
    chosen = order[np.unique(np.searchsorted(before, aims).clip(max=len(order) - 1))]
    return Cuts(cuts.steps[chosen], [cuts.ids[place] for place in chosen], text)


def _schema(*, text: bool) -> pa.Schema:
    import pyarrow as pa

    kind = pa.string() if text else pa.int64()
    return pa.schema([("node", kind), ("stated", pa.int32()), ("step", pa.int32())])


def _send(workspace: Workspace, cuts: Cuts, name: str) -> Iterator[Packet]:
    """The new nodes of a part in packets; runs on a worker."""
    import polars as pl

    frame = pl.DataFrame(workspace.read(name, ["node", "states", "step", "new"]))
    new = frame.filter("new").select("node", pl.col("states").alias("stated"), "step")
    rows = as_arrow(new, _schema(text=cuts.text))
    yield from packets(rows, cuts.ranks(new["node"], new["step"].to_numpy()))


def _write(workspace: Workspace, text: bool, part: int, came: Iterator[Packet]) -> _Ranked | None:
    """Write a file in its order; runs on a worker."""
    import polars as pl
    import pyarrow as pa

    rows = [opened_rows(packet.content, _schema(text=text)) for packet in came]
    if not rows:
        return None
    table = pa.Table.from_batches(rows).combine_chunks()
    steps = table["step"].to_numpy()
    order = identity_order(pl.Series(table["node"]), steps)
    name = workspace.write("nodes", table.select(["node", "stated"]).take(order))
    return _Ranked(name, len(table), *np.unique(steps, return_counts=True))
