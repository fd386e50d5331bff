"""Dates as people write them, each brought into the form that a calendar reads, by itself.

What a text means never depends on other texts. So 3/4/14 needs the steward's word on which number
is the day, and so does 25/12/14, which has only one meaning: whether a form is ambiguous is no
matter of the numbers in it. A year of two digits is from 1969 to 2068.
"""

from __future__ import annotations

import datetime as dt
import re
from enum import Enum, auto

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

    ORDER = auto()  # nobody said whether the day or the month comes first
    ABSENT = auto()  # there is no such day


def as_iso(text: str, day_first: bool | None) -> str | Unclear:
    """A date in the form of ISO 8601, or why it has none; other texts stay as they are."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return _date(text, day_first) or text
    date = _date(found[1], day_first)
    if date is None or isinstance(date, Unclear):
        return date or text
    clock = _clock(found)
    return Unclear.ABSENT if clock is None else f"{date}T{clock}"


def from_excel(text: str) -> str | Unclear:
    """A day as Excel counts them, in the form of ISO 8601; other texts stay as they are."""
    found = _SERIAL.fullmatch(text)
    if found is None:
        return text
    if not _FIRST_SERIAL <= int(found[1]) <= _LAST_SERIAL:
        return Unclear.ABSENT
    seconds = round(float(found[2] or 0) * 86_400)
    moment = _EXCEL_ZERO + dt.timedelta(days=int(found[1]), seconds=seconds)
    return moment.isoformat() if seconds else moment.date().isoformat()


def _date(text: str, day_first: bool | None) -> str | Unclear | None:
    """The date alone; None if the text has another form."""
    if found := _THREE_NUMBERS.fullmatch(text):
        if day_first is None:
            return Unclear.ORDER
        first, second = int(found[1]), int(found[3])
        day, month = (first, second) if day_first else (second, first)
        return _day(_year(found[4]), month, day)
    if found := _YEAR_FIRST.fullmatch(text):
        return _day(int(found[1]), int(found[3]), int(found[4]))
    if found := _MONTH_AND_YEAR.fullmatch(text):
        return _month(int(found[2]), int(found[1]))
    if found := _YEAR_AND_MONTH.fullmatch(text):
        return _month(int(found[1]), int(found[2]))
    return _with_a_name(text)


def _with_a_name(text: str) -> str | Unclear | None:
    """Dates whose month is a word; None if the text has another form, or another word."""
    if (found := _DAY_NAME_YEAR.fullmatch(text)) and (month := _named(found[2])):
        return _day(_year(found[3]), month, int(found[1]))
    if (found := _NAME_DAY_YEAR.fullmatch(text)) and (month := _named(found[1])):
        return _day(int(found[3]), month, int(found[2]))
    if (found := _NAME_YEAR.fullmatch(text)) and (month := _named(found[1])):
        return _month(int(found[2]), month)
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


def _clock(found: re.Match[str]) -> str | None:
    """The time of day and its zone; None if no clock shows it."""
    hour, half = int(found[2]), (found[6] or "").lower()[:1]
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    second = f":{found[4]}{(found[5] or '').replace(',', '.')}" if found[4] else ""
    zone = {"utc": "Z", "gmt": "Z", "z": "Z"}.get((found[7] or "").lower(), found[7] or "")
    return f"{hour:02}:{found[3]}{second}{zone}"
