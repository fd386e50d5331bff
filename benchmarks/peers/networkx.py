"""NetworkX: connected components of the growing graph, counted after every step."""

from __future__ import annotations

from time import perf_counter

import networkx as nx
import numpy as np

from benchmarks.graphs import Graph
from benchmarks.racing import Lap


def components_per_step(graph: Graph) -> Lap:
    """Components after each step; only counting is timed, not adding nodes and edges."""
    growing: nx.Graph[int] = nx.Graph()
    links = np.column_stack((graph.newer, graph.older))
    counts, seconds, first_node, first_edge = [], 0.0, 0, 0
    for nodes, edges in zip(graph.node_ends(), graph.edge_ends(), strict=True):
        growing.add_nodes_from(range(first_node, nodes))
        growing.add_edges_from(links[first_edge:edges].tolist())
        start = perf_counter()
        counts.append(nx.number_connected_components(growing))
        seconds += perf_counter() - start
        first_node, first_edge = nodes, edges
    return Lap(np.array(counts, dtype=np.int64), seconds)
