"""Archiving: the public folder as one file, to hand on or to put on a server."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from graphveil.errors import StudyError
from graphveil.steward import public_folder

SAME_DAY = (1980, 1, 1, 0, 0, 0)  # in an archive: the same files are the same bytes


def public_files(folder: Path) -> tuple[Path, ...]:
    """The files of a study's public part, relative to it; links are none of them.

    Nor are files whose name is no plain text, in which graphveil writes nothing.
    """
    public = public_folder.find(folder)
    return tuple(sorted(_files(public, public)))


def _files(public: Path, folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_symlink() or path.name.startswith(".") or not path.name.isprintable():
            continue
        if path.is_dir():
            yield from _files(public, path)
        elif path.is_file():
            yield path.relative_to(public)


def public_file(folder: Path, name: str) -> Path:
    """One of these files by its name; refuses everything else, whatever its name says."""
    for each in public_files(folder):
        if each.as_posix() == name:
            return public_folder.find(folder) / each
    raise StudyError("there is no such public file.")


def public_archive(folder: Path) -> bytes:
    """All of them in a zip, of which no file is half-written."""
    public = public_folder.find(folder)
    content = io.BytesIO()
    with (
        public_folder.writing(public),
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for each in public_files(folder):
            entry = zipfile.ZipInfo(f"public/{each.as_posix()}", SAME_DAY)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, (public / each).read_bytes())
    return content.getvalue()
