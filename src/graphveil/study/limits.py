"""Limits of names and texts, checked before anything is promised or spent.

A name that no file system takes would seal a step and then fail in every report. Studies that
were opened before there were limits stay as they are: only what is new is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from graphveil.errors import StudyError
from graphveil.study.promise.promise import Promise
from graphveil.study.promise.series import SeriesPromise

LONGEST_NAME = 64  # of a series: files are called after it, with endings
LONGEST_LINE = 200  # of a title, a population, a publisher
LONGEST_REASON = 2000
LONGEST_SEPARATOR = 16
# What Windows takes for a device, whatever ending it has.
_DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")
_UNWRITTEN = {"Cc", "Cs", "Cf", "Zl", "Zp"}  # kinds of characters that nobody can see
_JOINERS = "\u200c\u200d"  # which some scripts need


def require_limits(promise: Promise, source: str) -> None:
    """Refuse a study with a text that is too long, or that cannot be printed on a line.

    Args:
        promise: a study that is not open yet.
        source: what to call it where an entry is refused.
    """
    for entry, text, longest in _texts(promise):
        _require_text(f"{source}, {entry}", text, longest)
    for series in promise.series:
        require_series_limits(series, source)


def require_series_limits(series: SeriesPromise, source: str) -> None:
    """The same for a series that is not open yet."""
    place = f"{source}, series '{series.name[:LONGEST_NAME]}'"
    if len(series.name) > LONGEST_NAME:
        raise StudyError(f"{place}: {_too_long(series.name, LONGEST_NAME)}")
    if _DEVICES.fullmatch(series.name):
        raise StudyError(
            f"{place}: Windows keeps this name for itself, and charts are files of that name. "
            "Choose another."
        )
    for key, value in series.parameters.items():
        _require_text(f"{place}, {key}", str(value), LONGEST_LINE)
    if series.justification is not None:
        _require_text(f"{place}, justification", series.justification, LONGEST_REASON)


def _texts(promise: Promise) -> Iterator[tuple[str, str, int]]:
    """Every text of a study outside its series, with its name and its limit."""
    for entry in ("title", "population", "publisher"):
        yield entry, getattr(promise, entry), LONGEST_LINE
    if promise.bound is not None:
        yield "bound.justification", promise.bound.justification, LONGEST_REASON
    yield "budget.justification", promise.budget.justification, LONGEST_REASON
    yield "records.person_separator", promise.records.person_separator, LONGEST_SEPARATOR


def _require_text(place: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise StudyError(f"{place}: {_too_long(text, longest)}")
    if any(unicodedata.category(each) in _UNWRITTEN and each not in _JOINERS for each in text):
        raise StudyError(
            f"{place}: must be one line of visible characters. Remove line breaks, tabs and marks "
            "that cannot be seen."
        )


def _too_long(text: str, longest: int) -> str:
    return f"has {len(text):,} characters, and {longest:,} are allowed. Shorten it."
