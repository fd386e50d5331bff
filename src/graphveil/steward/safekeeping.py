"""Safekeeping: how a study stands to what this machine has seen, and when it was last backed up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.study.place.witness import Standing


@dataclass(frozen=True)
class Safekeeping:
    """What a keeper of backups has to know.

    Attributes:
        standing: whether the study may go on here, and if not, why.
        entries: rows of the ledger; nothing has happened in a draft.
        since_backup: how many of them came after the last backup that somebody told of; None if
            nobody has, or what was backed up is no longer in the ledger.
        machine: the code of this machine, to which a study can be handed over.
    """

    standing: Standing
    entries: int
    since_backup: int | None
    machine: str

    @property
    def is_backed_up(self) -> bool:
        """Whether the last backup holds all there is."""
        return not self.entries or self.since_backup == 0


def safekeeping(folder: Path) -> Safekeeping:
    """How safe the study in a folder is; changes nothing in it."""
    from graphveil.study import Study
    from graphveil.study.place import known_folders

    study = Study.at(folder)
    place, rows = folder.resolve(), [row.hash for row in study.ledger().rows]
    kept = (each.backup for each in known_folders.known(study.machine) if each.folder == place)
    told = next(kept, "")
    since = len(rows) - 1 - rows.index(told) if told in rows else None
    return Safekeeping(study.standing(), len(rows), since, study.machine.code())


def shared_backup(folder: Path) -> str | None:
    """What to say where one backup may restore a study and what tells its copies; else None.

    A study on a server is not restored with the home directory, and knows its place by itself.
    """
    from graphveil.study import Study
    from graphveil.study.place.machine import VARIABLE

    study = Study.at(folder)
    common = study.machine.backed_up_with(study.folder.root)
    if common is None or not study.folder.database_url.startswith("sqlite"):
        return None
    moved = "and move the study there: `graphveil hand-over`"
    when = moved if study.ledger().is_open else "before records are added"
    return (
        f"the study and this machine's memory of it both lie in {common}: a restored backup of "
        f"both may go on unnoticed, with noise that is used already. Set {VARIABLE} to a folder "
        f"that is not restored with it, {when}."
    )


def note_backup(folder: Path) -> None:
    """Keep in mind that all there is now was backed up; the keeper says so, nobody checks."""
    from graphveil.study import Study
    from graphveil.study.place import known_folders

    study = Study.at(folder)
    rows = study.ledger().rows
    known_folders.remember(study.machine, folder, rows[-1].hash if rows else "")
