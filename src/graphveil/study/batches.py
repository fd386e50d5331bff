"""Batches: tidy records that were added and wait for their step to be sealed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphveil.graph.identity import IdIndex
from graphveil.graph.links import already_linked
from graphveil.graph.records import Records, Table
from graphveil.study.ledger import BatchEntry
from graphveil.study.private_tables import read_table
from graphveil.study.segments import UNSTATED, StudyGraph

if TYPE_CHECKING:
    import polars as pl

    from graphveil.graph.sequence import GraphSequence

OURS = "the records that were added before"


@dataclass(frozen=True, eq=False)
class Pending:
    """Tidy records: nodes(node, time) and edges(source, target, time), times are steps; secret."""

    nodes: pl.DataFrame = field(repr=False)
    edges: pl.DataFrame = field(repr=False)

    @classmethod
    def of(cls, records: Records) -> Pending:
        """Tidy records without their places."""
        return cls(
            records.nodes.frame.select("node", "time"),
            records.edges.frame.select("source", "target", "time"),
        )

    @classmethod
    def joined(cls, parts: Sequence[Pending]) -> Pending:
        """All of them; of a node that comes again, the first record counts."""
        import polars as pl

        nodes = pl.concat(in_one_form([part.nodes for part in parts], ["node"]))
        edges = pl.concat(in_one_form([part.edges for part in parts], ["source", "target"]))
        return cls(nodes.unique("node", keep="first", maintain_order=True), edges)

    def records(self) -> Records:
        """As the graph takes them in."""
        return Records(Table(self.nodes, OURS), Table(self.edges, OURS))

    def until(self, step: int, sealed: GraphSequence) -> Pending:
        """Those that can arrive at `step` or before."""
        import polars as pl

        due = pl.col("time").is_null() | (pl.col("time") <= step)
        nodes, edges = self.nodes.filter(due), self.edges.filter(due)
        if len(nodes) < len(self.nodes):
            here, arrived = IdIndex.of(nodes["node"]), sealed.index
            for end in ("source", "target"):
                found = (here.labels(edges[end]) >= 0) | (arrived.labels(edges[end]) >= 0)
                edges = edges.filter(found)
        return Pending(nodes, edges)

    def unknown_to(self, sealed: GraphSequence) -> Pending:
        """Those that the sealed graph does not have."""
        nodes = self.nodes.filter(sealed.index.labels(self.nodes["node"]) < 0)
        ends = [sealed.index.labels(self.edges[end]) for end in ("source", "target")]
        return Pending(nodes, self.edges.filter(~already_linked(sealed, *ends)))

    def stated_in(self, grown: GraphSequence, sealed: StudyGraph) -> StudyGraph:
        """The grown graph with the step that each node's record stated."""
        import polars as pl

        stated = np.full(grown.nodes, UNSTATED, np.int32)
        stated[: len(sealed.stated)] = sealed.stated
        labels = grown.index.labels(self.nodes["node"])
        times = self.nodes["time"].fill_null(UNSTATED).cast(pl.Int32).to_numpy()
        fresh = labels >= len(sealed.stated)
        stated[labels[fresh]] = times[fresh]
        return StudyGraph(grown, stated)


def load(folder: Path, entries: Sequence[BatchEntry], sealed: GraphSequence) -> Pending:
    """Everything that was added, not withdrawn, and not sealed yet."""
    waiting = [each for each in entries if each.last_step >= sealed.steps]
    if not waiting:
        return nothing()
    parts = [
        Pending(read_table(folder, each.nodes), read_table(folder, each.edges)) for each in waiting
    ]
    return Pending.joined(parts).unknown_to(sealed)


def nothing() -> Pending:
    """No records."""
    import polars as pl

    ids, time = pl.Int64(), pl.Int32()
    return Pending(
        pl.DataFrame(schema={"node": ids, "time": time}),
        pl.DataFrame(schema={"source": ids, "target": ids, "time": time}),
    )


def in_one_form(frames: Sequence[pl.DataFrame], ids: Sequence[str]) -> list[pl.DataFrame]:
    """The frames with ids that can be compared: text, if they are text anywhere."""
    import polars as pl

    numeric = all(frame.schema[column] == pl.Int64 for frame in frames for column in ids)
    kind = pl.Int64 if numeric else pl.String
    return [frame.with_columns(pl.col(ids).cast(kind)) for frame in frames]
