"""Nodes and edges per step, read off the columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.sequence import GraphSequence
from graphveil.kernels.compiled import kernel
from graphveil.statistics.tallies import Counts


def count_nodes(sequence: GraphSequence, from_step: int) -> Counts:
    """Nodes that arrive at each step from `from_step` on."""
    return np.diff(sequence.node_offsets)[from_step:]


def count_edges(sequence: GraphSequence, from_step: int) -> Counts:
    """Edges that appear at each step from `from_step` on; directed ones by direction."""
    prompt = sequence.offsets[sequence.node_offsets[from_step:]]
    late = sequence.late.offsets[from_step:]
    edges: Counts = np.diff(prompt) + np.diff(late)
    if sequence.directed and not sequence.oriented:
        edges += _reciprocal(sequence.entries, prompt)
        edges += _reciprocal(sequence.late.entries, late)
    return edges


@kernel
def _reciprocal(entries: NDArray[np.int32], cuts: NDArray[np.int64]) -> Counts:
    """Pairs linked both ways between each two cuts."""
    found = np.zeros(len(cuts) - 1, dtype=np.int64)
    for share in range(len(found)):
        both = 0
        for place in range(cuts[share], cuts[share + 1]):
            both += entries[place] & 3 == 3
        found[share] = both
    return found
