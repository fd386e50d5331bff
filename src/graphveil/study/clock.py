"""Which steps of a study there are, and which of them are over by the clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from graphveil.errors import StudyError

if TYPE_CHECKING:
    from graphveil.study.study_file import StudyFile


def label_of(study: StudyFile, step: int) -> str:
    """The public name of a step; refuses one after the end of the calendar."""
    last = study.steps().last_step
    if last is not None and step > last:
        raise StudyError(
            f"every step of the calendar up to {study.steps().label(last)} is sealed. To go on, "
            "open a new study; the people in it are the same, so its ε adds to this one's."
        )
    return study.steps().label(step)


def steps_ended(study: StudyFile) -> int:
    """How many steps have ended by the clock; of a calendar without dates, all."""
    from graphveil.calendar.calendar import MOST_STEPS
    from graphveil.calendar.times import Unit

    calendar = study.steps()
    top = MOST_STEPS if calendar.last_step is None else calendar.last_step + 1
    if calendar.unit == Unit.NUMBER:
        return top
    now = calendar.steps_of([datetime.now(UTC)])
    return top if now.trouble is not None else int(now.steps[0])
