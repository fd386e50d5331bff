"""The folder of a study: what may leave the building, what may not, and who holds it."""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import StorageError, StudyError
from graphveil.hints import Hint
from graphveil.posix import NO_FOLLOW, has_modes, sync_folder
from graphveil.whole_files import clear_leftovers, write_bytes

if TYPE_CHECKING:
    from filelock import BaseFileLock

PUBLIC_NOTE = """\
Everything in this folder may be published.

study.toml    what is promised: population, bound, calendar, budget, series
ledger.jsonl  what was announced, row by row, each chained to the rows before it
The other files are made from these two, by graphveil.
"""
PRIVATE_NOTE = """\
Nothing in this folder may leave the building: it holds the people, their links, the exact
counts and the noise of future releases. Whoever has it can undo the privacy of every release.

Back it up together with ../public. A copy of it holds the same noise: if two copies published,
what differs between them would show exactly. So only one goes on: this machine remembers which,
and refuses the others. To move the study, see `graphveil hand-over`; to go on from a backup or a
copy, see `graphveil adopt`.
"""
OWNER_ONLY_FOLDER, OWNER_ONLY_FILE = 0o700, 0o600
PUBLIC_FOLDER = 0o755
NOT_THE_OWNER = 0o077


@dataclass(frozen=True)
class Folder:
    """Where the parts of a study lie."""

    root: Path

    @property
    def public(self) -> Path:
        """What may be published."""
        return self.root / "public"

    @property
    def private(self) -> Path:
        """What may not."""
        return self.root / "private"

    @property
    def study_file(self) -> Path:
        """The promise."""
        return self.public / "study.toml"

    @property
    def public_ledger(self) -> Path:
        """The announcements."""
        return self.public / "ledger.jsonl"

    @property
    def database(self) -> Path:
        """The ledger, where it is not in PostgreSQL."""
        return self.private / "ledger.sqlite"

    @property
    def database_url(self) -> str:
        """Where the ledger is."""
        elsewhere = self.private / "store.toml"
        if not elsewhere.exists():
            return f"sqlite:///{self.database}"
        try:
            url = tomllib.loads(elsewhere.read_bytes().decode())["url"]
        except (ValueError, KeyError, RecursionError) as error:
            raise _no_url() from error
        if not isinstance(url, str) or url.startswith("sqlite"):
            raise _no_url()
        return url

    @property
    def batches(self) -> Path:
        """Records that were added, in Parquet."""
        return self.private / "batches"

    @property
    def segments(self) -> Path:
        """Sealed steps of the graph, in Parquet."""
        return self.private / "segments"

    @property
    def kept(self) -> Path:
        """What follows from sealed steps, in a form that is quick to go on from."""
        return self.private / "kept"

    @property
    def attempts(self) -> Path:
        """Additions of records that began, and did not end."""
        return self.private / "attempts"

    @property
    def charts(self) -> Path:
        """Pictures of the series."""
        return self.public / "charts"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """One process at a time writes the public part; what a killed one left is removed."""
        with locked(self.private / "lock"):
            for part in (self.public, self.charts):
                clear_leftovers(part)
            yield

    def require(self) -> None:
        """Refuse a folder that holds no study, or one that leads elsewhere."""
        if (self.root / self.study_file.name).is_file():
            raise StudyError(
                f"'{self.root}' is the public part of a study.", hint=Hint("public-part")
            )
        if not self.study_file.is_file() or not self.private.is_dir():
            raise StudyError(
                f"there is no study in '{self.root}'.", hint=Hint("create", folder=self.root)
            )
        self.require_no_links()

    def require_no_links(self) -> None:
        """Refuse links in place of the study's own parts: graphveil has put none there."""
        require_no_links_in_public(self.public)
        private = (self.private / name for name in ("lock", "store.toml", "ledger.sqlite"))
        folders = (self.private, self.batches, self.segments, self.kept, self.attempts)
        _require_no_links((*folders, *private))

    def exposed(self) -> tuple[Path, ...]:
        """Private files and folders that others than their owner may open."""
        if os.name == "nt":  # whose permissions say nothing there
            return ()
        return tuple(filter(_is_open_to_others, (self.private, *self.private.rglob("*"))))

    def require_free(self) -> None:
        """Refuse a folder that already holds a study."""
        if self.study_file.exists():
            raise StudyError(
                f"'{self.root}' already holds a study. One folder is one study: choose another "
                "folder."
            )


def _is_open_to_others(path: Path) -> bool:
    if not has_modes():
        return False
    try:
        return not path.is_symlink() and bool(path.lstat().st_mode & NOT_THE_OWNER)
    except OSError:  # a journal that is gone by now
        return False


def require_no_links_in_public(public: Path) -> None:
    """The same for a public part, which may be here by itself."""
    _require_no_links(
        (public, *(public / name for name in ("study.toml", "ledger.jsonl", "charts")))
    )


def _require_no_links(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_symlink():
            raise StorageError(
                f"{path.parent.name}/{path.name} is a link to another place, and links are not "
                "followed inside a study. Put the file or folder itself there."
            )
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise StorageError(
                f"{path.parent.name}/{path.name} is a pipe, a socket or a device. Put the file "
                "itself there."
            )


def _no_url() -> StorageError:
    return StorageError(
        "private/store.toml does not say where the ledger database is. It has one line: "
        'url = "postgresql://user:password@host/name".'
    )


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for the lock; the system takes it back from a process that is killed."""
    from filelock import FileLock

    lock, note = FileLock(path, mode=OWNER_ONLY_FILE), path.with_name("lock-holder")
    try:
        wait_for(partial(_taken, lock), partial(noted_holder, note))
    except OSError as error:
        raise StorageError(f"the study cannot be locked: {error.strerror}.") from error
    try:
        with noted(note):
            yield
    finally:
        lock.release()


def _taken(lock: BaseFileLock) -> bool:
    """Take a lock, unless somebody else has it."""
    from filelock import Timeout

    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True


def make_folder(folder: Folder) -> None:
    """Make the folders of a new study, each open to those whom it is for, whatever the umask."""
    root = folder.root
    try:
        if not root.exists():
            root.mkdir(parents=True)
            root.chmod(PUBLIC_FOLDER)
        folder.require_no_links()
        make_public_folder(folder.public)
        for part in (folder.private, folder.batches, folder.segments):
            part.mkdir(mode=OWNER_ONLY_FOLDER, exist_ok=True)
            part.chmod(OWNER_ONLY_FOLDER)
        for place in (root, root.parent):
            sync_folder(place)
    except OSError as error:
        raise StorageError(
            f"'{root}' cannot be created: {os.strerror(error.errno or 0)}."
        ) from error


def make_public_folder(folder: Path) -> None:
    """Make a folder that everybody may look into, unless it is there."""
    if not folder.is_dir():
        folder.mkdir()
        folder.chmod(PUBLIC_FOLDER)


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner may look into, unless it is there."""
    try:
        if not folder.is_dir():
            folder.mkdir(mode=OWNER_ONLY_FOLDER)
            folder.chmod(OWNER_ONLY_FOLDER)
    except OSError as error:
        raise StorageError(f"{folder.name} cannot be written: {error.strerror}.") from error


def write_notes(folder: Folder, url: str | None) -> None:
    """Say in each part who may have it, and where the ledger is."""
    clear_leftovers(folder.private)
    write_private(folder.private / "README.txt", PRIVATE_NOTE.encode())
    if url is None:  # a killed process may have left the way to another database
        (folder.private / "store.toml").unlink(missing_ok=True)
    else:
        import tomli_w

        write_private(folder.private / "store.toml", tomli_w.dumps({"url": url}).encode())
    write_bytes(folder.public / "README.txt", PUBLIC_NOTE.encode())


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read."""
    write_bytes(path, content, mode=OWNER_ONLY_FILE)


PATIENCE = 120.0  # seconds to wait for another process
TELL_AFTER = 2.0
PAUSE = 0.05
SOMEBODY = "another process"
_LOG = logging.getLogger(__name__)
_NOTE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_FOLLOW


@dataclass(frozen=True)
class LockHolder:
    """A process that holds a lock."""

    pid: int
    host: str
    command: str
    since: str

    @classmethod
    def here(cls) -> LockHolder:
        """This process, from now on."""
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return cls(os.getpid(), socket.gethostname(), running_command(), since)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} ({self.command}, since {self.since})"


def running_command() -> str:
    """What this process was started as: a program and its command, but no file names."""
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    return " ".join([program, *sys.argv[1:2]]) if program == "graphveil" else program


def wait_for(attempt: Callable[[], bool], holder: Callable[[], str]) -> None:
    """Try until it succeeds; log after two seconds who holds the lock, and finally give up.

    Args:
        attempt: takes the lock, or says that it is held.
        holder: who holds it, in words.
    """
    began, announced = time.monotonic(), False
    while not attempt():
        waited = time.monotonic() - began
        if waited >= PATIENCE:
            raise StorageError(
                f"the study is still held by {holder()}, after {PATIENCE:.0f} seconds. Nothing "
                "was changed; run the command again when that is done."
            )
        if waited >= TELL_AFTER and not announced:
            announced = True
            _LOG.warning("graphveil: waiting for %s, which holds the study …", holder())
        time.sleep(PAUSE)


@contextmanager
def noted(place: Path) -> Iterator[None]:
    """Leave a note for waiting processes, as long as the lock is held."""
    with suppress(OSError), os.fdopen(os.open(place, _NOTE, 0o600), "w") as note:
        json.dump(asdict(LockHolder.here()), note)
    try:
        yield
    finally:
        with suppress(OSError):
            place.unlink(missing_ok=True)


def noted_holder(place: Path) -> str:
    """Who left a note, in words; somebody, if there is none that can be read."""
    try:
        return str(LockHolder(**json.loads(place.read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError, RecursionError):
        return SOMEBODY
