"""SuiteSparse GraphBLAS: triangles of every step in one masked matrix product."""

from __future__ import annotations

from dataclasses import dataclass

import graphblas as gb
import numpy as np
from numpy.typing import NDArray

from benchmarks.graphs import Graph, Labels, Positions
from benchmarks.peers.answers import Counts


@dataclass(frozen=True, eq=False)
class Ready:
    """The edges in arrays of the widths that GraphBLAS takes over without converting."""

    newer: Positions
    older: NDArray[np.uint64]
    node_step: Labels
    steps: int


def ready(graph: Graph) -> Ready:
    """Convert the arrays; this is not timed."""
    older = graph.older.astype(np.uint64)
    return Ready(graph.newer.astype(np.int64), older, graph.node_step, graph.steps)


def triangles_per_step(graph: Ready, threads: int) -> Counts:
    """Triangles that appear at each step, given to their youngest node.

    Row w of L lists w's older neighbours. An entry (w, v) of L Lᵀ, kept where L has one,
    counts the older neighbours that w and v share: the triangles whose two younger nodes
    are w and v. The matrix is built from row offsets, the fastest way that there is.
    """
    gb.ss.config["nthreads"] = threads
    nodes = len(graph.node_step)
    offsets = np.zeros(nodes + 1, dtype=np.uint64)
    np.cumsum(np.bincount(graph.newer, minlength=nodes), out=offsets[1:])
    older = gb.Matrix.from_csr(offsets, graph.older, True, nrows=nodes, ncols=nodes)
    shared = gb.Matrix(gb.dtypes.INT64, nodes, nodes)
    shared(older.S) << older.mxm(older.T, gb.semiring.plus_pair["INT64"])
    youngest, count = shared.reduce_rowwise(gb.monoid.plus).new().to_coo()
    per_step = np.bincount(graph.node_step[youngest], weights=count, minlength=graph.steps)
    return per_step.astype(np.int64)
