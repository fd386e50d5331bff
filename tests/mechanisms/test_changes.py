"""How far noise reaches in what is new: against simulation of every mechanism, and by the walk."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.factorisations.bordered import Bordered
from graphveil.mechanisms.mechanism import Epoch, mechanism
from graphveil.mechanisms.planning.change import Change
from graphveil.mechanisms.planning.continuation import continued
from graphveil.mechanisms.planning.intervals import change_errors, half_widths, noise_of, quickly
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise import noise_sum
from graphveil.noise.joint_laws import MovesNoise
from graphveil.noise.laws import DiscreteLaplace
from graphveil.noise.noise_sum import Floats, NoiseSum, Term
from graphveil.series.planner import compare, plan
from graphveil.statistics.statistic import statistic

STEPS = 9
ASKED = (Change(), Change(1, against=True), Change(3), Change(3, against=True))
LEVEL = Fraction(9, 10)


def plans() -> list[Plan]:
    counted, bound = statistic("high-degree", tau=1), DegreeBound(2)
    found = compare(
        counted, bound, epsilon="1", delta="0.001", horizon=STEPS, projection=DegreeBound(2)
    )
    unknown = plan(statistic("edges"), bound, epsilon="0.7", horizon=None)
    return [*(each.plan for each in found if each.plan), unknown]


def test_what_is_new_and_how_it_compares() -> None:
    raw = [(3, 1), (10, 2), (12, 7), (30, 8)]
    assert Change().of(raw.__getitem__, 3) == (18, 1)
    assert Change(3).of(raw.__getitem__, 3) == (27, 7)
    assert Change(1, against=True).of(raw.__getitem__, 3) == (16, -4)
    assert [each.reach for each in ASKED] == [1, 2, 3, 6]


@pytest.mark.parametrize("each", plans(), ids=lambda each: each.mechanism.name)
def test_intervals_of_changes_cover_and_their_spread_is_true(each: Plan) -> None:
    noise = simulate(each, 12_000, np.random.default_rng(5), STEPS)
    for change in ASKED:
        errors = change_errors(each, change, range(STEPS), LEVEL)
        assert [error is None for error in errors] == [at < change.reach for at in range(STEPS)]
        for place in (change.reach, STEPS - 1):
            error = errors[place]
            assert error is not None
            found = sum(weight * noise[:, place - ago] for ago, weight in change.weights.items())
            assert (np.abs(found) <= error.width).mean() >= 0.9 - 0.012
            assert np.std(found) == pytest.approx(error.std, rel=0.06)


@pytest.mark.parametrize("each", plans(), ids=lambda each: each.mechanism.name)
def test_one_pass_finds_what_each_release_would_find_alone(each: Plan) -> None:
    for change in ASKED:
        errors = change_errors(each, change, range(4, STEPS), LEVEL)
        for place, error in zip(range(4, STEPS), errors, strict=True):
            if error is None:
                continue
            weights = {place - ago: weight for ago, weight in change.weights.items()}
            exactly = noise_of(each, weights).half_width(LEVEL)
            assert exactly <= error.width <= exactly * 1.005 + 1


def directly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every wave be computed by itself, and added up one by one."""

    def each_angle(terms: tuple[Term, ...], spacing: float, number: int) -> Floats:
        return np.exp(
            sum((_logs(term, spacing * np.arange(1.0, number + 1)) for term in terms), 0.0)
        )

    def sine_by_sine(waves: noise_sum._Waves, place: int) -> float:
        turns = 2 * np.pi / waves.length * np.arange(1, len(waves.sizes) + 1)
        point = place + waves.start
        sines = float((waves.sizes * np.sin(turns * point)).sum())
        return 1 - 2 * point / waves.length - 2 / np.pi * sines if point > 0 else 1.0

    monkeypatch.setattr(noise_sum, "_characteristic_along", each_angle)
    monkeypatch.setattr(noise_sum._Waves, "at", sine_by_sine)


def _logs(term: Term, angles: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logs = np.log(term.law.characteristic(np.outer(angles, term.weights)))
    return np.asarray(logs @ term.copies)


@pytest.mark.parametrize("each", plans(), ids=lambda each: each.mechanism.name)
def test_widths_are_those_of_a_computation_angle_by_angle(
    each: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No published number may change because it is found in less time."""
    found = [change_errors(each, change, range(STEPS), LEVEL) for change in ASKED]
    widths = half_widths(each, range(STEPS), LEVEL)
    directly(monkeypatch)
    assert found == [change_errors(each, change, range(STEPS), LEVEL) for change in ASKED]
    assert widths == half_widths(each, range(STEPS), LEVEL)


def test_widths_of_a_long_series_are_those_of_a_computation_angle_by_angle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With thousands of angles, most of them filled in."""
    made = plan(statistic("edges"), DegreeBound(20), epsilon="1/2", horizon=120)
    places = [range(at, at + 1) for at in (7, 63, 118)]
    found = [change_errors(made, change, at, LEVEL) for change in ASKED for at in places]
    directly(monkeypatch)
    assert found == [change_errors(made, change, at, LEVEL) for change in ASKED for at in places]


def test_new_in_a_step_has_the_noise_of_one_difference_only() -> None:
    """SensDiff adds one noise per step, so what is new never gets noisier."""
    sensdiff = plan(
        statistic("edges"), DegreeBound(5), epsilon="0.5", horizon=300, mechanism="sensdiff"
    )
    widths = {
        error.width for error in change_errors(sensdiff, Change(), range(300), LEVEL) if error
    }
    assert len(widths) == 1


@pytest.mark.parametrize(("change", "squares"), [(ASKED[0], 1 + 1), (ASKED[1], 1 + 4 + 1)])
def test_rounding_adds_a_twelfth_for_each_release_that_was_rounded(
    change: Change, squares: int
) -> None:
    """Of whole noise nothing is rounded, and nothing is added."""
    law = DiscreteLaplace(Fraction(7))
    request = plan(statistic("nodes"), DegreeBound(2), epsilon=1, horizon=6).request
    for matrix, added in ((Bordered((1,) * 6), 0.0), (Bordered((7,) * 6), squares / 12)):
        made = Plan(mechanism("sensdiff"), request, (Epoch(matrix, law),))
        (error,) = change_errors(made, change, range(5, 6), LEVEL)
        noise = noise_of(made, {5 - ago: weight for ago, weight in change.weights.items()})
        assert error is not None
        assert error.std**2 == pytest.approx(noise.variance() + added)


def test_noises_of_different_size_are_told_apart() -> None:
    """Noise on projected totals that went on for less than it had."""
    made = plan(
        statistic("edges"), DegreeBound(3), epsilon=1, horizon=4,
        mechanism="box-projection", projection=DegreeBound(3),
    )  # fmt: skip
    longer = continued(made, 3, Fraction(1, 8))
    errors = change_errors(longer, Change(), range(1, 7), LEVEL)
    for place, error in enumerate(errors, 1):
        noise = noise_of(longer, {place: 1, place - 1: -1})
        assert error is not None
        assert error.std == pytest.approx(noise.variance() ** 0.5)
        assert error.width == noise.half_width(LEVEL)
    assert len({error.width for error in errors if error}) == 3


def test_a_level_that_no_interval_has_is_refused() -> None:
    with pytest.raises(ParameterError, match="level"):
        change_errors(plans()[0], Change(), range(3), Fraction(1))


@pytest.mark.parametrize("weights", [(1, -1, 0), (1, 1, -1), (-1, 1, -1), (2, -2, 0)])
def test_signed_sums_of_moves_noise_are_exact(weights: tuple[int, ...]) -> None:
    """Against plain enumeration of the law on three steps."""
    law, reach = MovesNoise(Fraction(3, 2), 3), 22
    chances: defaultdict[int, float] = defaultdict(float)
    for entries in product(range(-reach, reach + 1), repeat=3):
        size = sum(map(abs, entries)) + abs(sum(entries))
        value = sum(weight * entry for weight, entry in zip(weights, entries, strict=True))
        chances[abs(value)] += float(np.exp(-size / 1.5))
    total = sum(chances.values())
    tails = law.combination(np.array(weights))
    for width in range(12):
        beyond = sum(chance for size, chance in chances.items() if size > width) / total
        assert tails.outside(width) == pytest.approx(beyond, abs=2e-4)


@pytest.mark.parametrize("scale", [3, 700])
def test_a_change_is_smoothed_by_a_thousandth_of_its_spread(scale: int) -> None:
    noise = NoiseSum.of([(DiscreteLaplace(Fraction(scale)), np.array([1.0, 0.3, -1.0]))])
    found = quickly(noise)
    assert isinstance(found, NoiseSum)
    assert found.smoothing == pytest.approx(noise.variance() ** 0.5 / 1000)
    assert found.smoothing > noise.smoothing
