"""The joint estimate: what holds of every network holds of it, and it is no farther from truth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.graph.groups import Groups
from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.series import joint as module
from graphveil.series.joint import KnownBest, Member, Picture, joint
from graphveil.series.planner import plan
from graphveil.series.postprocessing import revised
from graphveil.statistics.statistic import Statistic, statistic

Floats = NDArray[np.float64]
BOUND = DegreeBound(5)
PEOPLE = statistic("nodes")
LINKS = statistic("edges")
DEGREES = statistic("degree-ccdf")
BINS = statistic("degree-histogram")
THREE = statistic("high-degree", tau=3)
GROUPS = statistic("components")


def member(
    counted: Statistic, values: Floats, std: float, first: int = 0, projection: int | None = None
) -> Member:
    table, spread = values.reshape(len(values), -1).astype(np.float64), np.full(len(values), std**2)
    return Member(counted, projection, BOUND, first, table, spread)


def truth(steps: int, seed: int) -> Floats:
    """People by degree at each step: nobody loses a link."""
    rng = np.random.default_rng(seed)
    came = rng.integers(0, steps, 200)
    degree = np.minimum(rng.geometric(0.4, 200) - 1, 5)
    late = came + rng.integers(0, 3, 200)  # when they have their links
    return np.array(
        [
            [np.sum((came if d == 0 else late)[degree >= d] <= step) for d in range(6)]
            for step in range(steps)
        ],
        dtype=np.float64,
    )


def of(picture: Picture, number: int) -> Floats:
    found = picture.values[number]
    return found if found.shape[1] > 1 else found[:, 0]


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(0, 3))
def test_everything_agrees_at_every_step(seed: int, steps: int, later: int) -> None:
    """Also where a series begins later."""
    rng = np.random.default_rng(seed)
    table, first = truth(steps, seed), min(later, steps - 1)

    def noisy(exact: Floats, std: float) -> Floats:
        return exact + rng.normal(0, std, exact.shape)

    picture = joint(
        [
            member(PEOPLE, noisy(table[:, 0], 2), 2),
            member(LINKS, noisy(table[:, 1:].sum(axis=1) / 2, 9), 9),
            member(DEGREES, noisy(table[first:], 40), 40, first),
            member(THREE, noisy(table[:, 3], 8), 8),
            member(BINS, noisy(table - np.pad(table[:, 1:], [(0, 0), (0, 1)]), 30), 30),
        ]
    )
    people, links, degrees, three, bins = (of(picture, number) for number in range(5))
    assert np.array_equal(degrees[:, 0], people[first:])
    assert np.array_equal(degrees[:, 3], three[first:])
    assert 2 * links[first:] == pytest.approx(degrees[:, 1:].sum(axis=1))
    assert bins[first:] == pytest.approx(degrees - np.pad(degrees[:, 1:], [(0, 0), (0, 1)]))
    assert bins.min() >= 0
    assert min(np.diff(each, axis=0).min(initial=0) for each in (people, three, degrees)) >= 0
    assert np.diff(links).min(initial=0) >= -1e-9


def test_a_fact_has_the_interval_of_the_series_that_knows_it_best() -> None:
    table = truth(3, 1)
    picture = joint([member(PEOPLE, table[:, 0], 2), member(DEGREES, table, 40)])
    places = [each.same for each in picture.known_best[1][2]]
    assert places == [(0, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5)]
    assert [each.above for each in picture.known_best[1][2]] == [None, *[(0, 0)] * 5]
    assert {each.below for each in picture.known_best[1][2]} == {None}
    assert picture.known_best[0] == ((KnownBest((0, 0), None, None),),) * 3


def test_what_is_known_well_limits_what_lies_beside_it() -> None:
    table = truth(2, 1)
    three = member(THREE, table[:, 3], 8)
    picture = joint([member(PEOPLE, table[:, 0], 2), member(DEGREES, table, 40), three])
    found = picture.known_best[1][0]
    assert [each.above for each in found] == [None, (0, 0), (0, 0), (0, 0), (2, 0), (2, 0)]
    assert [each.below for each in found] == [None, (2, 0), (2, 0), None, None, None]


@pytest.mark.parametrize(
    ("counted", "projection"), [(THREE, 3), (statistic("high-degree", tau=3, window=2), None)]
)
def test_counts_under_different_projections_or_windows_do_not_meet(
    counted: Statistic, projection: int | None
) -> None:
    table = truth(3, 1)
    other = member(counted, table[:, 3] + 50, 8, projection=projection)
    picture = joint([member(DEGREES, table, 40), other])
    assert of(picture, 0)[:, 3].tolist() == table[:, 3].tolist()
    assert picture.known_best[1] == ((KnownBest((1, 0), None, None),),) * 3


def test_people_are_people_whatever_links_are_left_out() -> None:
    table = truth(3, 1)
    picture = joint([member(PEOPLE, table[:, 0], 1), member(DEGREES, table + 7, 40, projection=3)])
    assert np.array_equal(of(picture, 1)[:, 0], of(picture, 0))


def test_more_groups_than_people_without_links() -> None:
    """Twelve people, of whom five have links: at least seven groups, and nine at most."""
    degrees = np.array([[12.0, 5, 2, 1, 0, 0]])
    picture = joint([member(DEGREES, degrees, 1e-3), member(GROUPS, np.array([30.0]), 5)])
    assert of(picture, 1)[0] == pytest.approx(9.5, abs=0.11)
    picture = joint([member(DEGREES, degrees, 1e-3), member(GROUPS, np.array([1.0]), 5)])
    assert of(picture, 1)[0] == pytest.approx(7, abs=0.11)


def test_nobody_gains_by_too_large_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would take too long is left as each series says it by itself."""
    table = truth(3, 1)
    monkeypatch.setattr(module, "MOST", 10)
    picture = joint([member(PEOPLE, table[:, 0] + 3, 2), member(DEGREES, table, 40)])
    assert np.array_equal(of(picture, 0), table[:, 0] + 3)
    assert np.array_equal(of(picture, 1), table)


def test_together_they_are_nearer_to_the_truth() -> None:
    table, runs = truth(10, 3) * 10, 40
    series = [
        (PEOPLE, table[:, 0], "1/4"),
        (LINKS, table[:, 1:].sum(axis=1) / 2, "1/2"),
        (THREE, table[:, 3], "1/2"),
        (DEGREES, table, "1"),
    ]
    plans = [plan(each, BOUND, epsilon=Fraction(price), horizon=10) for each, _, price in series]
    rng = np.random.default_rng(5)
    errors = np.zeros((2, 4))
    for _ in range(runs):
        own = []
        for made, (counted, exact, _) in zip(plans, series, strict=True):
            noise = simulate(made, exact.reshape(10, -1).shape[1], rng).T.reshape(exact.shape)
            own.append(revised(counted, exact + noise, made))
        picture = joint(
            [
                member(counted, values, made.mean_std)
                for (counted, _, _), values, made in zip(series, own, plans, strict=True)
            ]
        )
        for number, (_, exact, _) in enumerate(series):
            errors[0, number] += np.abs(own[number] - exact).mean()
            errors[1, number] += np.abs(of(picture, number) - exact).mean()
    people, links, three, degrees = errors[1] / errors[0]
    assert degrees < 0.8
    assert max(people, links, three) < 1.02


def test_cells_of_a_breakdown_add_up_to_the_total() -> None:
    """Also where the total is known better, or by way of degrees."""
    groups = Groups.of(["region=North|South"])
    by = statistic("nodes", by="region", groups=groups)
    table = truth(3, 2)
    cells = by.width(BOUND)
    parts = np.outer(table[:, 0], np.ones(cells) / cells) + 30.0
    picture = joint(
        [member(PEOPLE, table[:, 0], 2), member(by, parts, 10), member(DEGREES, table, 40)]
    )
    assert of(picture, 1).sum(axis=1) == pytest.approx(of(picture, 0))
    assert of(picture, 2)[:, 0] == pytest.approx(of(picture, 0))
    assert of(picture, 1).min() >= 0


def test_links_by_pairs_and_by_ends_add_up() -> None:
    groups = Groups.of(["region=North|South"])
    links = np.array([40.0, 60.0])
    for kind, times in (("pairs", 1), ("alike", 1), ("ends", 2)):
        by = statistic("edges", by="region", cells=kind, groups=groups)
        cells = by.width(BOUND)
        parts = np.full((2, cells), 20.0)
        picture = joint([member(LINKS, links, 1e-3), member(by, parts, 10)])
        assert of(picture, 1).sum(axis=1) == pytest.approx(times * links, abs=0.3)
