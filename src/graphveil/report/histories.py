"""Revised histories, as a table.

First values stay as they were; a revision is shown beside them, with the release after which it was
made, as statistical offices do. Series of studies whose plan was never published have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.report.estimates import EstimatedSeries, with_estimates
from graphveil.report.table_columns import cell_columns, described, divided
from graphveil.study.public.facts import DIGITS

if TYPE_CHECKING:
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart


@dataclass(frozen=True)
class OneNumber:
    """Which published number a row is about."""

    series: str = described("the name of the series")
    step: int = described("the number of the step, from 0 on")
    label: str = described("the public name of the step, such as 2020 or 2020-03")
    degree: int | None = described(
        "which degree (number of links) the number is about",
        empty="if a release of the series is a single number",
    )


@dataclass(frozen=True)
class Revision(OneNumber):
    """One number as it was first published, and as it is estimated now."""

    raw: int = described("the count plus noise, as first published; it never changes")
    processed: float = described("the same, adjusted by public facts when it was published")
    revised: float = described(
        "what all numbers of all series published so far say of it: true of some network; a better "
        "guess, but not unbiased"
    )
    noise_std: float = described("the standard deviation of the noise in raw")
    level: str = described("the probability with which low and high enclose the truth")
    low: int = described("the lower end of an interval of the true count; not below 0")
    high: int = described("the upper end of that interval")
    revised_at: str = described("the last step whose numbers were used; it names the edition")
    known_by: str | None = described(
        "the series that has the same number with less noise; low and high are from its interval",
        empty="if there is none",
    )


def revisions(part: PublicPart) -> tuple[Revision, ...]:
    """Every number of the series that have a revised history: by series, step, and degree."""
    return tuple(row for series in with_estimates(part).series for row in of_series(series))


def of_series(series: PublishedSeries) -> Iterator[Revision]:
    """The same of one series; nothing if its plan or its releases were never published."""
    if not isinstance(series, EstimatedSeries):
        return
    last, groups = series.releases[-1].label, series.promise.group_names
    row = divided(Revision, groups)
    for made, estimates in zip(series.releases, series.estimates, strict=True):
        for place, (estimate, (cell, degree)) in enumerate(
            zip(estimates, series.places, strict=True)
        ):
            yield row(
                series=series.series,
                step=made.step,
                label=made.label,
                degree=degree,
                **cell_columns(groups, cell),
                raw=made.raw[place],
                processed=made.processed[place],
                revised=round(estimate.value, DIGITS),
                noise_std=made.noise_std,
                level=made.level,
                low=estimate.low,
                high=estimate.high,
                revised_at=last,
                known_by=None if estimate.known_by[0] == series.series else estimate.known_by[0],
            )
