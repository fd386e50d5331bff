"""The sweep: every statistic under a grid of bounds, and its tally as a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

from rich.table import Table

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.lab.attacks.attack import QUICK, Attack, Effort, Finding, attack_all
from graphveil.lab.attacks.costs import CostFinding, attack_costs
from graphveil.lab.attacks.enumeration import Size
from graphveil.lab.attacks.hubs import HubFinding, attack_with_hubs
from graphveil.lab.attacks.labels import Labelled, attack_labels
from graphveil.lab.pairs import Relation
from graphveil.statistics.change import sensitivity_under
from graphveil.statistics.sensitivity import Measure
from graphveil.statistics.statistic import Statistic, registered

# Ascending, oriented first, so that pairs found early serve the later bounds too.
BOUNDS: tuple[Bound, ...] = (
    *(DegreeBound(degree) for degree in range(1, 5)),
    *(
        InOutBound(inward, outward, oriented)
        for oriented in (True, False)
        for inward, outward in sorted(
            [(i, o) for i in range(1, 4) for o in range(1, 4)] + [(4, 3), (3, 4)], key=sum
        )
    ),
)

Job: TypeAlias = tuple[Statistic, list[Bound], Relation]


def every_statistic() -> list[Statistic]:
    """The examples of every registered statistic."""
    return [example for member in registered().values() for example in member.examples()]


def admits(statistic: Statistic, bound: Bound) -> bool:
    """Whether a statistic makes a claim under a bound; some refuse, such as τ > D."""
    try:
        statistic.require_domain(directed=bound.directed)
        statistic.sensitivity(bound)
    except ParameterError:
        return False
    return True


def jobs(statistics: Iterable[Statistic], bounds: Sequence[Bound]) -> list[Job]:
    """What to attack, so that bounds which share small pairs stay together."""
    found: list[Job] = []
    for statistic in statistics:
        admitted = [bound for bound in bounds if admits(statistic, bound)]
        for directed in (False, True):
            alike = [bound for bound in admitted if bound.directed == directed]
            relations: tuple[Relation, ...] = ("node", "edge") if alike else ()
            found += [(statistic, alike, relation) for relation in relations]
    return found


def sweep(
    statistics: Iterable[Statistic] | None = None,
    bounds: Sequence[Bound] = BOUNDS,
    effort: Effort = QUICK,
) -> list[Attack]:
    """Attack every statistic under every bound that it admits, for every claimed number.

    Args:
        statistics: what to attack; by default the examples of every registered statistic.
        bounds: the grid; bounds that a statistic refuses are passed over.
        effort: how hard to try.
    """

    def attack_one(job: Job) -> list[Attack]:
        statistic, alike, relation = job
        if isinstance(statistic, Labelled):
            return list(attack_labels(statistic, alike, relation=relation, effort=effort))
        return list(attack_all(statistic, alike, relation=relation, effort=effort))

    todo = jobs(every_statistic() if statistics is None else statistics, bounds)
    # The kernels let go of the interpreter, so threads share the cores.
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return [attack for attacks in pool.map(attack_one, todo) for attack in attacks]


# The tally of shapes and of hubs: what measuring a change costs, and what hubs add to it.


PLAIN: tuple[Bound, ...] = (DegreeBound(3), InOutBound(2, 2))
WITH_HUBS = (HubBound(DegreeBound(2), (1,)), HubBound(InOutBound(1, 2), (0, 1)))
SHAPE_HEADINGS = (
    "statistic", "graphs", "bound", "alone", "with the sum", "totals", "matrices", "hubs", "L1",
    "static", "V²", "verdict",
)  # fmt: skip
SHOWN = ("identity", "bridge", "totals")  # of the matrices; the others are counted


@dataclass(frozen=True)
class ShapeAttack:
    """What was found of one statistic on one kind of graph.

    Attributes:
        statistic: what was attacked.
        bound: the degree bound under which costs were attacked.
        costs: one for each matrix.
        promise: the promise with hubs that was attacked.
        hubs: what became of it; None where nothing is claimed under it.
    """

    statistic: Statistic
    bound: Bound
    costs: tuple[CostFinding, ...]
    promise: HubBound
    hubs: HubFinding | None

    @property
    def broken(self) -> bool:
        """Whether anything is dearer, or farther, than claimed."""
        return any(each.broken for each in self.costs) or bool(self.hubs and self.hubs.broken)

    def row(self) -> tuple[str, ...]:
        """Found against claimed."""
        costs = {each.matrix: each for each in self.costs}
        shown = [_cell(costs[name].found, costs[name].claimed) for name in SHOWN]
        reached = sum(each.reached for each in self.costs)
        return (
            str(self.statistic),
            self.bound.kind,
            self.bound.brief,
            *shown,
            f"{reached} of {len(self.costs)}",
            self.promise.brief if self.hubs else "–",
            *self._hub_cells(),
            "broken" if self.broken else "holds",
        )

    def _hub_cells(self) -> Iterator[str]:
        for name in ("l1", "static_l1", "variation_squared"):
            hubs = self.hubs
            yield _cell(getattr(hubs, name), getattr(hubs.claimed, name)) if hubs else "–"


def attack_shapes(statistics: Iterable[Statistic], *, moves: int = 1_000) -> list[ShapeAttack]:
    """Attack the shapes of statistics, and what they claim under promises with hubs."""
    return [
        ShapeAttack(each, bound, _costs(each, bound, moves), promise, _hubs(each, promise, moves))
        for each in statistics
        for bound, promise in zip(PLAIN, WITH_HUBS, strict=True)
        if admits(each, bound)
    ]


def shape_tally(attacks: Sequence[ShapeAttack]) -> Table:
    """Largest cost and distance found against the claim, for people."""
    table = Table(title="Cost of shapes, and promises with hubs", title_justify="left")
    for heading in SHAPE_HEADINGS:
        table.add_column(heading)
    for each in attacks:
        table.add_row(*each.row())
    return table


def _costs(statistic: Statistic, bound: Bound, moves: int) -> tuple[CostFinding, ...]:
    sizes = ((3, 3),) if bound.directed else ((4, 4),)
    return tuple(attack_costs(statistic, bound, sizes=sizes, moves=moves))


def _hubs(statistic: Statistic, promise: HubBound, moves: int) -> HubFinding | None:
    try:
        claimed = sensitivity_under(statistic, promise)
    except ParameterError:
        return None
    sizes = (Size(3, 3),) if promise.directed else (Size(4),)
    return attack_with_hubs(statistic, claimed, promise, sizes=sizes, runs=4, moves=moves)


def _cell(reached: int, claimed: int) -> str:
    sign = ">" if reached > claimed else "=" if reached == claimed else "<"
    return f"{reached} {sign} {claimed}"


# The tally of a sweep as a table for people.


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
