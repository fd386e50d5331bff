"""Patent citations as the NBER published them, one subcategory, turned into who inspired whom.

Two text tables with commas: the citations of 1975 to 1999, and the patents granted from 1963 to
1999. A patent that cites another has it as its source, so edges run from cited to citing.
Both files are scanned in pieces; only the chosen subcategory is held in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from graphveil.errors import InputError, Place
from graphveil.experiments.datasets.supplied import SuppliedFile
from graphveil.formats.columns.names import Wanted, match_columns
from graphveil.graph.intake.records import Records, Table

if TYPE_CHECKING:
    import polars as pl

    Keep: TypeAlias = Callable[[pl.LazyFrame], pl.LazyFrame]

HARDWARE_AND_SOFTWARE = 22
FIRST_YEAR = 1985  # the first year that the paper publishes

_ORIGIN = (
    "The public original is the NBER U.S. Patent Citations Data File, described by Hall, Jaffe "
    "and Trajtenberg (2001), NBER Working Paper 8498."
)
CITATIONS = SuppliedFile("cite75_99.txt", "the columns CITING, CITED", _ORIGIN)
PATENTS = SuppliedFile(
    "apat63_99.txt", "the columns PATENT, GYEAR and SUBCAT among others", _ORIGIN
)
_HEADER_ROWS = 1


def read_patents(folder: Path, subcategory: int = HARDWARE_AND_SOFTWARE) -> Records:
    """All patents of one subcategory by year of grant, and the citations among them."""
    import polars as pl

    citations, patents = CITATIONS.within(folder), PATENTS.within(folder)
    kept = _numbers(
        patents,
        Wanted(("patent", "gyear", "subcat")),
        ("patent",),
        lambda rows: rows.filter(pl.col("subcat") == subcategory),
    )
    if not kept.height:
        raise InputError(
            f"there is no patent of subcategory {subcategory}",
            place=Place(patents.name, column="SUBCAT"),
        )
    inside = kept.lazy().select("patent")
    pairs = _numbers(
        citations,
        Wanted(("citing", "cited")),
        ("citing", "cited"),
        lambda rows: rows.join(inside, left_on="citing", right_on="patent", how="semi").join(
            inside, left_on="cited", right_on="patent", how="semi"
        ),
    )
    nodes = kept.select(node="patent", time="gyear")
    edges = pairs.select(source="cited", target="citing").sort("source", "target")
    return Records(nodes=Table(nodes, patents.name), edges=Table(edges, citations.name))


def _numbers(path: Path, wanted: Wanted, needed: tuple[str, ...], keep: Keep) -> pl.DataFrame:
    """The kept rows of a table of whole numbers; refuses rows that lack a needed one."""
    import polars as pl

    rows = _scan(path, wanted)
    flawed = pl.any_horizontal(pl.col(name).is_null() for name in needed)
    try:
        bad = rows.filter(flawed).head(1).collect(engine="streaming")
        found = keep(rows.drop("row")).collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(path) from error
    if bad.height:
        column = next(name for name in needed if bad[name][0] is None)
        row = int(bad["row"][0]) + _HEADER_ROWS + 1
        raise InputError(
            "a whole number is missing where one is needed",
            place=Place(path.name, row, column.upper()),
            hint="Use the file as it was published.",
        )
    return found


def _scan(path: Path, wanted: Wanted) -> pl.LazyFrame:
    """The wanted columns under our names, with the number of each row; nothing is read yet."""
    import polars as pl

    try:
        header = list(pl.scan_csv(path, infer_schema=False).collect_schema())
        names = match_columns(header, wanted, path.name)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(path) from error
    numbers = dict.fromkeys(names.values(), pl.Int64)
    rows = pl.scan_csv(path, schema_overrides=numbers, infer_schema=False, ignore_errors=True)
    chosen = rows.select(pl.col(theirs).alias(ours) for ours, theirs in names.items())
    return chosen.with_row_index("row")


def _unreadable(path: Path) -> InputError:
    return InputError(
        "the file cannot be read as text with commas and a header row",
        place=Place(path.name),
        hint="Unpack it, and use it as it was published.",
    )
