"""The tally of a sweep as a table for people."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from rich.table import Table

from graphveil.statistics.changes.sensitivity import Measure
from graphveil.testing.attacks.attack import Attack, Finding

COLUMNS: dict[Measure, str] = {
    "l1": "L1",
    "static_l1": "static",
    "l2_squared": "L2²",
    "variation_squared": "V²",
    "edge_l1": "edge",
}


def verdict_of(attacks: Iterable[Attack]) -> str:
    """The worst verdict on any claim."""
    verdicts = {finding.verdict for attack in attacks for finding in attack.findings}
    return next(word for word in ("broken", "unconfirmed", "holds", "reached") if word in verdicts)


def pairs_of(attacks: Sequence[Attack]) -> int:
    """How many pairs were tried; the small ones once, for bounds share them."""
    shared = {attack.relation: attack.enumerated for attack in attacks}
    return sum(shared.values()) + sum(attack.searched for attack in attacks)


def cell(finding: Finding) -> str:
    """Found against claimed, with a mark where they contradict the claim."""
    sign = {"broken": ">", "reached": "="}.get(finding.verdict, "<")
    mark = " !" if finding.broken or finding.unconfirmed else ""
    return f"{finding.found} {sign} {finding.claimed}{mark}"


def row_of(attacks: Sequence[Attack]) -> tuple[str, ...]:
    """One row: the numbers of the last bound, the pairs and the verdict of all."""
    last = attacks[-1].bound
    findings = {
        finding.measure: finding
        for attack in attacks
        if attack.bound == last
        for finding in attack.findings
    }
    return (
        str(attacks[0].statistic),
        last.kind,
        str(len({attack.bound for attack in attacks})),
        f"{pairs_of(attacks):,}",
        ", ".join(map(str, last.limits)),
        *(cell(findings[measure]) if measure in findings else "" for measure in COLUMNS),
        verdict_of(attacks),
    )


def grouped(attacks: Iterable[Attack], key: Callable[[Attack], Hashable]) -> list[list[Attack]]:
    """The attacks with equal keys together, in order of first appearance."""
    groups: dict[Hashable, list[Attack]] = {}
    for attack in attacks:
        groups.setdefault(key(attack), []).append(attack)
    return list(groups.values())


def rows(attacks: Iterable[Attack], *, every_bound: bool = False) -> list[tuple[str, ...]]:
    """One row per statistic and kind of graph, or per bound."""

    def key(attack: Attack) -> Hashable:
        place = attack.bound if every_bound else attack.bound.kind
        return attack.statistic, place

    return [row_of(group) for group in grouped(attacks, key)]


HEADINGS = (
    "statistic",
    "graphs",
    "bounds",
    "pairs tried",
    "at bound",
    *COLUMNS.values(),
    "verdict",
)


def tally(attacks: Iterable[Attack], *, every_bound: bool = False) -> Table:
    """Largest distance found against the claim, for people."""
    table = Table(title="Largest distance found against the claim", title_justify="left")
    for heading in HEADINGS:
        justify = "left" if heading in ("statistic", "graphs", "verdict") else "right"
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for row in rows(attacks, every_bound=every_bound):
        table.add_row(*row)
    return table
