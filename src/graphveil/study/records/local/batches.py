"""Batches: resolved records that were added and wait for their step to be sealed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.graph.intake.identity import IdIndex
from graphveil.graph.intake.links import already_linked
from graphveil.graph.intake.records import Table
from graphveil.graph.intake.resolving import Resolved, nothing
from graphveil.study.ledger import BatchEntry, StoredTable
from graphveil.study.records.private_tables import read_table

if TYPE_CHECKING:
    import polars as pl

    from graphveil.graph.sequence import GraphSequence

OURS = "the records that were added before"


@dataclass(frozen=True, eq=False)
class Pending:
    """Resolved rows without their places; a secret.

    Attributes:
        nodes: columns `node` and `step`.
        edges: columns `source`, `target` and `step`.
    """

    nodes: pl.DataFrame = field(repr=False)
    edges: pl.DataFrame = field(repr=False)

    @classmethod
    def of(cls, resolved: Resolved) -> Pending:
        """The rows of resolved records."""
        return cls(resolved.nodes.frame, resolved.edges.frame)

    @classmethod
    def joined(cls, parts: Sequence[Pending]) -> Pending:
        """All of them; of a node that comes again, the first record counts."""
        import polars as pl

        # Ids that are numbers in one part and text in another are text in the whole.
        nodes = pl.concat([part.nodes for part in parts], how="vertical_relaxed")
        edges = pl.concat([part.edges for part in parts], how="vertical_relaxed")
        return cls(nodes.unique("node", keep="first", maintain_order=True), edges)

    def resolved(self) -> Resolved:
        """As the graph takes them in."""
        return Resolved(Table(self.nodes, OURS), Table(self.edges, OURS))

    def until(self, step: int, sealed: GraphSequence) -> Pending:
        """Those that can arrive at `step` or before."""
        import polars as pl

        due = pl.col("step").is_null() | (pl.col("step") <= step)
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


def load(folder: Path, entries: Sequence[BatchEntry], sealed: GraphSequence) -> Pending:
    """Everything that was added, not withdrawn, and not sealed yet."""
    waiting = [each for each in entries if each.last_step >= sealed.steps]
    parts = [Pending(_rows(folder, each.nodes), _rows(folder, each.edges)) for each in waiting]
    return Pending.joined(parts).unknown_to(sealed) if parts else Pending.of(nothing())


def _rows(folder: Path, stored: StoredTable) -> pl.DataFrame:
    # Batches of the first versions call the column of steps `time`.
    return read_table(folder, stored).rename({"time": "step"}, strict=False)
