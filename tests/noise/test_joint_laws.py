"""Joint laws: their identities, their exact samplers, and what follows from the law."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, exp, sqrt
from random import Random

import numpy as np
import pytest

from graphveil.lab.simulation import SimulationNoise
from graphveil.noise.joint_laws import (
    BoxNoise,
    JointLaw,
    MovesNoise,
    RangeNoise,
    joint_law_from_dict,
)
from graphveil.noise.laws import DiscreteLaplace, is_bend
from graphveil.noise.release_noise import (
    BLOCK,
    ReleaseNoise,
    _differences,
    _partial_sums,
    draw_rest,
    draw_vector,
    eulerian,
    eulerian_b,
    squared_binomials,
    weighted_index,
)
from graphveil.noise.tails import MARGIN

KINDS: list[type[MovesNoise | RangeNoise | BoxNoise]] = [MovesNoise, RangeNoise, BoxNoise]
SCALES = {MovesNoise: Fraction(3, 2), RangeNoise: Fraction(1), BoxNoise: Fraction(4, 5)}
LAWS = [kind(SCALES[kind], steps) for kind in KINDS for steps in (1, 2, 3)]
Vector = tuple[int, ...]


def norm(law: JointLaw, vector: Vector) -> int:
    """As docs/mechanisms.md states it."""
    if isinstance(law, MovesNoise):
        return sum(map(abs, vector)) + abs(sum(vector))
    if isinstance(law, RangeNoise):
        return max(0, *vector) - min(0, *vector)
    return max(map(abs, vector))


@cache
def enumerated(law: JointLaw) -> dict[Vector, float]:
    """The law by its definition, on all vectors that matter."""
    reach = 45 if law.steps < 3 else 24
    grid = product(range(-reach, reach + 1), repeat=law.steps)
    weights = {vector: exp(-norm(law, vector) / float(law.scale)) for vector in grid}
    whole = sum(weights.values())
    return {vector: weight / whole for vector, weight in weights.items()}


@dataclass
class SeededChance:
    """Repeatable, for the very algorithm that releases run."""

    rate: Fraction
    random: Random = field(default_factory=lambda: Random(5))

    def geometric(self, count: int) -> list[int]:
        rng = np.random.default_rng(self.random.randrange(2**60))
        return [int(each) - 1 for each in rng.geometric(1 - exp(-float(self.rate)), count)]

    def below(self, number: int) -> int:
        return self.random.randrange(number)


def deviation(law: JointLaw, drawn: list[Vector]) -> float:
    """Pearson's statistic over all cells with enough draws, in its standard deviations."""
    counted, total = Counter(drawn), len(drawn)
    expected = {y: total * chance for y, chance in enumerated(law).items() if total * chance >= 15}
    rest = total - sum(expected.values())
    missed = total - sum(counted[y] for y in expected)
    found = sum((counted[y] - mean) ** 2 / mean for y, mean in expected.items())
    found += (missed - rest) ** 2 / max(rest, 1.0)
    return (found - len(expected)) / sqrt(2 * len(expected))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_sampler_of_releases_follows_the_law(law: JointLaw) -> None:
    chance = SeededChance(1 / law.scale)
    drawn = [tuple(draw_vector(law, chance)) for _ in range(6_000)]
    assert abs(deviation(law, drawn)) < 4


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_simulations_follow_the_law(law: JointLaw) -> None:
    source = SimulationNoise(np.random.default_rng(3))
    drawn = source.draws(law, (40_000, law.steps)).tolist()
    assert abs(deviation(law, [tuple(each) for each in drawn])) < 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("used", [1, 2])
def test_the_rest_of_a_vector_is_drawn_from_its_law_given_the_beginning(
    kind: type[JointLaw], used: int
) -> None:
    """So a vector whose end is drawn anew is still one of the law, and its end is fresh."""
    law = kind(SCALES[kind], 3)
    chance = SeededChance(1 / law.scale)
    first = [draw_vector(law, chance) for _ in range(6_000)]
    begun = [each[:used] for each in first]
    drawn = [(*each, *draw_rest(law, each, chance)) for each in begun]
    assert abs(deviation(law, [tuple(each) for each in drawn])) < 4
    ends = np.array([(old[-1], new[-1]) for old, new in zip(first, drawn, strict=True)])
    assert abs(np.corrcoef(ends.T)[0, 1]) < 0.5  # only what the beginning says of both
    forgetful = [(*each, *draw_rest(law, [0] * used, chance)) for each in begun]
    assert abs(deviation(law, [tuple(each) for each in forgetful])) > 4


@pytest.mark.parametrize("rate", [Fraction(1, 500), Fraction(1, 2), Fraction(30)])
@pytest.mark.parametrize("values", [(1, 8, 27, 64), (5,), (7, 7 * 9 * 2, 7 * 11 * 11 * 3)])
def test_a_core_with_a_polynomial_before_it_has_its_law(
    values: tuple[int, ...], rate: Fraction
) -> None:
    """The chances of the index are those of whole and partial sums, in exact fractions."""
    differences = _differences(values)
    assert [
        sum(each * comb(s, j) for j, each in enumerate(differences)) for s in range(len(values))
    ] == list(values)
    with localcontext(prec=200):
        risen = (Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
        weights = [each / (risen - 1) ** j for j, each in enumerate(differences)]
        expected = [Fraction(sum(weights[: j + 1])) for j in range(len(weights))]
    for digits in (40, 90):
        sums, error = _partial_sums(differences, rate, digits, True)
        assert error == len(weights) + 1
        assert sums[-1] >= 10**digits
        for part, right in zip(sums, expected, strict=True):
            off = Fraction(part, sums[-1]) - right / expected[-1]
            assert abs(off) <= Fraction(2 * error, sums[-1])


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_another_scale_would_be_noticed(law: JointLaw) -> None:
    chance = SeededChance(Fraction(10, 9) / law.scale)
    drawn = [tuple(draw_vector(law, chance)) for _ in range(6_000)]
    assert abs(deviation(law, drawn)) > 4


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_releases_draw_whole_vectors_of_the_right_size(law: JointLaw) -> None:
    """Unseeded, so within six standard deviations."""
    vectors = 400
    drawn = np.array(ReleaseNoise().draw(law, vectors * law.steps)).reshape(vectors, law.steps)
    sizes = np.array([norm(law, tuple(each)) for each in drawn.tolist()])
    chances = enumerated(law)
    mean = sum(chance * norm(law, y) for y, chance in chances.items())
    square = sum(chance * norm(law, y) ** 2 for y, chance in chances.items())
    assert abs(sizes.mean() - mean) < 6 * sqrt((square - mean**2) / vectors) + 0.002
    if law.steps > 1:
        with pytest.raises(ValueError, match="whole vectors"):
            ReleaseNoise().draw(law, law.steps + 1)


def series(numerator: tuple[int, ...], power: int, place: int) -> int:
    """The coefficient of x^place in numerator(x) / (1 − x)^power."""
    return sum(
        weight * comb(place - j + power - 1, power - 1)
        for j, weight in enumerate(numerator[: place + 1])
    )


@pytest.mark.parametrize("steps", range(1, 9))
def test_the_three_identities(steps: int) -> None:
    for core in range(14):
        squares = comb(core + steps, steps) ** 2
        assert series(squared_binomials(steps), 2 * steps + 1, core) == squares
        touching = (core + 1) ** (steps + 1) - core ** (steps + 1)
        assert series(eulerian(steps + 1), steps + 1, core) == touching
        assert series(eulerian_b(steps), steps + 1, core) == (2 * core + 1) ** steps


@dataclass
class Scripted:
    """Gives what it was told to, and refuses to give more."""

    numbers: list[int]
    rate = Fraction(0)

    def below(self, number: int) -> int:
        return self.numbers.pop(0)

    def geometric(self, count: int) -> list[int]:
        raise AssertionError("not asked for")


@pytest.mark.parametrize(
    ("digits", "index"),
    [
        ([BLOCK // 3], 0),
        ([2 * BLOCK // 3], 1),
        ([BLOCK // 2, 0, 5], 1),
        ([BLOCK // 2 - 1, BLOCK - 1, BLOCK - 7], 0),
        ([0], 0),
        ([BLOCK - 1, BLOCK - 2], 1),
    ],
)
def test_an_index_is_chosen_once_it_is_certain(digits: list[int], index: int) -> None:
    """Of two equal weights; a number next to the border is drawn to more digits."""
    chance = Scripted(list(digits))
    assert weighted_index((1, 1), Fraction(0), chance) == index
    assert not chance.numbers


def test_an_index_has_its_probability() -> None:
    """Large weights and a steep fall, against plain floats."""
    weights, rate = squared_binomials(40), Fraction(7, 3)
    chance = SeededChance(rate)
    drawn = Counter(weighted_index(weights, rate, chance) for _ in range(20_000))
    sizes = np.array([float(each) * exp(-j * float(rate)) for j, each in enumerate(weights)])
    expected = 20_000 * sizes / sizes.sum()
    seen = np.array([drawn[j] for j in range(41)])
    assert (np.abs(seen - expected) < 5 * np.sqrt(expected + 1)).all()


def combinations(steps: int) -> list[tuple[int, ...]]:
    return [tuple(each) for each in product((-1, 0, 1, 2), repeat=steps) if any(each)]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_variances_and_tails_of_every_combination(law: JointLaw) -> None:
    """Exact for releases, their differences and bends; never too small for any other."""
    vectors = np.array(list(enumerated(law)))
    chances = np.array(list(enumerated(law).values()))
    for weights in combinations(law.steps):
        values, given = vectors @ weights, np.array(weights)
        assert law.variance(given) == pytest.approx((chances * values**2).sum(), rel=1e-6)
        noise = law.combination(given)
        assert noise.variance() == law.variance(given)
        for width in (0, 1, 3, 6, 11):
            beyond = chances[np.abs(values) > width].sum()
            assert noise.outside(width) >= beyond - 2e-9
            if exact(law, weights):
                assert noise.outside(width) == pytest.approx(beyond + MARGIN, abs=4e-9)


def exact(law: JointLaw, weights: tuple[int, ...]) -> bool:
    """A release, or the difference of two, in whatever unit; or a bend."""
    if isinstance(law, MovesNoise):  # of differences: steps that follow each other, added up
        return len({abs(each) for each in weights if each}) == 1
    used = [each for each in weights if each]
    if isinstance(law, RangeNoise) and sum(used) != 0:
        used.append(-sum(used))  # of w_0
    return len(used) == 1 or (len(used) == 2 and sum(used) == 0) or is_bend(used)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_what_an_entry_shares_with_another_is_their_covariance(law: JointLaw) -> None:
    vectors = np.array(list(enumerated(law)))
    chances = np.array(list(enumerated(law).values()))
    single, shared = law.spread()
    assert single == pytest.approx((chances * vectors[:, 0] ** 2).sum(), rel=1e-6)
    if law.steps > 1:
        together = (chances * vectors[:, 0] * vectors[:, -1]).sum()
        assert shared == pytest.approx(together, rel=1e-6, abs=1e-9)
    else:
        assert shared == 0


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_nothing_is_said_to_be_beyond_a_width_with_no_probability(law: JointLaw) -> None:
    """Every probability of being outside is rounded up, however far that is."""
    for weights in combinations(law.steps):
        assert law.combination(np.array(weights)).outside(10**6) >= MARGIN


@pytest.mark.parametrize(("fewer", "more"), [(1, 1), (2, 1), (1, 4), (3, 3)])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
def test_some_moves_less_others_have_their_law(fewer: int, more: int, scale: Fraction) -> None:
    """That of both sums, the difference x and the whole 0, from their common waves."""
    law, size = MovesNoise(scale, 6), 512
    turns = np.linspace(0, 2 * np.pi, size, endpoint=False)
    each = DiscreteLaplace(scale).characteristic
    both, apart = (np.add.outer(sign * turns, turns) for sign in (1, -1))
    powers = [each(both) ** more, each(apart) ** fewer, each(turns) ** (7 - fewer - more)]
    waves = np.asarray(powers[0] * powers[1] * powers[2])
    expected = np.fft.fft(waves.sum(axis=1)).real[: size // 2]
    found = law.of_signed(fewer, more)
    length = min(len(found), len(expected))
    assert length > 40
    assert found[:length] / found[0] == pytest.approx(expected[:length] / expected[0], abs=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_half_width_is_the_smallest_that_is_shown_to_hold(law: JointLaw) -> None:
    noise = law.combination(np.eye(law.steps, dtype=np.int64)[0])
    width = noise.half_width(Fraction(9, 10))
    assert noise.outside(width) <= 0.1 < noise.outside(width - 1)
    twice = noise + noise
    assert twice.variance() == 2 * noise.variance()
    assert twice.half_width(Fraction(9, 10)) >= width


def test_one_step_is_the_discrete_laplace_law() -> None:
    """Over one step a move is half of the norm; range and box are absolute values."""
    one = np.array([1])
    for law in (MovesNoise(Fraction(6), 1), RangeNoise(Fraction(3), 1), BoxNoise(Fraction(3), 1)):
        assert law.variance(one) == pytest.approx(DiscreteLaplace(Fraction(3)).variance())


@pytest.mark.parametrize("steps", [1, 5, 40])
def test_wide_noise_has_the_known_standard_deviations(steps: int) -> None:
    scale, one = Fraction(1000), np.eye(steps, dtype=np.int64)[0]
    box, span = BoxNoise(scale, steps).variance(one), RangeNoise(scale, steps).variance(one)
    assert sqrt(box) == pytest.approx(1000 * sqrt((steps + 1) * (steps + 2) / 3), rel=2e-3)
    assert sqrt(span) == pytest.approx(1000 * sqrt((steps + 2) * (steps + 3) / 6), rel=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_law_comes_back(kind: type[JointLaw]) -> None:
    law = kind(Fraction(22, 7), 12)
    assert joint_law_from_dict(law.to_dict()) == law
    assert law.privacy_loss == Fraction(7, 22)
    assert not law.too_large
    assert kind(Fraction(10**7), 12).too_large
    assert kind(Fraction(1), 2000).too_large
