"""Attempts: what `add` began and did not finish holds publishing up until somebody settles it.

A schedule that does not look at exit codes would otherwise publish without the records of a batch
that was refused, stopped or killed; and one person's record may be why it was. So a note is written
before the first file is read, and removed once the records are in. The note decides about nothing
but whether steps may be sealed, and what may be added before: the public sees a delay at most.
Where `publish` was held up, the step that it was to seal is noted as well: it is sealed before
anything new is added, since late records would otherwise come in time for it.

Batches come in the order in which they were first tried, since of two dates of a person the one
that came first counts; and every attempt uses up a batch number, so that `withdraw 3` means the
same command whatever became of the two before it.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import StudyError
from graphveil.hints import Hint
from graphveil.study.chain import digest
from graphveil.study.folder import Folder, make_private_folder, write_private
from graphveil.study.store import now

if TYPE_CHECKING:
    from graphveil.study.ledger import Ledger

_HELD_UP = ".publish"  # the ending of a file whose name is the step
GIVEN_UP = 0  # which is the number of no batch
_SHOWN = 60  # letters of file names in a message


@dataclass(frozen=True)
class Attempt:
    """One `add` that began.

    Attributes:
        number: of its own, which the ledger enters with the records.
        files: what was to be added, for a message; without folders, hosts and passwords.
        keys: of each file, the same wherever the command was run.
        at: when it began, in UTC.
        batch: the number that its batch will have.
        settled_by: the batch that brought its files later, or `GIVEN_UP`; None while they are
            missing.
    """

    number: str
    files: str
    keys: tuple[str, ...]
    at: str
    batch: int = 0
    settled_by: int | None = None

    @classmethod
    def at_files(cls, files: Sequence[str], batch: int) -> Attempt:
        """An attempt that begins now."""
        names = ", ".join(Path(each).name for each in files)
        shown = names if len(names) <= _SHOWN else f"{names[:_SHOWN]}…"
        places = {str(Path(each).resolve()) if Path(each).exists() else each for each in files}
        return cls(secrets.token_hex(8), shown, tuple(map(digest, sorted(places))), now(), batch)

    def brings(self, other: Attempt) -> bool:
        """Whether all files of another attempt are among these."""
        return set(other.keys) <= set(self.keys)


@contextmanager
def attempting(folder: Folder, ledger: Ledger, files: Sequence[str]) -> Iterator[Attempt]:
    """Note that files are being added; settle it, and earlier attempts at them, if that succeeds.

    Args:
        folder: of the study.
        ledger: of the study.
        files: what they are called; the same files again, or among others, settle an attempt.
    """
    home = folder.attempts
    make_private_folder(home)
    tried, missing = _noted(home), unsettled(folder, ledger)
    batch = max([ledger.next_batch, *(each.batch + 1 for each in tried)])
    began = Attempt.at_files(files, batch)
    _write(home, began)
    held_up_after = _held_up_after(folder, ledger)
    if held_up_after is not None and not any(each.batch <= held_up_after for each in missing):
        raise StudyError(
            "publishing was held up until an earlier batch went in, and what comes later must not "
            "be counted in its step.",
            hint=Hint("publish-first"),
        )
    if missing and not began.brings(missing[0]):
        raise StudyError(
            f"adding {missing[0].files} ({missing[0].at}) was refused or did not end, and batches "
            "come in order.",
            hint=Hint("add-again-with"),
        )
    yield began
    _place(home, began).unlink(missing_ok=True)
    for each in _noted(home):
        if each.settled_by is None and began.brings(each):
            _write(home, replace(each, settled_by=began.batch))


def withdrawn(folder: Folder, batch: int) -> None:
    """Note that files are missing again: the batch that brought them at last was withdrawn."""
    for each in _noted(folder.attempts):
        if each.settled_by == batch:
            _write(folder.attempts, replace(each, settled_by=None))


def given_up(folder: Folder, ledger: Ledger, batch: int) -> bool:
    """Whether `withdraw` of this number is about an attempt that was not settled: it is given up.

    Had its records gone in, the same command would have taken them back. So no earlier batch can be
    withdrawn either: it would not be the latest. Nor can one that has held up a step: with its
    records that step would be sealed, and they would stay.
    """
    notes, held_up_after = unsettled(folder, ledger), _held_up_after(folder, ledger)
    later = [each for each in notes if each.batch > batch]
    if later:
        raise StudyError(
            f"batch {batch} cannot be withdrawn: adding {later[-1].files} ({later[-1].at}) came "
            "after it, and was refused or did not end.",
            hint=Hint("add-again"),
        )
    mine = [each for each in notes if each.batch == batch]
    if mine and held_up_after is not None and batch <= held_up_after:
        raise StudyError(
            f"batch {batch} cannot be withdrawn: a step was to be published since it was tried.",
            hint=Hint("add-again"),
        )
    for each in mine:
        _write(folder.attempts, replace(each, settled_by=GIVEN_UP))
    return bool(mine)


def unsettled(folder: Folder, ledger: Ledger) -> tuple[Attempt, ...]:
    """The attempts that were not finished; one killed after its commit is finished."""
    return tuple(
        each
        for each in _noted(folder.attempts)
        if each.settled_by is None and each.number not in ledger.attempts
    )


def require_settled(folder: Folder, ledger: Ledger, last: int) -> None:
    """Refuse to seal steps while records are missing that were to be added before them.

    The refusal is noted: the next step is sealed before anything new is added, and then waits
    for nothing that came after the refusal.

    Args:
        folder: of the study.
        ledger: of the study.
        last: the last step to seal.
    """
    notes, held_up_after = unsettled(folder, ledger), _held_up_after(folder, ledger)
    if held_up_after is not None and last == len(ledger.sealed):
        notes = tuple(each for each in notes if each.batch <= held_up_after)
    if not notes:
        return
    if held_up_after is None:
        write_private(_held_up(folder, ledger), str(notes[-1].batch).encode())
    raise StudyError(
        f"records are missing: adding {notes[0].files} ({notes[0].at}) was refused or did not end.",
        hint=Hint("add-again"),
    )


def abandon(folder: Folder) -> int:
    """Give up all attempts, whose numbers stay used; how many were not settled."""
    missing = [each for each in _noted(folder.attempts) if each.settled_by is None]
    for each in missing:
        _write(folder.attempts, replace(each, settled_by=GIVEN_UP))
    for held_up in folder.attempts.glob(f"*{_HELD_UP}"):
        held_up.unlink(missing_ok=True)
    return len(missing)


def _held_up(folder: Folder, ledger: Ledger) -> Path:
    """The note that the next step was to be sealed while records were missing."""
    return folder.attempts / f"{len(ledger.sealed)}{_HELD_UP}"


def _held_up_after(folder: Folder, ledger: Ledger) -> int | None:
    """The last batch that had been tried when sealing the next step was held up, if it was."""
    try:
        return int(_held_up(folder, ledger).read_text(encoding="ascii"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):  # damaged: the step waits for everything
        return sys.maxsize


def _place(home: Path, attempt: Attempt) -> Path:
    return home / f"{attempt.number}.json"


def _write(home: Path, attempt: Attempt) -> None:
    write_private(_place(home, attempt), json.dumps(asdict(attempt)).encode())


def _noted(home: Path) -> tuple[Attempt, ...]:
    """All notes, in order; one that cannot be read is returned as an unknown attempt."""
    if not home.is_dir():
        return ()
    notes = [_read(path) for path in home.iterdir() if path.suffix == ".json"]
    return tuple(sorted(notes, key=lambda each: (each.batch, each.at, each.number)))


def _read(path: Path) -> Attempt:
    try:
        data = json.loads(path.read_bytes())
        keys, settled = tuple(map(str, data["keys"])), data.get("settled_by")
        batch, settled = int(data.get("batch", 0)), None if settled is None else int(settled)
        return Attempt(path.stem, str(data["files"]), keys, str(data["at"]), batch, settled)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Attempt(path.stem, "unknown files", ("unknown",), "unknown time")
