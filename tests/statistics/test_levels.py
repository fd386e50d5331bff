"""A degree CCDF of some levels: what it counts, what it costs, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil import DegreeBound
from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, HubBound, InOutBound
from graphveil.lab import attack
from graphveil.series.planner import plan
from graphveil.statistics.degree_ccdf import CcdfOfDegrees, DegreeCcdf
from graphveil.statistics.sensitivity import Sensitivity
from graphveil.statistics.statistic import statistic
from graphveil.statistics.tallies import DegreeReach
from test_definitions import Graph, evaluated, graphs


@given(st.sets(st.integers(0, 9), min_size=2), st.integers(9, 12))
def test_the_sensitivity_is_that_of_each_level_together(levels: set[int], most: int) -> None:
    some = tuple(sorted(levels))
    found = DegreeCcdf(some).sensitivity(DegreeBound(most))
    above = [level for level in some if level]
    m = len(above)
    wanted = (2 * m - 1) * most + m if most in above else 2 * m * most + m
    assert found.l1 == wanted + (0 in levels)
    assert found.static_l1 == most + len(some)


def test_all_levels_cost_what_the_whole_costs() -> None:
    for most in (2, 3, 7):
        whole, every = DegreeCcdf(), DegreeCcdf(tuple(range(most + 1)))
        bound, hubs = DegreeBound(most), HubBound(DegreeBound(most), (2,))
        one, other = whole.sensitivity(bound), every.sensitivity(bound)
        assert one.l1 == other.l1 == 2 * most**2 + 1
        assert (one.static_l1, one.edge_l1) == (other.static_l1, other.edge_l1)
        assert one.l2_squared <= other.l2_squared
        assert whole.shape(bound) == every.shape(bound)
        assert whole.hub_l1(hubs) == every.hub_l1(hubs) == 2 * most * (most + 2) + 1
        directed = InOutBound(most, most)
        names = "out-degree-ccdf", {"levels": ",".join(map(str, range(most + 1)))}
        assert (
            statistic(names[0], **names[1]).sensitivity(directed).l2_squared
            == statistic(names[0]).sensitivity(directed).l2_squared
        )


def test_one_level_more_than_none_is_the_high_degree() -> None:
    two, high = DegreeCcdf((0, 3)).sensitivity(DegreeBound(5)), statistic("high-degree", tau=3)
    assert two.l1 == high.sensitivity(DegreeBound(5)).l1 + 1


@given(graphs())
def test_levels_are_columns_of_the_whole(graph: Graph) -> None:
    for way in ("out-", "in-") if graph[2] else ("",):
        whole = evaluated(statistic(f"{way}degree-ccdf"), graph)
        some = evaluated(statistic(f"{way}degree-ccdf", levels="0,2,3"), graph)
        assert some[:3] == [whole[0], whole[2], whole[3]]


def test_levels_that_nobody_reaches_are_counted_as_0() -> None:
    reached = DegreeReach(np.array([[3, 2]], dtype=np.int64), np.zeros((0, 3), dtype=np.int64))
    assert DegreeCcdf((1, 5)).differences(reached, 2).tolist() == [[2, 0]]


@pytest.mark.parametrize(
    "levels", ["", "1", "2,1", "1,1", "a,b", "1,-2", "1;2", "1,,2", 3, "1.5,2", "9" * 20 + ",1"]
)
def test_what_are_no_levels_is_refused(levels: object) -> None:
    with pytest.raises(ParameterError) as caught:
        statistic("degree-ccdf", levels=levels)
    assert len(str(caught.value)) < 300


def test_a_level_above_the_bound_is_refused() -> None:
    with pytest.raises(ParameterError, match="above the degree bound"):
        DegreeCcdf((1, 9)).sensitivity(DegreeBound(5))


def test_fewer_levels_have_less_noise() -> None:
    bound = DegreeBound(15)
    whole = plan("degree-ccdf", bound, epsilon=1, horizon=12)
    some = plan(statistic("degree-ccdf", levels="1,2,3,5,10"), bound, epsilon=1, horizon=12)
    assert some.mean_std < 0.62 * whole.mean_std
    assert some.request.width == 5
    assert DegreeCcdf().narrower(bound) == {"levels": "1,2,3,5,10"}
    assert DegreeCcdf((1, 2)).narrower(bound) is None


@dataclass(frozen=True)
class Careless(CcdfOfDegrees):
    """A claim that forgets that marks leave a level again."""

    name = "careless"
    summary = DegreeCcdf.summary
    formulas = DegreeCcdf.formulas
    domain = DegreeCcdf.domain
    direction = "total"

    def sensitivity(self, bound: Bound) -> Sensitivity:
        honest = super().sensitivity(bound)
        falls = sum(0 < level < bound.limit("total") for level in self.levels or ())
        return Sensitivity(**{**vars(honest), "l1": honest.l1 - falls * bound.limit("total")})


def test_a_claim_that_is_too_small_is_refuted_and_the_true_one_is_reached() -> None:
    levels, bound = (1, 2), DegreeBound(2)
    assert attack(Careless(levels), bound).broken
    honest = attack(DegreeCcdf(levels), bound)
    assert not honest.broken
    assert all(each.found == each.claimed for each in honest.findings if each.exact)
