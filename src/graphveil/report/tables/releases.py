"""Releases as tidy rows: one measurement per row, as CSV, JSON and Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.noise.exact_numbers import as_text
from graphveil.report.tables import columns
from graphveil.report.tables.changes import new_at
from graphveil.report.tables.columns import described

if TYPE_CHECKING:
    import polars as pl

    from graphveil.study.public.facts import ReleaseMade
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart

FIRST = "at the first release, and where an older version made it"


@dataclass(frozen=True)
class Measurement:
    """One published number."""

    series: str = described("the name of the series")
    statistic: str = described("what is counted, with its parameters, as commands write it")
    step: int = described("the number of the step, from 0 on")
    label: str = described("the public name of the step, such as 2020 or 2020-03")
    degree: int | None = described(
        "which degree (number of links) the number is about",
        empty="if a release of the series is a single number",
    )
    raw: int = described("the count plus noise: unbiased, sometimes negative; compute with this")
    processed: float = described(
        "the same, adjusted by public facts alone (a count is not negative, some never fall); "
        "for looking at"
    )
    noise_std: float = described("the standard deviation of the noise in raw")
    level: str = described("the probability with which low and high enclose the truth")
    low: int = described("the lower end of the interval of the true count; each number by itself")
    high: int = described("the upper end of that interval")
    new: int | None = described("by how much raw has changed since the step before", empty=FIRST)
    new_std: float | None = described("the standard deviation of the noise in new", empty=FIRST)
    new_low: int | None = described("the lower end of the interval of what is new", empty=FIRST)
    new_high: int | None = described("the upper end of that interval", empty=FIRST)
    epsilon: str = described(
        "the price (ε) of the whole series, exact; not of this number alone. Of series that share "
        "a pool, that of the pool: card.json says which"
    )
    delta: str | None = described("likewise its δ", empty="if the guarantee is pure ε")
    mechanism: str = described("how the noise is made")


def measurements(part: PublicPart, steps: Container[int] | None = None) -> tuple[Measurement, ...]:
    """Every published number, or those of some steps: by series, then step, then degree."""
    return tuple(
        row
        for series in part.series
        for made in series.releases
        if steps is None or made.step in steps
        for row in rows(series, made)
    )


def rows(series: PublishedSeries, made: ReleaseMade) -> Iterator[Measurement]:
    """The numbers of one release, by degree."""
    news = new_at(series, made)
    for degree, raw in enumerate(made.raw):
        new = news[degree] if news else None
        yield Measurement(
            series=series.series,
            statistic=counted(series),
            step=made.step,
            label=made.label,
            degree=degree if series.vector else None,
            raw=raw,
            processed=made.processed[degree],
            noise_std=made.noise_std,
            level=made.level,
            low=made.low[degree],
            high=made.high[degree],
            new=new.value if new else None,
            new_std=new.noise_std if new else None,
            new_low=new.low if new else None,
            new_high=new.high if new else None,
            epsilon=as_text(series.epsilon),
            delta=None if series.delta is None else as_text(series.delta),
            mechanism=series.mechanism,
        )


def counted(series: PublishedSeries) -> str:
    """The statistic with its parameters, as commands write it."""
    given = ", ".join(f"{name}={value}" for name, value in sorted(series.parameters.items()))
    return f"{series.statistic} ({given})" if given else series.statistic


def as_csv(part: PublicPart) -> bytes:
    """The rows as CSV in UTF-8; what does not apply is empty."""
    return columns.as_csv(Measurement, measurements(part))


def as_json(part: PublicPart) -> bytes:
    """The rows as a list of objects; what does not apply is null."""
    found = [dict(vars(row)) for row in measurements(part)]
    return (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode()


def as_parquet(part: PublicPart) -> bytes:
    """The rows as Parquet; refuses numbers that it cannot hold."""
    content = io.BytesIO()
    as_frame(part).write_parquet(content)
    return content.getvalue()


def as_frame(part: PublicPart) -> pl.DataFrame:
    """The rows as a data frame, with the same columns even if nothing is published."""
    return columns.as_frame(Measurement, measurements(part))
