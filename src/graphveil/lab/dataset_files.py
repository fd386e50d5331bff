"""Networks from files: with a calendar that fits, supplied by the user, and written as a pair.

The calendar is read off the data, which is fine for an experiment and never for a release.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from graphveil.calendar.calendar import Calendar
from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Records
from graphveil.records import ReadingOptions, read_records
from graphveil.records.held_tables import is_address
from graphveil.records.options import DEFAULTS

if TYPE_CHECKING:
    from graphveil.graph.sequence import GraphSequence


# Files that the user supplies: which are needed, what they contain, where they come from.


ENDINGS = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True)
class SuppliedFile:
    """A file that a loader needs.

    Attributes:
        name: its name; without an ending, any of `ENDINGS` may follow.
        holds: its columns, or whatever else it contains.
        origin: where the public original is described, as a sentence; empty if there is none.
    """

    name: str
    holds: str
    origin: str = ""

    def within(self, folder: Path) -> Path:
        """The file in the user's folder.

        Raises:
            InputError: If it is missing; says what is expected.
        """
        names = [self.name] if Path(self.name).suffix else [self.name + end for end in ENDINGS]
        for name in names:
            if (folder / name).is_file():
                return folder / name
        raise self.missing(str(folder), " or ".join(names))

    def missing(self, place: str, name: str) -> InputError:
        """The refusal that says which file to supply."""
        hint = f"Supply it with {self.holds}."
        return InputError(
            f"the file {name} is missing",
            place=Place(place),
            hint=f"{hint} {self.origin}" if self.origin else hint,
        )


def require_folder(place: str, files: tuple[SuppliedFile, ...], usage: str) -> Path:
    """The user's folder, before anything is read."""
    folder = Path(place)
    if not place:
        needed = "; ".join(f"{file.name} with {file.holds}" for file in files)
        origin = next((f" {file.origin}" for file in files if file.origin), "")
        raise InputError(
            "the files of this dataset are not part of graphveil",
            hint=f"Name your folder: {usage}. Needed: {needed}.{origin}",
        )
    if not folder.is_dir():
        raise InputError("there is no such folder", place=Place(place), hint=f"Usage: {usage}.")
    return folder


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
    read = read_records(files, format=reading.format, options=reading.options)
    return Path(files[0].partition("#")[0]).resolve().parent.name, read.records


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


# Writing a native pair: both files appear at once, and nothing is overwritten.


def require_new(folder: Path) -> None:
    """Refuse a folder that holds anything, before the work of filling it."""
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists() or folder.is_symlink():
        raise InputError(
            "something is already there, and is not overwritten",
            place=Place(str(folder)),
            hint="Choose a folder that does not exist yet.",
        )


def write_pair(records: Records, folder: Path) -> None:
    """Write nodes.csv and edges.csv into a new folder, in one move."""
    require_new(folder)
    hidden = folder.with_name(f".{folder.name}-{uuid4().hex}")
    try:
        hidden.mkdir(parents=True)
        records.nodes.frame.write_csv(hidden / "nodes.csv")
        records.edges.frame.write_csv(hidden / "edges.csv")
        hidden.rename(folder)
    except OSError as error:
        raise InputError(
            "the files cannot be written",
            place=Place(str(folder)),
            hint="Choose a folder that does not exist yet, in a place where you may write.",
        ) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)  # after the move there is none


# The paper's table of datasets: sizes and largest degrees, of the paper's data and of ours.


@dataclass(frozen=True)
class Summary:
    """A line of the table.

    Attributes:
        nodes: how many there are in the end.
        edges: how many there are in the directed version.
        steps: how many releases there can be; the paper's time span in years.
        max_degree: the largest degree of the undirected version.
        max_in_degree: the largest in-degree of the directed version.
        max_out_degree: the largest out-degree of the directed version.
    """

    nodes: int
    edges: int
    steps: int
    max_degree: int
    max_in_degree: int
    max_out_degree: int


PAPER = {
    "hiv-trace": Summary(1660, 456, 21, 13, 12, 8),
    "patents": Summary(91614, 475427, 15, 247, 211, 246),
    "acl-signed": Summary(9038, 5249, 24, 36, 19, 36),
    "synthetic-1": Summary(1990, 665, 20, 5, 1, 4),
    "synthetic-2": Summary(1088, 588, 20, 6, 1, 5),
}


def summarise(directed: GraphSequence) -> Summary:
    """The line of a directed sequence (true counts: private)."""
    from graphveil.graph.degrees import degrees

    both, either = degrees(directed), degrees(directed.undirected())
    return Summary(
        nodes=directed.nodes,
        edges=int(both.outward.sum(dtype="int64")),
        steps=directed.steps,
        max_degree=int(either.outward.max(initial=0)),
        max_in_degree=int(both.inward.max(initial=0)),
        max_out_degree=int(both.outward.max(initial=0)),
    )
