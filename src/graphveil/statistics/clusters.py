"""Clusters: connected components of at least k people; how many, and how many people in them.

Growing clusters are components of the recent network that several people joined of late.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, HubBound
from graphveil.graph.thresholds import BRANCHES, ForestBound
from graphveil.statistics.components import (
    COMPONENTS,
    EVERYBODY,
    count_components,
    forest_shape,
    joined_and_merged,
)
from graphveil.statistics.degrees import HighDegree
from graphveil.statistics.recent import RecentStatistic
from graphveil.statistics.relations import (
    PEOPLE,
    Combination,
    Fact,
    Known,
    Relation,
    at_least,
    never_negative,
    zero,
)
from graphveil.statistics.sensitivity import (
    EVERY_MEASURE,
    EVERY_STATIC,
    PROOFS,
    Cells,
    Moves,
    Sensitivity,
    Shape,
    StaticChange,
    TotalsShape,
)
from graphveil.statistics.statistic import (
    Domain,
    Statistic,
    described,
    register,
    require_at_least,
    window_field,
)
from graphveil.statistics.tallies import ClusterTally, Counts, ForestTally, GrowthTally

ONE_LINK = DegreeBound(1)  # then nobody is in a component of more than two


def _clusters(k: int) -> Fact:
    return Fact("clusters", k, rises=False)


def _clustered(k: int) -> Fact:
    """Who is in a group of two has a link."""
    return at_least("total", 1) if k == 2 else Fact("clustered", k)


@dataclass(frozen=True)
class ClusterStatistic(Statistic, ABC):
    """What is counted of the components, weak ones in directed graphs, of at least `k` nodes.

    Attributes:
        column: where the tally has it; also tells the definition which of the two it is.
        alone: what it is when k = 1, for the refusal of that.
    """

    domain = Domain.BOTH
    column: ClassVar[int]
    alone: ClassVar[str]

    # Study files may leave k out and mean two by it: the default must never change.
    k: int = field(
        default=2,
        metadata=described("--k", meaning="Least number of people in a cluster (2 if not given)."),
    )

    def __post_init__(self) -> None:
        hint = f"Everybody is in a component of one or more: use '{self.alone}'."
        require_at_least("k", self.k, 2, hint)

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """Small clusters."""
        return tuple(cls(k) for k in (2, 3))

    def tally(self) -> ClusterTally:
        """Both numbers at once."""
        return ClusterTally(self.k)

    def differences(self, tallied: Counts, width: int | None = None) -> Counts:
        """One of the two numbers."""
        return tallied[:, self.column]

    def relations(self, known: Known) -> Iterator[Relation]:
        """A cluster has k people or more; a component that is none is of people who are in none."""
        groups, people = _clusters(self.k), _clustered(self.k)
        yield never_negative({people: 1, groups: -self.k})
        yield never_negative({PEOPLE: 1, people: -1})
        alone = {groups: 1, COMPONENTS: -1, PEOPLE: 1, people: -1}  # in groups of fewer than k
        yield zero(alone) if self.k == 2 else never_negative(alone)
        yield never_negative({COMPONENTS: 1, groups: -1})
        for smaller in range(2, self.k):
            yield never_negative({_clusters(smaller): 1, groups: -1})
            yield never_negative({_clustered(smaller): 1, people: -1})

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """At least k people, of any age, and which of the two is counted."""
        return self.k, EVERYBODY, self.column

    def edge_moves(self, bound: Bound) -> Moves:
        """As many rises as falls; where nobody has two links, rises alone."""
        most = self.sensitivity(bound).edge_l1
        return Moves(most, 0) if bound == ONE_LINK else Moves(most // 2, most // 2)

    def require_room(self, bound: Bound) -> None:
        """Refuse a bound under which no component is large enough."""
        if bound == ONE_LINK and self.k > 2:
            raise ParameterError(
                "k",
                f"nobody is in a cluster of {self.k} if all have at most one link: always 0",
                hint="Choose 2, or a larger bound.",
            )

    definition = staticmethod(count_components)


@register
@dataclass(frozen=True)
class Clusters(ClusterStatistic):
    """How many connected components have at least `k` nodes."""

    name = "clusters"
    summary = "number of clusters: (weakly) connected components of at least k people"
    formulas: ClassVar[dict[str, str]] = {
        "undirected": "2D; for D = 1: 1",
        "directed": "2(Din + Dout) for min(Din, Dout) ≥ 2, else Din + Dout + 2",
    }
    monotone = False
    undivided = "linked people share no label, and one person may change several groups of them"
    forest_column = ForestTally.CLUSTERS
    column = 0
    alone = "components"

    def facts(self, width: int) -> tuple[Combination, ...]:
        """Clusters of this size."""
        return ({_clusters(self.k): 1},)

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """The person makes one cluster, and one of those beside it, which may join later.

        Guarantees:
            Exact in every measure. Proof: docs/sensitivities.md#clusters.
        """
        self.require_room(bound)
        joined, merges = _joined_and_merged(bound)
        return Sensitivity(
            l1=1 + joined + merges,
            static_l1=max(1, joined - 1),
            l2_squared=1 + joined**2 + merges**2,
            edge_l1=1 if bound == ONE_LINK else 4,
            exact_for=EVERY_MEASURE,
            assumption=bound.assumption,
            proof=f"{PROOFS}#clusters",
            variation=(1 + merges) ** 2 + joined**2,
        )

    def static_change(self, bound: Bound) -> StaticChange:
        """An edge makes one cluster of two, one of none, or changes nothing.

        Guarantees:
            Exact. Proof: docs/sensitivities.md#one-release.
        """
        static, (joined, _) = self.sensitivity(bound).static_l1, _joined_and_merged(bound)
        edge_span = 1 if bound == ONE_LINK else 2
        return StaticChange(static, static**2, 1, max(1, joined), edge_span, EVERY_STATIC)

    def shape(self, bound: Bound) -> Shape:
        """As for components.

        Guarantees:
            At most `rises` increases and `falls` decreases. Proof: docs/sensitivities.md#clusters.
        """
        self.require_room(bound)
        joined, merges = _joined_and_merged(bound)
        return Moves(rises=1 + merges, falls=joined)

    def without_promise(self, expected: int | None) -> str | None:
        """By forests, as components; of larger clusters nothing is known."""
        return ForestBound(BRANCHES).brief if self.k == 2 else None

    def forest_shape(self, branches: int) -> TotalsShape | None:
        """As for components; of larger clusters nothing is known.

        Guarantees:
            Every total changes by 1 − c to 1 on every graph; where everybody has one branch,
            it only rises. Proof: docs/sensitivities.md#clusters-by-forests.
        """
        if self.k > 2:
            return None
        return forest_shape(branches)

    def hub_moves(self, bound: HubBound) -> Moves | None:
        """In clusters of two, a lost link makes one rise and one fall: its hub gets no other link.

        Guarantees:
            Proof: docs/sensitivities.md#clusters-and-hubs.
        """
        if self.k > 2 or bound.directed or bound.within == ONE_LINK:
            return super().hub_moves(bound)
        (hubs,), (joined, merges) = bound.hubs, _joined_and_merged(bound.within)
        return Moves(rises=1 + merges + hubs, falls=joined + hubs)


@register
@dataclass(frozen=True)
class Clustered(ClusterStatistic):
    """How many nodes are in connected components of at least `k` nodes."""

    name = "clustered"
    summary = "number of people in clusters: (weakly) connected components of at least k people"
    formulas: ClassVar[dict[str, str]] = {
        "undirected": "2D(k − 1) + 1; for D = 1: 2",
        "directed": "2(Din + Dout)(k − 1) + 1",
    }
    by_groups = True
    column = 1
    alone = "nodes"

    def facts(self, width: int) -> tuple[Combination, ...]:
        """Those in clusters of this size."""
        return ({_clustered(self.k): 1},)

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """The person, and those whom the person brings into a cluster, then or too early.

        Guarantees:
            Exact in every measure. Proof: docs/sensitivities.md#people-in-clusters.
        """
        self.require_room(bound)
        brought = bound.limit("total") * (self.k - 1)
        moved = 0 if bound == ONE_LINK else brought
        return Sensitivity(
            l1=1 + brought + moved,
            static_l1=1 + brought,
            l2_squared=(1 + brought) ** 2 + moved**2,
            edge_l1=2 if bound == ONE_LINK else 4 * (self.k - 1),
            exact_for=EVERY_MEASURE,
            assumption=bound.assumption,
            proof=f"{PROOFS}#people-in-clusters",
            variation=(1 + brought) ** 2 + moved**2,
        )

    def static_change(self, bound: Bound) -> StaticChange:
        """Components only grow: an edge may join two that are just too small.

        Guarantees:
            Exact. Proof: docs/sensitivities.md#one-release.
        """
        return StaticChange.rising(self.sensitivity(bound).static_l1, 2 * (self.k - 1))

    def shape(self, bound: Bound) -> Shape:
        """Those who are brought into a cluster rise, and fall if they would come to one later.

        Guarantees:
            At most `rises` increases and `falls` decreases.
            Proof: docs/sensitivities.md#people-in-clusters.
        """
        rises = 1 + bound.limit("total") * (self.k - 1)
        return Moves(rises, falls=self.sensitivity(bound).l1 - rises)

    def hub_moves(self, bound: HubBound) -> Moves | None:
        """People in clusters of two are those with a link: a high degree of one."""
        if self.k > 2 or bound.directed:
            return super().hub_moves(bound)
        return HighDegree(1).hub_moves(bound)

    def cell_shape(self, bound: Bound) -> Cells:
        """Whoever is brought into a cluster begins to count, and may cease; the person begins.

        Guarantees:
            Proof: docs/sensitivities.md#breakdowns.
        """
        moves = self.sensitivity(bound).l1 - (1 + bound.limit("total") * (self.k - 1))
        return Cells(moves, self.sensitivity(bound).l1 - 2 * moves)

    def hub_cell_shape(self, bound: HubBound) -> Cells:
        """As `hub_moves`."""
        if self.k > 2 or bound.directed:
            return super().hub_cell_shape(bound)
        return HighDegree(1).hub_cell_shape(bound)


def _joined_and_merged(bound: Bound) -> tuple[int, int]:
    """As for components; where nobody has two links, the person joins no cluster."""
    return (0, 0) if bound == ONE_LINK else joined_and_merged(bound)


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
