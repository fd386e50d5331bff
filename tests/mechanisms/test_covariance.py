"""The noise of a whole history: against simulation of every mechanism, and in both of its forms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.factorisations.bordered import least_squares
from graphveil.mechanisms.factorisations.factorisation import Totals
from graphveil.mechanisms.mechanism import Epoch
from graphveil.mechanisms.planning.continuation import continued, renewed
from graphveil.mechanisms.planning.covariance import (
    _bordered,
    covariance,
    has_noise_of_its_own,
    news_precision,
    own_covariance,
    precision_rows,
)
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import RangeNoise
from graphveil.series.planner import compare, plan
from graphveil.statistics.statistic import statistic

STEPS = 9


def plans() -> dict[str, Plan]:
    counted, bound = statistic("high-degree", tau=1), DegreeBound(2)
    compared = compare(
        counted, bound, epsilon="0.3", delta="0.001", horizon=STEPS, projection=DegreeBound(2)
    )
    found = {each.plan.mechanism.name: each.plan for each in compared if each.plan}
    links = statistic("edges")
    found["range"] = plan(
        links, bound, epsilon="0.3", horizon=STEPS, mechanism="range-projection",
        projection=DegreeBound(3),
    )  # fmt: skip
    found["recent"] = plan(links.recent(4), bound, epsilon="0.3", horizon=STEPS)
    found["unknown horizon"] = plan(links, bound, epsilon="0.3", horizon=None)
    four = plan(links, bound, epsilon="0.3", horizon=4, mechanism="optimised")
    found["continued"] = continued(four, STEPS - 4)
    nine = plan(links, bound, epsilon="0.3", horizon=STEPS, mechanism="bridged")
    found["cut"] = renewed(nine, 5)
    return found


PLANS = plans()
ADDING = {name: each for name, each in PLANS.items() if each.mechanism.adds_up}
EVERY_PLAN = pytest.mark.parametrize("each", PLANS.values(), ids=PLANS)


def test_there_is_a_plan_of_every_kind() -> None:
    kinds = {type(PLANS[name].epoch(0).factorisation).__name__ for name in PLANS}
    assert kinds == {"Bordered", "Dyadic", "ScaledToeplitz", "Totals"}
    assert PLANS["cut"].epochs[0].cut == 5
    assert len(PLANS["continued"].epochs) == 2


@EVERY_PLAN
def test_the_covariance_is_that_of_simulated_noise(each: Plan) -> None:
    noise = simulate(each, 20_000, np.random.default_rng(3), STEPS).astype(np.float64)
    found = covariance(each, STEPS)
    measured = noise.T @ noise / len(noise)
    scale = np.sqrt(np.outer(np.diag(found), np.diag(found)))
    assert np.abs((measured - found) / scale).max() < 0.06


@EVERY_PLAN
def test_variances_are_those_that_were_predicted(each: Plan) -> None:
    deviations = np.sqrt(np.diag(covariance(each, STEPS)))
    assert deviations == pytest.approx(each.standard_deviations(STEPS), rel=2e-3)


@EVERY_PLAN
def test_a_shorter_history_is_the_beginning_of_a_longer_one(each: Plan) -> None:
    whole = covariance(each, STEPS)
    for steps in (1, 4, 6):
        assert covariance(each, steps) == pytest.approx(whole[:steps, :steps])


@pytest.mark.parametrize("each", ADDING.values(), ids=ADDING)
@pytest.mark.parametrize("steps", [1, 4, 6, STEPS])
def test_the_precision_of_what_is_new_is_the_inverse_of_its_covariance(
    each: Plan, steps: int
) -> None:
    found = news_precision(each, steps)
    matrix = np.array([found.times(unit) for unit in np.eye(steps)])
    news = np.diff(np.diff(covariance(each, steps), axis=0, prepend=0), axis=1, prepend=0)
    assert matrix @ news == pytest.approx(np.eye(steps), abs=5e-3)  # the rest is rounding
    free = np.arange(steps) % 3 != 1
    wanted = np.linspace(-1, 2, steps)
    solved = found.solved(free, wanted)
    assert not solved[~free].any()
    assert (matrix @ solved)[free] == pytest.approx(wanted[free])


def test_little_noise_is_rounded_where_its_decoder_is_not_whole() -> None:
    counted = statistic("edges")
    made = plan(
        counted, DegreeBound(2), epsilon="9", delta="0.001", horizon=9, mechanism="gaussian"
    )
    epoch = made.epoch(0)
    rounded = ~epoch.factorisation.integral_steps()
    assert rounded.any()
    expected = own_covariance(epoch) + np.diag(rounded / 12)
    assert covariance(made, STEPS) == pytest.approx(expected, rel=1e-12)


def test_a_cut_epoch_has_the_noise_of_the_steps_that_it_had() -> None:
    assert own_covariance(PLANS["cut"].epochs[0]).shape == (5, 5)


def test_which_releases_have_noise_of_their_own() -> None:
    """None whose noise adds up, and none whose law ties them together."""
    alone = {name for name, each in PLANS.items() if has_noise_of_its_own(each, STEPS)}
    assert alone == {
        "compose-d-bounded", "compose-projection", "sensseq-d-bounded", "sensseq-projection",
        "box-projection", "gaussian-projection",
    }  # fmt: skip
    for name in alone:
        matrix = covariance(PLANS[name], STEPS)
        assert (matrix == np.diag(np.diag(matrix))).all()
    two = Epoch(Totals(2), RangeNoise(Fraction(5), 2))
    assert not has_noise_of_its_own(replace(PLANS["range"], epochs=(two,)), 2)
    single, together = PLANS["compose-d-bounded"].epochs[0], PLANS["range"].epochs[0]
    for epochs in ((single, together), (single, single, together), (together, single)):
        mixed = replace(PLANS["range"], epochs=epochs)
        assert has_noise_of_its_own(mixed, 1) == (epochs[0] is single)
        assert not has_noise_of_its_own(mixed, len(epochs))


def test_the_precision_of_what_is_new_is_found_from_any_totals() -> None:
    root = np.tril(np.random.default_rng(8).normal(0, 1, (5, 5))) + 2 * np.eye(5)
    totals, news = root @ root.T, np.eye(5) - np.eye(5, k=-1)
    rows = precision_rows(totals)
    assert rows.T @ rows @ (news @ totals @ news.T) == pytest.approx(np.eye(5), abs=1e-9)


@pytest.mark.parametrize("made", [3, 11, 20])
def test_rows_that_overlap_later_steps_are_known_in_part(made: int) -> None:
    """Each of them is a sum that goes on: what is known of it now depends on the others."""
    rows = ((1,) * 24, tuple(range(1, 25)), tuple(1 + step % 3 for step in range(24)))
    best = least_squares((1,) * 24, rows)
    diagonal, found = _bordered(best, 2.0, made)
    precision = np.diag(diagonal) + found.T @ found
    expected = 2.0 * (best.decoder() @ best.decoder().T)[:made, :made]
    news = np.eye(made) - np.eye(made, k=-1)
    assert precision @ (news @ expected @ news.T) == pytest.approx(np.eye(made), abs=1e-3)
