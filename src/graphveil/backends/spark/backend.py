"""The backend of a cluster: the graph of a study stays with the workers of a Spark session."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphveil.backends.spark import batches, checkpoint, segments
from graphveil.backends.spark.candidates import SparkValidatedBatch, candidate
from graphveil.backends.spark.checkpoint import CheckpointState, SparkCheckpoint
from graphveil.backends.spark.engine import SparkEngine
from graphveil.backends.spark.graph import NodePart, SparkGraph
from graphveil.backends.spark.intake import tables
from graphveil.backends.spark.intake.people import ArrivalRules
from graphveil.backends.spark.intake.resolving import Reading
from graphveil.backends.spark.intake.tables import TableRecords
from graphveil.backends.spark.intake.taking import taken_in, with_steps, workspace_of
from graphveil.backends.spark.jobs import SparkCluster
from graphveil.backends.spark.session import colours_for, is_local, opened
from graphveil.errors import EngineError, InputError
from graphveil.graph.intake.rules import RecordRules
from graphveil.series.counting import SeriesCounts, count_series, first_break
from graphveil.study.backends import AddOptions, CacheCheck, Stored

if TYPE_CHECKING:
    from graphveil.backends import Engine
    from graphveil.graph.promises import Bound
    from graphveil.graph.sequence import GraphSequence
    from graphveil.records import ReadFiles, ReadingOptions
    from graphveil.series.counting import SeriesTerms
    from graphveil.study.promise import Promise

MOST_FILES = 64  # of one class, on average; where there are more, all files are rewritten


@dataclass(frozen=True, eq=False)
class Sealed:
    """Everything up to the last sealed step; a secret.

    Attributes:
        graph: all of it.
        cached: the newest checkpoint, as of that step or an earlier one.
    """

    graph: SparkGraph = field(repr=False)
    cached: CheckpointState | None = field(repr=False)

    @property
    def text(self) -> bool:
        """Whether any id is text."""
        return any(part.text for part in self.graph.people)


@dataclass(frozen=True)
class SparkBackend(SparkEngine):
    """Leaves graphs with the workers; see `Backend`."""

    @classmethod
    def require_possible(
        cls, promise: Promise, format_name: str | None, options: ReadingOptions
    ) -> None:
        """Refuse what only readers of files can do, before a session is started."""
        tables.require_possible(format_name, options)

    @classmethod
    @contextmanager
    def opened(cls, master: str | None, settings: Mapping[str, str]) -> Iterator[SparkBackend]:
        """On a session of Spark, with a workspace that is removed in the end."""
        session = opened(master, settings)
        scratch = workspace_of(session)
        try:
            yield cls(SparkCluster(session), scratch)
        finally:
            scratch.remove()

    def read(
        self,
        files: Sequence[str | Path],
        format_name: str | None,
        options: ReadingOptions,
        by_format: Mapping[str, ReadingOptions],
    ) -> ReadFiles:
        """The records in tables that Spark reads; they are not read yet."""
        own = by_format.get(tables.PAIR, options)
        return tables.tables_of(self.on_spark.session, [str(each) for each in files], own)

    @property
    def on_spark(self) -> SparkCluster:
        """Where tasks run."""
        assert isinstance(self.cluster, SparkCluster), "records are taken in by a session"
        return self.cluster

    def candidate(
        self, stored: Stored, given: TableRecords, options: AddOptions
    ) -> SparkValidatedBatch:
        """A batch that could be added."""
        if not isinstance(given, TableRecords):
            raise InputError(
                "the Spark engine takes in tables that Spark reads",
                hint="Name Parquet files or folders, or leave the engine out.",
            )
        sealed = self.sealed(stored, 0 if given.edges is None else given.edges.rows)
        waiting = batches.load(self.on_spark, stored, sealed.graph.steps)
        return candidate(
            self, stored, sealed.graph, waiting.records, given, options,
            text=sealed.text or waiting.text,
        )  # fmt: skip

    def keeps_promise(self, stored: Stored) -> bool:
        """Whether nobody in the sealed graph has more links than promised."""
        return self.keeps_bound(self.sealed(stored).graph, stored.promise.degree_bound)

    def grown(self, stored: Stored, through: int) -> SparkGrown:
        """The sealed graph with the next steps."""
        sealed = self.sealed(stored)
        waiting = batches.load(self.on_spark, stored, sealed.graph.steps)
        graph = sealed.graph
        if waiting.records is not None:
            rules = RecordRules(undated="first")
            due = batches.until(waiting.records, through)
            groups = stored.promise.groups
            reading = Reading("nodes", graph.calendar, rules, text=True, groups=groups)
            arrival_rules = ArrivalRules(reading, "join")
            graph = taken_in(self.on_spark, graph, None, arrival_rules, due).graph
        graph = with_steps(graph, np.zeros((3, through + 1), np.int64))
        return SparkGrown(self, stored, sealed, graph, text=sealed.text or waiting.text)

    def recounted(self, stored: Stored, series: Collection[SeriesTerms]) -> SparkRecounted:
        """Everything that was sealed, counted again."""
        self._require_reached(stored)
        empty = self._empty(stored, 0)
        cached = checkpoint.load(self.on_spark, stored, empty, check_all=True)
        colours = cached.graph.colours if cached else self._colours(segments.rows_sealed(stored))
        graph = segments.load(self.on_spark, stored, replace(empty, colours=colours))
        counts = count_series(self.counting, cast("GraphSequence", graph), series)
        return SparkRecounted(self, stored, series, cached, graph, counts)

    def sealed(self, stored: Stored, more: int = 0) -> Sealed:
        """The sealed graph: the checkpoint, and the segments that were sealed after it.

        Args:
            stored: the study.
            more: how many edges are about to come, besides those that wait.
        """
        self._require_reached(stored)
        empty = self._empty(stored, 0)
        rows = segments.rows_sealed(stored) + batches.rows_waiting(stored) + more
        cached = checkpoint.load(self.on_spark, stored, empty)
        if cached is not None and self._is_worn(cached.graph, rows):
            cached = None
        before = cached.graph if cached else replace(empty, colours=self._colours(rows))
        return Sealed(segments.load(self.on_spark, stored, before), cached)

    @property
    def counting(self) -> Engine:
        """Itself, typed for code that counts graphs of any kind."""
        return cast("Engine", self)

    def _empty(self, stored: Stored, colours: int) -> SparkGraph:
        scratch = self.scratch
        assert scratch is not None, "a command on a study has a scratch folder"
        return segments.nothing_sealed(stored, scratch, colours)

    def _colours(self, rows: int) -> int:
        """For twice as many edges, so that the graph may grow."""
        return colours_for(2 * rows, self.on_spark.task_bytes)

    def _is_worn(self, graph: SparkGraph, rows: int) -> bool:
        """Whether the graph outgrows its colours, or has too many files."""
        needed = colours_for(rows, self.on_spark.task_bytes)
        return needed > graph.colours or len(graph.parts) > MOST_FILES * graph.colours**2

    def _require_reached(self, stored: Stored) -> None:
        """Refuse a cluster whose workers do not reach the folder."""
        master = str(self.on_spark.session.conf.get("spark.master"))
        place = str(stored.folder.segments)
        if not is_local(master) and not all(
            self.on_spark.run(reaches, [place] * self.on_spark.cores)
        ):
            raise EngineError(
                "workers do not reach the folder of the study. Put it on storage that the driver "
                "and all workers have under the same path, for the same user."
            )


def reaches(place: str) -> bool:
    """Whether a folder is there, and may be written; runs on a worker."""
    import os

    return Path(place).is_dir() and os.access(place, os.W_OK)


@dataclass(frozen=True, eq=False)
class SparkGrown:
    """The sealed graph and the next steps; see `ExtendedGraph`."""

    backend: SparkBackend
    stored: Stored
    sealed: Sealed = field(repr=False)
    graph: SparkGraph = field(repr=False)
    text: bool

    def first_break(self, bound: Bound, since: int) -> int | None:
        """The first step at which somebody has more links than promised."""
        return first_break(self.backend.counting, cast("GraphSequence", self.graph), bound, since)

    def counted(self, series: Collection[SeriesTerms], since: int) -> SparkCounted:
        """Count every series, going on from the checkpoint."""
        cached, home = self.sealed.cached, checkpoint.home_of(self.stored.folder)
        before = cached.counts(home, series) if cached else None
        graph = cast("GraphSequence", self.graph)
        counts = count_series(self.backend.counting, graph, series, before, since=since)
        state = SparkCheckpoint(self.backend.on_spark, self.stored, self.graph, counts, cached)
        return SparkCounted(state, self.sealed.graph.people, self.text)


@dataclass(frozen=True, eq=False)
class SparkCounted:
    """Steps that are ready to be sealed; see `PreparedSteps`.

    Attributes:
        checkpoint: the checkpoint to be written: the graph, and the counts.
        people: the tables of nodes that are sealed, to which segments add.
        text: whether ids are written as text.
    """

    checkpoint: SparkCheckpoint
    people: tuple[NodePart, ...] = field(repr=False)
    text: bool
    written: list[NodePart] = field(default_factory=list, repr=False)

    @property
    def counts(self) -> SeriesCounts:
        """Of every series."""
        return self.checkpoint.counts

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return self.checkpoint.graph.steps

    def write_segment(self, steps: range) -> dict[str, Any]:
        """Write what some steps add to the graph."""
        state, home = self.checkpoint, self.checkpoint.stored.folder.segments
        wrote = segments.write(state.cluster, home, state.graph, steps, text=self.text)
        self.written.extend(wrote.people)
        return wrote.files

    def keep(self, row: str) -> Mapping[str, str]:
        """Store a checkpoint."""
        return self.checkpoint.keep(row, [*self.people, *self.written])


@dataclass(frozen=True, eq=False)
class SparkRecounted:
    """Everything that was sealed, counted again; see `Recounted`."""

    backend: SparkBackend
    stored: Stored
    series: Collection[SeriesTerms]
    cached: CheckpointState | None = field(repr=False)
    graph: SparkGraph = field(repr=False)
    counts: SeriesCounts = field(repr=False)

    def compared(self) -> CacheCheck:
        """Compare the checkpoint with it."""
        return checkpoint.compared(
            self.backend.on_spark, self.stored, self.cached, self.graph, self.counts, self.series
        )
