"""Post-processing: exact guarantees on arbitrary histories, and seeded simulations for the rest."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.series import postprocessing
from graphveil.series.postprocessing import (
    Processing,
    clipped,
    histogram_of,
    monotone_ccdf,
    monotone_in_degree,
    online_isotonic,
    processed,
    refitted,
)
from graphveil.statistics.statistic import registered, statistic
from postprocessing_errors import PAGE, PROCESSES, SHAPES, increments_clipped, ratios, table

Floats = NDArray[np.float64]
numbers = st.integers(-1000, 1000)
histories = st.lists(numbers, min_size=1, max_size=30)
rises = st.integers(0, 30)


@st.composite
def histories_of(draw: st.DrawFn, width: int) -> tuple[Floats, Floats]:
    """A raw table and a true CCDF of the same shape."""
    steps = draw(st.integers(1, 12))
    raw = draw(arrays(np.int64, (steps, width), elements=numbers))
    bins = draw(arrays(np.int64, (steps, width), elements=rises))
    # Nodes that reach degree d at each step, summed over time and over higher degrees.
    true = np.cumsum(np.cumsum(bins[:, ::-1], axis=1)[:, ::-1], axis=0)
    return raw.astype(np.float64), true.astype(np.float64)


def squared(a: Floats, b: Floats) -> float:
    return float(((a - b) ** 2).sum())


@given(histories, st.integers(0, 500))
def test_clipping_never_moves_a_value_away_from_a_truth_in_range(raw: list[int], true: int) -> None:
    after = np.abs(clipped(raw, 0, 500) - true)
    assert (after <= np.abs(np.array(raw) - true)).all()


@given(histories)
def test_online_isotonic_is_the_largest_mean_of_a_recent_stretch(raw: list[int]) -> None:
    plain = [max(np.mean(raw[s : t + 1]) for s in range(t + 1)) for t in range(len(raw))]
    np.testing.assert_allclose(online_isotonic(raw), plain, atol=1e-9)


@given(histories)
def test_online_isotonic_is_the_end_of_every_refit(raw: list[int]) -> None:
    ends = [refitted(raw[: t + 1])[-1] for t in range(len(raw))]
    np.testing.assert_array_equal(online_isotonic(raw), ends)


@given(histories)
def test_refitting_gives_the_nearest_rising_history(raw: list[int]) -> None:
    """A projection onto a cone: it rises, leaves a right angle and pushes against every rise."""
    fit = refitted(raw)
    assert (np.diff(fit) >= -1e-9).all()
    residual = np.array(raw) - fit
    assert abs(residual @ fit) < 1e-6 * max(1.0, float(fit @ fit))
    assert (np.cumsum(residual[::-1])[::-1] <= 1e-6).all()


@given(st.data(), histories)
def test_refitting_never_hurts_a_rising_truth(data: st.DataObject, raw: list[int]) -> None:
    steps = data.draw(st.lists(rises, min_size=len(raw), max_size=len(raw)))
    true = np.cumsum(steps).astype(np.float64)
    before = squared(np.array(raw, dtype=np.float64), true)
    assert squared(refitted(raw), true) <= before * (1 + 1e-12)


@given(histories_of(width=5))
def test_a_refitted_ccdf_is_consistent_and_never_hurts(tables: tuple[Floats, Floats]) -> None:
    raw, true = tables
    fit = monotone_ccdf(raw, online=False)
    assert (np.diff(fit, axis=0) >= -1e-9).all()
    assert (np.diff(fit, axis=1) <= 0).all()
    assert (histogram_of(fit) >= 0).all()
    np.testing.assert_allclose(histogram_of(fit).sum(axis=1), fit[:, 0], atol=1e-6)
    assert squared(fit, true) <= squared(raw, true) * (1 + 1e-12)


@given(histories_of(width=4))
def test_an_online_ccdf_falls_in_degree_and_revises_nothing(tables: tuple[Floats, Floats]) -> None:
    raw, _ = tables
    online = monotone_ccdf(raw, online=True)
    assert (histogram_of(online) >= 0).all()
    for step in range(len(raw)):
        np.testing.assert_array_equal(
            monotone_ccdf(raw[: step + 1], online=True)[step], online[step]
        )


@given(histories_of(width=4))
def test_fitting_over_degrees_never_hurts_any_row(tables: tuple[Floats, Floats]) -> None:
    raw, true = tables
    fit = monotone_in_degree(raw)
    for row, fitted, truth in zip(raw, fit, true, strict=True):
        assert squared(fitted, truth) <= squared(row, truth) * (1 + 1e-12)


def test_histogram_of_a_true_ccdf() -> None:
    assert histogram_of([[7, 4, 1], [9, 9, 2]]).tolist() == [[3, 3, 1], [0, 7, 2]]


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32])
def test_numbers_of_every_kind_are_taken_and_floats_are_given(kind: type[np.generic]) -> None:
    """Whole numbers without a sign as well, of which the negative ones wrap around."""
    row, table = np.array([3, 5, 4]).astype(kind), np.array([[3, 5, 4]]).astype(kind)
    wanted: list[tuple[Floats, Any]] = [
        (clipped(row), [3, 5, 4]),
        (online_isotonic(row), [3, 5, 4.5]),
        (refitted(row), [3, 4.5, 4.5]),
        (refitted(row[:0]), []),
        (monotone_in_degree(table), [[4, 4, 4]]),
        (monotone_ccdf(table, online=True), [[4, 4, 4]]),
        (histogram_of(row), [-2, 1, 4]),
    ]
    for found, values in wanted:
        assert str(found.dtype) == "float64"
        assert found.tolist() == values


def test_a_range_of_one_number_leaves_one_value() -> None:
    assert clipped([1, 2, 3], 2, 2).tolist() == [2, 2, 2]


def test_where_people_leave_each_row_is_fitted_by_itself() -> None:
    leaving = statistic("degree-ccdf").recent(2)
    found = processed(leaving, [[3, 5], [9, -4], [20, 12]], highest=10)
    assert found.values.tolist() == [[4, 4], [9, 0], [10, 10]]
    assert found.done == "falling in degree, clipped to 0..10"
    assert found.histogram is not None
    assert found.histogram.tolist() == [[0, 4], [9, 0], [0, 10]]


def test_no_bin_is_negative_by_a_last_bit() -> None:
    """Means that are equal but for the rounding of sums: without care, the second is larger."""
    history = [
        [32, 0, 0, 0, 0],
        [21, 0, 0, 0, 0],
        [17, 30, 34, 0, 0],
        [15, 0, 17, 28, 38],
        [27, 31, 0, 0, 0],
        [17, 1, 26, 36, 24],
    ]
    plain = online_isotonic(monotone_in_degree(history))[-1]
    assert (np.diff(plain) > 0).any()
    values, _ = Processing.of(statistic("degree-ccdf"), 5, history[:-1]).take(history[-1])
    assert (np.diff(values) <= 0).all()


def test_readers_are_told_what_was_done() -> None:
    raw = [3, 1]
    online, whole = (processed(statistic("edges"), raw, online=each).done for each in (True, False))
    assert online == "each value ends a rising fit of those before it, clipped at 0"
    assert whole == "refitted to rise, clipped at 0"


def test_each_statistic_gets_what_is_admissible() -> None:
    raw = [5, -3, 2, 1]
    falls = processed(statistic("components"), raw)
    assert falls.values.tolist() == [5, 0, 2, 1]
    rising = processed(statistic("edges"), raw)
    assert rising.values.tolist() == [5, 1, 2, 1.5]
    history = processed(statistic("edges"), raw, online=False, highest=1)
    assert history.values.tolist() == [1, 1, 1, 1]
    assert "0..1" in history.done
    bins = processed(statistic("degree-histogram"), [[3, -1], [2, 4]])
    assert bins.values.tolist() == [[3, 0], [2, 4]]
    assert bins.histogram is None
    ccdf = processed(statistic("degree-ccdf"), [[3, 4], [2, 1]], online=False)
    assert ccdf.values.tolist() == [[2.75, 2.25], [2.75, 2.25]]
    assert ccdf.histogram is not None
    assert ccdf.histogram.tolist() == [[0.5, 2.25], [0.5, 2.25]]


@pytest.mark.parametrize("online", [True, False])
def test_every_statistic_can_be_processed(online: bool) -> None:
    rng = np.random.default_rng(3)
    for member in registered().values():
        for example in member.examples():
            raw = rng.integers(-9, 20, (6, 4) if example.vector else 6)
            found = processed(example, raw, online=online)
            assert found.values.shape == raw.shape
            assert (found.values >= 0).all()
            assert found.done


def test_a_history_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ParameterError, match="raw_history: must have one number per release"):
        processed(statistic("edges"), [[1, 2]])
    with pytest.raises(ParameterError, match="raw_history: must have one row of numbers per"):
        processed(statistic("degree-ccdf"), [1, 2])
    with pytest.raises(ParameterError, match="highest"):
        clipped([1], 3, 2)


def test_raw_values_are_never_changed_in_place() -> None:
    raw = np.array([5.0, -3.0, 2.0])
    for function in (clipped, online_isotonic, refitted):
        function(raw)
    assert raw.tolist() == [5, -3, 2]


def test_what_can_hurt_is_not_offered() -> None:
    """No public function turns increments or a running maximum into a published value."""
    flat = np.random.default_rng(5).normal(size=(40, 30)).cumsum(axis=0)
    dangerous: list[Callable[[Floats], Floats]] = [
        increments_clipped,
        lambda raw: np.maximum.accumulate(raw, axis=0),
    ]
    offered = [
        function
        for name in ("clipped", "online_isotonic", "refitted", "monotone_in_degree")
        if (function := getattr(postprocessing, name))
    ]
    for function in offered:
        for bad in dangerous:
            assert not np.allclose(function(flat), bad(flat))
    for name in vars(postprocessing):
        assert not re.search(r"increment|running|cummax", name)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("noise", ["sensdiff", "even"])
def test_simulated_errors_stay_within_what_the_facts_say(shape: str, noise: str) -> None:
    found = ratios(shape, noise, steps=50, runs=400, seed=11)
    assert found["clip at 0"] <= 1
    assert 0.6 < found["online isotonic"] <= 1
    assert 0.25 < found["refitted history"] < 1


def test_the_dangers_are_real() -> None:
    """The reason why two tempting ideas are not offered."""
    flat = ratios("flat", "sensdiff", steps=1000, runs=200, seed=12)
    assert flat["increments clipped (not offered)"] > 7
    assert ratios("flat", "even", 50, 400, 13)["running maximum (not offered)"] > 1.37


def test_the_document_shows_these_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for line in table():
        name, *figures = [cell.strip() for cell in line.strip("|").split("|")]
        shown = next(row for row in page.splitlines() if row.startswith(f"| {name} |"))
        written = [float(cell) for cell in shown.strip("|").split("|")[1:]]
        np.testing.assert_allclose(written, [float(figure) for figure in figures], atol=0.05)
    assert all(name in page for name in PROCESSES)


@pytest.mark.parametrize("name", sorted(registered()))
@settings(max_examples=30)
@given(data=st.data())
def test_taking_one_release_after_the_other_gives_what_the_whole_history_gives(
    name: str, data: st.DataObject
) -> None:
    example = data.draw(st.sampled_from(list(registered()[name].examples())))
    width = data.draw(st.integers(2, 5)) if example.vector else 1
    rows = st.lists(st.integers(-9, 9), min_size=width, max_size=width)
    history = data.draw(st.lists(rows, min_size=1, max_size=12))
    known = data.draw(st.integers(0, len(history)))
    processing = Processing.of(example, width, history[:known])
    for place in range(known, len(history)):
        values, processing = processing.take(history[place])
        raw = np.array(history[: place + 1])
        wanted = processed(example, raw if example.vector else raw[:, 0])
        assert values == tuple(np.atleast_1d(wanted.values[-1]).tolist())  # to the last bit
        assert processing.done == wanted.done
