"""The tray: files that a steward has brought and not yet kept, in the private part of a study.

They lie there until they are kept or discarded, whatever becomes of the program that brought them.
Their names are made safe; what is half there has no name yet.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from graphveil.errors import StorageError
from graphveil.whole_files import clear_leftovers

if TYPE_CHECKING:
    from graphveil.formats import ReadingOptions

LONGEST = 100  # letters of a name
MOST_FILES = 200
_UNSAFE = re.compile(r"[^\w .()+,=@-]")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


def safe_name(text: str) -> str:
    """The name of a file, whatever somebody calls it: no folder, no mark of a part, no surprise."""
    last = unicodedata.normalize("NFC", re.split(r"[/\\]", text)[-1])
    name = _UNSAFE.sub("-", last).strip(" .")
    stem, dot, ending = name.rpartition(".")
    if dot and len(ending) < 12:
        name = f"{stem[: LONGEST - len(ending) - 1]}.{ending}"
    return name[:LONGEST].strip(" .") or "file"


@dataclass(frozen=True)
class Reading:
    """How the files of a tray are to be read.

    Attributes:
        format: of all files; None recognises each.
        options: see `ReadingOptions`, as plain data.
        complete: whether they hold everything.
        strict: whether the first row that breaks a rule refuses all.
        yes: whether the rest is added although more than a tenth is set aside.
        ignore_after_end: whether records of after the last step are left out.
        change_reading: whether files are read in another way than before.
    """

    format: str | None
    options: dict[str, Any]
    complete: bool = False
    strict: bool = False
    yes: bool = False
    ignore_after_end: bool = False
    change_reading: bool = False

    def reading_options(self) -> ReadingOptions:
        """As readers take them; refuses what they do not understand."""
        from graphveil.formats import ReadingOptions

        told = {**self.options, "where": tuple(self.options.get("where", ()))}
        return ReadingOptions(**told)


NOTHING_SAID = Reading(None, {})


@dataclass(frozen=True)
class Tray:
    """The tray of one study.

    Attributes:
        folder: in the private part of the study.
    """

    folder: Path

    @classmethod
    def of(cls, study: Path) -> Tray:
        """That of a study; refuses a folder that holds none."""
        from graphveil.study import Study

        return cls(Study.at(study).folder.private / "tray")

    @property
    def _files(self) -> Path:
        return self.folder / "files"

    def files(self) -> tuple[Path, ...]:
        """The files that are there as a whole, by name."""
        if not self._files.is_dir():
            return ()
        found = (path for path in self._files.iterdir() if not path.name.startswith("."))
        return tuple(sorted(path for path in found if path.is_file() and not path.is_symlink()))

    @contextmanager
    def receiving(self, called: str) -> Iterator[IO[bytes]]:
        """A file to write to; it gets its name once all of it is there, and replaces its like."""
        self._make()
        if len(self.files()) >= MOST_FILES:
            raise StorageError(f"there are {MOST_FILES} files already: keep or discard them first.")
        part = self._files / f".graphveil-{secrets.token_hex(16)}.part"
        try:
            with os.fdopen(os.open(part, _NEW, 0o600), "wb") as file:
                yield file
            part.replace(self._files / safe_name(called))
        except OSError as error:
            raise StorageError(f"the file cannot be stored: {error.strerror}.") from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def _make(self) -> None:
        try:
            for folder in (self.folder, self._files):
                if folder.is_symlink():
                    raise StorageError(f"private/{folder.name} is a link: put a folder there.")
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StorageError(f"the tray cannot be made: {error.strerror}.") from error

    def reading(self) -> Reading:
        """How they are to be read; as nobody said, if that was lost."""
        try:
            return Reading(**json.loads((self.folder / "reading.json").read_bytes()))
        except (OSError, ValueError, TypeError, RecursionError):
            return NOTHING_SAID

    def say(self, reading: Reading) -> None:
        """Keep how they are to be read."""
        from graphveil.study.storage.folder import write_private

        self._make()
        write_private(self.folder / "reading.json", json.dumps(asdict(reading)).encode())

    def fingerprint(self) -> str:
        """Differs whenever files or the way to read them do; says nothing about either."""
        told = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in self.files()]
        whole = json.dumps([told, asdict(self.reading())], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:24]

    def clear_leftovers(self) -> None:
        """Remove what a killed program left half there."""
        clear_leftovers(self._files)

    def discard(self) -> None:
        """Remove the files, and how they were to be read."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder)
