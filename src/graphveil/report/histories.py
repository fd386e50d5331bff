"""Revised histories and smooth trends, as tables.

First values stay as they were; a revision is shown beside them, with the release after which it was
made, as statistical offices do. Series of studies whose plan was never published have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphveil.report.estimates import EstimatedSeries, estimated, with_estimates
from graphveil.report.table_columns import cell_columns, described, divided, names, rows_as_csv
from graphveil.series.revising import smooth_trend
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


# Smooth trends as a table, for those who ask; no part of the report, which assumes nothing.


@dataclass(frozen=True)
class TrendPoint(OneNumber):
    """One number as first published, as revised, and on a smooth curve."""

    raw: int = described("the count plus noise, as first published")
    revised: float = described("what all numbers published so far say of it")
    trend: float = described("the smooth trend: the same if growth changes little between steps")
    trend_at: str = described("the last step whose numbers were used; it names the edition")


def trends(part: PublicPart) -> tuple[TrendPoint, ...]:
    """Every number of the series that have a revised history: by series, step, and degree."""
    return tuple(point for series in with_estimates(part).series for point in of_one(series))


def of_one(series: PublishedSeries) -> tuple[TrendPoint, ...]:
    """The same of one series."""
    values = np.round(estimated(series, smooth_trend), DIGITS)
    groups = series.promise.group_names
    shared = [name for name in names(divided(TrendPoint, groups)) if not name.startswith("trend")]
    return tuple(
        divided(TrendPoint, groups)(
            **{name: getattr(row, name) for name in shared}, trend=value, trend_at=row.revised_at
        )
        for row, value in zip(of_series(series), np.ravel(values).tolist(), strict=True)
    )


def as_table(part: PublicPart) -> bytes:
    """The rows as CSV in UTF-8."""
    kind = divided(TrendPoint, tuple(each.name for each in part.promise.groups.members))
    return rows_as_csv(kind, trends(part))
