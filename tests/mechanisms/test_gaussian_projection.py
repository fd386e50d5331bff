"""Gaussian noise on projected totals: what it costs, what it is worth, and planted errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.lab.audit import AuditEffort, audit
from graphveil.lab.simulation import SimulationNoise, simulate
from graphveil.mechanisms import gaussian, projected
from graphveil.mechanisms.factorisations.factorisation import Totals
from graphveil.mechanisms.factorisations.triangular import ScaledSums, rising_square, shared
from graphveil.mechanisms.mechanism import Epoch, Request, mechanism
from graphveil.mechanisms.planning.continuation import continued, renewed
from graphveil.mechanisms.planning.intervals import noise_of
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import DiscreteGaussian
from graphveil.noise.zcdp import gaussian_for, rho_of
from graphveil.series.planner import compare, plan
from graphveil.series.state import SeriesState, advance, start
from graphveil.statistics.sensitivity import Sensitivity
from graphveil.statistics.statistic import Statistic, statistic

HIGH, EDGES, NODES = statistic("high-degree", tau=1), statistic("edges"), statistic("nodes")
NAME = "gaussian-projection"
DELTA = Fraction(1, 10**6)
EFFORT = AuditEffort(20_000, 1_000, 0)
Integers = NDArray[np.int64]


def made(counted: Statistic, threshold: int, steps: int, epsilon: int = 1) -> Plan:
    bound = DegreeBound(threshold)
    return plan(
        counted, bound, epsilon=epsilon, delta=DELTA, horizon=steps, mechanism=NAME,
        projection=bound,
    )  # fmt: skip


def cost(epoch: Epoch, totals: list[int]) -> Fraction:
    """ρ of telling apart two sequences whose totals differ so."""
    assert isinstance(epoch.law, DiscreteGaussian)
    changes = np.diff(np.array(totals, dtype=object), prepend=0)
    moved = epoch.factorisation.strategy().astype(object) @ changes
    return Fraction(int((moved**2).sum())) / (2 * epoch.law.sigma_squared)


def corners(counted: Statistic, height: int, steps: int) -> list[list[int]]:
    """Every sequence of totals as far from nothing as one person can make them, each alone."""
    values = (0, height) if counted.projection_rises else (-height, height)
    return [list(each) for each in product(values, repeat=steps)]


@pytest.mark.parametrize(("counted", "threshold"), [(EDGES, 3), (NODES, 2), (HIGH, 2)])
@pytest.mark.parametrize("steps", [1, 2, 5, 9])
def test_no_change_of_totals_costs_more_than_rho_and_one_costs_nearly_that(
    counted: Statistic, threshold: int, steps: int
) -> None:
    epoch = made(counted, threshold, steps).epoch(0)
    height = counted.projected_l1(DegreeBound(threshold))
    assert height is not None
    rho = rho_of(Fraction(1), DELTA)
    dearest = max(cost(epoch, totals) for totals in corners(counted, height, steps))
    assert 0.99 * rho <= dearest <= rho


@given(steps=st.integers(1, 60), data=st.data())
@settings(max_examples=40, deadline=None)
def test_totals_between_the_corners_cost_no_more(steps: int, data: st.DataObject) -> None:
    found, height = shared(steps), 7
    totals = data.draw(st.lists(st.integers(0, height), min_size=steps, max_size=steps))
    moved = found.strategy().astype(object) @ np.diff(np.array(totals, dtype=object), prepend=0)
    assert int((moved**2).sum()) <= rising_square(found, height)


def test_signs_that_differ_would_cost_more() -> None:
    """Noise in common hides totals that all rise, and not those that rise and fall."""
    epoch, steps = made(EDGES, 3, 8).epoch(0), 8
    mixed = [3 * (-1) ** step for step in range(steps)]
    assert cost(epoch, mixed) > 2 * rho_of(Fraction(1), DELTA)


def test_columns_of_another_form_have_no_such_bound() -> None:
    with pytest.raises(ValueError, match="rise by 2"):
        rising_square(ScaledSums((1, 1), (3, 7)), 1)


@pytest.mark.parametrize("steps", [1, 20, 100, 1024])
def test_the_error_is_the_known_one(steps: int) -> None:
    """Δ(√T + 1)/√(8ρ), to a few thousandths; every total has about the same."""
    rho = float(rho_of(Fraction(1), DELTA))
    epoch = made(EDGES, 50, steps).epoch(0)
    assert isinstance(epoch.law, DiscreteGaussian)
    found = np.sqrt(epoch.factorisation.decoder_squares() * float(epoch.law.sigma_squared))
    known = 50 * (sqrt(steps) + 1) / sqrt(8 * rho)
    np.testing.assert_allclose(found, known, rtol=0.012 if steps > 1 else 0.1)
    box = made(HIGH, 49, steps).predicted
    np.testing.assert_allclose(box, 50 * sqrt(steps / 2 / rho), rtol=0.001)


def test_it_is_better_for_many_releases_and_auto_knows_that() -> None:
    bound = DegreeBound(5)
    for counted, laplace, few, many in (
        (EDGES, "range-projection", 25, 45),
        (HIGH, "box-projection", 45, 75),
    ):
        for steps, best in ((few, laplace), (many, NAME)):
            chosen = plan(counted, bound, epsilon=1, delta=DELTA, horizon=steps, projection=bound)
            assert chosen.mechanism.name == best
            pure = plan(counted, bound, epsilon=1, horizon=steps, projection=bound)
            assert pure.mechanism.name == laplace


def test_auto_without_a_threshold_never_projects() -> None:
    chosen = plan(EDGES, DegreeBound(5), epsilon=1, delta=DELTA, horizon=60)
    assert not chosen.mechanism.projects


@pytest.mark.parametrize("counted", [EDGES, HIGH], ids=str)
def test_predictions_and_intervals_agree_with_simulation(counted: Statistic) -> None:
    found = made(counted, 2, 12, epsilon=8)
    noise = simulate(found, 40_000, np.random.default_rng(5)).astype(float)
    np.testing.assert_allclose(np.sqrt((noise**2).mean(axis=0)), found.predicted, rtol=0.02)
    for weights in ({0: 1}, {11: 1}, {3: -1, 11: 1}, {0: 1, 5: 1, 11: 1}):
        values = sum(weight * noise[:, step] for step, weight in weights.items())
        for level in (Fraction(1, 2), Fraction(19, 20)):
            width = noise_of(found, weights).half_width(level)
            assert float((np.abs(values) <= width).mean()) >= float(level) - 0.012
            assert float((np.abs(values) <= width - 3).mean()) <= float(level) + 0.012


def test_the_release_path_draws_once_and_keeps_the_noise() -> None:
    found = made(EDGES, 3, 6)
    published: list[int] = []
    state = start(found)
    source = SimulationNoise(np.random.default_rng(8))
    for _ in range(6):
        value, state = advance(found, state, [2], source)
        state = SeriesState.from_dict(json.loads(json.dumps(state.to_dict())))
        published.append(value[0] - 2 * len(published) - 2)
    epoch = found.epoch(0)
    drawn = SimulationNoise(np.random.default_rng(8)).draw(epoch.law, 6)
    assert published == [round(each) for each in epoch.factorisation.decode(drawn)]
    with pytest.raises(ParameterError, match="releases of this series were made"):
        advance(found, state, [2], source)
    assert Plan.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_what_cannot_be_done_is_refused() -> None:
    bound = DegreeBound(3)
    asked = {"epsilon": 1, "delta": DELTA, "mechanism": NAME, "projection": bound}
    for changed, complaint in (
        ({"horizon": None}, "needs a known horizon"),
        ({"horizon": 1025}, "up to 1024"),
        ({"horizon": 5, "delta": None}, "needs a δ"),
        ({"horizon": 5, "projection": None}, "projection threshold"),
    ):
        with pytest.raises(ParameterError, match=complaint):
            plan(EDGES, bound, **asked | changed)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no known sensitivity after projection"):
        plan(statistic("triangles"), bound, horizon=5, **asked)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="must be known where a series projects"):
        plan(EDGES, bound, epsilon=1, horizon=None, projection=bound)
    stated = Sensitivity(3, 3, 9, 1, frozenset(), "none", "none")
    wide = Request(stated, Fraction(1), DELTA, 5, width=2, projected_l1=3)
    assert "one number per release" in str(mechanism(NAME).refusal(wide))
    found = made(EDGES, 3, 5)
    with pytest.raises(ParameterError, match="cannot go past"):
        continued(found, 1)
    with pytest.raises(ParameterError, match="half-way"):
        renewed(found, 2)


def half_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gaussian_for
    monkeypatch.setattr(gaussian, "gaussian_for", lambda most, rho: whole(most / 4, rho))


def forgotten_height(monkeypatch: pytest.MonkeyPatch) -> None:
    """Δ instead of Δ²."""
    whole = rising_square
    monkeypatch.setattr(projected, "rising_square", lambda found, height: whole(found, 1) * height)


def forgotten_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if one total were changed, and not up to half of them."""
    monkeypatch.setattr(
        projected,
        "rising_square",
        lambda found, height: Fraction(height**2 * found.rows[0] ** 2 * found.columns[0] ** 2),
    )


PLANTED: list[Callable[[pytest.MonkeyPatch], None]] = [
    half_the_noise,
    forgotten_height,
    forgotten_sum,
]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_planted_errors_cost_more_than_rho(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    request = made_request(6)
    epoch = projected.GaussianProjection().epoch(request, 0)
    assert epoch is not None
    rho = rho_of(Fraction(1), DELTA)
    assert max(cost(epoch, totals) for totals in corners(EDGES, 5, 6)) > 1.5 * rho


def made_request(steps: int) -> Request:
    stated = Sensitivity(5, 5, 25, 1, frozenset(), "none", "none")
    return Request(stated, Fraction(1), DELTA, steps, projected_l1=5, projected_rises=True)


def test_the_uncentred_matrix_for_signs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise in common, given to high degrees, which rise and fall."""
    request = Request(
        Sensitivity(3, 3, 9, 1, frozenset(), "none", "none"),
        Fraction(1), DELTA, 8, projected_l1=3, projected_rises=True,
    )  # fmt: skip
    epoch = mechanism(NAME).epoch(request, 0)
    assert epoch is not None
    rho = rho_of(Fraction(1), DELTA)
    assert max(cost(epoch, totals) for totals in corners(HIGH, 3, 8)) > 2 * rho


def test_an_audit_finds_a_twentieth_of_the_noise_and_nothing_in_the_sound_one() -> None:
    bound, found = DegreeBound(3), made(EDGES, 3, 4)
    assert not audit(found, EDGES, bound, seed=1, effort=EFFORT).violated
    law = found.epoch(0).law
    assert isinstance(law, DiscreteGaussian)
    thin = Epoch(found.epoch(0).factorisation, DiscreteGaussian(law.sigma_squared / 100))
    wrong = Plan(found.mechanism, found.request, (thin,), found.subject)
    assert audit(wrong, EDGES, bound, seed=1, effort=EFFORT).violated


def test_totals_are_what_independent_noise_is_added_to() -> None:
    assert made(HIGH, 2, 5).epoch(0).factorisation == Totals(5)
    ranked = compare(
        HIGH, DegreeBound(2), epsilon=1, delta=DELTA, horizon=5, projection=DegreeBound(2)
    )
    assert NAME in {each.name for each in ranked if each.plan}


def test_no_noise_is_made_without_a_delta() -> None:
    request = replace(made(EDGES, 3, 4).request, delta=None)
    with pytest.raises(ParameterError, match="is needed by 'gaussian-projection'"):
        mechanism(NAME).epoch(request, 0)
