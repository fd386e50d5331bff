"""Counts of copies: the one shape that all their sensitivities have."""

from __future__ import annotations

from graphveil.graph.bound import Bound
from graphveil.statistics.sensitivity import EVERY_MEASURE, PROOFS, Sensitivity, promise


def sensitivity_of_copies(
    through_node: int,
    through_edge: int,
    bound: Bound,
    *,
    anchor: str,
    exact: bool = True,
    paper: int | None = None,
) -> Sensitivity:
    """The sensitivity of a count of copies of one connected subgraph.

    Args:
        through_node: the most copies that can run through one node.
        through_edge: the most copies that can run through one edge.
        bound: the degree bound under which that holds.
        anchor: the heading of the proof that no more copies are possible.
        exact: whether some graph has that many copies, through a node and through an edge.
        paper: what the paper states for the node.

    Guarantees:
        Copies only accumulate, and a copy without the person appears at the same step in
        both sequences, so only copies through the person count; they may all appear
        at once. Proof: docs/sensitivities.md#copies.
    """
    return Sensitivity(
        l1=through_node,
        static_l1=through_node,
        l2_squared=through_node**2,
        edge_l1=through_edge,
        exact_for=EVERY_MEASURE if exact else frozenset(),
        assumption=promise(bound),
        proof=f"{PROOFS}#{anchor}",
        paper=paper,
    )
