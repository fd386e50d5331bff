"""A small study as a steward would ask for it, in plain values."""

from __future__ import annotations

from graphveil.steward.drafting import calendar
from graphveil.steward.requests import SeriesRequest, StudyRequest

EDGES = SeriesRequest("edges", epsilon="1/4")
REQUEST = StudyRequest(
    title="A study for tests",
    population="made-up people",
    publisher="the tests",
    calendar=calendar("year", "2001", "2004"),
    epsilon="1",
    epsilon_reason="an example",
    series=(EDGES, SeriesRequest("nodes", epsilon="1/4")),
    bound_reason="nobody made up more",
    degree=4,
)
