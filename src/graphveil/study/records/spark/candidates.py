"""Checking new records against everything that is sealed or waiting, on the workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.backends.spark.engine import SparkEngine
from graphveil.backends.spark.intake.arrivals import each_node, everybody
from graphveil.backends.spark.intake.people import ArrivalRules
from graphveil.backends.spark.intake.resolving import Reading, resolved
from graphveil.backends.spark.intake.tables import SparkTable, TableRecords
from graphveil.backends.spark.intake.taking import TakenIn, Waiting, taken_in
from graphveil.backends.spark.jobs import SparkCluster, failing_as_ours, mapped
from graphveil.errors import ParameterError
from graphveil.graph.sequence import UNSTATED
from graphveil.study.records.findings import Findings, no_details
from graphveil.study.records.record_store import AddOptions, Stored, rules_of
from graphveil.study.records.spark import batches
from graphveil.study.records.spark.batches import Form, Order, Target
from graphveil.whole_files import clear_leftovers

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from graphveil.backends.spark.graph import SparkGraph
    from graphveil.study.ledger import StoredTable

MOST_LISTED = 100_000  # records that are listed one by one


@dataclass(frozen=True, eq=False)
class SparkValidatedBatch:
    """A batch that could be added; see `ValidatedBatch`."""

    stored: Stored
    sealed: SparkGraph = field(repr=False)
    cluster: SparkCluster = field(repr=False)
    given: TableRecords = field(repr=False)
    reading: Reading = field(repr=False)
    found: TakenIn = field(repr=False)
    findings: Findings

    @property
    def last_step(self) -> int:
        """At which the last of its records arrives."""
        return max(self.found.last_step, self.sealed.steps)

    def write(self, number: int) -> dict[str, Any]:
        """Write it as the batch of this number: what the sealed graph does not have."""
        home = self.stored.folder.batches
        clear_leftovers(home)  # here is the one writer, since the database has let it in
        nodes = self._write_nodes(home, f"{number:04}-nodes")
        edges = self._write_edges(home, f"{number:04}-edges")
        files = {"nodes": nodes.to_data(), "edges": edges.to_data()}
        newest = self.stored.ledger.batches[-1:]
        if newest and newest[0].awaiting is not None:  # only the local engine looks at these
            files["awaiting"] = newest[0].awaiting.to_data()
        return files

    def _write_nodes(self, home: Path, stem: str) -> StoredTable:
        """Rows of nodes that are not sealed, each with the one step that all rows of it state."""
        arrived, (text, _, _) = self.found.arrived, self.found.texts
        order = Order.of(arrived.note.spans, numbered=self.given.nodes.numbered)
        target = Target(home, stem, Form((("node", text),)), order, self.reading.schema)
        files = [each.rows for each in arrived.parts if each.rows is not None]
        return batches.write_nodes(self.cluster, self.sealed.workspace, target, files)

    def _write_edges(self, home: Path, stem: str) -> StoredTable:
        """Rows of unsealed edges; rows without places cannot be distinguished, and all remain."""
        linked, (_, source, target_text) = self.found.linked, self.found.texts
        edges, reading = self.given.edges, replace(self.reading, kind="edges")
        numbered = edges is not None and edges.numbered
        spans = [] if linked is None else linked.note.spans
        form = Form((("source", source), ("target", target_text)))
        order = Order.of(spans, numbered=numbered)
        target = Target(home, stem, form, order, reading.schema)
        known = None
        if linked is not None and linked.known and numbered:
            files = map(self.sealed.workspace.for_spark, linked.known)
            known = self.cluster.session.read.schema("place long").parquet(*files)
        return batches.write_edges(self.cluster, target, edges, reading, known)


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
    _require_possible(options)
    cluster, promise = engine.cluster, stored.promise
    assert isinstance(cluster, SparkCluster), "tables are read by a session"
    rules = rules_of(promise.records, options.undated)
    reading = Reading("nodes", promise.calendar, rules, text=True, day_first=given.day_first)
    only_earlier = promise.records.merges_ids and not options.complete
    undated = "drop" if options.undated == "drop" else rules.undated
    coming = ArrivalRules(reading, "join", undated, only_earlier)
    tables = given.nodes, given.edges
    found = taken_in(cluster, sealed, tables, coming, waiting, note_known=True)
    grown, report = found.graph, found.report
    about = _About(cluster, sealed, found, given.nodes, coming)
    details = [no_details()]
    if report.redated_nodes:
        details.append(about.redated())
    if options.complete:
        details.append(about.vanished())
    bound = promise.degree_bound
    cut = all(each.projection is not None for each in promise.series)  # then nobody loses more
    beyond = 0 if bound.checked or cut else engine.people_beyond(grown, bound)
    edges, whole = int(grown.edges.sum()), options.complete
    findings = Findings(
        intake=report,
        vanished_nodes=grown.nodes - report.nodes_added - report.known_nodes if whole else 0,
        vanished_edges=edges - report.edges_added - report.known_edges if whole else 0,
        alike_ids=about.alike() if text or found.texts[0] else 0,
        keeps_bound=engine.keeps_bound(grown, bound) if bound.checked else not beyond,
        people_beyond=beyond,
        details=_sorted(details),
    )
    return SparkValidatedBatch(stored, sealed, cluster, given, reading, found, findings)


def _require_possible(options: AddOptions) -> None:
    """Refuse what would need rows one by one."""
    if options.ignore_after_end:
        raise ParameterError(
            "ignore-after-end", "is for files that the local engine reads",
            hint="Leave such rows out of the table, or of a view of it, and name that.",
        )  # fmt: skip


def _sorted(details: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(details).sort("finding", "node")


@dataclass(frozen=True, eq=False)
class _About:
    """What there is to look into about some nodes."""

    cluster: SparkCluster
    sealed: SparkGraph
    found: TakenIn
    nodes: SparkTable
    coming: ArrivalRules

    def redated(self) -> pl.DataFrame:
        """Known nodes that come with another step, each with the earliest one it came with."""
        one = each_node(self.cluster.session, self.sealed, self.found.arrived)
        differs = "stated < was" if self.coming.only_earlier else "stated <> was or last <> was"
        # Of a node that states its own step and a later one, the later is the other one.
        now = "if(stated <> was, stated, last) as now"
        other = one.filter(f"known and stated is not null and ({differs})")
        rows = self._collected(other.selectExpr("node", "was", now))
        label = self.sealed.calendar.label
        steps = [("" if was == UNSTATED else label(was), label(now)) for _, was, now in rows]
        return _details("re-dated", [row[0] for row in rows], steps)

    def vanished(self) -> pl.DataFrame:
        """Nodes that records do not mention, although they are declared complete."""
        given = resolved(self.nodes, self.coming.reading).select("node")
        everyone = everybody(self.cluster.session, self.found.graph)
        rows = self._collected(everyone.join(given, "node", "anti"))
        return _details("no longer listed", [row[0] for row in rows], [("", "")] * len(rows))

    def alike(self) -> int:
        """How many ids look like another one; see `look_alikes`."""
        from pyspark.sql import functions as F  # noqa: N812

        given = resolved(self.nodes, self.coming.reading).select("node").distinct()
        everyone = everybody(self.cluster.session, self.found.graph)
        looks = [
            mapped(frame, _looks, "look string").groupBy("look").count()
            for frame in (given, everyone)
        ]
        both = looks[0].withColumnRenamed("count", "own").join(looks[1], "look")
        with failing_as_ours():
            rows = both.filter("count > 1").agg(F.sum("own")).collect()
        return int(rows[0][0] or 0)

    def _collected(self, rows: DataFrame) -> list[Any]:
        with failing_as_ours():
            return rows.orderBy("node").limit(MOST_LISTED).collect()


def _looks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import polars as pl

    from graphveil.graph.intake.identity import looks

    for batch in batches:
        if batch.num_rows:
            ids = pl.DataFrame(batch)["node"]
            frame = pl.DataFrame({"look": looks(ids)})
            yield from frame.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()


def _details(finding: str, nodes: list[str], steps: list[tuple[str, str]]) -> pl.DataFrame:
    import polars as pl

    columns = {"finding": [finding] * len(nodes), "node": nodes}
    columns |= {"was": [was for was, _ in steps], "now": [now for _, now in steps]}
    return pl.DataFrame(columns, schema=no_details().schema)
