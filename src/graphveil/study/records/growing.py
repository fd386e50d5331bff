"""Growing: the sealed graph, and what becomes of it when the waiting records arrive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphveil.graph.intake.appending import append
from graphveil.study.ledger import Ledger
from graphveil.study.records import batches, segments
from graphveil.study.records.batches import Pending
from graphveil.study.records.kept import keeping as kept_files
from graphveil.study.records.kept.graph import KeptGraph
from graphveil.study.storage.folder import Folder

if TYPE_CHECKING:
    from graphveil.engines import Engine
    from graphveil.graph.degrees import FinalDegrees
    from graphveil.graph.sequence import GraphSequence
    from graphveil.study.promise.promise import Promise


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


def sealed(folder: Folder, ledger: Ledger, promise: Promise, engine: Engine) -> Sealed:
    """The sealed graph: what was kept of it, and the segments behind that."""
    empty = segments.nothing_sealed(promise)
    kept = kept_files.load_graph(folder, kept_files.newest(ledger), empty, engine.keeping)
    before = kept.sequence if kept else None
    return Sealed(segments.load(folder.segments, ledger.sealed, promise, before), kept)


def waiting(folder: Folder, ledger: Ledger, found: Sealed) -> Pending:
    """What was added but is not sealed."""
    return batches.load(folder.batches, ledger.batches, found.graph)


def grown(folder: Folder, ledger: Ledger, found: Sealed, through: int) -> GraphSequence:
    """The sealed graph with the next steps, up to the step `through`."""
    due = waiting(folder, ledger, found).until(through, found.graph)
    return append(found.graph, due.resolved(), late="join", upto=through).sequence
