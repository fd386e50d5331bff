"""A written page about results: its prose is by hand, its tables and numbers are filled in.

A table or number stands between marks that readers do not see::

    SensDiff is below Compose in <!-- value below compose-d-bounded -->20 of 20<!-- end --> cases.

    <!-- table gains -->
    …
    <!-- end -->

so that nobody copies a number by hand, and a test can see whether one is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from graphveil.errors import ParameterError
from graphveil.experiments.findings.figures import write_figure
from graphveil.experiments.findings.page import tables
from graphveil.experiments.findings.quotes import quotes
from graphveil.experiments.protocol.results import Row, write_content, write_rows

PICTURES, RESULTS = Path("images", "experiments"), Path("data", "findings.csv")
_MARKED = re.compile(r"<!-- (table|value) ([^>]*?) -->.*?<!-- end -->", re.DOTALL)


def require_page(path: Path) -> None:
    """Refuse a page that is not there, or is no text, before anything is computed."""
    if not path.is_file():
        raise ParameterError("page", "there is no such file", hint="Write its prose first.")
    try:
        path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError("page", "cannot be read as UTF-8 text") from error


def write_findings(path: Path, rows: Sequence[Row]) -> None:
    """Fill a page in, and put its figures (SVG) and results beside it."""
    fill_page(path, rows)
    for figure in dict.fromkeys(row.figure for row in rows):
        write_figure(path.parent / PICTURES, rows, figure, endings=(".svg",))
    write_rows(path.parent / RESULTS, rows)


def fill_page(path: Path, rows: Sequence[Row]) -> None:
    """Fill in a page that only quotes results."""
    write_content(path, filled_in(path.read_text(encoding="utf-8"), rows).encode())


def filled_in(text: str, rows: Sequence[Row]) -> str:
    """A page with the tables and numbers that these results give."""
    found = {
        "table": {name: f"\n{table.markdown()}\n" for name, table in tables(rows).items()},
        "value": quotes(rows),
    }

    def fill(mark: re.Match[str]) -> str:
        kind, name = mark[1], mark[2]
        if name not in found[kind]:
            near = get_close_matches(name, found[kind], n=1)
            hint = f"Did you mean '{near[0]}'?" if near else ""
            raise ParameterError("page", f"these results give no {kind} '{name}'", hint=hint)
        return f"<!-- {kind} {name} -->{found[kind][name]}<!-- end -->"

    return _MARKED.sub(fill, text)
