"""What one person can change in one graph after greedy projection, without any promise.

Guarantees: for `graph.projection.greedy_projection`, whose edge order two neighbouring
sequences share on their common edges, and for every pair of neighbouring graphs, whatever
their degrees; the projection's threshold is written as a bound. At most that many of the
person's own edges are kept. Each of them sets off one chain of later edges that are kept
instead of dropped and dropped instead of kept, in turn, at the end of which a single degree
has changed by one. Proof: docs/mechanisms.md#compose.
"""

from __future__ import annotations

from graphveil.graph.bound import Bound
from graphveil.statistics.edges import Edges
from graphveil.statistics.high_degree import HighDegree, HighDegreeCount
from graphveil.statistics.nodes import Nodes
from graphveil.statistics.statistic import Statistic


def projected_l1(statistic: Statistic, threshold: Bound) -> int | None:
    """The static sensitivity after greedy projection; None where none is known.

    Refuses a threshold that does not fit the statistic, just as a bound is refused.
    """
    within = statistic.sensitivity(threshold)
    if isinstance(statistic, Nodes | Edges):
        return within.static_l1  # a chain ends with as many edges as before, or one more
    if isinstance(statistic, HighDegree):
        return within.static_l1
    if isinstance(statistic, HighDegreeCount):
        return _directed(statistic, threshold)
    return None


def _directed(statistic: HighDegreeCount, threshold: Bound) -> int:
    """A link towards the person can raise a node's degree; one away from it can lower one.

    Counting out-links: Din nodes rise and so may the person, or Dout nodes fall, where the
    person itself, having that many links, rises (τ ≤ Dout). Counting in-links, the reverse.
    """
    reach = statistic.reach(threshold)
    return max(reach.touched + 1, reach.highest - 1)
