"""Times as other programs write them, brought into the form that a calendar reads.

Words that stand for a missing date become missing. Dates such as 7/8/2021 become ISO dates,
month first or day first as the steward says; a date that does not exist in that order is a
fault of its row, since the other order would be a guess.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from graphveil.formats.parse_report import Note
from graphveil.graph.faults import Fault
from graphveil.graph.records import Table

if TYPE_CHECKING:
    import polars as pl

PLAIN_NUMBER = re.compile(r"-?[0-9]{1,18}")
MISSING_WORDS = ("", "-", "na", "n/a", "nan", "nat", "none", "null", "missing", "unknown")
_SLASHED = r"^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}(?: [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)?$"
_SLASHED_PARTS = re.compile(r"([0-9]+)/([0-9]+)/([0-9]{4})(?: ([0-9]{1,2})(:[0-9:]+))?")
_DATE = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}(-[0-9]{{2}}([T ].*)?)?|(19|20)[0-9]{{2}}|{_SLASHED}")
_LOOKED_AT = 50
_LAST_SECOND = 253_402_300_799  # the end of the year 9999
_SECOND = 1_000_000  # microseconds


def is_missing(text: str) -> bool:
    """Whether a text says that there is no date."""
    return text.strip().lower() in MISSING_WORDS


def look_like_dates(values: Iterable[object]) -> bool:
    """Whether the first values that are not missing are all written like dates or years."""
    seen = 0
    for value in values:
        text = "" if value is None else str(value)
        if is_missing(text):
            continue
        if not _DATE.fullmatch(text.strip()):
            return False
        seen += 1
        if seen == _LOOKED_AT:
            break
    return seen > 0


def numeric_if_plain(times: pl.Series) -> pl.Series:
    """A column of text as whole numbers, if it holds nothing else."""
    import polars as pl

    bare = times.str.strip_chars()
    if not bare.str.contains(f"^{PLAIN_NUMBER.pattern}$").fill_null(True).all():
        return times
    return bare.replace("", None).cast(pl.Int64)


def from_seconds(table: Table) -> Table:
    """The table with its seconds since 1970 as timestamps; rows with other times are marked."""
    import polars as pl

    seconds = table.frame["time"].cast(pl.Int64, strict=False)
    wrong = ~seconds.is_between(0, _LAST_SECOND).fill_null(False)
    if wrong.any():
        what = "the time is not a number of seconds since 1970"
        hint = "Write whole seconds; divide milliseconds by 1000."
        table = table.marked(Fault.where(wrong, "time", what, hint))
        seconds = seconds.set(wrong, None)
    moments = (seconds * _SECOND).cast(pl.Datetime("us"))
    return replace(table, frame=table.frame.with_columns(moments.alias("time")))


def undated(table: Table) -> Table:
    """The table of nodes with a column of times that are all missing."""
    import polars as pl

    return replace(table, frame=table.frame.with_columns(time=pl.lit(None, dtype=pl.String)))


def tidied(table: Table, *, day_first: bool) -> tuple[Table, list[Note]]:
    """The table with times that a calendar reads, and notes on what was changed."""
    import polars as pl

    if table.frame["time"].dtype != pl.String:
        return table, []
    times = table.frame["time"].str.strip_chars()
    times = times.set(times.str.to_lowercase().is_in(MISSING_WORDS).fill_null(False), None)
    slashed = times.str.contains(_SLASHED).fill_null(False)
    notes = []
    if slashed.any():
        times, wrong = _without_slashes(times, slashed, day_first=day_first)
        table = table.marked(*wrong)
        notes = _notes(table.frame["time"].filter(slashed), day_first=day_first)
    frame = table.frame.with_columns(numeric_if_plain(times).alias("time"))
    return replace(table, frame=frame), notes


def _without_slashes(
    times: pl.Series, slashed: pl.Series, *, day_first: bool
) -> tuple[pl.Series, list[Fault]]:
    """Times with ISO dates for those with slashes; what does not exist stays, as a fault."""
    written = times.filter(slashed).unique().to_list()
    meaning = {text: _iso(text, day_first=day_first) for text in written}
    wrong = [text for text, iso in meaning.items() if iso is None]
    known = times.replace({text: iso for text, iso in meaning.items() if iso is not None})
    if not wrong:
        return known, []
    rows = times.is_in(wrong).fill_null(False).arg_true().to_numpy().astype(np.int64)
    rule = f"the time is not a date with the {'day' if day_first else 'month'} first"
    hint = "Correct it, or change the option day_first if all dates are in the other order."
    return known, [Fault(rows, "time", rule, hint, shown=times[int(rows[0])])]


def _iso(text: str, *, day_first: bool) -> str | None:
    parts = _SLASHED_PARTS.fullmatch(text)
    assert parts is not None
    first, second, year = int(parts[1]), int(parts[2]), int(parts[3])
    day, month = (first, second) if day_first else (second, first)
    clock = f"T{int(parts[4]):02}{parts[5]}" if parts[4] else ""
    try:
        return dt.date(year, month, day).isoformat() + clock
    except ValueError:
        return None


def _notes(slashed: pl.Series, *, day_first: bool) -> list[Note]:
    order = "day first: 7/8/2021 is 7 August" if day_first else "month first: 7/8/2021 is July 8"
    either = sum(_either_way(text) for text in slashed.to_list())
    return [
        Note.of_rows(f"dates with slashes: read {order}", len(slashed)),
        Note.of_rows("of these dates would also be valid in the other order", either),
    ]


def _either_way(text: str) -> bool:
    first, second = text.strip().split("/")[:2]
    return int(first) != int(second) and max(int(first), int(second)) <= 12
