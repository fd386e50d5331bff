"""CSV files, plain or gzipped, with a header row; also with tabs or semicolons for commas.

A record is a line: a quote that is not closed in its line would take the lines of others with it,
so it is refused. So is one that leaves the end of a value in doubt, as in `h"7,2003,note"`: what
the parser makes of it depends on the lines that follow. Lines with nothing between their separators
are no records, wherever they stand.

Ids are text. Large files that hold plain numbers and nothing else are read as numbers, which
is several times faster and means the same.
"""

from __future__ import annotations

import codecs
import csv
import io
import mmap
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from graphveil.errors import InputError, Place
from graphveil.formats.columns.dates import PLAIN_NUMBER, look_like_dates, numeric_if_plain
from graphveil.formats.columns.names import refuse_repeated
from graphveil.formats.source_file import HEAD, SourceFile
from graphveil.formats.tables.headers import header_line, separator_of
from graphveil.graph.intake.records import Table

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_WORTH_THE_TRY = 1 << 20  # bytes; below, reading text takes no time
_BLOCK = 1 << 24
_QUOTED = re.compile(r'"[^"]*"')
_SAVE_AS = "Save the file as UTF-8 text with commas between columns and a header row."


@dataclass(frozen=True)
class DelimitedTable:
    """A delimited file: its header and first rows, and all rows on demand.

    Attributes:
        file: where it comes from.
        names: the header row.
        rows: the rows after it, as far as they were looked at.
        separator: what stands between columns.
        above: how many lines stand above the header, such as a title.
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
        frame, numbers = _as_numbers(content, self, columns), None
        if frame is None:
            frame, numbers = _as_text(content, self, columns)
        chosen = frame.select(frame[theirs].alias(ours) for ours, theirs in columns.items())
        return Table(chosen, self.file.name, self.header + 1, columns, numbers)

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
    import polars as pl

    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    if size < _WORTH_THE_TRY or sorted(table.names) != sorted(names.values()):
        return None
    if not table.rows or not all(PLAIN_NUMBER.fullmatch(value) for value in table.rows[0]):
        return None
    from graphveil.formats.tables.plain_numbers import parse_plain_numbers

    if isinstance(content, bytes):
        text = np.frombuffer(content, dtype=np.uint8)
    else:
        text = np.memmap(content, dtype=np.uint8, mode="r")
    body = text[int(np.argmax(text[:HEAD] == ord("\n"))) + 1 :]
    numbers = parse_plain_numbers(body, len(table.names), table.separator)
    return None if numbers is None else pl.DataFrame(dict(zip(table.names, numbers, strict=True)))


def _as_text(
    content: Path | bytes, table: DelimitedTable, names: dict[str, str]
) -> tuple[pl.DataFrame, NDArray[np.int64] | None]:
    """The columns as text, and the number of each row where some lines are no records."""
    import polars as pl

    _refuse_nul(content, table)
    _refuse_loose_quotes(content, table)
    columns = list(dict.fromkeys(names.values()))
    try:
        frame = pl.read_csv(
            content, columns=columns, infer_schema=False, separator=table.separator, glob=False
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _what_is_wrong(content, table) from error
    frame, numbers = _without_blank_rows(frame, content, table)
    return _with_numeric_times(frame, names), numbers


def _opened(content: Path | bytes) -> IO[bytes]:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def _lines(content: Path | bytes, wanted: set[int], first: int) -> dict[int, str]:
    with _opened(content) as file:
        found = {n: line for n, line in enumerate(file, start=first) if n in wanted}
    return {n: line.rstrip(b"\r\n").decode() for n, line in found.items()}


def _refuse_loose_quotes(content: Path | bytes, table: DelimitedTable) -> None:
    """Refuse a line whose quotes do not say where its values end, by its number."""
    if not _holds_quotes(content):
        return
    in_order = _line_in_order(table.separator)

    def loose(line: bytes) -> bool:
        return b'"' in line and not in_order.fullmatch(line)

    for number, line in _lines_with(content, loose, table.header):
        raise _loose_quote(line, Place(table.file.name, number))


def _line_in_order(separator: str) -> re.Pattern[bytes]:
    """A line whose values are in quotes from end to end, or hold quotes around no separator.

    Nothing is tried twice, so that a long line takes no longer than its length.
    """
    quoted = r'"[^"]*+(?:""[^"]*+)*+"'
    bare = r'(?:[^"S]++(?:"[^"S]*+"[^"S]*+)*+)?+'
    value = f"(?:{quoted}|{bare})"
    pattern = rf"{value}(?:S{value})*+\r?\n?".replace("S", re.escape(separator))
    return re.compile(pattern.encode())


def _loose_quote(line: bytes, place: Place) -> InputError:
    if line.count(b'"') % 2:
        what = "a quote is not closed in its line, and would join it with the next"
        hint = "Remove the quote, or the line break within the value."
    else:
        what = "a quote stands within a value, so that its end is in doubt"
        hint = "Remove the quote, or put the whole value in quotes and double those in it."
    return InputError(what, place=place, hint=hint)


def _holds_quotes(content: Path | bytes) -> bool:
    if isinstance(content, bytes):
        return b'"' in content
    with content.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return view.find(b'"') >= 0


def _refuse_nul(content: Path | bytes, table: DelimitedTable) -> None:
    if isinstance(content, bytes):
        _refuse_nul_at(content.find(b"\0"), content, table)
        return
    with content.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        _refuse_nul_at(view.find(b"\0"), view, table)


def _refuse_nul_at(at: int, content: bytes | mmap.mmap, table: DelimitedTable) -> None:
    if at >= 0:
        blocks = (content[start : min(start + _BLOCK, at)] for start in range(0, at, _BLOCK))
        row = sum(block.count(b"\n") for block in blocks) + table.header
        raise _not_text(table.file.name, row)


def _with_numeric_times(frame: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    """Times that are all plain numbers become numbers, in files of any size."""
    time = names.get("time")
    return frame if time is None else frame.with_columns(numeric_if_plain(frame[time]))


def _without_blank_rows(
    frame: pl.DataFrame, content: Path | bytes, table: DelimitedTable
) -> tuple[pl.DataFrame, NDArray[np.int64] | None]:
    """The rows without those of blank lines, and the numbers of those that are left."""
    import numpy as np
    import polars as pl

    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if not empty.any():
        return frame, None
    numbers = np.arange(frame.height) + table.header + 1
    lines = _lines(content, set(numbers[empty.to_numpy()].tolist()), table.header)
    blank = [n for n, line in lines.items() if not line.strip(f"{table.separator} \t\r")]
    kept = ~np.isin(numbers, blank)
    return frame.filter(pl.Series(kept)), numbers[kept]


def _what_is_wrong(content: Path | bytes, table: DelimitedTable) -> InputError:
    """Read the file once more, slowly, to name the first bad row.

    Rows that are no text come first: they are always refused, and those with too many values only
    if all columns are read. Whatever is named must be refused on its own account.
    """
    name, width = table.file.name, len(table.names)
    for number, _ in _lines_with(content, lambda line: not _is_text(line), table.header):
        return _not_text(name, number)
    wide = _lines_with(content, lambda line: _width(line, table) > width, table.header)
    for number, line in wide:
        what = f"the row has {_width(line, table)} columns, but the header has {width}"
        hint = "Put values that contain a separator in quotes."
        return InputError(what, place=Place(name, number), hint=hint)
    return InputError("the file cannot be read as CSV", place=Place(name), hint=_SAVE_AS)


def _lines_with(
    content: Path | bytes, wanted: Callable[[bytes], bool], first: int
) -> Iterator[tuple[int, bytes]]:
    """Some lines with their numbers; the mark at the beginning of a file is of none of them."""
    with _opened(content) as file:
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        yield from ((n, line) for n, line in enumerate(file, start=first) if wanted(line))


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _width(line: bytes, table: DelimitedTable) -> int:
    """How many values a line has whose quotes are in order."""
    return _QUOTED.sub("", line.decode()).count(table.separator) + 1


def _not_text(name: str, row: int) -> InputError:
    what = "the row cannot be read as UTF-8 text"
    hint = "Name its encoding, such as --encoding windows-1252, or save the file as UTF-8 text."
    return InputError(what, place=Place(name, row), hint=hint)
