"""An attack on a pool: one pair of graphs, what all its series see of it, and their own noise.

Gaussian noise of spread σ² on numbers that differ by a has a privacy loss that is itself Gaussian,
of variance Σ a²/σ² over all noises of all series; so the δ that an observer of everything really
has at the pool's ε is known in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import erfc, exp, sqrt

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant

from graphveil.graph.promises import DegreeBound
from graphveil.lab.pairs import Pair
from graphveil.mechanisms.gaussian import GaussianMechanism
from graphveil.mechanisms.mechanism import Request
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise import zcdp
from graphveil.noise.laws import DiscreteGaussian
from graphveil.noise.zcdp import epsilon_of, rho_of
from graphveil.series.planner import plan
from graphveil.statistics.statistic import Statistic, statistic
from test_gaussian_attack import distance, pairs

BOUND = DegreeBound(3)
EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
# Whoever completes a clique of D + 1 people does the worst to all of these at once.
SERIES = (
    *(statistic(name) for name in ("nodes", "edges", "triangles", "edges", "triangles")),
    *(statistic("stars", k=2), statistic("stars", k=3), statistic("high-degree", tau=3)),
)
SHARES = tuple(Fraction(part, 100) for part in (2, 8, 15, 40, 5, 10, 10, 10))


def pooled(shares: Sequence[Fraction] = SHARES, delta: Fraction = DELTA) -> list[Plan]:
    """The plans of all series in the pool."""
    return [
        plan(each, BOUND, epsilon=EPSILON, delta=delta, horizon=8, pool_share=share)
        for each, share in zip(SERIES, shares, strict=True)
    ]


def energy(made: Plan, counted: Statistic, pair: Pair) -> Fraction:
    """Σ a²/σ² of one series on one pair of graphs, from its own matrix and its own noise."""
    (epoch,) = made.epochs
    assert isinstance(epoch.law, DiscreteGaussian)
    apart = distance(counted, pair).astype(object)
    moved = epoch.factorisation.strategy().astype(object)[:, : len(apart)] @ apart
    return Fraction(int((moved**2).sum())) / epoch.law.sigma_squared


def worst(made: Sequence[Plan]) -> Fraction:
    """The variance of the loss by all series together, on the worst pair."""
    return max(
        sum((energy(*each, pair) for each in zip(made, SERIES, strict=True)), Fraction())
        for pair in pairs(BOUND)
    )


def true_delta(deviation: float, epsilon: float) -> float:
    """The exact δ at ε of a Gaussian loss."""
    low, high = deviation / 2 - epsilon / deviation, -deviation / 2 - epsilon / deviation
    return (erfc(-low / sqrt(2)) - exp(epsilon) * erfc(-high / sqrt(2))) / 2


def violated(made: Sequence[Plan], delta: Fraction = DELTA) -> bool:
    return true_delta(sqrt(worst(made)), float(EPSILON)) > float(delta)


def test_whoever_sees_all_series_of_a_pool_learns_no_more_than_its_epsilon_and_delta() -> None:
    made, rho = pooled(), rho_of(EPSILON, DELTA)
    assert not violated(made)
    assert 0.99 < worst(made) / (2 * rho) <= 1  # nothing of it is given away


def test_each_series_alone_costs_just_its_share() -> None:
    """So nothing is given away: a pair that does its worst to one series reaches its ρ."""
    for made, each, share in zip(pooled(), SERIES, SHARES, strict=True):
        dearest = max(energy(made, each, pair) for pair in pairs(BOUND)) / 2
        assert 0.99 < dearest / (share * rho_of(EPSILON, DELTA)) <= 1


def test_the_exact_delta_is_that_of_dp_accounting() -> None:
    deviation = sqrt(worst(pooled()))
    accountant = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(dp_event.GaussianDpEvent(1 / deviation))
    assert accountant.get_delta(1.0) == pytest.approx(true_delta(deviation, 1.0), rel=0.01)


def every_series_has_all_of_rho(made: Plan) -> Plan:
    """ρ is counted once instead of summed."""
    return Plan.of(made.mechanism, replace(made.request, pool_share=None))


def half_the_variance(made: Plan) -> Plan:
    (epoch,) = made.epochs
    assert isinstance(epoch.law, DiscreteGaussian)
    law = DiscreteGaussian(epoch.law.sigma_squared / 2)
    return replace(made, epochs=(replace(epoch, law=law),))


def shares_of_deviation(made: Plan) -> Plan:
    """A share is taken of 1/σ instead of 1/σ²."""
    share = made.request.pool_share
    assert share is not None
    loose = Fraction(sqrt(share)).limit_denominator(1000)
    return Plan.of(made.mechanism, replace(made.request, pool_share=loose))


@pytest.mark.parametrize(
    "bug", [every_series_has_all_of_rho, half_the_variance, shares_of_deviation]
)
def test_planted_bugs_are_caught(bug: Callable[[Plan], Plan]) -> None:
    assert violated([bug(made) for made in pooled()])


def test_a_delta_that_is_split_while_rho_is_joint_is_caught() -> None:
    """ρ of the whole δ, while the ledger would charge an eighth of it."""
    assert violated(pooled(), DELTA / len(SERIES))
    assert not violated(pooled(delta=DELTA / len(SERIES)), DELTA / len(SERIES))


def test_noise_for_less_than_one_person_changes_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = GaussianMechanism.distance_squared
    monkeypatch.setattr(
        GaussianMechanism,
        "distance_squared",
        lambda self, request, matrix: usual(self, request, matrix) / 2,
    )
    assert violated([Plan.of(made.mechanism, made.request) for made in pooled()])


def test_the_price_is_found_again_from_the_noise() -> None:
    """Never more than the share, and hardly less: the variance is rounded up a little."""
    for made, share in zip(pooled(), SHARES, strict=True):
        assert isinstance(made.mechanism, GaussianMechanism)
        found = made.mechanism.rho_of_noise(made.request, made.epochs)
        assert 1 - Fraction(1, 10**6) < found / (share * rho_of(EPSILON, DELTA)) <= 1
        more = half_the_variance(made)
        assert made.mechanism.rho_of_noise(made.request, more.epochs) == 2 * found


def test_the_dearest_epoch_is_the_price_of_all() -> None:
    made = next(each for each in pooled() if each.mechanism.name == "gaussian")
    assert isinstance(made.mechanism, GaussianMechanism)
    dear = half_the_variance(made).epochs
    found = made.mechanism.rho_of_noise(made.request, made.epochs)
    for epochs in ((*made.epochs, *dear), (*dear, *made.epochs)):
        assert made.mechanism.rho_of_noise(made.request, epochs) == 2 * found


@pytest.mark.parametrize("share", [None, "1/4", 1])
def test_who_is_projected_loses_what_was_promised_and_no_more(share: str | int | None) -> None:
    made = plan(
        "edges", 5, epsilon="1/3", delta=DELTA, horizon=6, projection=DegreeBound(3),
        mechanism="gaussian-projection", pool_share=share,
    )  # fmt: skip
    assert isinstance(made.mechanism, GaussianMechanism)
    larger = replace(made.request, projected_l1=99)
    assert made.mechanism.rho_beyond(made.request, larger) == made.request.rho
    assert made.request.rho == rho_of(Fraction(1, 3), DELTA) * Fraction(share or 1)
    if share is None:  # ε as it was written, and not by way of ρ
        assert made.mechanism.loss(made.request, larger) == Fraction(1, 3)
    else:
        loss = made.mechanism.loss(made.request, larger)
        assert loss == epsilon_of(made.request.rho, DELTA)
        assert loss != Fraction(1, 3)


@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-9"), ("2", "1e-6"), ("8", "1e-3")])
def test_summed_rho_is_what_dp_accounting_composes(count: int, epsilon: str, delta: str) -> None:
    whole = rho_of(Fraction(epsilon), Fraction(delta))
    shares = [Fraction(number + 1, count * (count + 1) // 2) for number in range(count)]
    orders = [1 + 10 ** (place / 200 - 2.5) for place in range(1200)]
    accountant = rdp_privacy_accountant.RdpAccountant(orders)
    for share in shares:
        accountant.compose(dp_event.GaussianDpEvent(1 / sqrt(2 * share * whole)))
    theirs = accountant.get_epsilon(float(Fraction(delta)))
    ours = epsilon_of(sum((share * whole for share in shares), Fraction()), Fraction(delta))
    assert ours <= Fraction(epsilon)
    assert float(ours) == pytest.approx(theirs, rel=1e-3)


def test_a_pool_of_one_share_of_1_is_no_pool() -> None:
    asked = plan("edges", BOUND, epsilon=1, delta=DELTA, horizon=8, mechanism="gaussian").request
    assert replace(asked, pool_share=Fraction(1)).rho == asked.rho
    assert Request.from_dict(asked.to_dict()) == asked
    assert "pool_share" not in asked.to_dict()
    shared = replace(asked, pool_share=Fraction(1, 3))
    assert Request.from_dict(shared.to_dict()) == shared
    assert shared.rho * 3 == asked.rho


def test_the_variance_is_never_rounded_down() -> None:
    for part in range(1, 60):
        rho = rho_of(EPSILON, DELTA) * Fraction(part, 60)
        assert zcdp.gaussian_for(7, rho).sigma_squared >= Fraction(7) / (2 * rho)


def test_simulated_errors_are_those_predicted() -> None:
    from graphveil.lab.simulation import simulate

    for made in pooled()[1:4]:
        noise = simulate(made, 20_000, np.random.default_rng(12), 8)
        np.testing.assert_allclose(noise.std(axis=0), made.predicted, rtol=0.03)
