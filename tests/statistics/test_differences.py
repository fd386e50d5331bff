"""From tallies to differences: exact, checked, and the same for runs as for dense tables."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import BoundError, CountOverflowError
from graphveil.statistics.patterns import _stars_at_low_degrees
from graphveil.statistics.statistic import statistic
from graphveil.statistics.tallies import LARGEST, Counts, DegreeReach, checked, totals

NO_RUNS: Counts = np.zeros((0, 3), dtype=np.int64)

# Every node climbs: for each step it is alive, the degree it has at the end of that step.
climbs = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), max_size=8)


def reach(nodes: list[list[int]], width: int, steps: int = 6) -> DegreeReach:
    """The tally of nodes with the given degrees, the last `len` steps each."""
    low = np.zeros((steps, width), dtype=np.int64)
    runs = []
    for degrees in nodes:
        before = -1
        for step, degree in enumerate(sorted(degrees), start=steps - len(degrees)):
            for reached in range(before + 1, min(degree, width - 1) + 1):
                low[step, reached] += 1
            first = max(before + 1, width)
            if degree >= first:
                runs.append((step, first, degree))
            before = max(before, degree)
    return DegreeReach(low, np.array(runs, dtype=np.int64).reshape(-1, 3))


def degrees_at(nodes: list[list[int]], step: int, steps: int = 6) -> list[int]:
    alive = [(sorted(degrees), step - (steps - len(degrees))) for degrees in nodes]
    return [degrees[age] for degrees, age in alive if age >= 0]


@given(climbs, st.integers(1, 4), st.integers(2, 4))
def test_runs_and_dense_tables_give_what_counting_gives(
    nodes: list[list[int]], tau: int, k: int
) -> None:
    for width in (1, 2, 5, 20):
        tallied = reach(nodes, width)
        high = totals(statistic("high-degree", tau=tau).differences(tallied))
        ccdf = totals(statistic("degree-ccdf").differences(tallied, width=12))
        bins = totals(statistic("degree-histogram").differences(tallied, width=12))
        stars = totals(statistic("stars", k=k).differences(tallied))
        for step in range(6):
            now = degrees_at(nodes, step)
            assert high[step] == sum(degree >= tau for degree in now)
            assert ccdf[step].tolist() == [sum(x >= d for x in now) for d in range(12)]
            assert bins[step].tolist() == [sum(x == d for x in now) for d in range(12)]
            assert stars[step] == sum(comb(degree, k) for degree in now)


@given(climbs)
def test_without_a_width_the_table_ends_at_the_highest_degree(nodes: list[list[int]]) -> None:
    highest = max((max(degrees) for degrees in nodes), default=0)
    for width in (1, 4, 20):
        tallied = reach(nodes, width)
        assert statistic("degree-ccdf").differences(tallied).shape == (6, highest + 1)
        assert statistic("degree-histogram").differences(tallied).shape == (6, highest + 1)


@pytest.mark.parametrize("name", ["degree-ccdf", "out-degree-histogram", "in-degree-ccdf"])
@pytest.mark.parametrize("width", [2, 20])
def test_data_beyond_the_promise_are_refused_in_private(name: str, width: int) -> None:
    tallied = reach([[0, 3, 17]], width)
    statistic(name).differences(tallied, width=18)
    with pytest.raises(BoundError, match="must not be published") as refusal:
        statistic(name).differences(tallied, width=17)
    assert not any(character.isdigit() for character in str(refusal.value))


def test_a_late_hub_costs_no_dense_table() -> None:
    hub = DegreeReach(
        np.zeros((365, 64), dtype=np.int64), np.array([[364, 64, 200_000]], dtype=np.int64)
    )
    stars = statistic("stars", k=3).differences(hub)
    assert stars[364] == comb(200_000, 3) - comb(63, 3)
    assert not stars[:364].any()
    assert statistic("high-degree", tau=70_000).differences(hub)[364] == 1


@pytest.mark.parametrize("width", [3, 300])
def test_stars_beyond_64_bits_are_refused(width: int) -> None:
    """C(80, 40) does not fit; C(60, 30) does, though most products on the way are large."""
    with pytest.raises(CountOverflowError, match="beyond 64 bits"):
        statistic("stars", k=40).differences(reach([[0, 80]], width))
    fits = statistic("stars", k=30).differences(reach([[0, 60]], width))
    assert fits.dtype == np.int64
    assert fits.sum() == comb(60, 30)


@pytest.mark.parametrize("width", [3, 300])
def test_many_nodes_whose_stars_fit_one_by_one_but_not_together(width: int) -> None:
    assert 19 * comb(62, 31) <= LARGEST < 20 * comb(62, 31)
    fits = statistic("stars", k=31).differences(reach([[0, 62]] * 19, width))
    assert fits.sum() == 19 * comb(62, 31)
    with pytest.raises(CountOverflowError):
        statistic("stars", k=31).differences(reach([[0, 62]] * 20, width))


def test_empty_tallies_with_large_stars() -> None:
    nothing = DegreeReach(np.zeros((3, 300), dtype=np.int64), NO_RUNS)
    assert statistic("stars", k=100).differences(nothing).tolist() == [0, 0, 0]
    assert statistic("degree-ccdf").differences(nothing).tolist() == [[0]] * 3
    no_steps = DegreeReach(np.zeros((0, 4), dtype=np.int64), NO_RUNS)
    assert len(statistic("stars", k=2).differences(no_steps)) == 0
    assert len(totals(np.zeros(0, dtype=np.int64))) == 0


def test_every_single_difference_fits_but_their_total_does_not() -> None:
    differences = checked([LARGEST - 1, 1, 1])
    assert totals(differences[:2]).tolist() == [LARGEST - 1, LARGEST]
    with pytest.raises(CountOverflowError):
        totals(differences)
    with pytest.raises(CountOverflowError):
        checked([LARGEST + 1])
    with pytest.raises(CountOverflowError):
        totals(np.stack([differences, np.zeros(3, dtype=np.int64)], axis=1))


@given(st.lists(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=2, max_size=2), min_size=1))
def test_totals_are_exact_or_refused(rows: list[list[int]]) -> None:
    expected = [[sum(row[c] for row in rows[: t + 1]) for c in (0, 1)] for t in range(len(rows))]
    differences = np.array(rows, dtype=np.int64)
    if all(abs(value) <= LARGEST for row in expected for value in row):
        assert totals(differences).tolist() == expected
    else:
        with pytest.raises(CountOverflowError):
            totals(differences)


def test_columns_of_the_triangle_tally() -> None:
    tallied = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.int64)
    assert statistic("triangles").differences(tallied).tolist() == [1, 4]
    assert statistic("cyclic-triangles").differences(tallied).tolist() == [2, 5]
    assert statistic("transitive-triangles").differences(tallied).tolist() == [3, 6]


def test_groups_and_the_people_in_them_are_told_apart() -> None:
    """At the first step three groups of seven people, at the second one group of two."""
    tallied = np.array([[3, 7], [1, 2]])
    assert list(statistic("clusters", k=2).differences(tallied)) == [3, 1]
    assert list(statistic("clustered", k=2).differences(tallied)) == [7, 2]


@pytest.mark.parametrize("k", [2, 3, 40, 64])
def test_stars_of_many_links_are_counted_exactly(k: int) -> None:
    """Far beyond 64 bits in between, but for the last check of what fits."""
    low = np.zeros((3, 131), dtype=np.int64)
    low[0, 1:130] = 40
    low[2, 1:40] = 3
    plain = [sum(int(n) * comb(d - 1, k - 1) for d, n in enumerate(row) if d) for row in low]
    assert _stars_at_low_degrees(low, k) == plain
    assert _stars_at_low_degrees(low[:, :1], k) == [0, 0, 0]
    assert _stars_at_low_degrees(low[:0], k) == []
