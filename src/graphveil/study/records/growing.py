"""Growing: the sealed graph, and what becomes of it when the waiting records arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.graph.intake.appending import append
from graphveil.study.ledger import Ledger
from graphveil.study.records import batches, segments
from graphveil.study.records.batches import Pending
from graphveil.study.storage.folder import Folder

if TYPE_CHECKING:
    from graphveil.graph.sequence import GraphSequence
    from graphveil.study.promise import Promise


def sealed_and_waiting(
    folder: Folder, ledger: Ledger, promise: Promise
) -> tuple[GraphSequence, Pending]:
    """Everything up to the last sealed step, and what was added but is not sealed."""
    sealed = segments.load(folder.segments, ledger.sealed, promise)
    return sealed, batches.load(folder.batches, ledger.batches, sealed)


def grown(folder: Folder, ledger: Ledger, promise: Promise, through: int) -> GraphSequence:
    """The sealed graph with the next steps, up to the step `through`."""
    sealed, waiting = sealed_and_waiting(folder, ledger, promise)
    due = waiting.until(through, sealed)
    return append(sealed, due.resolved(), late="join", upto=through).sequence
