"""Plans that the public was told: those that fit are read, and what their noise costs is found."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from graphveil.errors import IntegrityError
from graphveil.mechanisms.gaussian import GaussianMechanism
from graphveil.noise.zcdp import epsilon_of
from graphveil.study.announced_plans import (
    announced_plan,
    pool_sentence,
    require_enough_noise,
)
from graphveil.study.history import History, PublishedSeries
from graphveil.study.promise import Pool, Promise
from public_parts import promise, published

DELTA = Fraction(1, 10**6)
BUDGET = {
    "epsilon": "3",
    "delta": "1e-6",
    "justification": "an example",
    "pool": {"epsilon": "1", "delta": "1e-6"},
}
SERIES: list[dict[str, Any]] = [
    {"name": "own", "statistic": "nodes", "epsilon": "1/4", "horizon": 4, "mechanism": "sensdiff"},
    {"name": "first", "statistic": "edges", "pool": "1/2", "horizon": 4},
    {"name": "second", "statistic": "nodes", "pool": "1/4", "horizon": 4},
]


def study(**changed: Any) -> Promise:
    return promise(**{"budget": BUDGET, "series": SERIES} | changed)


def told(made: Promise, steps: int = 0) -> tuple[PublishedSeries, ...]:
    rows = published(made, steps, planned=True).rows
    return History.of([row.announcement("the chain") for row in rows], "the chain").series


def changed(series: PublishedSeries, **entries: Any) -> PublishedSeries:
    """The series with something else in its plan."""
    assert series.plan is not None
    return series.model_copy(update={"plan": json.loads(json.dumps(series.plan)) | entries})


def epochs(series: PublishedSeries, **entries: Any) -> list[dict[str, Any]]:
    """Its only epoch with other entries."""
    assert series.plan is not None
    (only,) = series.plan["epochs"]
    return [only | entries]


def refused(series: PublishedSeries) -> bool:
    with pytest.raises(IntegrityError, match=f"plan of series '{series.series}' cannot be read"):
        announced_plan(series)
    return True


def test_a_plan_is_read_as_it_was_told() -> None:
    for each in told(study(), 4):
        found = announced_plan(each)
        assert found is not None
        assert json.loads(json.dumps(found.to_dict())) == each.plan


def test_what_was_not_told_or_is_not_known_is_left_to_others() -> None:
    own = told(study())[0]
    assert announced_plan(own.model_copy(update={"plan": None})) is None
    assert announced_plan(changed(own, format=99)) is None
    assert announced_plan(changed(own, mechanism="of tomorrow")) is None


def test_the_plan_of_another_series_is_refused() -> None:
    own = told(study())[0]
    assert refused(own.model_copy(update={"width": 2}))
    assert refused(own.model_copy(update={"horizon": 5}))
    assert refused(changed(own, epochs=epochs(own, times="often")))
    assert refused(changed(own, epochs=[{}]))


def test_a_plan_of_fewer_releases_than_were_made_is_refused() -> None:
    own = told(study(), 4)[0]
    assert own.plan is not None
    assert own.plan["epochs"][0]["times"] == 4
    assert announced_plan(changed(own, epochs=epochs(own, times=4))) is not None
    assert refused(changed(own, epochs=epochs(own, times=3)))


@pytest.mark.parametrize(
    ("horizon", "steps", "most"), [(4, 0, 320), (4, 2, 320), (None, 0, 256), (None, 3, 304)]
)
def test_epochs_are_not_repeated_for_ever(horizon: int | None, steps: int, most: int) -> None:
    """At most 16 times as often as there are releases and 16 more."""
    own = {"name": "own", "statistic": "nodes", "epsilon": "1/4", "mechanism": "sensdiff"}
    stated = own if horizon is None else own | {"horizon": horizon}
    other = own | {"horizon": 4}
    (series,) = told(study(series=[stated]), steps)
    (pattern,) = told(study(series=[other]))
    for times in (most, most + 1):
        here = changed(series, epochs=epochs(pattern, times=times))
        if times == most:
            assert announced_plan(here) is not None
        else:
            assert refused(here)
    halves = [*epochs(pattern, times=most), *epochs(pattern, times=1)]
    assert refused(changed(series, epochs=halves))


def long(steps: int) -> dict[str, Any]:
    return {"kind": "scaled-toeplitz", "coefficients": [1] * steps, "scales": [1] * steps}


def test_an_epoch_is_not_longer_than_the_series_can_ever_be() -> None:
    first = told(study())[1]
    assert announced_plan(changed(first, epochs=epochs(first, factorisation=long(320)))) is not None
    assert refused(changed(first, epochs=epochs(first, factorisation=long(321))))


def rho(series: PublishedSeries) -> Fraction:
    plan = announced_plan(series)
    assert plan is not None
    assert isinstance(plan.mechanism, GaussianMechanism)
    return plan.mechanism.rho_of_noise(plan.request, plan.epochs)


def test_the_noise_of_a_pool_costs_what_its_laws_cost_together() -> None:
    made = study()
    own, first, second = told(made)
    loss = epsilon_of(rho(first) + rho(second), DELTA)
    assert require_enough_noise(made, (own, first, second)) == loss
    assert require_enough_noise(made, (own, second)) == epsilon_of(rho(second), DELTA)
    assert require_enough_noise(made, (own,)) == 0
    assert require_enough_noise(made.with_pool(None), (first,)) == 0
    unknown = second.model_copy(update={"plan": None})
    assert require_enough_noise(made, (unknown, first)) == epsilon_of(rho(first), DELTA)


def test_a_pool_that_costs_more_than_its_price_is_refused() -> None:
    made = study()
    _, first, second = told(made)
    loss = require_enough_noise(made, (first, second))
    for price, held in ((loss, True), (loss - Fraction(1, 10**9), False)):
        other = made.with_pool(Pool.model_construct(epsilon=str(price), delta="1e-6"))
        if held:
            assert require_enough_noise(other, (first, second)) == loss
        else:
            with pytest.raises(IntegrityError, match="costs more than the pool"):
                require_enough_noise(other, (first, second))


def test_the_noise_of_one_series_costs_no_more_than_its_price() -> None:
    """Whether or not it shares a pool; a price of its own is not the pool's."""
    alone = {"name": "alone", "statistic": "edges", "epsilon": "1/2", "horizon": 4}
    alone |= {"delta": "1e-6", "mechanism": "gaussian"}
    budget = BUDGET | {"delta": "2e-6"}
    made = study(budget=budget, series=[alone, *SERIES[1:]])
    series = told(made)
    assert require_enough_noise(made, series) == epsilon_of(rho(series[1]) + rho(series[2]), DELTA)
    for place, each in enumerate(series):
        (epoch,) = epochs(each)
        less = epoch["law"] | {"spread": str(Fraction(epoch["law"]["spread"]) * Fraction(99, 100))}
        cheaper = changed(each, epochs=epochs(each, law=less))
        with pytest.raises(IntegrityError, match=f"'{each.series}' has less noise than its price"):
            require_enough_noise(made, (*series[:place], cheaper, *series[place + 1 :]))


def test_noise_that_costs_all_of_its_price_is_enough() -> None:
    made = study()
    first = told(made)[1]
    plan = announced_plan(first)
    assert plan is not None
    (epoch,) = epochs(first)
    least = Fraction(epoch["law"]["spread"]) * rho(first) / plan.request.rho
    exact = changed(first, epochs=epochs(first, law=epoch["law"] | {"spread": str(least)}))
    assert rho(exact) == plan.request.rho
    assert require_enough_noise(made, (exact,)) == epsilon_of(plan.request.rho, DELTA)


def test_a_plan_of_unknown_length_is_judged_by_one_of_its_epochs() -> None:
    made = study(series=[{"name": "first", "statistic": "edges", "pool": "1/2"}])
    (first,) = told(made)
    plan = announced_plan(first)
    assert plan is not None
    assert plan.epochs == ()
    assert isinstance(plan.mechanism, GaussianMechanism)
    each = plan.mechanism.rho_of_noise(plan.request, [plan.epoch(0)])
    assert require_enough_noise(made, (first,)) == epsilon_of(each, DELTA)


def test_a_loss_is_told_in_millionths_and_rounded_up() -> None:
    assert pool_sentence(Fraction(1, 3)) == "the noise of the pool costs ε = 0.333334 together"
    assert pool_sentence(Fraction(1, 2)) == "the noise of the pool costs ε = 0.5 together"
    above_one = Fraction(12_000_001, 10**7)
    assert pool_sentence(above_one) == "the noise of the pool costs ε = 1.200001 together"
