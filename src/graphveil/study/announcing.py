"""Announcing: the public part is written from what was committed, never the other way round."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.errors import IntegrityError, StudyError
from graphveil.study import study_file
from graphveil.study.chain import PublicRow, as_text, read_rows
from graphveil.study.folder import Folder
from graphveil.study.ledger import Event, Ledger
from graphveil.study.study_file import StudyFile
from graphveil.whole_files import write_bytes


@dataclass(frozen=True)
class Told:
    """What the public part says, at one moment.

    It is read before the ledger, never after: whoever announces has committed before, so that
    a ledger which is read later knows all of it, whatever others do meanwhile.
    """

    rows: tuple[PublicRow, ...]
    study_file: str


def told(folder: Folder) -> Told:
    """What the public part says now."""
    return Told(announced(folder), folder.study_file.read_text(encoding="utf-8"))


def announce(folder: Folder, ledger: Ledger) -> None:
    """Write the study file and the public chain, where they are not yet as committed."""
    texts = {
        folder.study_file: study_file.written(ledger.versions[-1]),
        folder.public_ledger: as_text(ledger.public_rows),
    }
    for path, text in texts.items():
        if not path.exists() or path.read_bytes() != text.encode():
            write_bytes(path, text.encode())


def announced(folder: Folder) -> tuple[PublicRow, ...]:
    """The public chain as it stands in the public part."""
    if not folder.public_ledger.exists():
        return ()
    return read_rows(folder.public_ledger.read_text(encoding="utf-8"), "public/ledger.jsonl")


def is_behind(folder: Folder, ledger: Ledger) -> bool:
    """Whether a step was sealed that the public part does not tell yet."""
    steps = [row for row in announced(folder) if row.event == Event.STEP_SEALED]
    return len(steps) < len(ledger.sealed)


def require_newest(public: Told, ledger: Ledger) -> None:
    """Refuse a database that knows less than the public was told: it is an older copy.

    To go on from it would publish other numbers for steps that are published already.
    """
    rows, known = public.rows, ledger.public_rows
    if rows == known[: len(rows)]:
        return
    number = next(
        (n for n, (a, b) in enumerate(zip(rows, known, strict=False)) if a != b), len(known)
    )
    raise IntegrityError(
        f"the ledger database is not the one that the public part was written from: row {number} "
        f"of public/ledger.jsonl ({rows[number].event}, {rows[number].at}) is not in it. Most "
        "likely an older copy of the database was restored. Nothing was published: to go on "
        "would draw other noise for steps that are out already, and two noisy values of one "
        "number tell more than was promised. The way out: restore the newest private folder, "
        "the one that belongs to this public folder. If it is lost, this study has ended: keep "
        "its public folder, and open a new study, whose ε adds to the one already spent."
    )


def require_agreement(public: Told, ledger: Ledger) -> None:
    """Refuse a study file that says something else than the ledger does.

    A version from before the newest series is fine: a process was killed before it wrote.
    """
    if public.study_file == study_file.written(ledger.versions[-1]):
        return
    found = study_file.parse(public.study_file, "public/study.toml")
    if found in ledger.versions:
        return
    entries = ", ".join(_differing(found, ledger.versions[-1]))
    raise StudyError(
        f"public/study.toml says something else than the ledger: {entries}. A study keeps its "
        "promise as it was when it was opened. Undo the change; for a new series use `graphveil "
        "series`, for another promise open a new study."
    )


def _differing(found: StudyFile, promised: StudyFile) -> list[str]:
    theirs, ours = found.to_data(), promised.to_data()
    return [key for key in {**ours, **theirs} if theirs.get(key) != ours.get(key)]
