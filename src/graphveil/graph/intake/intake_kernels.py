"""Compiled loops that lay out nodes and edges; plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.sequence import BOTH
from graphveil.kernels.compiled import kernel

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
    ids: Int64s, steps: Int32s, low: int, step_of: Int32s, arranged: Int64s, counts: Int64s
) -> int:
    """Distinct ids of a narrow range by (step, id), in two passes, without sorting.

    Rows that repeat an id and its step are merged.

    Args:
        ids: the ids, none below `low`.
        steps: the step of each.
        low: the id that belongs to the first place of `step_of`.
        step_of: -1 for every id in the range; filled with steps.
        arranged: room for every id; filled with the distinct ones in order.
        counts: 0 for every step; filled with how many ids it has.

    Returns:
        The first row that names an earlier id with another step, or -1.
    """
    for row in range(len(ids)):
        slot = ids[row] - low
        if step_of[slot] < 0:
            step_of[slot] = steps[row]
            counts[steps[row]] += 1
        elif step_of[slot] != steps[row]:
            return row
    place = np.cumsum(counts) - counts
    for slot in range(len(step_of)):
        step = step_of[slot]
        if step >= 0:
            arranged[place[step]] = low + slot
            place[step] += 1
    return -1


@kernel
def count_list_lengths(
    source: Int32s, target: Int32s, prompt: Flags, first: int, offsets: Int64s
) -> None:
    """Fill the zeroed offsets of the lists of nodes from `first` on."""
    every = len(prompt) == 0
    for i in range(len(source)):
        if source[i] != target[i] and (every or prompt[i]):
            offsets[max(source[i], target[i]) - first + 1] += 1
    for node in range(len(offsets) - 1):
        offsets[node + 1] += offsets[node]


@kernel
def fill_lists(
    source: Int32s,
    target: Int32s,
    prompt: Flags,
    first: int,
    directions: Int32s,
    place: Int64s,
    begin: int,
    end: int,
    entries: Int32s,
) -> None:
    """Put the prompt edges of the newer endpoints begin..end into lists, in any order.

    Args:
        source: the label at one end of each edge.
        target: the label at the other.
        prompt: which edges are prompt; empty if all are.
        first: the label whose list is the first.
        directions: the direction bits of an edge from older to newer, and the other way.
        place: where each list begins; left where it ends.
        begin: the first label to serve: several threads share the work.
        end: the label behind the last one.
        entries: filled.
    """
    forward, backward = directions
    every = len(prompt) == 0
    for i in range(len(source)):
        a, b = source[i], target[i]
        newer = max(a, b)
        if newer < begin or newer >= end or a == b or not (every or prompt[i]):
            continue
        older = min(a, b)
        at = np.uint64(place[newer - first])
        entries[at] = older << 2 | (forward if a < b else backward)
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
def merge_pairs(offsets: Int64s, entries: Int32s) -> None:
    """Merge entries of one pair in sorted lists, in place.

    Both directions of one pair become one entry. Offsets are rewritten; entries past the
    last offset are meaningless afterwards.
    """
    kept = 0
    start = offsets[0]
    for node in range(len(offsets) - 1):
        stop = offsets[node + 1]
        offsets[node] = kept
        for i in range(start, stop):
            entry = entries[i]
            if kept > offsets[node] and entries[kept - 1] >> 2 == entry >> 2:
                entries[kept - 1] |= entry
            else:
                entries[kept] = entry
                kept += 1
        start = stop
    offsets[len(offsets) - 1] = kept


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
