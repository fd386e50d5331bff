"""Leaves: how many people have exactly one link."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from graphveil.statistics.sensitivity import Sensitivity
from graphveil.statistics.statistic import Domain, Statistic, register
from graphveil.statistics.tallies import Counts, DegreeReach, DegreeTally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphveil.graph.promises import Bound


@register
@dataclass(frozen=True)
class Leaves(Statistic):
    """People with exactly one link."""

    name = "acme-graphs.leaves"
    summary = "people with exactly one link"
    formulas: ClassVar[dict[str, str]] = {"undirected": "4D + 2"}
    domain = Domain.UNDIRECTED
    monotone = False

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """The only member."""
        return (cls(),)

    def tally(self) -> DegreeTally:
        """How many people reach each degree, step by step."""
        return DegreeTally("total")

    def differences(self, tallied: DegreeReach, width: int | None = None) -> Counts:
        """Those who reach one link, less those who reach a second."""
        return tallied.column(1) - tallied.column(2)

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """Each neighbour enters and leaves at other steps, the person itself once each.

        Guarantees:
            At most 4 entries move for each of D neighbours, and 2 for the person.
            Proof: docs/adding-a-statistic.md.
        """
        degree = self.require_undirected(bound).degree
        return Sensitivity(
            l1=4 * degree + 2,
            static_l1=degree + 1,
            l2_squared=(4 * degree + 2) ** 2,
            edge_l1=8,
            exact_for=frozenset(),
            assumption=bound.assumption,
            proof="docs/adding-a-statistic.md",
        )

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Plain loops over one small graph: the meaning that everything is compared with."""
        for u in range(len(present)):
            degree = 0
            for v in range(len(present)):
                degree += links[u, v]
            if degree == 1:
                out[0] += 1
