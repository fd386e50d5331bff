"""Ratios: formulas as people write them, and bounds that hold the truth as often as they say."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.planning.intervals import noise_of
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series.planner import plan
from graphveil.series.ratios import Measured, Number, Ratio, Source, scaled
from graphveil.statistics.statistic import statistic

STEPS = 8


@cache
def planned(name: str, mechanism: str) -> Plan:
    counted = statistic(name, **({"tau": 2} if name == "high-degree" else {}))
    return plan(counted, DegreeBound(4), epsilon="1", horizon=STEPS, mechanism=mechanism)


@pytest.mark.parametrize(
    ("text", "above", "below"),
    [
        ("2*links/people", {Number("links"): 2}, {Number("people"): 1}),
        (" a / b ", {Number("a"): 1}, {Number("b"): 1}),
        ("(a - b)/c", {Number("a"): 1, Number("b"): -1}, {Number("c"): 1}),
        ("a-b/c", {Number("a-b"): 1}, {Number("c"): 1}),
        ("degrees[3]/degrees[0]", {Number("degrees", ("3",)): 1}, {Number("degrees", ("0",)): 1}),
        ("links/before(links)", {Number("links"): 1}, {Number("links", ago=1): 1}),
        (
            "(100*a - 100*before( a ))/before(a)",
            {Number("a"): 100, Number("a", ago=1): -100},
            {Number("a", ago=1): 1},
        ),
        ("(a + a)/(b + 2*c)", {Number("a"): 2}, {Number("b"): 1, Number("c"): 2}),
        ("-a/b", {Number("a"): -1}, {Number("b"): 1}),
    ],
)
def test_formulas(text: str, above: dict[Number, int], below: dict[Number, int]) -> None:
    found = Ratio.of(text)
    assert (found.above, found.below) == (above, below)
    assert found.reach == ("before" in text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "a",
            "a/b/c",
            "a b/c",
            "a+b/c",
            "a/b+c",
            "a*b/c",
            "a/2*",
            "(a/b",
            "a/(b",
            "()/b",
        ),
        *(
            "a/(b - b)",
            "a/(b - c)",
            "a/-b",
            "1000001*a/b",
            "A/b",
            "a/b;",
            "before a/b",
            "a[]/b",
            "a[1][2][3]/b",
            "a[x/b",
        ),
        *(
            "a" * 300 + "/b",
            "before(a/b",
            "a)/b",
            "a//b",
            "/",
            "a/",
            "/b",
            "2.5*a/b",
        ),
    ],
)
def test_what_is_no_ratio_is_refused(text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Ratio.of(text)
    assert len(str(caught.value)) < 300


def bounds_of(above: tuple[Plan, int], below: tuple[Plan, int], raw: tuple[int, int]) -> Measured:
    sources = Source(above[0], {above[1]: 1}, {}), Source(below[0], {}, {below[1]: 1})
    return Measured(*raw, sources, Fraction(95, 100), True)


@pytest.mark.parametrize(
    ("one", "other", "truth"),
    [
        (("edges", "sensdiff"), ("nodes", "sensdiff"), (300, 200)),
        (("edges", "optimised"), ("nodes", "optimised"), (40, 60)),
        (("high-degree", "moves"), ("nodes", "sensdiff"), (50, 200)),
        (("nodes", "sensdiff"), ("components", "moves"), (200, 90)),
        (("high-degree", "moves"), ("nodes", "sensdiff"), (0, 25)),
    ],
)
def test_bounds_hold_the_truth_as_often_as_they_say(
    one: tuple[str, str], other: tuple[str, str], truth: tuple[int, int]
) -> None:
    plans = [planned(*each) for each in (one, other)]
    runs, step = 4000, STEPS // 2
    rng = np.random.default_rng(7)
    above, below = (
        exact + simulate(each, runs, rng)[:, step] for exact, each in zip(truth, plans, strict=True)
    )
    exact = Fraction(*truth)
    reach = bounds_of((plans[0], step), (plans[1], step), (0, 0))._reach(exact)
    held = np.mean(np.abs(above - float(exact) * below) <= reach)
    assert held >= 0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5
    for raw in list(zip(above.tolist(), below.tolist(), strict=True))[:8]:
        found = bounds_of((plans[0], step), (plans[1], step), raw)
        bounds = found.bounds()
        low, high = bounds.low or Fraction(), bounds.high
        within = not bounds.empty and low <= exact and (high is None or exact <= high)
        assert within >= found.inside(exact)


def test_ends_are_where_noise_can_reach_and_no_farther() -> None:
    made = planned("edges", "sensdiff"), planned("nodes", "sensdiff")
    found = bounds_of((made[0], 4), (made[1], 4), (300, 200))
    bounds = found.bounds()
    assert bounds.low is not None
    assert bounds.high is not None
    assert not found.inside(bounds.low)
    assert not found.inside(bounds.high)
    width = bounds.high - bounds.low
    assert found.inside(bounds.low + width / 20)
    assert found.inside(bounds.high - width / 20)
    assert bounds.low < Fraction(3, 2) < bounds.high


def test_growth_is_of_one_series_whose_noise_cancels() -> None:
    """What a release shares with the one before does not count twice."""
    made = planned("edges", "sensdiff")
    grown = Measured(
        20, 400, (Source(made, {5: 1, 4: -1}, {4: 1}),), Fraction(95, 100), never_negative=False
    ).bounds()
    apart = Measured(
        20,
        400,
        (Source(made, {5: 1, 4: -1}, {}), Source(made, {}, {4: 1})),
        Fraction(95, 100),
        never_negative=False,
    ).bounds()
    assert grown.low is not None
    assert grown.high is not None
    assert apart.high is not None
    assert grown.low < Fraction(20, 400) < grown.high
    assert float(grown.high) == pytest.approx(float(apart.high), abs=0.03)


def test_over_what_may_be_nothing_there_is_no_upper_end() -> None:
    made = planned("edges", "sensdiff"), planned("nodes", "sensdiff")
    assert bounds_of((made[0], 4), (made[1], 4), (3, 1)).bounds().low == 0
    far = bounds_of((made[0], 4), (made[1], 4), (4000, 1)).bounds()
    assert far.high is None
    assert far.low is not None
    assert far.low > 100


def test_counts_far_below_0_leave_nothing_possible() -> None:
    made = planned("edges", "sensdiff"), planned("nodes", "sensdiff")
    assert bounds_of((made[0], 4), (made[1], 4), (-900, 300)).bounds().empty


@pytest.mark.parametrize("mechanism", ["sensdiff", "moves", "optimised"])
def test_a_multiple_of_a_noise(mechanism: str) -> None:
    made = planned("high-degree", mechanism)
    plain, twice = noise_of(made, {3: 1}), noise_of(made, {3: 2})
    assert scaled(plain, Fraction(2)).half_width(Fraction(9, 10)) == pytest.approx(
        twice.half_width(Fraction(9, 10)), abs=2
    )
    assert scaled(plain, Fraction(-3, 2)).variance() == pytest.approx(2.25 * plain.variance())
