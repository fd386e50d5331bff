"""What a statistic takes from a tally, where the tally has more than one number or large ones."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.statistics.patterns import _stars_at_low_degrees
from graphveil.statistics.statistic import Statistic, statistic, whole_number


def test_clusters_and_people_in_them_stand_in_one_tally() -> None:
    tallied = np.array([[2, 7], [3, 11]])
    assert statistic("clusters", k=2).differences(tallied).tolist() == [2, 3]
    assert statistic("clustered", k=2).differences(tallied).tolist() == [7, 11]


def test_stars_that_64_bits_cannot_hold_are_counted_exactly() -> None:
    """Each weight fits, and so does each count; a product does not."""
    low = np.zeros((2, 71), dtype=np.int64)
    low[0, 70], low[0, 30], low[1, 70] = 10_000, 3, 1
    weight = comb(69, 19)
    assert weight < 2**63 < 10_000 * weight
    assert _stars_at_low_degrees(low, 20) == [10_000 * weight + 3 * comb(29, 19), weight]


def test_no_stars_are_none() -> None:
    assert _stars_at_low_degrees(np.zeros((3, 5), dtype=np.int64), 2) == [0, 0, 0]


def test_what_is_no_number_comes_back_as_it_was() -> None:
    assert whole_number("three") == "three"
    assert whole_number("12") == whole_number(12) == 12


def test_a_vector_without_a_width_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = statistic("edges")
    assert chosen.width(DegreeBound(3)) == 1
    monkeypatch.setattr(type(chosen), "vector", True)
    with pytest.raises(ParameterError, match="has no width"):
        Statistic.width(chosen, DegreeBound(3))
