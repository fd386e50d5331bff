"""Checking new records against everything that is sealed or waiting, on the workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark import batches
from graphveil.backends.spark.batches import Form, Order, Target, require_unchanged
from graphveil.backends.spark.engine import SparkEngine
from graphveil.backends.spark.graph import Workspace
from graphveil.backends.spark.intake.arrivals import everybody, nodes_at
from graphveil.backends.spark.intake.people import ArrivalRules
from graphveil.backends.spark.intake.resolving import (
    MOST_LISTED,
    NOTHING,
    PASSED,
    Note,
    PlacedRows,
    Reading,
    as_dates,
    left_out,
    read_rows,
    rows_at,
    together,
)
from graphveil.backends.spark.intake.tables import SparkTable, TableRecords, awaited_table
from graphveil.backends.spark.intake.taking import Tables, TakenIn, Waiting, taken_in
from graphveil.backends.spark.jobs import SparkCluster, failing_as_ours, mapped
from graphveil.deferred import pl
from graphveil.graph.intake.appending import LeftOut, listed
from graphveil.graph.intake.records import IntakeReport
from graphveil.study.backends import AddOptions, Stored, rules_of
from graphveil.study.records.findings import (
    Findings,
    bound_kept,
    found_out,
    no_details,
    uncounted,
)
from graphveil.study.records.segments import links_awaiting, write_list, write_table
from graphveil.whole_files import clear_leftovers

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from graphveil.backends import Engine
    from graphveil.backends.spark.graph import SparkGraph
    from graphveil.graph.sequence import GraphSequence
    from graphveil.study.ledger import StoredTable


@dataclass(frozen=True, eq=False)
class SparkValidatedBatch:
    """A batch that could be added; see `ValidatedBatch`."""

    stored: Stored
    sealed: SparkGraph = field(repr=False)
    cluster: SparkCluster = field(repr=False)
    edges: Sequence[SparkTable] = field(repr=False)
    reading: Reading = field(repr=False)
    found: TakenIn = field(repr=False)
    awaiting: pl.DataFrame = field(repr=False)
    findings: Findings

    @property
    def last_step(self) -> int:
        """At which the last of its records arrives."""
        return max(self.found.last_step, self.sealed.steps)

    def write(self, number: int) -> dict[str, Any]:
        """Write it as the batch of this number: what the sealed graph does not have."""
        home, skipped = self.stored.folder.batches, self.findings.skipped
        clear_leftovers(home)  # here is the one writer, since the database has let it in
        nodes = self._write_nodes(home, f"{number:04}-nodes")
        edges = self._write_edges(home, f"{number:04}-edges")
        files = {"nodes": nodes.to_data(), "edges": edges.to_data()}
        if skipped:
            files["skipped"] = write_list(home, f"{number:04}-skipped", listed(skipped)).to_data()
        if len(self.awaiting):
            files["awaiting"] = write_table(home, f"{number:04}-awaiting", self.awaiting).to_data()
        return files

    def _write_nodes(self, home: Path, stem: str) -> StoredTable:
        """Rows of nodes that are not sealed, each with the one step that all rows of it state."""
        arrived, (text, _, _) = self.found.arrived, self.found.texts
        order = Order.of(arrived.note.spans)
        form = Form((("node", text),), self.reading.grouped)
        target = Target(home, stem, form, order, self.reading.schema)
        files = [each.rows for each in arrived.parts if each.rows is not None]
        return batches.write_nodes(self.cluster, self.sealed.workspace, target, files)

    def _write_edges(self, home: Path, stem: str) -> StoredTable:
        """Rows of edges that are not sealed, and were not left out."""
        linked, (_, source, target_text) = self.found.linked, self.found.texts
        reading = replace(self.reading, kind="edges")
        spans = () if linked is None else linked.note.spans
        form = Form((("source", source), ("target", target_text)))
        target = Target(home, stem, form, Order.of(spans), reading.schema)
        known = None
        if linked is not None and linked.found.known:
            files = map(self.sealed.workspace.for_spark, linked.found.known)
            known = self.cluster.session.read.schema("place long").parquet(*files)
        return batches.write_edges(self.cluster, target, self.edges, reading, known)


def candidate(
    engine: SparkEngine,
    stored: Stored,
    sealed: SparkGraph,
    waiting: Waiting | None,
    given: TableRecords,
    options: AddOptions,
    *,
    text: bool,
) -> SparkValidatedBatch:
    """Check records against everything that is sealed or waiting; changes nothing.

    Args:
        engine: where promises are checked.
        stored: the study.
        sealed: its graph.
        waiting: what was added and is not sealed.
        given: the records.
        options: what their steward says about them.
        text: whether any id so far is text.
    """
    cluster, promise = engine.cluster, stored.promise
    assert isinstance(cluster, SparkCluster), "tables are read by a session"
    records = _given(cluster, stored, sealed.workspace, given)
    reading = Reading(
        "nodes", promise.calendar, rules_of(promise.records, options.undated), text=True,
        beyond=options.ignore_after_end, day_first=given.day_first, awaited=records.behind,
        groups=promise.groups,
    )  # fmt: skip
    arrival_rules = ArrivalRules(
        reading, "join", options.undated == "drop", options.ignore_after_end,
        only_earlier=promise.records.merges_ids and not options.complete,
    )  # fmt: skip
    found = taken_in(
        cluster,
        sealed,
        records.tables,
        arrival_rules,
        waiting,
        strict=options.strict,
        note_known=True,
    )
    about = _About(cluster, sealed, found, records, reading)
    aside = about.set_aside()
    grown, report = found.graph, about.report(aside)
    details = [no_details(), about.redated(), about.relabelled()]
    if options.complete:
        details.append(about.vanished())
    counting = cast("tuple[Engine, GraphSequence]", (engine, grown))
    keeps_bound, beyond = bound_kept(promise, *counting)
    total, whole = int(grown.edges.sum()), options.complete
    findings = Findings(
        intake=report,
        vanished_nodes=grown.nodes - report.nodes_added - report.known_nodes if whole else 0,
        vanished_edges=total - report.edges_added - report.known_edges if whole else 0,
        alike_ids=about.alike() if text or found.texts[0] else 0,
        keeps_bound=keeps_bound,
        people_beyond=beyond,
        details=pl.concat(details).sort("finding", "node"),
        skipped=aside.left_out,
        awaiting=len(aside.awaiting),
        given=(records.nodes.rows, records.edges.rows if records.edges else 0),
        uncounted=uncounted(stored, *counting),
        links=total,
        unlisted=found.arrived.note.unlisted,
        first=not stored.ledger.batches,
    )
    return SparkValidatedBatch(
        stored, sealed, cluster, records.tables[1], reading, found, aside.awaiting, findings
    )


class _Given(NamedTuple):
    """The tables of a batch: nodes, edges, and the links that waited since earlier batches."""

    nodes: SparkTable
    edges: SparkTable | None
    awaited: SparkTable | None

    @property
    def behind(self) -> int:
        """The place at which those begin that waited."""
        return self.edges.end if self.edges else 0

    @property
    def tables(self) -> Tables:
        """As they are taken in."""
        return self.nodes, [each for each in (self.edges, self.awaited) if each is not None]

    def of(self, kind: str, *, awaited: bool) -> SparkTable | None:
        """One of them."""
        return self.nodes if kind == "nodes" else self.awaited if awaited else self.edges


def _given(
    cluster: SparkCluster, stored: Stored, workspace: Workspace, records: TableRecords
) -> _Given:
    """The tables of some records, each row with a place of its own."""
    nodes = records.nodes.in_files(workspace)
    edges = None if records.edges is None else records.edges.in_files(workspace)
    newest, home = stored.ledger.batches[-1:], stored.folder.batches
    if not newest or newest[0].awaiting is None:
        return _Given(nodes, edges, None)
    files = newest[0].awaiting.files
    require_unchanged(cluster, home, files)
    paths = [(home / file.name).as_uri() for file in files]
    awaited = awaited_table(cluster.session, paths, edges.end if edges else 0)
    return _Given(nodes, edges, awaited)


class _Aside(NamedTuple):
    """What was set aside of the new records, and all links that name somebody unknown.

    And how the rows that were set aside after they had been read are spelled.
    """

    left_out: tuple[LeftOut, ...]
    awaiting: pl.DataFrame
    spelled: Note


@dataclass(frozen=True, eq=False)
class _About:
    """What there is to look into about some records."""

    cluster: SparkCluster
    sealed: SparkGraph
    found: TakenIn
    given: _Given
    reading: Reading

    def set_aside(self) -> _Aside:
        """The rows that break a rule, read again for the list."""
        broken, strangers = self.found.broken, self._strangers()
        rows: dict[tuple[str, bool], PlacedRows] = {}
        for kind, awaited in (("nodes", False), ("edges", False), ("edges", True)):
            table = self.given.of(kind, awaited=awaited)
            if table is not None:
                own = [b.places for b in broken if (b.kind, b.awaited) == (kind, awaited)]
                places = np.concatenate([*own, strangers if kind == "edges" else strangers[:0]])
                found = rows_at(self.cluster.session, self.sealed.workspace, table, places)
                rows[kind, awaited] = replace(
                    found, frame=as_dates(found.frame, self.reading).frame
                )
        links = [
            each.kept(np.isin(each.row_numbers(), strangers))
            for (kind, _), each in rows.items()
            if kind == "edges"
        ]
        return _Aside(
            tuple(left_out(each, rows[each.kind, False]) for each in broken if not each.awaited),
            links_awaiting(links),
            together(self._spelled(kind, each, strangers) for (kind, _), each in rows.items()),
        )

    def _strangers(self) -> NDArray[np.int64]:
        """The places of links that name somebody unknown."""
        linked, workspace = self.found.linked, self.sealed.workspace
        names = () if linked is None else linked.found.strangers
        found = [workspace.read(name)["place"].to_numpy() for name in names]
        return np.concatenate([np.empty(0, np.int64), *found])

    def _spelled(self, kind: str, rows: PlacedRows, strangers: NDArray[np.int64]) -> Note:
        """What was noted of rows that passed what rows are asked one by one, and then failed."""
        own = [each.places for each in self.found.broken if each.rank[0] in PASSED]
        chosen = rows.kept(np.isin(rows.row_numbers(), np.concatenate([strangers, *own])))
        if not len(chosen.frame):
            return NOTHING
        frame = chosen.frame.with_columns(place=chosen.row_numbers())
        return read_rows(frame, replace(self.reading, kind=kind))[1]

    def report(self, aside: _Aside) -> IntakeReport:
        """What became of the rows that were not set aside."""
        report, awaited = self.found.report, self.given.awaited
        again = sum(each.rows for each in self.found.broken if each.awaited)
        return replace(
            report,
            trimmed_ids=report.trimmed_ids - aside.spelled.trimmed,
            respelled_ids=report.respelled_ids - aside.spelled.respelled,
            folded_nodes=report.folded_nodes - aside.spelled.folded,
            awaited_edges=0 if awaited is None else awaited.rows - again,
        )

    def redated(self) -> pl.DataFrame:
        """Known nodes that come with another step, each with the earliest one it came with."""
        parts = [each.redated for each in self.found.arrived.parts if each.redated is not None]
        every = pl.concat(parts) if parts else no_details()
        return found_out("re-dated", every.sort("node").head(MOST_LISTED))

    def relabelled(self) -> pl.DataFrame:
        """Known nodes that come with other labels."""
        found = [each.relabelled for each in self.found.arrived.parts]
        parts = [each for each in found if each is not None]
        every = pl.concat(parts) if parts else no_details()
        return found_out("other labels", every.sort("node").head(MOST_LISTED))

    def vanished(self) -> pl.DataFrame:
        """Nodes that records do not mention, although they are declared complete."""
        everyone = everybody(self.cluster.session, self.found.graph)
        missing = everyone.join(self._named(), "node", "anti").orderBy("node").limit(MOST_LISTED)
        with failing_as_ours():
            rows = pl.DataFrame(missing.toArrow())
        return found_out("no longer listed", rows)

    def _named(self) -> DataFrame:
        """Whom the records name, once each."""
        files = [each.given for each in self.found.arrived.parts if each.given is not None]
        return nodes_at(self.cluster.session, self.sealed, files)

    def alike(self) -> int:
        """How many ids look like another one; see `look_alikes`."""
        from pyspark.sql import functions as F  # noqa: N812

        everyone = everybody(self.cluster.session, self.found.graph)
        looks = [
            mapped(frame, _looks, "look string").groupBy("look").count()
            for frame in (self._named(), everyone)
        ]
        both = looks[0].withColumnRenamed("count", "own").join(looks[1], "look")
        with failing_as_ours():
            rows = both.filter("count > 1").agg(F.sum("own")).collect()
        return int(rows[0][0] or 0)


def _looks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:

    from graphveil.graph.intake.identity import looks

    for batch in batches:
        if batch.num_rows:
            ids = pl.DataFrame(batch)["node"]
            frame = pl.DataFrame({"look": looks(ids)})
            yield from frame.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()
