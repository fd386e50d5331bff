"""Aims: what they weigh, and what is left of them where a column stands for several steps."""

from __future__ import annotations

from fractions import Fraction

import pytest

from graphveil.errors import ParameterError
from graphveil.mechanisms.factorisations.objectives import (
    DEFAULT,
    PLAIN,
    Aim,
    Relative,
    objective,
    plain_mean,
)

HALVES = (0.5, 0.0, 0.25, 0.25)


def test_totals_are_sums_that_reach_the_beginning() -> None:
    assert [Aim(HALVES, reach).totals for reach in (1, 3, 4, 9)] == [False, False, True, True]
    assert Aim.of_totals([Fraction(1), Fraction(3)]).weights == (0.25, 0.75)
    assert Aim.of_totals([Fraction(1), Fraction(3)]).totals


def test_a_mean_of_totals_looks_at_all_of_them() -> None:
    quarters = (0.25,) * 4
    assert Aim(quarters, 4).mean_of_totals is True
    assert plain_mean(3).mean_of_totals is True
    assert Aim(quarters, 3).mean_of_totals is False
    assert Aim(quarters, 4, worst=True).mean_of_totals is False
    assert Aim(HALVES, 4).mean_of_totals is False


def test_the_value_is_the_weighed_mean_or_the_worst_of_what_matters() -> None:
    assert Aim(HALVES, 4).value([1, 9, 2, 4]) == 2.0
    assert Aim(HALVES, 4, worst=True).value([1, 9, 2, 4]) == 4.0  # a weight of 0 does not matter


def test_a_coarse_aim_looks_at_the_last_step_of_each_column() -> None:
    weights = tuple(n / 28 for n in range(1, 8))
    halved = Aim(weights, 3).coarse(2)
    assert halved.weights == pytest.approx((2 / 19, 4 / 19, 6 / 19, 7 / 19))
    assert (halved.reach, halved.worst) == (2, False)
    thirds = Aim(weights[:6], 6, worst=True).coarse(3)
    assert thirds.weights == pytest.approx((3 / 9, 6 / 9))
    assert (thirds.reach, thirds.worst) == (2, True)
    assert Aim(weights, 1).coarse(4).reach == 1
    assert Aim(weights, 5).coarse(3).reach == 2


def test_where_no_column_ends_with_what_matters_all_count_alike() -> None:
    assert Aim((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), 6).coarse(2).weights == (1 / 3,) * 3


def test_an_unknown_length_is_judged_by_one_step() -> None:
    assert DEFAULT.fitted(None) is DEFAULT
    one, two = objective("windows:1"), objective("windows:2")
    assert one.fitted(None) is one
    assert two.fitted(None) is PLAIN
    assert two.fitted(1) is PLAIN
    assert two.fitted(2) is two


def test_expected_totals_rise_evenly_from_the_first_to_the_last() -> None:
    growing = Relative((Fraction(1), Fraction(2)))
    assert growing._totals(4) == [1, Fraction(4, 3), Fraction(5, 3), 2]
    assert growing._totals(1) == [1]
    assert growing.aim(3).weights == pytest.approx((6 / 13, 4 / 13, 3 / 13))


@pytest.mark.parametrize("text", ["mean:1,-1/2", "relative:5", "relative:5,0"])
def test_numbers_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        objective(text)
