"""Which steps of a study there are, and which of them are over by the clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from graphveil.errors import StudyError

if TYPE_CHECKING:
    from graphveil.study.promise.promise import Promise


def label_of(promise: Promise, step: int) -> str:
    """The public name of a step; refuses one after the end of the calendar."""
    last = promise.calendar.last_step
    if last is not None and step > last:
        raise StudyError(
            f"every step of the calendar up to {promise.calendar.label(last)} is sealed. To go on, "
            "see `graphveil extend`."
        )
    return promise.calendar.label(step)


def steps_ended(promise: Promise) -> int:
    """How many steps have ended by the clock; of a calendar without dates, all."""
    from graphveil.calendar.units import MOST_STEPS, Unit

    calendar = promise.calendar
    top = MOST_STEPS if calendar.last_step is None else calendar.last_step + 1
    if calendar.unit == Unit.NUMBER:
        return top
    return min(calendar.steps_before(datetime.now(UTC)), top)
