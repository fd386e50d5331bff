"""The files, sheets and tables that a user's words mean.

A word is a path, a path and a part of it (`cases.xlsx#Contacts`, `outbreak.rds#linelist`), or the
address of a database with a table or a query (`sqlite:///cases.db#people`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graphveil.formats.containers.databases import is_address, table_at
from graphveil.formats.containers.r_data import is_r_data, tables_in_r_data
from graphveil.formats.containers.workbooks import is_workbook, sheets_of
from graphveil.formats.options import DEFAULTS, ReadingOptions
from graphveil.formats.source_file import Ceiling, SourceFile, require_file, unique_names


def found_files(
    words: Sequence[str | Path], options: ReadingOptions = DEFAULTS
) -> list[SourceFile]:
    """Every file, sheet or table, each under a name of its own."""
    texts, ceiling = [str(word) for word in words], Ceiling(options.object_bytes)
    found = [table_at(text, options, ceiling) for text in texts if is_address(text)]
    for text in texts:
        if not is_address(text):
            require_file(_divided(text)[0])
    paths, parts = _parts([text for text in texts if not is_address(text)])
    for path, name in zip(parts, unique_names(paths), strict=True):
        for part in dict.fromkeys(parts[path]):
            found += _inside(path, part, name, options, ceiling)
    return found


def _parts(texts: Sequence[str]) -> tuple[list[Path], dict[Path, list[str]]]:
    """The paths, and the parts of each that are asked for; nothing asks for all of it."""
    paths: list[Path] = []
    parts: dict[Path, list[str]] = {}
    for text in texts:
        path, part = _divided(text)
        if not part or path not in parts:
            paths.append(path)
        parts.setdefault(path, []).append(part)
    return paths, parts


def _divided(text: str) -> tuple[Path, str]:
    """A path, and what stands behind # where no file has the whole name."""
    before, mark, part = text.rpartition("#")
    if mark and part and "\0" not in text and not Path(text).exists() and Path(before).is_file():
        return Path(before), part
    return Path(text), ""


def _inside(
    path: Path, part: str, name: str, options: ReadingOptions, ceiling: Ceiling
) -> list[SourceFile]:
    if is_workbook(path):
        return sheets_of(path, part, name, options, ceiling)
    if is_r_data(path):
        return tables_in_r_data(path, part, name, options, ceiling)
    whole = Path(f"{path}#{part}") if part else path
    return [SourceFile.found(whole, name, options, ceiling)]
