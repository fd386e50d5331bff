"""One run of the engine: the sequence, the threads, and what several tallies share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from graphveil.engines.local.adjacency import Adjacency, adjacency
from graphveil.engines.local.touched import touched_part
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

    def touched(self, from_step: int, reach: int) -> Work:
        """The same for the part that links from a step on can make patterns with."""
        known = self._parts.get((from_step, reach))
        if known is None:
            part = touched_part(self.sequence, from_step, reach)
            known = self if part is self.sequence else Work(part, self.threads, self.since)
            self._parts[from_step, reach] = known
        return known

    @cached_property
    def _parts(self) -> dict[tuple[int, int], Work]:
        """What was cut out so far: several patterns may ask for the same."""
        return {}

    @cached_property
    def adjacency(self) -> Adjacency:
        """All neighbours of each node, built when the first pattern asks for it."""
        return adjacency(self.sequence)
