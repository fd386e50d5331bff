"""Revised histories and smooth trends, as tables.

First values stay as they were; a revision is shown beside them, with the release after which it was
made, as statistical offices do. Series of studies whose plan was never published have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from graphveil.errors import MissingPlugInError
from graphveil.report.table_columns import (
    cell_columns,
    described,
    divided,
    names,
    rows_as_csv,
)
from graphveil.series.postprocessing import AnnouncedFacts, StatisticFacts
from graphveil.series.revising import revised, revised_at_thresholds, smooth_trend
from graphveil.study.public.announced_plans import announced_plan
from graphveil.study.public.facts import DIGITS

if TYPE_CHECKING:
    from graphveil.mechanisms.planning.covariance import Floats
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.study.public.facts import ReleaseMade
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
        "what all numbers published so far say of it: not negative, never falling where the count "
        "cannot; a better guess, but not unbiased"
    )
    noise_std: float = described("the standard deviation of the noise in raw")
    level: str = described("the probability with which low and high enclose the truth")
    low: int = described("the lower end of an interval of the true count; not below 0")
    high: int = described("the upper end of that interval")
    revised_at: str = described("the last step whose numbers were used; it names the edition")


def revisions(part: PublicPart) -> tuple[Revision, ...]:
    """Every number of the series that have a revised history: by series, step, and degree."""
    return tuple(row for series in part.series for row in of_series(series))


def of_series(series: PublishedSeries) -> tuple[Revision, ...]:
    """The same of one series; nothing if its plan or its releases were never published."""
    estimates = estimated(series, revised)
    return tuple(
        row
        for made, values in zip(series.releases[: len(estimates)], estimates.tolist(), strict=True)
        for row in _rows(series, made, values, series.releases[-1].label)
    )


def estimated(
    series: PublishedSeries, estimate: Callable[[StatisticFacts, Floats, Plan], Floats]
) -> Floats:
    """What an estimate says of each release, (releases, numbers); none without a plan."""
    plan = announced_plan(series)
    if plan is None or not series.releases:
        return np.zeros((0, series.width))
    if plan.mechanism.follows:
        answers = [made.asked for made in series.releases]
        return np.round(revised_at_thresholds(plan, answers), DIGITS)[:, np.newaxis]
    raw = np.array([made.raw for made in series.releases], dtype=np.float64)
    history = raw if series.vector else raw[:, 0]
    return np.round(estimate(_facts_of(series), history, plan).reshape(raw.shape), DIGITS)


def _facts_of(series: PublishedSeries) -> StatisticFacts:
    """What is public of the statistic, also where its package is not installed here."""
    try:
        return series.promise.counted()
    except MissingPlugInError:
        return AnnouncedFacts(series.statistic, series.monotone, series.vector, series.cumulative)


def _rows(
    series: PublishedSeries, made: ReleaseMade, values: list[float], last: str
) -> Iterator[Revision]:
    groups = series.promise.group_names
    for place, ((cell, degree), value) in enumerate(zip(series.places, values, strict=True)):
        low, high = around(made.low[place], made.high[place], value)
        yield divided(Revision, groups)(
            series=series.series,
            step=made.step,
            label=made.label,
            degree=degree,
            **cell_columns(groups, cell),
            raw=made.raw[place],
            processed=made.processed[place],
            revised=value,
            noise_std=made.noise_std,
            level=made.level,
            low=low,
            high=high,
            revised_at=last,
        )


def around(low: int, high: int, value: float) -> tuple[int, int]:
    """The interval of a revision: the first one without what no count can be, and the revision.

    Guarantees: it has all of the first interval that can be true, so it holds the truth whenever
        that does. No shorter one does so for every history (`docs/revisions.md#intervals`).
    """
    return max(0, min(low, floor(value))), max(high, ceil(value))


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
    return tuple(point for series in part.series for point in of_one(series))


def of_one(series: PublishedSeries) -> tuple[TrendPoint, ...]:
    """The same of one series."""
    values, groups = estimated(series, smooth_trend), series.promise.group_names
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
