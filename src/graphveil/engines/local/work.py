"""One run of the engine: the sequence, the threads, and what several tallies share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from graphveil.engines.local.adjacency import Adjacency, adjacency
from graphveil.graph.sequence import GraphSequence


@dataclass(frozen=True, eq=False)
class Work:
    """What every counting function is given.

    Attributes:
        sequence: the growing graph.
        threads: how many threads to use; None for all.
        since: the first step whose recent network is wanted.
    """

    sequence: GraphSequence
    threads: int | None
    since: int = 0

    @cached_property
    def adjacency(self) -> Adjacency:
        """All neighbours of each node, built when the first pattern asks for it."""
        return adjacency(self.sequence)
