"""Both sources of noise follow their laws, and the test of that notices wrong ones."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import inf, nextafter
from time import process_time
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from commands import ROOT
from graphveil.errors import ParameterError
from graphveil.lab.simulation import SimulationNoise
from graphveil.noise import release_noise as noise
from graphveil.noise.joint_laws import BoxNoise, JointLaw, MovesNoise, RangeNoise
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, Law, NoiseLaw
from graphveil.noise.release_noise import ReleaseNoise, float_above, measurement, root_above
from graphveil.series.release import Series

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LAWS: list[Law] = [
    DiscreteLaplace(Fraction(7, 2)),
    DiscreteLaplace(Fraction(1, 2)),
    DiscreteGaussian(Fraction(9)),
    DiscreteGaussian(Fraction(2, 5)),
]
DRAWS = 20_000
ALARM = 1e-12  # far below 1e-9, as the tail of a chi-square is only nearly that of its test


def mass(law: Law, reach: int = 400) -> Floats:
    """The probability of each integer from -reach to reach, from the law's definition."""
    k = np.abs(np.arange(-reach, reach + 1)).astype(float)
    if isinstance(law, DiscreteLaplace):
        weights = np.exp(-k / float(law.scale))
    else:
        weights = np.exp(-(k**2) / (2 * float(law.size)))
    return np.asarray(weights / weights.sum())


def surprise(drawn: Integers, probabilities: Floats) -> float:
    """The p-value of a chi-square test; each tail of 50 expected draws is one bin."""
    reach = len(probabilities) // 2
    found = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=2 * reach + 1)
    expected = probabilities * len(drawn)
    tail = int(np.searchsorted(np.cumsum(expected), 50))
    bins = np.array([0, *range(tail + 1, 2 * reach - tail + 1)])
    seen, due = np.add.reduceat(found, bins), np.add.reduceat(expected, bins)
    return float(chi2.sf(((seen - due) ** 2 / due).sum(), len(bins) - 1))


def simulated(law: Law, count: int = DRAWS, seed: int = 1) -> Integers:
    return SimulationNoise(np.random.default_rng(seed)).draws(law, (count,))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_release_noise_follows_its_law(law: Law) -> None:
    drawn = np.array(ReleaseNoise().draw(law, DRAWS))
    assert surprise(drawn, mass(law)) > ALARM
    pairs = drawn[::2] + drawn[1::2]  # independent draws, not the same ones again
    assert surprise(pairs, np.convolve(mass(law), mass(law))) > ALARM


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_simulation_noise_follows_the_same_law(law: Law) -> None:
    drawn = simulated(law, 1_000_000)
    assert surprise(drawn, mass(law)) > 1e-6
    assert surprise(drawn[::2] + drawn[1::2], np.convolve(mass(law), mass(law))) > 1e-6
    assert drawn.var() == pytest.approx(law.variance(), rel=0.02)


def scaled(law: Law, factor: Fraction) -> Law:
    if isinstance(law, DiscreteLaplace):
        return DiscreteLaplace(law.scale * factor)
    return DiscreteGaussian(law.size * factor**2)


@pytest.mark.parametrize("law", [LAWS[0], LAWS[2]], ids=str)
@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10)], ids=str)
def test_the_tester_notices_a_wrong_scale(law: Law, factor: Fraction) -> None:
    assert surprise(simulated(scaled(law, factor)), mass(law)) < ALARM


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("shift", [-1, 1])
def test_the_tester_notices_a_shifted_mean(law: Law, shift: int) -> None:
    assert surprise(simulated(law) + shift, mass(law)) < ALARM


def test_the_tester_notices_repeated_draws() -> None:
    drawn = np.repeat(simulated(LAWS[0], DRAWS // 2), 2)
    assert surprise(drawn[::2] + drawn[1::2], np.convolve(mass(LAWS[0]), mass(LAWS[0]))) < ALARM


@pytest.mark.parametrize(
    ("rounding", "count"), [(np.floor, DRAWS), (np.ceil, DRAWS), (np.rint, 1_000_000)]
)
def test_the_tester_notices_a_rounded_float_laplace(
    rounding: Callable[[Floats], Floats], count: int
) -> None:
    floats = np.random.default_rng(2).laplace(scale=3.5, size=count)
    assert surprise(rounding(floats).astype(np.int64), mass(LAWS[0])) < ALARM


def test_ten_million_simulated_draws_take_seconds() -> None:
    began = process_time()
    drawn = simulated(DiscreteLaplace(Fraction(31)), 10_000_000)
    assert process_time() - began < 20
    assert drawn.dtype == np.int64
    assert drawn.var() == pytest.approx(2 * 31**2, rel=0.01)


def test_simulation_noise_repeats_with_its_seed() -> None:
    law = LAWS[2]
    first = SimulationNoise(np.random.default_rng(7)).draw(law, 50)
    assert first == SimulationNoise(np.random.default_rng(7)).draw(law, 50)
    assert first != SimulationNoise(np.random.default_rng(8)).draw(law, 50)


def test_release_noise_never_repeats() -> None:
    law = DiscreteLaplace(Fraction(1000))
    assert ReleaseNoise().draw(law, 100) != ReleaseNoise().draw(law, 100)
    assert list(inspect.signature(ReleaseNoise).parameters) == []


def test_release_noise_has_64_bits() -> None:
    drawn = ReleaseNoise().draw(DiscreteLaplace(Fraction(2**40)), 200)
    assert sum(abs(value) > 2**32 for value in drawn) > 190
    assert len(set(drawn)) == 200


positive = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)


@given(positive)
@example(Fraction(2))  # a float itself
@example(4 + Fraction(1, 2**300))  # its root is above a float by less than is computed
def test_scales_are_rounded_towards_more_noise(number: Fraction) -> None:
    above = float_above(number)
    assert Fraction(above) >= number > Fraction(nextafter(above, 0))
    root = root_above(number)
    assert Fraction(root) ** 2 >= number
    assert Fraction(nextafter(nextafter(root, 0), 0)) ** 2 < number


@given(positive)
def test_the_privacy_map_confirms_every_scale(number: Fraction) -> None:
    assert Fraction(_loss(DiscreteLaplace(number))) <= 1 / number
    assert Fraction(_loss(DiscreteGaussian(number))) <= 1 / (2 * number)


@given(positive)
def test_little_noise_is_wasted(number: Fraction) -> None:
    assert _loss(DiscreteLaplace(number)) * float(number) > 1 - 1e-14
    assert _loss(DiscreteGaussian(number)) * 2 * float(number) > 1 - 1e-14


def _loss(law: NoiseLaw) -> float:
    return float(measurement(law).map(1))  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("law", [LAWS[0], LAWS[2]], ids=str)
def test_a_sampler_that_promises_less_is_refused(law: Law, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = noise._SAMPLERS[type(law)]
    stingy = honest._replace(make=lambda scale: honest.make(scale * (1 - 1e-9)))
    monkeypatch.setitem(noise._SAMPLERS, type(law), stingy)
    with pytest.raises(ParameterError, match="privacy map"):
        ReleaseNoise().draw(law, 1)


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(Fraction(1, 1000)), DiscreteGaussian(Fraction(1, 1000))], ids=str
)
def test_noise_that_is_next_to_nothing_is_drawn_around_0(law: Law) -> None:
    assert ReleaseNoise().draw(law, 50) == [0] * 50


def test_the_privacy_map_is_taken_at_its_word() -> None:
    assert _loss(DiscreteLaplace(Fraction(2))) == 0.5


@pytest.mark.parametrize("law", [LAWS[0], LAWS[2]], ids=str)
def test_eight_scales_are_tried_each_next_to_the_last(
    law: Law, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = noise._SAMPLERS[type(law)]
    tried: list[float] = []

    def stingy(scale: float) -> Any:
        tried.append(scale)
        return honest.make(scale / 2)

    monkeypatch.setitem(noise._SAMPLERS, type(law), honest._replace(make=stingy))
    with pytest.raises(ParameterError, match="privacy map"):
        measurement(law)
    assert tried[0] == honest.scale(law.size)
    assert len(tried) == 8
    assert all(nextafter(low, inf) == high for low, high in pairwise(tried))


@pytest.mark.parametrize(("kind", "largest"), [(DiscreteLaplace, 2**40), (DiscreteGaussian, 2**80)])
def test_the_largest_scale_is_the_last_that_is_taken(
    kind: Callable[[Fraction], Law], largest: int
) -> None:
    assert len(ReleaseNoise().draw(kind(Fraction(largest)), 3)) == 3
    with pytest.raises(ParameterError, match=f"noise scale: must be at most {2**40}"):
        ReleaseNoise().draw(kind(largest + Fraction(1, 10**9)), 1)


@pytest.mark.parametrize("number", [Fraction(0), Fraction(-1), Fraction(2**80 + 1), 10**400])
def test_scales_without_a_safe_sampler_are_refused(number: Fraction) -> None:
    for law in (DiscreteLaplace(Fraction(number)), DiscreteGaussian(Fraction(number))):
        with pytest.raises(ParameterError, match="noise scale"):
            ReleaseNoise().draw(law, 1)


def test_a_scale_too_small_for_floats_is_refused() -> None:
    with pytest.raises(ParameterError, match="noise scale"):
        ReleaseNoise().draw(DiscreteLaplace(Fraction(1, 10**400)), 1)


@dataclass
class ScriptedSampler:
    """Gives the numbers that it was told to, as many as are asked for."""

    numbers: list[int]
    asked: list[int] = field(default_factory=list)

    def __call__(self, zeros: list[int]) -> list[int]:
        assert set(zeros) <= {0}
        self.asked.append(len(zeros))
        given, self.numbers = self.numbers[: len(zeros)], self.numbers[len(zeros) :]
        return given


def chance(numbers: list[int], scale: float = 2.0) -> noise._ReleaseChance:
    return noise._ReleaseChance(cast("Any", ScriptedSampler(numbers)), scale)


def test_geometric_numbers_are_the_laplace_numbers_that_are_not_negative() -> None:
    """Of all numbers from 0 on each has the chance that it should; so none is passed over."""
    assert chance([-1, 0, 3, -2, 5, 7]).geometric(3) == [0, 3, 5]
    assert chance([-1, -5, 0, -1, 4, -3, -2, 6]).geometric(2) == [0, 4]
    assert chance([-1, -1, -2, -9, 1, -1, -1, 2]).geometric(2) == [1, 2]
    assert chance([4, 4, 4, 4]).geometric(2) == [4, 4]
    assert chance([]).geometric(0) == []


def test_the_rate_is_exactly_that_of_the_float_that_opendp_was_given() -> None:
    assert chance([], 0.1).rate == 1 / Fraction(0.1) != 10
    number = {chance([]).below(3) for _ in range(200)}
    assert number == {0, 1, 2}


@pytest.mark.parametrize("kind", [MovesNoise, RangeNoise, BoxNoise])
def test_joint_noise_is_made_of_laplace_numbers_of_its_own_scale(kind: type[JointLaw]) -> None:
    """With the least float that is no less; OpenDP's map has to confirm it."""
    law = kind(Fraction(10, 3), 4)
    sampler, scale = noise._vouched_laplace(law)
    assert Fraction(10, 3) <= Fraction(scale) < Fraction(10, 3) * (1 + Fraction(1, 2**50))
    assert Fraction(sampler.map(1)) <= Fraction(3, 10)  # type: ignore[no-untyped-call]
    assert Fraction(_loss(law)) <= Fraction(3, 10)
    for size in (Fraction(0), Fraction(-1), 2**40 + Fraction(1, 10**9)):
        with pytest.raises(ParameterError, match="noise scale"):
            ReleaseNoise().draw(kind(size, 4), 4)
        with pytest.raises(ParameterError, match="noise scale"):
            measurement(kind(size, 4))
    assert measurement(kind(Fraction(2**40), 4)) is not None


def test_joint_noise_is_drawn_in_whole_vectors() -> None:
    law = BoxNoise(Fraction(10**6), 3)
    drawn = ReleaseNoise().draw(law, 6)
    assert len(drawn) == len(set(drawn)) == 6
    for count in (1, 4, 7):
        with pytest.raises(ValueError, match="whole vectors"):
            ReleaseNoise().draw(law, count)
    rest = ReleaseNoise().draw_rest(MovesNoise(Fraction(10**6), 5), [4, 7])
    assert len(rest) == len(set(rest)) == 3


def test_only_the_lab_and_the_faces_know_the_simulation() -> None:
    """The release path cannot reach it: nothing at or below series imports the lab."""
    package = ROOT / "src" / "graphveil"
    above = {"cli", "lab", "web"}
    files = [p for p in package.rglob("*.py") if p.relative_to(package).parts[0] not in above]
    assert any(path.parent.name == "series" for path in files)
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            assert not any(name.startswith("graphveil.lab") for name in names), path


def test_a_release_takes_no_source_of_noise() -> None:
    for function in (Series, Series.open, Series.resume, Series.publish):
        parameters = inspect.signature(function).parameters.values()
        assert not any("oise" in f"{p.name} {p.annotation}" for p in parameters), function
        assert not any("source" in p.name or "rng" in p.name for p in parameters), function


def test_opendp_is_imported_only_to_draw() -> None:
    script = (
        "import sys, graphveil.series.release\n"
        "assert not {'opendp', 'graphveil.lab', 'numba'} & sys.modules.keys()\n"
        "from graphveil.noise.release_noise import ReleaseNoise\n"
        "from graphveil.noise.laws import DiscreteLaplace\n"
        "from fractions import Fraction\n"
        "ReleaseNoise().draw(DiscreteLaplace(Fraction(1)), 1)\n"
        "assert 'opendp' in sys.modules and 'graphveil.lab' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
