"""The calendar as a study file writes it: plain entries, and dates that TOML knows as such."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WrapValidator

from graphveil.calendar.calendar import Calendar
from graphveil.study.promise.entries import located


def _calendar(given: object) -> Calendar:
    """A calendar as the file writes it; also dates that TOML knows as such."""
    if isinstance(given, Calendar):
        return given
    if not isinstance(given, dict):
        raise ValueError("must be a table of entries")
    return _calendar_of(json.dumps(given, default=str))


@lru_cache
def _calendar_of(text: str) -> Calendar:
    """Reading dates takes 20 ms, and the same calendar comes again and again."""
    given = json.loads(text)
    open_end = {"end" if "cuts" in given else "last": None}  # TOML has no null
    return Calendar.from_dict(open_end | given)


def _told_calendar(calendar: Calendar) -> dict[str, Any]:
    """The one way to write a calendar."""
    return {key: value for key, value in calendar.to_dict().items() if value is not None}


WrittenCalendar = Annotated[
    Calendar,
    BeforeValidator(_calendar),
    PlainSerializer(_told_calendar),
    WrapValidator(located),
]
