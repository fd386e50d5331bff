"""Objectives: what they come to, what follows them, and what is refused beforehand."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.factorisations.bordered import Bordered
from graphveil.mechanisms.factorisations.objectives import (
    COMPARED,
    DEFAULT,
    PLAIN,
    Aim,
    Mean,
    Objective,
    Relative,
    Windows,
    objective,
    registered,
)
from graphveil.mechanisms.factorisations.optimiser import aimed, optimised
from graphveil.mechanisms.mechanism import Epoch, Measured, Request, mechanism
from graphveil.mechanisms.mechanism import registered as known_mechanisms
from graphveil.mechanisms.planning.continuation import continued, renewed
from graphveil.mechanisms.planning.plan import Plan, achieved, span_deviations
from graphveil.noise.laws import DiscreteLaplace
from graphveil.series.planner import best, compare, plan
from graphveil.statistics.sensitivity import Moves, Recent, Sensitivity
from graphveil.statistics.statistic import statistic
from tries import sampled

EDGES, COMPONENTS, BOUND = statistic("edges"), statistic("components"), DegreeBound(10)
WIDE = Sensitivity(20, 20, 400, 1, frozenset(), "none", "none")
TEXTS = (
    "mean",
    "mean:equal",
    "mean:5,4,3,2,1,1,1,1,1,1,1,0.5",
    "relative",
    "relative:100,300",
    "relative:1,2,4,8,16,32,64,128,256,512,1024,2048",
    "last",
    "worst",
    "differences",
    "windows:3",
    "windows:12",
)  # fmt: skip


def test_every_objective_is_among_the_texts_that_are_tried() -> None:
    assert {text.partition(":")[0] for text in TEXTS} == registered().keys()
    assert {type(each) for each in COMPARED} | {Windows} == set(registered().values())
    assert all(kind.summary and kind.usage.startswith(name) for name, kind in registered().items())


@pytest.mark.parametrize("text", TEXTS)
def test_an_objective_is_read_as_it_is_written(text: str) -> None:
    found = objective(text)
    assert str(found) == text
    assert objective(f" {text} ") == found
    aim = found.aim(12)
    assert len(aim.weights) == 12
    assert sum(aim.weights) == pytest.approx(1)
    assert min(aim.weights) >= 0


def test_what_objectives_weigh() -> None:
    deviations = [1.0, 2.0, 4.0, 3.0]
    roots = np.array([1, 2**-0.5, 3**-0.5, 0.5])
    expected = {
        "mean": (roots * deviations).sum() / roots.sum(),
        "mean:equal": 2.5,
        "mean:0,0,1,1": 3.5,
        "relative": (1 + 2 / 2 + 4 / 3 + 3 / 4) / (1 + 1 / 2 + 1 / 3 + 1 / 4),
        "relative:1,4": (1 + 2 / 2 + 4 / 3 + 3 / 4) / (1 + 1 / 2 + 1 / 3 + 1 / 4),
        "relative:2,2,2,1": (1 + 2 + 4 + 2 * 3) / 5,
        "last": 3.0,
        "worst": 4.0,
        "differences": 2.5,
        "windows:3": 3.5,
    }
    for text, value in expected.items():
        assert objective(text).aim(4).value(deviations) == pytest.approx(value), text
    reaches = [objective(text).aim(4).reach for text in ("mean", "differences", "windows:3")]
    assert reaches == [4, 1, 3]


@pytest.mark.parametrize(
    ("text", "horizon", "complaint"),
    [
        ("men", 5, "Did you mean 'mean'"),
        ("average", 5, "Known: .*mean"),
        ("", 5, "Known: "),
        (5_000 * "x", 5, "Known: "),
        ("mean:", 5, "must be a number"),
        ("mean:1,2,3", 5, "3 weights for 5 releases"),
        ("mean:1,2,3", None, "known number of releases"),
        ("mean:1,-2,3,4,5", 5, "at least 0"),
        ("mean:0,0,0,0,0", 5, "one of them above 0"),
        ("mean:1,nan,3,4,5", 5, "must be a number"),
        ("mean:1,x,3,4,5", 5, "must be a number"),
        ("relative:1,2,3", 5, "3 expected totals for 5 releases"),
        ("relative:100,300", None, "known number of releases"),
        ("relative:0,300", 5, "above 0"),
        ("relative:300", 5, "the first and the last"),
        ("last", None, "known number of releases"),
        ("last:3", 5, "takes nothing"),
        ("worst:", 5, "takes nothing"),
        ("windows", 5, "windows:4"),
        ("windows:0", 5, "windows:4"),
        ("windows:-1", 5, "windows:4"),
        ("windows:2.5", 5, "windows:4"),
        ("windows:４", 5, "windows:4"),
        ("windows:" + 5_000 * "9", 5, "windows:4"),
        ("mean:" + 5_000 * "9", 1, "at most 400 digits"),
        ("mean:1e999999999", 1, "at most 400 digits"),
        ("windows:6", 5, "windows of 6 steps are longer than 5 releases"),
        ("windows:101", None, "longer than 100 releases"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, horizon: int | None, complaint: str) -> None:
    for name in ("auto", "sensdiff"):
        with pytest.raises(ParameterError, match=complaint) as refused:
            plan(EDGES, BOUND, epsilon=1, horizon=horizon, mechanism=name, minimise=text)
        assert len(str(refused.value)) < 300


@cache
def chosen(text: str, counted: str, steps: int) -> Plan:
    return plan(statistic(counted), BOUND, epsilon=1, horizon=steps, minimise=text)


@pytest.mark.parametrize("counted", ["edges", "components"])
@pytest.mark.parametrize("steps", [2, 5, 12, 30, 64])
@pytest.mark.parametrize("text", ["mean", "relative", "last", "worst", "differences", "windows:2"])
def test_nothing_is_worse_at_its_own_aim_than_what_is_good_on_average(
    text: str, counted: str, steps: int
) -> None:
    """To a thousandth, within which the simplest mechanism is taken."""
    usual = chosen("mean:equal", counted, steps)
    own = chosen(text, counted, steps)
    assert achieved(own) <= 1.001 * achieved(usual, objective(text))
    assert own.request.minimise == objective(text)


@pytest.mark.parametrize("steps", [3, 10, 20, 37, 100])
def test_the_optimiser_itself_is_never_worse_than_for_the_mean(steps: int) -> None:
    usual = optimised(steps)
    for text in ("mean", "relative", "last", "worst", "differences", f"windows:{steps // 2}"):
        aim = objective(text).aim(steps)
        own = optimised(steps, aim)
        error, most = (each.column_l1() * aimed(each, aim) for each in (own, usual))
        assert error <= most * 1.00001, text


@pytest.mark.parametrize(
    ("steps", "mean", "relative"), [(20, 0.91, 1.02), (50, 0.75, 0.97), (100, 0.64, 0.88)]
)
def test_the_default_is_good_on_average_and_relatively(
    steps: int, mean: float, relative: float
) -> None:
    """Against SensDiff: nearly the best on average, and hardly ever worse in relative error."""
    found = optimised(steps, DEFAULT.aim(steps))
    for text, most in (("mean:equal", mean), ("relative", relative)):
        aim = objective(text).aim(steps)
        against = aim.value(np.sqrt(np.arange(1, steps + 1)))
        assert found.column_l1() * aimed(found, aim) <= (most + 0.005) * against


def test_known_optima_are_found() -> None:
    """One total alone needs one noise; fresh noise on differences is the best for these."""
    for steps in (4, 20, 60):
        last = optimised(steps, objective("last").aim(steps))
        assert last.column_l1() * np.sqrt(last.decoder_squares()[-1]) <= 1.06
        assert chosen("differences", "edges", steps).mechanism.name == "sensdiff"
        assert chosen("windows:1", "edges", steps).mechanism.name == "sensdiff"


# Thresholds that follow have no spans: what is new between two of them has no error of its own.
MEMBERS = sorted(name for name, each in known_mechanisms().items() if not each.follows)


def made(name: str, text: str, steps: int = 12) -> Plan:
    """A plan of any mechanism, wide enough for rounding to matter little."""
    member = mechanism(name)
    delta = None if member.pure else Fraction(1, 1000)
    request = Request(
        WIDE, Fraction(1), delta, steps, projected_l1=20, projected_rises=True,
        shape=Recent(4, 5, 5) if member.measured is Measured.RECENT else Moves(10, 10),
        minimise=objective(text),
    )  # fmt: skip
    return Plan.of(member, request)


@pytest.mark.parametrize("name", sampled(MEMBERS, 3))
def test_predictions_agree_with_simulation_under_every_objective(name: str) -> None:
    for text in ("mean", "last", "differences", "windows:3"):
        found = made(name, text)
        noise = simulate(found, 60_000, np.random.default_rng(7), 12).astype(float)
        aim = found.request.minimise.aim(12)
        earlier = np.pad(noise, ((0, 0), (aim.reach, 0)))[:, :12]
        measured = np.sqrt(((noise - earlier) ** 2).mean(axis=0))
        assert achieved(found) == pytest.approx(aim.value(measured), rel=0.015), text


@pytest.mark.parametrize("name", MEMBERS)
def test_totals_are_the_spans_that_reach_the_beginning(name: str) -> None:
    found = made(name, "mean:equal")
    spans = span_deviations(found, Aim((1 / 12,) * 12, 12))
    np.testing.assert_allclose(spans, found.predicted, rtol=1e-3)


def test_spans_reach_over_several_epochs() -> None:
    found = Plan.of(mechanism("epochs"), Request(WIDE, Fraction(1), None, None))
    noise = simulate(found, 40_000, np.random.default_rng(3), 100).astype(float)
    for reach in (3, 30):
        measured = np.sqrt(((noise[:, reach:] - noise[:, :-reach]) ** 2).mean(axis=0))
        predicted = span_deviations(found, Aim((0.01,) * 100, reach))
        np.testing.assert_allclose(predicted[reach:], measured, rtol=0.03)


@pytest.mark.parametrize("text", TEXTS)
def test_a_plan_keeps_its_objective(text: str) -> None:
    found = plan(COMPONENTS, BOUND, epsilon=1, horizon=12, minimise=text)
    stored = json.loads(json.dumps(found.to_dict()))
    assert Plan.from_dict(stored) == found
    assert stored["request"].get("minimise", "mean:equal") == text


def test_plans_that_say_nothing_are_as_they_were() -> None:
    request = Request(WIDE, Fraction(1), None, 12)
    assert request.minimise == PLAIN
    assert "minimise" not in request.to_dict()
    again = optimised.__wrapped__(12)
    assert Plan.of(mechanism("optimised"), request).epoch(0).factorisation == again


@pytest.mark.parametrize(
    ("text", "kept"),
    [("mean", True), ("last", True), ("windows:5", True), ("mean:" + "1," * 11 + "3", False)],
)
def test_going_on_keeps_what_still_fits(text: str, kept: bool) -> None:
    found = plan(EDGES, BOUND, epsilon=1, horizon=12, minimise=text, mechanism="optimised")
    longer = continued(found, 20)
    assert longer.request.minimise == (objective(text) if kept else PLAIN)
    assert len(longer.predicted) == 32
    fresh = renewed(found, 3)
    assert fresh.epochs[-1].steps == 9


@given(
    steps=st.integers(1, 15),
    weights=st.lists(st.fractions(0, 5, max_denominator=20), min_size=15, max_size=15),
)
@settings(max_examples=15, deadline=None)
def test_any_weights_have_a_plan_that_is_as_good_as_sensdiff(
    steps: int, weights: list[Fraction]
) -> None:
    given_weights = tuple(weights[:steps])
    if not any(given_weights):
        return
    wanted = Mean(given_weights)
    prospects = compare(EDGES, BOUND, epsilon=1, horizon=steps, minimise=wanted)
    plain = next(each.plan for each in prospects if each.name == "sensdiff")
    assert plain is not None
    assert achieved(best(prospects)) <= 1.001 * achieved(plain)
    assert objective(str(wanted)) == wanted


def test_objectives_are_values() -> None:
    listed: list[Objective] = [objective(text) for text in TEXTS]
    assert all((a == b) == (i == j) for (i, a), (j, b) in product(enumerate(listed), repeat=2))
    assert Relative((Fraction(1), Fraction(3))).aim(3) == Relative(
        (Fraction(1), Fraction(2), Fraction(3))
    ).aim(3)


def test_the_first_span_has_the_noise_of_the_first_release_and_its_rounding() -> None:
    law, aim = DiscreteLaplace(Fraction(7)), Aim((0.5, 0.5), 2)
    request = plan(statistic("nodes"), DegreeBound(2), epsilon=1, horizon=2).request
    for matrix, variance in ((Bordered((1, 1)), law.variance()), (Bordered((7, 7)), None)):
        made = Plan(mechanism("sensdiff"), request, (Epoch(matrix, law),))
        wanted = law.variance() / 49 + 1 / 12 if variance is None else variance
        assert span_deviations(made, aim)[0] ** 2 == pytest.approx(wanted)


SKEW = Bordered((1, 1, 1), ((1, 1, 1),), ((0,), (1,), (3,)), 3)  # no two rows are alike


@pytest.mark.parametrize("name", ["sensdiff", "compose-d-bounded"])
@pytest.mark.parametrize("reach", range(1, 10))
def test_a_span_over_epochs_has_the_noise_of_all_that_its_ends_do_not_share(
    name: str, reach: int
) -> None:
    """Every noise with its weight in the later end less that in the earlier one."""
    laws = [DiscreteLaplace(Fraction(scale)) for scale in (7, 40, 90)]
    request = Request(EDGES.sensitivity(BOUND), Fraction(1), horizon=9)
    found = Plan(mechanism(name), request, tuple(Epoch(SKEW, law) for law in laws))
    rows, own = SKEW.decoder(), SKEW.measurements
    weights = np.zeros((9, 3 * own))
    for step in range(9):
        for earlier in range(step // 3 if found.mechanism.adds_up else 0):
            weights[step, earlier * own : (earlier + 1) * own] = rows[-1]
        weights[step, step // 3 * own : (step // 3 + 1) * own] = rows[step % 3]
    rounded = np.tile(~SKEW.integral_steps(), 3) / 12
    each = np.repeat([law.variance() for law in laws], own)
    variances = span_deviations(found, Aim((1 / 9,) * 9, reach)) ** 2
    spans = weights - np.pad(weights, ((reach, 0), (0, 0)))[:9]
    expected = spans**2 @ each + rounded + np.pad(rounded, (reach, 0))[:9]
    np.testing.assert_allclose(variances, expected, rtol=1e-9)
