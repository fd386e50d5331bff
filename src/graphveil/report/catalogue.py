"""The public part as catalogues and other programs read it: a data package, and a dataset.

`datapackage.json` follows Frictionless Data's tabular data package, with a type and a meaning for
every column; `dataset.jsonld` is what search engines and catalogues know as a schema.org Dataset.
Both follow from the ledger and the study file, and say nothing that is not in them. Which licence
the numbers have is for their publisher to state.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from graphveil.report.public_tables import Table, tables_of
from graphveil.report.table_columns import NEVER, entries
from graphveil.report.wording import budget, heading

if TYPE_CHECKING:
    from graphveil.study.public.public_part import PublicPart

PACKAGE, DATASET = "datapackage.json", "dataset.jsonld"
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
