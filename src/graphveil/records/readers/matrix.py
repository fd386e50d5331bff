"""Distance matrices: a row and a column for each person, and in each cell how far apart two are.

The steward says up to which distance two people are linked. Every cell is judged by itself; of a
pair that stands twice, above and below the diagonal, one cell that is near enough makes a link.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Table, Violation
from graphveil.hints import Hint
from graphveil.records.columns import bare
from graphveil.records.dates import MISSING_WORDS, undated
from graphveil.records.delimited import NOTHING_BAD, BadLines, DelimitedTable, with_unread
from graphveil.records.format import Claim, Claimed, Format, ParsedFile, file_report, register
from graphveil.records.held_tables import BYTES_A_CELL
from graphveil.records.options import NO_DISTANCE, NUMBER, Kind, ReadingOptions
from graphveil.records.selection import conditions_on
from graphveil.records.source_file import SourceFile
from graphveil.records.table_file import table_file

_LOOKED_AT = 50
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_RULE, _HINT = "a distance is no number", "Correct it, or empty the cell."


@dataclass(frozen=True, eq=False)
class Matrix:
    """The cells of a file, all text.

    Attributes:
        source: what messages call the file.
        people: whom the columns stand for.
        cells: whom each row stands for, and its distances.
        numbers: the user's number of each row.
        unread: lines that cannot be read, by what is wrong.
    """

    source: str
    people: Sequence[str]
    cells: pl.DataFrame
    numbers: NDArray[np.int64]
    unread: BadLines = field(default_factory=lambda: NOTHING_BAD)

    @classmethod
    def of(cls, file: SourceFile, options: ReadingOptions) -> Matrix:
        """The matrix in a file."""
        if (held := file.held) is not None:
            return cls(file.name, held.header[1:], held.frame, held.numbers)
        found = DelimitedTable.of(file)
        file.ceiling.take(BYTES_A_CELL * len(found.names) ** 2, file.name)
        return cls(file.name, found.names[1:], *found.cells(options.table_bytes))

    @property
    def listed(self) -> Table:
        """The people of the rows."""
        begins = self.cells.to_series(0).alias("node").cast(pl.String)
        table = Table(begins.to_frame(), self.source, numbers=self.numbers)
        return undated(with_unread(table, self.unread))


def _claims(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    try:
        kind, corner, people, begins = _beginning(file)
    except InputError:
        if insisted:
            raise
        return None
    # Whoever else is there, a row of one's own and a column of one's own make a matrix.
    if not (all(people) and set(people) & begins):
        return None
    # All columns: somebody may be called as other formats call one of theirs.
    return Claim(
        "network", f"{kind} whose names also begin the rows", (corner or "first column", *people)
    )


def _beginning(file: SourceFile) -> tuple[str, str, list[str], set[str]]:
    """What a table is, its corner, the names of the other columns, and what its rows begin with."""
    if (held := file.held) is not None:
        kind, (corner, *people) = held.kind, held.header
        begins = held.frame.head(_LOOKED_AT).to_series(0).fill_null("").to_list()
    elif isinstance(table := table_file(file), DelimitedTable):
        kind, (corner, *people) = table.kind, table.names
        lines = file.head.decode("utf-8-sig", errors="replace").split("\n")[table.header :]
        # Each line by itself: a quote that is not closed would hide those that follow.
        begins = [_first_value(line, table.separator) for line in lines]
    else:
        raise InputError("this is no matrix", place=Place(file.name))
    return kind, corner, [name.strip() for name in people], {each.strip() for each in begins}


def _first_value(line: str, separator: str) -> str:
    quoted = _QUOTED.match(line)
    return quoted[1].replace('""', '"') if quoted else line.partition(separator)[0]


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [_part(each, options) for each in files]


def _part(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    name = claimed.file.name
    if options.threshold is None or bare(options.distance or "") == NO_DISTANCE:
        raise InputError(
            "these are distances, so not every pair is a link",
            place=Place(name),
            hint=Hint("usual-distance"),
        )
    for kind in get_args(Kind):
        conditions_on([], kind, options.filters, name)
    matrix = Matrix.of(claimed.file, options)
    people, links = matrix.listed, _links(matrix, float(options.threshold.most))
    return ParsedFile(
        file_report(claimed, MATRIX.name, nodes=[people], edges=[links]),
        nodes=(people,),
        edges=(links,),
        directed=False,
        without_time=_no_dates(name, options.time),
        threshold=options.threshold,
    )


def _no_dates(name: str, named: str | None) -> InputError:
    return InputError(
        "a matrix has no dates",
        place=Place(name, column=named),
        hint="Add a list of its people with their dates.",
    )


def _judged(distances: pl.DataFrame, most: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each cell (row, person of the column) whether it makes a link, and whether it is odd."""
    near, unclear = (np.zeros(distances.shape, np.bool_) for _ in range(2))
    for place, column in enumerate(distances.iter_columns()):
        texts = column.fill_null("").str.strip_chars()
        said = ~texts.str.to_lowercase().is_in(MISSING_WORDS)
        numbers = texts.cast(pl.Float64, strict=False)
        odd = said & (~texts.str.contains(NUMBER) | (numbers < 0).fill_null(True))
        unclear[:, place] = odd.to_numpy()
        near[:, place] = (said & ~odd & (numbers <= most).fill_null(False)).to_numpy()
    return near, unclear


def _links(matrix: Matrix, most: float) -> Table:
    """The pairs that are near, each once; a pair whose distance is odd is a fault of its row."""
    near, unclear = _judged(matrix.cells[:, 1:], most)
    rows, columns = np.nonzero(near | unclear)
    found = pl.DataFrame(
        {
            "source": matrix.cells.to_series(0).gather(rows),
            "target": pl.Series(matrix.people, dtype=pl.String).gather(columns),
            "row": matrix.numbers[rows],
            "odd": unclear[rows, columns],
        }
    ).filter((pl.col("source") != pl.col("target")) | pl.col("odd"))
    pair = [pl.min_horizontal("source", "target"), pl.max_horizontal("source", "target").alias("_")]
    found = found.unique([*pair, "odd"], keep="first", maintain_order=True)
    ends, numbers = found.select("source", "target"), found["row"].to_numpy()
    faults = [Violation.where(found["odd"], "", _RULE, _HINT)] if found["odd"].any() else []
    return Table(ends, matrix.source, numbers=numbers).marked(*faults)


MATRIX = register(
    Format(
        name="matrix",
        summary="distance matrix",
        looks="a table whose first row and first column have the same ids, and distances between "
        "them in its cells",
        claims=_claims,
        read=_read,
    )
)
