"""Files by path, of any format, with a calendar that fits their times.

The calendar is read off the data, which is fine for an experiment and never for a release.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError, Place
from graphveil.experiments.datasets.supplied import ENDINGS, SuppliedFile
from graphveil.formats import ReadingOptions, read_records
from graphveil.formats.containers.databases import is_address
from graphveil.formats.options import DEFAULTS
from graphveil.graph.intake.records import Records

if TYPE_CHECKING:
    import polars as pl

NODES = SuppliedFile("nodes", "the columns node, time")
EDGES = SuppliedFile("edges", "the columns source, target and, if edges have their own, time")
FEWEST_STEPS = 5  # data that span fewer years are cut into months, or weeks
_FIRST_YEAR = 1000  # whole numbers from here to 9999 are years, others are plain steps


@dataclass(frozen=True)
class HowToRead:
    """What the user says about files.

    Attributes:
        format: of all files; None recognises each.
        options: everything else.
    """

    format: str | None = None
    options: ReadingOptions = DEFAULTS


AS_THEY_ARE = HowToRead()


def files_of(path: str) -> list[str]:
    """The two files of a folder, or files with commas between them."""
    folder = Path(path)
    if folder.is_dir():
        return [str(NODES.within(folder)), str(EDGES.within(folder))]
    words = [path] if is_address(path) or folder.is_file() else path.split(",")
    if len(words) == 1 and not is_address(path) and not Path(path.partition("#")[0]).is_file():
        raise InputError(
            "there is no such folder",
            place=Place(path),
            hint="Name a folder with nodes and edges, or files as NODES,EDGES.",
        )
    return words


def looks_like_path(text: str) -> bool:
    """Whether the user means files rather than the name of a dataset."""
    return (
        any(mark in text for mark in ("/", "\\", ","))
        or Path(text).is_dir()
        or Path(text).is_file()
        or text.lower().endswith(ENDINGS)
    )


def read_native(path: str, reading: HowToRead = AS_THEY_ARE) -> tuple[str, Records]:
    """The name of the data, which is that of their folder, and the records."""
    files = files_of(path)
    found = read_records(files, format=reading.format, options=reading.options)
    return Path(files[0].partition("#")[0]).resolve().parent.name, found.records


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
