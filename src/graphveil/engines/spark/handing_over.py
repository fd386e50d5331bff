"""A sequence in memory as a graph on the workers: for graphs that began small."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.engines.spark.graph import Part, SparkGraph
from graphveil.engines.spark.workspace import Workspace
from graphveil.graph.sequence import BOTH

if TYPE_CHECKING:
    from graphveil.graph.sequence import GraphSequence

Int32s = NDArray[np.int32]


def handed_over(sequence: GraphSequence, workspace: Workspace, colours: int) -> SparkGraph:
    """The graph of a sequence, whose files are written here; it keeps nobody's id."""
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
        people=(),
    )


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
