"""NetworkX graphs whose nodes, and if need be edges, carry a time attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphveil.formats.memory import from_rows
from graphveil.graph.records import Records

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(graph: nx.Graph[Any], *, time: str = "time") -> Records:
    """Records from a graph; begin the sequence with ``directed=graph.is_directed()``.

    Parallel edges of a multigraph become one edge, as repeated edges always do.

    Args:
        graph: any kind of NetworkX graph; every node needs the attribute.
        time: the attribute's name; edges may carry it too.
    """
    nodes = [(node, given.get(time)) for node, given in graph.nodes(data=True)]
    edges = [(u, v, given.get(time)) for u, v, given in graph.edges(data=True)]
    return from_rows(nodes, edges)
