"""The staging area: files brought but not yet added, in the private part of a study.

They lie there until they are added or discarded, even if the program that brought them ends.
Their names are made safe; an incomplete file has no name yet. Several pages may use one staging
area at the same time: exactly the files that a page has looked at are added or removed, and none
that came since.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import sys
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from graphveil.errors import StorageError, StudyError
from graphveil.posix import NEW_FILE, NO_FOLLOW, lock
from graphveil.whole_files import is_leftover

if TYPE_CHECKING:
    from graphveil.records import ReadingOptions

LONGEST = 100  # letters of a name
MOST_FILES = 200
CHANGED = "the files, or how they are read, have changed since: look at them again."
_UNSAFE = re.compile(r"[^\w .()+,=@-]")


def safe_name(text: str) -> str:
    """A safe file name, whatever it is called: no folder, no mark of a part, no odd characters."""
    last = unicodedata.normalize("NFC", re.split(r"[/\\]", text)[-1])
    name = _UNSAFE.sub("-", last).strip(" .")
    stem, dot, ending = name.rpartition(".")
    if dot and len(ending) < 12:
        name = f"{stem[: LONGEST - len(ending) - 1]}.{ending}"
    return name[:LONGEST].strip(" .") or "file"


@dataclass(frozen=True)
class Reading:
    """How the files of a staging area are to be read.

    Attributes:
        format: of all files; None recognises each.
        options: see `ReadingOptions`, as plain data.
        complete: whether they hold everything.
        strict: whether the first row that breaks a rule refuses all.
        yes: whether the rest is added although more than a tenth is set aside.
        ignore_after_end: whether records dated after the last step are left out.
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
        from graphveil.records import ReadingOptions

        several = {name: tuple(self.options.get(name, ())) for name in ("where", "group")}
        options = {**self.options, **several}
        return ReadingOptions(**options)


NOTHING_SAID = Reading(None, {})


@dataclass(frozen=True)
class Brought:
    """The files of a staging area at one moment, and how they are to be read.

    Attributes:
        files: those that are there as a whole, by name.
        marks: one for each; another file of the same name has another mark.
        reading: how they are to be read.
    """

    files: tuple[Path, ...]
    marks: tuple[str, ...]
    reading: Reading

    @property
    def fingerprint(self) -> str:
        """Differs whenever files or the way to read them do; says nothing about either."""
        return _digest([self.marks, asdict(self.reading)])


@dataclass(frozen=True)
class StagingArea:
    """The staging area of one study.

    Attributes:
        folder: in the private part of the study.
    """

    folder: Path

    @classmethod
    def of(cls, study: Path) -> StagingArea:
        """The staging area of a study; refuses a folder that holds none."""
        from graphveil.study import StoredStudy

        return cls(StoredStudy.at(study).folder.private / "tray")

    @property
    def _files(self) -> Path:
        return self.folder / "files"

    def files(self) -> tuple[Path, ...]:
        """The complete files, by name."""
        if not self._files.is_dir():
            return ()
        visible = (path for path in self._files.iterdir() if not path.name.startswith("."))
        return tuple(sorted(path for path in visible if path.is_file() and not path.is_symlink()))

    def brought(self) -> Brought:
        """What is there now."""
        with self._alone():
            files = self.files()
            return Brought(files, tuple(map(_mark, files)), self.reading())

    @contextmanager
    def receiving(self, called: str) -> Iterator[IO[bytes]]:
        """A file to write to; it gets its name once complete, and replaces one of the same name."""
        part = self._files / _part()
        try:
            with self._alone():
                self._make()
                self._clear_leftovers()
                if len(self.files()) >= MOST_FILES:
                    many = f"there are {MOST_FILES} files already: keep or discard them first."
                    raise StorageError(many)
                file = os.fdopen(os.open(part, NEW_FILE, 0o600), "wb")
                lock(file.fileno(), wait=True)  # until it is closed, even if this process is killed
            with file:
                yield file
                file.flush()
                with self._alone():
                    part.replace(self._files / safe_name(called))
        except OSError as error:
            raise StorageError(f"the file cannot be stored: {error.strerror}.") from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    @contextmanager
    def held(self, brought: Brought) -> Iterator[tuple[Path, ...]]:
        """The very files that were brought, even if others take their names meanwhile.

        Raises:
            StudyError: If one of them is not there any more.
        """
        with self._own_folder() as place:
            try:
                with self._alone():
                    links = tuple(map(_linked, brought.files, brought.marks, repeat(place)))
            except FileNotFoundError as error:
                raise StudyError(CHANGED) from error
            except OSError as error:
                raise StorageError(f"the files cannot be held: {error.strerror}.") from error
            yield links

    @contextmanager
    def _own_folder(self) -> Iterator[Path]:
        """A temporary folder in the staging area; a later process removes it after a crash."""
        place = self.folder / _part()
        with ExitStack() as stack:
            with self._alone():
                self._make()
                place.mkdir(mode=0o700)
                stack.callback(shutil.rmtree, place, ignore_errors=True)
                stack.enter_context(_locked(place))
            yield place

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Locks the staging area against changes by others; for moments only."""
        with _locked(self.folder.parent):
            yield

    def _make(self) -> None:
        try:
            for folder in (self.folder, self._files):
                if folder.is_symlink():
                    raise StorageError(f"private/{folder.name} is a link: put a folder there.")
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StorageError(f"the tray cannot be made: {error.strerror}.") from error

    def reading(self) -> Reading:
        """How they are to be read; the default if that was lost."""
        try:
            return Reading(**json.loads((self.folder / "reading.json").read_bytes()))
        except (OSError, ValueError, TypeError, RecursionError):
            return NOTHING_SAID

    def say(self, reading: Reading) -> None:
        """Store how they are to be read."""
        from graphveil.study.folder import write_private

        with self._alone():
            self._make()
            write_private(self.folder / "reading.json", json.dumps(asdict(reading)).encode())

    def _clear_leftovers(self) -> None:
        """Remove incomplete files of killed programs; those still being written are locked."""
        for path in (*self.folder.iterdir(), *self._files.iterdir()):
            if is_leftover(path) and _is_abandoned(path):
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def remove(self, marks: Collection[str]) -> None:
        """Remove the files with these marks; with the last one, how they were to be read."""
        with self._alone():
            for path in self.files():
                if _mark(path) in marks:
                    path.unlink()
            if not self.files():
                (self.folder / "reading.json").unlink(missing_ok=True)
                with suppress(OSError):  # somebody is bringing a file
                    self._files.rmdir()
                    self.folder.rmdir()


def _part() -> str:
    return f".graphveil-{secrets.token_hex(16)}.part"


def _digest(plain: object) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:24]


def _mark(path: Path) -> str:
    """Distinguishes a file from any other that takes its name."""
    details = path.stat(follow_symlinks=False)
    return _digest([path.name, details.st_ino, details.st_size, details.st_mtime_ns])


def _linked(path: Path, mark: str, place: Path) -> Path:
    """The same file in another folder, where nobody replaces it."""
    own = place / path.name
    if _mark(path) != mark:
        raise FileNotFoundError
    try:
        own.hardlink_to(path)
    except OSError:  # a file system without links
        shutil.copyfile(path, own, follow_symlinks=False)
    return own


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    if sys.platform == "win32":  # where folders cannot be opened
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def _is_abandoned(path: Path) -> bool:
    """Whether nobody holds the lock of a part any more."""
    if sys.platform == "win32":
        return True
    try:
        descriptor = os.open(path, os.O_RDONLY | NO_FOLLOW)
    except OSError:
        return False
    try:
        return lock(descriptor, wait=False)
    finally:
        os.close(descriptor)
