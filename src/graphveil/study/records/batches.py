"""Batches of this machine: records that wait, and new ones checked against everything there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.graph.groups import Groups
from graphveil.graph.intake.appending import Intake, LeftOut, append, filtered, listed
from graphveil.graph.intake.arrivals import (
    Present,
    known_nodes,
    redated_nodes,
    relabelled_nodes,
    steps_of_labels,
)
from graphveil.graph.intake.identity import IdIndex, look_alikes, shortest_form
from graphveil.graph.intake.links import UNKNOWN_END, already_linked
from graphveil.graph.intake.records import AWAITED, Table
from graphveil.graph.intake.resolving import (
    Resolved,
    dated_only,
    nothing,
    resolve,
    stated_steps,
    strata_of,
    until_end,
)
from graphveil.graph.sequence import GraphSequence
from graphveil.records.table_file import joined
from graphveil.study.backends import AddOptions, Stored, rules_of
from graphveil.study.ledger import BatchEntry, StoredTable
from graphveil.study.records import checkpoint, segments
from graphveil.study.records.checkpoint import CachedGraph
from graphveil.study.records.findings import (
    Findings,
    bound_kept,
    found_out,
    no_details,
    uncounted,
)
from graphveil.study.records.segments import (
    LINK,
    links_awaiting,
    read_table,
    write_list,
    write_table,
)

if TYPE_CHECKING:
    from graphveil.backends import Engine
    from graphveil.graph.degrees import FinalDegrees
    from graphveil.graph.intake.records import Records
    from graphveil.study.folder import Folder


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
        # Ids that are numbers in one part and text in another are text in the whole.
        nodes = pl.concat([part.nodes for part in parts], how="vertical_relaxed")
        edges = pl.concat([part.edges for part in parts], how="vertical_relaxed")
        return cls(nodes.unique("node", keep="first", maintain_order=True), edges)

    def resolved(self) -> Resolved:
        """As the graph takes them in."""
        return Resolved(Table(self.nodes, OURS), Table(self.edges, OURS))

    def until(self, step: int, sealed: GraphSequence) -> Pending:
        """Those that can arrive at `step` or before."""
        due = pl.col("step").is_null() | (pl.col("step") <= step)
        nodes, edges = self.nodes.filter(due), self.edges.filter(due)
        if len(nodes) < len(self.nodes):
            here, arrived = IdIndex.of(nodes["node"]), sealed.index
            for end in ("source", "target"):
                present = (here.labels(edges[end]) >= 0) | (arrived.labels(edges[end]) >= 0)
                edges = edges.filter(present)
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


# Growing: the sealed graph, and what becomes of it when the waiting records arrive.


@dataclass(frozen=True, eq=False)
class Sealed:
    """Everything up to the last sealed step; a secret.

    Attributes:
        graph: all of it.
        cached: the graph of the newest checkpoint, as of that step or an earlier one.
    """

    graph: GraphSequence = field(repr=False)
    cached: CachedGraph | None = field(repr=False)

    @property
    def degrees(self) -> FinalDegrees | None:
        """The degrees of all nodes as of the checkpoint, if there is one."""
        return self.cached.degrees if self.cached else None


def sealed(stored: Stored, engine: Engine) -> Sealed:
    """The sealed graph: the checkpoint, and the segments that were sealed after it."""
    empty, ledger = segments.nothing_sealed(stored.promise), stored.ledger
    cached = checkpoint.load_graph(
        stored.folder, checkpoint.newest(ledger), empty, engine.checkpoint_format
    )
    before = cached.sequence if cached else None
    graph = segments.load(stored.folder.segments, ledger.sealed, stored.promise, before)
    return Sealed(graph, cached)


def waiting(stored: Stored, found: Sealed) -> Pending:
    """What was added but is not sealed."""
    return load(stored.folder.batches, stored.ledger.batches, found.graph)


def grown(stored: Stored, found: Sealed, through: int) -> GraphSequence:
    """The sealed graph with the next steps, up to the step `through`."""
    due = waiting(stored, found).until(through, found.graph)
    return append(found.graph, due.resolved(), late="join", upto=through).sequence


# Checking new records against everything that is sealed or waiting, in this machine's memory.


@dataclass(frozen=True, eq=False)
class LocalValidatedBatch:
    """A batch that could be added; see `ValidatedBatch`."""

    folder: Folder
    pending: Pending
    awaiting: pl.DataFrame = field(repr=False)
    last_step: int = field(repr=False)
    findings: Findings

    def write(self, number: int) -> dict[str, Any]:
        """Write it as the batch of this number."""
        home, skipped = self.folder.batches, self.findings.skipped
        files = {
            "nodes": write_table(home, f"{number:04}-nodes", self.pending.nodes).to_data(),
            "edges": write_table(home, f"{number:04}-edges", self.pending.edges).to_data(),
        }
        if skipped:
            files["skipped"] = write_list(home, f"{number:04}-skipped", listed(skipped)).to_data()
        if len(self.awaiting):
            files["awaiting"] = write_table(home, f"{number:04}-awaiting", self.awaiting).to_data()
        return files


def candidate(
    stored: Stored, records: Records, options: AddOptions, engine: Engine
) -> LocalValidatedBatch:
    """Check records against everything that is sealed or waiting; changes nothing."""
    promise, complete = stored.promise, options.complete
    closed = sealed(stored, engine)
    graph, known = closed.graph, waiting(stored, closed).resolved()
    present = Present.of(graph)
    # A person's later sequence, in a file without the first, has a date of its own.
    only_earlier = promise.records.merges_ids and not complete
    calendar = promise.calendar
    rules = rules_of(promise.records, options.undated)

    def is_known(ids: pl.Series) -> NDArray[np.bool_]:
        return known_nodes(present, known.nodes, ids).rows

    def taken(records: Records) -> tuple[Resolved, Intake]:
        beyond, groups = options.ignore_after_end, promise.groups
        given = resolve(records, calendar, rules, beyond=beyond, groups=groups)
        if options.undated == "drop":
            given = dated_only(given, is_known)
        if options.ignore_after_end:
            given = until_end(given, calendar.last_step, is_known)
        return given, append(graph, given, late="join", waiting=known, only_earlier=only_earlier)

    rows = len(records.nodes.frame), len(records.edges.frame)
    awaited = _awaited(stored)
    records = _with_awaited(records, awaited)
    # What waited since an earlier batch may wait on, also where nothing new may be left out.
    accepted = filtered(records, taken, AWAITED if options.strict else None)
    given, (grown, report) = accepted.taken
    awaiting, left_out = _still_awaiting(accepted.left_out)
    aside = sum(int(each.table.comes_from(AWAITED).sum()) for each in accepted.left_out)
    report = replace(report, awaited_edges=len(awaited) - aside)
    mentioned = grown.index.labels(given.nodes.frame["node"])
    details = [no_details()]
    if report.redated_nodes:
        details.append(_redated(graph, known, given, only_earlier=only_earlier))
    if promise.groups:
        relabelled = _relabelled(graph, known, given, promise.groups)
        report = replace(report, relabelled_nodes=relabelled["node"].n_unique())
        details.append(relabelled)
    if complete:
        details.append(_vanished(grown, mentioned))
    keeps_bound, beyond = bound_kept(promise, engine, grown, closed.degrees)
    findings = Findings(
        intake=report,
        vanished_nodes=grown.nodes - report.nodes_added - report.known_nodes if complete else 0,
        vanished_edges=grown.edges - report.edges_added - report.known_edges if complete else 0,
        alike_ids=look_alikes(given.nodes.frame["node"], grown.ids),
        keeps_bound=keeps_bound,
        people_beyond=beyond,
        details=pl.concat(details).sort("finding", "node"),
        skipped=left_out,
        awaiting=len(awaiting),
        given=rows,
        uncounted=uncounted(stored, engine, grown),
        links=grown.edges,
        unlisted=given.unlisted,
        first=not stored.ledger.batches,
    )
    last_step = max(_last_step(grown, given, mentioned), graph.steps)
    pending = Pending.of(given).unknown_to(graph)
    return LocalValidatedBatch(stored.folder, pending, awaiting, last_step, findings)


def _awaited(stored: Stored) -> pl.DataFrame:
    """The links that wait for somebody to be known, as text."""
    newest = stored.ledger.batches[-1:]
    if newest and newest[0].awaiting is not None:
        return read_table(stored.folder.batches, newest[0].awaiting)
    return pl.DataFrame(schema=dict.fromkeys(LINK, pl.String))


def _with_awaited(records: Records, awaited: pl.DataFrame) -> Records:
    """The records, and the links that wait; these are under the same rules as all others."""
    if not len(awaited):
        return records
    ends = [shortest_form(awaited[end]) for end in ("source", "target")]
    table = Table(awaited.with_columns(ends), AWAITED)
    return replace(records, edges=joined([records.edges, table], LINK))


def _still_awaiting(left_out: Sequence[LeftOut]) -> tuple[pl.DataFrame, tuple[LeftOut, ...]]:
    """All links that name somebody unknown; and what was set aside of the new records alone."""
    awaiting = links_awaiting([each.table for each in left_out if each.rule == UNKNOWN_END])
    own = [
        replace(each, table=each.table.kept(~each.table.comes_from(AWAITED))) for each in left_out
    ]
    return awaiting, tuple(each for each in own if len(each))


def _last_step(grown: GraphSequence, given: Resolved, mentioned: NDArray[np.int32]) -> int:
    """When the last of what some records mention arrives; labels are in order of arrival."""
    edges = given.edges.frame
    ends = [grown.index.labels(edges[end]) for end in ("source", "target")]
    newest = [labels.max(keepdims=True) for labels in (mentioned, *ends) if len(labels)]
    arrivals = [steps_of_labels(grown.node_offsets, label) for label in newest]
    own = stated_steps(given.edges)
    return int(np.concatenate([*arrivals, own]).max(initial=0))


def _redated(
    sealed: GraphSequence, waiting: Resolved, given: Resolved, *, only_earlier: bool
) -> pl.DataFrame:
    """Known nodes that come with another step."""
    ids, now = given.nodes.frame["node"], stated_steps(given.nodes)
    known = known_nodes(Present.of(sealed), waiting.nodes, ids)
    return found_out(
        "re-dated", redated_nodes(known, ids, now, sealed.calendar, only_earlier=only_earlier)
    )


def _relabelled(
    sealed: GraphSequence, waiting: Resolved, given: Resolved, groups: Groups
) -> pl.DataFrame:
    """Known nodes that come with other labels."""
    ids, now = given.nodes.frame["node"], strata_of(given.nodes)
    assert now is not None, "records of a study with groups have labels"
    known = known_nodes(Present.of(sealed), waiting.nodes, ids)
    return found_out("other labels", relabelled_nodes(known, ids, now, groups))


def _vanished(grown: GraphSequence, mentioned: NDArray[np.int32]) -> pl.DataFrame:
    """Nodes that records do not mention, although they are declared complete."""
    gone = np.ones(grown.nodes, np.bool_)
    gone[mentioned] = False
    nodes = pl.DataFrame({"node": grown.ids.filter(pl.Series(gone)).cast(pl.String)})
    return found_out("no longer listed", nodes)
