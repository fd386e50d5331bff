"""Networks to look at: records become a growing graph whose calendar follows from themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from graphveil.formats.options import Undated
    from graphveil.graph.intake.appending import Intake
    from graphveil.graph.intake.records import Records


def taken(
    records: Records, every: str | None, *, directed: bool, oriented: bool, undated: Undated
) -> Intake:
    """The growing graph of some records, from their earliest time on.

    Fine for looking at one's own data, or at public ones; a calendar to publish by must be chosen
    without looking.

    Args:
        records: nodes and edges.
        every: the length of a step; None takes one unit of numbers, or a year.
        directed: whether edges go from source to target.
        oriented: whether reciprocal edges are refused.
        undated: whether nodes without a time are refused, in the first step, or left out.
    """
    from graphveil.calendar.calendar import Calendar
    from graphveil.graph.intake.appending import append
    from graphveil.graph.intake.resolving import resolve
    from graphveil.graph.intake.rules import RecordRules
    from graphveil.graph.intake.undated import dated_only
    from graphveil.graph.sequence import GraphSequence

    times = records.nodes.frame["time"]
    rhythm = every or ("1" if times.dtype.is_integer() else "year")
    calendar = Calendar.spanning(times, int(rhythm) if rhythm.isdigit() else rhythm)
    sequence = GraphSequence.begin(calendar, directed=directed, oriented=oriented)
    if undated != "drop":
        return sequence.extend(records, undated=undated)
    found = resolve(records, calendar, RecordRules(undated="first"))
    return append(
        sequence, dated_only(found, lambda ids: np.zeros(len(ids), np.bool_)), late="refuse"
    )
