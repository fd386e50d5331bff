"""Rules met: what would become of records, in the order in which a steward asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.steward.records.adding import Addition

_GROUPS = {
    "Added": ("nodes_added", "edges_added"),
    "Known already": ("known_nodes", "known_edges", "redated_nodes", "awaited_edges"),
    "Merged": ("repeated_nodes", "repeated_edges", "trimmed_ids", "respelled_ids"),
    "Moved": ("folded_nodes", "undated_nodes", "late_nodes", "raised_edges", "late_edges"),
    "Dropped": (
        "self_links", "nodes_after_end", "edges_after_end", "nodes_undated", "edges_undated",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class RulesMet:
    """One group of rules; private.

    Attributes:
        group: what became of the records.
        lines: one sentence a rule.
    """

    group: str
    lines: tuple[str, ...]


def rules_met(addition: Addition) -> tuple[RulesMet, ...]:
    """Everything that an addition says about records, by what became of them."""
    findings = addition.added.findings
    told = {
        group: [said for name in names if (said := findings.intake.said(name))]
        for group, names in _GROUPS.items()
    }
    known = {said for lines in told.values() for said in lines}
    others = [line for line in findings.lines() if line not in known and not line.startswith("0 ")]
    aside = [line for line in others if " set aside: " in line or " they wait until " in line]
    told["Set aside"] = aside
    told["To look at"] = [line for line in others if line not in aside]
    return tuple(RulesMet(group, tuple(lines)) for group, lines in told.items() if lines)
