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
from graphveil.kernels.prefetch import prefetch
from graphveil.kernels.words import WORD, word_at

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]
AHEAD = 8  # how many texts ahead to ask for what the next one takes
_BLANK, _TILDE, _ZERO, _NINE = 32, 126, 48, 57


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
def enter_numbers(first: int, ids: Int64s, slots: Int32s, seed: int, places: Int64s) -> bool:
    """Enter the numbers from label `first` on; `places` tells in which slots.

    Returns whether two of these are the same: the second meets the first on its way to a slot.
    """
    last, same = np.uint64(len(slots) - 1), False
    for label in range(first, len(ids)):
        place = _mixed(ids[label], seed) & last
        while slots[place] != 0:
            other = slots[place] - 1
            same |= first <= other < label and ids[other] == ids[label]
            place = (place + np.uint64(1)) & last
        slots[place] = label + 1
        places[label - first] = place
    return same


@kernel
def hash_texts(ends: Int64s, texts: Bytes, seed: int, hashes: Hashes) -> None:
    """Fill `hashes` with the hash of each text, from eight bytes at a time."""
    for i in range(len(hashes)):
        place, stop = ends[i], ends[i + 1]
        found = np.uint64(seed) ^ np.uint64(stop - place)
        while place < stop:
            left = min(stop - place, WORD)
            if place + WORD <= len(texts):
                word = word_at(texts, place)
                word = word << np.uint64(8 * (WORD - left)) >> np.uint64(8 * (WORD - left))
            else:
                word = np.uint64(0)
                for at in range(stop - 1, place - 1, -1):
                    word = word << np.uint64(8) | np.uint64(texts[at])
            found = (found ^ word) * np.uint64(0x9E3779B97F4A7C15)
            found ^= found >> np.uint64(32)
            place += left
        hashes[i] = _mixed(found, seed)


@kernel
def find_texts(
    asked_ends: Int64s,
    asked: Bytes,
    ends: Int64s,
    texts: Bytes,
    slots: Int32s,
    seed: int,
    hashes: Hashes,
    labels: Int32s,
) -> None:
    """Fill `labels` with those of the texts that are asked for, or -1; `hashes` is room for them.

    The slot, the end and the bytes of a text lie anywhere in memory: they are asked for ahead.
    """
    hash_texts(asked_ends, asked, seed, hashes)
    last, known, count = np.uint64(len(slots) - 1), len(ends) - 1, len(labels)
    for i in range(count):
        if i + 3 * AHEAD < count:
            prefetch(slots, int(hashes[i + 3 * AHEAD] & last))
        if i + 2 * AHEAD < count:
            prefetch(ends, min(slots[hashes[i + 2 * AHEAD] & last], known))
        if i + AHEAD < count:
            prefetch(texts, ends[min(slots[hashes[i + AHEAD] & last], known) - 1])
        place, start, length = hashes[i] & last, asked_ends[i], asked_ends[i + 1] - asked_ends[i]
        labels[i] = -1
        while slots[place] != 0:
            label = slots[place] - 1
            if label < known and ends[label + 1] - ends[label] == length:
                begin, same = ends[label], 0
                while same + WORD <= length and (
                    word_at(asked, start + same) == word_at(texts, begin + same)
                ):
                    same += WORD
                while same < length and asked[start + same] == texts[begin + same]:
                    same += 1
                if same == length:
                    labels[i] = label
                    break
            place = (place + np.uint64(1)) & last


@kernel
def enter_texts(first: int, hashes: Hashes, slots: Int32s, places: Int64s) -> bool:
    """Enter the texts from label `first` on, by their hashes; `places` tells in which slots.

    Returns whether two of these have the same hash, as texts that are the same have.
    """
    last, same = np.uint64(len(slots) - 1), False
    for i in range(len(hashes)):
        if i + AHEAD < len(hashes):
            prefetch(slots, int(hashes[i + AHEAD] & last))
        place = hashes[i] & last
        while slots[place] != 0:
            other = slots[place] - 1 - first
            same |= 0 <= other < i and hashes[other] == hashes[i]
            place = (place + np.uint64(1)) & last
        slots[place] = first + i + 1
        places[i] = place
    return same


@kernel
def are_tidy(ends: Int64s, texts: Bytes, most: int) -> tuple[bool, bool]:
    """Whether all texts are printable ASCII with no blank at either end, and at most so long.

    Also whether one of them is surely no plain number.
    """
    tidy, unlike_number = True, False
    for byte in texts[ends[0] : ends[-1]]:
        tidy &= (byte >= _BLANK) & (byte <= _TILDE)
    for i in range(len(ends) - 1):
        length = ends[i + 1] - ends[i]
        if not tidy or length == 0 or length > most:
            return False, False
        first, last = texts[ends[i]], texts[ends[i + 1] - 1]
        tidy &= (first != _BLANK) & (last != _BLANK)
        unlike_number |= (last < _ZERO) | (last > _NINE) | (first > _NINE) | (length > WORD * 3)
    return tidy, unlike_number
