"""What the newest release says, in sentences: how many by now, how many new, more or fewer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphveil.calendar import phrases
from graphveil.report.tables import changes
from graphveil.report.wording import count_range, cut, figure, percent
from graphveil.statistics.parameters import WINDOW

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.report.tables.changes import PublishedChange
    from graphveil.study.public.facts import ReleaseMade
    from graphveil.study.public.history import PublishedSeries

TOO_NOISY = "too noisy to tell"
_PREPOSITION = re.compile("^(?:in|on|at|from) ")


def reading(series: PublishedSeries, made: ReleaseMade, calendar: Calendar) -> str:
    """A release as a sentence; of a vector, where to look."""
    sure, when = percent(made.level), opening(phrases.by(calendar, made.step))
    if series.vector:
        return (
            f"{when}, each of the {series.width} true numbers, taken separately, lies in "
            f"its interval with {sure} confidence."
        )
    low, high = made.low[0], made.high[0]
    where = f"between {figure(low)} and {figure(high)}" if low > 0 else count_range(low, high)
    after = f", {cut(series)}," if series.projection is not None else ""
    verb = "lies" if low > 0 else "is"
    total = "" if WINDOW in series.spans else " in all"
    noisy = f" That is {TOO_NOISY} much more." if is_drowned(made, 0) else ""
    return f"{when}, the true number{total}{after} {verb} {where}, with {sure} confidence.{noisy}"


def is_drowned(made: ReleaseMade, place: int) -> bool:
    """Whether the interval is wider than the value that it belongs to."""
    return made.high[place] - made.low[place] > max(made.processed[place], made.raw[place])


def news(series: PublishedSeries, made: ReleaseMade, calendar: Calendar) -> list[str]:
    """What is new, and how that compares with the time before; nothing for a vector."""
    if series.vector:
        return []
    return [_told(series, each, calendar) for each in changes.changes(series, made)]


def _told(series: PublishedSeries, each: PublishedChange, calendar: Calendar) -> str:
    """A change as a sentence."""
    when = during(calendar, each.step, each.over)
    if each.kind == changes.AGAINST:
        before = _PREPOSITION.sub("", during(calendar, each.step - each.over, each.over))
        what = "New" if series.monotone else "The change"
        return f"{what} {when} against {before}: {verdict(each)}."
    if series.monotone:
        noisy = f": {TOO_NOISY} more" if each.low == 0 else ""
        return f"New {when}: {count_range(each.low, each.high)}{noisy}."
    return f"Change {when}: {verdict(each)}."


def verdict(each: PublishedChange) -> str:
    """An interval of a change in words, as in "12 more to 31 fewer: no clear change"."""
    if each.low > 0:
        return f"{figure(each.low)} to {figure(each.high)} more"
    if each.high < 0:
        return f"{figure(-each.high)} to {figure(-each.low)} fewer"
    return f"{figure(each.high)} more to {figure(-each.low)} fewer: no clear change"


def during(calendar: Calendar, step: int, over: int) -> str:
    """The time of some steps that end with this one."""
    if over == 1:
        return phrases.during(calendar, step)
    return f"in the {over} {phrases.step_name(calendar)}s {_until(calendar, step)}"


def _until(calendar: Calendar, step: int) -> str:
    return phrases.by(calendar, step).replace("by ", "to ", 1)


def opening(words: str) -> str:
    """Words as they begin a sentence."""
    return words[0].upper() + words[1:]
