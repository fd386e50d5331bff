"""Columns of every type: read as the ids and times that they are, or refused in words."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError, RecordError
from graphveil.graph.intake.appending import filtered, listed
from graphveil.graph.intake.records import Records
from graphveil.graph.intake.resolving import resolve
from graphveil.graph.intake.rules import RecordRules
from graphveil.records import ReadingOptions, from_frames, read_records

DAY, NOON = dt.date(2001, 2, 3), dt.datetime(2001, 2, 3, 12)
IDS = pl.Series(["7", "8"])
TIMES = pl.Series([DAY, DAY])

COLUMNS: dict[str, pl.Series] = {
    **{
        str(kind): pl.Series([7, 8], dtype=kind)
        for kind in (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16,
                     pl.UInt32, pl.UInt64, pl.Float32, pl.Float64)
    },
    "decimal": pl.Series([Decimal(7), Decimal(8)], dtype=pl.Decimal(10, 0)),
    "decimal with places": pl.Series([Decimal("7.00"), Decimal("8.00")], dtype=pl.Decimal(10, 2)),
    "text": pl.Series(["7", "8"]),
    "categorical": pl.Series(["7", "8"], dtype=pl.Categorical),
    "enum": pl.Series(["7", "8"], dtype=pl.Enum(["7", "8"])),
    "nothing": pl.Series([None, None], dtype=pl.Null),
    "boolean": pl.Series([True, False]),
    "date": pl.Series([DAY, DAY]),
    "datetime": pl.Series([NOON, NOON]),
    "datetime in ns": pl.Series([NOON, NOON], dtype=pl.Datetime("ns", "Europe/Berlin")),
    "time of day": pl.Series([dt.time(12), dt.time(13)]),
    "duration": pl.Series([dt.timedelta(7), dt.timedelta(8)]),
    "binary": pl.Series([b"7", b"\xff"]),
    "list": pl.Series([[7], [8]]),
    "list of lists": pl.Series([[[7]], [[8]]]),
    "array": pl.Series([[7], [8]], dtype=pl.Array(pl.Int64, 1)),
    "struct": pl.Series([{"a": 7}, {"a": 8}]),
}  # fmt: skip
NO_IDS = {"boolean", "date", "datetime", "datetime in ns", "time of day", "duration", "binary",
    "list", "list of lists", "array", "struct"}  # fmt: skip
NO_TIMES = {"boolean", "time of day", "duration", "binary", "list", "list of lists", "array",
    "struct"}  # fmt: skip


def read(folder: Path, nodes: dict[str, Any], edges: dict[str, Any]) -> Records:
    """Both tables by way of Parquet files."""
    pl.DataFrame(nodes).write_parquet(folder / "nodes.parquet")
    pl.DataFrame(edges).write_parquet(folder / "edges.parquet")
    return read_records([folder / "nodes.parquet", folder / "edges.parquet"]).records


def resolved(records: Records) -> list[str]:
    """The ids that are left of two nodes and an edge."""
    found = resolve(records, Calendar.yearly(2000), RecordRules(undated="first"))
    return [str(name) for name in found.nodes.frame["node"]]


@pytest.mark.parametrize("name", COLUMNS)
def test_ids_of_every_type(tmp_path: Path, name: str) -> None:
    column = COLUMNS[name]
    nodes = {"node": column, "time": TIMES}
    edges = {"source": column, "target": column}
    frames = pl.DataFrame(nodes), pl.DataFrame(edges)
    for records in (partial(read, tmp_path, nodes, edges), partial(from_frames, *frames)):
        if name in NO_IDS:
            with pytest.raises(InputError, match=r"column 'node': the column has the type .* ids"):
                resolved(records())
        elif name == "nothing":
            with pytest.raises(InputError, match="the id is missing"):
                resolved(records())
        else:
            assert resolved(records()) == ["7", "8"]


@pytest.mark.parametrize("name", COLUMNS)
def test_times_of_every_type(tmp_path: Path, name: str) -> None:
    column = COLUMNS[name]
    nodes, edges = {"node": IDS, "time": column}, {"source": ["7"], "target": ["8"]}
    if name in NO_TIMES:
        with pytest.raises(InputError, match=r"column 'time': the column has the type .* times"):
            read(tmp_path, nodes, edges)
        with pytest.raises(InputError, match="column 'time': the time cannot be read"):
            resolved(from_frames(pl.DataFrame(nodes), pl.DataFrame(edges)))
    else:
        assert resolved(read(tmp_path, nodes, edges)) == ["7", "8"]


def test_ids_beyond_64_bits_of_either_sign_are_ids(tmp_path: Path) -> None:
    wide = [2**80, -(2**80)]
    nodes = {"node": pl.Series(wide, dtype=pl.Int128), "time": TIMES}
    records = read(tmp_path, nodes, {"source": ["1"], "target": ["1"]})
    assert resolved(records) == [str(number) for number in wide]


def test_a_decimal_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    nodes = {"node": pl.Series([Decimal("7.5"), Decimal("8.0")]), "time": TIMES}
    with pytest.raises(InputError, match=r"row 1, column 'node': .*not whole"):
        resolved(read(tmp_path, nodes, {"source": ["8"], "target": ["8"]}))


BEYOND = {  # days, or moments, of which Python has no date
    "days": pl.Series([2**30, None], dtype=pl.Int32).cast(pl.Date),
    "days before": pl.Series([-(2**31), 0], dtype=pl.Int32).cast(pl.Date),
    "moments": pl.Series([0, -(2**62)]).cast(pl.Datetime("us")),
    "moments in a zone": pl.Series([253402300799999999, -(2**62)]).cast(
        pl.Datetime("us", "Asia/Tokyo")
    ),
    "milliseconds": pl.Series([2**62, 0]).cast(pl.Datetime("ms")),
}


@pytest.mark.parametrize("name", BEYOND)
def test_dates_that_only_a_file_can_have_are_refused_in_words(tmp_path: Path, name: str) -> None:
    """polars panics when it is asked for them."""
    nodes = {"node": IDS, "time": BEYOND[name]}
    records = read(tmp_path, nodes, {"source": ["7"], "target": ["8"]})
    with pytest.raises(RecordError, match="column 'time'"):
        resolved(records)
    assert len(listed(filtered(records, resolved).left_out))
    other = tmp_path / "other.csv"  # so that times become text
    other.write_text("node,time\n9,1960-01-01\n")
    files = [other, tmp_path / "nodes.parquet", tmp_path / "edges.parquet"]
    with pytest.raises(RecordError, match="column 'time'"):
        resolved(read_records(files).records)


def test_few_bytes_with_very_many_rows_are_refused_before_they_are_read(tmp_path: Path) -> None:
    many = pl.DataFrame({"node": pl.repeat("a", 5_000_000, eager=True)})
    many.with_columns(time=pl.lit(2001)).write_parquet(tmp_path / "many.parquet")
    assert (tmp_path / "many.parquet").stat().st_size < 1_000_000
    with pytest.raises(InputError, match=r"more than 100,000,000 bytes.*most_bytes="):
        read_records([tmp_path / "many.parquet"], options=ReadingOptions(most_bytes=10**8))


def test_a_bad_id_in_one_of_two_files_is_one_bad_row(tmp_path: Path) -> None:
    pl.DataFrame({"node": [1.0, 2.5, None, 7.0], "time": 2001}).write_parquet(
        tmp_path / "a.parquet"
    )
    (tmp_path / "b.csv").write_text("node,time\nx,2001\n")
    paths = [tmp_path / "b.csv", tmp_path / "a.parquet"]
    found = read_records(paths, options=ReadingOptions(mark_bad=True)).records
    assert found.nodes.frame["node"].to_list() == ["x", "1", None, None, "7"]
    with pytest.raises(RecordError, match=r"a\.parquet, row 2, column 'node': .*not whole") as told:
        resolved(found)
    assert told.value.rows.tolist() == [2]
