"""This machine: what it remembers of studies, outside their folders, and the code that names it.

The state folder is `$GRAPHVEIL_STATE`, or the place for state of the system's user. It holds
random codes, hashes and numbers of rows: no count and no record. Beside them lies the list of
folders in which studies were begun or opened (`known_folders`), which decides nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import hexdigits
from typing import NamedTuple

from graphveil.errors import ParameterError, StorageError
from graphveil.study.storage.folder import OWNER_ONLY_FOLDER, locked, write_private
from graphveil.whole_files import clear_leftovers

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
        told: the newest row that the public is told.
    """

    newest: SeenRow
    told: SeenRow


@dataclass(frozen=True)
class Machine:
    """One user's memory on one machine.

    Attributes:
        folder: where it is kept; it must last longer than any copy of a study.
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
        found = cls.here()
        require_outside(found, study)
        return found

    def code(self) -> str:
        """Its name, random and made once, to which a study can be handed over."""
        with keeping(self.folder):
            if not self._code.exists():
                write_private(self._code, (secrets.token_hex(CODE // 2) + "\n").encode())
        return self.known_code()

    def known_code(self) -> str:
        """The same, but empty where it was never asked for; writes nothing."""
        return self._text(self._code).strip()

    def holding(self, study: str) -> AbstractContextManager[None]:
        """One process at a time goes on with a study, whichever of its copies it works on.

        Args:
            study: the hash of the row that opened it.
        """
        return keeping(self._seen(study).parent)

    def marks(self, study: str) -> dict[str, Mark]:
        """What was seen of a study, by lineage; nothing of one that was never seen."""
        path = self._seen(study)
        if not path.exists():
            return {}
        try:
            lineages = json.loads(self._text(path))["lineages"]
            return {lineage: Mark(*map(_seen_row, mark)) for lineage, mark in lineages.items()}
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise StorageError(
                f"what this machine remembers of the study cannot be read "
                f"({path}). Restore that file; do not delete it."
            ) from error

    def remember(self, study: str, marks: Mapping[str, Mark]) -> None:
        """Keep what was seen; only whoever is `holding` the study may."""
        content = json.dumps({"format": FORMAT, "lineages": marks}, indent=1)
        with _in_words():
            _make(self._seen(study).parent)
            write_private(self._seen(study), content.encode())

    @property
    def _code(self) -> Path:
        return self.folder / "machine"

    def _seen(self, study: str) -> Path:
        return self.folder / "studies" / study / "seen.json"

    def _text(self, path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, ValueError) as error:
            raise StorageError(f"'{path}' cannot be read.") from error


def _seen_row(stored: Sequence[object]) -> SeenRow:
    """What stands in the file for a row; refuses what no ledger can have."""
    number, found = stored
    if isinstance(number, int) and 0 <= number <= MOST_ROWS and isinstance(found, str):
        return SeenRow(number, found)
    raise ValueError("no row of a ledger")


@contextmanager
def keeping(folder: Path) -> Iterator[None]:
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


def require_code(code: str, machine: Machine) -> None:
    """Refuse what is not the code of another machine."""
    if len(code) != CODE or set(code) - set(hexdigits.lower()):
        raise ParameterError(
            "to",
            f"is not the code of a machine, {CODE} digits and letters",
            hint="Run `graphveil hand-over` on the other machine: it shows the code.",
        )
    if code == machine.code():
        raise ParameterError("to", "is this machine, which has the study already")


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
