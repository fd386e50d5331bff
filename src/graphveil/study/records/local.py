"""The backend of one machine: the graph of a study in memory, or mapped from the cache."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphveil.backends import LocalEngine
from graphveil.graph.degrees import degrees
from graphveil.graph.projection import Projected
from graphveil.records import read_records
from graphveil.series.counting import SeriesCounts, ViewCounts, count_series, first_break
from graphveil.study.backends import AddOptions, CacheCheck, Stored
from graphveil.study.records import batches, checkpoint, segments
from graphveil.study.records.batches import LocalValidatedBatch, Sealed, candidate
from graphveil.study.records.checkpoint import CachedGraph, Checkpoint, same_graph
from graphveil.study.records.segments import write_table

if TYPE_CHECKING:
    from graphveil.backends import Engine
    from graphveil.backends.backend import CheckpointFormat
    from graphveil.graph.intake.records import Records
    from graphveil.graph.promises import Bound
    from graphveil.graph.sequence import GraphSequence
    from graphveil.records import ReadFiles, ReadingOptions
    from graphveil.series.counting import SeriesTerms
    from graphveil.study.promise import Promise


@dataclass(frozen=True)
class LocalBackend(LocalEngine):
    """Holds graphs in memory; see `Backend`."""

    @classmethod
    def require_possible(
        cls, promise: Promise, format_name: str | None, options: ReadingOptions
    ) -> None:
        """Nothing is refused that could be read."""

    @classmethod
    @contextmanager
    def opened(cls, master: str | None, settings: Mapping[str, str]) -> Iterator[LocalBackend]:
        """The backend, which needs no settings."""
        yield cls()

    def read(
        self,
        files: Sequence[str | Path],
        format_name: str | None,
        options: ReadingOptions,
        by_format: Mapping[str, ReadingOptions],
    ) -> ReadFiles:
        """The records in some files, of any format."""
        return read_records(files, format=format_name, options=options, by_format=by_format)

    def candidate(self, stored: Stored, given: Records, options: AddOptions) -> LocalValidatedBatch:
        """A batch that could be added."""
        return candidate(stored, given, options, self)

    def keeps_promise(self, stored: Stored) -> bool:
        """Whether nobody in the sealed graph has more links than promised."""
        sealed = batches.sealed(stored, self)
        return self.keeps_bound(sealed.graph, stored.promise.degree_bound, after=sealed.degrees)

    def grown(self, stored: Stored, through: int) -> LocalGrown:
        """The sealed graph with the next steps."""
        sealed = batches.sealed(stored, self)
        return LocalGrown(stored, self, sealed, batches.grown(stored, sealed, through))

    def recounted(self, stored: Stored, series: Collection[SeriesTerms]) -> LocalRecounted:
        """Everything that was sealed, counted again."""
        graph = segments.load(stored.folder.segments, stored.ledger.sealed, stored.promise)
        return LocalRecounted(stored, self, series, graph, count_series(self, graph, series))


@dataclass(frozen=True, eq=False)
class LocalGrown:
    """The sealed graph and the next steps; see `ExtendedGraph`."""

    stored: Stored
    engine: Engine
    sealed: Sealed = field(repr=False)
    graph: GraphSequence = field(repr=False)

    def first_break(self, bound: Bound, since: int) -> int | None:
        """The first step at which somebody has more links than promised."""
        return first_break(self.engine, self.graph, bound, since, self.sealed.degrees)

    def counted(self, series: Collection[SeriesTerms], since: int) -> LocalCounted:
        """Count every series, going on from the checkpoint."""
        folder, cached, counts_format = (
            self.stored.folder,
            self.sealed.cached,
            self.engine.checkpoint_format,
        )
        last, before = checkpoint.newest(self.stored.ledger), None
        if cached is not None and last is not None and counts_format is not None:
            before = checkpoint.load_counts(folder, last, cached, series, counts_format)
        counts = count_series(self.engine, self.graph, series, before, since=since)
        reached = (
            Checkpoint(self.graph, counts, cached, last, counts_format) if counts_format else None
        )
        return LocalCounted(self.stored, self.graph, counts, reached)


@dataclass(frozen=True, eq=False)
class LocalCounted:
    """Steps that are ready to be sealed; see `PreparedSteps`."""

    stored: Stored
    graph: GraphSequence = field(repr=False)
    counts: SeriesCounts = field(repr=False)
    checkpoint: Checkpoint | None = field(repr=False)

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return self.graph.steps

    def write_segment(self, steps: range) -> dict[str, Any]:
        """Write what some steps add to the graph."""
        home, name = self.stored.folder.segments, f"{steps[0]:04}"
        part = segments.segment(self.graph, steps)
        return {
            "nodes": write_table(home, f"{name}-nodes", part.nodes).to_data(),
            "edges": write_table(home, f"{name}-edges", part.edges).to_data(),
        }

    def keep(self, row: str) -> Mapping[str, str]:
        """Store a checkpoint, if the engine has a format for one."""
        return self.checkpoint.keep(self.stored.folder, row) if self.checkpoint else {}


@dataclass(frozen=True, eq=False)
class LocalRecounted:
    """Everything that was sealed, counted again; see `Recounted`."""

    stored: Stored
    engine: Engine
    series: Collection[SeriesTerms]
    graph: GraphSequence = field(repr=False)
    counts: SeriesCounts = field(repr=False)

    def compared(self) -> CacheCheck:
        """Compare the cache with it."""
        return compared(self.stored, self.graph, self.series, self.engine)


# Checking the cache: its checksums, and its content against counting everything from scratch.


def compared(
    stored: Stored, graph: GraphSequence, series: Collection[SeriesTerms], engine: Engine
) -> CacheCheck:
    """Verify all checksums of the cache, and compare its content with counting from scratch.

    Args:
        stored: the study.
        graph: all that was sealed.
        series: all of them.
        engine: where counting runs.
    """
    folder, entry, counts_format = (
        stored.folder,
        checkpoint.newest(stored.ledger),
        engine.checkpoint_format,
    )
    if entry is None or counts_format is None:
        return CacheCheck.NOTHING
    there = all((folder.kept / name).exists() for name in entry.names)
    if entry.form != checkpoint.form_of(counts_format) or not there:
        return CacheCheck.OTHERWISE
    empty = segments.nothing_sealed(stored.promise)
    cached = checkpoint.load_graph(folder, entry, empty, counts_format, check_all=True)
    if cached is None:
        return CacheCheck.CHANGED
    counts = checkpoint.load_counts(folder, entry, cached, series, counts_format)
    if counts is None:
        return CacheCheck.CHANGED
    until = graph.until(entry.step + 1)
    return CacheCheck.SAME if _hold(cached, counts, until, series, engine) else CacheCheck.ANOTHER


def _hold(
    cached: CachedGraph,
    counts: SeriesCounts,
    graph: GraphSequence,
    series: Collection[SeriesTerms],
    engine: Engine,
) -> bool:
    expected_degrees, counts_format = degrees(graph), engine.checkpoint_format
    assert counts_format is not None, "something was kept"
    expected = count_series(engine, graph, series)
    index = cached.sequence.index
    return (
        same_graph(cached.sequence, graph)
        and bool((index.labels(graph.ids) == np.arange(graph.nodes)).all())
        and np.array_equal(expected_degrees.outward, cached.degrees.outward)
        and np.array_equal(expected_degrees.inward, cached.degrees.inward)
        and all(
            _agree(each, expected.views[view], counts_format) for view, each in counts.views.items()
        )
    )


def _agree(one: ViewCounts, other: ViewCounts, counts_format: CheckpointFormat) -> bool:
    used = [each.seen.used if isinstance(each.seen, Projected) else () for each in (one, other)]
    return (
        all(np.array_equal(*pair) for pair in zip(*used, strict=True))
        and same_graph(one.seen, other.seen)
        and all(
            counts_format.agree(tally, answer, other.counts.answers[tally])
            for tally, answer in one.counts.answers.items()
        )
    )
