"""Each law says of itself what summing its probabilities gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isinf, log
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, Law, law_from_dict
from graphveil.noise.noise_sum import NoiseSum

Floats = NDArray[np.float64]

REACH = 4000
PLACES = np.arange(-REACH, REACH + 1)
sizes = st.fractions(min_value=Fraction(1, 5), max_value=40)
laws: st.SearchStrategy[Law] = st.one_of(
    sizes.map(DiscreteLaplace), st.builds(DiscreteGaussian, sizes)
)
KINDS: list[type[DiscreteLaplace] | type[DiscreteGaussian]] = [DiscreteLaplace, DiscreteGaussian]
SMALL = [kind(size) for kind in KINDS for size in (Fraction(1, 3), Fraction(2), Fraction(25, 2))]


def log_weights(law: Law) -> Floats:
    """The logarithm of each probability but for the constant, from the words of the law."""
    if isinstance(law, DiscreteLaplace):
        return np.asarray(-np.abs(PLACES) / float(law.scale))
    return np.asarray(-(PLACES.astype(float) ** 2) / (2 * float(law.size)))


def log_sum(exponents: Floats) -> float:
    top = float(exponents.max())
    return top + log(float(np.exp(exponents - top).sum()))


def log_chances(law: Law) -> Floats:
    weights = log_weights(law)
    return weights - log_sum(weights)


def summed_log_moment(law: Law, exponent: float) -> float:
    return log_sum(log_chances(law) + exponent * PLACES)


def renyi(law: Law, order: float) -> float:
    """The divergence of a law from itself moved by 1, by summation."""
    chances = log_chances(law)
    here, moved = chances[1:], chances[:-1]
    return log_sum(order * here + (1 - order) * moved) / (order - 1)


@given(laws)
def test_laws_survive_storage(law: Law) -> None:
    plain = json.loads(json.dumps(law.to_dict()))
    assert law_from_dict(plain) == law
    assert law_from_dict(plain).size == law.size
    assert set(map(type, plain.values())) == {str}


def test_storage_tells_the_kinds_apart() -> None:
    kinds = {kind(Fraction(3)).to_dict()["kind"] for kind in KINDS}
    assert len(kinds) == len(KINDS)
    assert law_from_dict(DiscreteLaplace(Fraction(3)).to_dict()) != DiscreteGaussian(Fraction(3))


@given(sizes)
def test_the_size_is_what_fixes_a_law(size: Fraction) -> None:
    for kind in KINDS:
        assert kind(size).size == size
        assert kind(size) == kind(size)
        assert kind(size) != kind(size + Fraction(1, 10**9))


@given(sizes)
def test_a_step_of_1_costs_what_a_laplace_law_says(scale: Fraction) -> None:
    """Pure ε: the largest ratio of probabilities of neighbouring integers."""
    weights = log_weights(DiscreteLaplace(scale))
    worst = float(np.abs(np.diff(weights)).max())
    assert worst == pytest.approx(float(DiscreteLaplace(scale).privacy_loss), rel=1e-9)


@given(sizes, st.sampled_from([1.25, 1.5, 2.0, 3.0, 8.0]))
def test_a_step_of_1_costs_what_a_gaussian_law_says(variance: Fraction, order: float) -> None:
    """ρ-zCDP: the Rényi divergence of every order α is at most αρ, and at α = 2 just that."""
    law = DiscreteGaussian(variance)
    claimed = order * float(law.privacy_loss)
    assert renyi(law, order) <= claimed * (1 + 1e-9)
    if order == 2.0:
        assert renyi(law, order) == pytest.approx(claimed, rel=1e-7)


@dataclass(frozen=True)
class Boasting(DiscreteGaussian):
    """Claims half of what it costs."""

    @property
    def privacy_loss(self) -> Fraction:
        return super().privacy_loss / 2


def test_a_law_that_claims_half_is_caught() -> None:
    law = Boasting(Fraction(4))
    assert renyi(law, 2.0) > 2 * float(law.privacy_loss) * 1.5


@given(laws)
def test_the_variance_is_that_of_the_probabilities(law: Law) -> None:
    summed = float((np.exp(log_chances(law)) * PLACES.astype(float) ** 2).sum())
    assert law.variance() == pytest.approx(summed, rel=1e-9)


@given(laws, st.floats(-20, 20))
def test_the_characteristic_function_is_the_sum_of_cosines(law: Law, angle: float) -> None:
    summed = float((np.exp(log_chances(law)) * np.cos(angle * PLACES)).sum())
    assert float(law.characteristic(np.array([angle]))[0]) == pytest.approx(summed, abs=1e-9)


@pytest.mark.parametrize("variance", ["0.001", "0.01", "0.04", "0.0504", "0.1"])
def test_the_characteristic_function_of_little_noise_is_exact_too(variance: str) -> None:
    """There every one of the shifted bells that are summed counts."""
    law = DiscreteGaussian(Fraction(variance))
    angles = np.linspace(-3 * np.pi, 3 * np.pi, 101)
    summed = (np.exp(log_chances(law)) * np.cos(angles[:, None] * PLACES)).sum(axis=1)
    np.testing.assert_allclose(law.characteristic(angles), summed, rtol=0, atol=1e-9)


@given(laws)
def test_angles_and_exponents_are_taken_one_by_one(law: Law) -> None:
    numbers = np.linspace(0.001, 0.02, 6)
    for function in (law.characteristic, law.log_moment):
        table = function(numbers.reshape(2, 3))
        np.testing.assert_array_equal(table.ravel(), [function(x[None])[0] for x in numbers])


def exponents_below(law: Law) -> Iterator[float]:
    """Up to nine tenths of where the moments end, or of what fits into the summed range."""
    most = min(law.steepest, 3.0)
    yield from (part * most for part in (0.05, 0.2, 0.5, 0.9))


@given(laws)
def test_the_log_moment_is_never_below_the_summed_one(law: Law) -> None:
    for exponent in exponents_below(law):
        claimed = float(law.log_moment(np.array([exponent]))[0])
        assert claimed >= summed_log_moment(law, exponent) - 1e-9
        assert claimed >= 0


@given(sizes.filter(lambda size: size < 8).map(DiscreteLaplace))
def test_the_log_moment_of_laplace_is_exact(law: DiscreteLaplace) -> None:
    for exponent in exponents_below(law):
        claimed = float(law.log_moment(np.array([exponent]))[0])
        assert claimed == pytest.approx(summed_log_moment(law, exponent), rel=1e-7, abs=1e-12)


@given(sizes.filter(lambda size: size > 2).map(DiscreteGaussian))
def test_the_log_moment_of_a_gaussian_is_hardly_above(law: DiscreteGaussian) -> None:
    for exponent in exponents_below(law):
        claimed = float(law.log_moment(np.array([exponent]))[0])
        assert claimed == pytest.approx(summed_log_moment(law, exponent), rel=1e-6, abs=1e-12)


def growth_of_tail(law: Law, exponent: float) -> float:
    """The last terms of the moment's sum against those halfway, as a logarithm."""
    terms = log_weights(law) + exponent * PLACES
    return float(terms[-1] - terms[-1 - REACH // 2])


@pytest.mark.parametrize("law", SMALL, ids=str)
def test_moments_end_at_the_steepest_exponent(law: Law) -> None:
    if isinf(law.steepest):
        assert growth_of_tail(law, 3.0) < -100
        return
    assert growth_of_tail(law, 0.9 * law.steepest) < -10
    assert growth_of_tail(law, law.steepest) == pytest.approx(0, abs=1e-6)
    near = np.array([law.steepest * (1 - 1e-9)])
    assert float(law.log_moment(near)[0]) > 15


def test_only_laplace_has_a_steepest_exponent() -> None:
    assert [law.steepest < inf for law in SMALL] == [True] * 3 + [False] * 3


weights = st.lists(st.integers(-8, 8), min_size=1, max_size=6)


@given(laws, weights, st.randoms(use_true_random=False))
def test_neither_order_nor_sign_of_weights_matters(
    law: Law, numbers: list[int], random: Random
) -> None:
    plain = NoiseSum.of([(law, np.array(numbers, dtype=float))])
    turned = [-number for number in numbers]
    random.shuffle(turned)
    assert tally(NoiseSum.of([(law, np.array(turned, dtype=float))])) == tally(plain)
    parts = [(law, np.array([number], dtype=float)) for number in numbers]
    assert tally(NoiseSum.of(parts)) == tally(plain)


def tally(noise: NoiseSum) -> list[tuple[Law, list[float], list[float]]]:
    return [(term.law, term.weights.tolist(), term.copies.tolist()) for term in noise.terms]


@pytest.mark.parametrize("scale", ["1/3", "2", "97/10", "100000"])
@pytest.mark.parametrize("part", [0.01, 0.1, 0.25])
def test_the_series_of_a_law_is_the_logarithm_of_its_characteristic_function(
    scale: str, part: float
) -> None:
    law = DiscreteLaplace(Fraction(scale))
    powers = part ** (2 * np.arange(1, 14))
    found = float(law.log_series(13) @ powers)
    exact = float(np.log(law.characteristic(np.array(part * law.steepest))))
    assert found == pytest.approx(exact, rel=1e-11, abs=1e-15)
    risen = float(law.log_series(13) @ (powers * (-1.0) ** np.arange(1, 14)))
    moment = float(law.log_moment(np.array(part * law.steepest)))
    assert risen == pytest.approx(moment, rel=1e-11, abs=1e-15)


@given(laws, weights)
def test_variances_of_independent_noises_add_up(law: Law, numbers: list[int]) -> None:
    total = NoiseSum.of([(law, np.array(numbers, dtype=float))])
    squares = sum(number**2 for number in numbers)
    assert total.variance() == pytest.approx(squares * law.variance(), rel=1e-9)
    assert (total + total).variance() == pytest.approx(2 * total.variance())


@given(laws, st.fractions(min_value=Fraction(1, 2), max_value=Fraction(999, 1000)))
def test_a_half_width_is_the_first_that_holds(law: Law, level: Fraction) -> None:
    noise = NoiseSum.of([(law, np.array([1.0]))])
    found = noise.half_width(level)
    chances = np.exp(log_chances(law))
    outside = float(chances[np.abs(PLACES) > found].sum())
    assert outside <= 1 - float(level)
    if found > 0:
        wider = float(chances[np.abs(PLACES) > found - 1].sum())
        assert wider > 1 - float(level) - 1e-8
