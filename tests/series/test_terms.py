"""The terms of a series: a plan that was made for something else is refused, whatever it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound, HubBound
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series.counting import SeriesTerms
from graphveil.series.planner import plan
from graphveil.statistics.sensitivity import Mass, Moves
from graphveil.statistics.statistic import Statistic, statistic

BOUND = DegreeBound(3)
EDGES, HIGH, TRIANGLES = statistic("edges"), statistic("high-degree", tau=2), statistic("triangles")


def made_for(chosen: Statistic, mechanism: str = "sensdiff") -> Plan:
    threshold = BOUND if "projection" in mechanism else None
    return plan(chosen, BOUND, epsilon=1, horizon=5, mechanism=mechanism, projection=threshold)


def asked_otherwise(made: Plan, **otherwise: Any) -> Plan:
    """The same plan, as if it had been made for another request."""
    return replace(made, request=replace(made.request, **otherwise))


def refused(chosen: Statistic, made: Plan) -> str | None:
    try:
        SeriesTerms(chosen, BOUND, made).require_fitting_plan()
    except ParameterError as error:
        return str(error)
    return None


def test_a_series_begins_with_the_first_step_and_counts_what_its_mechanism_looks_at() -> None:
    plain = SeriesTerms(EDGES, BOUND, made_for(EDGES))
    assert plain.first_step == 0
    assert plain.projects is False
    assert SeriesTerms(EDGES, BOUND, made_for(EDGES, "compose-projection")).projects is True


@pytest.mark.parametrize("chosen", [EDGES, HIGH, TRIANGLES], ids=str)
def test_its_own_plan_fits(chosen: Statistic) -> None:
    made = made_for(chosen)
    assert refused(chosen, made) is None
    assert refused(chosen, asked_otherwise(made, shape=None)) is None  # as older plans were made


@pytest.mark.parametrize("shape", [Mass(1), Moves(9, 9), Moves(0, 1)])
def test_another_shape_is_refused(shape: Mass | Moves) -> None:
    problem = refused(HIGH, asked_otherwise(made_for(HIGH), shape=shape))
    assert problem is not None
    assert "another shape" in problem


@pytest.mark.parametrize("chosen", [EDGES, HIGH], ids=str)
def test_another_projection_is_refused(chosen: Statistic) -> None:
    made = made_for(chosen, "compose-projection")
    assert refused(chosen, made) is None
    for height in (made.request.projected_l1 or 0) - 1, None:
        problem = refused(chosen, asked_otherwise(made, projected_l1=height))
        assert problem is not None
        assert "another threshold" in problem


def test_only_what_rises_may_be_taken_to_rise() -> None:
    """An older plan does not know it of edges; of high degrees and of triangles it is wrong."""
    edges, high = (made_for(each, "compose-projection") for each in (EDGES, HIGH))
    for claimed in (False, True):
        assert refused(EDGES, asked_otherwise(edges, projected_rises=claimed)) is None
        wrong = refused(HIGH, asked_otherwise(high, projected_rises=claimed))
        assert (wrong is not None) == claimed
    unknown = replace(made_for(TRIANGLES), mechanism=edges.mechanism)
    assert refused(TRIANGLES, unknown) is None
    assert refused(TRIANGLES, asked_otherwise(unknown, projected_rises=True)) is not None


def test_values_of_those_who_leave_are_not_published_by_a_plan_for_those_who_stay() -> None:
    """Even if all its numbers were those of the recent network: its noise is on differences."""
    recent = EDGES.recent(2)
    made = plan(recent, BOUND, epsilon=1, horizon=5, mechanism="recent")
    assert refused(recent, made) is None
    problem = refused(recent, replace(made, mechanism=made_for(EDGES).mechanism))
    assert problem is not None
    assert "people who stay" in problem


HUBS = HubBound(DegreeBound(3), (2,), checked=False)
CCDF = statistic("degree-ccdf")


def fits_under_hubs(chosen: Statistic, made: Plan) -> bool:
    try:
        SeriesTerms(chosen, HUBS, made).require_fitting_plan()
    except ParameterError:
        return False
    return True


@pytest.mark.parametrize("chosen", [EDGES, HIGH, CCDF], ids=str)
def test_under_hubs_a_plan_may_allow_for_more_and_never_for_less(chosen: Statistic) -> None:
    """Numbers under hubs were proved smaller over time; plans from before are kept."""
    made = plan(chosen, HUBS, epsilon=1, horizon=5, mechanism="sensdiff")
    held = made.request.sensitivity
    assert fits_under_hubs(chosen, made)
    for measure in ("l1", "static_l1", "l2_squared", "variation"):
        now: int = getattr(held, measure)
        changed: list[dict[str, Any]] = [{measure: now + 1}, {measure: now - 1}]
        more, less = (replace(held, **each) for each in changed)
        assert fits_under_hubs(chosen, asked_otherwise(made, sensitivity=more)), measure
        assert not fits_under_hubs(chosen, asked_otherwise(made, sensitivity=less)), measure
    elsewhere = replace(held, assumption="another promise")
    assert not fits_under_hubs(chosen, asked_otherwise(made, sensitivity=elsewhere))
    assert not fits_under_hubs(chosen, asked_otherwise(made, width=7))


def test_under_hubs_a_shape_may_be_wider_and_never_narrower() -> None:
    made = plan(HIGH, HUBS, epsilon=1, horizon=5, mechanism="moves")
    shape, l1 = made.request.shape, made.request.sensitivity.l1
    assert isinstance(shape, Moves)
    for wider in (None, Mass(l1), replace(shape, rises=shape.rises + 1)):
        assert fits_under_hubs(HIGH, asked_otherwise(made, shape=wider)), wider
    narrower = (
        Mass(l1 - 1),
        replace(shape, rises=shape.rises - 1),
        replace(shape, falls=shape.falls - 1),
    )
    for each in narrower:
        assert not fits_under_hubs(HIGH, asked_otherwise(made, shape=each)), each
    vector = plan(CCDF, HUBS, epsilon=1, horizon=5, mechanism="moves")
    assert fits_under_hubs(CCDF, vector)
    assert not fits_under_hubs(CCDF, asked_otherwise(vector, shape=shape))
