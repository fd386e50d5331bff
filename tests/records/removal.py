"""The rule of removal as a property: random files, one person's records deleted, both read.

`python tests/records/removal.py REMOVALS [SEED]` runs many and shows the tally; a violation is
shown with the seed that repeats it. Cases come from `removal_cases`, and are written out by
`removal_files`. The whole way from bytes to steps is gone: reading, the study's refusal of people
by links, resolving, intake.
"""

from __future__ import annotations

import csv
import datetime as dt
import os
import random
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # one process among others: small tables need no threads
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import rdata
import xlsxwriter
from numpy.typing import NDArray

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError, Place
from graphveil.graph.intake.appending import append, filtered
from graphveil.graph.intake.records import Records
from graphveil.graph.intake.resolving import Resolved, dated_only, resolve, until_end
from graphveil.graph.sequence import GraphSequence
from graphveil.records import delimited, from_arrays, from_frames, from_rows, read_records, spaced
from graphveil.study.records.findings import require_listed
from removal_cases import FORMATS_OF, Case, random_case
from removal_files import ONE_FORMAT, WRITERS, Written

YEARS = Calendar.yearly(2001, 2006)


@contextmanager
def _as_if_large(fast: bool) -> Iterator[None]:
    before = delimited._WORTH_THE_TRY, spaced._WORTH_THE_TRY
    if fast:
        delimited._WORTH_THE_TRY = spaced._WORTH_THE_TRY = 0
    try:
        yield
    finally:
        delimited._WORTH_THE_TRY, spaced._WORTH_THE_TRY = before


def _object(name: str, style: str) -> Any:
    """An id as Python people have it: numbers are numbers, now and then floats."""
    if name.isdecimal() and str(int(name)) == name and len(name) < 16:
        return float(name) if style == "quoted" else int(name)
    return name


def _column(rows: Sequence[tuple[Any, ...]], place: int) -> list[Any]:
    return [row[place] for row in rows]


def in_memory(case: Case) -> Records:
    """The records of a case as Python people hand them over."""
    nodes = [(_object(n.name, n.style), n.time or None) for n in case.nodes if n.style != "blank"]
    links = [
        (_object(e.source, e.style), _object(e.target, e.style), e.time or None) for e in case.links
    ]
    if case.way == "rows":
        return from_rows(nodes, links)
    node, time = (_column(nodes, place) for place in range(2))
    source, target, own = (_column(links, place) for place in range(3))
    if case.way == "arrays":
        return from_arrays(node, time, source, target, own)
    return from_frames(
        pd.DataFrame({"node": node, "time": np.array(time, dtype=object)}),
        pd.DataFrame({"source": source, "target": target, "time": np.array(own, dtype=object)}),
    )


def _records(case: Case, folder: Path) -> Records:
    if case.way not in WRITERS:
        return in_memory(case)
    options = replace(case.options, mark_bad=case.skip)
    with _as_if_large(case.fast):
        insisted = ONE_FORMAT.get(case.way) if case.insisted else None
        return read_records(written_to(case, folder), format=insisted, options=options).records


def written_to(case: Case, folder: Path) -> list[Path | str]:
    """The files of a case, in a folder."""
    paths: list[Path | str] = []
    for name, text in WRITERS[case.way](case).files.items():
        (folder / name).write_text(text, encoding=case.encoding, newline="")
        paths.append(folder / name)
    if case.way in CONTAINERS:
        paths = CONTAINERS[case.way]([folder / path for path in paths], folder)
    return paths


def _as_workbook(paths: Sequence[Path], folder: Path) -> list[Path | str]:
    """The tables as sheets; whole numbers are cells of numbers, and days cells of dates."""
    to = folder / "book.xlsx"
    with xlsxwriter.Workbook(to) as book:
        day = book.add_format({"num_format": "dd/mm/yyyy"})
        for path in paths:
            sheet = book.add_worksheet(path.stem)
            with path.open(encoding="utf-8", newline="") as file:
                for row, cells in enumerate(csv.reader(file)):
                    for column, cell in enumerate(cells):
                        value = _cell(cell)
                        style = [day] if isinstance(value, dt.datetime) else []
                        write = sheet.write_string if isinstance(value, str) else sheet.write
                        write(row, column, value, *style)
    return [to]


def _rows_of(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header of a table, and its rows, each as long."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, [[*row, *[""] * len(header)][: len(header)] for row in rows]


def _as_database(paths: Sequence[Path], folder: Path) -> list[Path | str]:
    """The tables in a database, and their addresses; whole numbers are numbers."""
    to = folder / "cases.db"
    to.unlink(missing_ok=True)
    with closing(sqlite3.connect(to)) as database, database:
        for path in paths:
            header, rows = _rows_of(path)
            columns = ", ".join(f'"{name}"' for name in header)
            database.execute(f"CREATE TABLE {path.stem} ({columns})")
            places = ", ".join("?" * len(header))
            for row in rows:
                cells = [_number(cell) for cell in row]
                database.execute(f"INSERT INTO {path.stem} VALUES ({places})", cells)
    return [f"sqlite:///{to}#{path.stem}" for path in paths]


def _as_duckdb(paths: Sequence[Path], folder: Path) -> list[Path | str]:
    """The tables in a database whose columns have types: text."""
    to = folder / "cases.db"
    to.unlink(missing_ok=True)
    with duckdb.connect(str(to)) as database:
        for path in paths:
            header, rows = _rows_of(path)
            columns = ", ".join(f'"{name}" VARCHAR' for name in header)
            database.execute(f'CREATE TABLE "{path.stem}" ({columns})')
            for row in rows:
                places = ", ".join("?" * len(header))
                database.execute(f'INSERT INTO "{path.stem}" VALUES ({places})', row)
    return [f"duckdb:///{to}#{path.stem}" for path in paths]


def _as_r_data(paths: Sequence[Path], folder: Path) -> list[Path | str]:
    """The tables as data frames of R, whose empty cells are NA."""
    frames = {}
    for path in paths:
        header, rows = _rows_of(path)
        cells = np.array([[cell or None for cell in row] for row in rows], dtype=object)
        found = pd.DataFrame(
            {place: pd.Series(column, dtype=object) for place, column in enumerate(
                cells.T if len(rows) else [[] for _ in header])}
        )  # fmt: skip
        found.columns = pd.Index(header, dtype=object)
        frames[path.stem] = found
    rdata.write_rds(folder / "cases.rds", frames)
    return [folder / "cases.rds"]


def _as_parquet(paths: Sequence[Path], folder: Path) -> list[Path | str]:
    """The tables as Parquet, whose empty cells are null."""
    found: list[Path | str] = []
    for path in paths:
        header, rows = _rows_of(path)
        texts = [[row[place] or None for row in rows] for place in range(len(header))]
        schema = dict.fromkeys(header, pl.String)
        frame = pl.DataFrame(dict(zip(header, texts, strict=True)), schema=schema)
        found.append(folder / f"{path.stem}.parquet")
        frame.write_parquet(found[-1])
    return found


def _number(text: str) -> int | str:
    value = _cell(text)
    return value if isinstance(value, int) else text


def _cell(text: str) -> Any:
    if text.isdecimal() and str(int(text)) == text and len(text) < 12:
        return int(text)
    try:
        return dt.datetime.fromisoformat(text) if len(text) == 10 else text
    except ValueError:
        return text


CONTAINERS: dict[str, Callable[[Sequence[Path], Path], list[Path | str]]] = {
    "workbook": _as_workbook,
    "matrix in a workbook": _as_workbook,
    "database": _as_database,
    "duckdb": _as_duckdb,
    "r": _as_r_data,
    "parquet": _as_parquet,
}
Taken = tuple[list[tuple[str, int]], list[tuple[str, str, int]]]


def taken(case: Case, folder: Path) -> Taken | InputError:
    """Everybody in the order of labels with their step, and links as they are taken; or why not."""
    try:
        records = _records(case, folder)
        require_listed(records)

        def take(some: Records) -> GraphSequence:
            empty = GraphSequence.begin(YEARS)
            return append(empty, _resolved(case, some), late="join").sequence

        return _told(filtered(records, take).taken if case.skip else take(records))
    except InputError as refused:
        return refused


def _resolved(case: Case, records: Records) -> Resolved:
    """As a study does it, in which nobody is known yet."""
    rules = replace(case.rules, undated="first") if case.dated_only else case.rules
    found = resolve(records, YEARS, rules, beyond=case.until_end)
    if case.dated_only:
        found = dated_only(found, _nobody)
    return until_end(found, YEARS.last_step, _nobody) if case.until_end else found


def _nobody(ids: pl.Series) -> NDArray[np.bool_]:
    return np.zeros(len(ids), np.bool_)


def _told(sequence: GraphSequence) -> Taken:
    ids = [str(name) for name in sequence.ids.to_list()]
    steps = np.searchsorted(sequence.node_offsets, np.arange(len(ids)), side="right") - 1
    people = list(zip(ids, steps.tolist(), strict=True))
    links = [
        (ids[int(entry) >> 2], ids[newer], int(steps[newer]))
        for newer in range(len(ids))
        for entry in sequence.entries[sequence.offsets[newer] : sequence.offsets[newer + 1]]
    ]
    late = sequence.late
    at = np.searchsorted(late.offsets, np.arange(len(late)), side="right") - 1
    links += [
        (ids[int(entry) >> 2], ids[int(newer)], int(step))
        for entry, newer, step in zip(late.entries, late.newer, at, strict=True)
    ]
    return people, links


def violations(case: Case, folder: Path) -> list[str]:
    """What is wrong between the records with each person in turn and those without."""
    whole = taken(case, folder)
    found = []
    for person in case.persons():
        said = _violation(case, person, whole, taken(case.without(person), folder))
        if said:
            found.append(f"without {person!r}: {said}")
    return found


def _violation(
    case: Case, person: str, whole: Taken | InputError, rest: Taken | InputError
) -> str | None:
    if isinstance(whole, InputError):
        if isinstance(rest, InputError) or (not case.skip and _is_own(case, person, whole)):
            return None
        if says_what_others_are(case, person):
            return None
        return f"refused for what is not theirs: {whole}"
    if says_what_others_are(case, person):
        return None  # `add` stops: the file is unknown, or nearly all lines would be set aside
    if isinstance(rest, InputError):
        return f"refused without them: {rest}"
    people = [each for each in whole[0] if each[0] != person]
    links = [each for each in whole[1] if person not in each[:2]]
    if people != rest[0]:
        return f"people or their order: {people} and {rest[0]}"
    return None if links == rest[1] else f"links or their order: {links} and {rest[1]}"


def _is_own(case: Case, person: str, refused: InputError) -> bool:
    """Whether a refusal is about a record that names the person."""
    if refused.place is None or case.way not in WRITERS:
        return case.way not in WRITERS
    written = WRITERS[case.way](case)
    names = set(written.owners.get((refused.place.source, refused.place.row or 0), ()))
    if "snap" in case.way:  # without a header the first record says what the others have to be
        names |= written.owners.get((refused.place.source, _first(written, refused.place)), set())
    return person in {case.person(name) for name in names}


def says_what_others_are(case: Case, person: str) -> bool:
    """Whether a person stands in the first line of a file without a header.

    If that line is of another kind than all others, these are set aside, which `add` asks about.
    """
    if "snap" not in case.way:
        return False
    written, width = WRITERS[case.way](case), 3 if "temporal" in case.way else 2
    firsts: list[tuple[str, int]] = []
    for name, text in written.files.items():
        for number, line in enumerate(text.split("\n"), start=1):
            firsts.append((name, number))
            if line[:1] != "#" and len(line.split()) == (2 if name == "dates.txt" else width):
                break
    named = {name for place in firsts for name in written.owners.get(place, set())}
    return person in {case.person(name) for name in named}


def _first(written: Written, place: Place) -> int:
    """The line of the first record of a file."""
    lines = written.files[place.source].split("\n")
    return next((n for n, line in enumerate(lines, 1) if line and line[0] != "#"), 0)


@dataclass
class Tally:
    """How many removals of each way were tried, and which of them broke the rule."""

    tried: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        tried = [f"{way:26} {count:8,}" for way, count in sorted(self.tried.items())]
        total = f"{self.tried.total():,} removals, {len(self.broken)} violations"
        return "\n".join([*tried, *self.broken[:20], total])


def run(
    removals: int,
    seed: int,
    ways: Sequence[str] = tuple(FORMATS_OF),
    watch: Callable[[Tally], object] = lambda tally: None,
) -> Tally:
    """Remove everybody in turn from random files, way after way, until there are so many.

    The same seed gives the same files.
    """
    tally, number = Tally(), 0
    with tempfile.TemporaryDirectory() as room:
        while tally.tried.total() < removals:
            way = ways[number % len(ways)]
            case = random_case(random.Random(f"{seed}/{number}"), way)
            said = violations(case, Path(room))
            tally.tried[way] += len(case.persons())
            tally.broken += [f"seed {seed}, file {number}, {way}, {each}" for each in said]
            number += 1
            if number % 1000 == 0:
                watch(tally)
    return tally


def main() -> None:
    """Run cases and show the tally, at the end and now and then."""
    removals, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tally = run(removals, seed, watch=lambda tally: print(tally, flush=True))
    print(tally)
    sys.exit(bool(tally.broken))


if __name__ == "__main__":
    main()
