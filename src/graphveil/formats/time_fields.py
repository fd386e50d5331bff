"""Times as other programs write them, brought into the form that a calendar reads.

Words that stand for a missing date become missing. Dates such as 7/8/2021 become ISO dates,
month first or day first as the steward says; a date that does not exist in that order is
refused, since the other order would be a guess.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from graphveil.errors import InputError, Place
from graphveil.formats.column_names import dates, names_by_text, no_such, plain
from graphveil.formats.delimited import Beginning, numeric_if_plain
from graphveil.formats.parse_report import Note
from graphveil.graph.records import Table

if TYPE_CHECKING:
    import polars as pl

MISSING_WORDS = ("", "-", "na", "n/a", "nan", "nat", "none", "null", "missing", "unknown")
_SLASHED = r"^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}(?: [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)?$"
_SLASHED_PARTS = re.compile(r"([0-9]+)/([0-9]+)/([0-9]{4})(?: ([0-9]{1,2})(:[0-9:]+))?")
_DATE = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}(-[0-9]{{2}}([T ].*)?)?|(19|20)[0-9]{{2}}|{_SLASHED}")
_LOOKED_AT = 50
_OWN_TIME = "time"


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


def date_columns(start: Beginning) -> list[str]:
    """The columns of a delimited file whose first values look like dates."""
    return [
        name
        for position, name in enumerate(start.names)
        if look_like_dates(row[position] for row in start.rows if position < len(row))
    ]


def node_time_column(
    source: str, start: Beginning, named: str | None
) -> tuple[str | None, InputError | None]:
    """The column that dates nodes, or the refusal to raise if no other file dates them.

    A column that looks like a date but was not named is refused at once: it must be chosen.
    """
    column = names_by_text(start.names).get(plain(named or _OWN_TIME))
    if column is not None:
        return column, None
    likely = date_columns(start)
    if named is not None:
        return None, no_such("column", Place(source, column=named), start.names, likely)
    refusal = InputError(
        "no column was named as the date of a node",
        place=Place(source),
        hint=f"Name it: --time in the shell, time= in Python. {dates('column', likely)}",
    )
    if likely:
        raise refusal
    return None, refusal


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
        times = _without_slashes(table, times, slashed, day_first=day_first)
        notes = _notes(table.frame["time"].filter(slashed), day_first=day_first)
    frame = table.frame.with_columns(numeric_if_plain(times).alias("time"))
    return replace(table, frame=frame), notes


def _without_slashes(
    table: Table, times: pl.Series, slashed: pl.Series, *, day_first: bool
) -> pl.Series:
    written = times.filter(slashed).unique().to_list()
    meaning = {text: _iso(text, day_first=day_first) for text in written}
    wrong = [text for text, iso in meaning.items() if iso is None]
    if wrong:
        row = int(times.is_in(wrong).fill_null(False).arg_true()[0])
        order = "day" if day_first else "month"
        raise InputError(
            f"'{times[row]}' is no date with the {order} first",
            place=table.place(row, "time"),
            hint="Correct it, or change the option day_first if all dates are in the other order.",
        )
    return times.replace(meaning)


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
        Note.of_rows("of these dates would exist in the other order, too", either),
    ]


def _either_way(text: str) -> bool:
    first, second = text.strip().split("/")[:2]
    return int(first) != int(second) and max(int(first), int(second)) <= 12
