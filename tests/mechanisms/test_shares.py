"""Shares of a budget sum to it, exactly, and equalise what they promise to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.mechanisms.planning.plan import Plan
from graphveil.mechanisms.planning.shares import (
    best_shares,
    checked,
    equal_shares,
    weighted_shares,
)
from graphveil.noise.exact_numbers import Exact
from graphveil.series.planner import plan
from graphveil.statistics.statistic import Statistic, statistic

POSITIVE = st.fractions(min_value=Fraction(1, 1000), max_value=1000)


@given(total=POSITIVE, weights=st.lists(POSITIVE, min_size=1, max_size=9))
def test_weighted_shares_sum_exactly(total: Fraction, weights: list[Fraction]) -> None:
    shares = weighted_shares(total, weights)
    assert sum(shares) == total
    assert all(share * sum(weights) == total * w for share, w in zip(shares, weights, strict=True))


def test_shares_take_numbers_as_typed() -> None:
    assert equal_shares(0.1, 3) == (Fraction(1, 30),) * 3
    assert weighted_shares("1", ["0.2", "0.3"]) == (Fraction(2, 5), Fraction(3, 5))


def planned(what: Statistic, epsilon: Exact, horizon: int) -> Plan:
    return plan(what, DegreeBound(8), epsilon=epsilon, horizon=horizon, mechanism="sensdiff")


@pytest.mark.parametrize(
    ("total", "weights"),
    [(0, [1]), (-1, [1]), ("x", [1]), (1, []), (1, [1, 0]), (1, [1, -1]), (1, ["y"])],
)
def test_impossible_splits_are_refused(total: Exact, weights: Sequence[Exact]) -> None:
    with pytest.raises(ParameterError):
        weighted_shares(total, weights)


@pytest.mark.parametrize("series", [0, -2, True])
def test_no_series_no_shares(series: int) -> None:
    with pytest.raises(ParameterError, match=r"^series: must be a whole number of at least 1"):
        equal_shares(1, series)


def test_no_weights_no_shares() -> None:
    with pytest.raises(ParameterError, match="weights: must name at least one series"):
        weighted_shares(1, [])


def test_sizes_must_fit_the_plans() -> None:
    plans = [planned(statistic("edges"), 1, 3)]
    with pytest.raises(ParameterError, match="expected"):
        best_shares(1, plans, [])
    with pytest.raises(ParameterError, match="expected"):
        best_shares(1, plans, [0])
    with pytest.raises(ParameterError, match="plans"):
        best_shares(1, [], [])


@pytest.mark.parametrize(
    "parts", [[Fraction(1, 2)], [Fraction(1), Fraction(0)], [Fraction(2), Fraction(-1)]]
)
def test_shares_that_are_not_positive_or_do_not_use_up_the_total_are_refused(
    parts: list[Fraction],
) -> None:
    with pytest.raises(ParameterError, match="total: cannot be split"):
        checked(parts, Fraction(1))
