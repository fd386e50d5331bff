"""Intervals against exact convolution, closed forms and simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.factorisations.bordered import Bordered, Dyadic, identity
from graphveil.mechanisms.factorisations.factorisation import Factorisation
from graphveil.mechanisms.laplace import SensDiff
from graphveil.mechanisms.mechanism import Epoch, Request, mechanism
from graphveil.mechanisms.planning.continuation import continued, renewed
from graphveil.mechanisms.planning.intervals import (
    _Identity,
    _noises,
    change_interval,
    half_widths,
    interval,
    noise_interval,
    noise_of,
)
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, Law
from graphveil.noise.noise_sum import ANGLES, LEAST_SMOOTHING, MARGIN, SHORTENING, NoiseSum
from graphveil.series.planner import compare, plan
from graphveil.statistics.statistic import statistic
from tries import sampled

Floats = NDArray[np.float64]
HALF = Fraction(1, 2)


def probabilities(law: Law, reach: int) -> Floats:
    """P(k) for k from −reach to reach, from the definition of each law."""
    k = np.arange(-reach, reach + 1)
    if isinstance(law, DiscreteLaplace):
        weights = np.exp(-np.abs(k) / float(law.scale))
    else:
        weights = np.exp(-(k**2) / (2 * float(law.size)))
    return np.asarray(weights / weights.sum())


def convolved(law: Law, weights: tuple[int, ...], reach: int = 60) -> dict[int, float]:
    """The law of Σ weight·z for whole weights, by plain enumeration."""
    found: dict[int, float] = {0: 1.0}
    single = list(zip(range(-reach, reach + 1), probabilities(law, reach).tolist(), strict=True))
    for weight in weights:
        longer: dict[int, float] = {}
        for place, chance in found.items():
            for k, more in single:
                longer[place + weight * k] = longer.get(place + weight * k, 0.0) + chance * more
        found = longer
    return found


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(3, 2)), DiscreteGaussian(Fraction(5))])
@pytest.mark.parametrize("weights", [(1,), (1, 1, 1), (1, -2), (3, 1)])
def test_whole_weights_against_enumeration(law: Law, weights: tuple[int, ...]) -> None:
    noise = NoiseSum.of([(law, np.array(weights, dtype=float))])
    exact = convolved(law, weights)
    for width in range(15):
        truth = sum(chance for place, chance in exact.items() if abs(place) > width)
        assert truth <= noise.outside(width) <= truth + 2 * MARGIN


@pytest.mark.parametrize("mesh", [2, 3, 8, 977])
def test_broken_weights_against_enumeration(mesh: int) -> None:
    """Weights 3, 2 and 1 in units of 1/mesh; a mesh of 977 is too fine for a lattice."""
    law = DiscreteLaplace(Fraction(mesh, 4))
    weights = (3, 2, 1)
    noise = NoiseSum.of([(law, np.array(weights) / mesh)], HALF)
    assert (noise._mesh is None) == (mesh == 977)
    exact = _fine(law, weights, mesh)
    place = np.arange(len(exact)) - len(exact) // 2
    for width in range(6):
        truth = float(exact[2 * np.abs(place) >= (2 * width + 1) * mesh].sum())
        slightly_less = float(exact[np.abs(place) >= (width + 0.49) * mesh].sum())
        assert truth <= noise.outside(width) <= slightly_less + 2 * MARGIN


def _fine(law: Law, weights: tuple[int, ...], mesh: int) -> Floats:
    """The law of mesh·S by convolving arrays."""
    found = np.ones(1)
    for weight in weights:
        single = probabilities(law, 8 * mesh)
        spaced = np.zeros((len(single) - 1) * weight + 1)
        spaced[::weight] = single
        size = len(found) + len(spaced) - 1
        found = np.fft.irfft(np.fft.rfft(found, size) * np.fft.rfft(spaced, size), size)
    return found


@pytest.mark.parametrize("scale", [1, 40, 5_000, 10**6, 10**12])
@pytest.mark.parametrize("level", ["0.5", "0.95", "0.999999"])
def test_one_noise_against_its_closed_form(scale: int, level: str) -> None:
    """The smallest w with 2·q^(w+1)/(1+q) ≤ 1 − level; far numbers in larger units."""
    noise = NoiseSum.of([(DiscreteLaplace(Fraction(scale)), np.ones(1))])
    width = noise.half_width(Fraction(level))
    # q^(w+1) with floats near 1 needs the exponent as one product.
    outside = 2 * exp(-(width + 1) / scale) / (1 + exp(-1 / scale))
    assert outside <= 1 - float(level) + 1e-15
    smaller = width - max(1, width // 100)
    assert 2 * exp(-(smaller + 1) / scale) / (1 + exp(-1 / scale)) > 1 - float(level) - MARGIN


@given(
    scale=st.fractions(min_value=Fraction(1, 4), max_value=30),
    weights=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    denominator=st.sampled_from([1, 2, 7, 101, 1009]),
)
def test_outside_falls_with_the_width(
    scale: Fraction, weights: list[int], denominator: int
) -> None:
    row = np.array(weights) / denominator
    noise = NoiseSum.of([(DiscreteLaplace(scale), row)], HALF if denominator > 1 else Fraction())
    widths = [noise.half_width(Fraction(level, 100)) for level in (10, 50, 90, 99)]
    assert widths == sorted(widths)
    for width, level in zip(widths, (10, 50, 90, 99), strict=True):
        assert noise.outside(width) <= 1 - level / 100
        assert width == 0 or noise.outside(width - 1) > 1 - level / 100


def bridged_plan(epsilon: str = "1", epochs: int = 2) -> Plan:
    """Epochs of three steps that share one more measurement: nothing comes out whole."""
    request = Request(statistic("nodes").sensitivity(DegreeBound(3)), Fraction(epsilon))
    shape = Bordered((7, 9, 11), ((3, 1, 2),), ((40,), (70,), (101,)), 1001)
    scale = Fraction(shape.column_l1()) / Fraction(epsilon)
    return Plan(SensDiff(), request, (Epoch(shape, DiscreteLaplace(scale)),) * epochs)


def simulated(plan: Plan, steps: int, runs: int = 60_000) -> NDArray[np.int64]:
    return simulate(plan, runs, np.random.default_rng(5), steps)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_coverage_of_rounded_noise_over_epochs(level: float) -> None:
    plan = bridged_plan()
    noise = simulated(plan, 6)
    for step in range(6):
        low, high = interval(plan, step, 0, level)
        assert low == -high
        size = np.abs(noise[:, step])
        assert (size <= high).mean() >= level - 0.008
        assert (size <= high - 1).mean() < level + 0.012


def test_coverage_of_every_mechanism() -> None:
    edges, bound = statistic("edges"), DegreeBound(2)
    for prospect in compare(edges, bound, epsilon="1", delta="0.001", horizon=12):
        if prospect.plan is None:
            continue
        size = np.abs(simulated(prospect.plan, 12, 20_000))
        for step in (0, 4, 11):
            width = interval(prospect.plan, step, 0, "0.9")[1]
            assert (size[:, step] <= width).mean() >= 0.9 - 0.01, prospect.name
            assert (size[:, step] <= width - 1).mean() < 0.9 + 0.01, prospect.name


@pytest.mark.parametrize("pair", [(0, 1), (1, 4), (0, 5)])
def test_coverage_of_changes(pair: tuple[int, int]) -> None:
    for each in (bridged_plan(), _sensdiff("0.3")):
        noise = simulated(each, 6)
        change = np.abs(noise[:, pair[1]] - noise[:, pair[0]])
        low, high = change_interval(each, *pair, 0, 0.9)
        assert low == -high
        assert (change <= high).mean() >= 0.9 - 0.006
        assert (change <= high - 3).mean() < 0.9 + 0.006


def _sensdiff(epsilon: str) -> Plan:
    return plan(
        statistic("nodes"), DegreeBound(3), epsilon=epsilon, horizon=6, mechanism="sensdiff"
    )


def test_changes_of_totals_carry_the_noise_of_both() -> None:
    compose = plan(
        statistic("edges"), DegreeBound(2), epsilon=1, horizon=5, mechanism="compose-d-bounded"
    )
    both = noise_of(compose, {0: -1, 4: 1})
    assert both.variance() == pytest.approx(2 * noise_of(compose, {4: 1}).variance())
    sensdiff = _sensdiff("1")
    assert noise_of(sensdiff, {1: -1, 4: 1}).variance() == pytest.approx(
        3 * noise_of(sensdiff, {0: 1}).variance()
    )


def test_sums_of_bins_and_of_releases() -> None:
    one = noise_of(_sensdiff("1"), {0: 1})
    three = one + one + one
    assert three.variance() == pytest.approx(3 * one.variance())
    low, high = noise_interval(three, 100, "0.95")
    assert low == 200 - high
    doubled = noise_of(_sensdiff("1"), {0: 1, 1: 1})  # z0 + (z0 + z1)
    assert doubled.variance() == pytest.approx(5 * one.variance())


def test_an_interval_lies_around_the_raw_value() -> None:
    low, high = interval(_sensdiff("1"), 5, 1_000)
    assert low + high == 2_000
    assert interval(_sensdiff("1"), 5, -7, "1/2")[0] < -7


@pytest.mark.parametrize("level", [0, 1, -0.5, "0.9999999", "many", float("nan"), True])
def test_levels_out_of_range_are_refused(level: float | str) -> None:
    with pytest.raises(ParameterError, match="level"):
        interval(_sensdiff("1"), 0, 0, level)


@pytest.mark.parametrize("step", [-1, 6])
def test_steps_out_of_range_are_refused(step: int) -> None:
    with pytest.raises(ParameterError, match=r"step|horizon"):
        interval(_sensdiff("1"), step, 0)


PLANS: list[tuple[str, int | None, str | None]] = [
    ("optimised", 60, None),
    ("optimised", 7, None),
    ("bridged", 60, None),
    ("tree", 40, None),
    ("sensdiff", 30, None),
    ("sensdiff", None, None),
    ("epochs", None, None),
    ("gaussian", 50, "1e-6"),
    ("compose-d-bounded", 20, None),
]


@pytest.mark.parametrize(
    ("mechanism", "horizon", "delta", "epsilon"),
    sampled(((*each, epsilon) for epsilon in ("1/5", "20") for each in PLANS), 2),
)
def test_widths_in_one_pass_are_those_of_the_slow_definition(
    mechanism: str, horizon: int | None, delta: str | None, epsilon: str
) -> None:
    made = plan(
        statistic("edges"),
        DegreeBound(9),
        epsilon=epsilon,
        delta=delta,
        horizon=horizon,
        mechanism=mechanism,
    )
    last = (horizon or 40) - 1
    chosen = sorted({0, 17, last} & set(range(last + 1)))
    found = half_widths(made, range(last + 1))
    one_by_one = [half_widths(made, range(step, step + 1))[0] for step in chosen]
    assert [found[step] for step in chosen] == one_by_one
    for step, width in zip(chosen, one_by_one, strict=True):
        noise = noise_of(made, {step: 1})
        assert isinstance(noise, NoiseSum)
        assert slow_outside(noise, width) <= 0.05
        assert width == 0 or slow_outside(noise, width - noise._unit) > 0.05


def slow_outside(noise: NoiseSum, width: int) -> float:
    """P(|noise| > width), from a product over every noise at every angle, one after the other."""
    if noise._on_lattice:
        return noise.outside(width)
    reach, unit = noise._reach, noise._unit
    length = 2 * (-(-reach // unit) + 3)
    spread = max(LEAST_SMOOTHING, 8 * length / (2 * np.pi * ANGLES))
    number = np.arange(1, int(np.ceil(8 / spread * length / (2 * np.pi))) + 1)
    angles = 2 * np.pi / length * number
    value = np.exp(-((spread * angles) ** 2) / 2)
    for term in noise.terms:
        for weight, copies in zip(term.weights, term.copies, strict=True):
            value *= term.law.characteristic(weight * angles / unit) ** copies
    point = width / unit + float(1 - noise.slack) / unit - SHORTENING * spread
    waves = float((value / number * np.sin(angles * point)).sum())
    return 1 - 2 * point / length - 2 / np.pi * waves + MARGIN if point > 0 else 1.0


def of_epochs(
    name: str, shapes: list[Factorisation], scales: list[int], cuts: Sequence[int | None] = ()
) -> Plan:
    """A plan with just these epochs, of which some were cut."""
    laws = [DiscreteLaplace(Fraction(scale, 4)) for scale in scales]
    epochs = tuple(map(Epoch, shapes, laws, cuts or [None] * len(shapes)))
    return Plan(mechanism(name), bridged_plan().request, epochs)


def adopted_twice(name: str, releases: int) -> Plan:
    """A plan with fresh noise after so many releases, and again after six more."""
    made = plan(statistic("edges"), DegreeBound(3), epsilon=8, horizon=24, mechanism=name)
    return renewed(renewed(made, releases), releases + 6)


def joined(name: str, counted: str) -> Plan:
    """Noise of a joint law, and what follows it: noise by noise, or the same law again."""
    bound = DegreeBound(3)
    projection = bound if mechanism(name).projects else None
    made = plan(
        statistic(counted), bound, epsilon=2, horizon=3, mechanism=name, projection=projection
    )
    return continued(made, 3)


TREE, ROWS = Dyadic(2), Bordered((1, 1), ((1, 1),), ((1,), (2,)), 3)


@pytest.mark.parametrize(
    "made",
    [
        bridged_plan(epochs=3),
        _sensdiff("0.01"),
        of_epochs("sensdiff", [TREE] * 4, [2, 2, 2, 9]),
        of_epochs("sensdiff", [TREE, ROWS, TREE, TREE], [2, 9, 2, 2]),
        of_epochs("sensdiff", [ROWS, identity(1), identity(2), TREE], [7, 2, 2, 1]),
        of_epochs("compose-d-bounded", [TREE, ROWS, TREE], [2, 9, 4]),
        of_epochs("sensdiff", [TREE, ROWS, TREE], [9, 3, 2], [1, None, None]),
        of_epochs("sensdiff", [ROWS, ROWS, ROWS, TREE], [4, 4, 4, 1], [1, 1, None, None]),
        of_epochs("sensdiff", [Dyadic(4), ROWS, TREE, TREE], [9, 3, 1, 1], [3, 1, 1, 1]),
        *(
            adopted_twice(name, releases)
            for name, releases in (("bridged", 1), ("optimised", 5), ("tree", 7), ("epochs", 5))
        ),
        joined("moves", "components"),
        joined("range-projection", "edges"),
        joined("box-projection", "edges"),
    ],
)
def test_widths_in_one_pass_are_those_of_each_interval(made: Plan) -> None:
    """Whatever epochs follow each other, equal or not, whole or not."""
    steps = sum(epoch.steps for epoch in made.epochs)
    for first, end in [(0, steps), (1, steps - 1), (2, 3), (steps - 1, steps)]:
        found = half_widths(made, range(first, end), "0.8")
        assert found == [interval(made, step, 0, "0.8")[1] for step in range(first, end)]
    assert half_widths(made, range(2)) == half_widths(made, range(2), "0.95")


def test_what_follows_joint_noise_has_both_noises() -> None:
    made = joined("moves", "components")
    noise = simulate(made, 20_000, np.random.default_rng(2))
    for step in (2, 3, 5):
        width = interval(made, step, 0, "0.9")[1]
        assert np.mean(np.abs(noise[:, step]) <= width) >= 0.9 - 4 * np.sqrt(0.09 / 20_000)
        assert np.mean(np.abs(noise[:, step]) <= width - 1) < 0.9


def test_the_level_is_95_percent_if_none_is_given() -> None:
    plan = _sensdiff("0.001")
    narrower, asked, wider = (interval(plan, 3, 0, level) for level in ("0.945", "0.95", "0.955"))
    assert interval(plan, 3, 0) == asked
    assert narrower[1] < asked[1] < wider[1]
    assert change_interval(plan, 1, 3, 0) == change_interval(plan, 1, 3, 0, "0.95")


def test_the_highest_level_is_the_last_that_is_taken() -> None:
    assert interval(_sensdiff("1"), 0, 0, "0.999999")[1] > 0
    for level in ("0.9999991", "0", 1):
        with pytest.raises(ParameterError, match=r"level: must be above 0 and at most 0\.999999"):
            interval(_sensdiff("1"), 0, 0, level)


@pytest.mark.parametrize("steps", [[], [-1], [-1, 3], [3, -1]])
def test_releases_that_do_not_exist_have_no_noise(steps: list[int]) -> None:
    with pytest.raises(ParameterError, match="step: must be a whole number of at least 0"):
        noise_of(_sensdiff("1"), dict.fromkeys(steps, 1))


def test_what_was_found_is_kept_for_its_own_plan_only() -> None:
    one = _sensdiff("1")
    other = replace(one)  # equal, but not the same
    assert noise_of(one, {2: 1}) is noise_of(one, {2: 1})
    assert noise_of(one, {2: 1}) is not noise_of(one, {3: 1})
    assert _Identity(one) == _Identity(one)
    assert _Identity(one) != _Identity(other)
    assert _Identity(one) != "a plan"


def summed(made: Plan, coefficients: dict[int, int]) -> NoiseSum:
    """The law of noises that are independent."""
    noise = noise_of(made, coefficients)
    assert isinstance(noise, NoiseSum)
    return noise


def test_rounding_moves_each_release_that_is_rounded_by_a_half() -> None:
    whole, broken = _sensdiff("1"), bridged_plan()
    assert summed(whole, {0: 1, 5: -3}).slack == 0
    assert summed(broken, {4: 1}).slack == HALF
    assert summed(broken, {0: -1, 4: 2}).slack == 3 * HALF


def test_what_an_epoch_leaves_broken_stays_broken() -> None:
    """The first step of a tree is whole by itself, but not on top of a tree that is not."""
    trees = of_epochs("sensdiff", [TREE, TREE], [12, 12])
    assert [summed(trees, {step: 1}).slack for step in range(4)] == [0, HALF, HALF, HALF]


@pytest.mark.parametrize(
    "made",
    [
        bridged_plan(epochs=4),
        of_epochs("sensdiff", [TREE, ROWS, TREE, TREE, Dyadic(3)], [2, 9, 2, 2, 5]),
        of_epochs("sensdiff", [identity(1), identity(3), Dyadic(3), identity(1)], [2, 2, 1, 7]),
        of_epochs("compose-d-bounded", [TREE, ROWS, TREE], [2, 9, 4]),
    ],
)
def test_the_noise_of_all_releases_in_one_pass_is_that_of_each(made: Plan) -> None:
    steps = range(sum(epoch.steps for epoch in made.epochs))
    for step, noise in zip(steps, _noises(made, steps), strict=True):
        alone = summed(made, {step: 1})
        assert isinstance(noise, NoiseSum)
        assert noise.variance() == pytest.approx(alone.variance(), rel=1e-9)
        assert noise.slack == alone.slack
