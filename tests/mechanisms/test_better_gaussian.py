"""Gaussian noise: its error, the conversion to (ε, δ), and what one person can change."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import erfc, exp, sqrt

import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.lab.attacks.constructions import constructions
from graphveil.lab.pairs import NEVER, Pair, hidden_part, totals
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.factorisations.triangular import square_root
from graphveil.mechanisms.mechanism import Request, mechanism
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import DiscreteGaussian
from graphveil.noise.zcdp import rho_of
from graphveil.statistics.sensitivity import Sensitivity
from graphveil.statistics.statistic import Statistic, registered, statistic

UNIT = Sensitivity(1, 1, 1, 1, frozenset(), "none", "none")
MILLIONTH = Fraction(1, 10**6)
MEANS = [(8, 1.51), (20, 1.77), (50, 2.05), (100, 2.26), (365, 2.67), (1000, 2.98)]
BOUNDS: list[Bound] = [DegreeBound(1), DegreeBound(2), DegreeBound(3), InOutBound(2, 3)]


@pytest.mark.parametrize(("steps", "facts"), MEANS)
def test_the_normalised_square_root_has_the_known_error(steps: int, facts: float) -> None:
    found = square_root(steps)
    mean = np.sqrt(found.decoder_squares() * found.column_l2_squared()).mean()
    assert mean == pytest.approx(facts, rel=0.006)


def test_the_strategy_is_causal_and_not_negative() -> None:
    strategy = square_root(30).strategy()
    assert (strategy >= 0).all()
    assert (strategy == np.tril(strategy)).all()


def test_the_spread_follows_from_rho() -> None:
    plan = Plan.of(mechanism("gaussian"), Request(UNIT, Fraction(1), MILLIONTH, 20))
    epoch = plan.epoch(0)
    assert isinstance(epoch.law, DiscreteGaussian)
    stretched = epoch.factorisation.column_l2_squared()
    assert sqrt(epoch.law.sigma_squared / stretched) == pytest.approx(4.531, abs=0.001)
    assert epoch.law.sigma_squared * 2 * rho_of(Fraction(1), MILLIONTH) >= stretched


def test_predictions_agree_with_simulation() -> None:
    plan = Plan.of(mechanism("gaussian"), Request(UNIT, Fraction(4), MILLIONTH, 30))
    noise = simulate(plan, 40_000, np.random.default_rng(2), 30)
    np.testing.assert_allclose(noise.std(axis=0), plan.standard_deviations(30), rtol=0.02)


def test_long_and_unknown_horizons_have_epochs() -> None:
    gaussian = mechanism("gaussian")
    long = Request(UNIT, Fraction(1), MILLIONTH, 2049)
    found = [gaussian.epoch(long, number) for number in range(4)]
    assert [epoch.steps if epoch else 0 for epoch in found] == [683, 683, 683, 0]
    endless = Request(UNIT, Fraction(1), MILLIONTH, None)
    lengths = [epoch.steps for n in range(5) if (epoch := gaussian.epoch(endless, n))]
    assert lengths == [16, 64, 256, 1024, 1024]


def test_a_missing_delta_is_refused() -> None:
    with pytest.raises(ParameterError, match="needs a δ"):
        Plan.of(mechanism("gaussian"), Request(UNIT, Fraction(1), None, 20))


def claimed_delta(rho: float, epsilon: float) -> float:
    """The bound on δ, minimised over a fine grid of orders."""
    alpha = 1 + np.exp(np.linspace(-12, 40, 200_001))
    with np.errstate(over="ignore"):
        logs = (alpha - 1) * (alpha * rho - epsilon) - np.log(alpha - 1)
    return float(np.exp((logs + alpha * np.log1p(-1 / alpha)).min()))


def least_log_delta(rho: Fraction, epsilon: Fraction) -> Decimal:
    """The same in fifty digits: the logarithm of the least δ that ρ-zCDP gives at ε."""
    with localcontext(Context(prec=50)):
        low, high = Decimal(-20), Decimal(60)  # of log(α − 1)
        while high - low > Decimal("1e-12"):
            third = (high - low) / 3
            if log_delta(low + third, rho, epsilon) > log_delta(high - third, rho, epsilon):
                low += third
            else:
                high -= third
        return log_delta((low + high) / 2, rho, epsilon)


def log_delta(place: Decimal, rho: Fraction, epsilon: Fraction) -> Decimal:
    """(α−1)(αρ−ε) + α·log(1 − 1/α) − log(α − 1), with log(α − 1) = place."""
    order = place.exp() + 1
    loss = order * decimal(rho) - decimal(epsilon)
    return (order - 1) * loss + order * (place - order.ln()) - place


def log_of(number: Fraction) -> Decimal:
    with localcontext(Context(prec=50)):
        return decimal(number).ln()


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


exponents = st.floats(-12, -0.1)


@given(st.fractions(Fraction(1, 1000), 50, max_denominator=1000), exponents)
@settings(deadline=None, max_examples=60)
def test_rho_is_safe_and_tight(epsilon: Fraction, exponent: float) -> None:
    delta = Fraction(str(10**exponent))
    rho = rho_of(epsilon, delta)
    assert rho > 0
    assert least_log_delta(rho, epsilon) <= log_of(delta) + Decimal("1e-12")
    assert least_log_delta(rho * Fraction(1001, 1000), epsilon) > log_of(delta)
    assert claimed_delta(float(rho), float(epsilon)) == pytest.approx(float(delta), rel=1e-4)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "10"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-10"])
def test_the_conversion_agrees_with_dp_accounting(epsilon: str, delta: str) -> None:
    rho = rho_of(Fraction(epsilon), Fraction(delta))
    orders = 1 + np.exp(np.linspace(-5, 12, 4000))
    theirs, _ = rdp_privacy_accountant.compute_epsilon(orders, orders * float(rho), float(delta))
    assert theirs == pytest.approx(float(Fraction(epsilon)), rel=1e-4)


def test_the_true_gaussian_is_within_what_is_claimed() -> None:
    """The exact (ε, δ) curve of a Gaussian of sensitivity 1, which zCDP must not undercut."""
    for epsilon in (0.5, 1.0, 4.0):
        sigma = sqrt(1 / (2 * float(rho_of(Fraction(str(epsilon)), MILLIONTH))))
        low, high = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
        assert normal(low) - exp(epsilon) * normal(high) <= 1e-6


def normal(x: float) -> float:
    """The probability that a standard normal number is at most x."""
    return erfc(-x / sqrt(2)) / 2


@pytest.mark.parametrize(
    ("epsilon", "delta", "names"),
    [(Fraction(0), MILLIONTH, "epsilon"), (Fraction(1), Fraction(1), "delta")],
)
def test_bad_arguments_are_named(epsilon: Fraction, delta: Fraction, names: str) -> None:
    with pytest.raises(ParameterError, match=names):
        rho_of(epsilon, delta)


def variation(chosen: Statistic, pair: Pair) -> tuple[int, NDArray[np.int64]]:
    """(All rises)² + (all falls)² of the distance, over all numbers; and the distance itself."""
    larger = np.array(pair.schedule, dtype=np.int64)
    smaller = np.where(hidden_part(len(larger), "node", directed=pair.directed) == 1, NEVER, larger)
    apart = totals(chosen, larger, pair) - totals(chosen, smaller, pair)
    changes = np.diff(apart, axis=0, prepend=0)
    rises, falls = changes.clip(min=0).sum(axis=0), changes.clip(max=0).sum(axis=0)
    return int((rises**2 + falls**2).sum()), changes


def admitted(bound: Bound) -> list[Statistic]:
    """Every example that is defined under a bound."""
    found = []
    for kind in registered().values():
        for example in kind.examples():
            try:
                example.require_domain(directed=isinstance(bound, InOutBound))
                example.sensitivity(bound)
            except ParameterError:
                continue
            if example.counted_for is None:
                found.append(example)
    return found


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_no_known_worst_case_exceeds_the_variation(bound: Bound) -> None:
    directed = isinstance(bound, InOutBound)
    pairs = [Pair.of(s, "node", directed=directed) for s in constructions(bound, "node")]
    for chosen in admitted(bound):
        stated = chosen.sensitivity(bound)
        assert stated.l2_squared <= stated.variation_squared <= stated.l1**2
        for pair in pairs:
            if pair.respects(bound):
                found, changes = variation(chosen, pair)
                assert found <= stated.variation_squared
                root = square_root(len(changes))
                energy = int(((root.strategy() @ changes) ** 2).sum())
                assert energy <= stated.variation_squared * root.column_l2_squared()


def test_the_l2_distance_alone_would_not_be_private() -> None:
    """One person, two steps: C lines up what the L2 distance counts apart."""
    root = square_root(50)
    changes = np.zeros(50, dtype=np.int64)
    changes[:5] = 1
    energy = int(((root.strategy() @ changes) ** 2).sum())
    assert energy > int((changes**2).sum()) * root.column_l2_squared()
    assert energy <= 25 * root.column_l2_squared()


def test_vectors_gain_from_gaussian_noise() -> None:
    sensitivity = statistic("degree-ccdf").sensitivity(DegreeBound(30))
    pure = Plan.of(mechanism("optimised"), Request(sensitivity, Fraction(1), None, 20, 31))
    gaussian = Plan.of(mechanism("gaussian"), Request(sensitivity, Fraction(1), MILLIONTH, 20, 31))
    assert gaussian.mean_std < 0.5 * pure.mean_std
