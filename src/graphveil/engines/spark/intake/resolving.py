"""Resolving on the workers: batches of rows become people and steps, by `graph.resolving`.

What becomes of a row depends on that row alone, so that it makes no difference in which batch it
stands. A row that breaks a rule comes out marked; the driver refuses the first of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from graphveil.engines.spark.intake.tables import SparkTable
from graphveil.engines.spark.jobs import mapped
from graphveil.graph.intake.rules import RecordRules

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from graphveil.calendar.calendar import Calendar

_IDS = {"nodes": ("node",), "edges": ("source", "target")}
_COUNTS = ("trimmed", "respelled", "folded", "texts")
_STAGES = 100  # attempts at one stage


@dataclass(frozen=True)
class Reading:
    """How rows of one table become people and steps.

    Attributes:
        kind: "nodes" or "edges".
        calendar: where steps begin.
        rules: for ids.
        text: whether ids are text; else whole numbers.
        beyond: whether a time after the end has the step after the last; else it is refused.
        day_first: whether 7/8/2021 is the 7th of August, if anybody said so.
    """

    kind: str
    calendar: Calendar
    rules: RecordRules
    text: bool
    beyond: bool = False
    day_first: bool | None = None

    @property
    def schema(self) -> str:
        """Of what comes out."""
        ids = ", ".join(f"{name} {'string' if self.text else 'long'}" for name in _IDS[self.kind])
        counts = "trimmed int, respelled int, folded int, texts int"
        return f"{ids}, step int, place long, {counts}, fault int, said string"


def resolved(session: SparkSession, table: SparkTable | None, reading: Reading) -> DataFrame:
    """Every row with people for ids and a step for its time; bad ones are marked."""
    if table is None:
        return session.createDataFrame([], reading.schema)
    return mapped(table.frame, partial(_resolve, reading), reading.schema)


def _resolve(reading: Reading, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import os

    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # Spark has one process for each core
    import polars as pl

    for batch in batches:
        if not batch.num_rows:
            continue
        frame = pl.from_arrow(batch)
        assert isinstance(frame, pl.DataFrame)
        yield from _rows(frame, reading)


def _rows(frame: pl.DataFrame, reading: Reading) -> Iterator[pa.RecordBatch]:
    """The resolved rows of one batch, and then those that break a rule."""
    from graphveil.errors import RecordError

    faults: list[tuple[np.ndarray, int, str]] = []
    attempt = 0
    while True:
        stage = [0]
        try:
            good = _good(frame, reading, stage)
            break
        except RecordError as refused:
            bad = np.zeros(len(frame), np.bool_)
            bad[refused.rows] = True
            told = json.dumps(_told(refused, frame, reading))
            places = frame["place"].to_numpy()[bad]
            faults.append((places, stage[0] * _STAGES + min(attempt, _STAGES - 1), told))
            frame, attempt = frame.filter(~_mask(bad)), attempt + 1
    yield from good
    for places, rank, told in faults:
        yield _marked(places, rank, told, reading)


def _mask(rows: np.ndarray) -> Any:
    import polars as pl

    return pl.Series(rows)


def _told(refused: Any, frame: pl.DataFrame, reading: Reading) -> dict[str, str]:
    column = refused.place.column or ""
    return {"what": refused.what, "hint": refused.hint, "column": column}


def _good(frame: pl.DataFrame, reading: Reading, stage: list[int]) -> list[pa.RecordBatch]:
    """All rows resolved, or a RecordError; `stage` says how far it came."""
    import polars as pl

    from graphveil.formats.columns.dates import tidied
    from graphveil.formats.options import ReadingOptions
    from graphveil.graph.intake.records import Table
    from graphveil.graph.intake.resolving import dated, persons

    ids = _IDS[reading.kind]
    table = Table(frame, "", 0)
    if "time" in frame.columns and frame["time"].dtype == pl.String:
        table, _ = tidied(table, ReadingOptions(day_first=reading.day_first))
        table.require_sound()
    columns, trimmed, respelled = [], 0, 0
    for column in ids:
        stage[0] += 1
        found = persons(table, (column,), reading.rules)
        columns += found.columns
        trimmed, respelled = trimmed + found.trimmed, respelled + found.respelled
    stage[0] += 1
    steps, folded = dated(table, reading.calendar, reading.beyond)
    if not len(frame):
        return []
    kind = pl.String if reading.text else pl.Int64
    once = pl.Series([1] + [0] * (len(frame) - 1), dtype=pl.Int32)  # counts stand in one row
    whole = pl.DataFrame(
        [each.cast(kind).alias(name) for each, name in zip(columns, ids, strict=True)]
    ).with_columns(
        steps.cast(pl.Int32).alias("step"),
        frame["place"],
        (once * trimmed).alias("trimmed"),
        (once * respelled).alias("respelled"),
        (once * folded).alias("folded"),
        (once * _texts(columns)).alias("texts"),
        pl.lit(None, pl.Int32).alias("fault"),
        pl.lit(None, pl.String).alias("said"),
    )
    return _batches(whole, reading)


def _texts(columns: list[pl.Series]) -> int:
    """Which columns of ids are text, as the one intake would keep them: a bit for each."""
    import polars as pl

    return sum(1 << place for place, ids in enumerate(columns) if ids.dtype == pl.String)


def _batches(frame: pl.DataFrame, reading: Reading) -> list[pa.RecordBatch]:
    import pyarrow as pa

    table = frame.to_arrow(compat_level=_oldest())
    text, number = pa.string(), pa.int32()
    kinds = {"step": number, "place": pa.int64(), "trimmed": number, "respelled": number}
    kinds |= {"folded": number, "texts": number, "fault": number, "said": text}
    kinds |= {name: text if reading.text else pa.int64() for name in _IDS[reading.kind]}
    schema = pa.schema([(name, kinds[name]) for name in table.column_names])
    found: list[pa.RecordBatch] = table.cast(schema).combine_chunks().to_batches()
    return found


def _oldest() -> Any:
    import polars as pl

    return pl.CompatLevel.oldest()


def _marked(places: np.ndarray, rank: int, told: str, reading: Reading) -> pa.RecordBatch:
    import polars as pl

    ids = [
        pl.lit(None, pl.String if reading.text else pl.Int64).alias(n) for n in _IDS[reading.kind]
    ]
    nothing = [pl.lit(0, pl.Int32).alias(name) for name in _COUNTS]
    frame = pl.DataFrame({"place": places}).select(
        *ids,
        pl.lit(None, pl.Int32).alias("step"),
        pl.col("place").cast(pl.Int64),
        *nothing,
        pl.lit(rank, pl.Int32).alias("fault"),
        pl.lit(told).alias("said"),
    )
    return _batches(frame, reading)[0]


def refuse_marked(table: SparkTable, marked: DataFrame) -> None:
    """Refuse the first row of the first rule that a table's rows break; there is one."""
    from graphveil.engines.spark.jobs import failing_as_ours

    with failing_as_ours():
        first = marked.filter("fault is not null").orderBy("fault", "place").limit(1).collect()[0]
    told = json.loads(first.said)
    raise table.refusal(first.place, told["column"], told["what"], told["hint"])
