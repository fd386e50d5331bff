"""The intake report: what happened to the records, counted, rule by rule.

It holds true counts and belongs to the operator: it is private.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

_RULES = {
    "nodes_added": "nodes added",
    "edges_added": "edges added",
    "known_nodes": "nodes already known",
    "known_edges": "edges already known",
    "trimmed_ids": "ids with surrounding blanks: blanks removed",
    "respelled_ids": "ids with invisible characters or letters in parts: spelled alike",
    "repeated_nodes": "nodes listed more than once with the same step: merged",
    "awaited_edges": "edges that waited for somebody who is now known: among those added or known",
    "redated_nodes": "known nodes with another step: kept as they were",
    "folded_nodes": "nodes from before the first step: counted in the first step",
    "nodes_after_end": "rows of nodes from after the last step: ignored",
    "undated_nodes": "nodes without a time: put into the first open step",
    "late_nodes": "nodes of a closed step: joined the first open step",
    "repeated_edges": "edges listed more than once: merged, the earliest time counts",
    "self_links": "edges from a node to itself: left out",
    "raised_edges": "edge times before an endpoint arrives: moved to that step",
    "late_edges": "edges of a closed step: joined the first open step",
    "edges_after_end": "rows of edges from after the last step, or of such nodes: ignored",
    "nodes_undated": "rows of nodes without a time: left out",
    "edges_undated": "rows of edges of nodes without a time: left out",
}
_TOTALS = ("nodes_added", "edges_added")
_KNOWN = ("known_nodes", "known_edges")


def counted(number: int, things: str) -> str:
    """A number of things; one is in the singular."""
    if number == 1:
        things = re.sub(r"\b(node|edge|id|time|row|step|release)s\b", r"\1", things, count=1)
    return f"{number:,} {things}"


@dataclass(frozen=True)
class IntakeReport:
    """How many records met each rule; `lines` says it in words.

    Every row is the first of something new, the first of something known (in the sequence, or
    waiting), a repetition within its batch, an edge from a node to itself, or ignored.

    Examples:
        >>> IntakeReport(nodes_added=2, edges_added=1, self_links=1).lines()
        ['2 nodes added', '1 edge added', '1 edge from a node to itself: left out']
    """

    nodes_added: int = 0
    edges_added: int = 0
    trimmed_ids: int = 0
    respelled_ids: int = 0
    repeated_nodes: int = 0
    redated_nodes: int = 0
    folded_nodes: int = 0
    undated_nodes: int = 0
    late_nodes: int = 0
    repeated_edges: int = 0
    self_links: int = 0
    raised_edges: int = 0
    late_edges: int = 0
    known_nodes: int = 0
    known_edges: int = 0
    nodes_after_end: int = 0
    edges_after_end: int = 0
    nodes_undated: int = 0
    edges_undated: int = 0
    awaited_edges: int = 0

    def lines(self, about_known: Sequence[str] = ()) -> list[str]:
        """One sentence per rule that was met, the two totals first.

        Args:
            about_known: what else there is to say about known nodes and edges; follows them.
        """
        counts = asdict(self)
        met = [name for name in _RULES if name in _TOTALS or counts[name]]
        said = [counted(counts[name], _RULES[name]) for name in met]
        place = sum(name in (*_TOTALS, *_KNOWN) for name in met)
        return [*said[:place], *about_known, *said[place:]]

    def said(self, name: str) -> str:
        """How many records met a rule, in words; nothing if none did."""
        number = getattr(self, name)
        return counted(number, _RULES[name]) if number else ""

    def __add__(self, other: IntakeReport) -> IntakeReport:
        """Both reports as one, for several batches."""
        return IntakeReport(
            *(getattr(self, field.name) + getattr(other, field.name) for field in fields(self))
        )
