"""Tables that Spark reads, at a path or under a name: each row of nodes or edges with its place.

Which table lists people and which links is seen by their columns; most options are for files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote
from uuid import uuid4

from graphveil.backends.spark.graph import Workspace
from graphveil.backends.spark.jobs import failing_as_ours
from graphveil.errors import InputError, ParameterError, Place
from graphveil.graph.groups import GROUP, column_of
from graphveil.graph.intake.records import AWAITED
from graphveil.records import ReadFiles, ReadingOptions
from graphveil.records.columns import EDGES, NODES, match_columns
from graphveil.records.format import ParseReport
from graphveil.records.options import DEFAULTS
from graphveil.records.reading import unlabelled
from graphveil.records.selection import labels_in

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from graphveil.graph.intake.records import Records

_ROW_BITS = 40  # of a place: the row; the bits above them are the file
_SHOWN = 60
_WANTED = {"nodes": NODES, "edges": EDGES}
_IDS = ("string", "byte", "short", "integer", "long", "float", "double", "decimal", "void")
_TIMES = (*_IDS, "date", "timestamp", "timestamp_ntz")
_LABELS = (*_IDS, "boolean", "date")
_WHOLE = ("byte", "short", "integer", "long")

PAIR = "pair"  # what tables of people and links are called, whichever reader reads them
_UNDERSTOOD = (
    "time", "edge_time", "id", "source", "target", "day_first", "undated", "most_bytes", "mark_bad",
    "group",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class SparkTable:
    """Rows of nodes or edges under our column names, and the column `place`.

    Those of nodes have a column of labels for each group that one was named for.

    Attributes:
        frame: the rows, which nobody has read yet.
        kind: "nodes" or "edges".
        sources: what messages call the files, by their number in a place; there may be more
            numbers than files.
        names: the user's names of our columns.
        numbered: whether rows have numbers, as those of Parquet files have.
    """

    frame: DataFrame = field(repr=False)
    kind: str
    sources: tuple[str, ...]
    names: Mapping[str, str]
    numbered: bool = True

    @property
    def whole_ids(self) -> bool:
        """Whether all its ids are whole numbers by their types."""
        ids = ("node",) if self.kind == "nodes" else ("source", "target")
        return all(_name(self.frame.schema[column].dataType) in _WHOLE for column in ids)

    @cached_property
    def rows(self) -> int:
        """How many rows it has, from the footers of its Parquet files if possible."""
        with failing_as_ours():
            return int(self.frame.count())

    def place(self, place: int, column: str) -> Place:
        """Where the user finds a row."""
        file, row = divmod(place, 1 << _ROW_BITS)
        number = row + 1 if self.numbered else None
        return Place(self.sources[file], number, self.names.get(column, column))

    @property
    def end(self) -> int:
        """A place behind all of its rows, and in front of those of a file that would follow."""
        return len(self.sources) << _ROW_BITS

    def in_files(self, workspace: Workspace) -> SparkTable:
        """The same rows, each with a place of its own: of a table without files, a copy."""
        if self.numbered:
            return self
        from pyspark.sql import functions as F  # noqa: N812

        address = workspace.for_spark(f"copy-{uuid4().hex}")
        plain = [
            F.col(ours).cast("string" if _name(kind.dataType) == "void" else kind.dataType)
            for ours, kind in ((each, self.frame.schema[each]) for each in self.names)
        ]
        with failing_as_ours():
            self.frame.select(*plain).write.parquet(address)
            copy = self.frame.sparkSession.read.parquet(address)
        files = tuple(sorted(copy.inputFiles()))
        sources = self.sources * max(1, len(files))
        return replace(self, frame=copy.withColumns({"place": _place(files)}), sources=sources)


@dataclass(frozen=True, eq=False)
class TableRecords:
    """Records as tables that Spark reads: what `Records` is for tables in memory.

    Attributes:
        nodes: columns `node` and `time`.
        edges: columns `source` and `target`, perhaps `time`; None if there are none.
        day_first: whether 7/8/2021 is the 7th of August; None if nobody stated it.
        by_links: empty; nobody is listed only because of links.
    """

    nodes: SparkTable
    edges: SparkTable | None
    day_first: bool | None = None
    by_links: tuple[str, ...] = ()


def table_at(
    session: SparkSession,
    where: str,
    kind: str,
    called: Mapping[str, str] | None = None,
    groups: Mapping[str, str | None] | None = None,
) -> SparkTable:
    """The table at a path (Parquet) or under a name of the catalogue.

    Args:
        session: that reads it.
        where: a file or folder of Parquet, also at an address such as s3a://…; or a table's name.
        kind: "nodes" or "edges".
        called: the user's names of our columns, where they are other ones.
        groups: the column of people's labels in each group, in a table of nodes; None if it has
            none, so that everybody is unknown.
    """
    return table_of(read(session, where), where, kind, called, groups)


def awaited_table(session: SparkSession, files: Sequence[str], behind: int) -> SparkTable:
    """Links that wait for somebody, from files of text; their places follow another table's."""
    from pyspark.sql import functions as F  # noqa: N812

    with failing_as_ours():
        frame = session.read.schema("source string, target string, time string").parquet(*files)
        placed = frame.withColumns({"place": _place(tuple(sorted(frame.inputFiles()))) + behind})
    columns = {name: name for name in ("source", "target", "time")}
    sources = ("",) * (behind >> _ROW_BITS) + (AWAITED,) * len(files)
    return SparkTable(placed.select(*map(F.col, (*columns, "place"))), "edges", sources, columns)


def table_of(
    frame: DataFrame,
    where: str,
    kind: str,
    called: Mapping[str, str] | None = None,
    groups: Mapping[str, str | None] | None = None,
) -> SparkTable:
    """The same for rows that were read already."""
    columns = match_columns(frame.columns, _WANTED[kind], named(where), called or {})
    numbered = is_path(where)
    files = tuple(sorted(frame.inputFiles())) if numbered else ()
    placed = frame.withColumns({"place": _place(files) if numbered else _anywhere()})
    labels = {column_of(group): column for group, column in (groups or {}).items()}
    chosen = placed.select(
        *(_column(placed, theirs).alias(ours) for ours, theirs in columns.items()),
        *(_column(placed, theirs).alias(ours) for ours, theirs in labels.items()),
        "place",
    )
    columns |= {ours: theirs or "" for ours, theirs in labels.items()}
    _require_types(chosen, columns, where)
    sources = tuple(named(file) for file in files) or (named(where),)
    return SparkTable(chosen, kind, sources, columns, numbered)


def _column(rows: DataFrame, name: str | None) -> Column:
    """A column by its name, which may have dots in it; empty text if it has no name."""
    from pyspark.sql import functions as F  # noqa: N812

    if name is None:
        return F.lit(None).cast("string")
    return rows["`{}`".format(name.replace("`", "``"))]


def read(session: SparkSession, where: str) -> DataFrame:
    """The rows at a path or under a name."""
    try:
        if not is_path(where):
            return session.table(where)
        with failing_as_ours():
            return session.read.parquet(where)
    except Exception as error:  # analysis errors of all kinds
        raise InputError(
            "there is no such Parquet file or folder, and no table of that name that Spark reads",
            place=Place(named(where)),
            hint="Name a Parquet file or folder, or a table; convert other formats to Parquet.",
        ) from error


def is_path(where: str) -> bool:
    """Whether this is a path, not the name of a table."""
    return "/" in where or "\\" in where or where.endswith(".parquet")


def holds(frame: DataFrame, called: Mapping[str, str]) -> str:
    """Which kind of table this is, by its columns."""
    names = {name.strip().lower() for name in frame.columns}
    ends = {called.get(end, end).strip().lower() for end in ("source", "target")}
    return "edges" if ends <= names else "nodes"


def named(where: str) -> str:
    """What messages call a path or a table."""
    return unquote(PurePosixPath(where.rstrip("/")).name) or where


def _place(files: tuple[str, ...]) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    row = F.col("_metadata.row_index").cast("long")
    if len(files) <= 1:
        return row
    numbers = F.create_map(*(F.lit(x) for n, file in enumerate(files) for x in (file, n)))
    file = F.element_at(numbers, F.col("_metadata.file_path")).cast("long")
    return F.shiftleft(file, _ROW_BITS) + row


def _anywhere() -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.lit(0).cast("long")


def _name(kind: DataType) -> str:
    return kind.typeName().partition("(")[0]


def _require_types(frame: DataFrame, columns: Mapping[str, str], where: str) -> None:
    """Refuse columns whose type can hold no ids, no times or no labels."""
    for ours, theirs in columns.items():
        kind = frame.schema[ours].dataType
        allowed, what, hint = _held_by(ours)
        if _name(kind) not in allowed:
            raise InputError(
                f"the column has the type {kind.simpleString()[:_SHOWN]}, which holds no {what}",
                place=Place(named(where), column=theirs),
                hint=hint,
            )


def _held_by(column: str) -> tuple[tuple[str, ...], str, str]:
    """The types that one of our columns may have, what it holds, and how to store that."""
    if column == "time":
        return _TIMES, "times", "Store times as dates, timestamps, whole numbers or text."
    if column.startswith(GROUP):
        return _LABELS, "labels", "Store labels as text or as numbers."
    return _IDS, "ids", "Store ids as text or as whole numbers."


# Options, and which table lists people and which links.


def require_understood(options: ReadingOptions) -> None:
    """Refuse options that readers of files understand, and Spark's tables do not."""
    for name in (each.name for each in fields(DEFAULTS)):
        if name not in _UNDERSTOOD and getattr(options, name) != getattr(DEFAULTS, name):
            raise _for_files(name.replace("_", "-"))


def _for_files(name: str) -> ParameterError:
    return ParameterError(
        name,
        "is for files that the local engine reads",
        hint="Prepare a table, a view or Parquet files with the rows that count, and name those.",
    )


def told_apart(
    session: SparkSession, tables: Sequence[str], options: ReadingOptions
) -> tuple[SparkTable, SparkTable | None]:
    """The table of nodes and that of edges, by their columns."""
    asked = {"node": options.id, "source": options.source, "target": options.target}
    called = {ours: theirs for ours, theirs in asked.items() if theirs is not None}
    times = {"nodes": options.time, "edges": options.edge_time}
    found: dict[str, SparkTable] = {}
    for where in tables:
        frame = read(session, where)
        kind = holds(frame, called)
        if kind in found:
            raise ParameterError(
                "files", f"two of them hold {kind}", hint="Put the files into one folder."
            )
        dated = times[kind]
        time = {} if dated is None else {"time": dated}
        groups = _labels_in(frame, where, options) if kind == "nodes" else {}
        found[kind] = table_of(frame, where, kind, {**called, **time}, groups)
    if "nodes" not in found:
        raise ParameterError("files", "none of them lists nodes", hint="Name a table of nodes.")
    return found["nodes"], found.get("edges")


def _labels_in(frame: DataFrame, where: str, options: ReadingOptions) -> dict[str, str | None]:
    """The column of each group, None of one that the table is said not to have.

    Refuses a column that was named and is not there.
    """
    groups = dict(labels_in(frame.columns, options))
    for group, column in options.named_groups:
        if group not in groups:
            raise unlabelled(group, column, [named(where)])
    return {group: groups.get(group) for group in options.group_columns}


def require_possible(
    format: str | None,  # noqa: A002
    options: ReadingOptions,
) -> None:
    """Refuse what only readers of files can do, before a session is started."""
    if format:
        raise _for_files("format")
    require_understood(options)


def tables_of(session: SparkSession, files: Sequence[str], options: ReadingOptions) -> ReadFiles:
    """The records in tables that Spark reads; they are not read yet."""
    require_understood(options)  # also what was given for files before
    nodes, edges = told_apart(session, files, options)
    records = cast("Records", TableRecords(nodes, edges, options.day_first))
    return ReadFiles(records, ParseReport((), ()), (PAIR,), (PAIR,), {PAIR: {}}, None)
