"""Compiled loops that lay out nodes and edges; plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.intake.text_order import WORD, word_at
from graphveil.graph.sequence import BOTH, MOST_NODES
from graphveil.kernels import inlined, kernel, prefetch

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Places = NDArray[np.int32] | NDArray[np.int64]
Flags = NDArray[np.bool_]

_SHORT = 24  # up to here insertion beats the library's sort
_AHEAD = 24  # how many ids ahead to ask for a place in a table


@kernel
def look_up(ids: Int64s, low: int, table: Int32s, known: int, labels: Int32s) -> None:
    """Fill `labels` from a table that starts at id `low`; hide labels from `known` on."""
    size, safe = np.uint64(len(table)), len(ids) - _AHEAD
    for i in range(len(ids)):
        if i < safe:
            prefetch(table, ids[i + _AHEAD] - low)
        place = np.uint64(ids[i] - low)  # ids below `low` wrap to huge places
        label = table[place] if place < size else -1
        labels[i] = label if label < known else -1


@kernel
def arrange_numbers(
    ids: Int64s, steps: Int32s, low: int, table: Int32s, arranged: Int64s, counts: Int64s
) -> int:
    """Distinct ids of a narrow range by (step, id), in three passes, without sorting.

    Rows that repeat an id and its step are merged.

    Args:
        ids: the ids, none below `low`.
        steps: the step of each.
        low: the id that belongs to the first place of `table`.
        table: -1 for every id in the range; filled with the place of each among the arranged.
        arranged: room for every id; filled with the distinct ones in order.
        counts: 0 for every step; filled with how many ids it has.

    Returns:
        The first row that names an earlier id with another step, or -1.
    """
    safe = len(ids) - _AHEAD
    for row in range(len(ids)):  # first, the table has the step of each
        if row < safe:
            prefetch(table, ids[row + _AHEAD] - low)
        own = np.uint64(ids[row] - low)
        if table[own] < 0:
            table[own] = steps[row]
        elif table[own] != steps[row]:
            return row
    for step in table:
        if step >= 0:
            counts[step] += 1
    place = np.cumsum(counts) - counts
    for slot in range(len(table)):
        step = table[slot]
        if step >= 0:
            arranged[place[step]] = low + slot
            table[slot] = place[step]
            place[step] += 1
    return -1


@kernel
def survey(source: Int32s, target: Int32s) -> tuple[int, int, int]:
    """The lowest label, the lowest one of newer ends, and how many rows join a node to itself."""
    lowest = lowest_newer = np.int32(MOST_NODES)
    self_links = 0
    for i in range(len(source)):
        lowest = min(lowest, source[i], target[i])
        lowest_newer = min(lowest_newer, max(source[i], target[i]))
        self_links += source[i] == target[i]
    return int(lowest), int(lowest_newer), self_links


@kernel
def count_list_lengths(
    source: Int32s, target: Int32s, prompt: Flags, first: int, lengths: Places
) -> None:
    """Add the prompt edges of some rows to the lengths of the lists of nodes from `first` on."""
    every = len(prompt) == 0
    for i in range(len(source)):
        if source[i] != target[i] and (every or prompt[i]):
            lengths[max(source[i], target[i]) - first] += 1


@kernel
def line_up(lengths: Places, offsets: Int64s) -> None:
    """Where lists begin and, in place of each share's length, where its part of a list does.

    Args:
        lengths: (shares, nodes) how much of each list some rows have.
        offsets: filled.
    """
    place = 0
    for node in range(lengths.shape[1]):
        offsets[node] = place
        for share in range(lengths.shape[0]):
            own = lengths[share, node]
            lengths[share, node] = place
            place += own
    offsets[lengths.shape[1]] = place


@kernel
def fill_lists(
    source: Int32s,
    target: Int32s,
    prompt: Flags,
    first: int,
    directions: Int32s,
    places: Places,
    entries: Int32s,
) -> None:
    """Put the prompt edges of some rows into lists, in the order of rows.

    Args:
        source: the label at one end of each edge.
        target: the label at the other.
        prompt: which edges are prompt; empty if all are.
        first: the label whose list is the first.
        directions: the direction bits of an edge from older to newer, and the other way.
        places: where the part of each list begins that these rows have; left where it ends.
        entries: filled.
    """
    forward, backward = directions
    every = len(prompt) == 0
    for i in range(len(source)):
        a, b = source[i], target[i]
        if a == b or not (every or prompt[i]):
            continue
        newer = np.uint64(max(a, b) - first)
        place = places[newer]
        entries[np.uint64(place)] = min(a, b) << 2 | (forward if a < b else backward)
        places[newer] = place + 1


@kernel
def sort_lists(offsets: Int64s, entries: Int32s, first: int, stop: int) -> int:
    """Sort the lists first..stop in place; returns how often a neighbour occurs again.

    In a short list, each entry is let in among those before it, and carries on whatever is
    larger. Which of two is larger is hard to predict, so nothing is left out where nothing moves.
    """
    again, one = 0, np.uint64(1)
    for node in range(first, stop):
        begin, end = np.uint64(offsets[node]), np.uint64(offsets[node + 1])
        if end - begin > np.uint64(_SHORT):
            entries[begin:end].sort()
            at = end
        else:
            at = begin + one
        while at < end:
            carried, among = entries[at], begin
            while among < at:
                other = entries[among]
                entries[among] = min(other, carried)
                carried = max(other, carried)
                among += one
            entries[at] = carried
            at += one
        at = begin + one
        while at < end:
            again += entries[at] >> 2 == entries[at - one] >> 2
            at += one
    return again


@kernel
def merge_pairs(offsets: Int64s, entries: Int32s) -> None:
    """Merge entries of one pair in sorted lists, in place.

    Both directions of one pair become one entry. Offsets are rewritten; entries past the
    last offset are meaningless afterwards.
    """
    count = 0
    start = offsets[0]
    for node in range(len(offsets) - 1):
        stop = offsets[node + 1]
        offsets[node] = count
        for i in range(start, stop):
            entry = entries[i]
            if count > offsets[node] and entries[count - 1] >> 2 == entry >> 2:
                entries[count - 1] |= entry
            else:
                entries[count] = entry
                count += 1
        start = stop
    offsets[len(offsets) - 1] = count


@kernel
def prompt_directions(offsets: Int64s, entries: Int32s, newer: Int32s, older: Int32s) -> Int32s:
    """How each pair is linked in the lists: direction bits, or 0 if it is not."""
    directions = np.zeros(len(newer), dtype=np.int32)
    for i in range(len(newer)):
        low, high = offsets[newer[i]], offsets[newer[i] + 1]
        while low < high:
            middle = (low + high) >> 1
            if entries[middle] >> 2 < older[i]:
                low = middle + 1
            else:
                high = middle
        if low < offsets[newer[i] + 1] and entries[low] >> 2 == older[i]:
            directions[i] = entries[low] & BOTH
    return directions


# Compiled loops that find ids in a table of labels; plain arrays in, plain arrays out.
#
# A table has a power of two of slots, most of them empty. A slot holds a label plus one; 0 means
# that it is empty. The search for an id begins at the slot that its hash names and ends at the
# first empty one. A label that is found is checked against the id itself, because a slot may
# have been written by a command that was interrupted before it stored the id.


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
        mixed = np.uint64(seed) ^ np.uint64(stop - place)
        while place < stop:
            left = min(stop - place, WORD)
            if place + WORD <= len(texts):
                word = word_at(texts, place)
                word = word << np.uint64(8 * (WORD - left)) >> np.uint64(8 * (WORD - left))
            else:
                word = np.uint64(0)
                for at in range(stop - 1, place - 1, -1):
                    word = word << np.uint64(8) | np.uint64(texts[at])
            mixed = (mixed ^ word) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
            place += left
        hashes[i] = _mixed(mixed, seed)


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
