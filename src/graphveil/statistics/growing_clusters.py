"""Growing clusters: components of the recent network that several people joined of late."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound
from graphveil.statistics.clusters import Clusters
from graphveil.statistics.components import count_components
from graphveil.statistics.recent import RecentStatistic
from graphveil.statistics.sensitivity import StaticChange
from graphveil.statistics.statistic import (
    Domain,
    Statistic,
    described,
    register,
    require_at_least,
    window_field,
)
from graphveil.statistics.tallies import Counts, GrowthTally


@register
@dataclass(frozen=True)
class GrowingClusters(RecentStatistic):
    """How many components, weak ones in directed graphs, have `k` people of the last steps.

    Attributes:
        window: the people of so many steps, and the links among them, are the network.
        k: how many of a component must have arrived in the last `recent` steps.
        recent: how many of the steps of the network these are.
    """

    name = "growing-clusters"
    summary = (
        "number of components of the network of the last steps that at least k people joined "
        "in the very last ones"
    )
    formulas: ClassVar[dict[str, str]] = {
        "undirected": "window·max(D − 1, 1), of all values",
        "directed": "window·(Din + Dout − 1), of all values",
    }
    domain = Domain.BOTH

    window: int = field(metadata=window_field())
    # Study files may leave these out and mean three and one by it: they must never change.
    k: int = field(
        default=3,
        metadata=described(
            "--k", meaning="Least number of new people in a growing cluster (3 if not given)."
        ),
    )
    newest: int = field(
        default=1,
        metadata=described(
            "--newest", meaning="In how many of the last steps they arrived (1 if not given)."
        ),
    )

    def __post_init__(self) -> None:
        require_at_least("window", self.window, 1, "The network has the people of so many steps.")
        require_at_least("k", self.k, 2, "One new person is a component: use 'components'.")
        require_at_least("newest", self.newest, 1, "1 looks at those of the newest step.")
        if self.newest > self.window:
            raise ParameterError(
                "newest",
                f"{self.newest} steps are more than the window of {self.window}",
                hint="The new people of a cluster are among those of the window.",
            )

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """A short window, in which some people are new, or all."""
        return tuple(cls(2, 2, newest) for newest in (1, 2))

    @property
    def counted_for(self) -> int:
        """The window."""
        return self.window

    def static_change(self, bound: Bound) -> StaticChange:
        """As for clusters: one that grows is a component of enough new people.

        Guarantees:
            Exact. Proof: docs/sensitivities.md#growing-clusters.
        """
        return Clusters(self.k).static_change(bound)

    def lasts(self, bound: Bound) -> bool:
        """A pair that nobody else can join is new for the newest steps only."""
        return bound.limit("total") > 1 or self.newest == self.window

    def within(self) -> GrowthTally:
        """Components with enough new people."""
        return GrowthTally(self.k, self.newest)

    def values(self, tallied: Counts, width: int | None = None) -> Counts:
        """The number of them."""
        return tallied

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """How many people, and of how many steps; components are counted."""
        return self.k, self.newest, 0

    definition = staticmethod(count_components)
