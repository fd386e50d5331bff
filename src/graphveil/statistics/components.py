"""The number of connected components; weak ones where edges have a direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.graph.promises import Bound, DegreeBound
from graphveil.graph.thresholds import BRANCHES, ForestBound
from graphveil.statistics.relations import (
    LINKS,
    PEOPLE,
    Combination,
    Fact,
    Known,
    Relation,
    at_least,
    never_negative,
)
from graphveil.statistics.sensitivity import (
    EVERY_MEASURE,
    EVERY_STATIC,
    PROOFS,
    Moves,
    Sensitivity,
    Shape,
    StaticChange,
    TotalsShape,
)
from graphveil.statistics.statistic import Domain, Statistic, register
from graphveil.statistics.tallies import ComponentTally, Counts, ForestTally

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPONENTS = Fact("components", rises=False)
EVERYBODY = 255  # of however many steps' age


def count_components(
    links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
) -> None:
    """Let every node take the smallest label beside it; count labels that enough nodes have.

    The one definition of everything that counts components.

    Args:
        links: who is linked with whom.
        present: for how many steps each has been there, or only whether.
        given: how many nodes are enough; up to what age they count; 1 to count nodes instead.
        out: the number, in its first place.
    """
    label = np.arange(len(present))
    changed = True
    while changed:
        changed = False
        for u in range(len(present)):
            for v in range(len(present)):
                if links[u, v] and label[u] != label[v]:
                    label[u] = label[v] = min(label[u], label[v])
                    changed = True
    for first in range(len(present)):
        size = 0
        for v in range(len(present)):
            if 1 <= present[v] <= given[1] and label[v] == first:
                size += 1
        if size >= given[0]:
            out[0] += size if given[2] else 1


@register
@dataclass(frozen=True)
class Components(Statistic):
    """How many connected components there are; a node without links is one."""

    name = "components"
    summary = "number of (weakly) connected components, single people included"
    formulas: ClassVar[dict[str, str]] = {
        "undirected": "2D",
        "directed": "2(Din + Dout) for min(Din, Dout) ≥ 2, else Din + Dout + 2",
    }
    domain = Domain.BOTH
    monotone = False
    undivided = "linked people share no label, and one person may change several groups of them"
    forest_column = ForestTally.COMPONENTS

    def facts(self, width: int) -> tuple[Combination, ...]:
        """Components of any size."""
        return ({COMPONENTS: 1},)

    def relations(self, known: Known) -> Iterator[Relation]:
        """People without links are one each, all others are at least two; a link joins two."""
        linked = at_least("total", 1)
        yield never_negative({PEOPLE: 1, COMPONENTS: -1})
        yield never_negative({COMPONENTS: 1, linked: 1, PEOPLE: -1})
        yield never_negative({PEOPLE: 2, linked: -1, COMPONENTS: -2})
        yield never_negative({COMPONENTS: 1, LINKS: 1, PEOPLE: -1})

    def tally(self) -> ComponentTally:
        """The change of the number of components."""
        return ComponentTally()

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """The person is one component more and joins those beside it, which may join later.

        Guarantees:
            Exact in every measure. Proof: docs/sensitivities.md#components.
        """
        joined, merges = joined_and_merged(bound)
        return Sensitivity(
            l1=1 + joined + merges,
            static_l1=max(1, joined - 1),
            l2_squared=1 + joined**2 + merges**2,
            edge_l1=1 if bound == DegreeBound(1) else 2,
            exact_for=EVERY_MEASURE,
            assumption=bound.assumption,
            proof=f"{PROOFS}#components",
            variation=(1 + merges) ** 2 + joined**2,
        )

    def static_change(self, bound: Bound) -> StaticChange:
        """The person is one more, or joins some to one; an edge joins two components or none.

        Guarantees:
            Exact. Proof: docs/sensitivities.md#one-release.
        """
        static, (joined, _) = self.sensitivity(bound).static_l1, joined_and_merged(bound)
        return StaticChange(static, static**2, 1, joined, 1, EVERY_STATIC)

    def shape(self, bound: Bound) -> Shape:
        """It rises when the person arrives and when joined components merge, falls when it joins.

        Guarantees:
            At most `rises` increases and `falls` decreases.
            Proof: docs/sensitivities.md#components.
        """
        joined, merges = joined_and_merged(bound)
        return Moves(rises=1 + merges, falls=joined)

    def edge_moves(self, bound: Bound) -> Moves:
        """One component less, until its ends are connected otherwise."""
        return Moves(rises=self.sensitivity(bound).edge_l1 - 1, falls=1)

    def forest_shape(self, branches: int) -> TotalsShape:
        """The person is one more, and joins at most c − 1 others besides its own.

        Guarantees:
            Every total changes by 1 − c to 1 on every graph; where everybody has one branch,
            it only rises. Proof: docs/sensitivities.md#forests.
        """
        return forest_shape(branches)

    def without_promise(self, expected: int | None) -> str:
        """By forests, in which as many links as usually suffice hold a group together."""
        return ForestBound(BRANCHES).brief

    definition = staticmethod(count_components)

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """One node is enough, of any age; components are counted."""
        return 1, EVERYBODY, 0


def forest_shape(branches: int) -> TotalsShape:
    """What one person does to components, or to clusters of two, that forests hold together."""
    return TotalsShape(max(branches - 1, 1), rising=branches == 1)


def joined_and_merged(bound: Bound) -> tuple[int, int]:
    """How many components a person can join, and how many of those may merge without it."""
    joined = bound.limit("total")
    if bound.directed and min(bound.limits) == 1:
        return joined, 1
    return joined, joined - 1
