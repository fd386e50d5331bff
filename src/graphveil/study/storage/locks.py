"""Waiting for a lock: after two seconds a message says who holds it, and waiting goes on.

For that message, the holder of a lock leaves a note beside it. The note decides nothing: the lock
does, and a note that a killed process left is overwritten by the next.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from graphveil.errors import StorageError
from graphveil.posix import NO_FOLLOW

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
