"""What the newest release says: the headline number, sentences, and an overview of all series."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.calendar import phrases
from graphveil.report import breakdowns, releases, wording
from graphveil.report.estimates import Estimate, now
from graphveil.report.wording import TOO_NOISY, count_range, figure, percent
from graphveil.statistics.statistic import WINDOW

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.report.releases import PublishedChange
    from graphveil.study.facts import ReleaseMade
    from graphveil.study.history import PublishedSeries
    from graphveil.study.public_part import PublicPart


NOTHING_MORE = "the added noise is too large to say more"  # in a sentence
_PREPOSITION = re.compile("^(?:in|on|at|from) ")


def reading(series: PublishedSeries, made: ReleaseMade, calendar: Calendar) -> str:
    """A release as a sentence; of a vector, where to look."""
    sure, when = percent(made.level), opening(phrases.by(calendar, made.step))
    if series.breakdown is not None:
        return breakdowns.reading(series, made, when)
    if series.vector:
        return (
            f"{when}, each of the {series.width} true numbers, taken separately, lies in "
            f"its interval with {sure} confidence."
        )
    known = now(series, made)
    limit = wording.counted_links(series, made)
    after = f", {limit}," if limit else ""
    total = "" if WINDOW in series.spans else " in all"
    noisy = f" {opening(NOTHING_MORE)}." if known.too_noisy else ""
    sentence = (
        f"{when}, the true number{total}{after} is {place_of(known)}, with {sure} confidence."
    )
    return f"{sentence}{noisy}{wording.beyond_links(series)}"


def place_of(known: Estimate) -> str:
    """Where a number lies: "about 7,977, between 7,945 and 8,009", or "at most 210"."""
    about = "" if known.too_noisy else f"about {wording.whole(known.value)}, "
    low, high = known.low, known.high
    return about + (
        f"between {figure(low)} and {figure(high)}" if low > 0 else count_range(low, high)
    )


def cell_of(known: Estimate) -> str:
    """The same in a table: "7,977 (7,945 to 8,009)"."""
    where = count_range(known.low, known.high)
    return (
        f"{where} ({TOO_NOISY})" if known.too_noisy else f"{wording.whole(known.value)} ({where})"
    )


def news(series: PublishedSeries, made: ReleaseMade, calendar: Calendar) -> list[str]:
    """What is new, and how that compares with the time before; nothing for a vector."""
    if series.vector:
        return []
    return [_change_sentence(series, each, calendar) for each in now(series, made).changes]


def _change_sentence(series: PublishedSeries, each: PublishedChange, calendar: Calendar) -> str:
    """A change as a sentence."""
    when = during(calendar, each.step, each.over)
    if each.kind == releases.AGAINST:
        before = _PREPOSITION.sub("", during(calendar, each.step - each.over, each.over))
        what = "New" if series.monotone else "The change"
        return f"{what} {when} against {before}: {verdict(each)}."
    if series.monotone:
        noisy = f": {NOTHING_MORE}" if each.low == 0 else ""
        return f"New {when}: {count_range(each.low, each.high)}{noisy}."
    return f"Change {when}: {verdict(each)}."


def verdict(each: PublishedChange) -> str:
    """An interval of a change in words, as in "no clear change (11 fewer to 21 more)"."""
    if each.low > 0:
        return f"{figure(each.low)} to {figure(each.high)} more"
    if each.high < 0:
        return f"{figure(-each.high)} to {figure(-each.low)} fewer"
    return f"no clear change ({figure(-each.low)} fewer to {figure(each.high)} more)"


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


# The number that represents a series in summaries: its newest one, and how it changed.


EVERYBODY = "nodes"  # the statistic that counts people
LINKED = 1  # of a series with one number per degree, the one that is stated


@dataclass(frozen=True)
class Headline:
    """The number of a series, or of one degree of it."""

    series: PublishedSeries
    calendar: Calendar

    @property
    def place(self) -> int:
        """Which number of a release."""
        degrees = [degree for _, degree in self.series.places]
        return degrees.index(LINKED) if LINKED in degrees else 0

    @property
    def newest(self) -> ReleaseMade:
        """The last release."""
        return self.series.releases[-1]

    @property
    def known(self) -> Estimate:
        """What is known of it."""
        return now(self.series, self.newest, self.place)

    @property
    def things(self) -> str:
        """What is counted, to stand after "the number of"."""
        words = wording.counted_at(self.series, self.place, self.newest).removeprefix("number of ")
        name, colon, meaning = words.partition(": ")
        words = f"{name} ({meaning})" if colon else words
        return f"{words}," if wording.counted_links(self.series) else words

    def change(self, kind: str) -> PublishedChange | None:
        """How it changed in the newest step, or how that compares; None if it was not announced."""
        changes = self.known.changes
        return next((each for each in changes if each.kind == kind and each.over == 1), None)

    def during(self, back: int = 0) -> str:
        """The time of the newest step, or of one before."""
        return during(self.calendar, self.newest.step - back, 1)


def headline(part: PublicPart) -> Headline | None:
    """How many people there are, or else the first series; None if nothing is published.

    A series with one number per degree is taken only if there is no other.
    """
    published = [each for each in part.series if each.releases]
    ranked = sorted(published, key=lambda each: (each.vector, not _counts_everybody(each)))
    return Headline(ranked[0], part.promise.calendar) if ranked else None


def _counts_everybody(series: PublishedSeries) -> bool:
    return series.statistic == EVERYBODY and WINDOW not in series.spans


# Overview of all series: how many by now, how many new, and whether that is more than before.


@dataclass(frozen=True)
class Overview:
    """A series, and what its newest release says.

    Attributes:
        series: its name.
        counted: what it counts.
        now: its newest number with the interval.
        new: what is new in the newest step.
        compared: whether that is more than before.
        number: the newest number alone; where noise hides it, the most that it can be.
        between: its interval alone.
        place: which number of a release it is; None if no one stands for the others.
    """

    series: str
    counted: str
    now: str
    new: str
    compared: str
    number: str
    between: str
    place: int | None = None


def overview(part: PublicPart) -> Iterator[Overview]:
    """Every series that has releases; of one with a number per degree, a single degree."""
    for series in part.series:
        if series.releases:
            yield _overview(Headline(series, part.promise.calendar))


def _overview(each: Headline) -> Overview:
    if each.series.breakdown is not None:  # no one of its cells stands for the others
        cells = f"{each.series.width} numbers: see its table"
        number = f"{each.series.width} numbers"
        return Overview(each.series.series, wording.heading(each.series), cells, "", "", number, "")
    made, place, known = each.newest, each.place, each.known
    between = wording.count_range(known.low, known.high)
    against = each.change(releases.AGAINST)
    return Overview(
        series=each.series.series,
        counted=opening(wording.counted_at(each.series, place, made)),
        now=cell_of(known),
        new=_new(each),
        compared="" if against is None else verdict(against),
        number=between if known.too_noisy else wording.whole(known.value),
        between=TOO_NOISY if known.too_noisy else between,
        place=place,
    )


def _new(each: Headline) -> str:
    new = each.change(releases.NEW)
    if new is None:
        return ""
    return wording.count_range(new.low, new.high) if each.series.monotone else verdict(new)
