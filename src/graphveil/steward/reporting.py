"""Reporting: what was published, as page, tables or one archive, from the public part alone."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import ParameterError, StudyError
from graphveil.study.folder import Folder, require_no_links_in_public
from graphveil.study.public_part import PublicPart
from graphveil.whole_files import write_whole

if TYPE_CHECKING:
    from graphveil.report.card import FiledBy
    from graphveil.report.releases import Measurement
    from graphveil.study.ledger import Ledger


# Where the public part is: in a study's folder, or by itself, as it was published.


def find(given: Path) -> Path:
    """The public part in a folder that is a study, or is a public part itself."""
    root = given.resolve()
    for folder in (root / "public", root):
        if (folder / "study.toml").is_file():
            require_no_links_in_public(folder)
            if has_private_part(folder):
                Folder(folder.parent).require_no_links()
            return folder
    raise StudyError(f"there is no study in '{given}', and it is not a public part.")


def has_private_part(public: Path) -> bool:
    """Whether the study is here as a whole."""
    return (public.parent / "private").is_dir() and public.name == "public"


def writing(public: Path) -> AbstractContextManager[object]:
    """Keep other processes from writing into the same public part."""
    return Folder(public.parent).lock() if has_private_part(public) else nullcontext()


def report_is_current(folder: Folder, ledger: Ledger) -> bool:
    """Whether the page, which is written last, covers the newest public row."""
    page, lines = folder.public / "report.html", ledger.public_lines
    return page.is_file() and bool(lines) and lines[-1].hash.encode() in page.read_bytes()


@dataclass(frozen=True, repr=False)
class Report:
    """What was written.

    Attributes:
        part: what it shows, as it was read for it.
        paths: its files, the page last.
    """

    part: PublicPart
    paths: tuple[Path, ...]

    def __repr__(self) -> str:
        return f"<Report: {len(self.paths)} files, of which readers open {self.page}>"

    @property
    def page(self) -> Path:
        """What readers open."""
        return self.paths[-1]


def report(folder: Path) -> Report:
    """Write the report of a study, whose public part is first brought up to date; or of one alone.

    So it finishes whatever a killed command has left unfinished, and seals nothing.
    """
    from graphveil.study import StoredStudy

    public = find(folder)
    if has_private_part(public):
        study = StoredStudy.at(public.parent)
        ledger = study.ledger()
        if ledger.is_open:
            study.announce(ledger)
    return write_report(public)


def filed_by(region: str, sector: str, authors: Sequence[str], curator: str) -> FiledBy:
    """What an entry of a registry says that a study cannot know; refuses what is not stated."""
    from graphveil.report.card import FiledBy

    return FiledBy(region, sector, tuple(authors), curator)


def write_registry_entry(folder: Path, file: Path, filed: FiledBy) -> None:
    """Write the entry of a study for OpenDP's registry of deployments."""
    from graphveil.report.card import as_yaml, entry

    content = as_yaml(entry(PublicPart.read(find(folder)), filed))
    write_whole(file, lambda opened: opened.write(content), parameter="registry")


def write_report(public: Path, known: PublicPart | None = None) -> Report:
    """Write the report of a public part into it; one process at a time.

    Args:
        public: where it lies.
        known: what it says, if the caller knows; where that is out of date it is read again, under
            the lock, so that no report replaces a newer one.
    """
    from graphveil.report.artefacts import write_part

    with writing(public):
        current = known if known and known.is_announced(public) else None
        part = current or PublicPart.read_newest(public)
        return Report(part, write_part(public, part))


# Releases: what was published, of all series or of one, and of some steps.


def published(folder: Path, series: str | None = None) -> PublicPart:
    """The public part of a study, or by itself; of one series, if it is named."""
    part = PublicPart.read(find(folder))
    if series is None:
        return part
    chosen = tuple(each for each in part.series if each.series == series)
    if not chosen:
        known = ", ".join(each.series for each in part.series)
        problem = f"there is none called '{series}'"
        raise ParameterError("series", problem, hint=f"There are: {known}.")
    return replace(part, series=chosen)


def of_steps(part: PublicPart, steps: Iterable[int]) -> tuple[Measurement, ...]:
    """Every number that was published at some steps."""
    from graphveil.report.releases import measurements

    return measurements(part, set(steps))


# Archiving: the public folder as one file, to hand on or to put on a server.


SAME_DAY = (1980, 1, 1, 0, 0, 0)  # in an archive: the same files are the same bytes


def public_files(folder: Path) -> tuple[Path, ...]:
    """The files of a study's public part, relative to it; links are none of them.

    Nor are files whose name is no plain text, in which graphveil writes nothing.
    """
    public = find(folder)
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
            return find(folder) / each
    raise StudyError("there is no such public file.")


def public_archive(folder: Path) -> bytes:
    """All of them in a zip, of which no file is half-written."""
    public = find(folder)
    content = io.BytesIO()
    with (
        writing(public),
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for each in public_files(folder):
            entry = zipfile.ZipInfo(f"public/{each.as_posix()}", SAME_DAY)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, (public / each).read_bytes())
    return content.getvalue()
