"""Quarters and weeks as text, `2014-Q2` and `2014-W11`, as the days from which to which they last.

Weeks are those of ISO 8601: they begin on Mondays, and week 1 is the one with January 4th.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

from graphveil.deferred import np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_QUARTER = re.compile(r"([0-9]{4})-?Q([1-4])", re.IGNORECASE)
_WEEK = re.compile(r"([0-9]{4})-?W([0-9]{2})", re.IGNORECASE)
_PERIOD = r"^\s*[0-9]{4}-?[QqWw][0-9]{1,2}\s*$"


def with_days(times: pl.Series) -> tuple[pl.Series, pl.Series, NDArray[np.bool_]] | None:
    """The column with first days, and with last days, for periods, and where these are.

    None if there is no period. What looks like one and does not exist stays as it is.
    """
    import polars as pl

    if times.dtype != pl.String:
        return None
    periods = times.str.contains(_PERIOD).fill_null(False)
    if not periods.any():
        return None
    known = {text: days for text in times.filter(periods).unique() if (days := _days(text.strip()))}
    if not known:
        return None
    first = times.replace({text: days[0] for text, days in known.items()})
    last = times.replace({text: days[1] for text, days in known.items()})
    return first, last, times.is_in(list(known)).fill_null(False).to_numpy()


def _days(text: str) -> tuple[str, str] | None:
    """The first and the last day of a period, if it exists."""
    try:
        if found := _QUARTER.fullmatch(text):
            year, quarter = int(found[1]), int(found[2])
            ends = dt.date(year + quarter // 4, quarter % 4 * 3 + 1, 1) - dt.timedelta(days=1)
            return dt.date(year, quarter * 3 - 2, 1).isoformat(), ends.isoformat()
        if found := _WEEK.fullmatch(text):
            year, week = int(found[1]), int(found[2])
            first, last = (dt.date.fromisocalendar(year, week, day) for day in (1, 7))
            return first.isoformat(), last.isoformat()
    except (ValueError, OverflowError):
        return None
    return None
