"""The smooth trend: against plain algebra, what always holds of it, and what it is good for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.optimize import nnls

from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.planning.covariance import covariance
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series import revising
from graphveil.series.planner import plan
from graphveil.series.revising import Wandering, smooth_trend
from graphveil.statistics.statistic import statistic

LINKS, GROUPS = statistic("edges"), statistic("components")
STEPS = 12


def planned(mechanism: str, steps: int = STEPS, epsilon: str = "0.5") -> Plan:
    return plan(LINKS, DegreeBound(4), epsilon=epsilon, horizon=steps, mechanism=mechanism)


MECHANISMS = ("sensdiff", "bridged", "optimised", "compose-d-bounded")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_trend_is_what_plain_algebra_gives(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(Σ⁻¹ + R/τ²)·x = Σ⁻¹·y, with R of third differences that leave the first number alone."""
    monkeypatch.setattr(revising, "_likeliest", lambda rough, seen: 2e5)
    made = planned(mechanism, epsilon="0.01")  # where rounding is nothing
    raw = 900.0 * np.arange(STEPS) + np.random.default_rng(1).normal(0, 500, STEPS)
    found = Wandering.of(made, STEPS).trend(raw, rises=False)
    inverse = np.linalg.inv(covariance(made, STEPS))
    changes = np.diff(np.eye(STEPS), n=2, axis=0)  # of totals: growth less growth before
    whole = inverse + changes.T @ changes / 2e5
    assert found == pytest.approx(np.linalg.solve(whole, inverse @ raw), rel=1e-4)


@pytest.mark.parametrize("mechanism", ["sensdiff", "bridged"])
def test_where_it_would_fall_it_is_the_nearest_that_does_not(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearest in what the numbers say and how rough growth is: by least squares without signs."""
    monkeypatch.setattr(revising, "_likeliest", lambda rough, seen: 3e4)
    made = planned(mechanism)
    raw = 20.0 * np.array([50, 60, 20, 90, 80, 10, 120, 100, 150, 140, 40, 60])
    free = Wandering.of(made, STEPS).trend(raw, rises=False)
    assert np.diff(free).min() < 0
    changes = np.diff(np.eye(STEPS)[1:], axis=0)  # of what is new
    whole = np.linalg.inv(covariance(made, STEPS))
    sums = np.tril(np.ones((STEPS, STEPS)))
    root = np.linalg.cholesky(sums.T @ whole @ sums + changes.T @ changes / 3e4).T
    expected = np.cumsum(nnls(root, root @ np.diff(free, prepend=0))[0])
    found = Wandering.of(made, STEPS).trend(raw, rises=True)
    assert found == pytest.approx(expected, rel=1e-2)
    assert np.abs(found - free).max() > 5


def test_the_trend_of_a_ccdf_rises_over_time_and_falls_over_degrees() -> None:
    ccdf = statistic("degree-ccdf")
    made = plan(ccdf, DegreeBound(3), epsilon=1, horizon=STEPS, mechanism="sensdiff")
    steps = np.arange(1, STEPS + 1)[:, None]
    raw = 9 * steps * np.array([4, 3, 2, 1]) + np.random.default_rng(4).integers(-60, 60, (12, 4))
    found = smooth_trend(ccdf, raw, made)
    assert found.shape == raw.shape
    assert (np.diff(found, axis=0) >= -1e-9).all()
    assert (np.diff(found, axis=1) <= 1e-9).all()
    assert found[-1, 0] > 1.5 * found[-1, 2] > 0


def test_the_likeliest_variance_is_found() -> None:
    rng = np.random.default_rng(2)
    rough = np.geomspace(0.01, 100, 4000)
    for variance in (0.05, 3.0, 40.0):
        seen = rng.normal(0, np.sqrt(1 + variance / rough))
        assert revising._likeliest(rough, seen) == pytest.approx(variance, rel=0.25)
    assert revising._likeliest(np.zeros(2), np.ones(2)) == 1


def test_the_likeliest_variance_is_that_of_all_that_are_tried() -> None:
    """What is not rough at all says nothing about it."""
    rough, seen = np.array([3.0, 50.0, 80.0, 900.0, 7e4]), np.array([9.0, -4.0, 0.3, 2.5, -1.5])
    tried = revising.RATIOS * 80
    each = [np.log(1 + v / rough).sum() + (seen**2 / (1 + v / rough)).sum() for v in tried]
    expected = tried[int(np.argmin(each))]
    assert revising._likeliest(rough, seen) == expected
    even = np.append(0.0, rough), np.append(99.0, seen)
    assert revising._likeliest(*even) == expected


@pytest.mark.parametrize("mechanism", MECHANISMS)
@given(raw=arrays(np.int64, st.integers(1, STEPS), elements=st.integers(-400, 400)))
@settings(max_examples=20)
def test_what_cannot_fall_never_does(mechanism: str, raw: NDArray[np.int64]) -> None:
    found = smooth_trend(LINKS, raw, planned(mechanism))
    assert found.shape == raw.shape
    assert (np.diff(found, prepend=0) >= 0).all()


def test_what_can_fall_may() -> None:
    made = plan(GROUPS, DegreeBound(4), epsilon="20", horizon=6)
    found = smooth_trend(GROUPS, [90, 80, 70, 60, 50, 40], made)
    assert found == pytest.approx([90, 80, 70, 60, 50, 40], abs=0.01)
    assert smooth_trend(GROUPS, [90, 40, -10, -60, -110, -160], made)[-1] == 0
    ccdf = statistic("degree-ccdf")
    table = smooth_trend(
        ccdf, [[9, 12, 1], [5, 20, 30]], plan(ccdf, DegreeBound(2), epsilon=1, horizon=4)
    )
    assert (np.diff(table, axis=1) <= 0).all()
    assert smooth_trend(LINKS, [], planned("sensdiff")).shape == (0,)


@pytest.mark.parametrize("mechanism", ["sensdiff", "optimised"])
def test_an_even_growth_is_found_in_much_noise(mechanism: str) -> None:
    made = planned(mechanism, 40)
    truth = 20 * np.arange(1, 41)
    raw = truth + simulate(made, 60, np.random.default_rng(3))
    found = np.array([smooth_trend(LINKS, run, made) for run in raw])
    assert np.abs(found - truth).mean() < 0.85 * np.abs(raw - truth).mean()


def test_a_long_history_is_told_by_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revising, "STRETCHES", 4)
    made = planned("optimised")
    model = Wandering.of(made, STEPS)
    assert model.stretches.shape == (STEPS, 5)
    assert model.stretches.sum(axis=1).tolist() == [1] * STEPS
    assert model.stretches.sum(axis=0).tolist() == [1, 3, 3, 3, 2]
    even = np.cumsum([50.0, *[10.0] * (STEPS - 1)])
    assert model.trend(even, rises=True) == pytest.approx(even)
