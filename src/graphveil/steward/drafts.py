"""Drafts: as long as nothing is promised, the study file may be changed, or all of it deleted."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphveil.errors import StudyError
from graphveil.study import Promise, StoredStudy
from graphveil.study.promise import require_limits
from graphveil.study.storage.folder import Folder
from graphveil.whole_files import write_bytes


def rewrite(folder: Path, text: str) -> Promise:
    """Write another study file; refuses what is no promise, and changes nothing then."""
    with _draft(folder) as place:
        promise = Promise.from_toml(text)
        require_limits(promise, "study.toml")
        write_bytes(place.study_file, text.encode())
        return promise


def delete(folder: Path) -> None:
    """Remove both parts of a draft, with files that wait there; other files beside them stay."""
    with _draft(folder) as place:
        if (place.private / "store.toml").exists():
            raise StudyError(
                "the ledger of this draft is in a database: drop that, then remove the folder."
            )
        # Last the study file: as long as it is there, the draft is whole or can be deleted again.
        for each in (*place.public.iterdir(), place.public):
            if each not in (place.study_file, place.public):
                _remove(each)
        place.study_file.unlink()
        place.public.rmdir()
    shutil.rmtree(place.private)
    if not any(place.root.iterdir()):
        place.root.rmdir()


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def _draft(folder: Path) -> Iterator[Folder]:
    """The folder of a draft, while nobody else writes it; refuses a study that is open."""
    study = StoredStudy.at(folder)
    with study.writing() as transaction:  # as whoever adds the first records
        if transaction.ledger().is_open:
            raise StudyError("the study is open: its promise is binding, and stays as it is.")
        yield study.folder
