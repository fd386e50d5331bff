"""Reporting: page, charts, card and table are written from the public part alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import StudyError
from graphveil.steward import public_folder

if TYPE_CHECKING:
    from graphveil.study.public.public_part import PublicPart


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
    from graphveil.study import Study

    public = public_folder.find(folder)
    if public_folder.has_private_part(public):
        study = Study.at(public.parent)
        ledger = study.ledger()
        if ledger.is_open:
            study.announce(ledger)
    return write_report(public)


def write_trends(folder: Path, file: Path) -> None:
    """Write the smooth trend of every series into a file of the caller's choice."""
    from graphveil.report.statement import has_revisions
    from graphveil.report.tables.trends import as_table
    from graphveil.study.public.public_part import PublicPart
    from graphveil.whole_files import write_whole

    part = PublicPart.read(public_folder.find(folder))
    if not has_revisions(part):
        raise StudyError(
            "no series has a trend: nothing is published yet, or the study was opened by a version "
            "that did not tell how its noise hangs together."
        )
    content = as_table(part)
    write_whole(file, lambda opened: opened.write(content), parameter="trend")


def write_report(public: Path, known: PublicPart | None = None) -> Report:
    """Write the report of a public part into it; one process at a time.

    Args:
        public: where it lies.
        known: what it says, if the caller knows; it is read where that is no longer so, by
            whoever holds the lock, so that no report replaces a newer one.
    """
    from graphveil.report.artefacts import write_part
    from graphveil.study.public.public_part import PublicPart

    with public_folder.writing(public):
        told = known if known and known.is_announced(public) else None
        part = told or PublicPart.read_newest(public)
        return Report(part, write_part(public, part))
