"""Compiled loops that find ids in a table of labels; plain arrays in, plain arrays out.

A table has a power of two of slots, most of them empty. In a slot stands a label and one more, so
that 0 is nobody's. An id is sought from the slot that its hash names, up to the first empty one.
What stands there counts only if it is this very id that has the label: a slot may hold what
somebody wrote who never came to an end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.compiled import inlined, kernel

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@inlined
def _mixed(value: int | np.uint64, seed: int) -> np.uint64:
    """Bits that depend on all bits of a number of 64."""
    mixed = np.uint64(value) ^ np.uint64(seed)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@kernel
def find_numbers(asked: Int64s, ids: Int64s, slots: Int32s, seed: int, labels: Int32s) -> None:
    """Fill `labels` with those of the numbers that are asked for, or -1."""
    last = np.uint64(len(slots) - 1)
    for i in range(len(asked)):
        place = _mixed(asked[i], seed) & last
        labels[i] = -1
        while slots[place] != 0:
            label = slots[place] - 1
            if label < len(ids) and ids[label] == asked[i]:
                labels[i] = label
                break
            place = (place + np.uint64(1)) & last


@kernel
def enter_numbers(first: int, ids: Int64s, slots: Int32s, seed: int, places: Int64s) -> None:
    """Enter the numbers from label `first` on; `places` tells in which slots."""
    last = np.uint64(len(slots) - 1)
    for label in range(first, len(ids)):
        place = _mixed(ids[label], seed) & last
        while slots[place] != 0:
            place = (place + np.uint64(1)) & last
        slots[place] = label + 1
        places[label - first] = place


@kernel
def _hash(text: Bytes, start: int, stop: int, seed: int) -> np.uint64:
    """Eight bytes at a time would be quicker, but ids are short."""
    found = np.uint64(stop - start)
    for i in range(start, stop):
        found = (found ^ np.uint64(text[i])) * np.uint64(0x100000001B3)
    return _mixed(found, seed)


@kernel
def _same(text: Bytes, start: int, stop: int, other: Bytes, begin: int, end: int) -> bool:
    same, i = stop - start == end - begin, 0
    while same and start + i < stop:
        same = text[start + i] == other[begin + i]
        i += 1
    return same


@kernel
def find_texts(
    asked_ends: Int64s,
    asked: Bytes,
    ends: Int64s,
    texts: Bytes,
    slots: Int32s,
    seed: int,
    labels: Int32s,
) -> None:
    """Fill `labels` with those of the texts that are asked for, or -1; ends begin with 0."""
    last = np.uint64(len(slots) - 1)
    for i in range(len(asked_ends) - 1):
        start, stop = asked_ends[i], asked_ends[i + 1]
        place = _hash(asked, start, stop, seed) & last
        labels[i] = -1
        while slots[place] != 0:
            label = slots[place] - 1
            if label < len(ends) - 1 and _same(
                asked, start, stop, texts, ends[label], ends[label + 1]
            ):
                labels[i] = label
                break
            place = (place + np.uint64(1)) & last


@kernel
def enter_texts(
    first: int, ends: Int64s, texts: Bytes, slots: Int32s, seed: int, places: Int64s
) -> None:
    """Enter the texts from label `first` on; `places` tells in which slots."""
    last = np.uint64(len(slots) - 1)
    for label in range(first, len(ends) - 1):
        place = _hash(texts, ends[label], ends[label + 1], seed) & last
        while slots[place] != 0:
            place = (place + np.uint64(1)) & last
        slots[place] = label + 1
        places[label - first] = place
