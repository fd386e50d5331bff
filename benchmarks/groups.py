"""What counting by groups takes, beside the same tally without them, on graph B.

    python benchmarks/groups.py [--small]

Writes GROUPS.md. Everybody has one of 20 labels, drawn at random; all steps are counted at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.graphs import RECIPES, grow
from benchmarks.ours import CALENDAR, records_of
from graphveil.backends import LocalEngine
from graphveil.graph.groups import Groups
from graphveil.graph.projection import counted_part
from graphveil.graph.promises import DegreeBound, HubBound
from graphveil.graph.sequence import GraphSequence
from graphveil.statistics.statistic import Statistic, statistic

LABELS = 18  # and 'other' and 'unknown'
BOUND = HubBound(DegreeBound(20), (0,), checked=False)  # what a study with this promise counts
RUNS = 9
STATISTICS: dict[str, dict[str, object]] = {
    "nodes": {},
    "edges": {"cells": "alike"},
    "high-degree": {"tau": 3},
    "degree-ccdf": {},
    "clustered": {"k": 3},
    "triangles": {},
}
PAGE = """\
# Counting by groups

`python benchmarks/groups.py` wrote this: graph B, the first 20 links of each person, all steps at
once, 20 cells of people. Seconds of processor, the best of {runs} runs of each, in turn.

| statistic | plain, s | by group, s | times |
|---|--:|--:|--:|
{rows}

Plain nodes and links are read off offsets that a graph has anyway; by group, everybody and every
link is looked at once. Triangles among people who are alike are counted in a second pass.
"""


def best_of_each(counted: Sequence[Callable[[], object]]) -> list[float]:
    """Seconds of processor of the fastest run of each, in turn, after one that compiles."""
    times: list[list[float]] = [[] for _ in counted]
    for _ in range(1 + RUNS):
        for each, taken in zip(counted, times, strict=True):
            started = process_time()
            each()
            taken.append(process_time() - started)
    return [min(taken[1:]) for taken in times]


def sequence_of(small: bool) -> GraphSequence:
    """Graph B, or A, with a label for everybody, as a study with a promise sees it."""
    name = "A" if small else "B"
    graph = grow(name, RECIPES[name])
    begun = GraphSequence.begin(CALENDAR)
    whole = begun.extend(records_of(graph)).sequence
    strata = np.random.default_rng(1).integers(0, LABELS + 2, whole.nodes).astype(np.int32)
    return replace(counted_part(whole, BOUND), strata=strata, growth=None)


def measured(small: bool) -> list[tuple[str, float, float]]:
    """Every statistic, plain and by group."""
    groups = Groups.of([f"ward={'|'.join(f'W{n}' for n in range(LABELS))}"])
    sequence, engine = sequence_of(small), LocalEngine()
    rows = []
    for name, given in STATISTICS.items():
        own = {key: value for key, value in given.items() if key != "cells"}
        pair: list[Statistic] = [
            statistic(name, **own),
            statistic(name, by="ward", groups=groups, **given),
        ]
        seconds = best_of_each([partial(engine.count, sequence, [each]) for each in pair])
        rows.append((name, *seconds))
        print(f"{name}: {seconds[0]:.3f} s, by group {seconds[1]:.3f} s", flush=True)
    return rows  # type: ignore[return-value]


def _times(plain: float, by: float) -> str:
    """How many times as long; nothing beside a tally that takes no time."""
    return f"{by / plain:.2f}" if plain > 0.001 else "–"


if __name__ == "__main__":
    small = "--small" in sys.argv
    found = measured(small)
    lines = "\n".join(
        f"| `{name}` | {plain:.3f} | {by:.3f} | {_times(plain, by)} |" for name, plain, by in found
    )
    if not small:
        page = Path(__file__).with_name("GROUPS.md")
        page.write_text(PAGE.format(runs=RUNS, rows=lines), encoding="utf-8")
