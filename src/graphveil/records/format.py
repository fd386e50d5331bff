"""What a file format is: how its files are recognised, and how they become tables.

Each format is one file of `graphveil.records.readers`; adding one is adding it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from graphveil.deferred import pl
from graphveil.errors import InputError
from graphveil.graph.intake.records import Table, counted
from graphveil.records.options import Filter, ReadingOptions, Threshold
from graphveil.records.source_file import SourceFile
from graphveil.registry import Registry

# The parse report: what each file was taken for, and what its rows met on the way.
#
# It holds true counts and row numbers and belongs to the operator: it is private.


_SHOWN = 5  # row numbers that a note tells


@dataclass(frozen=True)
class Note:
    """A rule, how many rows met it, and the numbers of the first few.

    Attributes:
        rule: what the rows have in common and what was done, in words.
        count: how many there are; None for a note on the file as a whole.
        rows: the first of them, as the user counts.
    """

    rule: str
    count: int | None = None
    rows: tuple[int, ...] = ()

    @classmethod
    def of_rows(cls, rule: str, count: int, rows: Iterable[int] = ()) -> Note:
        """A note that keeps the first few row numbers only."""
        return cls(rule, count, tuple(int(row) for row in islice(rows, _SHOWN)))

    def __str__(self) -> str:
        if self.count is None:
            return self.rule
        if not self.rows:
            return counted(self.count, self.rule)
        more = ", …" if self.count > len(self.rows) else ""
        word = "row" if self.count == 1 else "rows"
        rows = ", ".join(map(str, self.rows))
        return f"{counted(self.count, self.rule)} ({word} {rows}{more})"


@dataclass(frozen=True)
class FileReport:
    """What happened to one file.

    Attributes:
        name: the file.
        format: the format it was read in.
        why: by what it was recognised.
        nodes: rows of nodes handed on; None if the file lists none.
        edges: rows of edges handed on; None if the file lists none.
        notes: the rules that some of its rows met.
    """

    name: str
    format: str
    why: str
    nodes: int | None
    edges: int | None
    notes: tuple[Note, ...] = ()

    def lines(self) -> list[str]:
        """The file in words: a headline, then one line per note."""
        rows = [
            counted(count, f"rows of {kind}")
            for count, kind in ((self.nodes, "nodes"), (self.edges, "edges"))
            if count is not None
        ]
        headline = f"{self.name}: read as {self.format} ({self.why}); {', '.join(rows)}"
        return [headline, *(f"  {note}" for note in self.notes)]


@dataclass(frozen=True)
class ParseReport:
    """What happened to all files that were read together; private."""

    files: tuple[FileReport, ...]
    notes: tuple[Note, ...] = ()

    def lines(self) -> list[str]:
        """All files in words, one after the other."""
        lines = [line for file in self.files for line in file.lines()]
        return [*lines, *map(str, self.notes)]


Role: TypeAlias = Literal["nodes", "edges", "network"]


@dataclass(frozen=True)
class Claim:
    """A format's statement that it can read a file.

    Attributes:
        role: what the file lists.
        why: by what it was recognised, in words.
        columns: the user's names of the columns that would be read, if it is a table with
            names; two formats that would read the same columns do not contradict each other.
        insisted: whether the user insists, so that what is merely unlikely is accepted in every
            line.
        question: what has to be asked before the file can be read, if anything.
        answer: how to answer it.
    """

    role: Role
    why: str
    columns: tuple[str, ...] = ()
    insisted: bool = False
    question: str = ""
    answer: str = ""


@dataclass(frozen=True, eq=False)
class ParsedFile:
    """What one file gave.

    Attributes:
        report: what happened to its rows.
        nodes: its tables of nodes, none if it lists no nodes.
        edges: its tables of edges.
        directed: whether the file says that its edges have a direction; None if it does not say.
        derived: nodes that it does not list, made from its edges; they count only if no file
            lists nodes.
        linked_only: whether it lists nobody without a link.
        times: the columns of those that were named that date its nodes, if it is a table.
        without_time: the refusal to raise if no other file has what it lacks.
        without_edge_time: the refusal to raise if no file has the date of edges that was named.
        left_out: people who do not meet a condition, and whose links do not count.
        conditions: those that its rows were held to, each for its kind of table.
        threshold: up to which distance its pairs are links, if it has distances.
    """

    report: FileReport
    nodes: tuple[Table, ...] = ()
    edges: tuple[Table, ...] = ()
    directed: bool | None = None
    derived: tuple[Table, ...] = ()
    linked_only: bool = False
    times: tuple[str, ...] = ()
    without_time: InputError | None = None
    without_edge_time: InputError | None = None
    left_out: tuple[Table, ...] = ()
    conditions: frozenset[Filter] = frozenset()
    threshold: Threshold | None = None


@dataclass(frozen=True)
class Claimed:
    """A file, and what it was recognised as."""

    file: SourceFile
    claim: Claim


@dataclass(frozen=True)
class Format:
    """One file format.

    Attributes:
        name: what the user calls it.
        summary: what it is, in a few words.
        looks: what its files hold, for people whose file was not recognised.
        claims: recognises a file by its beginning, and by what the steward says of columns; with
            the second argument True the user insists on this format, and what is merely unlikely
            is accepted.
        read: parses all files of this format, in their order.
    """

    name: str
    summary: str
    looks: str
    claims: Callable[[SourceFile, bool, ReadingOptions], Claim | None]
    read: Callable[[Sequence[Claimed], ReadingOptions], list[ParsedFile]]


_REGISTRY: Registry[Format] = Registry(
    "format", "graphveil.records.readers", group="graphveil.formats"
)


def register(member: Format) -> Format:
    """Enter a format under its name."""
    _REGISTRY.enter(member.name, member)
    return member


def registered() -> dict[str, Format]:
    """Every format by name; each file of `readers` holds one."""
    return dict(sorted(_REGISTRY.members().items()))


def format_named(name: str) -> Format:
    """The format that the user names, or a refusal that offers the nearest."""
    return _REGISTRY.named(name)


# The report on one file, with the notes that every format has in common.


_SAMPLE = 8
UNDATED = "nodes without a date: left to the study's rule"


def file_report(
    claimed: Claimed,
    format_name: str,
    *,
    nodes: Sequence[Table] | None = None,
    edges: Sequence[Table] | None = None,
    notes: Sequence[Note] = (),
) -> FileReport:
    """What happened to a file that gave these tables; None means that it lists none."""
    common = [note for table in nodes or () for note in node_notes(table)]
    common += [note for table in edges or () for note in _edge_notes(table)]
    return FileReport(
        name=claimed.file.name,
        format=format_name,
        why=claimed.claim.why,
        nodes=None if nodes is None else sum(len(table.frame) for table in nodes),
        edges=None if edges is None else sum(len(table.frame) for table in edges),
        notes=(*notes, *common),
    )


def node_notes(table: Table) -> list[Note]:
    """How many people of a table have no date, if there are some."""
    time = table.frame["time"]
    missing = time.is_null()
    if time.dtype == pl.String:
        missing |= (time.str.strip_chars() == "").fill_null(False)
    return _note(UNDATED, table, missing, "time")


def _edge_notes(table: Table) -> list[Note]:
    source, target = table.frame["source"], table.frame["target"]
    if source.dtype != target.dtype:
        return []
    same = (source == target).fill_null(False)
    return _note("edges from a node to itself: left out", table, same, "source")


def _note(rule: str, table: Table, met: pl.Series, column: str) -> list[Note]:
    count = int(met.sum())
    if not count:
        return []
    first = met.arg_true().head(_SAMPLE).to_list()
    numbers = (table.place(row, column).row for row in first)
    return [Note.of_rows(rule, count, (number for number in numbers if number is not None))]
