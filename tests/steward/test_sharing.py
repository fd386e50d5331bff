"""Shares that nobody named: the best split where sizes are expected, equal ones otherwise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from graphveil.errors import ParameterError
from graphveil.mechanisms.planning.plan import achieved
from graphveil.steward import drafting
from graphveil.steward.drafting import calendar
from graphveil.steward.requests import SeriesRequest, StudyRequest
from graphveil.study import Promise
from graphveil.study.opening import series_plan
from study_requests import REQUEST

SERIES = (
    SeriesRequest("nodes", expected=2000),
    SeriesRequest("edges", expected=3000),
    SeriesRequest("triangles", expected=1500),
)
SIZED = replace(REQUEST, epsilon="2", series=SERIES)


def shares(wish: StudyRequest) -> dict[str, Fraction]:
    return {each.name: each.price[0] for each in drafting.drafted(wish).series}


def error(promise: Promise) -> float:
    """The sum of errors in parts of what is expected, by the planner."""
    return sum(
        achieved(series_plan(promise, each, 0)) / (each.expected or 1) for each in promise.series
    )


def test_the_best_split_is_taken_and_no_other_in_fifths_is_better() -> None:
    promise = drafting.drafted(SIZED)
    assert promise.budget_left()[0] == 0
    for first, second in product(range(1, 9), repeat=2):
        if first + second < 10:
            texts = [f"{number}/5" for number in (first, second, 10 - first - second)]
            other = [replace(each, epsilon=e) for each, e in zip(SERIES, texts, strict=True)]
            tried = drafting.drafted(replace(SIZED, series=tuple(other)))
            assert error(promise) <= 1.004 * error(tried), texts


def test_shares_that_were_given_stay_and_the_rest_is_split() -> None:
    fixed = replace(SERIES[0], epsilon="1/4")
    found = shares(replace(SIZED, series=(fixed, *SERIES[1:])))
    assert found["nodes"] == Fraction(1, 4)
    assert found["edges"] + found["triangles"] == Fraction(7, 4)
    assert found["triangles"] > found["edges"]


def test_a_weight_moves_the_shares_and_is_no_part_of_the_study() -> None:
    heavier = replace(SIZED, series=(replace(SERIES[0], weight="9"), *SERIES[1:]))
    assert shares(heavier)["nodes"] >= 2 * shares(SIZED)["nodes"]
    assert "weight" not in drafting.drafted(heavier).to_toml()


def test_without_a_size_for_each_shares_are_equal_and_it_is_said() -> None:
    unsized = replace(SIZED, series=(SeriesRequest("nodes"), *SERIES[1:]))
    draft = drafting.draft(unsized)
    assert set(shares(unsized).values()) == {Fraction(2, 3)}
    assert draft.sharing is not None
    assert draft.sharing.how.startswith("Equal shares of ε = 2, since no size is expected of nodes")


def test_what_another_share_would_do_is_what_the_planner_says() -> None:
    draft = drafting.draft(SIZED)
    assert draft.sharing is not None
    assert "best split of ε = 2" in draft.sharing.how
    for share, series in zip(draft.sharing.shares, draft.promise.series, strict=True):
        for factor, said in (("6/5", share.more), ("4/5", share.less), ("1", share.error)):
            other = series.costing(series.price[0] * Fraction(factor), None)
            assert said == achieved(series_plan(draft.promise, other, 0))
        assert share.more < share.error < share.less
        assert share.part == share.error / (series.expected or 0)


def test_who_names_all_shares_is_told_nothing() -> None:
    assert drafting.draft(REQUEST).sharing is None


def test_with_a_risk_the_split_is_judged_by_what_it_allows() -> None:
    """Histograms gain from δ: no other split in tenths is better at the noise they then have."""
    histogram = SeriesRequest("degree-histogram", expected=900)
    long = replace(SIZED, series=(SERIES[1], histogram), calendar=calendar("year", "2001", "2040"))
    risky = replace(long, delta="1e-6")
    promise = drafting.drafted(risky)
    assert [each.mechanism for each in promise.series] == ["gaussian", "gaussian"]
    assert promise.budget.pool is not None
    assert error(promise) < error(drafting.drafted(long))
    for tenths in range(1, 20):
        texts = f"{tenths}/10", f"{20 - tenths}/10"
        other = [replace(each, epsilon=e) for each, e in zip(risky.series, texts, strict=True)]
        assert error(promise) <= 1.004 * error(drafting.drafted(replace(risky, series=(*other,))))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"weight": "2", "epsilon": "1/4"}, "weight: of series 'nodes' has no use"),
        ({"weight": "2", "expected": None}, "weight: needs an expected size of every series"),
        ({"weight": "0"}, "weight: must be greater than 0"),
        ({"weight": "much"}, "weight: must be a number"),
    ],
)
def test_weights_without_a_use_are_refused(changed: dict[str, str], message: str) -> None:
    series = (replace(SERIES[0], **changed), *SERIES[1:])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=message):
        drafting.drafted(replace(SIZED, series=series))
