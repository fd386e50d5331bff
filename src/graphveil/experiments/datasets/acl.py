"""A signed citation list: papers, and citations that praise, blame or are neutral.

The paper derives such a list of ACL papers by citation sentiment (Kumar 2016). It is read from
two tables of any kind that graphveil reads:

- `papers`: paper, year;
- `citations`: source (the citing paper), target (the cited one), sign.

A sign is a number, positive if larger than 0, or one of the words below. Several rows for one
pair are fine, such as one for each sentence: one positive row makes the citation positive. An
edge runs from the cited paper to the one that endorses it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import InputError
from graphveil.experiments.datasets.supplied import SuppliedFile
from graphveil.formats.columns.names import Wanted
from graphveil.formats.tables.table_file import read_table
from graphveil.graph.intake.records import Records, Table

if TYPE_CHECKING:
    import polars as pl

FIRST_YEAR = 1990  # the first year that the paper publishes
POSITIVE = ("+", "p", "pos", "positive")
OTHERWISE = ("-", "−", "n", "neg", "negative", "o", "objective", "neutral")

_ORIGIN = (
    "The public original is described by Kumar (2016), Structure and Dynamics of Signed Citation "
    "Networks; similar files can be made from Athar's Citation Sentiment Corpus (2011) and the "
    "ACL Anthology Network."
)
PAPERS = SuppliedFile("papers", "the columns paper, year", _ORIGIN)
CITATIONS = SuppliedFile("citations", "the columns source (citing), target (cited), sign", _ORIGIN)


def read_signed_citations(folder: Path) -> Records:
    """All papers by year, and the positive citations among them, from cited to citing."""
    import polars as pl

    papers = read_table(PAPERS.within(folder), Wanted(("paper", "year")))
    citations = read_table(CITATIONS.within(folder), Wanted(("source", "target", "sign")))
    positive = _positive(citations)
    known = papers.frame["paper"].cast(pl.String).str.strip_chars()
    for column in ("source", "target"):
        _refuse_unknown(citations, column, positive, known)
    kept = citations.frame.filter(positive)
    edges = kept.select(source="target", target="source").unique(maintain_order=True)
    names = {"node": papers.names.get("paper", "paper"), "time": papers.names.get("year", "year")}
    nodes = papers.frame.select(node="paper", time="year")
    return Records(
        nodes=Table(nodes, papers.source, papers.first_row, names),
        edges=Table(edges, citations.source),
    )


def _positive(citations: Table) -> pl.Series:
    """Whether each row is a positive citation; refuses signs that say nothing."""
    import polars as pl

    signs = citations.frame["sign"].cast(pl.String).str.strip_chars().str.to_lowercase()
    numbers = signs.str.strip_prefix("+").cast(pl.Float64, strict=False).fill_nan(None)
    readable = numbers.is_not_null() | signs.is_in([*POSITIVE, *OTHERWISE])
    if not readable.fill_null(False).all():
        row = int((~readable.fill_null(False)).arg_true()[0])
        raise InputError(
            "the sign cannot be read",
            place=citations.place(row, "sign"),
            hint=f"Write a number, or one of {', '.join((*POSITIVE, *OTHERWISE))}.",
        )
    return (numbers > 0).fill_null(False) | signs.is_in(POSITIVE)


def _refuse_unknown(citations: Table, column: str, positive: pl.Series, known: pl.Series) -> None:
    """Refuse positive citations of, or by, papers that are not listed."""
    import polars as pl

    ends = citations.frame[column].cast(pl.String).str.strip_chars()
    unknown = positive & ~ends.is_in(known.implode()).fill_null(False)
    if unknown.any():
        raise InputError(
            "the citation names a paper that is not in the table of papers",
            place=citations.place(int(unknown.arg_true()[0]), column),
            hint="Add the paper with its year, or remove the citation.",
        )
