"""Where the public part is: in a study's folder, or by itself, as it was published."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import StudyError

if TYPE_CHECKING:
    from graphveil.study.ledger import Ledger
    from graphveil.study.storage.folder import Folder


def find(given: Path) -> Path:
    """The public part in a folder that is a study, or is a public part itself."""
    from graphveil.study.storage.folder import Folder, require_no_links_in_public

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
    from graphveil.study.storage.folder import Folder

    return Folder(public.parent).lock() if has_private_part(public) else nullcontext()


def report_is_current(folder: Folder, ledger: Ledger) -> bool:
    """Whether the page, which is written last, covers the newest public row."""
    page, lines = folder.public / "report.html", ledger.public_lines
    return page.is_file() and bool(lines) and lines[-1].hash.encode() in page.read_bytes()
