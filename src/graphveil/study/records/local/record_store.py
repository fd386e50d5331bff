"""The record store of one machine: the graph of a study in memory, or mapped from the cache."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphveil.series.counting import SeriesCounts, count_series, first_break
from graphveil.study.records.local import batches, segments
from graphveil.study.records.local.batches import LocalValidatedBatch, Sealed, candidate
from graphveil.study.records.local.cache import checking
from graphveil.study.records.local.cache import checkpoint as kept_files
from graphveil.study.records.local.cache.checkpoint import Checkpoint
from graphveil.study.records.private_tables import write_table
from graphveil.study.records.record_store import AddOptions, CacheCheck, Stored

if TYPE_CHECKING:
    from graphveil.backends import Engine
    from graphveil.graph.intake.records import Records
    from graphveil.graph.promises import Bound
    from graphveil.graph.sequence import GraphSequence
    from graphveil.series.terms import SeriesTerms


@dataclass(frozen=True)
class LocalRecordStore:
    """Holds graphs in memory; see `RecordStore`.

    Attributes:
        engine: that counts them.
    """

    engine: Engine

    def candidate(self, stored: Stored, given: Records, options: AddOptions) -> LocalValidatedBatch:
        """A batch that could be added."""
        return candidate(stored, given, options, self.engine)

    def keeps_bound(self, stored: Stored) -> bool:
        """Whether nobody in the sealed graph has more links than promised."""
        sealed = batches.sealed(stored, self.engine)
        bound = stored.promise.degree_bound
        return self.engine.keeps_bound(sealed.graph, bound, after=sealed.degrees)

    def grown(self, stored: Stored, through: int) -> LocalGrown:
        """The sealed graph with the next steps."""
        sealed = batches.sealed(stored, self.engine)
        return LocalGrown(stored, self.engine, sealed, batches.grown(stored, sealed, through))

    def recounted(self, stored: Stored, series: Collection[SeriesTerms]) -> LocalRecounted:
        """Everything that was sealed, counted again."""
        graph = segments.load(stored.folder.segments, stored.ledger.sealed, stored.promise)
        counts = count_series(self.engine, graph, series)
        return LocalRecounted(stored, self.engine, series, graph, counts)


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
        folder, cached, counts_format = self.stored.folder, self.sealed.kept, self.engine.keeping
        last, before = kept_files.newest(self.stored.ledger), None
        if cached is not None and last is not None and counts_format is not None:
            before = kept_files.load_counts(folder, last, cached, series, counts_format)
        counts = count_series(self.engine, self.graph, series, before, since=since)
        checkpoint = (
            Checkpoint(self.graph, counts, cached, last, counts_format) if counts_format else None
        )
        return LocalCounted(self.stored, self.graph, counts, checkpoint)


@dataclass(frozen=True, eq=False)
class LocalCounted:
    """Steps that are ready to be sealed; see `PreparedSteps`."""

    stored: Stored
    graph: GraphSequence = field(repr=False)
    counts: SeriesCounts = field(repr=False)
    standing: Checkpoint | None = field(repr=False)

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
        return self.standing.keep(self.stored.folder, row) if self.standing else {}


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
        return checking.compared(self.stored, self.graph, self.series, self.engine)
