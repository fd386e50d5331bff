"""The public tables: which files there are, what their rows are, and what each column means."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphveil.report.estimates import Revision, revisions
from graphveil.report.ratios import PublishedRatio, all_ratios, has_ratios
from graphveil.report.releases import Measurement, PublishedChange, all_changes, measurements, rows
from graphveil.report.statement import has_revisions
from graphveil.report.table_columns import Entry, divided, entries, rows_as_csv

if TYPE_CHECKING:
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart


@dataclass(frozen=True)
class Table:
    """A table that is published as CSV.

    Attributes:
        file: its name in the public folder.
        about: what one row of it is.
        kind: the class of its rows, which says what each column means.
        rows: its content.
        published: whether a study has it.
    """

    file: str
    about: str
    kind: type[Any]
    rows: Callable[[PublicPart], Iterable[Any]]
    published: Callable[[PublicPart], bool] = lambda _: True

    def content(self, part: PublicPart) -> bytes:
        """The file."""
        return rows_as_csv(self.kind_in(part), self.rows(part))

    def kind_in(self, part: PublicPart) -> type[Any]:
        """The class of its rows in a study, which has a column for each of its groups."""
        groups = tuple(each.name for each in part.promise.groups.members)
        return self.kind if self.kind in (Entry, PublishedRatio) else divided(self.kind, groups)


def tables_of(part: PublicPart) -> tuple[Table, ...]:
    """The tables that a study has."""
    return tuple(each for each in TABLES if each.published(part))


def dictionary(part: PublicPart) -> tuple[Entry, ...]:
    """What every column of every table of a study means."""
    return tuple(
        entry for table in tables_of(part) for entry in entries(table.file, table.kind_in(part))
    )


TABLES = (
    Table("releases.csv", "one published number", Measurement, measurements),
    Table("changes.csv", "what is new, and how it compares", PublishedChange, all_changes),
    Table(
        "revised.csv",
        "one published number, and what all numbers together say of it now",
        Revision,
        revisions,
        has_revisions,
    ),
    Table(
        "ratios.csv",
        "one ratio of revised values, and where the true one lies",
        PublishedRatio,
        all_ratios,
        has_ratios,
    ),
    Table("dictionary.csv", "what one column of these tables means", Entry, dictionary),
)


def series_table(series: PublishedSeries) -> bytes:
    """The rows of one series, with the columns of all releases."""
    kind = divided(Measurement, series.promise.group_names)
    return rows_as_csv(kind, (row for made in series.releases for row in rows(series, made)))
