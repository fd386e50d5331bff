"""Series in memory whose promise is not checked, or that need none: nothing stops."""

from __future__ import annotations

import pytest

from graphveil import (
    Calendar,
    DegreeBound,
    GraphSequence,
    HubBound,
    NoBound,
    Series,
    from_rows,
    plan,
    statistic,
)
from graphveil.errors import BoundError

EDGES = statistic("edges")


def star() -> GraphSequence:
    """A hub of five, two of whom come in the second year."""
    people = [("hub", 2001), *((f"p{number}", 2001 + number // 3) for number in range(5))]
    links = [("hub", f"p{number}") for number in range(5)]
    return GraphSequence.begin(Calendar.yearly(2001)).extend(from_rows(people, links)).sequence


def test_a_promise_that_is_checked_stops_it() -> None:
    made = plan(EDGES, DegreeBound(2), epsilon=1, horizon=2)
    with pytest.raises(BoundError):
        Series.open(made, EDGES, DegreeBound(2)).publish(star(), through=1)


def test_one_that_is_not_counts_first_links() -> None:
    bound = HubBound(DegreeBound(2), (0,), checked=False)
    made = plan(EDGES, bound, epsilon=1, horizon=2)
    assert made.request.sensitivity.l1 == 2
    assert made.predicted == plan(EDGES, DegreeBound(2), epsilon=1, horizon=2).predicted
    _, series = Series.open(made, EDGES, bound).publish(star(), through=1)
    assert series.state.totals == (2,)


def test_without_any_promise_the_projection_is_counted() -> None:
    made = plan(EDGES, NoBound(), epsilon=1, horizon=2, projection=DegreeBound(3))
    assert made.mechanism.name == "range-projection"
    _, series = Series.open(made, EDGES, DegreeBound(3)).publish(star(), through=1)
    assert series.state.totals == (3,)
