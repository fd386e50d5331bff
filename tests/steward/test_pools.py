"""Pools of new studies: proposed where they are better, or made by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt
from pathlib import Path

import pytest

import graphveil
from graphveil.errors import BudgetError, ParameterError
from graphveil.mechanisms.planning.plan import achieved
from graphveil.steward import drafting
from graphveil.steward.drafting import calendar
from graphveil.steward.requests import SeriesRequest, StudyRequest
from graphveil.steward.status import BudgetStatus
from graphveil.study import Promise
from graphveil.study.opening import require_affordable, series_plan
from study_requests import REQUEST

SIZES = {"nodes": 700, "edges": 1200, "triangles": 900, "components": 300, "degree-ccdf": 400}
SERIES = tuple(SeriesRequest(name, expected=size) for name, size in SIZES.items())
LONG = replace(
    REQUEST, epsilon="1", delta="1e-6", series=SERIES, calendar=calendar("year", "2001", "2100")
)


def error(promise: Promise) -> float:
    return sum(
        achieved(series_plan(promise, each, 0)) / (each.expected or 1) for each in promise.series
    )


def shares(promise: Promise) -> list[str | None]:
    return [each.pool for each in promise.series]


def test_a_pool_is_proposed_where_it_is_better() -> None:
    promise = drafting.drafted(LONG)
    pool = promise.budget.pool
    assert pool is not None
    assert pool.delta == "0.000001"
    assert promise.budget_left() == (Fraction(), Fraction())
    assert promise.pool_left() == 0
    require_affordable(promise)
    assert error(promise) < 0.9 * error(drafting.drafted(replace(LONG, delta=None)))


def test_no_pool_is_proposed_where_it_gains_nothing() -> None:
    short = replace(LONG, calendar=calendar("year", "2001", "2004"), series=SERIES[:3])
    promise = drafting.drafted(short)
    assert promise.budget.pool is None
    assert shares(promise) == [None] * 3
    assert {each.delta for each in promise.series} == {None}
    pure = drafting.drafted(replace(short, delta=None))
    assert [each.epsilon for each in promise.series] == [each.epsilon for each in pure.series]


def test_series_that_gain_nothing_stay_outside() -> None:
    """Two vectors share a pool; people, whose error weighs little, have an ε of their own."""
    wishes = (
        SeriesRequest("nodes", expected=10, mechanism="sensdiff"),
        SeriesRequest("degree-ccdf", expected=400),
        SeriesRequest("degree-histogram", expected=400),
    )
    promise = drafting.drafted(replace(LONG, series=wishes))
    assert promise.budget.pool is not None
    assert [each.epsilon is None for each in promise.series] == [False, True, True]
    assert promise.budget_left() == (Fraction(), Fraction())


def test_a_share_that_is_given_and_a_delta_that_is_given_stay() -> None:
    wishes = (
        replace(SERIES[0], epsilon="1/8"),
        replace(SERIES[4], delta="5e-7"),
        *SERIES[1:4],
    )
    promise = drafting.drafted(replace(LONG, series=wishes))
    nodes, ccdf, *others = promise.series
    assert nodes.epsilon == "0.125"
    assert ccdf.delta == "0.0000005"
    assert ccdf.pool is None
    assert promise.budget_left()[0] == 0
    pool = promise.budget.pool
    assert pool is None or (pool.delta == "0.0000005" and all(each.pool for each in others))


def test_whoever_is_alone_has_all_of_delta() -> None:
    wishes = (SeriesRequest("nodes", expected=100, mechanism="sensdiff"), SERIES[4])
    promise = drafting.drafted(replace(LONG, series=wishes))
    assert promise.budget.pool is None
    assert [each.delta for each in promise.series] == [None, "0.000001"]


def test_what_another_share_or_another_pool_would_do_is_shown() -> None:
    draft = drafting.draft(LONG)
    assert draft.sharing is not None
    for share in draft.sharing.shares:
        if share.pool is not None:
            assert share.epsilon is None
            assert share.more == pytest.approx(share.error / sqrt(1.2), rel=1e-3)
            assert share.less == pytest.approx(share.error / sqrt(0.8), rel=1e-3)
    said = draft.sharing.pool
    assert said is not None
    assert "share a pool of ε = " in said
    assert "would be 16% smaller, with a fifth less 23% larger" in said
    assert draft.sharing.as_data()["pool"] == said
    assert draft.as_data()["budget"]["pool"]["left"] == "0"


HAND: StudyRequest = replace(
    REQUEST,
    delta="1e-6",
    pool="1/2",
    series=(
        SeriesRequest("nodes", epsilon="1/4"),
        SeriesRequest("edges", pool="1/4"),
        SeriesRequest("triangles", pool="1/2"),
    ),
)


def test_a_pool_by_hand() -> None:
    promise = drafting.drafted(HAND)
    assert shares(promise) == [None, "0.25", "0.5"]
    assert [each.mechanism for each in promise.series][1:] == ["gaussian", "gaussian"]
    assert str(BudgetStatus.of(promise)) == (
        "ε = 1, of which 0.25 is left; δ = 0.000001, of which 0 is left. Of these, ε = 0.5 and "
        "δ = 0.000001 are a pool for several series: 0.25 of it is left"
    )


def test_beside_a_pool_by_hand_the_others_split_what_is_left() -> None:
    wishes = (SeriesRequest("nodes"), SeriesRequest("components"), *HAND.series[1:])
    promise = drafting.drafted(replace(HAND, series=wishes))
    assert [each.epsilon for each in promise.series] == ["0.25", "0.25", None, None]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"delta": None}, "pool: is for Gaussian noise: it needs a δ"),
        ({"pool": None}, "pool: the budget has none"),
        ({"pool": "much"}, "epsilon: must be a number"),
    ],
)
def test_pools_that_make_no_sense_are_refused(changed: dict[str, str | None], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        drafting.drafted(replace(HAND, **changed))  # type: ignore[arg-type]


def test_a_pool_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(BudgetError, match="leave nothing"):
        drafting.drafted(replace(HAND, pool="1", series=(SeriesRequest("nodes"), *HAND.series[1:])))


def test_python_makes_studies_with_pools(tmp_path: Path) -> None:
    study = graphveil.Study.create(
        tmp_path / "clinic",
        title="A clinic",
        population="its patients",
        publisher="the clinic",
        first=2001,
        steps=6,
        bound=10,
        bound_reason="the interview asks for ten",
        epsilon=1,
        delta="1e-6",
        pool="1/2",
        epsilon_reason="the ethics board",
        series={"nodes": 0.25, "edges": {"pool": "1/3"}, "triangles": {"pool": "2/3"}},
    )
    assert [each.pool for each in study.promise.series] == [None, "1/3", "2/3"]
    assert study.plans()["edges"].budget == "1/3 of a pool of ε = 0.5, δ = 0.000001"
    assert "edges: edges; 1/3 of the pool; nothing published" in str(study)
