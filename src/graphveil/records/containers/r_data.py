"""R's data, `.rds` and `.RData`: every data frame in it is a table, as in an epicontacts object."""

from __future__ import annotations

import datetime as dt
import gzip
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphveil.errors import InputError, Place
from graphveil.records.columns import plain
from graphveil.records.containers.held_tables import (
    held,
    library,
    no_such_part,
    refuse_too_many,
    text_columns,
)
from graphveil.records.memory import is_missing
from graphveil.records.options import ReadingOptions
from graphveil.records.source_file import DAMAGED, Ceiling, SourceFile

_RDS, _RDATA = (b"X\n\0\0\0", b"A\n"), (b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n")
_ENDINGS = (".rds", ".rda", ".rdata")
_FIRST_ROW = 1
_BLOCK = 1 << 20
_OBJECTS_A_BYTE = 64  # of memory; text needs half of it, lists of nothing a little more


def is_r_data(path: Path) -> bool:
    """Whether a file holds data of R, by its content; text needs the ending as well."""
    head = _beginning(path)
    named = path.suffix.lower() in _ENDINGS
    return head.startswith((_RDS[0], *_RDATA)) or (named and head.startswith(_RDS[1]))


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(8)
        if head.startswith(b"\x1f\x8b"):
            with gzip.open(path) as packed:
                return packed.read(8)
    except DAMAGED:
        return b""
    return head


def tables_in_r_data(
    path: Path, part: str, name: str, options: ReadingOptions, ceiling: Ceiling
) -> list[SourceFile]:
    """The data frame of a name, or every one there is."""
    rdata = library("rdata", "r", Place(name))
    _take(path, name, ceiling)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about classes of R, whose values are all that counts
            known = _short_sequences(rdata, name, ceiling)
            parsed = rdata.parser.parse_file(path, altrep_constructor_dict=known)
            data = rdata.conversion.convert(parsed, _constructors(rdata))
    except InputError:
        raise
    except Exception as error:  # whatever the library meets in a damaged file
        raise InputError(
            "the file cannot be read as data of R",
            place=Place(name),
            hint="Save it again with saveRDS, or write CSV.",
        ) from error
    frames = dict(_frames(data, ""))
    chosen = {
        each: frame for each, frame in frames.items() if not part or plain(each) == plain(part)
    }
    if not chosen:
        raise no_such_part("data frame", part, list(frames), name)
    return [_table(path, f"{name}#{each}" if each else name, frame, options, ceiling)
            for each, frame in chosen.items()]  # fmt: skip


def _take(path: Path, name: str, ceiling: Ceiling) -> None:
    """Take what the objects of a file would need, before any of them is made."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as content:
            while block := content.read(_BLOCK):
                ceiling.take(_OBJECTS_A_BYTE * len(block), name)
    except DAMAGED:
        return  # the reader will say so


def _short_sequences(rdata: Any, name: str, ceiling: Ceiling) -> dict[bytes, Any]:
    """How sequences that are stored as their first and last are made, within the ceiling."""

    def bounded(make: Any) -> Any:
        def made(state: Any) -> Any:
            ceiling.take(_OBJECTS_A_BYTE * max(int(state.value[0]), 0), name)
            return make(state)

        return made

    known = rdata.parser.DEFAULT_ALTREP_MAP
    sequences = {key: bounded(make) for key, make in known.items() if key.startswith(b"compact")}
    return {**known, **sequences}


def _constructors(rdata: Any) -> dict[Any, Any]:
    """How the library is to make what it does not know: days and moments."""
    return {**rdata.conversion.DEFAULT_CLASS_MAP, "Date": _days, "POSIXct": _moments}


def _days(numbers: Any, _: Any) -> list[str | None]:
    begin = dt.date(1970, 1, 1)
    return [_since(begin, n, "days", "") for n in numbers]


def _moments(numbers: Any, _: Any) -> list[str | None]:
    begin = dt.datetime(1970, 1, 1)
    return [_since(begin, n, "seconds", "Z") for n in numbers]


def _since(begin: dt.date, number: Any, unit: str, zone: str) -> str | None:
    """So much time after a start; a value that is no time is passed on as it is."""
    if is_missing(number):
        return None
    try:
        return (begin + dt.timedelta(**{unit: float(number)})).isoformat() + zone
    except (OverflowError, ValueError):
        return str(number)


def _frames(data: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The data frames in an object, or in what it holds, by name."""
    if hasattr(data, "columns") and hasattr(data, "itertuples"):
        yield name, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _frames(value, str(key))


def _table(
    path: Path, name: str, frame: Any, options: ReadingOptions, ceiling: Ceiling
) -> SourceFile:
    refuse_too_many(frame.shape[0] * frame.shape[1], name, options)
    names = [str(column) for column in frame.columns]
    columns = [frame.iloc[:, place].tolist() for place in range(len(names))]
    texts, inexact = text_columns(names, columns)
    return held(path, name, texts, "a data frame", _FIRST_ROW, options, ceiling, inexact)
