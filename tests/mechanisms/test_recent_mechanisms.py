"""Noise for recent networks: what it hides, at which scale, and that it never grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, HubBound
from graphveil.lab.attacks.constructions import constructions
from graphveil.lab.pairs import NEVER, Pair, hidden_part, totals
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.mechanism import registered
from graphveil.mechanisms.planning.continuation import continued, renewed
from graphveil.mechanisms.planning.intervals import change_interval, half_widths, noise_of
from graphveil.mechanisms.planning.plan import Plan
from graphveil.mechanisms.recent import _block, _of_box, _of_range, best_length, touched
from graphveil.noise.joint_laws import BoxNoise, JointLaw, RangeNoise
from graphveil.noise.laws import DiscreteLaplace
from graphveil.noise.zcdp import rho_of
from graphveil.series.planner import compare, loss_beyond, plan, require_projectable
from graphveil.statistics.change import sensitivity_under
from graphveil.statistics.sensitivity import Recent as RecentShape
from graphveil.statistics.statistic import Statistic, statistic

Change = NDArray[np.int64]
TEN = DegreeBound(10)
EDGES = statistic("edges")


def planned(member: Statistic, mechanism: str, bound: Bound = TEN, horizon: int | None = 9) -> Plan:
    delta = "1e-6" if "gaussian" in mechanism else None
    return plan(member, bound, epsilon="1/2", delta=delta, horizon=horizon, mechanism=mechanism)


@pytest.mark.parametrize("bound", [TEN, HubBound(TEN, (2,))], ids=str)
@pytest.mark.parametrize("window", [1, 2, 7])
def test_the_scale_is_that_of_all_values_that_one_person_changes(bound: Bound, window: int) -> None:
    made, lost = planned(EDGES.recent(window), "recent", bound), 2 * (bound != TEN)
    assert made.epoch(0).law == DiscreteLaplace(Fraction(2 * window * (10 + lost)))
    gaussian = planned(EDGES.recent(window), "recent-gaussian", bound)
    squared = sensitivity_under(EDGES.recent(window), bound).l2_squared
    assert squared == window * (100 + lost**2)
    least = Fraction(squared) / (2 * rho_of(Fraction(1, 2), Fraction(1, 10**6)))
    assert least <= gaussian.epoch(0).law.size <= least * Fraction(1001, 1000)


@pytest.mark.parametrize("mechanism", ["recent", "recent-blocks", "recent-gaussian"])
def test_noise_is_the_same_for_ever(mechanism: str) -> None:
    for horizon in (None, 40):
        made = planned(EDGES.recent(12), mechanism, horizon=horizon)
        deviations = made.standard_deviations(40)
        assert max(deviations) == pytest.approx(min(deviations))
        assert len(set(half_widths(made, range(40)))) == 1
        assert made.epoch(0) == made.epoch(1)
        stored = Plan.from_dict(made.to_dict())
        assert stored == made
    assert continued(made, 5).request.epsilon == made.request.epsilon
    longer = continued(planned(EDGES.recent(12), mechanism, horizon=3), 37)
    assert longer.standard_deviations() == pytest.approx(deviations)
    first = planned(EDGES.recent(12), mechanism).epoch(0).steps
    assert renewed(made, first) is made, "no noise is ahead at the end of a block"


@pytest.mark.parametrize("name", ["edges", "components"])
def test_predicted_noise_is_what_comes_out(name: str) -> None:
    made = planned(statistic(name, window=5), "recent-blocks", DegreeBound(3), horizon=None)
    noise = simulate(made, 40_000, np.random.default_rng(5), steps=11)
    assert noise.std(axis=0) == pytest.approx(made.standard_deviations(11), rel=0.02)
    (width,) = set(half_widths(made, range(11)))
    inside = (np.abs(noise) <= width).mean(axis=0)
    assert inside == pytest.approx(0.95, abs=0.006)
    for earlier, later in ((0, 1), (0, 10), (3, 4)):  # within a block, and between blocks
        _, apart = change_interval(made, earlier, later, 0)
        assert (np.abs(noise[:, later] - noise[:, earlier]) <= apart).mean() > 0.946
        spread = noise_of(made, {earlier: -1, later: 1}).variance()
        assert (noise[:, later] - noise[:, earlier]).var() == pytest.approx(spread, rel=0.03)


def test_recent_networks_are_published_without_knowing_for_how_long() -> None:
    recent = [each for name, each in registered().items() if name.startswith("recent")]
    assert len(recent) == 3
    assert not any(each.needs_horizon for each in recent)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 30])
def test_blocks_are_chosen_by_the_variance_of_wide_noise(length: int) -> None:
    wide, one = 2000, np.eye(length, dtype=np.int64)[0]
    for law, spread in ((RangeNoise, _of_range), (BoxNoise, _of_box)):
        variance = law(Fraction(wide), length).variance(one)
        assert 6 * variance / wide**2 == pytest.approx(spread(length), rel=3e-3)


@pytest.mark.parametrize("window", range(1, 30))
def test_a_window_touches_so_many_blocks(window: int) -> None:
    for length in range(1, window + 3):
        most = max(len({step // length for step in range(at, at + window)}) for at in range(length))
        assert touched(window, length) == most
    for spread in (_of_range, _of_box):
        best = best_length(window, spread)
        tried = [touched(window, b) ** 2 * spread(b) for b in range(1, window + 3)]
        assert touched(window, best) ** 2 * spread(best) == min(tried)


@pytest.mark.parametrize("window", [3, 4, 5, 8, 12, 17, 23, 31])
@pytest.mark.parametrize("span", [6, 9, 12, 30])
def test_blocks_are_the_best_of_both_kinds_and_cost_all_of_the_price(
    window: int, span: int
) -> None:
    """The best lengths of the two kinds differ in windows of 5, 8, 12, 17, 23 and 31."""
    shape, epsilon = RecentShape(window, 6, span), Fraction(1, 100)
    found = _block(shape, epsilon).joint_law
    sizes = {RangeNoise: span, BoxNoise: 6}
    tried = [
        kind(touched(window, length) * size / epsilon, length)
        for kind, size in sizes.items()
        for length in range(1, window)
    ]
    assert found.scale * epsilon == touched(window, found.steps) * sizes[type(found)]
    least = min(each.variance(np.eye(each.steps, dtype=np.int64)[0]) for each in tried)
    own = found.variance(np.eye(found.steps, dtype=np.int64)[0])
    assert own == pytest.approx(least, rel=2e-3)


def range_of(change: Change) -> int:
    return int(max(0, *change) - min(0, *change))


def box_of(change: Change) -> int:
    return int(np.abs(change).max())


NORMS: dict[type[JointLaw], Callable[[Change], int]] = {RangeNoise: range_of, BoxNoise: box_of}


def changes(member: Statistic, bound: Bound) -> Iterator[Change]:
    """What one person does to the values, in known worst cases, as they are and at once."""
    for known in constructions(bound, "node"):
        at_once = np.where(known == NEVER, known, 0).astype(np.int8)
        for schedule in (known, at_once):
            pair = Pair.of(schedule, "node", directed=bound.directed)
            hidden = hidden_part(len(schedule), "node", directed=bound.directed)
            larger = schedule.astype(np.int64)
            smaller = np.where(hidden == 1, NEVER, larger)
            apart = totals(member, larger, pair) - totals(member, smaller, pair)
            yield apart[:, 0]


def dearest(law: JointLaw, found: list[Change], *, norm: Callable[[Change], int]) -> int:
    """The largest sum of norms over blocks, wherever the blocks begin."""
    most, length = 0, law.steps
    for change in found:
        for before in range(length):
            padded = np.pad(change, (before, 2 * length))
            blocks = padded[: len(padded) // length * length].reshape(-1, length)
            most = max(most, sum(norm(block) for block in blocks))
    return most


@pytest.mark.parametrize("window", [3, 4, 6])
@pytest.mark.parametrize("name", ["edges", "components", "clusters", "triangles", "clustered"])
def test_blocks_hide_what_one_person_does_wherever_they_begin(name: str, window: int) -> None:
    member, bound = statistic(name, window=window), DegreeBound(3)
    law = planned(member, "recent-blocks", bound).epoch(0).joint_law
    found = list(changes(member, bound))
    paid = law.scale * Fraction(1, 2)
    most = dearest(law, found, norm=NORMS[type(law)])
    assert most <= paid
    shape = member.shape(bound)
    assert isinstance(shape, RecentShape)
    if name in ("edges", "triangles", "clusters"):
        assert most == touched(window, law.steps) * shape.height
    # A scale for a window that is shorter by one step would not do, where it saves a block.
    fewer = touched(window - law.steps, law.steps) * shape.height
    assert most > fewer


def test_blocks_are_for_single_numbers_and_longer_windows() -> None:
    def reasons(member: Statistic) -> dict[str, str | None]:
        found = compare(member, TEN, epsilon=1, horizon=None)
        return {each.name: each.reason for each in found}

    assert "one number" in (reasons(statistic("degree-ccdf", window=5))["recent-blocks"] or "")
    two = statistic("degree-histogram", window=5)
    narrow = compare(two, DegreeBound(1), epsilon=1, horizon=None)
    assert two.width(DegreeBound(1)) == 2
    assert "one number" in (next(e.reason for e in narrow if e.name == "recent-blocks") or "")
    assert "less than 3" in (reasons(EDGES.recent(2))["recent-blocks"] or "")
    assert reasons(EDGES.recent(3))["recent-blocks"] is None
    admitted = {name for name, why in reasons(EDGES.recent(3)).items() if why is None}
    assert admitted == {"recent", "recent-blocks"}
    plain = reasons(EDGES)
    assert all("give a window" in (plain[name] or "") for name in ("recent", "recent-blocks"))


@pytest.mark.parametrize("mechanism", ["recent", "recent-blocks", "recent-gaussian"])
def test_whoever_is_beside_more_hubs_than_promised_loses_in_proportion(mechanism: str) -> None:
    bound, member = HubBound(TEN, (2,)), statistic("components", window=6)
    made = planned(member, mechanism, bound)
    assert loss_beyond(made, member, bound, 0) == pytest.approx(0.5, rel=1e-3)
    more = loss_beyond(made, member, bound, 2)
    if mechanism == "recent":
        assert more == Fraction(1, 2) * Fraction(9 + 4, 9 + 2)
    if mechanism == "recent-blocks":
        assert isinstance(made.epoch(0).law, RangeNoise)
        assert more == Fraction(1, 2) * Fraction(10 + 4, 10 + 2)
    assert Fraction(1, 2) < more < 1


def test_a_window_does_not_go_with_a_projection() -> None:
    with pytest.raises(ParameterError, match="projection: does not go with a window"):
        require_projectable(EDGES.recent(3), DegreeBound(2), 5)
    found = compare(EDGES.recent(3), TEN, epsilon=1, horizon=5, projection=TEN)
    assert not any(each.plan and each.plan.mechanism.projects for each in found)


def test_no_gaussian_noise_is_made_without_a_delta() -> None:
    made = planned(EDGES.recent(4), "recent-gaussian")
    with pytest.raises(ParameterError, match="is needed by 'recent-gaussian'"):
        made.mechanism.epoch(replace(made.request, delta=None), 0)
