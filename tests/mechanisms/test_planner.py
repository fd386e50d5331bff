"""The planner: predictions against simulation, the choice, its limits, storage."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import NewerFormatError, ParameterError
from graphveil.graph.promises import Bound, DegreeBound, InOutBound, NoBound
from graphveil.lab.simulation import SimulationNoise, simulate
from graphveil.mechanisms.factorisations.bordered import Bordered
from graphveil.mechanisms.laplace import SensDiff
from graphveil.mechanisms.mechanism import Epoch, Measured, Request, registered
from graphveil.mechanisms.planning.continuation import continued
from graphveil.mechanisms.planning.intervals import interval
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.exact_numbers import as_text
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace
from graphveil.series.planner import NO_PROMISE, NO_THRESHOLD, Prospect, best, compare, plan
from graphveil.series.state import advance, start
from graphveil.statistics.statistic import Statistic, statistic

NODES = statistic("nodes")  # one person changes 1, whatever the bound
BOUND = DegreeBound(3)


def admissible(**given: Any) -> list[Plan]:
    return [each.plan for each in compare(NODES, BOUND, **given) if each.plan]


@pytest.mark.parametrize(
    ("horizon", "most"), [(8, 2.89), (20, 3.95), (50, 5.1), (100, 6.1), (365, 8.5), (1000, 11.0)]
)
def test_auto_reaches_the_targets(horizon: int, most: float) -> None:
    chosen = plan(NODES, BOUND, epsilon=1, horizon=horizon, minimise="mean:equal")
    assert chosen.mean_std <= most


def test_auto_reaches_the_target_of_an_unknown_horizon() -> None:
    found = plan(NODES, BOUND, epsilon=1, horizon=None)
    assert np.mean(found.standard_deviations(100)) <= 8.0
    assert not found.mechanism.needs_horizon


def test_on_few_steps_sensdiff_is_best_and_simplest() -> None:
    assert plan(NODES, BOUND, epsilon=1, horizon=8).mechanism.name == "sensdiff"


@pytest.mark.parametrize(("horizon", "epsilon"), [(20, "1"), (5, "0.2"), (12, "3"), (1, "2")])
def test_predictions_match_simulation(horizon: int, epsilon: str) -> None:
    for found in admissible(epsilon=epsilon, delta="0.001", horizon=horizon):
        noise = simulate(found, 40_000, np.random.default_rng(11))
        ratio = noise.std(axis=0) / np.array(found.predicted)
        assert np.abs(ratio - 1).max() < 0.03, found.mechanism.name
        assert abs(ratio.mean() - 1) < 0.02, found.mechanism.name


@pytest.mark.parametrize("epsilon", [5, 10])
def test_predictions_of_small_rounded_noise_match_simulation(epsilon: int) -> None:
    """Noise so small that rounding takes away more than it adds."""
    request = Request(NODES.sensitivity(BOUND), Fraction(epsilon))
    shapes = [
        Bordered((7, 9, 11), ((3, 1, 2),), ((40,), (70,), (101,)), 1001),
        Bordered((1, 1, 1, 1), ((1, 1, 1, 1),), ((1,), (2,), (3,), (4,)), 5),
        Bordered((1023,) * 12),
    ]
    for shape in shapes:
        law = DiscreteLaplace(Fraction(shape.column_l1(), epsilon))
        found = Plan(SensDiff(), request, (Epoch(shape, law),) * 2)
        steps = 2 * shape.steps
        noise = simulate(found, 400_000, np.random.default_rng(3), steps)
        predicted = np.array(found.standard_deviations(steps))
        assert np.sqrt(noise.var(axis=0).mean() / (predicted**2).mean()) == pytest.approx(
            1, abs=0.02
        )


def test_whole_noise_is_predicted_without_rounding() -> None:
    found = plan(NODES, BOUND, epsilon=10, horizon=4, mechanism="sensdiff")
    single = DiscreteLaplace(Fraction(1, 10)).variance()
    assert found.predicted == pytest.approx([(t * single) ** 0.5 for t in range(1, 5)])


def test_auto_is_the_smallest_and_never_projects() -> None:
    edges = statistic("edges")
    prospects = compare(edges, DegreeBound(30), epsilon=1, horizon=3, projection=DegreeBound(1))
    means = {each.name: each.plan.mean_std for each in prospects if each.plan}
    assert list(means) == sorted(means, key=lambda name: (means[name], name))
    assert {"compose-projection", "sensseq-projection"} <= means.keys()
    assert prospects[0].plan, "every one that has a plan comes before those that have none"
    assert prospects[0].plan.mechanism.projects, "the test needs one that would win"
    chosen = best(prospects)
    assert chosen.mechanism.measured is not Measured.PROJECTED_TOTALS
    others = [m for name, m in means.items() if "projection" not in name]
    assert chosen.mean_std <= 1.001 * min(others)


def test_every_mechanism_is_listed_once_with_a_plan_or_a_reason() -> None:
    prospects = compare(NODES, BOUND, epsilon=1, horizon=None)
    assert sorted(each.name for each in prospects) == sorted(registered())
    for each in prospects:
        assert (each.plan is None) == (each.reason is not None)
        assert bool(each.std) == (each.plan is not None)


def test_delta_admits_gaussian_beside_the_pure_ones() -> None:
    ccdf = statistic("degree-ccdf")
    with_delta = compare(ccdf, DegreeBound(10), epsilon=1, delta="1e-6", horizon=20)
    pure = {
        each.name for each in compare(ccdf, DegreeBound(10), epsilon=1, horizon=20) if each.plan
    }
    assert {each.name for each in with_delta if each.plan} == pure | {"gaussian"}
    chosen = best(with_delta)
    assert chosen.mechanism.name == "gaussian"
    assert chosen.request.delta == Fraction(1, 10**6)
    named = plan(NODES, BOUND, epsilon=1, delta="1e-6", horizon=3, mechanism="sensdiff")
    assert named.request.delta is None, "sensdiff gives pure ε"


@pytest.mark.parametrize(
    ("what", "bound", "width"),
    [
        (statistic("edges"), DegreeBound(7), 1),
        (statistic("degree-ccdf"), DegreeBound(7), 8),
        (statistic("degree-histogram"), DegreeBound(7), 8),
        (statistic("out-degree-histogram"), InOutBound(4, 6), 7),
        (statistic("in-degree-ccdf"), InOutBound(4, 6), 5),
    ],
)
def test_the_width_follows_from_the_bound(what: Statistic, bound: Bound, width: int) -> None:
    assert what.width(bound) == width
    assert plan(what, bound, epsilon=1, horizon=2).request.width == width


def test_a_plan_goes_on_past_its_horizon_with_new_epochs() -> None:
    short = plan(NODES, BOUND, epsilon=1, horizon=12, mechanism="optimised")
    longer = continued(short, 10)
    assert longer.epochs[: len(short.epochs)] == short.epochs
    assert longer.request.horizon == 22
    assert longer.predicted[:12] == pytest.approx(short.predicted)
    noise = simulate(longer, 40_000, np.random.default_rng(2))
    assert np.abs(noise.std(axis=0) / np.array(longer.predicted) - 1).max() < 0.03
    for epoch in longer.epochs:  # each has the full ε
        assert isinstance(epoch.law, DiscreteLaplace)
        assert epoch.law.scale >= epoch.factorisation.column_l1()


def test_a_running_series_changes_over_to_the_longer_plan() -> None:
    short = plan(NODES, BOUND, epsilon=1, horizon=3, mechanism="tree")
    source, state = SimulationNoise(np.random.default_rng(1)), start(short)
    for _ in range(3):
        _, state = advance(short, state, [5], source)
    with pytest.raises(ParameterError, match="`continued`"):
        advance(short, state, [5], source)
    raw, _ = advance(continued(short, 2), state, [5], source)
    assert abs(raw[0] - 20) < 500


def test_spare_steps_of_the_last_epoch_are_used_first() -> None:
    short = plan(NODES, BOUND, epsilon=1, horizon=10, mechanism="epochs")
    assert continued(short, 6).epochs == short.epochs
    assert len(continued(short, 7).epochs) == len(short.epochs) + 1


def test_a_plan_without_a_horizon_goes_on_by_itself() -> None:
    with pytest.raises(ParameterError, match="horizon"):
        continued(plan(NODES, BOUND, epsilon=1, horizon=None, mechanism="sensdiff"), 2)


@pytest.mark.parametrize("more", [0, -1, True, 1.5])
def test_going_on_needs_whole_steps(more: int) -> None:
    with pytest.raises(ParameterError, match="more_steps"):
        continued(plan(NODES, BOUND, epsilon=1, horizon=3), more)


@pytest.mark.parametrize("horizon", [1, 14, None])
def test_plans_survive_storage(horizon: int | None) -> None:
    for found in admissible(epsilon="1/3", delta="1e-6", horizon=horizon):
        stored = json.loads(json.dumps(found.to_dict()))
        again = Plan.from_dict(stored)
        assert again == found, found.mechanism.name
        assert again.predicted == found.predicted
        assert len(json.dumps(stored)) < 20_000


def test_a_plan_of_another_format_is_refused() -> None:
    stored = plan(NODES, BOUND, epsilon=1, horizon=2).to_dict() | {"format": 99}
    with pytest.raises(NewerFormatError, match="format 99"):
        Plan.from_dict(stored)


def test_equal_epochs_are_stored_once() -> None:
    stored = plan(NODES, BOUND, epsilon=1, horizon=500, mechanism="sensdiff").to_dict()
    assert [entry["times"] for entry in stored["epochs"]] == [500]


def test_a_plan_tells_what_it_is() -> None:
    found = plan(statistic("edges"), DegreeBound(15), epsilon="0.5", horizon=4)
    said = repr(found)
    assert len(said) < 250
    for part in ("edges", "degree at most 15", "sensdiff", "ε = 0.5", "4 releases"):
        assert part in said
    gaussian = plan(NODES, BOUND, epsilon=1, delta="1e-6", horizon=None, mechanism="gaussian")
    assert "δ = 0.000001" in gaussian.describe()
    assert "any number of releases" in gaussian.describe()


def test_a_warning_where_noise_drowns_the_signal() -> None:
    found = plan(statistic("edges"), DegreeBound(15), epsilon=1, horizon=20)
    warning = found.warning(100)
    assert warning is not None
    assert "larger ε" in warning
    assert found.warning(100_000) is None
    for expected in (0, -4, True):
        with pytest.raises(ParameterError, match="expected"):
            found.warning(expected)


@pytest.mark.parametrize(
    ("changed", "parameter"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "one"}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": "2"}, "delta"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": -3}, "horizon"),
        ({"horizon": 2.5}, "horizon"),
        ({"horizon": True}, "horizon"),
        ({"mechanism": "sensdif"}, "Did you mean 'sensdiff'"),
        ({"mechanism": "gaussian"}, "needs a δ"),
        ({"mechanism": "tree", "horizon": None}, "known horizon"),
        ({"mechanism": "compose-projection"}, "projection threshold"),
    ],
)
def test_bad_parameters_are_named(changed: dict[str, Any], parameter: str) -> None:
    given: dict[str, Any] = {"epsilon": "1", "horizon": 3} | changed
    with pytest.raises(ParameterError, match=parameter):
        plan(NODES, BOUND, **given)


def test_projection_that_no_proof_covers_is_refused() -> None:
    with pytest.raises(ParameterError, match="no known sensitivity after projection"):
        plan(
            statistic("triangles"),
            DegreeBound(5),
            epsilon=1,
            horizon=3,
            mechanism="compose-projection",
            projection=DegreeBound(3),
        )


def test_thresholds_over_the_bound_are_refused() -> None:
    with pytest.raises(ParameterError, match="tau"):
        plan(statistic("high-degree", tau=9), DegreeBound(8), epsilon=1, horizon=3)


@given(spread=st.fractions(min_value=Fraction(1, 50), max_value=30))
def test_gaussian_variance_is_that_of_its_probabilities(spread: Fraction) -> None:
    k = np.arange(-300, 301)
    weights = np.exp(-(k**2) / (2 * float(spread)))
    exact = (k**2 * weights).sum() / weights.sum()
    assert DiscreteGaussian(spread).variance() == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("number", "text"),
    [("0.1", "0.1"), ("1e-6", "0.000001"), ("1/3", "1/3"), ("20", "20"), ("5/2", "2.5")],
)
def test_numbers_are_written_as_they_would_be_typed(number: str, text: str) -> None:
    assert as_text(Fraction(number)) == text


@pytest.mark.parametrize("epsilon", ["1e3", "1e6", "1e12"])
@pytest.mark.parametrize("mechanism", ["auto", "optimised", "tree"])
def test_an_absurdly_large_epsilon_means_no_noise_and_no_crash(
    epsilon: str, mechanism: str
) -> None:
    chosen = plan(
        statistic("edges"), DegreeBound(10), epsilon=epsilon, horizon=12, mechanism=mechanism
    )
    assert all(0 <= deviation < 0.5 for deviation in chosen.standard_deviations())
    low, high = interval(chosen, 11, 50, "0.95")
    assert low <= 50 <= high <= low + 4


def test_a_long_plan_is_made_once_and_a_different_one_is_another() -> None:
    asked: dict[str, Any] = {"epsilon": "1/3", "horizon": 41, "mechanism": "optimised"}
    assert plan(NODES, BOUND, **asked) is plan(NODES, BOUND, **asked)
    for other in ({"epsilon": "1/4"}, {"horizon": 42}, {"mechanism": "tree"}):
        assert plan(NODES, BOUND, **asked | other) != plan(NODES, BOUND, **asked)
    assert plan(statistic("edges"), BOUND, **asked) != plan(NODES, BOUND, **asked)


def test_plans_of_unknown_length_share_nothing() -> None:
    asked: dict[str, Any] = {"epsilon": "1/3", "horizon": None, "mechanism": "epochs"}
    assert plan(NODES, BOUND, **asked) is not plan(NODES, BOUND, **asked)


@pytest.mark.parametrize("horizon", [0, -1, True, 2.5])
def test_a_series_has_at_least_one_release(horizon: Any) -> None:
    with pytest.raises(ParameterError, match="horizon: must be a whole number of at least 1"):
        plan(NODES, BOUND, epsilon=1, horizon=horizon)


def test_with_a_threshold_only_what_projects_is_chosen() -> None:
    edges = statistic("edges")
    chosen = plan(edges, BOUND, epsilon=1, horizon=3, projection=DegreeBound(2))
    assert chosen.mechanism.projects
    assert chosen.request.shape is None  # of differences: it has its own, of projected totals
    assert not plan(edges, BOUND, epsilon=1, horizon=3).mechanism.projects


@pytest.mark.parametrize(
    ("what", "horizon", "why"),
    [
        (statistic("edges").recent(2), 3, "projection: does not go with a window"),
        (statistic("triangles"), 3, "projection: nothing is known about 'triangles' after"),
        (statistic("edges"), None, "horizon: must be known where a series projects"),
    ],
)
def test_what_cannot_be_projected_is_refused_with_the_reason(
    what: Statistic, horizon: int | None, why: str
) -> None:
    with pytest.raises(ParameterError, match=why):
        plan(what, BOUND, epsilon=1, horizon=horizon, projection=DegreeBound(2))


def test_without_a_promise_only_what_needs_none_is_planned() -> None:
    for each in compare(statistic("edges"), NoBound(), epsilon=1, horizon=3):
        wanted = NO_THRESHOLD if registered()[each.name].projects else NO_PROMISE
        assert each.reason == wanted
    assert plan(NODES, NoBound(), epsilon=1, horizon=3).request.sensitivity.l1 == 1


def test_where_nothing_is_possible_each_reason_is_told_once() -> None:
    reasons = ["needs b", "needs a", NO_THRESHOLD, "needs b"]
    prospects = [Prospect(f"m{n}", "", None, each) for n, each in enumerate(reasons)]
    projecting = plan(statistic("edges"), BOUND, epsilon=1, horizon=3, projection=BOUND)
    with pytest.raises(ParameterError, match="none is possible: each needs a or needs b"):
        best([*prospects, Prospect("projects", "", projecting)])
