"""A table of results, as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WHERE = ("dataset", "version", "statistic")


@dataclass(frozen=True)
class ResultTable:
    """A table for readers; every cell is text.

    Attributes:
        title: what it shows.
        note: how to read it.
        header: the columns.
        rows: the cells.
    """

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table alone, in Markdown."""
        lines = [self.header, ("---",) * len(self.header), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def html(self) -> str:
        """The table alone, in HTML."""

        def line(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "\n".join(line(cells, "td") for cells in self.rows)
        head = line(self.header, "th")
        return f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
