"""Exact samplers, exactly: every choice that they can make is made, and weighed as a fraction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise, permutations, product
from math import comb, prod
from operator import mul
from random import Random

import pytest

from graphveil.noise import release_noise
from graphveil.noise.joint_laws import BoxNoise, JointLaw, MovesNoise, RangeNoise
from graphveil.noise.release_noise import (
    BLOCK,
    _composition,
    _partial_sums,
    draw_rest,
    draw_vector,
    eulerian,
    eulerian_b,
    squared_binomials,
    weighted_index,
)

Vector = tuple[int, ...]
Outcomes = dict[Vector, Fraction]


class UndecidedError(Exception):
    """One of so many, which was not said yet."""

    def __init__(self, ways: int) -> None:
        self.ways = ways


@dataclass
class Choices:
    """Makes the choices that it is told to, and stops where it was told no more.

    The uniform number behind the first part of a core begins with zeros, so that the first part
    is 0; geometric numbers are as given.
    """

    told: Vector
    given: list[int]
    rate: Fraction = Fraction(1, 2)
    made: list[int] = field(default_factory=list)

    def below(self, number: int) -> int:
        if number == BLOCK:
            return 0
        if len(self.made) == len(self.told):
            raise UndecidedError(number)
        self.made.append(number)
        return self.told[len(self.made) - 1]

    def geometric(self, count: int) -> list[int]:
        assert len(self.given) == count
        return self.given


def drawn(law: JointLaw, given: list[int]) -> Outcomes:
    """What can be drawn where the geometric numbers are these, and how likely each is."""
    return outcomes(partial(draw_vector, law), given)


def outcomes(draw: Callable[[Choices], list[int]], given: list[int] | None = None) -> Outcomes:
    """What can come of all choices, and how likely each is."""
    found: Outcomes = defaultdict(Fraction)
    open_ways: list[Vector] = [()]
    while open_ways:
        chance = Choices(open_ways.pop(), given or [])
        try:
            vector = tuple(draw(chance))
            found[vector] += Fraction(1, prod(chance.made))
        except UndecidedError as choice:
            open_ways += [(*chance.told, way) for way in range(choice.ways)]
    return dict(found)


def shares(vectors: Iterator[Vector]) -> Outcomes:
    """How likely each is where all that are named, as often as they are, are equally likely."""
    counted = Counter(vectors)
    return {vector: Fraction(n, counted.total()) for vector, n in counted.items()}


def moved(core: int, steps: int) -> Iterator[Vector]:
    """Differences of two ways to write the core as a sum, without their last entry."""
    ways = [way for way in product(range(core + 1), repeat=steps + 1) if sum(way) == core]
    for up, down in product(ways, repeat=2):
        yield tuple(u - d for u, d in zip(up[:-1], down[:-1], strict=True))


def ranged(core: int, steps: int) -> Iterator[Vector]:
    """Seen from the first entry, whatever lies between 0 and the core and touches 0."""
    for first, *others in product(range(core + 1), repeat=steps + 1):
        if 0 in (first, *others):
            yield tuple(each - first for each in others)


def boxed(core: int, steps: int) -> Iterator[Vector]:
    return product(range(-core, core + 1), repeat=steps)


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_given_its_core_a_vector_is_uniform_in_its_set(first: int, last: int, steps: int) -> None:
    """The core is the sum of all geometric numbers; for moves, of their halves, rounded down."""
    core = first + last
    halved = [2 * first, *[1] * (2 * steps - 1), 2 * last + 1]
    assert drawn(MovesNoise(Fraction(2), steps), halved) == shares(moved(core, steps))
    whole = [first, *[0] * (steps - 1), last]
    assert drawn(RangeNoise(Fraction(2), steps), whole) == shares(ranged(core, steps))
    assert drawn(BoxNoise(Fraction(2), steps), whole) == shares(boxed(core, steps))


@pytest.mark.parametrize(("total", "parts"), [(0, 1), (0, 3), (4, 1), (3, 2), (2, 4)])
def test_all_ways_to_write_a_sum_are_equally_likely(total: int, parts: int) -> None:
    ways = (way for way in product(range(total + 1), repeat=parts) if sum(way) == total)
    assert outcomes(partial(_composition, total, parts)) == shares(ways)


@dataclass
class Counting:
    """Geometric numbers that are all 1, and uniform ones that are as large as they may be."""

    rate: Fraction = Fraction(1, 2)

    def geometric(self, count: int) -> list[int]:
        return [1] * count

    def below(self, number: int) -> int:
        return number - 1


def asked_for(
    law: JointLaw, used: list[int], monkeypatch: pytest.MonkeyPatch
) -> tuple[Vector, list[int]]:
    """The weights of which a rest asks for an index, which is 1 then; and the rest."""
    asked: list[Vector] = []

    def first(weights: Vector, rate: Fraction, chance: object, *, odds: bool = False) -> int:
        assert (rate, odds) == (Fraction(1, 2), True)
        asked.append(weights)
        return 1

    monkeypatch.setattr(release_noise, "weighted_index", first)
    rest = draw_rest(law, used, Counting())
    return asked[0], rest


@pytest.mark.parametrize("steps", [3, 5, 9])
def test_the_core_of_a_rest_has_as_many_ways_as_there_are_rests(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Σ weights[j]·C(s, j) is the number of ways with a core that is s larger than it must be."""
    left = steps - 2
    weights, rest = asked_for(RangeNoise(Fraction(2), steps), [2, -1], monkeypatch)
    for s in range(2 * steps):
        ways = sum(each * comb(s, j) for j, each in enumerate(weights))
        assert ways == (s + 1) * (s + 4) ** left
    assert rest == [-1 - 3 + 6] * left  # 1 + two geometric numbers apart, all of it below
    weights, rest = asked_for(BoxNoise(Fraction(2), steps), [3, -1], monkeypatch)
    for s in range(2 * steps):
        assert sum(each * comb(s, j) for j, each in enumerate(weights)) == (2 * s + 7) ** left
    assert rest == [6] * left


@pytest.mark.parametrize("seed", range(9))
def test_a_large_sum_is_written_as_one_too(seed: int) -> None:
    random = Random(seed)
    chance = Choices((), [])
    chance.below = random.randrange  # type: ignore[method-assign, assignment]
    way = _composition(10_000, 40, chance)
    assert (len(way), sum(way), min(way) >= 0) == (40, 10_000, True)


@dataclass
class Digits:
    """Gives a number between 0 and 1, written to the base of BLOCK, and counts what was asked."""

    number: Fraction
    rate: Fraction = Fraction(0)
    asked: int = 0

    def below(self, number: int) -> int:
        assert number == BLOCK
        self.asked += 1
        return int(self.number * BLOCK**self.asked) % BLOCK

    def geometric(self, count: int) -> list[int]:
        raise AssertionError("not asked for")


def terms(weights: Vector, rate: Fraction) -> list[Fraction]:
    """Weight·exp(−rate·j), to 300 digits."""
    precise = Context(prec=300, Emin=-(10**9), Emax=10**9)
    slope = precise.divide(Decimal(-rate.numerator), Decimal(rate.denominator))
    falls = [precise.exp(precise.multiply(slope, j)) for j in range(len(weights))]
    return [w * Fraction(fall) for w, fall in zip(weights, falls, strict=True)]


def borders(weights: Vector, rate: Fraction) -> list[Fraction]:
    """Where each index ends."""
    each = terms(weights, rate)
    return [part / sum(each) for part in accumulate(each)]


CASES = [
    ((1, 1), Fraction(0)),
    ((1, 2, 3), Fraction(1, 3)),
    ((0, 5, 0, 2), Fraction(1, 7)),
    (squared_binomials(30), Fraction(2, 9)),
    (eulerian(12), Fraction(1, 100)),
    (eulerian_b(25), Fraction(9, 4)),
    ((1, 10**50, 10**90), Fraction(110)),
    ((1, 10**900, 10**1900), Fraction(2200)),
]


@pytest.mark.parametrize(("weights", "rate"), CASES)
@pytest.mark.parametrize("zeros", [3, 29, 45, 75, 130])
def test_an_index_is_right_however_near_the_border(
    weights: Vector, rate: Fraction, zeros: int
) -> None:
    """A uniform number so close to where an index ends is read on until it is certain."""
    ends = borders(weights, rate)
    near = Fraction(1, 10**zeros)
    for end in ends[:-1]:
        if near < end < 1 - near:
            for number in (end - near, end + near):
                chance = Digits(number)
                right = next(j for j, each in enumerate(ends) if number < each)
                assert weighted_index(weights, rate, chance) == right
                assert chance.asked <= 2 + zeros // 30


@pytest.mark.parametrize("off", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
@pytest.mark.parametrize("border", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("side", [-1, 1])
def test_errors_of_the_partial_sums_decide_nothing(
    off: tuple[int, int], border: Fraction, side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partial sums that are as wrong as their bound allows: more digits are drawn instead."""

    def sums(_: Vector, __: Fraction, digits: int, odds: bool) -> tuple[list[int], int]:
        assert not odds
        whole, error = 10**digits, 10**20
        return [int(border * whole) + off[0] * error, whole + off[1] * error], error

    monkeypatch.setattr(release_noise, "_partial_sums", sums)
    for exponent in range(20, 60):
        chance = Digits(border + side * Fraction(1, 10**exponent))
        assert weighted_index((1, 1), Fraction(0), chance) == (1 if side > 0 else 0)


def test_what_can_never_come_is_left_out() -> None:
    """A fall so steep that no number is small enough for it."""
    assert weighted_index((1, 10**9, 5), Fraction(10**20), Digits(1 - Fraction(1, 10**29))) == 0


@pytest.mark.parametrize(("weights", "rate"), CASES)
@pytest.mark.parametrize("digits", [1, 2, 20, 61])
def test_partial_sums_are_as_close_as_they_say(
    weights: Vector, rate: Fraction, digits: int
) -> None:
    found, error = _partial_sums(weights, rate, digits, False)
    exact = terms(weights, rate)
    unit = Fraction(1)
    while not 10**digits <= unit * max(exact) < 10 ** (digits + 1):
        unit *= 10 if unit * max(exact) < 10**digits else Fraction(1, 10)
    for true, said in zip(accumulate(exact), found, strict=True):
        assert 0 <= unit * true - said < error
    assert error == len(weights) + 1  # what is rounded down loses less than one


@dataclass
class Scripted:
    """Gives the geometric numbers that it was told to."""

    script: list[list[int]]
    rate: Fraction = Fraction(1)

    def below(self, number: int) -> int:
        raise AssertionError("not asked for")

    def geometric(self, count: int) -> list[int]:
        given = self.script.pop(0)
        assert len(given) == count
        return given


@pytest.mark.parametrize(
    ("kept", "rest"), [([2], [4, -1]), ([3], [4, -1]), ([1], [0, 0]), ([0], [0, 0])]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_rest_is_kept_as_often_as_its_hidden_entry_says(
    kept: list[int], rest: list[int], sign: int
) -> None:
    """A geometric number reaches h with the probability exp(−rate·h), so reaching it is enough.

    The beginning adds up to −5, the first rest to 3: the hidden entry is 2. And all the other way.
    """
    again = [[0, 0], [0, 0], [5]]
    chance = Scripted([*[[4, 1], [0, 2]][::sign], kept, *again])
    found = draw_rest(MovesNoise(Fraction(2), 4), [sign * -7, sign * 2], chance)
    assert found == [sign * each for each in rest]


def descents(order: Vector) -> int:
    return sum(left > right for left, right in pairwise(order))


@pytest.mark.parametrize("things", range(1, 6))
def test_the_weights_of_the_first_part_count_what_they_say(things: int) -> None:
    """A signed permutation begins, besides, with a descent if its first sign is a minus."""
    orders = list(permutations(range(1, things + 1)))
    seen = Counter(map(descents, orders))
    assert eulerian(things) == tuple(seen[j] for j in range(things))
    signs = list(product((1, -1), repeat=things))
    signed = ((0, *map(mul, order, sign)) for order in orders for sign in signs)
    seen = Counter(map(descents, signed))
    assert eulerian_b(things) == tuple(seen[j] for j in range(things + 1))
    assert squared_binomials(things) == tuple(comb(things, j) ** 2 for j in range(things + 1))
