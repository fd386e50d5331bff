"""The public tables: which files there are, and how catalogues and other programs read them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphveil.report.estimates import Revision, revisions
from graphveil.report.ratios import PublishedRatio, all_ratios, has_ratios
from graphveil.report.releases import (
    NEVER,
    Entry,
    Measurement,
    PublishedChange,
    all_changes,
    divided,
    entries,
    measurements,
    rows,
    rows_as_csv,
)
from graphveil.report.statement import has_revisions
from graphveil.report.wording import budget, heading

if TYPE_CHECKING:
    from graphveil.study.history import PublishedSeries
    from graphveil.study.public_part import PublicPart


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


PACKAGE, DATASET = "datapackage.json", "dataset.jsonld"
# Catalogues: the public part as other programs read it, a data package and a dataset.


KINDS = {"text": "string", "whole number": "integer", "number": "number"}
KEYS = {  # of a table, by which its rows are told apart
    "releases.csv": ("series", "step", "degree"),
    "revised.csv": ("series", "step", "degree"),
}
TECHNIQUE = "differential privacy for people with all their links (node-DP), continual release"


def data_package(part: PublicPart) -> bytes:
    """The descriptor of all public tables."""
    return _written(
        {
            "profile": "tabular-data-package",
            "name": slug(part.promise.title),
            "title": part.promise.title,
            "description": _description(part),
            "id": part.head.hash,
            "created": part.head.at,
            "contributors": [{"title": part.promise.publisher, "role": "publisher"}],
            "temporal": _period(part),
            "resources": [_resource(part, each) for each in tables_of(part)],
        }
    )


def _resource(part: PublicPart, table: Table) -> dict[str, Any]:
    columns = entries(table.file, table.kind_in(part))
    fields = [
        {
            "name": each.column,
            "type": KINDS[each.type],
            "description": each.meaning,
            "constraints": {"required": each.empty == NEVER},
        }
        for each in columns
    ]
    schema: dict[str, Any] = {"fields": fields, "missingValues": [""]}
    cells = [each.column for each in columns if each.meaning.startswith("the label in the group")]
    if key := KEYS.get(table.file):
        schema["primaryKey"] = [*key, *cells]
    return {
        "profile": "tabular-data-resource",
        "name": table.file.removesuffix(".csv"),
        "path": table.file,
        "title": f"A row is {table.about}",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": schema,
    }


def dataset(part: PublicPart) -> bytes:
    """The same as a schema.org Dataset."""
    period = _period(part)
    return _written(
        {
            "@context": "https://schema.org/",
            "@type": "Dataset",
            "name": part.promise.title,
            "description": _description(part),
            "identifier": part.head.hash,
            "dateModified": part.head.at,
            "creator": {"@type": "Organization", "name": part.promise.publisher},
            "measurementTechnique": TECHNIQUE,
            "temporalCoverage": f"{period['first']}/{period['last']}" if period else None,
            "variableMeasured": [heading(each) for each in part.series],
            "distribution": [
                {"@type": "DataDownload", "contentUrl": each.file, "encodingFormat": "text/csv"}
                for each in tables_of(part)
            ],
        }
    )


def _description(part: PublicPart) -> str:
    loss = budget(part.total[0], part.total[1])
    return (
        f"Counts of a network of {part.promise.population}, published by {part.promise.publisher} "
        f"with noise that limits what they reveal about any one person ({loss} for all numbers)."
    )


def _period(part: PublicPart) -> dict[str, str] | None:
    """The steps that are published, by their public names."""
    if not part.steps:
        return None
    return {"first": part.steps[0].label, "last": part.steps[-1].label}


def slug(title: str) -> str:
    """A title as part of an address."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return plain or "study"


def _written(data: dict[str, Any]) -> bytes:
    stated = {key: value for key, value in data.items() if value is not None}
    return (json.dumps(stated, indent=2, ensure_ascii=False) + "\n").encode()
