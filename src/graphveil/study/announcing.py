"""Announcing: the public part is written from what was committed, never the other way round."""

from __future__ import annotations

from graphveil.errors import IntegrityError, StudyError
from graphveil.study import study_file
from graphveil.study.chain import PublicRow, as_text, read_rows
from graphveil.study.folder import Folder
from graphveil.study.ledger import Ledger
from graphveil.study.study_file import StudyFile
from graphveil.whole_files import write_bytes


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
    """Whether something was committed that the public part does not say yet."""
    return len(announced(folder)) < len(ledger.public_rows)


def require_newest(folder: Folder, ledger: Ledger) -> None:
    """Refuse a database that knows less than the public was told: it is an older copy.

    To go on from it would publish other numbers for steps that are published already.
    """
    told, known = announced(folder), ledger.public_rows
    if told == known[: len(told)]:
        return
    number = next(
        (n for n, (a, b) in enumerate(zip(told, known, strict=False)) if a != b), len(known)
    )
    raise IntegrityError(
        f"the ledger database is not the one that the public part was written from: row {number} "
        f"of public/ledger.jsonl ({told[number].event}, {told[number].at}) is not in it. Most "
        "likely an older copy of the database was restored. Nothing was published: to go on "
        "would draw other noise for steps that are out already, and two noisy values of one "
        "number tell more than was promised. The way out: restore the newest private folder, "
        "the one that belongs to this public folder. If it is lost, this study has ended: keep "
        "its public folder, and open a new study, whose ε adds to the one already spent."
    )


def require_agreement(folder: Folder, ledger: Ledger) -> None:
    """Refuse a study file that says something else than the ledger does.

    A version from before the newest series is fine: a process was killed before it wrote.
    """
    found = study_file.parse(folder.study_file.read_text(encoding="utf-8"), "public/study.toml")
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
