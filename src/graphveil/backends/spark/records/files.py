"""Private files that workers write into the folder of a study, and the driver puts in place.

A task writes under a name that nobody else has, of the kind that killed processes leave; so what
a task wrote that failed, or ran twice, is removed by the next writer.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from graphveil.backends.spark.jobs import Cluster
from graphveil.deferred import pl
from graphveil.errors import IntegrityError
from graphveil.posix import NEW_FILE, set_mode, sync_folder
from graphveil.study.folder import OWNER_ONLY_FILE
from graphveil.study.ledger import StoredFile, StoredTable
from graphveil.study.records.segments import checked, checksum, table_bytes

WHOLE = 4_000_000  # rows up to which a table is one file, whatever engine writes it
_CHUNK = 1 << 24


class Written(NamedTuple):
    """A file that a task has written, not yet in its place."""

    name: str
    sha256: str


def write_part(folder: str, frame: pl.DataFrame) -> Written:
    """Write rows into a private folder; runs on a worker."""
    content = table_bytes(frame)
    name = f".graphveil-{uuid.uuid4().hex}.part"
    write_new(Path(folder) / name, content)
    return Written(name, checksum(content))


def write_new(path: Path, content: bytes) -> None:
    """Write a file that nobody else has, and that only its owner may read."""
    with os.fdopen(os.open(path, NEW_FILE, OWNER_ONLY_FILE), "wb") as file:
        set_mode(file.fileno(), OWNER_ONLY_FILE)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def put_in_place(folder: Path, stem: str, parts: Sequence[Written]) -> StoredTable:
    """Give the files of a table their names; what is returned belongs in the ledger."""
    stem, files = f"{stem}-{secrets.token_hex(4)}", []
    for place, part in enumerate(parts):
        name = f"{stem}.parquet" if len(parts) == 1 else f"{stem}-{place:04}.parquet"
        (folder / part.name).rename(folder / name)
        files.append(StoredFile(name, part.sha256))
    sync_folder(folder)
    return StoredTable(tuple(files))


def file_sum(path: str) -> str | None:
    """The checksum of a file; None where there is none. Runs on a worker."""
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def require_unchanged(cluster: Cluster, folder: Path, files: Sequence[StoredFile]) -> None:
    """Refuse files with another checksum, with the same message as every other reader."""
    for file, actual in zip(
        files, cluster.run(file_sum, [str(folder / file.name) for file in files]), strict=True
    ):
        if actual != file.sha256:
            checked(folder, file)  # which says what is wrong
            raise IntegrityError(
                f"private/{folder.name}/{file.name} was not found by a worker. All workers must "
                "reach the folder of the study."
            )
