"""This machine: what it remembers of studies, outside their folders, and the code that names it.

The state folder is `$GRAPHVEIL_STATE`, or the place for state of the system's user. It holds
random codes, hashes and numbers of rows: no count and no record. Each file is bound to its place
(`binding`), so that a copy of the state folder is not taken for the memory itself. Beside them lies
the list of folders in which studies were begun or opened (`known_folders`), which decides nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from string import hexdigits
from tempfile import gettempdir
from typing import IO, Any, Final, NamedTuple

from graphveil.errors import IntegrityError, ParameterError, StorageError
from graphveil.hints import Hint
from graphveil.study.binding import Binding
from graphveil.study.folder import (
    OWNER_ONLY_FILE,
    OWNER_ONLY_FOLDER,
    Folder,
    locked,
    write_private,
)
from graphveil.study.ledger import LedgerRow
from graphveil.whole_files import clear_leftovers, write_whole

VARIABLE = "GRAPHVEIL_STATE"
CODE = 16  # characters that name a machine
FORMAT = 1  # of what is remembered of a study
MOST_ROWS = 2**31 - 1  # of a ledger


class SeenRow(NamedTuple):
    """A row of a ledger, as a machine remembers it."""

    number: int
    hash: str


class Mark(NamedTuple):
    """What a machine saw last of one lineage of a study.

    Attributes:
        newest: the newest row of the ledger.
        announced: the newest row that is published.
    """

    newest: SeenRow
    announced: SeenRow


@dataclass(frozen=True)
class Memory:
    """What a machine remembers of one study.

    Attributes:
        marks: what it saw last, by lineage.
        handing: by lineage, the row that hands it over; it is remembered before it is committed,
            so that an interrupted hand-over can be finished with this very row.
        copied: lineages of which it remembers only what a copied or restored file says.
    """

    marks: Mapping[str, Mark] = field(default_factory=dict)
    handing: Mapping[str, LedgerRow] = field(default_factory=dict)
    copied: frozenset[str] = frozenset()


NOTHING: Final = Memory()
# Whatever a file of another form can lead to.
_UNREADABLE = (
    ValueError, TypeError, LookupError, AttributeError, RecursionError, IntegrityError,
)  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """One user's memory on one machine.

    Attributes:
        folder: where it is stored; it must last longer than any copy of a study.
    """

    folder: Path

    @classmethod
    def here(cls) -> Machine:
        """This one."""
        chosen = os.environ.get(VARIABLE)
        if chosen and not Path(chosen).is_absolute():
            raise StorageError(
                f"{VARIABLE} must name its folder from the root on, or every place in which a "
                "command is run would have a memory of its own."
            )
        return cls(Path(chosen) if chosen else _state_of_user() / "graphveil")

    @classmethod
    def beside(cls, study: Path) -> Machine:
        """This one, for the study in a folder; refuses a memory that is copied with it."""
        machine = cls.here()
        require_outside(machine, study)
        return machine

    def code(self) -> str:
        """Its name, random and made once, to which a study can be handed over."""
        with writing_in(self.folder):
            known = self.known_code()
            if not known or not self._code.exists():
                _write_bound(self._code, {"code": known or secrets.token_hex(CODE // 2)})
        return self.known_code()

    def known_code(self) -> str:
        """The same, but empty where it was never asked for; writes nothing.

        A copied state folder has no code: two machines would otherwise have one.
        """
        if not self._code.exists():  # an earlier version may have made one
            return self._text(self.folder / "machine").strip()
        try:
            stored = json.loads(self._text(self._code))
            code, bound = str(stored["code"]), Binding.read(stored["place"])
        except _UNREADABLE as error:
            raise StorageError(f"'{self._code}' cannot be read.") from error
        return "" if bound.is_left(Binding.at(self._code)) else code

    def backed_up_with(self, study: Path) -> Path | None:
        """The folder from which one backup may restore both this memory and a study.

        None where they have nothing in common but the root or the place of temporary files, or
        lie on different file systems.
        """
        places = [path.resolve() for path in (self.folder, study)]
        try:
            common = Path(os.path.commonpath(places))
        except ValueError:  # on different drives
            return None
        apart = len({_device(path) for path in places}) > 1
        passing = (Path(common.anchor), Path(gettempdir()).resolve())
        return None if apart or common in passing else common

    def holding(self, study: str) -> AbstractContextManager[None]:
        """One process at a time goes on with a study, whichever of its copies it works on.

        Args:
            study: the hash of the row that opened it.
        """
        return writing_in(self._seen(study).parent)

    def memory(self, study: str) -> Memory:
        """What is remembered of a study; nothing of one that was never seen."""
        path = self._seen(study)
        if not path.exists():
            return NOTHING
        try:
            stored = json.loads(self._text(path))
            lineages = stored["lineages"]
            marks = {lineage: Mark(*map(_seen_row, mark)) for lineage, mark in lineages.items()}
            handing = stored.get("handing", {}).items()
            rows = {lineage: LedgerRow.stored(*row) for lineage, row in handing}
            copied = frozenset(map(str, stored.get("copied", ())))
        except _UNREADABLE as error:
            raise StorageError(
                f"what this machine remembers of the study cannot be read "
                f"({path}). Restore that file; do not delete it."
            ) from error
        if Binding.read(stored.get("place")).is_left(Binding.at(path)):
            copied |= marks.keys()
        return Memory(marks, rows, copied)

    def remember(
        self, study: str, marks: Mapping[str, Mark], handing: Mapping[str, LedgerRow] | None = None
    ) -> None:
        """Store what was seen; the caller must be `holding` the study.

        Args:
            study: the hash of the row that opened it.
            marks: all of them, by lineage.
            handing: rows that hand a lineage over and are about to be committed.
        """
        before = self.memory(study)
        rows = {**before.handing, **(handing or {})}
        content: dict[str, Any] = {"format": FORMAT, "lineages": marks}
        if rows:
            content["handing"] = {lineage: astuple(row) for lineage, row in rows.items()}
        if before.copied:
            content["copied"] = sorted(before.copied)
        with _in_words():
            _make(self._seen(study).parent)
            _write_bound(self._seen(study), content)

    @property
    def _code(self) -> Path:
        return self.folder / "machine.json"

    def _seen(self, study: str) -> Path:
        return self.folder / "studies" / study / "seen.json"

    def _text(self, path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, ValueError) as error:
            raise StorageError(f"'{path}' cannot be read.") from error


def _write_bound(path: Path, content: dict[str, Any]) -> None:
    """Write a file that says where it was written."""

    def write(file: IO[bytes]) -> None:
        place = Binding.of(file.fileno(), path.parent)._asdict()
        file.write(json.dumps({**content, "place": place}, indent=1).encode())

    write_whole(path, write, mode=OWNER_ONLY_FILE)


def _seen_row(stored: Sequence[object]) -> SeenRow:
    """A row as it was read from the file; refuses what no ledger can have."""
    number, row_hash = stored
    if isinstance(number, int) and 0 <= number <= MOST_ROWS and isinstance(row_hash, str):
        return SeenRow(number, row_hash)
    raise ValueError("no row of a ledger")


@contextmanager
def writing_in(folder: Path) -> Iterator[None]:
    """One process at a time writes into a folder; what a killed one left is removed."""
    with ExitStack() as held:
        with _in_words():
            _make(folder)
            held.enter_context(locked(folder / "lock"))
        clear_leftovers(folder)
        yield


def _make(folder: Path) -> None:
    """The folder, and those above it that are missing, for its owner only."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=OWNER_ONLY_FOLDER, exist_ok=True)


def require_outside(machine: Machine, study: Path) -> None:
    """Refuse a memory within the study: a copy or a backup would bring its own along."""
    if machine.folder.resolve().is_relative_to(study.resolve()):
        raise StorageError(
            f"{VARIABLE} lies within the study, so that every copy of it would be taken for the "
            f"original. Set {VARIABLE} to a folder that lasts outside of it."
        )


def _device(path: Path) -> int:
    """The file system that a path is on, or will be on once it is made."""
    while not path.exists():
        path = path.parent
    return path.stat().st_dev


def require_code(code: str, machine: Machine) -> None:
    """Refuse what is not the code of another machine."""
    if len(code) != CODE or set(code) - set(hexdigits.lower()):
        raise ParameterError(
            "to",
            f"is not the code of a machine, {CODE} digits and letters",
            hint=Hint("machine-code"),
        )
    if code == machine.code():
        raise ParameterError("to", "is this machine, which has the study already")


def require_same_taker(begun: str, code: str) -> None:
    """Refuse to finish a hand-over with another machine than it was begun with."""
    if begun != code:
        raise ParameterError(
            "to",
            f"handing over to {begun} was interrupted, and that machine may have the study already",
            hint=Hint("same-taker", to=begun),
        )


def _state_of_user() -> Path:
    """Where programs keep what has to outlast their data, by the habits of the system."""
    home = Path.home()
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    chosen = Path(os.environ.get("XDG_STATE_HOME") or "")
    return chosen if chosen.is_absolute() else home / ".local" / "state"


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except (OSError, StorageError) as error:
        cause = f"cannot be written: {error.strerror}." if isinstance(error, OSError) else error
        raise StorageError(
            f"this machine must remember what it publishes, but: {cause} Set {VARIABLE} to a "
            "folder that lasts, and run the command again."
        ) from error


# Known folders: where studies of this machine lie, so that nobody has to remember paths.
#
# The list is a convenience: which study may go on is decided by the witness alone. It is stored
# in the state folder, readable by its owner only, since a path can reveal something. A folder
# that is not there is not shown, and is shown again once it is back.


FILE = "known.json"
KEY = 5  # bytes of the random name of a folder
MOST = 500  # folders that are remembered: the newest ones


@dataclass(frozen=True)
class KnownFolder:
    """A folder with a study.

    Attributes:
        key: a random name, used wherever the path must not be seen.
        folder: where it is.
        backup: the hash of the newest row when its steward last reported a backup.
        hidden: whether its steward has taken it off the list.
    """

    key: str
    folder: Path
    backup: str = ""
    hidden: bool = False

    @property
    def is_there(self) -> bool:
        """Whether there is a study in it now."""
        folder = Folder(self.folder)
        return folder.study_file.is_file() and folder.private.is_dir()


def known(machine: Machine) -> tuple[KnownFolder, ...]:
    """All remembered folders, the newest first; none if the list cannot be read."""
    try:
        stored = json.loads((machine.folder / FILE).read_bytes())["studies"]
        return tuple(_folder(each) for each in stored)
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return ()


def _folder(stored: dict[str, Any]) -> KnownFolder:
    key, folder, backup = stored["key"], stored["folder"], stored.get("backup", "")
    if all(isinstance(each, str) for each in (key, folder, backup)):
        return KnownFolder(key, Path(folder), backup, bool(stored.get("hidden")))
    raise ValueError("no folder of a study")


def remember(machine: Machine, folder: Path, backup: str | None = None) -> KnownFolder:
    """Put a folder first in the list of known ones; one that is known retains its key."""
    place = folder.resolve()
    with writing_in(machine.folder):
        before = known(machine)
        same = next((each for each in before if each.folder == place), None)
        entry = same or KnownFolder(secrets.token_hex(KEY), place)
        last_backup = entry.backup if backup is None else backup
        entry = replace(entry, backup=last_backup, hidden=False)
        _keep(machine, [entry, *(each for each in before if each.folder != place)][:MOST])
    return entry


def forget(machine: Machine, key: str) -> None:
    """Leave a folder out of the list until it is opened; the study in it stays as it is."""
    with writing_in(machine.folder):
        before = known(machine)
        _keep(machine, [replace(e, hidden=True) if e.key == key else e for e in before])


def _keep(machine: Machine, folders: Sequence[KnownFolder]) -> None:
    stored = [{**asdict(each), "folder": str(each.folder)} for each in folders]
    content = json.dumps({"format": 1, "studies": stored}, indent=1)
    write_private(machine.folder / FILE, content.encode())
