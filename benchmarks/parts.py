"""Where the time of a job goes, and the least that any program would take for its main part.

A *floor* is a loop that does nothing of the job but its visits to memory, compiled as our
kernels are, on as many threads as the job uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import graphs, ours
from benchmarks.graphs import Graph, Pair
from benchmarks.racing import Contestant, race
from graphveil.graph.intake.appending import append
from graphveil.graph.intake.arrivals import Present, arrivals
from graphveil.graph.intake.records import Records
from graphveil.graph.intake.resolving import Resolved, nothing, resolve
from graphveil.graph.intake.rules import RecordRules
from graphveil.graph.sequence import GraphSequence
from graphveil.kernels import kernel, prefetch
from graphveil.records import read_pair
from graphveil.threads import in_threads

LAPS = 3
THREADS = 2
AHEAD = 32

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """A part of a job, or its floor.

    Attributes:
        job: of which it is a part.
        name: what is done.
        seconds: the best lap.
    """

    job: str
    name: str
    seconds: float


def parts_of_reading(job: str, pair: Pair) -> list[Part]:
    """From files to columns, to people and steps, to labels, to lists."""
    records = read_pair(pair.nodes, pair.edges)
    resolved = _resolved(records)
    seconds = _best(
        {
            "floor": lambda: _all_bytes(pair),
            "columns": lambda: read_pair(pair.nodes, pair.edges),
            "people": lambda: _resolved(records),
            "arrivals": lambda: _arrivals(resolved),
            "labels": lambda: _labels(resolved),
            "graph": lambda: append(_empty(), resolved, late="refuse"),
        }
    )
    lists = seconds["graph"] - seconds["labels"]
    return [
        Part(job, "floor: every byte of the files once, in memory already", seconds["floor"]),
        Part(job, "files to columns", seconds["columns"]),
        Part(job, "cleaning ids, times to steps", seconds["people"]),
        Part(job, "nodes in label order", seconds["arrivals"]),
        Part(job, "ids of edges to labels", seconds["labels"] - seconds["arrivals"]),
        Part(job, "labels to sorted lists", lists),
    ]


def parts_of_counting(sequence: GraphSequence) -> list[Part]:
    """The visits to memory that each of the counts cannot do without."""
    entries, offsets, nodes = sequence.entries, sequence.offsets, sequence.nodes
    cuts = np.searchsorted(offsets, np.linspace(0, len(entries), THREADS + 1)).tolist()
    shares = [(a, b, offsets, entries) for a, b in pairwise(cuts)]
    seconds = _best(
        {
            "once": lambda: visit_once(entries, np.zeros(nodes, np.int32)),
            "small": lambda: visit_once(entries, np.zeros(nodes, np.int16)),
            "kept": lambda: _visit_and_copy(
                entries, np.zeros(nodes, np.int32), np.empty_like(entries)
            ),
            "lists": lambda: in_threads(_visit_lists, shares, THREADS),
        }
    )
    return [
        Part("degrees", "floor: one visit to a counter of 2 bytes per edge", seconds["small"]),
        Part("degrees", "the same with counters of 4 bytes", seconds["once"]),
        Part("projection", "floor: one visit per edge, and a copy of the edges", seconds["kept"]),
        Part("triangles", "floor: the list of every edge's older end, once", seconds["lists"]),
    ]


def all_parts(b: Graph, few: Graph, sequence: GraphSequence) -> list[Part]:
    """Those of every job that has some."""
    found = parts_of_counting(sequence)
    for graph, texts in ((b, False), (few, True)):
        for suffix in ("csv", "parquet"):
            what = f"ids of {graphs.TEXT_ID} characters, " if texts else ""
            job = f"reading {graph.name}, {what}{suffix}"
            found += parts_of_reading(job, graphs.files(graph, suffix, texts=texts))
    return found


def _best(jobs: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    laps = race({name: Contestant(job, LAPS) for name, job in jobs.items()})
    return {name: lap.seconds for name, lap in laps.items()}


def _empty() -> GraphSequence:
    return GraphSequence.begin(ours.CALENDAR)


def _resolved(records: Records) -> Resolved:
    return resolve(records, ours.CALENDAR, RecordRules())


def _arrivals(resolved: Resolved) -> Any:
    return arrivals(
        Present.of(_empty()), resolved.nodes, nothing().nodes, "refuse", only_earlier=False
    )


def _labels(resolved: Resolved) -> None:
    index = _arrivals(resolved).index
    for column in ("source", "target"):
        index.labels(resolved.edges.frame[column])


def _all_bytes(pair: Pair) -> int:
    found = 0
    for path in (pair.nodes, pair.edges):
        content = np.memmap(path, dtype=np.uint8, mode="r")
        middle = len(content) // 2
        found += sum(in_threads(_sum_bytes, [(content[:middle],), (content[middle:],)], THREADS))
    return found


@kernel
def _sum_bytes(content: NDArray[np.uint8]) -> int:
    found = 0
    for byte in content:
        found += byte
    return found


@kernel
def visit_once(entries: Int32s, counters: Int32s) -> None:
    """Lift the counter of every older end, as both a count of degrees and a projection must."""
    place, end = np.uint64(0), np.uint64(len(entries))
    while place < end:
        if place + np.uint64(AHEAD) < end:
            prefetch(counters, entries[place + np.uint64(AHEAD)] >> 2)
        counters[np.uint32(entries[place] >> 2)] += 1
        place += np.uint64(1)


@kernel
def _visit_and_copy(entries: Int32s, counters: Int32s, copy: Int32s) -> None:
    place, end = np.uint64(0), np.uint64(len(entries))
    while place < end:
        if place + np.uint64(AHEAD) < end:
            prefetch(counters, entries[place + np.uint64(AHEAD)] >> 2)
        copy[place] = entries[place]
        counters[np.uint32(entries[place] >> 2)] += 1
        place += np.uint64(1)


@kernel
def _visit_lists(first: int, last: int, offsets: Int64s, entries: Int32s) -> int:
    """Look at every entry of the list of every older end of some nodes' links."""
    found, end = 0, offsets[last] - 1
    for place in range(offsets[first], offsets[last]):
        prefetch(offsets, entries[min(place + AHEAD, end)] >> 2)
        prefetch(entries, offsets[entries[min(place + AHEAD // 2, end)] >> 2])
        middle = entries[place] >> 2
        for at in range(offsets[middle], offsets[middle + 1]):
            found += entries[at]
    return found
