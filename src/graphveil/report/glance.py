"""All series at a glance: how many by now, how many new, and whether that is more than before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.report import wording
from graphveil.report.headline import Headline
from graphveil.report.news import TOO_NOISY, is_drowned, opening, verdict
from graphveil.report.tables import changes

if TYPE_CHECKING:
    from graphveil.study.public.public_part import PublicPart


@dataclass(frozen=True)
class Glance:
    """A row: a series, and what its newest release says."""

    series: str
    counted: str
    now: str
    new: str
    compared: str


def glance(part: PublicPart) -> Iterator[Glance]:
    """Every series that has releases; of one with a number per degree, a single degree."""
    for series in part.series:
        if series.releases:
            yield _glance(Headline(series, part.promise.calendar))


def _glance(found: Headline) -> Glance:
    made, place = found.newest, found.place
    noisy = f" ({TOO_NOISY})" if is_drowned(made, place) else ""
    against = found.change(changes.AGAINST)
    return Glance(
        series=found.series.series,
        counted=opening(wording.counted_at(found.series, place)),
        now=wording.count_range(made.low[place], made.high[place]) + noisy,
        new=_new(found),
        compared="" if against is None else verdict(against),
    )


def _new(found: Headline) -> str:
    new = found.change(changes.NEW)
    if new is None:
        return ""
    return wording.count_range(new.low, new.high) if found.series.monotone else verdict(new)
