"""Cut points: where steps begin, as people and study files write it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from numbers import Integral

from graphveil.calendar.flaws import EXAMPLES, explanation
from graphveil.calendar.times import read_as_written, read_one, refined
from graphveil.calendar.units import DAY, MOST_STEPS, Flaw, Unit
from graphveil.errors import ParameterError

LONGEST = 2**62  # units in a step


def width_of(parameter: str, n: object, otherwise: str = "") -> int:
    """How many units a step has."""
    if isinstance(n, bool) or not isinstance(n, Integral) or not 1 <= int(n) <= LONGEST:
        wanted = f"{otherwise}a whole number from 1 to {LONGEST}"
        raise ParameterError(parameter, f"must be {wanted}, not {n!r}")
    return int(n)


def listed_cuts(cuts: object) -> list[object]:
    """The cuts as a list that is neither empty nor endless."""
    if isinstance(cuts, str | bytes) or not isinstance(cuts, Iterable):
        raise ParameterError("cuts", "must be a list of times")
    listed = list(islice(cuts, MOST_STEPS + 1))
    if not 1 <= len(listed) <= MOST_STEPS:
        raise ParameterError("cuts", f"must be a list of 1 to {MOST_STEPS} times")
    return listed


def read_point(parameter: str, value: object, unit: Unit) -> int:
    """A time in units, with a complaint about the parameter where it has none."""
    count, flaw = read_one(value, unit)
    if flaw != Flaw.NONE:
        what, _ = explanation(flaw, unit)
        raise ParameterError(parameter, f"{what}, in {value!r}", hint=f"Write {EXAMPLES[unit]}.")
    return count


def read_points(parameter: str, values: list[object]) -> tuple[Unit, tuple[int, ...]]:
    """Cuts in one unit, the finest that any of them is written in."""
    readings = [read_as_written(value) for value in values]
    for value, (_, _, flaw) in zip(values, readings, strict=True):
        if flaw != Flaw.NONE:
            raise ParameterError(parameter, f"must be a whole number, date or timestamp: {value!r}")
    units = {unit for unit, _, _ in readings}
    if Unit.NUMBER in units and len(units) > 1:
        raise ParameterError(parameter, "must be all numbers or all dates, not a mixture")
    finest = max(units)
    if finest > Unit.YEAR and (Unit.YEAR, 0, Flaw.NONE) in readings:
        raise ParameterError(parameter, "must lie after the year 0, which has no months and days")
    points = tuple(refined(count, unit, finest) for unit, count, _ in readings)
    if finest == Unit.TIME and all(point % DAY == 0 for point in points):
        return Unit.DAY, tuple(point // DAY for point in points)  # midnights are just dates
    return finest, points
