"""CSV files, plain or gzipped, with a header row; also with tabs or semicolons for commas.

A record is a line, and a line that cannot be read is a fault of its own: it is marked, and the
others are read without it. A quote that is not closed in its line would take the lines of others
with it, and one that leaves the end of a value in doubt, as in `h"7,2003,note"`, would be read by
the lines that follow. Lines with nothing between their separators are no records, wherever they
stand.

Ids are text. Large files that hold plain numbers and nothing else are read as numbers, which
is several times faster and means the same.
"""

from __future__ import annotations

import codecs
import csv
import io
import mmap
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar, TypeAlias

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Table, Violation
from graphveil.hints import Hint
from graphveil.records.columns import is_known, plain, refuse_repeated
from graphveil.records.dates import PLAIN_NUMBER, look_like_dates, numeric_if_plain
from graphveil.records.format import Note
from graphveil.records.source_file import HEAD, SourceFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Header rows: which line has the names of the columns, and what separates them.
#
# That is the first line, unless it is a title: one value alone that is no name of a column. The
# header is then the next line with several values, if one of them is a known or a given name.


SEPARATORS = ",\t;"
_QUOTED_NAME = re.compile(r'"[^"]*"')
_MOST_TITLES = 20


def separator_of(line: str) -> str:
    """The separator of the columns of a header."""
    return max(SEPARATORS, key=_QUOTED_NAME.sub("", line).count)


def header_line(lines: Sequence[str], columns: Sequence[str]) -> int:
    """How many lines stand above the header.

    Args:
        lines: the beginning of a file.
        columns: names of columns that the steward named.
    """
    rows = [_cells(line) for line in lines[:_MOST_TITLES]]
    return header_row(rows, columns)


def header_row(rows: Sequence[Sequence[str]], columns: Sequence[str]) -> int:
    """How many rows of cells stand above the header."""
    names = {plain(name) for name in columns}

    def is_name(cell: str) -> bool:
        return is_known(cell) or plain(cell) in names

    for number, row in enumerate(rows):
        filled = [cell for cell in row if cell.strip()]
        if len(filled) > 1:
            return number if not number or any(map(is_name, filled)) else 0
        if any(map(is_name, filled)):
            return number if not number else 0
    return 0


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.rstrip("\r").split(separator_of(line))]


_WORTH_THE_TRY = 1 << 20  # bytes; below, reading text takes no time
_BLOCK = 1 << 24
_QUOTED = re.compile(r'"[^"]*"')
NOT_TEXT = "the line cannot be read as UTF-8 text"
OPEN_QUOTE = "a quote is not closed in its line, and would join it with the next"
INNER_QUOTE = "a quote stands within a value, so that its end is in doubt"
TOO_WIDE = "the row has more columns than the header"
TOO_NARROW = "the line has more or fewer values than the first"
MENDING = {
    NOT_TEXT: Hint("encoding"),
    OPEN_QUOTE: "Remove the quote, or the line break within the value.",
    INNER_QUOTE: "Remove the quote, or put the whole value in quotes and double those in it.",
    TOO_WIDE: "Put values that contain a separator in quotes.",
    TOO_NARROW: "Correct the line, or begin it with # if it is a comment.",
}
BadLines: TypeAlias = dict[str, list[int]]  # the numbers of lines that cannot be read, by the rule
NOTHING_BAD: BadLines = {}
_SAVE_AS = "Save the file as UTF-8 text with commas between columns and a header row."


@dataclass(frozen=True)
class DelimitedTable:
    """A delimited file: its header and first rows, and all rows on demand.

    Attributes:
        file: where it comes from.
        names: the header row.
        rows: the rows after it, as far as they were looked at.
        separator: what separates columns.
        above: how many lines are above the header, such as a title.
    """

    kind: ClassVar[str] = "a header row"
    file: SourceFile
    names: list[str]
    rows: list[list[str]]
    separator: str
    above: int = 0

    @classmethod
    def of(cls, file: SourceFile) -> DelimitedTable:
        """The table in a file; refuses an empty one.

        Bytes that are not text are replaced here; `read` refuses them by row.
        """
        head = file.head
        if len(head) >= HEAD:  # the last line may be cut
            head = head[: head.rfind(b"\n") + 1]
        text = head.decode("utf-8-sig", errors="replace")
        above = header_line(text.split("\n"), file.named)
        text = "\n".join(text.split("\n")[above:]) if above else text
        separator = separator_of(text.partition("\n")[0])
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        header, *rows = list(lines) or [[]]
        if not any(name.strip() for name in header):
            raise InputError("the file is empty", place=Place(file.name), hint=_SAVE_AS)
        return cls(file, header, rows, separator, above)

    def date_columns(self) -> list[str]:
        """The columns whose first values look like dates."""
        return [
            name
            for position, name in enumerate(self.names)
            if look_like_dates(row[position] for row in self.rows if position < len(row))
        ]

    def read(self, columns: dict[str, str], most_bytes: int) -> Table:
        """All rows of some columns.

        Args:
            columns: the user's name for each of the columns, by ours.
            most_bytes: the largest file to read.
        """
        refuse_repeated(self.names, columns.values(), Place(self.file.name, self.header))
        content = self._content(most_bytes)
        frame, numbers, bad = _as_numbers(content, self, columns), None, NOTHING_BAD
        if frame is None:
            frame, numbers, bad = _as_text(content, self, columns)
        chosen = frame.select(frame[theirs].alias(ours) for ours, theirs in columns.items())
        table = Table(chosen, self.file.name, self.header + 1, columns, numbers)
        return with_unread(table, bad)

    def cells(self, most_bytes: int) -> tuple[pl.DataFrame, NDArray[np.int64], BadLines]:
        """All rows and columns by their place, the numbers of the rows, and lines that are none.

        Unlike `read`, it takes columns whose names are alike. A row may end early.
        """
        import numpy as np

        lines, bad = _without_bad_lines(self._content(most_bytes), self, len(self.names))
        places = self.separator.join(map(str, range(len(self.names)))).encode()
        body = places + b"\n" + lines.partition(b"\n")[2]
        frame = pl.read_csv(body, infer_schema=False, separator=self.separator, glob=False)
        numbers = np.arange(frame.height) + self.header + 1
        filled = frame.select(~pl.all_horizontal(pl.all().is_null())).to_series()
        return frame.filter(filled), numbers[filled.to_numpy()], bad

    @property
    def header(self) -> int:
        """The line of the header row, counted from 1."""
        return self.above + 1

    def lines(self, wanted: Iterable[int], most_bytes: int) -> dict[int, str]:
        """Some lines by their number in the file, without their ends."""
        return _lines(self._content(most_bytes), set(wanted), self.header)

    def _content(self, most_bytes: int) -> Path | bytes:
        """All bytes from the header on."""
        if not self.above:
            return self.file.content(most_bytes)
        return self.file.rows(most_bytes).split(b"\n", self.above)[self.above]


def _as_numbers(
    content: Path | bytes, table: DelimitedTable, names: dict[str, str]
) -> pl.DataFrame | None:
    """The columns as numbers, or None unless the file holds plain numbers and nothing else."""
    import numpy as np

    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    if size < _WORTH_THE_TRY or sorted(table.names) != sorted(names.values()):
        return None
    if not table.rows or not all(PLAIN_NUMBER.fullmatch(value) for value in table.rows[0]):
        return None
    from graphveil.records.plain_numbers import parse_plain_numbers

    if isinstance(content, bytes):
        text = np.frombuffer(content, dtype=np.uint8)
    else:
        text = np.memmap(content, dtype=np.uint8, mode="r")
    body = text[int(np.argmax(text[:HEAD] == ord("\n"))) + 1 :]
    numbers = parse_plain_numbers(body, len(table.names), table.separator)
    return None if numbers is None else pl.DataFrame(dict(zip(table.names, numbers, strict=True)))


def _as_text(
    content: Path | bytes, table: DelimitedTable, names: dict[str, str]
) -> tuple[pl.DataFrame, NDArray[np.int64] | None, BadLines]:
    """The columns as text, the number of each row where some lines are no records, and bad lines.

    Rows with too many values are bad only if all columns are read: else the first ones count.
    """
    columns = list(dict.fromkeys(names.values()))
    width = len(table.names) if set(columns) == set(table.names) else None
    bad = NOTHING_BAD
    if _holds(content, b"\0") or _has_loose_quotes(content, table):
        content, bad = _without_bad_lines(content, table, width)
    frame = _parsed(content, table, columns)
    if frame is None and not bad:
        content, bad = _without_bad_lines(content, table, width)
        frame = _parsed(content, table, columns)
    if frame is None:
        raise InputError(
            "the file cannot be read as CSV", place=Place(table.file.name), hint=_SAVE_AS
        )
    frame, numbers = _without_blank_rows(frame, content, table)
    return _with_numeric_times(frame, names), numbers, bad


def _parsed(
    content: Path | bytes, table: DelimitedTable, columns: list[str]
) -> pl.DataFrame | None:
    """Some columns as text; None if a line cannot be read."""
    try:
        return pl.read_csv(
            content, columns=columns, infer_schema=False, separator=table.separator, glob=False
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def _without_bad_lines(
    content: Path | bytes, table: DelimitedTable, width: int | None
) -> tuple[bytes, BadLines]:
    """The same lines, of which those that cannot be read are empty; these by what is wrong."""
    in_order, bad, lines = _line_in_order(table.separator), dict[str, list[int]](), []
    with _opened(content) as file:
        for number, line in enumerate(file, start=table.header):
            bare = line.removeprefix(codecs.BOM_UTF8) if number == table.header else line
            rule = _what_is_wrong(bare, table, width, in_order)
            if rule and number == table.header:
                raise InputError(rule, place=Place(table.file.name, number), hint=_SAVE_AS)
            if rule:
                bad.setdefault(rule, []).append(number)
            lines.append(b"\n" if rule else line)
    return b"".join(lines), bad


def _what_is_wrong(
    line: bytes, table: DelimitedTable, width: int | None, in_order: re.Pattern[bytes]
) -> str:
    """Why a line cannot be read, by itself; nothing if it can."""
    if not is_text(line):
        return NOT_TEXT
    if b'"' in line and not in_order.fullmatch(line):
        return OPEN_QUOTE if line.count(b'"') % 2 else INNER_QUOTE
    return TOO_WIDE if width is not None and _width(line, table) > width else ""


def _opened(content: Path | bytes) -> IO[bytes]:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def _lines(content: Path | bytes, wanted: set[int], first: int) -> dict[int, str]:
    with _opened(content) as file:
        lines = {n: line for n, line in enumerate(file, start=first) if n in wanted}
    return {n: line.rstrip(b"\r\n").decode() for n, line in lines.items()}


def _has_loose_quotes(content: Path | bytes, table: DelimitedTable) -> bool:
    """Whether the quotes of some line do not say where its values end."""
    if not _holds(content, b'"'):
        return False
    in_order = _line_in_order(table.separator)
    with _opened(content) as file:
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        return any(b'"' in line and not in_order.fullmatch(line) for line in file)


def _line_in_order(separator: str) -> re.Pattern[bytes]:
    """A line whose values are in quotes from end to end, or hold quotes around no separator.

    Nothing is tried twice, so that a long line takes no longer than its length.
    """
    quoted = r'"[^"]*+(?:""[^"]*+)*+"'
    bare = r'(?:[^"S]++(?:"[^"S]*+"[^"S]*+)*+)?+'
    value = f"(?:{quoted}|{bare})"
    pattern = rf"{value}(?:S{value})*+\r?\n?".replace("S", re.escape(separator))
    return re.compile(pattern.encode())


def _holds(content: Path | bytes, mark: bytes) -> bool:
    if isinstance(content, bytes):
        return mark in content
    with content.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return view.find(mark) >= 0


def _with_numeric_times(frame: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    """Times that are all plain numbers become numbers, in files of any size."""
    time = names.get("time")
    return frame if time is None else frame.with_columns(numeric_if_plain(frame[time]))


def _without_blank_rows(
    frame: pl.DataFrame, content: Path | bytes, table: DelimitedTable
) -> tuple[pl.DataFrame, NDArray[np.int64] | None]:
    """The rows without those of blank lines, and the numbers of those that are left."""
    import numpy as np

    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if not empty.any():
        return frame, None
    numbers = np.arange(frame.height) + table.header + 1
    lines = _lines(content, set(numbers[empty.to_numpy()].tolist()), table.header)
    blank = [n for n, line in lines.items() if not line.strip(f"{table.separator} \t\r")]
    filled = ~np.isin(numbers, blank)
    return frame.filter(pl.Series(filled)), numbers[filled]


def is_text(content: bytes) -> bool:
    """Whether bytes are UTF-8, without a NUL."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _width(line: bytes, table: DelimitedTable) -> int:
    """How many values a line has whose quotes are in order."""
    return _QUOTED.sub("", line.decode()).count(table.separator) + 1


def with_unread(table: Table, bad: BadLines) -> Table:
    """The table with an empty row for each line that could not be read, marked by what is wrong."""
    import numpy as np

    if not bad:
        return table
    lines = [number for numbers in bad.values() for number in numbers]
    empty = pl.DataFrame(
        {name: [None] * len(lines) for name in table.frame.columns}, schema=table.frame.schema
    )
    rows, violations = len(table.frame), []
    for rule, numbers in bad.items():
        places = np.arange(rows, rows + len(numbers), dtype=np.int64)
        violations.append(Violation(places, "", rule, MENDING[rule]))  # of the whole line
        rows += len(numbers)
    return replace(
        table,
        frame=pl.concat([table.frame, empty]),
        numbers=np.concatenate([table.row_numbers(), np.array(lines, np.int64)]),
    ).marked(*violations)


# Rows that were put in quotes as a whole, as happens when a spreadsheet saves a row as text.
#
# Such a row has one value, which holds all others: read literally it would be a node with a
# strange id, and its date and links would be lost without a word.


def unquoted(
    table: Table, first: pl.Series, origin: DelimitedTable, most_bytes: int
) -> tuple[Table, list[Note]]:
    """The table with such rows as they were meant, and a note on them.

    Args:
        table: columns of the file, as text.
        first: the first column of the file, which holds the whole of such a row.
        origin: the file.
        most_bytes: the largest file to read.
    """
    suspects = first.str.contains(origin.separator, literal=True).fill_null(False).arg_true()
    if not len(suspects):
        return table, []
    numbers = {row: table.place(row, "case").row or 0 for row in suspects.to_list()}
    lines = origin.lines(numbers.values(), most_bytes)
    meant = {
        row: values
        for row, number in numbers.items()
        if _as_written(first[row]) == lines[number] and (values := _values(first[row], origin))
    }
    columns = [
        table.frame[ours].scatter(
            list(meant), [values[theirs] or None for values in meant.values()]
        )
        for ours, theirs in table.names.items()
    ]
    rows = (numbers[row] for row in meant)
    note = Note.of_rows("rows quoted as a whole: read without the quotes", len(meant), rows)
    return replace(table, frame=pl.DataFrame(columns)), [note] if meant else []


def _as_written(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _values(text: str, origin: DelimitedTable) -> dict[str, str] | None:
    """The values of a row by the header, or None if there are more or fewer."""
    try:
        values = next(csv.reader([text], delimiter=origin.separator))
    except csv.Error:  # one of them is longer than any value of a table should be
        return None
    if len(values) != len(origin.names):
        return None
    return dict(zip(reversed(origin.names), reversed(values), strict=True))  # first of equal names
