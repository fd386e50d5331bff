"""Compiled loops that lay out nodes and edges; plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.compiled import kernel
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SHORT = 24  # up to here insertion beats the library's sort


@kernel
def look_up(ids: Int64s, low: int, table: Int32s, known: int, labels: Int32s) -> None:
    """Fill `labels` from a table that starts at id `low`; hide labels from `known` on."""
    size = np.uint64(len(table))
    for i in range(len(ids)):
        place = np.uint64(ids[i] - low)  # ids below `low` wrap to huge places
        label = table[place] if place < size else -1
        labels[i] = label if label < known else -1


@kernel
def arrange_numbers(
    ids: Int64s, steps: Int32s, low: int, span: int, step_count: int
) -> tuple[Int64s, Int64s, int]:
    """Distinct ids of a narrow range by (step, id), in two passes, without sorting.

    Returns the ids in order, how many each step has, and the first row that names an
    earlier id with another step (or -1). Rows that repeat an id and its step are merged.
    """
    step_of = np.full(span, -1, dtype=np.int32)
    counts = np.zeros(step_count, dtype=np.int64)
    for row in range(len(ids)):
        slot = ids[row] - low
        if step_of[slot] < 0:
            step_of[slot] = steps[row]
            counts[steps[row]] += 1
        elif step_of[slot] != steps[row]:
            return np.empty(0, dtype=np.int64), counts, row
    place = np.zeros(step_count + 1, dtype=np.int64)
    place[1:] = np.cumsum(counts)
    arranged = np.empty(place[step_count], dtype=np.int64)
    for slot in range(span):
        step = step_of[slot]
        if step >= 0:
            arranged[place[step]] = low + slot
            place[step] += 1
    return arranged, counts, -1


@kernel
def count_list_lengths(
    source: Int32s, target: Int32s, prompt: Flags, first: int, nodes: int
) -> tuple[Int64s, int]:
    """Offsets of the lists of nodes first..first+nodes, and the number of self-links."""
    offsets = np.zeros(nodes + 1, dtype=np.int64)
    self_links = 0
    every = len(prompt) == 0
    for i in range(len(source)):
        if source[i] == target[i]:
            self_links += 1
        elif every or prompt[i]:
            offsets[max(source[i], target[i]) - first + 1] += 1
    for node in range(nodes):
        offsets[node + 1] += offsets[node]
    return offsets, self_links


@kernel
def fill_lists(
    source: Int32s,
    target: Int32s,
    prompt: Flags,
    first: int,
    directed: bool,
    offsets: Int64s,
    entries: Int32s,
) -> None:
    """Put every prompt edge into its newer endpoint's list, in any order."""
    place = offsets[:-1].copy()
    every = len(prompt) == 0
    for i in range(len(source)):
        a, b = source[i], target[i]
        if a == b or not (every or prompt[i]):
            continue
        newer, older, direction = (b, a, FORWARD) if a < b else (a, b, BACKWARD)
        if not directed:
            direction = BOTH
        entries[place[newer - first]] = older << 2 | direction
        place[newer - first] += 1


@kernel
def _sort_list(entries: Int32s, start: int, stop: int) -> None:
    if stop - start > _SHORT:
        entries[start:stop].sort()
        return
    for i in range(start + 1, stop):
        entry = entries[i]
        j = i
        while j > start and entries[j - 1] > entry:
            entries[j] = entries[j - 1]
            j -= 1
        entries[j] = entry


@kernel
def sort_lists(offsets: Int64s, entries: Int32s, first: int, stop: int) -> int:
    """Sort the lists first..stop in place; returns how often a neighbour occurs again."""
    again = 0
    for node in range(first, stop):
        _sort_list(entries, offsets[node], offsets[node + 1])
        for i in range(offsets[node] + 1, offsets[node + 1]):
            again += entries[i] >> 2 == entries[i - 1] >> 2
    return again


@kernel
def merge_pairs(offsets: Int64s, entries: Int32s) -> int:
    """Merge entries of one pair in sorted lists, in place; returns repeated edges.

    Both directions of one pair become one entry. Offsets are rewritten; entries past the
    last offset are meaningless afterwards.
    """
    kept = repeated = 0
    start = offsets[0]
    for node in range(len(offsets) - 1):
        stop = offsets[node + 1]
        offsets[node] = kept
        for i in range(start, stop):
            entry = entries[i]
            if kept > offsets[node] and entries[kept - 1] >> 2 == entry >> 2:
                if entries[kept - 1] & entry & BOTH:
                    repeated += 1
                entries[kept - 1] |= entry
            else:
                entries[kept] = entry
                kept += 1
        start = stop
    offsets[len(offsets) - 1] = kept
    return repeated


@kernel
def prompt_directions(offsets: Int64s, entries: Int32s, newer: Int32s, older: Int32s) -> Int32s:
    """How each pair is linked in the lists: direction bits, or 0 if it is not."""
    found = np.zeros(len(newer), dtype=np.int32)
    for i in range(len(newer)):
        low, high = offsets[newer[i]], offsets[newer[i] + 1]
        while low < high:
            middle = (low + high) >> 1
            if entries[middle] >> 2 < older[i]:
                low = middle + 1
            else:
                high = middle
        if low < offsets[newer[i] + 1] and entries[low] >> 2 == older[i]:
            found[i] = entries[low] & BOTH
    return found
