"""Where the public part is: in a study's folder, or by itself, as it was published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import ParameterError, StudyError

if TYPE_CHECKING:
    from graphveil.study import Study
    from graphveil.study.ledger import Ledger
    from graphveil.study.public_part import PublicPart


def public_folder(given: Path) -> Path:
    """The public part in a folder that is a study, or is a public part itself."""
    for folder in (given / "public", given):
        if (folder / "study.toml").is_file():
            return folder.resolve()
    raise StudyError(f"there is no study in '{given}', and it is no public part of one.")


def has_private_part(public: Path) -> bool:
    """Whether the study is here as a whole."""
    return (public.parent / "private").is_dir() and public.name == "public"


@contextmanager
def writing(public: Path) -> Iterator[None]:
    """Keep other processes from writing into the same public part."""
    from graphveil.study.folder import Folder

    if not has_private_part(public):
        yield
        return
    with Folder(public.parent).lock():
        yield


def write_report(public: Path) -> tuple[Path, ...]:
    """Write page, charts, card and table; one process at a time."""
    from graphveil.cli.output import working
    from graphveil.report import write

    with working("Writing the report …"), writing(public):
        return write(public)


def report_is_current(study: Study, ledger: Ledger) -> bool:
    """Whether the page, which is written last, tells of the newest public row."""
    page, rows = study.folder.public / "report.html", ledger.public_rows
    return page.is_file() and bool(rows) and rows[-1].hash.encode() in page.read_bytes()


def read_public(given: Path, series: str | None = None) -> PublicPart:
    """What was published, of all series or of one."""
    from graphveil.study.public_part import PublicPart

    part = PublicPart.read(public_folder(given))
    if series is None:
        return part
    chosen = tuple(each for each in part.series if each.series == series)
    if not chosen:
        known = ", ".join(each.series for each in part.series)
        problem = f"there is none called '{series}'"
        raise ParameterError("series", problem, hint=f"There are: {known}.")
    return replace(part, series=chosen)
