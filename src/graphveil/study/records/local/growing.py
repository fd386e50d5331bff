"""Growing: the sealed graph, and what becomes of it when the waiting records arrive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphveil.graph.intake.appending import append
from graphveil.study.records.holding import Stored
from graphveil.study.records.local import batches, segments
from graphveil.study.records.local.batches import Pending
from graphveil.study.records.local.kept import keeping as kept_files
from graphveil.study.records.local.kept.graph import KeptGraph

if TYPE_CHECKING:
    from graphveil.engines import Engine
    from graphveil.graph.degrees import FinalDegrees
    from graphveil.graph.sequence import GraphSequence


@dataclass(frozen=True, eq=False)
class Sealed:
    """Everything up to the last sealed step; a secret.

    Attributes:
        graph: all of it.
        kept: what was kept of it for the next command, as of that step or one before.
    """

    graph: GraphSequence = field(repr=False)
    kept: KeptGraph | None = field(repr=False)

    @property
    def degrees(self) -> FinalDegrees | None:
        """Everybody's links at a step up to now, if they were kept."""
        return self.kept.degrees if self.kept else None


def sealed(stored: Stored, engine: Engine) -> Sealed:
    """The sealed graph: what was kept of it, and the segments behind that."""
    empty, ledger = segments.nothing_sealed(stored.promise), stored.ledger
    kept = kept_files.load_graph(stored.folder, kept_files.newest(ledger), empty, engine.keeping)
    before = kept.sequence if kept else None
    found = segments.load(stored.folder.segments, ledger.sealed, stored.promise, before)
    return Sealed(found, kept)


def waiting(stored: Stored, found: Sealed) -> Pending:
    """What was added but is not sealed."""
    return batches.load(stored.folder.batches, stored.ledger.batches, found.graph)


def grown(stored: Stored, found: Sealed, through: int) -> GraphSequence:
    """The sealed graph with the next steps, up to the step `through`."""
    due = waiting(stored, found).until(through, found.graph)
    return append(found.graph, due.resolved(), late="join", upto=through).sequence
