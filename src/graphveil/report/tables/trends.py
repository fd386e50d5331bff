"""Smooth trends as a table, for those who ask; no part of the report, which assumes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphveil.report.tables.columns import as_csv, described
from graphveil.report.tables.revised import OneNumber, estimated, of_series
from graphveil.series.trend import smooth_trend

if TYPE_CHECKING:
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart


@dataclass(frozen=True)
class TrendPoint(OneNumber):
    """One number as first published, as revised, and on a smooth curve."""

    raw: int = described("the count plus noise, as first published")
    revised: float = described("what all numbers published so far say of it")
    trend: float = described("the smooth trend: the same if growth changes little between steps")
    trend_at: str = described("the last step whose numbers were used; it names the edition")


def trends(part: PublicPart) -> tuple[TrendPoint, ...]:
    """Every number of the series that have a revised history: by series, step, and degree."""
    return tuple(point for series in part.series for point in of_one(series))


def of_one(series: PublishedSeries) -> tuple[TrendPoint, ...]:
    """The same of one series."""
    values = estimated(series, smooth_trend)
    return tuple(
        TrendPoint(
            row.series, row.step, row.label, row.degree, row.raw, row.revised, value, row.revised_at
        )
        for row, value in zip(of_series(series), np.ravel(values).tolist(), strict=True)
    )


def as_table(part: PublicPart) -> bytes:
    """The rows as CSV in UTF-8."""
    return as_csv(TrendPoint, trends(part))
