"""What one person can change under any promise: of degrees, or with hubs."""

from __future__ import annotations

from dataclasses import replace
from math import isqrt
from typing import Any

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, HubBound, NoBound
from graphveil.graph.thresholds import (
    BRANCHES,
    FOREST,
    WHOLE,
    FollowingBound,
    ForestBound,
    WholeNetwork,
)
from graphveil.statistics.breakdown import Breakdown
from graphveil.statistics.edges import Edges
from graphveil.statistics.recent import RecentStatistic
from graphveil.statistics.sensitivity import (
    PARTS,
    PROOFS,
    Bins,
    Cells,
    Mass,
    Moves,
    Sensitivity,
    Shape,
    TotalsShape,
)
from graphveil.statistics.statistic import Statistic, registered
from graphveil.statistics.tallies import Counts, ForestTally, Tally


def sensitivity_under(statistic: Statistic, bound: Bound) -> Sensitivity:
    """What one person can change under a promise, in what is counted under it.

    Guarantees:
        With hubs, the person's own links, as under the bound within, and lost links of
        others, at most one for each hub that the promise admits; a hub more or less is none of
        an edge's business, so that an edge takes one lost link at each end.
        Proof: docs/sensitivities.md#hubs.
    """
    if isinstance(bound, NoBound):
        require_no_bound(statistic, directed=bound.directed)
    if isinstance(bound, ForestBound | WholeNetwork):
        return _total_sensitivity(statistic, bound)
    if isinstance(bound, FollowingBound):
        return _following_sensitivity(statistic, bound)
    if not isinstance(bound, HubBound):
        return statistic.sensitivity(bound)
    statistic.require_domain(directed=bound.directed)
    within = statistic.sensitivity(bound.within)
    if not any(bound.hubs):
        return _of_keepers(within, bound)
    if isinstance(statistic, RecentStatistic):
        return _recent_sensitivity(statistic, bound)
    l1, shape = statistic.hub_l1(bound), statistic.hub_shape(bound)
    lost = sum(bound.hubs) * within.edge_l1
    squared, variation = (
        _squared_sum(each, lost) for each in (within.l2_squared, within.variation_squared)
    )
    variation = min(variation, l1**2, _variation(shape))
    return Sensitivity(
        l1=l1,
        static_l1=min(l1, within.static_l1 + lost, _one_release(shape)),
        l2_squared=min(squared, variation),
        edge_l1=3 * within.edge_l1,
        exact_for=frozenset(),
        assumption=bound.assumption,
        proof=f"{PROOFS}#hubs",
        variation=variation,
    )


def _one_release(shape: Shape) -> int:
    """How far one release can be apart: of each number, all rises or all falls."""
    if isinstance(shape, Mass):
        return shape.total
    bins, loose = _numbers(shape)
    return sum(max(each.rises, each.falls) for each in bins) + loose


def _variation(shape: Shape) -> int:
    """V², the sum over the numbers of (all rises)² + (all falls)²."""
    if isinstance(shape, Mass):
        return shape.total**2
    bins, loose = _numbers(shape)
    return _squared_sum(sum(each.rises**2 + each.falls**2 for each in bins), loose)


def _numbers(shape: Shape) -> tuple[tuple[Moves, ...], int]:
    if isinstance(shape, Bins):
        return shape.bins, shape.loose
    if isinstance(shape, Cells):  # of a move, one release has at most one end
        return (Moves(shape.moves + shape.alone, shape.moves),), 0
    assert isinstance(shape, Moves), "there are no other shapes of differences"
    return (shape,), 0


def _of_keepers(within: Sensitivity, bound: HubBound) -> Sensitivity:
    """A person who is linked to no hub changes the same numbers as if there were no hubs.

    One more edge may be at hubs, and then takes a link from each end.
    """
    return replace(
        within,
        edge_l1=3 * within.edge_l1,
        exact_for=within.exact_for - {"edge_l1"},
        assumption=bound.assumption,
        proof=f"{PROOFS}#a-broken-promise",
    )


def _total_sensitivity(statistic: Statistic, bound: ForestBound | WholeNetwork) -> Sensitivity:
    """What one person can change in one release of any network, of what is limited so.

    Nothing is claimed about difference sequences: all totals of a series are measured.
    """
    if isinstance(bound, ForestBound):
        height, anchor = forest_shape_of(statistic, bound).height, "forests"
    else:
        height, anchor = whole_shape_of(statistic).height, statistic.name
    return Sensitivity(
        l1=height,
        static_l1=height,
        l2_squared=height**2,
        edge_l1=1,
        exact_for=frozenset(),
        assumption=bound.assumption,
        proof=f"{PROOFS}#{anchor}",
    )


def forest_shape_of(statistic: Statistic, bound: ForestBound) -> TotalsShape:
    """What one person can do to what forests count; refuses what they do not count."""
    shape = statistic.forest_shape(bound.branches)
    if shape is None:
        raise ParameterError(
            "projection",
            f"forests do not count {statistic}: one person could change it without end",
            hint=f"They count {', '.join(counted_by_forests())} (k = 2); others take a number, or "
            "a bound.",
        )
    return shape


def whole_shape_of(statistic: Statistic) -> TotalsShape:
    """What one person can do to a number of the whole network; refuses what may be anything."""
    shape = statistic.whole_shape()
    if shape is None:
        raise ParameterError(
            "projection",
            f"'{WHOLE}' leaves nothing out, and one person could change {statistic} without end",
            hint="It is for the h-index. Others take a number, or a bound.",
        )
    return shape


def counted_by_forests() -> list[str]:
    """The statistics that forests can count."""
    known = registered().items()
    return sorted(name for name, member in known if member.forest_column is not None)


def tally_under(statistic: Statistic, bound: Bound | None) -> Tally:
    """What an engine must count for a statistic, under a promise or by a projection."""
    if isinstance(bound, ForestBound):
        forest_shape_of(statistic, bound)
        return ForestTally(bound.branches)
    return statistic.tally()


def differences_under(statistic: Statistic, bound: Bound | None, tallied: Any) -> Counts:
    """The exact difference per step, from the answer to `tally_under`."""
    if isinstance(bound, ForestBound):
        changes: Counts = tallied[:, statistic.forest_column]
        return changes
    return statistic.differences(tallied, None if bound is None else statistic.width(bound))


def _following_sensitivity(statistic: Statistic, bound: FollowingBound) -> Sensitivity:
    """What one person can change in one release, in parts of the threshold that it states.

    Nothing is claimed about difference sequences: all totals of a series are measured.
    """
    if not isinstance(statistic, Edges):
        bound.limit("total")  # refuses what is not counted so
    return Sensitivity(
        l1=PARTS,
        static_l1=PARTS,
        l2_squared=PARTS**2,
        edge_l1=PARTS,
        exact_for=frozenset(),
        assumption=bound.assumption,
        proof="docs/mechanisms.md#following",
    )


def require_no_bound(statistic: Statistic, *, directed: bool) -> None:
    """Refuse a statistic whose change by one person nothing limits but a promise."""
    if statistic.needs_bound and isinstance(statistic, Breakdown):
        raise ParameterError(
            "bound",
            f"{statistic.name} by groups needs one: a projection can move others' links",
            hint="Promise one, or publish the number without `by`.",
        )
    if statistic.needs_bound:
        others = projectable(directed=directed)
        raise ParameterError(
            "bound",
            f"{statistic.name} needs one: nothing else limits it",
            hint=f"Promise one, or take nodes, and with projection=D "
            f"{', '.join(others)} (edges: =follow:LINKS), ={FOREST}:{BRANCHES} "
            f"{', '.join(counted_by_forests())}{'' if directed else f', ={WHOLE} h-index'}.",
        )


def projectable(*, directed: bool | None = None) -> list[str]:
    """The statistics whose links can be limited by a projection instead of a promise.

    Args:
        directed: only those of such graphs; None for all.
    """
    return sorted(
        name
        for name, member in registered().items()
        if member.projected_l1 is not Statistic.projected_l1 and member.needs_bound
        if directed is None or member.domain.admits(directed=directed)
    )


def _recent_sensitivity(statistic: RecentStatistic, bound: HubBound) -> Sensitivity:
    """The same for a recent network: the two ends of a lost link are in it together as long.

    Guarantees:
        Where links only add, what is lost and what the person adds never come on top of each other.
        Proof: docs/sensitivities.md#recent-networks.
    """
    static, window = statistic.static_change(bound.within), statistic.counted_for
    lost = sum(bound.hubs) * static.edge_l1
    opposed = static.one_way and not statistic.vector
    squared = static.l2_squared + lost**2
    return Sensitivity(
        l1=statistic.hub_l1(bound),
        static_l1=max(static.l1, lost) if opposed else static.l1 + lost,
        l2_squared=window * (squared if static.one_way else _squared_sum(static.l2_squared, lost)),
        edge_l1=3 * window * static.edge_l1,
        exact_for=frozenset(),
        assumption=bound.assumption,
        proof=f"{PROOFS}#recent-networks",
    )


def shape_under(statistic: Statistic, bound: Bound) -> Shape:
    """What the change of one person can look like; with hubs, as far as it is known."""
    if isinstance(bound, ForestBound | FollowingBound | WholeNetwork):
        return Mass(sensitivity_under(statistic, bound).l1)
    if not isinstance(bound, HubBound) or isinstance(statistic, RecentStatistic):
        return statistic.shape(bound)
    if not any(bound.hubs):
        return statistic.shape(bound.within)
    return statistic.hub_shape(bound)


def _squared_sum(squared: int, added: int) -> int:
    """(√squared + added)², rounded up."""
    mixed = 4 * squared * added**2
    root = isqrt(mixed)
    return squared + added**2 + root + (root**2 < mixed)
