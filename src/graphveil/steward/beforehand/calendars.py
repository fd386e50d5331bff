"""Calendars as people write them: a rhythm with its first and last step, or a list of cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar

RHYTHMS = ("year", "quarter", "month", "week", "day")


def calendar(every: str, first: str, last: str | None = None) -> Calendar:
    """Even steps; where `every` is a number, how `first` is written decides the unit."""
    from graphveil.calendar.calendar import Calendar

    named = (
        Calendar.yearly,
        Calendar.quarterly,
        Calendar.monthly,
        Calendar.weekly,
        Calendar.daily,
    )
    if every in RHYTHMS:
        return named[RHYTHMS.index(every)](first, last)
    if not (every.isascii() and every.isdigit()):
        problem = f"must be {', '.join(RHYTHMS)} or a whole number, not '{every}'"
        raise ParameterError("every", problem)
    return Calendar.every(int(every), _time(first), None if last is None else _time(last))


def calendar_of_cuts(cuts: Sequence[str], end: str | None = None) -> Calendar:
    """Steps that begin at the given times."""
    from graphveil.calendar.calendar import Calendar

    times = [_time(cut.strip()) for cut in cuts]
    return Calendar.cuts(times, None if end is None else _time(end))


def _time(text: str) -> int | str:
    """Digits are a year if they are four, and a plain number if not."""
    plain = text.isascii() and text.isdigit() and len(text) != 4
    return int(text) if plain else text
