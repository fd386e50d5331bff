"""A growing graph that stays on the workers: files of edges by colour, and integers per step.

Labels are those of a graph sequence. A node's *colour* is its label modulo a small number p, and
every file holds edges whose newer ends have one colour and whose older ends have one: p² *classes*.
So whoever needs all links of some nodes, or all links among nodes of three colours, reads a few
files and nothing else. Files of prompt edges hold `newer` and `entry` (as in a sequence's lists),
ascending; those of late edges also `step`, by which they ascend first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.engines.counts import Extent
from graphveil.engines.spark.workspace import Workspace
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """One file of edges.

    Attributes:
        newer: the colour of newer ends.
        older: the colour of older ends.
        name: of the file in the workspace.
        first_step: before which none of the edges appears.
        last_step: after which none does.
        late: whether they appear later than both their ends.
        rows: how many they are; private.
    """

    newer: int
    older: int
    name: str
    first_step: int
    last_step: int
    late: bool
    rows: int = field(repr=False)


@dataclass(frozen=True)
class NodePart:
    """One file of nodes, whose labels follow each other; columns `node` and `stated`.

    Attributes:
        name: of the file, in the workspace or with its whole path.
        first: the label of its first node; private.
        rows: how many it has; private.
        text: whether its ids are text; else whole numbers.
    """

    name: str
    first: int = field(repr=False)
    rows: int = field(repr=False)
    text: bool = True

    @property
    def file(self) -> str:
        """Its name without the path."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True, eq=False)
class SparkGraph:
    """What a graph sequence is, for graphs that fit no machine; a value, and a secret.

    Attributes:
        workspace: where its files are.
        calendar: how times became steps.
        directed: whether u→v differs from v→u.
        oriented: whether reciprocal edges were refused.
        colours: how many there are.
        text_ids: whether ids are text; else whole numbers.
        node_offsets: (steps + 1,) where the labels of each step begin.
        prompt: (steps,) pairs that are linked as the newer one arrives.
        late: (steps,) late edges.
        edges: (steps,) all edges; a pair linked both ways is two.
        parts: the files of edges.
        people: the files of nodes, in order of labels.
    """

    workspace: Workspace
    calendar: Calendar
    directed: bool
    oriented: bool
    colours: int
    text_ids: bool
    node_offsets: Int64s = field(repr=False)
    prompt: Int64s = field(repr=False)
    late: Int64s = field(repr=False)
    edges: Int64s = field(repr=False)
    parts: tuple[Part, ...] = field(repr=False)
    people: tuple[NodePart, ...] = field(repr=False)

    @classmethod
    def begin(
        cls,
        workspace: Workspace,
        calendar: Calendar,
        *,
        directed: bool,
        oriented: bool,
        colours: int,
        text_ids: bool = True,
    ) -> SparkGraph:
        """A graph without steps."""
        offsets, never = np.zeros(1, np.int64), np.zeros(0, np.int64)
        kind = workspace, calendar, directed, oriented, colours, text_ids
        return cls(*kind, offsets, never, never, never, (), ())

    @property
    def steps(self) -> int:
        """How many steps the graph has."""
        return len(self.node_offsets) - 1

    @property
    def nodes(self) -> int:
        """How many nodes have arrived (a true count: private)."""
        return int(self.node_offsets[-1])

    @property
    def labels(self) -> list[str]:
        """The public names of the steps."""
        return [self.calendar.label(step) for step in range(self.steps)]

    @property
    def pairs(self) -> int:
        """How many rows its files have up to its last step (private)."""
        return int(self.prompt.sum() + self.late.sum())

    def until(self, steps: int) -> SparkGraph:
        """The graph as it was after its first `steps` steps; files stay as they are."""
        if not 0 <= steps <= self.steps:
            raise ParameterError("steps", f"must lie in 0..{self.steps}")
        return replace(
            self,
            node_offsets=self.node_offsets[: steps + 1],
            prompt=self.prompt[:steps],
            late=self.late[:steps],
            edges=self.edges[:steps],
            parts=tuple(part for part in self.parts if part.first_step < steps),
        )

    def among(self, classes: Iterable[tuple[int, int]]) -> tuple[Part, ...]:
        """The files of some classes of edges, (newer colour, older colour)."""
        wanted = set(classes)
        return tuple(part for part in self.parts if (part.newer, part.older) in wanted)

    def only(self, classes: Iterable[tuple[int, int]]) -> SparkGraph:
        """What a task takes along that reads some classes: no other files' names."""
        return replace(self, parts=self.among(classes), people=())

    def extent(self, steps: int) -> Extent:
        """How much the first steps hold: enough to notice another graph."""
        nodes = int(self.node_offsets[steps])
        prompt, late = int(self.prompt[:steps].sum()), int(self.late[:steps].sum())
        return Extent(self.directed, steps, nodes, prompt, late)


def nodes_of(graph: SparkGraph, colour: int) -> int:
    """How many nodes have a colour."""
    return max(0, -(-(graph.nodes - colour) // graph.colours))


def offsets_of(graph: SparkGraph, colour: int) -> Int64s:
    """Where the nodes of a colour begin at each step, among those of their colour."""
    return np.maximum(0, -((colour - graph.node_offsets) // graph.colours))
