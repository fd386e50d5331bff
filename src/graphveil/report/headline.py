"""The number that stands for a series in summaries: its newest one, and how it changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.report import wording
from graphveil.report.news import during
from graphveil.report.tables import changes
from graphveil.statistics.parameters import WINDOW

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.report.tables.changes import PublishedChange
    from graphveil.study.public.facts import ReleaseMade
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart

EVERYBODY = "nodes"  # the statistic that counts people
LINKED = 1  # of a series with one number per degree, the one that is told


@dataclass(frozen=True)
class Headline:
    """The number of a series, or of one degree of it."""

    series: PublishedSeries
    calendar: Calendar

    @property
    def place(self) -> int:
        """Which number of a release."""
        return LINKED if self.series.vector else 0

    @property
    def newest(self) -> ReleaseMade:
        """The last release."""
        return self.series.releases[-1]

    @property
    def things(self) -> str:
        """What is counted, to stand after "the number of"."""
        words = wording.counted_at(self.series, self.place).removeprefix("number of ")
        name, colon, meaning = words.partition(": ")
        words = f"{name} ({meaning})" if colon else words
        return f"{words}, {wording.cut(self.series)}," if self.series.projection else words

    def change(self, kind: str) -> PublishedChange | None:
        """How it changed in the newest step, or how that compares; None if it was not announced."""
        told = changes.changes(self.series, self.newest)
        at = self.place if self.series.vector else None
        mine = (each for each in told if each.kind == kind and each.over == 1)
        return next((each for each in mine if each.degree == at), None)

    def during(self, back: int = 0) -> str:
        """The time of the newest step, or of one before."""
        return during(self.calendar, self.newest.step - back, 1)


def headline(part: PublicPart) -> Headline | None:
    """How many people there are, or else the first series; None if nothing is published.

    A series with one number per degree is taken only if there is no other.
    """
    told = [each for each in part.series if each.releases]
    ranked = sorted(told, key=lambda each: (each.vector, not _counts_everybody(each)))
    return Headline(ranked[0], part.promise.calendar) if ranked else None


def _counts_everybody(series: PublishedSeries) -> bool:
    return series.statistic == EVERYBODY and WINDOW not in series.spans
