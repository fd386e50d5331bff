"""Columns of the public tables: each is said once, with its meaning, where its row is defined.

A row is a frozen dataclass whose fields are made by `described`. Files, the data dictionary and the
documentation are made from these, so that no column is without its meaning.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from graphveil.errors import StudyError
from graphveil.graph.groups import SECOND
from graphveil.hints import Hint
from graphveil.statistics.breakdown import ALIKE, MIXED

if TYPE_CHECKING:
    import polars as pl

NEVER = "never"
KINDS = {"str": "text", "int": "whole number", "float": "number"}


def described(meaning: str, *, empty: str = NEVER) -> Any:
    """A field of a row.

    Args:
        meaning: what it says, for somebody who has the file and nothing else.
        empty: when it has no value.
    """
    return field(metadata={"meaning": meaning, "empty": empty})


def divided(kind: type[Any], groups: tuple[str, ...]) -> type[Any]:
    """Rows of a kind with the labels of people in some groups: of links, of both ends."""
    return _divided(cast("Hashable", kind), groups) if groups else kind


@cache
def _divided(kind: Any, groups: tuple[str, ...]) -> type[Any]:
    unless = "unless the series is divided by it"
    columns = []
    for name in groups:
        whom = "of the people who are counted; of links, of one end (directed: whence they go)"
        meaning = f"the label in the group {name} {whom}, or whether all are {ALIKE} or {MIXED}"
        other = f"the label in the group {name} of the other end of the links that are counted"
        columns.append((name, "str | None", described(meaning, empty=unless)))
        second = described(other, empty="unless the series counts links by both ends")
        columns.append((f"{name}{SECOND}", "str | None", second))
    return make_dataclass(kind.__name__, columns, bases=(kind,), frozen=True)


def cell_columns(groups: Iterable[str], cell: Mapping[str, str]) -> dict[str, str | None]:
    """The columns of groups of one row."""
    names = (each for name in groups for each in (name, f"{name}{SECOND}"))
    return {name: cell.get(name) for name in names}


@dataclass(frozen=True)
class Entry:
    """A row of the data dictionary."""

    file: str = described("the table that has the column")
    column: str = described("the name of the column, as its first line has it")
    type: str = described(
        "what its values are: text, whole number, or number (which may be broken)"
    )
    empty: str = described("when it has no value")
    meaning: str = described("what its values say")


def entries(file: str, rows: type[Any]) -> tuple[Entry, ...]:
    """What the dictionary says of the columns of a table, in their order."""
    return tuple(
        Entry(
            file=file,
            column=each.name,
            type=KINDS[kind_of(each.type)],
            empty=each.metadata["empty"],
            meaning=each.metadata["meaning"],
        )
        for each in fields(rows)
    )


def kind_of(annotation: object) -> str:
    """The type of a column that has a value, such as "int"."""
    return str(annotation).split(" ")[0]


def names(rows: type[Any]) -> list[str]:
    """The columns of a table, in their order."""
    return [each.name for each in fields(rows)]


def rows_as_csv(kind: type[Any], rows: Iterable[Any]) -> bytes:
    """Rows of one kind as CSV in UTF-8; what does not apply is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names(kind))
    writer.writerows(map(attrgetter(*names(kind)), rows))
    return text.getvalue().encode()


def rows_as_frame(kind: type[Any], rows: Iterable[Any]) -> pl.DataFrame:
    """Rows of one kind as a data frame; refuses numbers that one cannot hold."""
    import polars as pl

    kinds: dict[str, Any] = {"int": pl.Int64(), "float": pl.Float64(), "str": pl.String()}
    schema = {each.name: kinds[kind_of(each.type)] for each in fields(kind)}
    listed = [dict(vars(row)) for row in rows]
    numbers = (value for row in listed for value in row.values() if isinstance(value, int))
    if any(abs(number) >= 2**63 for number in numbers):
        problem = "a published number has more than 64 bits."
        raise StudyError(problem, hint=Hint("table-file"))
    return pl.DataFrame(listed, schema=schema)
