"""Plans: what is predicted is what the exact matrices and laws give, for every mechanism."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import count, islice
from math import ceil, floor, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.errors import NewerFormatError, ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.mechanisms.factorisations.bordered import Bordered, Dyadic
from graphveil.mechanisms.factorisations.factorisation import Factorisation, Totals
from graphveil.mechanisms.mechanism import (
    Epoch,
    Measured,
    Mechanism,
    Request,
    mechanism,
    registered,
)
from graphveil.mechanisms.planning.continuation import continued
from graphveil.mechanisms.planning.intervals import noise_of
from graphveil.mechanisms.planning.plan import Plan, achieved
from graphveil.mechanisms.planning.shares import equal_shares, weighted_shares
from graphveil.noise.joint_laws import RangeNoise
from graphveil.noise.laws import DiscreteLaplace, Law
from graphveil.noise.noise_sum import NoiseSum
from graphveil.series.planner import _complexity, best, compare, plan
from graphveil.statistics.sensitivity import Moves, Recent
from graphveil.statistics.statistic import statistic

NAMES = sorted(registered())
CONTINUABLE = [name for name in NAMES if name not in ("moves", "following") and "-" not in name]
CONTINUABLE += ["recent-blocks", "recent-gaussian"]
RECENT = Recent(window=4, height=3, span=3)
SHAPE = Moves(3, 3)  # of something that is not edges, for mechanisms that need moves
# The others, of joint noise: test_shaped.py and test_recent_mechanisms.py.
SINGLE = [name for name in NAMES if not mechanism(name).whole and name != "recent-blocks"]
EDGES = statistic("edges").sensitivity(DegreeBound(6))
horizons = st.integers(1, 14)
epsilons = st.fractions(min_value=Fraction(1, 20), max_value=2, max_denominator=40)


def asked(member: Mechanism, horizon: int | None, epsilon: Fraction = Fraction(1, 2)) -> Request:
    delta = None if member.pure else Fraction(1, 10**6)
    shape = RECENT if member.measured is Measured.RECENT else SHAPE
    return Request(
        EDGES, epsilon, delta, horizon, projected_l1=6, projected_rises=True, shape=shape,
        guess=(100,) if member.follows else None,
    )  # fmt: skip


def planned(name: str, horizon: int | None, epsilon: Fraction = Fraction(1, 2)) -> Plan:
    return Plan.of(mechanism(name), asked(mechanism(name), horizon, epsilon))


def exact_rows(factorisation: Factorisation) -> list[list[Fraction]]:
    size = factorisation.measurements
    units = [[int(i == place) for i in range(size)] for place in range(size)]
    return [list(row) for row in zip(*map(factorisation.decode, units), strict=True)]


def variances(made: Plan) -> Iterator[float]:
    """The variance of each release: noise of all epochs so far, and 1/12 where it is rounded."""
    before, whole = 0.0, True
    for number in count():
        epoch = made.epoch(number)
        assert isinstance(epoch.law, Law)
        for row in exact_rows(epoch.factorisation):
            spread = before + epoch.law.variance() * float(sum(entry**2 for entry in row))
            integral = whole and all(entry.denominator == 1 for entry in row)
            yield spread if integral else spread + 1 / 12
        if made.mechanism.adds_up:
            before, whole = (spread, integral)


def require_predicted(made: Plan, steps: int) -> None:
    wanted = [sqrt(variance) for variance in islice(variances(made), steps)]
    assert made.standard_deviations(steps) == pytest.approx(wanted, rel=2e-3)
    assert min(wanted) > 2  # wide enough for rounding to add just 1/12


@pytest.mark.parametrize("name", SINGLE)
@given(horizon=horizons)
@settings(max_examples=8)
def test_predictions_follow_from_the_exact_decoder(name: str, horizon: int) -> None:
    require_predicted(planned(name, horizon), horizon)


@pytest.mark.parametrize("name", [n for n in SINGLE if not mechanism(n).needs_horizon])
def test_predictions_hold_over_epochs_of_unknown_length(name: str) -> None:
    require_predicted(planned(name, None), 40)


def test_a_prediction_without_the_stretch_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    made = planned("bridged", 12)
    require_predicted(made, 12)
    monkeypatch.setattr(Bordered, "decoder_squares", lambda self: self._floats[0].cumsum())
    with pytest.raises(AssertionError):
        require_predicted(planned("bridged", 12), 12)


@pytest.mark.parametrize("name", NAMES)
@given(horizon=horizons, epsilon=epsilons)
@settings(max_examples=8)
def test_plans_of_every_mechanism_survive_storage(
    name: str, horizon: int, epsilon: Fraction
) -> None:
    made = planned(name, horizon, epsilon)
    again = Plan.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again == made
    assert again.epochs == made.epochs
    assert again.predicted == made.predicted


@pytest.mark.parametrize("name", NAMES)
def test_each_release_is_predicted_as_all_of_them_are(name: str) -> None:
    made = planned(name, 9)
    whole = made.standard_deviations()
    assert len(whole) == 9
    assert [made.standard_deviation(place) for place in range(9)] == whole
    assert made.standard_deviations(4) == whole[:4]
    assert made.mean_std == pytest.approx(sum(whole) / 9)
    assert made.last_std == whole[-1]


@pytest.mark.parametrize("name", NAMES)
@given(horizon=horizons, epsilon=epsilons)
@settings(max_examples=8)
def test_half_the_budget_is_never_better(name: str, horizon: int, epsilon: Fraction) -> None:
    full, half = planned(name, horizon, epsilon), planned(name, horizon, epsilon / 2)
    assert all(a < b for a, b in zip(full.predicted, half.predicted, strict=True))


@given(name=st.sampled_from(CONTINUABLE), horizon=horizons, more=st.integers(1, 20))
def test_going_on_changes_nothing_that_was_planned(name: str, horizon: int, more: int) -> None:
    made = planned(name, horizon)
    longer = continued(made, more)
    assert longer.epochs[: len(made.epochs)] == made.epochs
    assert sum(epoch.steps for epoch in longer.epochs) >= horizon + more
    assert longer.request == replace(made.request, horizon=horizon + more)
    assert longer.standard_deviations(horizon) == made.standard_deviations(horizon)
    if name in SINGLE:
        require_predicted(longer, horizon + more)


@pytest.mark.parametrize("name", [name for name in NAMES if mechanism(name).pure])
def test_a_plan_goes_on_for_nothing_where_differences_of_any_shape_are_measured(name: str) -> None:
    made = planned(name, 5)
    assert (continued(made, 1).request.epsilon == made.request.epsilon) == (name in CONTINUABLE)


@given(horizon=st.none() | horizons, epsilon=epsilons, private=st.booleans())
@settings(max_examples=15)
def test_auto_is_as_good_as_the_best_that_admits_the_request(
    horizon: int | None, epsilon: Fraction, private: bool
) -> None:
    chosen, bound = statistic("degree-ccdf"), DegreeBound(3)
    delta = "1e-6" if private else None
    prospects = compare(chosen, bound, epsilon=epsilon, delta=delta, horizon=horizon)
    found = best(prospects)
    assert found == plan(chosen, bound, epsilon=epsilon, delta=delta, horizon=horizon)
    errors = [achieved(each.plan) for each in prospects if each.plan is not None]
    assert min(errors) <= achieved(found) <= 1.001 * min(errors)
    assert {each.name for each in prospects} == set(NAMES)
    assert all((each.plan is None) == (each.reason is not None) for each in prospects)


@given(total=epsilons, series=st.integers(1, 30))
def test_equal_shares_are_equal_and_use_up_the_total(total: Fraction, series: int) -> None:
    shares = equal_shares(total, series)
    assert len(set(shares)) == 1
    assert sum(shares) == total


@given(total=epsilons, weights=st.lists(epsilons, min_size=1, max_size=6), by=epsilons)
def test_only_the_proportion_of_weights_matters(
    total: Fraction, weights: list[Fraction], by: Fraction
) -> None:
    shares = weighted_shares(total, weights)
    assert shares == weighted_shares(total, [weight * by for weight in weights])
    assert all(a * weights[0] == shares[0] * w for a, w in zip(shares, weights, strict=True))


def test_deviations_past_the_shown_ones_are_the_same_in_any_order() -> None:
    found = plan(statistic("edges"), DegreeBound(5), epsilon="1", horizon=None, mechanism="epochs")
    wanted = found.standard_deviations(400)
    for place in (120, 100, 399, 99, 250):
        assert found.standard_deviation(place) == wanted[place]


MIXED = Bordered((1, 1, 1), ((1, 1, 1),), ((0,), (1,), (3,)), 3)  # whole, broken, whole
SCALES = [Fraction(1, 4), Fraction(1), Fraction(5, 2), Fraction(40)]


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("member", [MIXED, Dyadic(3), Dyadic(2)], ids=str)
@pytest.mark.parametrize("name", ["sensdiff", "compose-d-bounded"])
def test_predictions_are_those_of_the_law_of_the_noise(
    scale: Fraction, member: Factorisation, name: str
) -> None:
    """Two ways to the same number: step by step, and from everything that a release carries."""
    epochs = (Epoch(member, DiscreteLaplace(scale)), Epoch(member, DiscreteLaplace(scale / 2))) * 2
    made = Plan(mechanism(name), asked(mechanism(name), 4 * member.steps), epochs)
    laws = [noise_of(made, {step: 1}) for step in range(4 * member.steps)]
    wanted = [sqrt(law.rounded_variance()) for law in laws if isinstance(law, NoiseSum)]
    assert made.standard_deviations() == pytest.approx(wanted, rel=1e-9)


def test_a_plan_of_unknown_length_is_judged_on_100_steps() -> None:
    endless = planned("epochs", None)
    assert len(endless.predicted) == 100
    assert endless.mean_std == pytest.approx(sum(endless.standard_deviations(100)) / 100)
    assert endless.last_std == endless.predicted[99] == endless.standard_deviation(99)
    assert endless.standard_deviation(100) == endless.standard_deviations(101)[100]
    with pytest.raises(ParameterError, match="steps: is needed where the horizon is unknown"):
        endless.standard_deviations()


@pytest.mark.parametrize("name", ["sensdiff", "optimised"])
def test_noise_of_a_quarter_of_the_size_is_warned_of(name: str) -> None:
    made = planned(name, 5)
    assert made.warning(ceil(4 * made.last_std)) is None
    assert made.warning(floor(4 * made.last_std)) is not None


@pytest.mark.parametrize("expected", [0, -1, True, 2.5])
def test_an_expected_size_is_a_number_of_people(expected: int) -> None:
    with pytest.raises(ParameterError, match="expected: must be a whole number of at least 1"):
        planned("sensdiff", 5).warning(expected)


def test_the_least_expected_size_is_1() -> None:
    assert planned("sensdiff", 5).warning(1) is not None


def test_plans_are_stored_in_format_1() -> None:
    stored = planned("sensdiff", 5).to_dict()
    assert stored["format"] == 1
    with pytest.raises(NewerFormatError, match="has format 99"):
        Plan.from_dict({**stored, "format": 99})
    for other in (0, None):
        with pytest.raises(ParameterError, match="plan: is not stored in format"):
            Plan.from_dict({**stored, "format": other})


def test_a_mechanism_says_itself_why_it_has_no_plan() -> None:
    with pytest.raises(ParameterError, match="mechanism: optimised needs a known horizon"):
        planned("optimised", None)


@pytest.mark.parametrize(
    ("name", "horizon", "drawn"),
    [("sensdiff", 5, 5), ("tree", 7, 7 + 3 + 1), ("epochs", None, 16 + 2 + 64 + 4 + 256 + 8)],
)
def test_the_simplest_plan_draws_the_fewest_noises(
    name: str, horizon: int | None, drawn: int
) -> None:
    made = planned(name, horizon)
    assert _complexity(made) == (drawn, made.mechanism.needs_horizon, name)


def test_how_many_steps_are_meant_is_asked_where_nobody_knows() -> None:
    with pytest.raises(ParameterError, match="steps: is needed"):
        planned("sensdiff", None).standard_deviations()


def test_noise_on_totals_leaves_nothing_to_what_follows_it() -> None:
    """Also noise of a joint law, which is counted by itself."""
    joint = Epoch(Totals(2), RangeNoise(Fraction(5), 2))
    single = Epoch(Bordered((1, 1)), DiscreteLaplace(Fraction(7)))
    made = Plan(mechanism("compose-projection"), asked(mechanism("tree"), 4), (joint, single))
    alone = Plan(made.mechanism, made.request, (single, joint))
    assert made.predicted[2:] == alone.predicted[:2]
    assert made.predicted[:2] == alone.predicted[2:]
