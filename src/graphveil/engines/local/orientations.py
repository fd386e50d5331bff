"""How three linked pairs make up cyclic and transitive triangles.

Name the corners by age: the newest w, the middle v and the oldest u. Each pair carries
two direction bits, so three pairs make one of 64 *pairings*. A pair linked both ways can
be used either way; a choice of one direction per pair is a triangle, and it is cyclic for
two of the eight choices and transitive for the other six.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD
from graphveil.statistics.tallies import Counts, TriangleTally

PAIRINGS = 64


def pairing(newest_middle: int, newest_oldest: int, middle_oldest: int) -> int:
    """The number of a pairing; each argument is a pair's two direction bits."""
    return newest_middle << 4 | newest_oldest << 2 | middle_oldest


def kind(newest_middle: int, newest_oldest: int, middle_oldest: int) -> int:
    """The kind of triangle that three single directions make."""
    turns_round = newest_middle == middle_oldest != newest_oldest
    return TriangleTally.CYCLIC if turns_round else TriangleTally.TRANSITIVE


def triangles_by_pairing(*, directed: bool) -> Counts:
    """(64, 3): how many triangles of each kind one pairing holds."""
    table = np.zeros((PAIRINGS, 3), dtype=np.int64)
    if not directed:
        table[pairing(BOTH, BOTH, BOTH), TriangleTally.UNDIRECTED] = 1
        return table
    for bits in product(range(4), repeat=3):
        for choice in product((FORWARD, BACKWARD), repeat=3):
            if all(used & bit for used, bit in zip(choice, bits, strict=True)):
                table[pairing(*bits), kind(*choice)] += 1
    return table
