"""Checking the cache: its checksums, and its content against counting everything from scratch."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from graphveil.graph.degrees import degrees
from graphveil.graph.projection import Projected
from graphveil.series.counting import SeriesCounts, ViewCounts, count_series
from graphveil.study.records.local import segments
from graphveil.study.records.local.cache import checkpoint as kept_files
from graphveil.study.records.local.cache.checkpoint import KeptGraph, same_graph
from graphveil.study.records.record_store import CacheCheck, Stored

if TYPE_CHECKING:
    from graphveil.backends import Engine
    from graphveil.backends.backend import CheckpointFormat
    from graphveil.graph.sequence import GraphSequence
    from graphveil.series.terms import SeriesTerms


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
    folder, entry, counts_format = stored.folder, kept_files.newest(stored.ledger), engine.keeping
    if entry is None or counts_format is None:
        return CacheCheck.NOTHING
    there = all((folder.kept / name).exists() for name in entry.names)
    if entry.form != kept_files.form_of(counts_format) or not there:
        return CacheCheck.OTHERWISE
    empty = segments.nothing_sealed(stored.promise)
    cached = kept_files.load_graph(folder, entry, empty, counts_format, check_all=True)
    if cached is None:
        return CacheCheck.CHANGED
    counts = kept_files.load_counts(folder, entry, cached, series, counts_format)
    if counts is None:
        return CacheCheck.CHANGED
    until = graph.until(entry.step + 1)
    return CacheCheck.SAME if _hold(cached, counts, until, series, engine) else CacheCheck.ANOTHER


def _hold(
    cached: KeptGraph,
    counts: SeriesCounts,
    graph: GraphSequence,
    series: Collection[SeriesTerms],
    engine: Engine,
) -> bool:
    expected_degrees, counts_format = degrees(graph), engine.keeping
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
