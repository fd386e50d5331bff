"""The folder of a study: what may leave the building, and what may not."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from graphveil.errors import StorageError, StudyError
from graphveil.whole_files import sync_folder, write_bytes

PUBLIC_NOTE = """\
Everything in this folder may be published.

study.toml    what is promised: population, bound, calendar, budget, series
ledger.jsonl  what was announced, row by row, each chained to the rows before it
The other files are made from these two, by graphveil.
"""
PRIVATE_NOTE = """\
Nothing in this folder may leave the building: it holds the people, their links, the exact
counts and the noise of future releases. Whoever has it can undo the privacy of every release.

Back it up together with ../public, and never restore an older copy of it alone: steps that
were published would be drawn again, with different noise. `graphveil publish` refuses that.
"""
OWNER_ONLY_FOLDER, OWNER_ONLY_FILE = 0o700, 0o600


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
        return str(tomllib.loads(elsewhere.read_text(encoding="utf-8"))["url"])

    @property
    def batches(self) -> Path:
        """Records that were added, in Parquet."""
        return self.private / "batches"

    @property
    def segments(self) -> Path:
        """Sealed steps of the graph, in Parquet."""
        return self.private / "segments"

    def lock(self) -> AbstractContextManager[object]:
        """One process at a time writes the public part."""
        return _locked(self.private / "lock")

    def require(self) -> None:
        """Refuse a folder that holds no study."""
        if not self.study_file.is_file() or not self.private.is_dir():
            raise StudyError(
                f"there is no study in '{self.root}'. Create one with `graphveil new {self.root}`."
            )

    def require_free(self) -> None:
        """Refuse a folder that already holds a study."""
        if self.study_file.exists():
            raise StudyError(
                f"'{self.root}' already holds a study. One folder is one study: choose another "
                "folder."
            )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait for the lock; the system takes it back from a process that is killed."""
    from filelock import FileLock

    try:
        held = FileLock(path, mode=OWNER_ONLY_FILE).acquire()
    except OSError as error:
        raise StorageError(f"the study cannot be locked: {error.strerror}.") from error
    with held:
        yield


def make_folder(folder: Folder, url: str | None) -> None:
    """Lay out a new study, as yet without its file and its database."""
    root = folder.root
    try:
        for part in (folder.public, folder.private, folder.batches, folder.segments):
            part.mkdir(parents=True, exist_ok=True)
        for part in (folder.private, folder.batches, folder.segments):
            part.chmod(OWNER_ONLY_FOLDER)
        for place in (root, root.parent):
            sync_folder(place)
        if url is None:  # a killed process may have left the way to another database
            (folder.private / "store.toml").unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"'{root}' cannot be created: {os.strerror(error.errno or 0)}."
        ) from error
    write_private(folder.private / "README.txt", PRIVATE_NOTE.encode())
    if url is not None:
        import tomli_w

        write_private(folder.private / "store.toml", tomli_w.dumps({"url": url}).encode())
    write_bytes(folder.public / "README.txt", PUBLIC_NOTE.encode())


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read."""
    write_bytes(path, content, mode=OWNER_ONLY_FILE)
