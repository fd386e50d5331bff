"""Sums of noises: what they are made of, and each of the ways in which their tails are found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtr

from graphveil.noise import noise_sum
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, Law
from graphveil.noise.noise_sum import (
    FINEST_MESH,
    LARGEST_LATTICE,
    MARGIN,
    MOST_WIDTHS,
    WIDE,
    NoiseSum,
    Term,
    _characteristic,
    _characteristic_along,
    _last_angle,
    _Waves,
)

Floats = NDArray[np.float64]
HALF = Fraction(1, 2)
LAPLACE, GAUSSIAN = DiscreteLaplace(Fraction(2)), DiscreteGaussian(Fraction(9))
laws = st.sampled_from([LAPLACE, GAUSSIAN, DiscreteLaplace(Fraction(1, 3))])
some_weights = st.lists(st.sampled_from([0, 0.25, -0.5, 0.5, 1, -1, 3]), max_size=9)


def noise(law: Law, *weights: float, slack: Fraction = Fraction()) -> NoiseSum:
    return NoiseSum.of([(law, np.array(weights, dtype=np.float64))], slack)


def alone(law: Law, reach: int) -> Floats:
    """P(k) for k from −reach to reach, from the definition of each law."""
    k = np.arange(-reach, reach + 1)
    laplace = isinstance(law, DiscreteLaplace)
    logs = -np.abs(k) / float(law.size) if laplace else -(k**2) / (2 * float(law.size))
    return np.asarray(np.exp(logs) / np.exp(logs).sum())


def spread_out(rows: list[tuple[Law, int]], reach: int) -> Floats:
    """The law of Σ weight·z for whole weights, by convolving arrays; 0 is in the middle."""
    found = np.ones(1)
    for law, weight in rows:
        spaced = np.zeros(2 * reach * weight + 1)
        spaced[::weight] = alone(law, reach)
        found = np.convolve(found, spaced)
    return found


def beyond(chances: Floats, border: float) -> float:
    """P(|place| ≥ border)."""
    places = np.abs(np.arange(len(chances)) - len(chances) // 2)
    return float(chances[places >= border - 1e-9].sum())


# What a term is made of


@given(some_weights, some_weights)
def test_weights_are_gathered_by_size(first: list[float], second: list[float]) -> None:
    def gathered(term: Term) -> list[tuple[float, float]]:
        return list(zip(term.weights.tolist(), term.copies.tolist(), strict=True))

    def plainly(weights: list[float]) -> list[tuple[float, float]]:
        sizes = [abs(each) for each in weights if each]
        return [(size, sizes.count(size)) for size in sorted(set(sizes), reverse=True)]

    terms = [Term.of(LAPLACE, np.array(each, dtype=float)) for each in (first, second)]
    assert gathered(terms[0]) == plainly(first)
    assert gathered(terms[0].and_also(terms[1])) == plainly(first + second)
    assert gathered(terms[0].times(3)) == plainly(3 * first)
    for place in range(len(terms[0].weights)):
        assert gathered(terms[0].part(place)) == plainly(first)[place:]
        assert gathered(terms[0].part(1, place)) == plainly(first)[1:place]
    for size in (0.0, 0.25, 0.4, 0.5, 3.0, 4.0):
        assert terms[0].above(size) == sum(each > size for each, _ in plainly(first))


def test_weights_that_differ_by_an_error_of_floats_are_one() -> None:
    term = Term.of(LAPLACE, np.array([0.1 + 0.2, 0.3, 1e-14]))
    assert (term.weights.tolist(), term.copies.tolist()) == ([0.3], [2.0])


def test_terms_of_one_law_are_one_and_empty_ones_are_none() -> None:
    one, two = np.array([1.0, 2.0]), np.array([2.0])
    both = NoiseSum.of([(LAPLACE, one), (GAUSSIAN, two), (LAPLACE, two), (LAPLACE, np.zeros(3))])
    assert [each.law for each in both.terms] == [LAPLACE, GAUSSIAN]
    assert both.terms[0].copies.tolist() == [2.0, 1.0]
    assert NoiseSum.of([(LAPLACE, np.zeros(3))]).terms == ()
    added = NoiseSum.of([(LAPLACE, one)], HALF) + NoiseSum.of([(LAPLACE, two)], HALF)
    assert added.slack == 1
    assert added.terms[0].copies.tolist() == [2.0, 1.0]


def test_only_sums_are_added() -> None:
    with pytest.raises(TypeError):
        noise(LAPLACE, 1.0) + 1  # type: ignore[operator]


def many(law: Law) -> tuple[Term, Floats]:
    """More values than are computed at a time, most weights below what a series is good for."""
    weights = np.linspace(0.001, 1.0, 900)
    weights = np.repeat(np.round(weights, 12), 2)
    return Term.of(law, weights), weights


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN])
def test_a_characteristic_function_is_the_product_over_the_weights(law: Law) -> None:
    term, weights = many(law)
    angles = np.linspace(0, 0.3, 700)
    slowly = [float(np.log(law.characteristic(angle * weights)).sum()) for angle in angles]
    assert term.log_characteristic(angles) == pytest.approx(slowly, rel=1e-9, abs=1e-12)
    assert _characteristic((term,), angles) == pytest.approx(np.exp(slowly), rel=1e-9, abs=1e-15)
    both = _characteristic((term, Term.of(GAUSSIAN, np.ones(3))), angles)
    more = GAUSSIAN.characteristic(angles) ** 3
    assert both == pytest.approx(np.exp(slowly) * more, rel=1e-9, abs=1e-15)


def test_how_many_values_are_computed_at_a_time_makes_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    term, angles = Term.of(LAPLACE, np.array([0.5, 1.0, 3.0])), np.linspace(0, 3, 7)
    at_once = term.log_characteristic(angles)
    monkeypatch.setattr(noise_sum, "CELLS", 1)
    assert term.log_characteristic(angles) == pytest.approx(at_once, abs=1e-15)
    assert Term.of(LAPLACE, np.zeros(2)).log_characteristic(angles).tolist() == [0.0] * 7


def test_a_frequency_that_a_law_does_not_have_is_nothing() -> None:
    """And no warning, which would be an error here."""
    wide = Term.of(DiscreteGaussian(Fraction(10**4)), np.ones(1))
    assert wide.log_characteristic(np.array([0.0, np.pi])).tolist() == [0.0, -np.inf]


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN])
def test_a_moment_is_the_product_over_the_weights(law: Law) -> None:
    term, weights = many(law)
    exponents = np.linspace(0.01, 0.45, 12)
    slowly = [float(law.log_moment(each * weights).sum()) for each in exponents]
    assert term.log_moment(exponents) == pytest.approx(slowly, rel=1e-12)


@pytest.mark.parametrize("farthest", [0.02, 0.2, 3.0, 1e4])
def test_what_is_split_off_is_a_series_that_holds_up_to_the_farthest_angle(farthest: float) -> None:
    term, weights = many(LAPLACE)
    large, series = term.split(farthest)
    small = weights[weights <= LAPLACE.steepest / (4 * farthest)]
    assert large.copies.sum() + len(small) == len(weights)
    for angle in farthest * np.array([0.1, 0.5, 1.0]):
        slowly = float(np.log(LAPLACE.characteristic(angle * small)).sum())
        assert float(series(np.array([angle**2]))[0]) == pytest.approx(slowly, rel=1e-14)
    assert float(large.weights.min(initial=9)) > weights[0] or not len(small)


def test_weights_beyond_any_series_are_left_to_themselves() -> None:
    """And no warning, which would be an error here, that their powers are too large."""
    large, series = Term.of(LAPLACE, np.array([1e30, 1e-3])).split(1.0)
    assert large.weights.tolist() == [1e30]
    slowly = float(np.log(LAPLACE.characteristic(np.array([1e-3])))[0])
    assert float(series(np.ones(1))[0]) == pytest.approx(slowly, rel=1e-14)


def test_a_gaussian_has_no_series() -> None:
    term, _ = many(GAUSSIAN)
    large, series = term.split(0.001)
    assert large is term
    assert series(np.array([1.0, 2.0])).tolist() == [0, 0]


def test_a_sum_is_as_steep_as_its_largest_weight_allows() -> None:
    assert Term.of(LAPLACE, np.array([1.0, 4.0])).steepest() == 0.125
    assert Term.of(LAPLACE, np.array([1.0, 4.0, 4.0])).variance() == pytest.approx(
        33 * LAPLACE.variance()
    )


# How far a sum reaches


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN, DiscreteLaplace(Fraction(1, 20))])
@pytest.mark.parametrize("weights", [(1,), (1, 1, 1), (4, 1), (1,) * 30])
def test_what_is_out_of_reach_is_negligible_and_reach_is_not_far(
    law: Law, weights: tuple[int, ...]
) -> None:
    sure = noise(law, *weights)._reach
    exact = spread_out([(law, weight) for weight in weights], 90)
    assert beyond(exact, sure) <= 1.01e-12 + 1e-15 * len(exact)
    near = next(width for width in range(len(exact)) if beyond(exact, width) <= 1e-12)
    assert sure <= 1.35 * near + 3


def test_nothing_reaches_nowhere() -> None:
    none = NoiseSum.of([])
    assert none._reach == none.variance() == none.half_width(Fraction(99, 100)) == 0
    assert none.outside(0) <= 2 * MARGIN
    assert noise(DiscreteLaplace(Fraction(1, 10**6)), 1.0).outside(0) <= 2 * MARGIN


@pytest.mark.parametrize(
    ("weights", "mesh"),
    [
        ((), 1),
        ((3, 1), 1),
        ((1 / 3, 0.25), 12),
        ((0.5, 1.5), 2),
        ((1 / FINEST_MESH,), FINEST_MESH),
        ((1 / (FINEST_MESH + 1),), None),
        ((0.5, 1 / 61), None),
        ((*range(2, 11), 1 / 7), 7),  # the smallest of many
        ((np.sqrt(2),), None),
        ((1 / 3 + 1e-12,), 3),
        ((1 / 3 + 1e-9,), None),
    ],
)
def test_a_mesh_is_the_smallest_that_fits_all_weights(
    weights: tuple[float, ...], mesh: int | None
) -> None:
    assert noise(LAPLACE, *weights)._mesh == mesh


# Tails on a lattice, and off it


@pytest.mark.parametrize("slack", [Fraction(), HALF, Fraction(1), Fraction(3, 2), Fraction(5, 2)])
@pytest.mark.parametrize(
    ("rows", "mesh"),
    [
        ([(LAPLACE, 1)], 1),
        ([(LAPLACE, 3), (GAUSSIAN, 2)], 4),
        ([(GAUSSIAN, 5), (GAUSSIAN, 1)], 3),
        ([(GAUSSIAN, 25), (LAPLACE, 7)], 60),
        ([(LAPLACE, 7), (LAPLACE, 5)], 100),  # too fine for a lattice
        ([(GAUSSIAN, 43)], 101),
    ],
)
def test_noise_is_outside_as_often_as_enumeration_says(
    rows: list[tuple[Law, int]], mesh: int, slack: Fraction
) -> None:
    """|noise| > w says w + 1 at least, so that Σ weight·z is at least w + 1 − slack."""
    made = NoiseSum.of([(law, np.array([weight / mesh])) for law, weight in rows], slack)
    exact = spread_out(rows, 90)
    lattice = mesh <= FINEST_MESH
    assert made._on_lattice == lattice
    allowed = 0.0 if lattice else 6.6 * noise_sum.LEAST_SMOOTHING
    for width in range(2 * made._reach + 4):
        least = width + 1 - float(slack)
        truth = beyond(exact, mesh * least)
        nearly = beyond(exact, mesh * (least - allowed))
        assert min(truth, 1 - 1e-12) <= made.outside(width) <= min(1.0, nearly + 1.2 * MARGIN)


@pytest.mark.parametrize("weights", [(1,), (0.07, 0.05)])
@pytest.mark.parametrize("slack", [Fraction(), HALF])
@pytest.mark.parametrize("level", ["0.5", "0.9", "0.99", "0.999999"])
def test_a_half_width_is_the_first_width_that_holds(
    weights: tuple[float, ...], slack: Fraction, level: str
) -> None:
    made = noise(DiscreteLaplace(Fraction(30)), *weights, slack=slack)
    width, allowed = made.half_width(Fraction(level)), 1 - float(Fraction(level))
    assert made.outside(width) <= allowed + 1e-15
    assert width == 0 or made.outside(width - 1) > allowed


def test_a_width_that_holds_just_so_often_holds() -> None:
    made = noise(DiscreteLaplace(Fraction(20)), 1.0)
    for width in range(9):
        allowed = made.outside(width)  # at least a half, so that 1 − allowed is exact
        assert allowed > 0.5
        assert made.half_width(Fraction(1 - allowed)) == width


@pytest.mark.parametrize("weights", [(1.0,), (0.07, 0.05)])
def test_the_margin_is_part_of_what_has_to_hold(weights: tuple[float, ...]) -> None:
    made = noise(DiscreteLaplace(Fraction(30)), *weights)
    for width in (1, 3, 6):
        level = Fraction(1) - Fraction(made.outside(width) - MARGIN / 2)
        found = made.half_width(level)
        assert found > width
        assert made.outside(found) <= 1 - float(level)
    assert MARGIN == 1e-9 == pytest.approx(made.outside(10**6))


OFF: list[tuple[list[tuple[Law, int]], int]] = [
    ([(LAPLACE, 7), (LAPLACE, 5)], 100),
    ([(GAUSSIAN, 43)], 101),
    ([(DiscreteGaussian(Fraction(400)), 30), (LAPLACE, 1)], 7),
    ([(DiscreteGaussian(Fraction(40_000)), 1)], 100),  # whose waves end before the error's
]


def waves(
    rows: list[tuple[Law, int]], mesh: int, unit: int, least: Fraction, smoothing: float
) -> _Waves:
    made = NoiseSum.of([(law, np.array([weight / mesh])) for law, weight in rows])
    return _Waves.of(made.terms, made._reach, unit, least, smoothing)


@pytest.mark.parametrize(("rows", "mesh"), OFF)
@pytest.mark.parametrize("unit", [1, 3])
@pytest.mark.parametrize("least", [Fraction(1), HALF, -HALF])
@pytest.mark.parametrize("smoothing", [1e-5, 0.01, 0.1])
def test_waves_add_up_to_the_law_with_a_normal_error(
    rows: list[tuple[Law, int]], mesh: int, unit: int, least: Fraction, smoothing: float
) -> None:
    """P(|S + error| ≥ x) at every x, by enumeration of S; and the error is as large as is paid."""
    made = waves(rows, mesh, unit, least, smoothing)
    spread = (float(least) / unit - made.start) / noise_sum.SHORTENING
    needed = 8 * made.length / (2 * np.pi * noise_sum.ANGLES)
    assert spread == pytest.approx(max(noise_sum.LEAST_SMOOTHING, smoothing, needed), rel=1e-9)
    exact = spread_out(rows, max(200, *(10 * ceil(law.variance() ** 0.5) for law, _ in rows)))
    places = (np.arange(len(exact)) - len(exact) // 2) / mesh / unit
    seen = made.everywhere()
    assert len(seen) == made.number
    for place in {*range(min(8, made.number)), made.number // 2, made.number - 1}:
        point = place + made.start
        out = ndtr((-point - places) / spread) + ndtr((places - point) / spread)
        truth = float((exact * out).sum()) if point > 0 else 1.0
        assert seen[place] == pytest.approx(truth, abs=2e-10)
        assert made.at(place) == pytest.approx(truth, abs=2e-10)
    assert (seen[: max(0, ceil(-made.start))] == 1).all()


@pytest.mark.parametrize("unit", [1, 3])
def test_waves_end_where_those_of_the_noise_are_negligible(unit: int) -> None:
    made = waves(*OFF[3], unit, Fraction(1), 0.1)
    last = 2 * np.pi / made.length / unit * len(made.sizes)
    deviation = 2.0
    assert np.exp(-((last * deviation) ** 2) / 2) <= 1e-18
    assert np.exp(-((last / 1.4 * deviation) ** 2) / 2) > 1e-18


def test_waves_go_on_until_the_normal_error_ends_them() -> None:
    made = waves([(DiscreteLaplace(Fraction(1, 9)), 1)], 9, 1, Fraction(1), 0.01)
    last = 2 * np.pi / made.length * len(made.sizes)
    assert 8 / 0.01 <= last <= 8 / 0.01 + 2 * np.pi / made.length


@pytest.mark.parametrize("many", [False, True])
def test_the_first_width_below_a_chance_is_found_in_both_ways(many: bool) -> None:
    made = waves(*OFF[2], 1, Fraction(1), 0.1)
    silent = np.zeros(5 * made.length if many else 0)
    made = replace(made, sizes=np.append(made.sizes[: 2 * made.length], silent))
    assert (len(made.sizes) > 4 * made.length) == many
    values = made.everywhere() if many else np.array([made.at(w) for w in range(made.number)])
    for chance in (0.9, 0.5, 0.01, 1e-5, *values[:8].tolist()):
        assert made.first_below(chance) == int(np.flatnonzero(values <= chance)[0])
    assert made.first_below(-1.0) == made.number


@pytest.mark.parametrize("scale", [2_000, 30_000])
def test_far_noise_is_told_in_larger_units(scale: int) -> None:
    """Off the lattice; in one unit as at its beginning, and never too little."""
    made = noise(DiscreteLaplace(Fraction(scale)), 1.01, slack=HALF)
    assert made._mesh is None
    assert made._unit == ceil(made._reach / MOST_WIDTHS) > 1
    fall = np.exp(-1 / scale)
    for share in (0.0, 0.5, 1.0, 4.0, 10.0):
        width = int(share * scale)
        first = ceil((width + 0.5) / 1.01)
        truth = 2 * fall**first / (1 + fall) if first else 1.0
        told = made.outside(width)
        assert truth <= told <= truth * np.exp(3 * made._unit / scale) + 2 * MARGIN
    width = made.half_width(Fraction(19, 20))
    assert width % made._unit == 0
    assert made.outside(width) <= 0.05 < made.outside(width - 1)


def test_a_lattice_that_is_too_large_is_not_made() -> None:
    fits = noise(DiscreteLaplace(Fraction(16_000)), 1.0)
    assert fits._on_lattice
    assert 2 * fits._reach <= LARGEST_LATTICE
    wide = noise(DiscreteLaplace(Fraction(18_000)), 1.0)
    assert not wide._on_lattice
    assert 2 * wide._reach > LARGEST_LATTICE
    assert wide.half_width(HALF) == pytest.approx(18_000 * log(2), rel=0.01)
    assert wide.outside(18_000) == pytest.approx(np.exp(-1), rel=0.01)
    fine = noise(DiscreteLaplace(Fraction(400)), 65 / 64)
    assert fine._mesh == 64
    assert not fine._on_lattice


@pytest.mark.parametrize(
    ("law", "weights"),
    [
        (DiscreteGaussian(Fraction(25)), [1.0]),
        (DiscreteGaussian(Fraction(25)), [0.3, 0.2]),
        (LAPLACE, [1.0] * 60),
        (LAPLACE, [1.0] * 60 + [0.01] * 50),
        (LAPLACE, [0.3, *[0.01] * 9_000]),
        (LAPLACE, [0.3, *[0.001] * 900_000]),  # of which most is a series
        (LAPLACE, np.linspace(0.001, 1.0, 900).tolist()),
    ],
)
def test_angles_end_where_the_rest_is_negligible(law: Law, weights: list[float]) -> None:
    """As far as the largest weight's own function falls."""
    term = Term.of(law, np.array(weights))
    spacing, number = 0.001, int(3_000 / max(weights))
    last = _last_angle((term,), spacing, number)
    rest = _characteristic((term,), np.linspace(spacing * last, spacing * number, 500))
    assert float(rest.max()) <= 1.01e-18
    before = _characteristic((term,), np.array([spacing * last / 1.4]))
    assert float(before[0]) > 1e-18


ALONG: list[tuple[Law, list[float]]] = [
    (DiscreteLaplace(Fraction(102_300)), np.geomspace(1e-9, 2.5e-3, 300).tolist()),
    (DiscreteLaplace(Fraction(40)), [0.9, 0.31, *[0.01] * 70]),
    (DiscreteLaplace(Fraction(1, 20)), [0.7, 0.3]),
    (DiscreteGaussian(Fraction(400)), [0.31, *np.linspace(0.001, 0.05, 90).tolist()]),
    (DiscreteGaussian(Fraction(1, 9)), [0.2, 0.013]),
    (DiscreteGaussian(Fraction(3)), [1.0]),  # no longer smooth from half of π on
    (DiscreteGaussian(Fraction(10**12)), [0.7]),  # of which nothing is left at once
]


@pytest.mark.parametrize(("law", "weights"), ALONG)
@pytest.mark.parametrize("spacing", [1e-4, 0.003, 0.05])
def test_along_many_angles_it_is_what_it_is_at_each(
    law: Law, weights: list[float], spacing: float
) -> None:
    """Where no weight is beyond π/2, it is filled in; elsewhere not."""
    term = Term.of(law, np.array(weights))
    found = _characteristic_along((term,), spacing, 3_000)
    exactly = _characteristic((term,), spacing * np.arange(1.0, 3_001))
    assert found == pytest.approx(exactly, rel=3e-13, abs=1.1e-18)
    both = (term, Term.of(LAPLACE, np.array([0.02, 0.001])))
    exactly = _characteristic(both, spacing * np.arange(1.0, 2_001))
    assert _characteristic_along(both, spacing, 2_000) == pytest.approx(
        exactly, rel=3e-13, abs=1.1e-18
    )


def test_along_no_angles_there_is_nothing_and_of_nothing_it_is_1() -> None:
    assert _characteristic_along((), 0.01, 0).tolist() == []
    assert _characteristic_along((), 0.01, 200) == pytest.approx(np.ones(200), rel=1e-14)


def test_few_angles_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def seen(self: Term, angles: Floats) -> Floats:
        looked.append(len(angles))
        return by_angle(self, angles)

    by_angle = Term.log_characteristic
    monkeypatch.setattr(Term, "log_characteristic", seen)
    _characteristic_along((Term.of(LAPLACE, np.array([0.3, 0.001])),), 0.001, 4_000)
    assert sum(looked) < 300


def test_a_function_that_rises_again_does_not_end_the_angles() -> None:
    """That of a whole weight is 1 again at 2π, however small it is in between."""
    term = Term.of(DiscreteGaussian(Fraction(25)), np.ones(1))
    assert _last_angle((term,), 0.001, 7_000) == 7_000
    small = Term.of(GAUSSIAN, np.array([0.3]))
    both = _last_angle((term, small), 0.001, 10_000)
    assert both == _last_angle((small,), 0.001, 10_000) == pytest.approx(10_116, abs=117)


def test_where_nothing_is_negligible_all_angles_are_looked_at() -> None:
    assert _last_angle((Term.of(LAPLACE, np.ones(1)),), 0.001, 3_000) == 3_000
    assert _last_angle((), 0.001, 3_000) == 3_000


# Variances


@pytest.mark.parametrize(
    ("rows", "mesh"),
    [
        ([(DiscreteLaplace(Fraction(1, 2)), 1)], 2),
        ([(DiscreteLaplace(Fraction(1, 2)), 3), (DiscreteGaussian(Fraction(1, 2)), 1)], 4),
        ([(LAPLACE, 30), (DiscreteGaussian(HALF), 11)], 101),
        ([(DiscreteLaplace(Fraction(1, 3)), 77)], 100),
        ([(LAPLACE, 64)], 101),
    ],
)
def test_what_rounding_adds_to_a_variance_or_takes_from_it(
    rows: list[tuple[Law, int]], mesh: int
) -> None:
    made = NoiseSum.of([(law, np.array([weight / mesh])) for law, weight in rows], HALF)
    exact = spread_out(rows, 60)
    places = (np.arange(len(exact)) - len(exact) // 2) / mesh
    assert made.variance() == pytest.approx(float((exact * places**2).sum()), rel=1e-9)
    assert made.variance() < WIDE
    rounded = float((exact * np.rint(places) ** 2).sum())
    if made._mesh is None:  # it is computed for what lies next to S
        whole = np.arange(-60, 61)[:, None]
        ends = ndtr((whole + 0.5 - places) / 0.007) - ndtr((whole - 0.5 - places) / 0.007)
        nearby = float((exact * (whole**2 * ends)).sum())
        assert nearby == pytest.approx(rounded, rel=3e-3)
        rounded = nearby
    assert made.rounded_variance() == pytest.approx(rounded, rel=1e-7)
    assert abs(rounded / made.variance() - 1) > 1e-2  # so that it matters


def test_wide_noise_gains_a_twelfth_by_rounding() -> None:
    made = noise(LAPLACE, 0.5, 0.5, 1.0, slack=HALF)
    assert made.variance() >= WIDE
    assert made.rounded_variance() == made.variance() + 1 / 12
    assert noise(LAPLACE, 0.5, 0.5, 1.0).rounded_variance() == made.variance()


def test_noise_that_is_never_seen_has_no_variance() -> None:
    tiny = DiscreteLaplace(Fraction(1, 40))
    assert 0 <= noise(tiny, 0.3, slack=HALF).rounded_variance() < 1e-9
    assert 0 <= noise(tiny, np.sqrt(0.1), slack=HALF).rounded_variance() < 1e-9
