"""Attempts: what `add` began and did not finish holds publishing up until somebody settles it.

A schedule that does not look at exit codes would otherwise publish without the records of a batch
that was refused, stopped or killed; and one person's record may be why it was. So a note is written
before the first file is read, and removed once the records are in. The note decides about nothing
but whether steps may be sealed: the public sees a delay at most.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import StudyError
from graphveil.study.public.chain import digest
from graphveil.study.storage.folder import Folder, make_private_folder, write_private
from graphveil.study.storage.store import now

if TYPE_CHECKING:
    from graphveil.study.ledger import Ledger

_SHOWN = 60  # letters of file names in a message


@dataclass(frozen=True)
class Attempt:
    """One `add` that began.

    Attributes:
        number: of its own, which the ledger enters with the records.
        files: what was to be added, for a message; without folders, hosts and passwords.
        keys: of each file, the same wherever the command was run.
        at: when it began, in UTC.
    """

    number: str
    files: str
    keys: tuple[str, ...]
    at: str

    @classmethod
    def at_files(cls, files: Sequence[str]) -> Attempt:
        """An attempt that begins now."""
        names = ", ".join(Path(each).name for each in files)
        shown = names if len(names) <= _SHOWN else f"{names[:_SHOWN]}…"
        places = {str(Path(each).resolve()) if Path(each).exists() else each for each in files}
        return cls(secrets.token_hex(8), shown, tuple(map(digest, sorted(places))), now())


@contextmanager
def attempting(folder: Folder, files: Sequence[str]) -> Iterator[Attempt]:
    """Note that files are being added; forget it, and earlier attempts at them, if that succeeds.

    Args:
        folder: of the study.
        files: what they are called; the same files again, or among others, settle an attempt.
    """
    began, home = Attempt.at_files(files), folder.attempts
    make_private_folder(home)
    write_private(_place(home, began), json.dumps(asdict(began)).encode())
    yield began
    for each in _noted(home):
        if set(each.keys) <= set(began.keys):
            _place(home, each).unlink(missing_ok=True)


def unsettled(folder: Folder, ledger: Ledger) -> tuple[Attempt, ...]:
    """The attempts that were not finished; one that was killed behind its commit is."""
    return tuple(each for each in _noted(folder.attempts) if each.number not in ledger.attempts)


def require_settled(folder: Folder, ledger: Ledger) -> None:
    """Refuse to seal a step while records are missing that were to be added before it."""
    found = unsettled(folder, ledger)
    if found:
        raise StudyError(
            f"records are missing: `graphveil add` of {found[-1].files} ({found[-1].at}) was "
            "refused or did not end. Add these files again, or give them up: "
            "`graphveil add STUDY --abandon`."
        )


def abandon(folder: Folder) -> int:
    """Forget all attempts; how many there were."""
    found = _noted(folder.attempts)
    for each in found:
        _place(folder.attempts, each).unlink(missing_ok=True)
    return len(found)


def _place(home: Path, attempt: Attempt) -> Path:
    return home / f"{attempt.number}.json"


def _noted(home: Path) -> tuple[Attempt, ...]:
    """All notes, in the order of time; one that cannot be read stands for an unknown attempt."""
    if not home.is_dir():
        return ()
    found = [_read(path) for path in home.iterdir() if path.suffix == ".json"]
    return tuple(sorted(found, key=lambda each: (each.at, each.number)))


def _read(path: Path) -> Attempt:
    try:
        data = json.loads(path.read_bytes())
        keys = tuple(map(str, data["keys"]))
        return Attempt(path.stem, str(data["files"]), keys, str(data["at"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Attempt(path.stem, "unknown files", ("unknown",), "unknown time")
