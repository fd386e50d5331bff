"""Columns of times, brought into the form that a calendar reads, record by record.

Words that stand for a missing date become missing, and dates as people write them become ISO
dates (`written_dates`). A date that is unclear is a fault of its row, since anything else would be
a guess.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING

import numpy as np

from graphveil.calendar.columns import texts_of
from graphveil.deferred import pl
from graphveil.graph.intake.records import Table, Violation
from graphveil.hints import Hint
from graphveil.records.format import Note

if TYPE_CHECKING:
    from graphveil.records.options import IdField, ReadingOptions


# Dates as people write them, each brought into the form that a calendar reads, by itself.
#
# What a text means never depends on other texts. So 3/4/14 needs the steward's word on which
# number is the day, and so does 25/12/14, which has only one meaning: whether a form is
# ambiguous is no matter of the numbers in it. A year of two digits is from 1969 to 2068.


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_YEAR, _NAME = r"([0-9]{4}|[0-9]{2})", r"([A-Za-z]{3,9})\.?"
_THREE_NUMBERS = re.compile(rf"([0-9]{{1,2}})([/.-])([0-9]{{1,2}})\2{_YEAR}")
_YEAR_FIRST = re.compile(r"([0-9]{4})([/.-])([0-9]{1,2})\2([0-9]{1,2})")
_MONTH_AND_YEAR = re.compile(r"([0-9]{1,2})[/.-]([0-9]{4})")
_YEAR_AND_MONTH = re.compile(r"([0-9]{4})[/-]([0-9]{1,2})")
_DAY_NAME_YEAR = re.compile(rf"([0-9]{{1,2}})[ ./-]*{_NAME}[ ,./-]*{_YEAR}")
_NAME_DAY_YEAR = re.compile(
    rf"{_NAME}[ -]*([0-9]{{1,2}})(?:st|nd|rd|th)?(?:, *|[ -]+)([0-9]{{4}})", re.IGNORECASE
)
_NAME_YEAR = re.compile(rf"{_NAME}[ ,./-]*([0-9]{{4}})")
_CLOCK = re.compile(
    r"(.*?[^ T,])(?:[ ,]+|T)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})([.,][0-9]+)?)?"
    r" *([AaPp]\.?[Mm]\.?)? *(Z|z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?"
)
_SERIAL = re.compile(r"([0-9]{1,7})(\.[0-9]+)?")
_EXCEL_ZERO = dt.datetime(1899, 12, 30)  # days are right from March 1900 on
_FIRST_SERIAL, _LAST_SERIAL = 61, 2_958_465
_PIVOT = 69
ISO = (
    r"^[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}(?:[Tt ][0-9]{2}(?::[0-9]{2}(?::[0-9:.,+-]*)?)?[Zz]?)?)?)?$"
)


class Unclear(Enum):
    """Why a text is no date."""

    ORDER = auto()  # it is not known whether the day or the month comes first
    ABSENT = auto()  # there is no such day


def as_iso(text: str, day_first: bool | None) -> str | Unclear:
    """A date in the form of ISO 8601, or why it has none; other texts stay as they are."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return _date(text, day_first) or text
    date = _date(match[1], day_first)
    if date is None or isinstance(date, Unclear):
        return date or text
    clock = _clock(match)
    return Unclear.ABSENT if clock is None else f"{date}T{clock}"


def from_excel(text: str) -> str | Unclear:
    """A day as Excel counts them, in the form of ISO 8601; other texts stay as they are."""
    match = _SERIAL.fullmatch(text)
    if match is None:
        return text
    if not _FIRST_SERIAL <= int(match[1]) <= _LAST_SERIAL:
        return Unclear.ABSENT
    seconds = round(float(match[2] or 0) * 86_400)
    moment = _EXCEL_ZERO + dt.timedelta(days=int(match[1]), seconds=seconds)
    return moment.isoformat() if seconds else moment.date().isoformat()


def _date(text: str, day_first: bool | None) -> str | Unclear | None:
    """The date alone; None if the text has another form."""
    if match := _THREE_NUMBERS.fullmatch(text):
        if day_first is None:
            return Unclear.ORDER
        first, second = int(match[1]), int(match[3])
        day, month = (first, second) if day_first else (second, first)
        return _day(_year(match[4]), month, day)
    if match := _YEAR_FIRST.fullmatch(text):
        return _day(int(match[1]), int(match[3]), int(match[4]))
    if match := _MONTH_AND_YEAR.fullmatch(text):
        return _month(int(match[2]), int(match[1]))
    if match := _YEAR_AND_MONTH.fullmatch(text):
        return _month(int(match[1]), int(match[2]))
    return _with_a_name(text)


def _with_a_name(text: str) -> str | Unclear | None:
    """Dates whose month is a word; None if the text has another form, or another word."""
    if (match := _DAY_NAME_YEAR.fullmatch(text)) and (month := _named(match[2])):
        return _day(_year(match[3]), month, int(match[1]))
    if (match := _NAME_DAY_YEAR.fullmatch(text)) and (month := _named(match[1])):
        return _day(int(match[3]), month, int(match[2]))
    if (match := _NAME_YEAR.fullmatch(text)) and (month := _named(match[1])):
        return _month(int(match[2]), month)
    return None


def _named(word: str) -> int | None:
    word = word.lower()
    if word == "sept":
        return 9
    known = _MONTHS if word in _MONTHS else _LONG
    return known.index(word) + 1 if word in known else None


def _year(digits: str) -> int:
    if len(digits) == 4:
        return int(digits)
    return int(digits) + (1900 if int(digits) >= _PIVOT else 2000)


def _day(year: int, month: int, day: int) -> str | Unclear:
    try:
        return dt.date(year, month, day).isoformat()
    except ValueError:
        return Unclear.ABSENT


def _month(year: int, month: int) -> str | Unclear:
    return f"{year:04}-{month:02}" if 1 <= month <= 12 else Unclear.ABSENT


def _clock(match: re.Match[str]) -> str | None:
    """The time of day and its zone; None if no clock shows it."""
    hour, half = int(match[2]), (match[6] or "").lower()[:1]
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    second = f":{match[4]}{(match[5] or '').replace(',', '.')}" if match[4] else ""
    zone = {"utc": "Z", "gmt": "Z", "z": "Z"}.get((match[7] or "").lower(), match[7] or "")
    return f"{hour:02}:{match[3]}{second}{zone}"


PLAIN_NUMBER = re.compile(r"-?[0-9]{1,18}")
MISSING_WORDS = ("", "-", "na", "n/a", "nan", "nat", "none", "null", "missing", "unknown")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ].*)?)?|(19|20)[0-9]{2}|(19|20)[0-9]{6}"
    r"|[0-9]{1,2}[/.-][0-9]{1,2}[/.-]([0-9]{4}|[0-9]{2})( .*)?|[0-9]{1,2}[/.][0-9]{4}"
    r"|[0-9]{4}-[QW][0-9]{1,2}|[0-9]{1,2}[ -][A-Z][a-z]{2,8}[ -][0-9]{2,4}"
)
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
    bare = times.str.strip_chars()
    if not bare.str.contains(f"^{PLAIN_NUMBER.pattern}$").fill_null(True).all():
        return times
    return bare.replace("", None).cast(pl.Int64)


def from_seconds(table: Table) -> Table:
    """The table with its seconds since 1970 as timestamps; rows with other times are marked."""
    seconds = table.frame["time"].cast(pl.Int64, strict=False)
    wrong = ~seconds.is_between(0, _LAST_SECOND).fill_null(False)
    if wrong.any():
        what = "the time is not a number of seconds since 1970"
        hint = "Write whole seconds; divide milliseconds by 1000."
        table = table.marked(Violation.where(wrong, "time", what, hint))
        seconds = seconds.set(wrong, None)
    moments = (seconds * _SECOND).cast(pl.Datetime("us"))
    return replace(table, frame=table.frame.with_columns(moments.alias("time")))


def from_ids(table: Table, field: IdField, options: ReadingOptions) -> tuple[Table, list[Note]]:
    """The table with the date that each id has in a field; where it has none, with its own."""
    at = field.number - 1 if field.number > 0 else field.number
    ids = table.frame["node"].cast(pl.String, strict=False)
    dates = ids.str.split(field.mark).list.get(at, null_on_oob=True)
    times = first_said([dates, table.frame["time"]])
    names = {**table.names, "time": table.names.get("node", "node")}
    return tidied(replace(table, frame=table.frame.with_columns(times), names=names), options)


def undated(table: Table) -> Table:
    """The table of nodes with a column of times that are all missing."""
    return replace(table, frame=table.frame.with_columns(time=pl.lit(None, dtype=pl.String)))


def first_said(columns: list[pl.Series]) -> pl.Series:
    """Of several columns of times, row by row, the first that says something."""
    if len(columns) == 1:
        return columns[0].alias("time")
    texts = [_without_words(_texts(column)).alias(str(n)) for n, column in enumerate(columns)]
    return pl.DataFrame(texts).select(pl.coalesce(pl.all())).to_series().alias("time")


def tidied(table: Table, options: ReadingOptions) -> tuple[Table, list[Note]]:
    """The table with times that a calendar reads, and notes on what was changed."""
    times = table.frame["time"]
    if options.excel_dates and times.dtype.is_numeric():
        times = _texts(times)
    if times.dtype != pl.String:
        return table, []
    times = _without_words(times)
    usual = ISO if options.excel_dates else f"{ISO}|^{PLAIN_NUMBER.pattern}$"
    odd = times.filter(~times.str.contains(usual).fill_null(True) | options.excel_dates)
    notes: list[Note] = []
    if len(odd):
        times, wrong, notes = _rewritten(times, odd, options)
        table = table.marked(*wrong)
    frame = table.frame.with_columns(numeric_if_plain(times).alias("time"))
    return replace(table, frame=frame), notes


def _texts(column: pl.Series) -> pl.Series:
    if column.dtype == pl.String:
        return column
    if column.dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        return pl.Series(
            [
                None if value is None or value != value else str(n) if value == n else str(value)
                for value, n in zip(column.to_list(), whole.to_list(), strict=True)
            ],
            dtype=pl.String,
        )
    return texts_of(column.to_list())


def _without_words(times: pl.Series) -> pl.Series:
    """Times without the words that say that there is none."""
    times = times.str.strip_chars()
    return times.set(times.str.to_lowercase().is_in(MISSING_WORDS).fill_null(False), None)


def _rewritten(
    times: pl.Series, odd: pl.Series, options: ReadingOptions
) -> tuple[pl.Series, list[Violation], list[Note]]:
    """Times with ISO dates for those that people wrote; what is unclear stays, as a fault."""
    written = odd.drop_nulls().unique().to_list()
    meaning = {text: _meant(text, options) for text in written}
    known = {text: iso for text, iso in meaning.items() if isinstance(iso, str) and iso != text}
    violations = [
        _violation(times, [text for text in written if meaning[text] is why], why, options)
        for why in Unclear
        if why in meaning.values()
    ]
    rewritten = int(odd.is_in(list(known)).sum()) if known else 0
    rule = f"dates not written as 2021-07-08: {_order(options)}"
    notes = [Note.of_rows(rule, rewritten)] if rewritten else []
    return times.replace(known), violations, notes


def _meant(text: str, options: ReadingOptions) -> str | Unclear:
    meant = from_excel(text) if options.excel_dates else text
    return as_iso(meant, options.day_first) if isinstance(meant, str) else meant


def _order(options: ReadingOptions) -> str:
    if options.day_first is None:
        return "rewritten"
    return f"7/8/2021 is {'7 August' if options.day_first else 'July 8'}"


def _violation(
    times: pl.Series, texts: list[str], why: Unclear, options: ReadingOptions
) -> Violation:
    hint: str
    rows = times.is_in(texts).fill_null(False).arg_true().to_numpy().astype(np.int64)
    if why is Unclear.ORDER:
        rule = "it is not said whether the day or the month comes first in such dates"
        hint = Hint("day-or-month")
    elif options.day_first is None:
        rule, hint = "there is no such date", "Correct it."
    else:
        rule = f"the time is not a date with the {'day' if options.day_first else 'month'} first"
        hint = Hint("other-order")
    return Violation(rows, "time", rule, hint, shown=times[int(rows[0])])
