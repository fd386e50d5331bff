"""The paper's table of datasets: sizes and largest degrees, of the paper's data and of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.graph.sequence import GraphSequence


@dataclass(frozen=True)
class Summary:
    """A line of the table.

    Attributes:
        nodes: how many there are in the end.
        edges: how many there are in the directed version.
        steps: how many releases there can be; the paper's time span in years.
        max_degree: the largest degree of the undirected version.
        max_in_degree: the largest in-degree of the directed version.
        max_out_degree: the largest out-degree of the directed version.
    """

    nodes: int
    edges: int
    steps: int
    max_degree: int
    max_in_degree: int
    max_out_degree: int


PAPER = {
    "hiv-trace": Summary(1660, 456, 21, 13, 12, 8),
    "patents": Summary(91614, 475427, 15, 247, 211, 246),
    "acl-signed": Summary(9038, 5249, 24, 36, 19, 36),
    "synthetic-1": Summary(1990, 665, 20, 5, 1, 4),
    "synthetic-2": Summary(1088, 588, 20, 6, 1, 5),
}


def summarise(directed: GraphSequence) -> Summary:
    """The line of a directed sequence (true counts: private)."""
    from graphveil.graph.degrees import degrees

    both, either = degrees(directed), degrees(directed.undirected())
    return Summary(
        nodes=directed.nodes,
        edges=int(both.outward.sum(dtype="int64")),
        steps=directed.steps,
        max_degree=int(either.outward.max(initial=0)),
        max_in_degree=int(both.inward.max(initial=0)),
        max_out_degree=int(both.outward.max(initial=0)),
    )
