"""Tables that are held in something else: in databases, and in data of R.

Every cell by itself becomes text, whatever its neighbours are. A database is named by address and
table or query, `sqlite:///cases.db#people`: SQLite and PostgreSQL are read with SQLAlchemy, DuckDB
with its own library. Nothing is written: the query is undone. A password in an address is never
shown or stored. In `.rds` and `.RData`, every data frame is a table.
"""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.errors import InputError, Place, installing
from graphveil.records.columns import listed, plain
from graphveil.records.memory import is_missing
from graphveil.records.options import ReadingOptions
from graphveil.records.source_file import DAMAGED, Ceiling, Held, SourceFile, named_in, require_file

Texts: TypeAlias = "tuple[pl.DataFrame, dict[str, NDArray[np.bool_]]]"
BYTES_A_CELL = 16
EXACT = 2**53  # up to which distinct whole numbers are distinct floating-point numbers
_EXACT: Mapping[str, NDArray[np.bool_]] = MappingProxyType({})
_ADDRESS = re.compile(
    r"(sqlite|duckdb|postgresql(?:\+psycopg)?|postgres)://[^#]*(?:#.*)?", re.DOTALL
)
_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)
_FIRST_ROW = 1
_MALFORMED = (ValueError, OverflowError, RuntimeError)  # a port, a name or a value that is none
_AT_ONCE = 1_000
_LEAST_FOR_DUCKDB = 1 << 28  # bytes that it needs for itself
_RDS, _RDATA = (b"X\n\0\0\0", b"A\n"), (b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n")
_ENDINGS = (".rds", ".rda", ".rdata")
_BLOCK = 1 << 20
_OBJECTS_A_BYTE = 64  # of memory; text needs half of it, lists of nothing a little more


def library(module: str, extra: str, place: Place) -> ModuleType:
    """A library that comes with an extra, or how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"to read this, the library {module} is needed",
            place=place,
            hint=f"Install it: {installing(extra)}",
        ) from error


def held(
    path: Path,
    name: str,
    frame: pl.DataFrame,
    kind: str,
    first: int,
    options: ReadingOptions,
    ceiling: Ceiling,
    inexact: Mapping[str, NDArray[np.bool_]] = _EXACT,
    header: Sequence[str] = (),
) -> SourceFile:
    """A table as a file of its own; rows without any value are no records.

    Args:
        path: where it comes from.
        name: what messages call it.
        frame: its rows, all text.
        kind: what it is, in words.
        first: the user's number of the first row.
        options: what the steward says.
        ceiling: on the memory that it takes, with all others that are read with it.
        inexact: see `Held`.
        header: the names of its columns before those that are alike were told apart.
    """
    numbers = np.arange(first, first + frame.height, dtype=np.int64)
    if frame.height and frame.width:
        filled = frame.select(
            pl.any_horizontal(pl.all().str.strip_chars().fill_null("") != "")
        ).to_series()
        frame, numbers = frame.filter(filled), numbers[filled.to_numpy()]
        inexact = {column: rows[filled.to_numpy()] for column, rows in inexact.items()}
    table = Held(frame, kind, numbers, inexact, tuple(header) or tuple(frame.columns))
    return SourceFile(path, name, b"", named=named_in(options), held=table, ceiling=ceiling)


def text_columns(names: Sequence[str], columns: Iterable[Sequence[Any]]) -> Texts:
    """A frame of text, and the cells that are inexact numbers, of columns that have some.

    Of two columns with one name the second gets a number.
    """
    texts, inexact = {}, {}
    for name, column in zip(different(names), columns, strict=True):
        texts[name] = pl.Series([cell_text(value) for value in column], dtype=pl.String)
        inexact[name] = np.array([_is_inexact(value) for value in column], dtype=np.bool_)
    return pl.DataFrame(texts), {name: rows for name, rows in inexact.items() if rows.any()}


def _is_inexact(value: Any) -> bool:
    """Whether a number is so large that its neighbours are stored alike."""
    return isinstance(value, float | np.floating) and EXACT <= abs(float(value)) < math.inf


def different(names: Sequence[str]) -> list[str]:
    """The names, where every one that is there already, or is none, gets a number."""
    found: list[str] = []
    known: set[str] = set()
    for number, name in enumerate(names, start=1):
        taken = not name.strip() or plain(name) in known
        found.append(f"{name.strip() or 'column'} ({number})" if taken else name)
        known.add(plain(found[-1]))
    return found


def cell_text(value: Any) -> str | None:
    """What one cell says, as text; whole numbers have no point, and dates are ISO."""
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, dt.date | dt.datetime | np.datetime64):
        text = value.isoformat() if isinstance(value, dt.date) else str(value)
        return text.removesuffix("T00:00:00")
    if isinstance(value, float | np.floating | decimal.Decimal) and math.isfinite(value):
        return str(int(value)) if value == int(value) else str(value)
    return str(value).encode("utf-8", "replace").decode()


def refuse_too_many(cells: int, name: str, options: ReadingOptions) -> None:
    """Refuse a table with more cells than the limit on bytes allows."""
    if cells * BYTES_A_CELL > options.table_bytes:
        from graphveil.records.source_file import too_large

        raise too_large(name, options.table_bytes)


def no_such_part(kind: str, part: str, known: Sequence[str], name: str) -> InputError:
    """The refusal of a sheet or table that is not there."""
    what = f"there is no {kind} '{part[:40]}'" if part else f"it is not said which {kind} is meant"
    return InputError(
        what, place=Place(name), hint=f"There are: {listed(known)}. Write {name}#NAME."
    )


@dataclass
class _Answer:
    """Rows of a query, which become text as they come.

    Attributes:
        name: what messages call it.
        options: what the steward says, of which the limit counts.
        ceiling: on the memory that they take.
    """

    name: str
    options: ReadingOptions
    ceiling: Ceiling
    parts: list[Texts] = field(default_factory=list)
    cells: int = 0

    def fetch(self, names: list[str], some_more: Callable[[int], Any]) -> None:
        """Every row, some at a time; refuses more than may be held."""
        self.parts.append(text_columns(names, [[] for _ in names]))
        while rows := some_more(_AT_ONCE):
            self.cells += len(rows) * len(names)
            refuse_too_many(self.cells, self.name, self.options)
            part = text_columns(names, list(zip(*rows, strict=True)))
            self.ceiling.take(int(part[0].estimated_size()), self.name)
            self.parts.append(part)

    def table(self) -> SourceFile:
        """All rows as a table."""
        frame = pl.concat([part for part, _ in self.parts])
        inexact = {
            column: np.concatenate([
                found.get(column, np.zeros(part.height, np.bool_)) for part, found in self.parts
            ])
            for column in {each for _, found in self.parts for each in found}
        }  # fmt: skip
        kind = "a table of a database"
        return held(
            Path(self.name), self.name, frame, kind, _FIRST_ROW, self.options, self.ceiling, inexact
        )


def is_address(text: str) -> bool:
    """Whether a word is the address of a database, and no path."""
    return _ADDRESS.fullmatch(text) is not None


def table_at(text: str, options: ReadingOptions, ceiling: Ceiling) -> SourceFile:
    """The rows of a table or query."""
    address, _, part = text.partition("#")
    scheme, _, rest = address.partition("://")
    name = f"{scheme}:{rest.rpartition('@')[2].rpartition('/')[2]}"
    asked = _duckdb if scheme == "duckdb" else _sqlalchemy
    if scheme in ("sqlite", "duckdb"):
        _require_file(rest, name)
    own = f"{name}#{'query' if _QUERY.match(part) else part}"
    answer = _Answer(own, options, ceiling)
    asked(address, part, name, answer)
    return answer.table()


def _require_file(rest: str, name: str) -> None:
    path = Path(rest.partition("?")[0].removeprefix("/"))
    if path.exists():
        require_file(path)
    else:
        raise InputError(
            "there is no such database file", place=Place(name),
            hint="Check the path: three slashes before a path from here, four before one from /.",
        )  # fmt: skip


def _sqlalchemy(address: str, part: str, name: str, answer: _Answer) -> None:
    import sqlalchemy as sql

    url = re.sub(r"^postgres(ql)?(\+psycopg)?://", "postgresql+psycopg://", address)
    if url.startswith("postgresql"):
        library("psycopg", "postgresql", Place(name))
    try:
        engine = sql.create_engine(url, poolclass=sql.pool.NullPool)
        with engine.connect() as connection:
            query = part
            if not _QUERY.match(part):
                tables = sql.inspect(connection)
                known = [*tables.get_table_names(), *tables.get_view_names()]
                if part not in known:
                    raise no_such_part("table", part, known, name)
                query = f"SELECT * FROM {engine.dialect.identifier_preparer.quote(part)}"
            streamed = connection.execution_options(stream_results=True)
            result = streamed.execute(sql.text(query))
            answer.fetch(list(result.keys()), result.fetchmany)  # and undone
    except (sql.exc.SQLAlchemyError, *_MALFORMED) as error:
        raise _refused(name) from error


def _duckdb(address: str, part: str, name: str, answer: _Answer) -> None:
    duckdb = library("duckdb", "duckdb", Place(name))
    path = address.partition("://")[2].removeprefix("/")
    try:
        with duckdb.connect(path, read_only=True) as connection:
            most = max(answer.ceiling.most, _LEAST_FOR_DUCKDB)
            connection.execute(f"SET memory_limit = '{most} bytes'")
            query = part
            if not _QUERY.match(part):
                known = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
                if part not in known:
                    raise no_such_part("table", part, known, name)
                query = 'SELECT * FROM "{}"'.format(part.replace('"', '""'))
            result = connection.execute(query)
            names = [column[0] for column in result.description]
            answer.fetch(names, result.fetchmany)
    except (duckdb.Error, *_MALFORMED) as error:
        raise _refused(name) from error


def _refused(name: str) -> InputError:
    return InputError(
        "the database cannot be read, or refuses the query",
        place=Place(name),
        hint="Check address, password and query; a table or query stands behind #.",
    )


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
