"""Native pairs by path, with a calendar that fits their times.

The calendar is read off the data, which is fine for an experiment and never for a release.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError, Place
from graphveil.experiments.datasets.supplied import ENDINGS, SuppliedFile
from graphveil.formats.tables.table_file import read_pair
from graphveil.graph.records import Records

if TYPE_CHECKING:
    import polars as pl

NODES = SuppliedFile("nodes", "the columns node, time")
EDGES = SuppliedFile("edges", "the columns source, target and, if edges have their own, time")
FEWEST_STEPS = 5  # data that span fewer years are cut into months, or weeks
_FIRST_YEAR = 1000  # whole numbers from here to 9999 are years, others are plain steps


def pair_of(path: str) -> tuple[Path, Path]:
    """The two files of a folder, or of NODES,EDGES."""
    folder = Path(path)
    if folder.is_dir():
        return NODES.within(folder), EDGES.within(folder)
    nodes, comma, edges = path.partition(",")
    if not comma:
        raise InputError(
            "there is no such folder",
            place=Place(path),
            hint="Name a folder with nodes and edges, or two files as NODES,EDGES.",
        )
    return Path(nodes), Path(edges)


def looks_like_path(text: str) -> bool:
    """Whether the user means files rather than the name of a dataset."""
    return (
        any(mark in text for mark in ("/", "\\", ","))
        or Path(text).is_dir()
        or text.lower().endswith(ENDINGS)
    )


def read_native(path: str) -> tuple[str, Records]:
    """The name of the data, which is that of their folder, and the records."""
    nodes, edges = pair_of(path)
    return nodes.resolve().parent.name, read_pair(nodes, edges)


def calendar_for(times: pl.Series) -> Calendar:
    """Years for dates and years; months or weeks if that gives too few steps; or plain steps."""
    if times.dtype.is_integer() and not _are_years(times):
        return Calendar.spanning(times, 1)
    yearly = Calendar.spanning(times, "year")
    for rhythm in ("year", "month", "week"):
        calendar = Calendar.spanning(times, rhythm)
        placed = calendar.steps_of(times)
        if placed.trouble is not None:
            break
        if len(placed.steps) and int(placed.steps.max()) + 1 >= FEWEST_STEPS:
            return calendar
    return yearly


def _are_years(times: pl.Series) -> bool:
    return bool(times.is_between(_FIRST_YEAR, 9999).fill_null(True).all())
