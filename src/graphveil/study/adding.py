"""Adding: records are checked against all that is there, told about, and kept as a batch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError
from graphveil.graph.arrivals import steps_of_labels
from graphveil.graph.degrees import keeps_bound
from graphveil.graph.identity import IdIndex, same_form
from graphveil.graph.records import Records, Table
from graphveil.graph.report import IntakeReport, counted
from graphveil.graph.sequence import BOTH
from graphveil.study import batches, segments
from graphveil.study.batches import Pending, in_one_form
from graphveil.study.facts import Event
from graphveil.study.ledger import Ledger
from graphveil.study.private_tables import write_table
from graphveil.study.segments import UNSTATED, StudyGraph
from graphveil.study.store import Transaction
from graphveil.study.untidy import Tidied, maps_persons, tidy

if TYPE_CHECKING:
    import polars as pl

    from graphveil.graph.sequence import GraphSequence
    from graphveil.study.folder import Folder
    from graphveil.study.study_file import StudyFile


@dataclass(frozen=True, eq=False)
class Findings:
    """What the steward learns about a batch; private, all of it, so `repr` tells nothing.

    Attributes:
        intake: how many records met each rule.
        known_nodes: nodes that were sealed or waiting already.
        known_edges: edges that were.
        vanished_nodes: known nodes that a complete set of files no longer has.
        vanished_edges: known edges that it no longer has.
        keeps_bound: whether everybody, counted with all waiting records, keeps the bound.
        details: which records were re-dated or have vanished, for the steward to look into.
    """

    intake: IntakeReport = field(repr=False)
    known_nodes: int = field(repr=False)
    known_edges: int = field(repr=False)
    vanished_nodes: int = field(repr=False)
    vanished_edges: int = field(repr=False)
    keeps_bound: bool = field(repr=False)
    details: pl.DataFrame = field(repr=False)

    def lines(self) -> list[str]:
        """One sentence per rule that was met."""
        added, others = self.intake.lines()[:2], self.intake.lines()[2:]
        told = {
            "nodes known already": self.known_nodes,
            "edges known already": self.known_edges,
            "known nodes no longer listed: kept": self.vanished_nodes,
            "known edges no longer listed: kept": self.vanished_edges,
        }
        lines = [*added, *(counted(n, things) for things, n in told.items() if n), *others]
        if not self.keeps_bound:
            lines.append(
                "WARNING: somebody has more links than the study promises; the step in which "
                "this happens will be refused"
            )
        return lines


@dataclass(frozen=True, eq=False)
class Candidate:
    """A batch that could be added: what would be kept, and what there is to say about it."""

    pending: Pending
    last_step: int = field(repr=False)
    findings: Findings


def candidate(
    folder: Folder, ledger: Ledger, study: StudyFile, records: Records, *, complete: bool
) -> Candidate:
    """Check records against everything that is sealed or waiting; changes nothing.

    Args:
        folder: where sealed and waiting records lie.
        ledger: which of them count.
        study: the rules.
        records: as a reader found them.
        complete: whether they are all there is to know, so that what they lack has vanished.
    """
    sealed = segments.load(folder.segments, ledger.sealed, study)
    waiting = batches.load(folder.batches, ledger.batches, sealed.sequence)
    given = tidy(records, study)
    # A person's later sequence, in a file without the first, has a date of its own.
    growing = maps_persons(study.records) and not complete
    kept, redated = _as_it_was(given.records, waiting, sealed, only_earlier=growing)
    before = _waiting_report(waiting, sealed)
    grown = sealed.sequence.extend(_together(waiting.records(), kept), undated="first", late="join")
    pending = Pending.of(kept)
    added = grown.report - before
    present = _present(grown.sequence, pending, added)
    known_nodes = int(present.nodes.sum()) - added.nodes_added
    known_edges = present.edges - added.edges_added
    findings = Findings(
        intake=_report(added, len(redated), known_nodes, known_edges, given),
        known_nodes=known_nodes,
        known_edges=known_edges,
        vanished_nodes=int((~present.nodes).sum()) if complete else 0,
        vanished_edges=_edges_of(grown.sequence) - present.edges if complete else 0,
        keeps_bound=keeps_bound(grown.sequence, study.bound.bound()),
        details=_details(redated, grown.sequence, present.nodes, study, complete=complete),
    )
    last_step = max(present.last_step, sealed.sequence.steps)
    return Candidate(pending.unknown_to(sealed.sequence), last_step, findings)


def _waiting_report(waiting: Pending, sealed: StudyGraph) -> IntakeReport:
    """What the waiting records alone would tell."""
    if not len(waiting.nodes) and not len(waiting.edges):
        return IntakeReport()
    return sealed.sequence.extend(waiting.records(), undated="first", late="join").report


def keep(transaction: Transaction, folder: Folder, ledger: Ledger, batch: Candidate) -> int:
    """Write a batch and enter it; its number."""
    number = ledger.next_batch
    files = {
        "nodes": vars(write_table(folder.batches, f"{number:04}-nodes", batch.pending.nodes)),
        "edges": vars(write_table(folder.batches, f"{number:04}-edges", batch.pending.edges)),
    }
    entry = {"batch": number, "last_step": batch.last_step, **files}
    transaction.append(Event.RECORDS_ADDED, private=entry)
    return number


def _as_it_was(
    given: Records, waiting: Pending, sealed: StudyGraph, *, only_earlier: bool
) -> tuple[Records, pl.DataFrame]:
    """Known nodes keep the step that they stated first; and which ones came with another."""
    import polars as pl

    frame = given.nodes.frame
    known = pl.concat(
        [ids.alias("id") for ids in same_form(sealed.sequence.ids, waiting.nodes["node"])]
    )
    stated = np.append(np.concatenate([sealed.stated, _steps(waiting.nodes)]), UNSTATED)
    labels = IdIndex.of(known).labels(frame["node"])  # of a new node -1: the last of `stated`
    was, now = stated[labels], _steps(frame)
    late = (labels < 0) & (now != UNSTATED) & (now < sealed.sequence.steps)
    if late.any():
        _require_one_time(given.nodes, labels < 0)
    differs = now < was if only_earlier else now != was
    changed = (labels >= 0) & differs & (now != UNSTATED)
    time = pl.Series("time", np.where(labels >= 0, was, now), dtype=pl.Int32)
    kept = frame.with_columns(time.replace(UNSTATED, None))
    redated = pl.DataFrame({"node": frame["node"], "was": was, "now": now}).filter(changed)
    told = redated.sort("now").unique("node", keep="first", maintain_order=True)
    return Records(replace(given.nodes, frame=kept), given.edges), told


def _require_one_time(nodes: Table, new: NDArray[np.bool_]) -> None:
    """Refuse a new node with two times: where both are late, the graph would not see it."""
    import polars as pl

    other = pl.col("time") != pl.col("time").first().over("node")
    rows = np.flatnonzero(nodes.frame.select(other).to_series().fill_null(False).to_numpy() & new)
    if len(rows):
        raise InputError(
            "a node that stands in an earlier row comes again with another time",
            place=nodes.place(int(rows[0]), "time"),
            hint="Give each node one arrival time.",
        )


def _steps(nodes: pl.DataFrame) -> NDArray[np.int32]:
    return nodes["time"].fill_null(UNSTATED).to_numpy()


def _together(waiting: Records, given: Records) -> Records:
    """Both as one, every row with its own place."""

    def both(first: Table, second: Table, ids: list[str]) -> Table:
        frames = in_one_form([first.frame, second.frame.select(first.frame.columns)], ids)
        return Table.joined([replace(first, frame=frames[0]), replace(second, frame=frames[1])])

    return Records(
        both(waiting.nodes, given.nodes, ["node"]),
        both(waiting.edges, given.edges, ["source", "target"]),
    )


@dataclass(frozen=True, eq=False)
class _Present:
    """What of a graph some records mention.

    Attributes:
        nodes: whether each node is mentioned.
        edges: how many different edges are.
        last_step: when the last of what they mention arrives.
    """

    nodes: NDArray[np.bool_]
    edges: int
    last_step: int


def _present(grown: GraphSequence, pending: Pending, added: IntakeReport) -> _Present:
    mentioned = grown.index.labels(pending.nodes["node"])
    nodes = np.zeros(grown.nodes, np.bool_)
    nodes[mentioned] = True
    ends = [grown.index.labels(pending.edges[end]) for end in ("source", "target")]
    arrivals = steps_of_labels(grown.node_offsets, np.concatenate([mentioned, *ends]))
    own = pending.edges["time"].fill_null(UNSTATED).to_numpy()
    last_step = int(np.concatenate([arrivals, own]).max(initial=0))
    # Without repetitions every edge is new; to find the different ones would take a while.
    edges = _distinct(grown, *ends) if added.repeated_edges else added.edges_added
    return _Present(nodes, edges, last_step)


def _edges_of(graph: GraphSequence) -> int:
    entries = np.concatenate([graph.entries, graph.late.entries])
    both = int(((entries & BOTH) == BOTH).sum()) if graph.directed else 0
    return len(entries) + both


def _distinct(graph: GraphSequence, source: NDArray[np.int32], target: NDArray[np.int32]) -> int:
    """How many different edges these pairs are; a self-link is none."""
    ends = np.stack([source, target]).astype(np.int64)[:, source != target]
    low, high = ends if graph.directed else np.sort(ends, axis=0)
    return len(np.unique(low << 32 | high))


def _report(
    added: IntakeReport, redated: int, known_nodes: int, known_edges: int, given: Tidied
) -> IntakeReport:
    """The graph's report, with what a study knows better.

    The graph compares times with the step at which a late record was let in, not with what it
    stated; and to the graph, what is known already is a repetition.
    """
    return replace(
        added,
        redated_nodes=redated,
        repeated_nodes=added.repeated_nodes + added.redated_nodes - known_nodes,
        repeated_edges=added.repeated_edges - known_edges,
        trimmed_ids=given.trimmed,
        folded_nodes=given.folded,
    )


def _details(
    redated: pl.DataFrame,
    grown: GraphSequence,
    present: NDArray[np.bool_],
    study: StudyFile,
    *,
    complete: bool,
) -> pl.DataFrame:
    """One row per record that the steward may want to look into."""
    import polars as pl

    def label(step: int) -> str:
        return "" if step == UNSTATED else study.steps().label(step)

    changed = pl.DataFrame(
        {
            "finding": ["re-dated"] * len(redated),
            "node": redated["node"].cast(pl.String),
            "was": [label(step) for step in redated["was"].to_list()],
            "now": [label(step) for step in redated["now"].to_list()],
        }
    )
    gone = grown.ids.filter(pl.Series(~present & complete)).cast(pl.String)
    vanished = pl.DataFrame({"node": gone}).select(
        pl.lit("no longer listed").alias("finding"), "node", was=pl.lit(""), now=pl.lit("")
    )
    return pl.concat([changed.cast(pl.String), vanished]).sort("finding", "node")
