"""What an engine is asked to count: tallies, which several statistics may share.

A tally is a request; an engine answers it with exact integers per step. One degree
tally serves the high-degree count, the histogram, the CCDF and all stars. Counts are integers
of 64 bits: what does not fit is refused, never wrapped or rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from graphveil.deferred import np
from graphveil.errors import CountOverflowError
from graphveil.graph.promises import Direction
from graphveil.statistics.pattern_shape import Pattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

Counts: TypeAlias = "NDArray[np.int64]"
LARGEST = 2**63 - 1


@dataclass(frozen=True)
class NodeTally:
    """Nodes that arrive at each step: an array (steps,)."""


@dataclass(frozen=True)
class EdgeTally:
    """Edges that appear at each step: an array (steps,)."""


@dataclass(frozen=True)
class DegreeTally:
    """Nodes that first reach degree d at each step: a `DegreeReach`."""

    direction: Direction


@dataclass(frozen=True)
class TriangleTally:
    """Triangles that appear at each step: an array (steps, 3) of the kinds below.

    Columns: triangles (undirected sequences), cyclic and transitive ones (directed).
    """

    UNDIRECTED = 0
    CYCLIC = 1
    TRANSITIVE = 2


@dataclass(frozen=True)
class ComponentTally:
    """Change of the number of (weakly) connected components at each step: (steps,)."""


@dataclass(frozen=True)
class ClusterTally:
    """Change of the number of components of at least `least` nodes, and of the nodes in them.

    An array (steps, 2), with these two columns.
    """

    least: int


@dataclass(frozen=True)
class ForestTally:
    """Change of components and of clusters of at least two nodes, both counted by forests.

    An array (steps, 2), with these two columns; nobody has more than `branches` links in the
    forest that holds them together (docs/sensitivities.md#forests).
    """

    branches: int

    COMPONENTS = 0
    CLUSTERS = 1


@dataclass(frozen=True)
class PatternTally:
    """Copies of a pattern that appear at each step: an array (steps,)."""

    pattern: Pattern


@dataclass(frozen=True)
class GrowthTally:
    """Components with at least `least` nodes that arrived in the last `recent` steps.

    Only the last step of a sequence has such a number, so it is counted in recent networks alone.
    """

    least: int
    recent: int


@dataclass(frozen=True)
class GroupTally:
    """Another tally by cells of people's labels: an array (steps, cells, …).

    What follows is as the other tally has it; of degrees, how many nodes of the cell first reach
    each.

    Attributes:
        tally: what is counted.
        axes: the stride and size of each group in a stratum; the last one runs fastest.
        cells: what gives the cell: see `Breakdown`.
    """

    tally: PlainTally
    axes: tuple[tuple[int, int], ...]
    cells: str


@dataclass(frozen=True)
class RecentTally:
    """At each step another tally, in the network of the nodes of the last `window` steps.

    Its rows are not changes: row t is what the other tally comes to, over all its steps, among
    the nodes that arrived at the steps t − window + 1 to t, and the edges between them by then.
    """

    tally: PlainTally | GrowthTally | GroupTally
    window: int


PlainTally: TypeAlias = (
    NodeTally
    | EdgeTally
    | DegreeTally
    | TriangleTally
    | ComponentTally
    | ClusterTally
    | ForestTally
    | PatternTally
)
Tally: TypeAlias = PlainTally | GroupTally | RecentTally


@dataclass(frozen=True)
class DegreeReach:
    """R[t, d]: how many nodes first reach degree d at step t.

    Low degrees, which nearly all nodes have, are a dense table. A hub passes through
    many degrees within one step, so high degrees are runs: each row of `runs`,
    (step, first, last), says that one node reached first..last at that step.

    Attributes:
        low: (steps, width) counts for degrees 0..width-1.
        runs: (rows, 3) runs of degrees, all of at least `width`.
    """

    low: Counts
    runs: Counts

    @property
    def steps(self) -> int:
        """How many steps the table covers."""
        return int(self.low.shape[0])

    def highest(self) -> int:
        """The highest degree that any node reaches."""
        if len(self.runs):
            return int(self.runs[:, 2].max())
        reached = np.flatnonzero(self.low.any(axis=0))
        return int(reached[-1]) if len(reached) else 0

    def column(self, degree: int) -> Counts:
        """How many nodes reach `degree` at each step."""
        if degree < self.low.shape[1]:
            return self.low[:, degree].copy()
        hits = (self.runs[:, 1] <= degree) & (degree <= self.runs[:, 2])
        return np.bincount(self.runs[hits, 0], minlength=self.steps).astype(np.int64)

    def table(self, highest: int) -> Counts:
        """R as one dense array, (steps, highest + 1)."""
        width = self.low.shape[1]
        dense = np.zeros((self.steps, highest + 1), dtype=np.int64)
        shared = min(width, highest + 1)
        dense[:, :shared] = self.low[:, :shared]
        if highest >= width and len(self.runs):
            self._fill_runs(dense[:, width:], first_column=width)
        return dense

    def _fill_runs(self, high: Counts, first_column: int) -> None:
        """Enter each run by its two ends, then sum along the degrees."""
        step, first, last = self.runs.T - np.array([[0], [first_column], [first_column]])
        columns = high.shape[1]
        begins, ends = first < columns, last + 1 < columns
        np.add.at(high, (step[begins], first[begins]), 1)
        np.subtract.at(high, (step[ends], last[ends] + 1), 1)
        np.cumsum(high, axis=1, out=high)


def checked(values: Sequence[int]) -> Counts:
    """Whole numbers of any size as 64-bit counts, or a refusal."""
    if any(abs(value) > LARGEST for value in values):
        raise CountOverflowError(
            "a count is beyond 64 bits; nothing was rounded or wrapped. "
            "Count smaller subgraphs (a smaller k) or fewer steps."
        )
    return np.array(values, dtype=np.int64)


def totals(differences: Counts) -> Counts:
    """Running totals over the steps (the first axis), or a refusal beyond 64 bits."""
    if len(differences) == 0:
        return differences.copy()
    largest_move = max(abs(int(differences.min())), abs(int(differences.max())))
    if largest_move * len(differences) <= LARGEST:
        return np.cumsum(differences, axis=0)
    exact = np.cumsum(differences.astype(object), axis=0)
    return checked(exact.ravel().tolist()).reshape(differences.shape)
