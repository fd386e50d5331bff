"""The tally of shapes and of hubs: what measuring a change costs, and what hubs add to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from graphveil.errors import ParameterError
from graphveil.graph.promises.bound import Bound, DegreeBound, InOutBound
from graphveil.graph.promises.hub_bound import HubBound
from graphveil.statistics.changes.hubs import sensitivity_under
from graphveil.statistics.statistic import Statistic
from graphveil.testing.attacks.costs import CostFinding, attack_costs
from graphveil.testing.attacks.enumeration import Size
from graphveil.testing.attacks.hubs import HubFinding, attack_with_hubs
from graphveil.testing.attacks.sweep import admits

PLAIN: tuple[Bound, ...] = (DegreeBound(3), InOutBound(2, 2))
WITH_HUBS = (HubBound(DegreeBound(2), (1,)), HubBound(InOutBound(1, 2), (0, 1)))
HEADINGS = (
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
            found = self.hubs
            yield _cell(getattr(found, name), getattr(found.claimed, name)) if found else "–"


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
    for heading in HEADINGS:
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


def _cell(found: int, claimed: int) -> str:
    sign = ">" if found > claimed else "=" if found == claimed else "<"
    return f"{found} {sign} {claimed}"
