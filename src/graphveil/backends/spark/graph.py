"""A growing graph that stays on the workers: files of edges by colour, and integers per step.

Labels are those of a graph sequence. A node's *colour* is its label modulo a small number p, and
every file holds edges whose newer ends have one colour and whose older ends have one: p² *classes*.
So a task that needs all links of some nodes, or all links among nodes of three colours, reads only
a few files. Files of prompt edges hold `newer` and `entry` (as in a sequence's lists), ascending;
those of late edges also `step`, by which they ascend first.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.backend import Extent
from graphveil.errors import EngineError, ParameterError
from graphveil.graph.sequence import BOTH

if TYPE_CHECKING:
    import pyarrow as pa

    from graphveil.calendar.calendar import Calendar
    from graphveil.graph.sequence import GraphSequence


# The workspace: a private folder that the driver and all workers reach, for the files of a
# graph.
#
# Tasks write files under names of their own and return these names. What a task wrote that
# failed, or ran twice, is in nobody's list: retries and speculation change nothing.


_PRIVATE = 0o700


@dataclass(frozen=True)
class Workspace:
    """A folder as a path, or as an address that Arrow knows: s3://, gs://, hdfs://.

    Attributes:
        address: of the folder.
    """

    address: str

    @classmethod
    def within(cls, parent: str | None) -> Workspace:
        """A new folder in a given one, or in the temporary one of this machine."""
        if parent is None:
            return cls(tempfile.mkdtemp(prefix="graphveil-graph-"))
        if "://" in parent and not parent.startswith("file://"):
            return cls(f"{parent.rstrip('/')}/graphveil-{uuid.uuid4().hex}")
        folder = Path(parent.removeprefix("file://")).absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return cls(tempfile.mkdtemp(prefix="graphveil-graph-", dir=folder))
        except OSError as error:
            raise EngineError(
                f"the workspace {str(folder)[:80]} cannot be written. Choose another folder that "
                "the driver and all workers reach."
            ) from error

    @cached_property
    def _place(self) -> tuple[Any, str]:
        from pyarrow import fs

        if "://" not in self.address:
            return fs.LocalFileSystem(), self.address
        found: tuple[Any, str] = fs.FileSystem.from_uri(self.address.replace("s3a://", "s3://"))
        return found

    def _found(self, name: str) -> tuple[str, Any]:
        """Where a file is: here, or elsewhere, if its name is a whole path."""
        from pyarrow import fs

        if name.startswith("/"):
            return name, fs.LocalFileSystem()
        system, folder = self._place
        return f"{folder}/{name}", system

    def for_spark(self, name: str) -> str:
        """The address of a file as Spark's own readers want it."""
        if name.startswith("/"):
            return Path(name).as_uri()
        if "://" not in self.address:
            return (Path(self.address) / name).as_uri()
        return f"{self.address.replace('s3://', 's3a://')}/{name}"

    def write(self, stem: str, table: pa.Table) -> str:
        """Write a table under a name of its own, whole, and return the name."""
        from pyarrow import parquet

        name = f"{stem}-{uuid.uuid4().hex}.parquet"
        system, folder = self._place
        options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        if system.type_name == "local":
            path = Path(folder) / name
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                parquet.write_table(table, out, **options)
        else:
            parquet.write_table(table, f"{folder}/{name}", filesystem=system, **options)
        return name

    def read(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """A table that was written; of a file elsewhere, the name is its whole path."""
        from pyarrow import parquet

        path, system = self._found(name)
        return parquet.read_table(path, columns=columns, filesystem=system, use_threads=False)

    def batches(self, name: str, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The same, at most so many rows at a time."""
        from pyarrow import parquet

        path, system = self._found(name)
        with parquet.ParquetFile(path, filesystem=system) as file:
            yield from file.iter_batches(rows, columns=columns, use_threads=False)

    def content(self, name: str) -> bytes:
        """The bytes of a file that was written; of a file elsewhere, the name is its whole path."""
        path, system = self._found(name)
        with system.open_input_stream(path) as file:
            data: bytes = file.read()
            return data

    def remove(self) -> None:
        """Delete everything in it; what is gone already is no error."""
        system, folder = self._place
        if system.type_name == "local":
            shutil.rmtree(folder, ignore_errors=True)
        else:
            system.delete_dir(folder)


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

    Where a study has groups, there is also `stratum`: the labels of the person in all of them.

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
        grouped: whether people have labels of groups.
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
    grouped: bool = False

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
        grouped: bool = False,
    ) -> SparkGraph:
        """A graph without steps."""
        offsets, never = np.zeros(1, np.int64), np.zeros(0, np.int64)
        kind = workspace, calendar, directed, oriented, colours, text_ids
        return cls(*kind, offsets, never, never, never, (), (), grouped)

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


# A sequence in memory as a graph on the workers: for graphs that began small.


Int32s = NDArray[np.int32]


def handed_over(sequence: GraphSequence, workspace: Workspace, colours: int) -> SparkGraph:
    """The graph of a sequence, whose files are written here; it keeps labels, and nobody's id."""
    late, steps = sequence.late, np.arange(sequence.steps, dtype=np.int32)
    newer = np.repeat(np.arange(sequence.nodes, dtype=np.int32), np.diff(sequence.offsets))
    own = np.repeat(steps, np.diff(sequence.offsets[sequence.node_offsets]))
    late_steps = np.repeat(steps, np.diff(late.offsets))
    kinds = ((newer, sequence.entries, own, False), (late.newer, late.entries, late_steps, True))
    prompt_counts, late_counts = (np.bincount(s, minlength=len(steps)) for s in (own, late_steps))
    return SparkGraph(
        workspace=workspace,
        calendar=sequence.calendar,
        directed=sequence.directed,
        oriented=sequence.oriented,
        colours=colours,
        text_ids=False,
        node_offsets=sequence.node_offsets,
        prompt=prompt_counts,
        late=late_counts,
        edges=sum(_edges(kind, sequence) for kind in kinds),  # type: ignore[arg-type]
        parts=tuple(part for kind in kinds for part in class_files(workspace, colours, *kind)),
        people=_labelled(sequence, workspace),
        grouped=sequence.strata is not None,
    )


def _labelled(sequence: GraphSequence, workspace: Workspace) -> tuple[NodePart, ...]:
    """A file with everybody's labels in all groups, if there are groups."""
    import pyarrow as pa

    if sequence.strata is None:
        return ()
    name = workspace.write("nodes", pa.table({"stratum": sequence.strata}))
    return (NodePart(name, 0, sequence.nodes, text=False),)


def _edges(kind: tuple[Int32s, Int32s, Int32s, bool], sequence: GraphSequence) -> NDArray[np.int64]:
    _, entries, steps, _ = kind
    weights = 1 + ((entries & BOTH) == BOTH) * sequence.directed
    return np.bincount(steps, weights=weights, minlength=sequence.steps).astype(np.int64)


def class_files(
    workspace: Workspace, colours: int, newer: Int32s, entries: Int32s, steps: Int32s, late: bool
) -> list[Part]:
    """Edges in order, written class by class."""
    import pyarrow as pa

    first = newer % colours * colours + (entries >> 2) % colours
    parts = []
    for each in np.unique(first).tolist():
        rows = first == each
        columns = {"newer": newer[rows], "entry": entries[rows]}
        columns |= {"step": steps[rows]} if late else {}
        name = workspace.write("edges", pa.table(columns))
        of, count = steps[rows], int(rows.sum())
        mine, theirs = divmod(each, colours)
        parts.append(Part(mine, theirs, name, int(of.min()), int(of.max()), late, count))
    return parts
