"""Revised histories: the estimate against brute force, what always holds of it, and its errors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.planning.covariance import Part, Precision, covariance
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series import postprocessing
from graphveil.series.planner import plan
from graphveil.series.postprocessing import (
    Rising,
    _clearly_negative,
    _next_price,
    _nonnegative,
    nearest_news,
    revised,
    rising,
)
from graphveil.statistics.statistic import Statistic, statistic

Floats = NDArray[np.float64]
STEPS = 6
HIGH, LINKS = statistic("high-degree", tau=2), statistic("edges")
MECHANISMS = {
    "sensdiff": LINKS,
    "bridged": LINKS,
    "optimised": LINKS,
    "epochs": LINKS,
    "tree": LINKS,
    "moves": HIGH,
    "optimised-moves": HIGH,
    "gaussian": LINKS,
    "range-projection": LINKS,
    "gaussian-projection": LINKS,
    "box-projection": HIGH,
    "compose-d-bounded": LINKS,
}


def planned(mechanism: str, counted: Statistic, steps: int, epsilon: str = "0.5") -> Plan:
    projection = DegreeBound(3) if "projection" in mechanism else None
    delta = "0.001" if "gaussian" in mechanism else None
    return plan(
        counted, DegreeBound(4), epsilon=epsilon, delta=delta, horizon=steps,
        mechanism=mechanism, projection=projection,
    )  # fmt: skip


PLANS = {name: planned(name, each, 2 * STEPS) for name, each in MECHANISMS.items()}
EVERY_MECHANISM = pytest.mark.parametrize("name", PLANS)
SEPARATE = ("box-projection", "compose-d-bounded")  # whose totals have noise of their own each


def stationary(matrix: Floats, raw: Floats, most: float) -> Iterator[Floats]:
    """The least on every face on which numbers are 0, and the sum is its bound or free."""
    for free, bound in product(product((True, False), repeat=len(raw)), (False, True)):
        held = np.flatnonzero(np.logical_not(free))
        rows = [*np.eye(len(raw))[held], *([np.ones(len(raw))] if bound else [])]
        wanted = [0.0] * len(held) + [most] * bound
        if not rows:
            yield raw
            continue
        sides = np.array(rows)
        if np.linalg.matrix_rank(sides) == len(sides):
            whole = np.block([[matrix, sides.T], [sides, np.zeros((len(sides), len(sides)))]])
            yield np.linalg.solve(whole, [*(matrix @ raw), *wanted])[: len(raw)]


def by_brute_force(matrix: Floats, raw: Floats, most: float) -> Floats:
    """The best of all points that could be it."""
    most = min(most, 1e9)
    fitting = [
        each
        for each in stationary(matrix, raw, most)
        if each.min() > -1e-7 and each.sum() < most + 1e-7
    ]
    return min(fitting, key=lambda each: float((each - raw) @ matrix @ (each - raw)))


@pytest.mark.parametrize("name", sorted(PLANS.keys() - SEPARATE))
def test_the_nearest_history_is_that_of_brute_force(name: str) -> None:
    precision = postprocessing._precision(PLANS[name], STEPS)
    assert precision is not None
    matrix = np.array([precision.times(unit) for unit in np.eye(STEPS)])
    rng = np.random.default_rng(4)
    for most in (inf, 60.0, 7.0):
        for _ in range(6):
            raw = rng.normal(3, 20, STEPS)
            found = nearest_news(precision, raw, most)
            assert found == pytest.approx(by_brute_force(matrix, raw, most), abs=1e-6)


@pytest.mark.parametrize("name", SEPARATE)
def test_noise_of_its_own_is_weighed_by_its_size(name: str) -> None:
    """Then the fit of each total by itself is the nearest already."""
    assert postprocessing._precision(PLANS[name], STEPS) is None
    assert revised(MECHANISMS[name], [6, 2, 4], PLANS[name]) == pytest.approx([4, 4, 4])


def test_a_total_counts_as_much_as_its_noise_is_small() -> None:
    """With SensDiff the second has twice the variance: (6·1 + 2·½)/1½."""
    assert revised(LINKS, [6, 2], PLANS["sensdiff"]) == pytest.approx([14 / 3, 14 / 3])


def test_whatever_is_exchanged_the_nearest_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one by one, which is the way out where many at once lead in circles."""
    precision = postprocessing._precision(PLANS["range-projection"], STEPS)
    assert precision is not None
    raw = np.random.default_rng(8).normal(0, 20, STEPS)
    expected = nearest_news(precision, raw, 30.0)
    monkeypatch.setattr(postprocessing, "PATIENCE", 0)
    assert nearest_news(precision, raw, 30.0) == pytest.approx(expected)
    nothing = Precision(np.ones(4), ())
    assert nearest_news(nothing, np.array([3.0, -1, 2, -5]), 0.0).tolist() == [0] * 4


@EVERY_MECHANISM
@given(raw=arrays(np.int64, st.integers(1, 2 * STEPS), elements=st.integers(-400, 400)))
@settings(max_examples=25)
def test_what_cannot_fall_never_does_and_nothing_is_negative(
    name: str, raw: NDArray[np.int64]
) -> None:
    found = revised(MECHANISMS[name], raw, PLANS[name])
    assert found.shape == raw.shape
    assert (np.diff(found, prepend=0) >= 0).all()


@EVERY_MECHANISM
@given(rises=arrays(np.int64, st.integers(1, 2 * STEPS), elements=st.integers(0, 50)))
@settings(max_examples=15)
def test_a_history_that_could_be_true_stays_as_it_is(name: str, rises: NDArray[np.int64]) -> None:
    raw = np.cumsum(rises)
    assert revised(MECHANISMS[name], raw, PLANS[name]) == pytest.approx(raw, abs=1e-6)


@given(arrays(np.int64, (5, 4), elements=st.integers(-90, 90)))
@settings(max_examples=50)
def test_a_ccdf_rises_over_time_and_falls_over_degrees(raw: NDArray[np.int64]) -> None:
    counted = statistic("degree-ccdf")
    made = plan(counted, DegreeBound(3), epsilon="1", horizon=5)
    found = revised(counted, raw, made)
    assert (np.diff(found, axis=0, prepend=0) >= 0).all()
    assert (np.diff(found, axis=1) <= 0).all()


def test_what_can_fall_is_only_kept_from_being_negative() -> None:
    groups = statistic("components")
    made = plan(groups, DegreeBound(3), epsilon="1", horizon=4)
    assert revised(groups, [5, -3, 9, 2], made).tolist() == [5, 0, 9, 2]
    bins = statistic("degree-histogram")
    made = plan(bins, DegreeBound(1), epsilon="1", horizon=4)
    assert revised(bins, [[5, -3], [-1, 2]], made).tolist() == [[5, 0], [0, 2]]
    recent = statistic("degree-ccdf").recent(2)
    made = plan(recent, DegreeBound(1), epsilon="1", horizon=4)
    assert revised(recent, [[5, 9], [8, -2]], made).tolist() == [[7, 7], [8, 0]]


@pytest.mark.parametrize("name", ["sensdiff", "moves", "optimised", "box-projection", "tree"])
def test_noise_that_is_next_to_nothing_leaves_everything_as_it_is(name: str) -> None:
    made = planned(name, MECHANISMS[name], 4, epsilon="90000")
    assert revised(MECHANISMS[name], [3, 5, 5, 9], made) == pytest.approx([3, 5, 5, 9])


def test_nothing_published_is_nothing_revised() -> None:
    assert revised(LINKS, [], PLANS["sensdiff"]).tolist() == []
    made = plan(statistic("degree-ccdf"), DegreeBound(3), epsilon="1", horizon=5)
    assert revised(statistic("degree-ccdf"), np.zeros((0, 4)), made).shape == (0, 4)


@pytest.mark.parametrize("name", ["sensdiff", "optimised", "moves", "box-projection"])
@pytest.mark.parametrize("growth", [0, 1, 8, 100])
def test_revisions_are_hardly_ever_worse_than_raw(name: str, growth: int) -> None:
    """Flat, slow and steep; half-way and in the end."""
    made = planned(name, MECHANISMS[name], 20)
    noise = simulate(made, 150, np.random.default_rng(growth))
    for steps in (10, 20):
        truth = growth * np.arange(1, steps + 1)
        raw = truth + noise[:, :steps]
        fitted = np.array([revised(MECHANISMS[name], run, made) for run in raw])
        before, after = (np.abs(each - truth).mean() for each in (raw, fitted))
        assert after <= 1.02 * before
        if growth <= 1:
            assert after <= 0.75 * before


def test_the_noise_that_steps_share_is_used() -> None:
    """A fit that takes them for independent is clearly worse where they are not."""
    made = planned("moves", HIGH, 20)
    truth = 12 * np.arange(1, 21)
    raw = truth + simulate(made, 300, np.random.default_rng(2))
    fitted = np.array([revised(HIGH, run, made) for run in raw])
    alone = planned("compose-d-bounded", LINKS, 20)
    plain = np.array([revised(LINKS, run, alone) for run in raw])
    assert np.abs(fitted - truth).mean() < 0.9 * np.abs(plain - truth).mean()


@given(st.lists(st.tuples(st.integers(-99, 99), st.floats(1e-6, 1e6)), max_size=40))
def test_the_nearest_that_never_falls_is_that_of_scipy(pairs: list[tuple[int, float]]) -> None:
    values = np.array([float(value) for value, _ in pairs])
    weights = np.array([weight for _, weight in pairs])
    found = rising(values, weights)
    assert (np.diff(found) >= 0).all()
    assert len(found) == len(values)
    if pairs:
        known = isotonic_regression(values, weights=weights).x
        assert found == pytest.approx(known, rel=1e-9, abs=1e-9)


def test_a_price_is_newtons_where_it_lies_between_the_brackets() -> None:
    """A diagonal of 2 and 8: of a pull that is one less, ½ + ⅛ less is bought."""
    plain, free = Precision(np.array([2.0, 8.0]), ()), np.array([True, True])
    assert _next_price(plain, free, 1.0, 5.0, (0.0, inf)) == 1 + 5 / (5 / 8)
    assert _next_price(plain, np.array([True, False]), 1.0, 5.0, (0.0, inf)) == 1 + 5 / (1 / 2)
    assert _next_price(plain, free, 1.0, 5.0, (1.0, 4.0)) == 2.5  # 9 lies outside
    assert _next_price(plain, free, 1.0, 5.0, (1.0, 9.0)) == 5.0  # not inside, either
    assert _next_price(plain, free, 1.0, -5 / 8, (0.0, 1.0)) == 0.5  # where 0 was tried before
    assert _next_price(plain, ~free, 3.0, 5.0, (3.0, inf)) == 6.0  # where nothing yields
    assert _next_price(plain, ~free, 0.0, 5.0, (0.0, inf)) > 0


@pytest.mark.parametrize("most", [0.0, 3.0, 7.5, 12.0, 40.0])
def test_what_may_only_add_up_to_so_much_is_the_nearest_that_does(most: float) -> None:
    """With independent noise: all numbers lose the same pull, down to 0."""
    plain, raw = Precision(np.full(5, 0.5), ()), np.array([6.0, -2.0, 4.0, 1.0, 3.0])
    found = nearest_news(plain, raw, most)
    losses = np.linspace(0, 10, 100_001)
    sums = np.maximum(raw[None] - losses[::100, None], 0).sum(axis=1)
    loss = float(losses[::100][np.argmax(sums <= most + 1e-9)])
    assert found == pytest.approx(np.maximum(raw - loss, 0), abs=0.02)
    assert found.sum() <= most * (1 + 1e-9) + 1e-9


def test_weighing_is_by_the_inverse_of_the_noise_in_totals() -> None:
    counted, news = statistic("edges"), np.linspace(-3, 5, 6)
    sums = np.tril(np.ones((6, 6)))
    for mechanism in ("sensdiff", "bridged", "compose-d-bounded"):
        made = plan(counted, DegreeBound(2), epsilon="0.01", horizon=6, mechanism=mechanism)
        inverse = np.linalg.inv(covariance(made, 6))
        expected = sums.T @ inverse @ sums @ news
        assert Rising(made, 6).weighed(news) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", ["range-projection", "gaussian-projection"])
def test_totals_that_share_noise_are_weighed_by_its_inverse(name: str) -> None:
    sums, news = np.tril(np.ones((STEPS, STEPS))), np.linspace(-3, 5, STEPS)
    inverse = np.linalg.inv(covariance(PLANS[name], STEPS))
    expected = sums.T @ inverse @ sums @ news
    assert Rising(PLANS[name], STEPS).weighed(news) == pytest.approx(expected, rel=1e-9)


def dense(*rows: tuple[float, ...]) -> Precision:
    """The precision GᵀG."""
    return Precision(np.zeros(len(rows[0])), (Part(0, np.array(rows)),))


@pytest.mark.parametrize("begun", [*product((True, False), repeat=3)])
def test_wherever_the_search_begins_it_ends_with_the_same(begun: tuple[bool, ...]) -> None:
    """Exchanging all that is wrong goes in circles here, and so does exchanging all but one."""
    circling, raw = dense((1, 0, -1), (-3, -2, 0), (3, 1, -1)), np.array([3.0, -5, 1])
    found, free = _nonnegative(circling, circling.times(raw), np.array(begun))
    assert found == pytest.approx([8 / 19, 0, 0])
    assert free.tolist() == [True, False, False]


def test_what_is_wrong_by_less_than_errors_of_floats_is_let_be() -> None:
    values = np.array([-2e-10, -1e-10, -8e-11, 0.0, 5.0])
    found = _clearly_negative(values, beside=np.array([-1.0, 0.5]))
    assert found.tolist() == [True, False, False, False, False]
    plain, both = Precision(np.ones(2), ()), np.array([True, True])
    nearest, free = _nonnegative(plain, np.array([1.0, -1e-11]), both)
    assert nearest.tolist() == [1, 0]
    assert free.tolist() == [True, True]


def test_a_price_that_was_too_high_is_lowered_again() -> None:
    """Of 2·(1 + y)² − 10·y·(1 + y) + 13·y² the least is at y = 3/5; Newton's step goes beyond."""
    found = nearest_news(dense((1, 3), (-1, -2)), np.array([2.0, 0]), 1.0)
    assert found == pytest.approx([2 / 5, 3 / 5])


@pytest.mark.parametrize("most", [7.0, 7.5, 1e9, inf])
def test_a_bound_that_is_kept_has_no_price(monkeypatch: pytest.MonkeyPatch, most: float) -> None:
    monkeypatch.delattr(postprocessing, "_next_price")
    plain, raw = Precision(np.ones(3), ()), np.array([5.0, -4, 2])
    assert nearest_news(plain, raw, most).tolist() == [5, 0, 2]
