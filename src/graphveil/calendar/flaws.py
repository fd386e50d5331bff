"""Flaws in words: what is wrong with a time, and how to write it instead."""

from __future__ import annotations

from graphveil.calendar.units import LAST_YEAR, MOST_STEPS, Flaw, Unit

UNIT_NAMES = {Unit.NUMBER: "number", Unit.YEAR: "year", Unit.MONTH: "month"}
UNIT_NAMES |= {Unit.DAY: "day", Unit.TIME: "day"}
EXAMPLES = {Unit.YEAR: "1996", Unit.MONTH: "1996-03", Unit.DAY: "1996-03-17"}
EXAMPLES |= {Unit.TIME: "1996-03-17T09:30:00Z", Unit.NUMBER: "12"}


def explanation(flaw: Flaw, unit: Unit) -> tuple[str, str]:
    """What a flaw means for a time that needs this precision, and how to fix it."""
    write = f"Write it as {EXAMPLES[unit]}"
    precision = "time of day" if unit == Unit.TIME else UNIT_NAMES[unit]
    dated = unit != Unit.NUMBER
    needs = f"the calendar needs {'dates' if dated else 'plain numbers'}"
    span = f"the years 1 to {LAST_YEAR}" if dated else "64 bits"
    return {
        Flaw.NONE: ("nothing is wrong", ""),
        Flaw.MISSING: ("the time is missing", f"{write}."),
        Flaw.UNREADABLE: ("the time cannot be read", f"{write}."),
        Flaw.WRONG_KIND: (
            f"the time is a {'plain number' if dated else 'date'}, but {needs}",
            f"{write}, or choose another calendar.",
        ),
        Flaw.TOO_COARSE: (
            f"the time is too coarse: the calendar needs at least the {precision}",
            f"{write}, or choose longer steps.",
        ),
        Flaw.OUT_OF_RANGE: (f"the time lies outside {span}", f"{write}."),
        Flaw.TOO_FAR: (
            f"the time lies more than {MOST_STEPS} steps after the first cut",
            "Correct it, or choose longer steps.",
        ),
    }[flaw]
