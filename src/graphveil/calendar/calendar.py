"""The public calendar: maps times to the steps 0, 1, 2, … of a growing graph.

Step i begins at the i-th cut; everything before the first cut is folded into step 0. The
cuts are public, because releases follow them: choose a calendar from what is known about the
study, never from the data.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from numbers import Integral
from typing import TYPE_CHECKING

from graphveil.calendar.columns import as_series
from graphveil.calendar.times import (
    DAY,
    EXAMPLES,
    LAST_DAY,
    LAST_YEAR,
    MOST_STEPS,
    UNIT_NAMES,
    Flaw,
    Integers,
    TimeReading,
    Unit,
    count_of,
    explanation,
    read_as_written,
    read_blocks,
    read_one,
    refined,
    with_days,
    written,
)
from graphveil.deferred import np, pl
from graphveil.errors import InputError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphveil.calendar.columns import TimeColumn


# Cut points: where steps begin, as people and study files write it.


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


# Columns of steps: what a calendar makes of a column of times, and which rows it cannot place.


NO_STEP = -1  # in a step column, marks a missing time
BAD_STEP = -2  # marks a time that has no step


@dataclass(frozen=True, eq=False)
class Trouble:
    """All rows (from 0) that a calendar cannot place for one reason, why, and how to fix it."""

    rows: NDArray[np.int64]
    flaw: Flaw
    what: str
    hint: str


@dataclass(frozen=True, eq=False)
class StepColumn:
    """The steps of a column of times.

    Attributes:
        steps: (rows,) the step; NO_STEP where the time is missing, BAD_STEP in trouble.
        missing_count: how many rows have no time: null, NaN or blank.
        folded: how many rows lie before the first cut, and so count into step 0.
        trouble: what is wrong with the first row whose time has no step, if there is one, and
            with how many others.
    """

    steps: NDArray[np.int32]
    missing_count: int
    folded: int
    trouble: Trouble | None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(rows,) whether the row has no time."""
        return np.equal(self.steps, NO_STEP)


# Beginnings: where the times of a column begin; a fact about the data, for exact counting.


def first_days(column: pl.Series) -> pl.Series:
    """Times, with the first day of each period in its place."""
    periods = with_days(column)
    return column if periods is None else periods[0]


def earliest_count(column: pl.Series, unit: Unit) -> int | None:
    """The earliest time that can be read, in units; None if none can."""
    lowest = (
        int(reading.counts[reading.flaws == Flaw.NONE].min())
        for _, reading in read_blocks(column, unit)
        if not reading.flaws.all()
    )
    return min(lowest, default=None)


def earliest_number_or_day(column: pl.Series) -> tuple[Unit, int | None]:
    """The same, in the unit that the column is written in."""
    number = earliest_count(column, Unit.NUMBER)
    day = earliest_count(column, Unit.DAY) if number is None else None
    return (Unit.NUMBER, number) if day is None else (Unit.DAY, day)


def default_start(unit: Unit) -> int:
    """Where steps begin if no time can be read."""
    return 0 if unit == Unit.NUMBER else refined(1970, Unit.YEAR, unit)


NAMED = {"year": (Unit.YEAR, 1), "quarter": (Unit.MONTH, 3), "month": (Unit.MONTH, 1)}
NAMED |= {"week": (Unit.DAY, 7), "day": (Unit.DAY, 1)}


@dataclass(frozen=True)
class Calendar:
    """How times become steps; made by a constructor such as `Calendar.yearly(1996)`.

    Attributes:
        unit: what cuts are counted in, and the precision that a time needs.
        starts: where steps begin, in units; only the first one if steps are even.
        width: the length of even steps, in units; None if the cuts are explicit.
        end: the first count after the end, in units; None if the calendar is open.

    Examples:
        >>> calendar = Calendar.monthly("1996-01")
        >>> calendar.step_of("1996-03-17"), calendar.step_of("1850-01-01")
        (2, 0)
    """

    unit: Unit
    starts: tuple[int, ...]
    width: int | None = None
    end: int | None = None

    @classmethod
    def yearly(cls, first: object = 1996, last: object = None) -> Calendar:
        """One step a year from `first` to `last`, which is included; open without it."""
        return cls._even(1, Unit.YEAR, first, last)

    @classmethod
    def quarterly(cls, first: object, last: object = None) -> Calendar:
        """Steps of three months, from the month `first` on, which is written as "1996-01"."""
        return cls._even(3, Unit.MONTH, first, last)

    @classmethod
    def monthly(cls, first: object, last: object = None) -> Calendar:
        """One step a month; months are written as "1996-01"."""
        return cls._even(1, Unit.MONTH, first, last)

    @classmethod
    def weekly(cls, first: object, last: object = None) -> Calendar:
        """One step a week; weeks begin on the weekday of the date `first`."""
        return cls._even(7, Unit.DAY, first, last)

    @classmethod
    def daily(cls, first: object, last: object = None) -> Calendar:
        """One step a day; days are written as "1996-01-31"."""
        return cls._even(1, Unit.DAY, first, last)

    @classmethod
    def every(cls, n: int, first: object, last: object = None) -> Calendar:
        """Steps of `n` units; the way in which `first` is written tells the unit.

        A whole number: plain numbers. A date or timestamp: days. Text such as "1996-01" or
        "1996": months or years.

        Args:
            n: units in a step, at least 1.
            first: where step 0 begins.
            last: any time in the last step; without it the calendar is open.
        """
        unit, (start,) = read_points("first", [first])
        width = width_of("n", n) * (DAY if unit == Unit.TIME else 1)
        return cls._from(unit, start, width, last)

    @classmethod
    def cuts(cls, cuts: Iterable[object], end: object = None) -> Calendar:
        """Explicit cuts: step i covers the times from cut i until just before cut i + 1.

        Args:
            cuts: whole numbers, or dates and timestamps; strictly ascending, at least one.
            end: where the last step ends (itself in no step); without it, never.
        """
        given = listed_cuts(cuts)
        unit, points = read_points("cuts", given if end is None else [*given, end])
        if any(later <= earlier for earlier, later in pairwise(points)):
            raise ParameterError("cuts", "must be strictly ascending, with the end after them")
        return cls(unit, points[: len(given)], end=None if end is None else points[-1])

    @classmethod
    def spanning(cls, times: TimeColumn, every: str | int = "year") -> Calendar:
        """A calendar from the earliest time seen on: for private, exact counting only.

        Where it begins is a fact about the data. A calendar for anything that is published
        must be chosen without looking at them. Times that cannot be read are left to
        `steps_of`, which names their rows; if there are no others, steps begin at 1970 or 0.

        Args:
            times: a column of times.
            every: "year", "quarter", "month", "week", "day", or how many units a step has (days
                for dates). Quarters begin in January, April, July and October.
        """
        column = first_days(as_series(times))
        if isinstance(every, str) and every in NAMED:
            unit, width = NAMED[every]
            earliest = earliest_count(column, unit)
            if unit == Unit.MONTH and earliest is not None:
                earliest -= earliest % width
        else:
            width = width_of("every", every, f"{', '.join(map(repr, NAMED))} or ")
            unit, earliest = earliest_number_or_day(column)
        return cls(unit, (default_start(unit) if earliest is None else earliest,), width)

    @classmethod
    def _even(cls, width: int, unit: Unit, first: object, last: object) -> Calendar:
        return cls._from(unit, read_point("first", first, unit), width, last)

    @classmethod
    def _from(cls, unit: Unit, start: int, width: int, last: object) -> Calendar:
        if last is None:
            return cls(unit, (start,), width)
        last_step = (read_point("last", last, unit) - start) // width
        if not 0 <= last_step < MOST_STEPS:
            raise ParameterError("last", f"must lie in one of the first {MOST_STEPS} steps")
        return cls(unit, (start,), width, start + (last_step + 1) * width)

    @property
    def last_step(self) -> int | None:
        """The last step that a time can have; None if there is always a next one."""
        if self.width is None:
            return len(self.starts) - 1
        return None if self.end is None else (self.end - self.starts[0]) // self.width - 1

    def without_end(self) -> Calendar:
        """The same steps, and always a next one."""
        return replace(self, end=None)

    def lengthened(self, last_step: int) -> Calendar:
        """The same steps, and more of them up to `last_step`; an open one stays as it is."""
        if self.width is None:
            raise ParameterError("calendar", "lists its steps one by one, and cannot be lengthened")
        if self.last_step is None:
            return self
        if self.last_step > last_step:
            raise ParameterError("last", f"must lie in one of the first {MOST_STEPS} steps")
        return self.ending_with(last_step)

    def ending_with(self, last_step: int) -> Calendar:
        """The same even steps, of which this one is the last."""
        if self.width is None or not 0 <= last_step < MOST_STEPS:
            raise ParameterError("last", f"must lie in one of the first {MOST_STEPS} steps")
        return replace(self, end=self.starts[0] + (last_step + 1) * self.width)

    def steps_of(self, times: TimeColumn, *, beyond: bool = False) -> StepColumn:
        """The step of every row of a column; rows without one are reported, not raised.

        Args:
            times: a column of times.
            beyond: whether a time after the end has the step after the last; else it has none.
        """
        column = as_series(times)
        periods = with_days(column)
        if periods is not None:
            return self._steps_of_periods(*periods, beyond)
        steps = np.empty(len(column), np.int32)
        missing = folded = 0
        troubled: list[tuple[int, NDArray[np.uint8]]] = []
        for start, reading in read_blocks(column, self.unit):
            placed = self._placed(reading, beyond)
            steps[start : start + len(placed.counts)] = placed.counts
            early = reading.counts < self.starts[0]
            if placed.flaws.any():
                early &= placed.flaws == Flaw.NONE
                missing += int(np.count_nonzero(placed.flaws == Flaw.MISSING))
                if placed.flaws.max() > Flaw.MISSING:
                    troubled.append((start, placed.flaws))
            folded += int(np.count_nonzero(early))
        return StepColumn(steps, missing, folded, self._first_trouble(troubled))

    def _steps_of_periods(
        self, first: pl.Series, last: pl.Series, periods: NDArray[np.bool_], beyond: bool
    ) -> StepColumn:
        """Steps where some rows are periods: one that lies in two steps is too coarse."""
        begins, ends = (self.steps_of(days, beyond=beyond) for days in (first, last))
        both = periods & (begins.steps >= 0) & (begins.steps != ends.steps)
        if not both.any():
            return begins
        trouble = Trouble(np.flatnonzero(both), Flaw.TOO_COARSE, *self.explain(Flaw.TOO_COARSE))
        if begins.trouble is not None and begins.trouble.rows[0] < trouble.rows[0]:
            trouble = begins.trouble
        return replace(begins, steps=np.where(both, BAD_STEP, begins.steps), trouble=trouble)

    def step_of(self, time: object) -> int:
        """The step of a single time.

        Raises:
            InputError: If the time is missing, unreadable, too coarse or after the end.
        """
        column = self.steps_of([time])
        if column.missing_count:
            raise InputError("the time is missing")
        if column.trouble is not None:
            raise InputError(column.trouble.what, hint=column.trouble.hint)
        return int(column.steps[0])

    def steps_before(self, moment: dt.datetime) -> int:
        """How many steps have ended at a moment; of a calendar with dates."""
        count = count_of(moment, self.unit)
        if self.end is not None and count >= self.end:
            return (self.last_step or 0) + 1
        if self.width is None:
            return max(bisect_right(self.starts, count) - 1, 0)
        return max(count - self.starts[0], 0) // self.width

    def label(self, step: int) -> str:
        """The public name of a step: where it begins, such as "1996" or "1996-03"."""
        top = MOST_STEPS - 1 if self.last_step is None else self.last_step
        if isinstance(step, bool) or not isinstance(step, Integral) or not 0 <= step <= top:
            raise ParameterError("step", f"must be a whole number from 0 to {top}, not {step!r}")
        begins = self.begin(int(step))
        if begins > _last_count(self.unit):
            raise ParameterError("step", "begins after the last time that a calendar can hold")
        return written(begins, self.unit)

    def labels(self, n: int) -> list[str]:
        """The names of the first `n` steps."""
        return [self.label(step) for step in range(n)]

    def describe(self) -> str:
        """The calendar as a plain sentence, for reports."""
        named = self.width == 1 and self.unit in (Unit.YEAR, Unit.MONTH)
        fold = f"everything earlier counts into {self.label(0) if named else 'the first step'}"
        if self.end is None:
            return f"{self._rhythm()}; {fold}"
        if self.width is None:
            return f"{self._rhythm()}; {fold}; ends before {written(self.end, self.unit)}"
        return f"{self._rhythm()}; {fold}; ends with {self.label(self.last_step or 0)}"

    def _rhythm(self) -> str:
        if self.width is None:
            many = len(self.starts)
            names = [written(start, self.unit) for start in self.starts[:5]]
            names += ["…"] * (many > 6) + [written(self.starts[-1], self.unit)] * (many > 5)
            return f"{many} {'step' if many == 1 else 'steps'} from {', '.join(names)}"
        usual = {
            (unit, width): f"{name.replace('day', 'dai')}ly steps"
            for name, (unit, width) in NAMED.items()
        }
        length, unit = self._units_a_step(), UNIT_NAMES[self.unit]
        counted = length if self.unit == Unit.NUMBER else f"{length} {unit}{'s' * (length > 1)}"
        rhythm = usual.get((self.unit, self.width), f"steps of {counted}")
        return f"{rhythm} from {self.label(0)}"

    def last_steps(self, n: int) -> str:
        """The newest `n` steps in plain words, such as "the last 3 years"."""
        named = {kind: name for name, kind in NAMED.items()}.get((self.unit, self.width or 0))
        length, unit = n, named or "step"
        if named is None and self.width is not None and self.unit != Unit.NUMBER:
            length, unit = n * self._units_a_step(), UNIT_NAMES[self.unit]
        return f"the last {unit}" if length == 1 else f"the last {length:,} {unit}s"

    def to_dict(self) -> dict[str, object]:
        """The calendar as plain data for a study file; `from_dict` reads it back."""
        if self.width is None:
            cuts = [self._plain(start) for start in self.starts]
            return {"cuts": cuts, "end": None if self.end is None else self._plain(self.end)}
        last = None if self.last_step is None else self._plain(self.begin(self.last_step))
        return {
            "every": self._units_a_step(),
            "unit": UNIT_NAMES[self.unit],
            "first": self._plain(self.starts[0]),
            "last": last,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Calendar:
        """The calendar that `to_dict` wrote.

        Raises:
            ParameterError: If keys are missing or unknown, or a value is not allowed.
        """
        if set(data) == {"cuts", "end"}:
            return cls.cuts(listed_cuts(data["cuts"]), data["end"])
        if set(data) != {"every", "unit", "first", "last"}:
            wanted = "'cuts' and 'end', or 'every', 'unit', 'first' and 'last'"
            raise ParameterError("calendar", f"must have exactly the keys {wanted}")
        calendar = cls.every(width_of("every", data["every"]), data["first"], data["last"])
        if data["unit"] != UNIT_NAMES[calendar.unit]:
            meant = UNIT_NAMES[calendar.unit]
            raise ParameterError("unit", f"must be '{meant}', as 'first' is written as one")
        return calendar

    def explain(self, flaw: Flaw) -> tuple[str, str]:
        """What a flaw means under this calendar, and how to fix it."""
        if flaw == Flaw.AFTER_END:
            what = f"the time lies after the end of the calendar ({self.describe()})"
            return what, "Correct it, or choose a calendar that lasts longer."
        return explanation(flaw, self.unit)

    def _first_trouble(self, troubled: list[tuple[int, NDArray[np.uint8]]]) -> Trouble | None:
        """The first flaw of blocks that have some, each with its first row."""
        if not troubled:
            return None
        _, flaws = troubled[0]
        flaw = Flaw(int(flaws[np.argmax(flaws > Flaw.MISSING)]))
        rows = [start + np.flatnonzero(each == flaw) for start, each in troubled]
        return Trouble(np.concatenate(rows), flaw, *self.explain(flaw))

    def _placed(self, reading: TimeReading, beyond: bool) -> TimeReading:
        """Steps instead of counts; the calendar adds its own flaws to those of the reading."""
        counts, flaws = reading.counts, reading.flaws
        steps = self._places(counts)
        if steps.max() >= MOST_STEPS:
            flaws = _with_flaw(flaws, steps >= MOST_STEPS, Flaw.TOO_FAR)
        if self.end is not None and counts.max() >= self.end:
            after, flaws = counts >= self.end, reading.flaws
            if beyond:
                steps[after] = (self.last_step or 0) + 1
            else:
                flaws = _with_flaw(flaws, after, Flaw.AFTER_END)
        if flaws.any():
            steps[flaws != Flaw.NONE] = BAD_STEP
            steps[flaws == Flaw.MISSING] = NO_STEP
        return TimeReading(steps, flaws)

    def _places(self, counts: Integers) -> Integers:
        if self.width is None:
            return np.searchsorted(np.array(self.starts), counts, side="right").clip(1) - 1
        # Unsigned, since the distance of two 64-bit numbers needs all 64 bits.
        distance = np.maximum(counts, self.starts[0]).view(np.uint64)
        distance -= np.uint64(self.starts[0] % 2**64)
        if self.width > 1:
            distance //= np.uint64(min(self.width, 2**64 - 1))
        return np.minimum(distance, MOST_STEPS, out=distance).view(np.int64)

    def begin(self, step: int) -> int:
        """Where a step begins, in units."""
        return self.starts[step] if self.width is None else self.starts[0] + step * self.width

    def _units_a_step(self) -> int:
        return (self.width or 0) // (DAY if self.unit == Unit.TIME else 1)

    def _plain(self, count: int) -> int | str:
        return count if self.unit == Unit.NUMBER else written(count, self.unit)


def _with_flaw(flaws: NDArray[np.uint8], where: NDArray[np.bool_], flaw: Flaw) -> NDArray[np.uint8]:
    """Flaws with one more, at rows that had none."""
    return np.where(where & (flaws == Flaw.NONE), np.uint8(flaw), flaws)


def _last_count(unit: Unit) -> int:
    """The largest count that a time can have."""
    dated = {Unit.YEAR: LAST_YEAR, Unit.MONTH: LAST_YEAR * 12 + 11, Unit.DAY: LAST_DAY}
    dated[Unit.TIME] = (LAST_DAY + 1) * DAY - 1
    return dated.get(unit, 2**63 - 1)
