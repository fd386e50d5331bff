"""Published numbers as frames: first values with their revisions, changes and smooth trends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.errors import ParameterError
from graphveil.report.tables import releases
from graphveil.report.tables.changes import PublishedChange, all_changes
from graphveil.report.tables.columns import as_frame
from graphveil.report.tables.revised import revisions
from graphveil.report.tables.trends import TrendPoint, trends

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from graphveil.study.public.public_part import PublicPart


def published(part: PublicPart) -> pl.DataFrame:
    """Every published number, with what all numbers so far say of it now.

    Series whose plan was never told have no revisions: there these columns are empty.
    """
    import polars as pl

    found = {(each.series, each.step, each.degree): each for each in revisions(part)}
    frame = releases.as_frame(part)
    rows = [found.get(row) for row in frame.select("series", "step", "degree").iter_rows()]
    return frame.with_columns(
        pl.Series("revised", [row and row.revised for row in rows], dtype=pl.Float64),
        pl.Series("revised_low", [row and row.low for row in rows], dtype=pl.Int64),
        pl.Series("revised_high", [row and row.high for row in rows], dtype=pl.Int64),
        pl.Series("revised_at", [row and row.revised_at for row in rows], dtype=pl.String),
    )


def changed(part: PublicPart) -> pl.DataFrame:
    """What is new over some steps, and against the time before."""
    return as_frame(PublishedChange, all_changes(part))


def smoothed(part: PublicPart) -> pl.DataFrame:
    """Every number on a smooth curve."""
    return as_frame(TrendPoint, trends(part))


def as_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """The same rows as a pandas frame, if that library is here."""
    try:
        return frame.to_pandas()
    except ImportError as error:
        hint = "Install it: pip install 'graphveil[interchange]'."
        raise ParameterError("pandas", "is not installed, or pyarrow is not", hint=hint) from error
