"""The pieces of the paper's protocol, each by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import ParameterError
from graphveil.graph.degrees import FinalDegrees
from graphveil.graph.promises import DegreeBound, InOutBound
from graphveil.lab.experiments.protocol import (
    Protocol,
    mean_and_standard_error,
    observed_bound,
    observed_hubs,
    observed_tau,
    relative_errors,
    release_steps,
    rounded_up,
    stride_for,
    strides,
    thresholds,
)


@pytest.mark.parametrize(
    ("highest", "bound"), [(0, 5), (1, 5), (5, 5), (6, 10), (13, 15), (247, 250), (250, 250)]
)
def test_bounds_are_rounded_up_to_a_multiple_of_five(highest: int, bound: int) -> None:
    assert rounded_up(highest) == bound


def test_each_direction_has_its_own_bound() -> None:
    found = FinalDegrees(np.array([0, 8], dtype=np.int32), np.array([12, 0], dtype=np.int32))
    assert observed_bound(found, directed=True) == InOutBound(inward=15, outward=10)
    assert observed_bound(found, directed=False) == DegreeBound(10)


@pytest.mark.parametrize(
    ("degrees", "tau"),
    [
        ([0] * 95 + [7] * 5, 1),  # the percentile is 0, which every node reaches
        ([0] * 90 + [3] * 10, 1),
        ([0] * 89 + [3] * 11, 3),
        (list(range(1, 11)), 9),
        ([4], 4),
        ([], 1),
    ],
)
def test_tau_is_the_ninetieth_percentile_and_at_least_one(degrees: list[int], tau: int) -> None:
    assert observed_tau(np.array(degrees, dtype=np.int32)) == tau


def test_a_hub_has_more_links_than_99_percent_in_its_direction() -> None:
    outward, inward = np.array([0] * 98 + [6, 9]), np.array([1] * 99 + [0])
    found = FinalDegrees(outward.astype(np.int32), inward.astype(np.int32))
    assert observed_hubs(found, directed=True) == InOutBound(inward=1, outward=6)
    assert observed_hubs(found, directed=False) == DegreeBound(6)
    nobody = FinalDegrees(np.zeros(0, np.int32), np.zeros(0, np.int32))
    assert observed_hubs(nobody, directed=False) == DegreeBound(1)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200))
def test_tau_is_the_least_degree_that_ninety_percent_do_not_exceed(degrees: list[int]) -> None:
    tau, listed = observed_tau(np.array(degrees)), np.array(degrees)
    assert (listed <= tau).sum() * 10 >= 9 * len(degrees)
    assert tau == 1 or (listed <= tau - 1).sum() * 10 < 9 * len(degrees)


@pytest.mark.parametrize(
    ("steps", "every", "published"),
    [
        (6, 1, [0, 1, 2, 3, 4, 5]),
        (6, 2, [1, 3, 5]),
        (7, 2, [1, 3, 5, 6]),
        (5, 4, [3, 4]),
        (5, 5, [4]),
        (5, 9, [4]),
    ],
)
def test_the_last_step_of_each_group_is_published(
    steps: int, every: int, published: list[int]
) -> None:
    assert release_steps(steps, every).tolist() == published


def test_releases_are_one_two_four_steps_apart_down_to_two() -> None:
    assert strides(20) == [1, 2, 4, 8, 16]
    assert strides(16) == [1, 2, 4, 8]
    assert strides(1) == [1]


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_number_of_releases_is_met_exactly_or_refused(steps: int, releases: int) -> None:
    possible = {len(release_steps(steps, every)) for every in range(1, steps + 1)}
    if releases in possible:
        assert len(release_steps(steps, stride_for(steps, releases))) == releases
    else:
        with pytest.raises(ParameterError, match=f"{releases} cannot be made of {steps} steps"):
            stride_for(steps, releases)


def test_relative_errors_divide_by_the_truth_and_by_one_where_it_is_zero() -> None:
    truth = np.array([0, 4, 10])
    estimates = np.array([[3, 4, 10], [0, 2, 15], [-1, 4, 0]])
    assert relative_errors(estimates, truth).tolist() == [3.0, 1.0, 2.0]


def test_a_release_of_many_numbers_counts_as_one() -> None:
    truth = np.array([[0, 0], [3, 1]])
    estimates = np.array([[[1, -1], [5, 1]]])
    assert relative_errors(estimates, truth).tolist() == [2 + 0.5]


def test_the_standard_error_is_that_of_the_mean() -> None:
    assert mean_and_standard_error(np.array([1.0, 3.0])) == (2.0, 1.0)


def test_thresholds_end_with_the_bound_and_pair_up_for_directed_graphs() -> None:
    assert thresholds(DegreeBound(5)) == [DegreeBound(value) for value in (1, 2, 3, 4, 5)]
    assert thresholds(DegreeBound(35))[-1] == DegreeBound(35)
    pairs = thresholds(InOutBound(5, 10))
    assert len(pairs) == len(set(pairs)) == 5 * 7
    assert InOutBound(5, 10) in pairs


@pytest.mark.parametrize(("runs", "seed"), [(1, 0), (0, 0), (True, 0), (5, -1)])
def test_a_protocol_needs_two_runs_and_a_seed(runs: int, seed: int) -> None:
    with pytest.raises(ParameterError, match="whole number"):
        Protocol(runs, seed)
