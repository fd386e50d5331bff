"""Releases as tidy rows: one measurement per row, as CSV, JSON and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from graphveil.errors import StudyError
from graphveil.noise.exact_numbers import as_text
from graphveil.report.changes import new_at

if TYPE_CHECKING:
    import polars as pl

    from graphveil.study.public.facts import ReleaseMade
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart


@dataclass(frozen=True)
class Measurement:
    """One published number.

    Attributes:
        series: the name of the series.
        statistic: what is counted, with its parameters.
        step: from 0 on.
        label: the public name of the step.
        degree: which degree the number is about; None for a statistic that is one number.
        raw: the count with its noise, unbiased.
        processed: the same, post-processed with public facts alone.
        noise_std: the standard deviation of the noise in `raw`.
        level: the probability with which `low` and `high` enclose the truth.
        low: the lower end of the interval.
        high: the upper end of the interval.
        new: by how much `raw` has changed since the step before; None at the first.
        new_std: the standard deviation of the noise in `new`.
        new_low: the lower end of the interval of what is new.
        new_high: its upper end.
        epsilon: what the whole series costs, not this number alone.
        delta: likewise; None for pure ε.
        mechanism: how the noise is made.
    """

    series: str
    statistic: str
    step: int
    label: str
    degree: int | None
    raw: int
    processed: float
    noise_std: float
    level: str
    low: int
    high: int
    new: int | None
    new_std: float | None
    new_low: int | None
    new_high: int | None
    epsilon: str
    delta: str | None
    mechanism: str


def measurements(part: PublicPart, steps: Container[int] | None = None) -> tuple[Measurement, ...]:
    """Every published number, or those of some steps: by series, then step, then degree."""
    return tuple(
        row
        for series in part.series
        for made in series.releases
        if steps is None or made.step in steps
        for row in _rows(series, made)
    )


def _rows(series: PublishedSeries, made: ReleaseMade) -> Iterator[Measurement]:
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
    text = io.StringIO()
    writer = csv.DictWriter(text, [each.name for each in fields(Measurement)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in measurements(part))
    return text.getvalue().encode()


def as_json(part: PublicPart) -> bytes:
    """The rows as a list of objects; what does not apply is null."""
    rows = [asdict(row) for row in measurements(part)]
    return (json.dumps(rows, indent=1, ensure_ascii=False) + "\n").encode()


def as_parquet(part: PublicPart) -> bytes:
    """The rows as Parquet; refuses numbers that it cannot hold."""
    content = io.BytesIO()
    numbers = (number for row in measurements(part) for number in (row.raw, row.low, row.high))
    if any(abs(number) >= 2**63 for number in numbers):
        raise StudyError("a published number has more than 64 bits. Use --csv or --json.")
    as_frame(part).write_parquet(content)
    return content.getvalue()


def as_frame(part: PublicPart) -> pl.DataFrame:
    """The rows as a data frame, with the same columns even if nothing is published."""
    import polars as pl

    kinds: dict[str, Any] = {"int": pl.Int64(), "float": pl.Float64(), "str": pl.String()}
    schema = {each.name: kinds[str(each.type).split(" ")[0]] for each in fields(Measurement)}
    return pl.DataFrame([asdict(row) for row in measurements(part)], schema=schema)
