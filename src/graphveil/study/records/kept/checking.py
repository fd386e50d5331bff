"""Checking what is kept: byte by byte, and against counting everything from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from graphveil.graph.degrees import degrees
from graphveil.graph.projection import Projected
from graphveil.series.counting import SeriesCounts, ViewCounts, count_series
from graphveil.study.ledger import Ledger
from graphveil.study.records import segments
from graphveil.study.records.kept import keeping as kept_files
from graphveil.study.records.kept.graph import KeptGraph, same_graph
from graphveil.study.storage.folder import Folder

if TYPE_CHECKING:
    from graphveil.engines import Engine
    from graphveil.engines.engine import Keeping
    from graphveil.graph.sequence import GraphSequence
    from graphveil.series.terms import SeriesTerms


class Finding(Enum):
    """How what is kept stands to what was sealed, in words."""

    NOTHING = "nothing: the next step is counted from scratch"
    OTHERWISE = "of another version, or not there: the next step is counted from scratch"
    CHANGED = "was changed: its checksums are not those of the ledger"
    ANOTHER = "does not hold what counting from scratch comes to"
    SAME = "the same as from scratch"


def compared(
    folder: Folder,
    ledger: Ledger,
    graph: GraphSequence,
    terms: Mapping[str, SeriesTerms],
    engine: Engine,
) -> Finding:
    """Look at every byte that is kept, and count again what it says.

    Args:
        folder: of the study.
        ledger: of the study.
        graph: all that was sealed.
        terms: of every series.
        engine: where counting runs.
    """
    entry, keeping = kept_files.newest(ledger), engine.keeping
    if entry is None or keeping is None:
        return Finding.NOTHING
    there = all((folder.kept / name).exists() for name in entry.names)
    if entry.form != kept_files.form_of(keeping) or not there:
        return Finding.OTHERWISE
    empty = segments.nothing_sealed(ledger.versions[-1])
    kept = kept_files.load_graph(folder, entry, empty, keeping, check_all=True)
    if kept is None:
        return Finding.CHANGED
    counts = kept_files.load_counts(folder, entry, kept, terms.values(), keeping)
    if counts is None:
        return Finding.CHANGED
    until = graph.until(entry.step + 1)
    return Finding.SAME if _hold(kept, counts, until, terms, engine) else Finding.ANOTHER


def _hold(
    kept: KeptGraph,
    counts: SeriesCounts,
    graph: GraphSequence,
    terms: Mapping[str, SeriesTerms],
    engine: Engine,
) -> bool:
    found, keeping = degrees(graph), engine.keeping
    assert keeping is not None, "something was kept"
    expected = count_series(engine, graph, terms.values())
    index = kept.sequence.index
    return (
        same_graph(kept.sequence, graph)
        and bool((index.labels(graph.ids) == np.arange(graph.nodes)).all())
        and np.array_equal(found.outward, kept.degrees.outward)
        and np.array_equal(found.inward, kept.degrees.inward)
        and all(_agree(each, expected.views[view], keeping) for view, each in counts.views.items())
    )


def _agree(one: ViewCounts, other: ViewCounts, keeping: Keeping) -> bool:
    used = [each.seen.used if isinstance(each.seen, Projected) else () for each in (one, other)]
    return (
        all(np.array_equal(*pair) for pair in zip(*used, strict=True))
        and same_graph(one.seen, other.seen)
        and all(
            keeping.agree(tally, answer, other.counts.answers[tally])
            for tally, answer in one.counts.answers.items()
        )
    )
