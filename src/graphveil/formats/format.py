"""What a file format is: how its files are recognised, and how they become tables.

Each format is one file or folder of `graphveil.formats.readers`; adding one is adding it there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from graphveil.errors import InputError
from graphveil.formats.columns.distances import Threshold
from graphveil.formats.columns.filters import Filter
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import FileReport
from graphveil.formats.source_file import SourceFile
from graphveil.graph.intake.records import Table
from graphveil.registry import Registry

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
        without_time: the refusal to raise if no file of another format dates the nodes.
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


_REGISTRY: Registry[Format] = Registry("format", "graphveil.formats.readers")


def register(member: Format) -> Format:
    """Enter a format under its name."""
    _REGISTRY.enter(member.name, member)
    return member


def registered() -> dict[str, Format]:
    """Every format by name; each file or folder of `readers` holds one."""
    return dict(sorted(_REGISTRY.members().items()))


def format_named(name: str) -> Format:
    """The format that the user names, or a refusal that offers the nearest."""
    return _REGISTRY.named(name)
