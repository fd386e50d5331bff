"""Fail points: every effect of a command is counted, and one of them can be made to go wrong.

The product knows nothing of this. What it uses to change the world is replaced from outside:
the calls of `os` by which files come into a study, and the statements and commits that reach a
database driver. Reading is no effect, and neither is the lock, which the system takes back.
"""

from __future__ import annotations

import errno
import io
import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar

from sqlalchemy.engine.default import DefaultDialect

When = Literal["before", "during", "after"]
Result = TypeVar("Result")
Put = Callable[[Any, str, Any], object]

KILL = 0
LOCKS = {"lock", "lock-holder", "ledger.sqlite-writer"}
TAKER = "0123456789abcdef"  # the machine to which studies are handed over
MEMORY = "machine"  # under the study, so that what the machine remembers is copied with it
ERRORS = {errno.ENOSPC: "database or disk is full", errno.EROFS: "attempt to write a readonly "
          "database", errno.EIO: "disk I/O error"}  # fmt: skip
WRITES = re.compile(r"BEGIN IMMEDIATE|INSERT|UPDATE|DELETE|CREATE|SELECT pg_try_advisory_xact_lock")


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        point: at which effect, from 0 on.
        when: before it, in the middle of it (of a write), or right after it.
        error: KILL, or the number of a system error.
        lasts: whether every later effect fails as well, as on a full disk.
    """

    point: int
    when: When
    error: int = KILL
    lasts: bool = False

    def strikes(self, point: int, when: When) -> bool:
        """Whether it is time."""
        return (point, when) == (self.point, self.when) or (
            self.lasts and when == "before" and point > self.point
        )


@dataclass
class Watch:
    """The effects of this process on one study, by name and in order."""

    root: Path
    fault: Fault | None = None
    names: list[str] = field(default_factory=list)
    opened: dict[int, str] = field(default_factory=dict)

    def around(
        self,
        name: str,
        effect: Callable[[], Result],
        fail: Callable[[int], Exception],
        half: Callable[[], object] | None = None,
    ) -> Result:
        """Run an effect, unless it is the one that goes wrong."""
        point = len(self.names)
        self.names.append(name)
        self._strike(point, "before", fail)
        if half is not None and self.fault is not None and self.fault.strikes(point, "during"):
            half()
            self._strike(point, "during", fail)
        result = effect()
        self._strike(point, "after", fail)
        return result

    def _strike(self, point: int, when: When, fail: Callable[[int], Exception]) -> None:
        if self.fault is None or not self.fault.strikes(point, when):
            return
        if self.fault.error == KILL:
            _die()
        raise fail(self.fault.error)

    def place(self, path: Any) -> str | None:
        """Where in the study a path is, without what is drawn at random; None if elsewhere."""
        full = Path(os.fsdecode(path)).absolute()
        if not full.is_relative_to(self.root) or full.name in LOCKS:
            return None
        random = (
            r"(?<=/\.graphveil)-[0-9a-f]{32}|-[0-9a-f]{8}(?=\.parquet|\.csv)"
            r"|-[0-9a-f]{16}(?=\.kept)|(?<=/)[0-9a-f]{16}(?=\.columns)"
        )
        place = re.sub(random, "", str(full.relative_to(self.root)))
        return re.sub(r"[0-9a-f]{64}", "study", place)


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process went on")


def _system_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class WatchedFile(io.BufferedWriter):
    """A file whose writes reach the system at once, and can stop half-way."""

    def __init__(self, descriptor: int, watch: Watch, name: str) -> None:
        super().__init__(io.FileIO(descriptor, "wb"))
        self._watch, self._place = watch, name

    def write(self, content: Any, /) -> int:
        def put(part: Any) -> int:
            count = super(WatchedFile, self).write(part)
            self.flush()
            return count

        return self._watch.around(
            f"write {self._place}",
            lambda: put(content),
            _system_error,
            half=lambda: put(content[: len(content) // 2]),
        )


def install(watch: Watch, put: Put = setattr) -> None:
    """Watch this process from now on; `put` replaces an attribute, perhaps not forever."""
    _watch_paths(watch, put)
    _watch_descriptors(watch, put)
    _watch_database(watch, put)


def _watch_paths(watch: Watch, put: Put) -> None:
    def watched(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *more: Any, **options: Any) -> Any:
            place = watch.place(path)
            if place is None or _changes_nothing(name, Path(path)):
                return plain(path, *more, **options)
            return watch.around(
                f"{name} {place}", lambda: plain(path, *more, **options), _system_error
            )

        return call

    for name in ("mkdir", "chmod", "unlink", "replace"):
        put(os, name, watched(name, getattr(os, name)))


def _changes_nothing(name: str, path: Path) -> bool:
    """Whether the system will refuse, because there is nothing to do or no place for it."""
    if name == "mkdir":
        return path.is_dir() or not path.parent.is_dir()
    return name == "unlink" and not path.exists()


def _watch_descriptors(watch: Watch, put: Put) -> None:
    plain_open, plain_fdopen = os.open, os.fdopen

    def opened(path: Any, flags: int, *more: Any, **options: Any) -> int:
        place = watch.place(path)
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
        effect = partial(plain_open, path, flags, *more, **options)
        descriptor = (
            watch.around(f"open {place}", effect, _system_error) if place and writes else effect()
        )
        watch.opened[descriptor] = place or ""
        return descriptor

    def filed(descriptor: int, *more: Any, **options: Any) -> Any:
        place = watch.opened.get(descriptor)
        if place:
            return WatchedFile(descriptor, watch, place)
        return plain_fdopen(descriptor, *more, **options)

    def watched(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(descriptor: int, *more: Any) -> Any:
            place = watch.opened.get(descriptor)
            if not place:
                return plain(descriptor, *more)
            return watch.around(f"{name} {place}", lambda: plain(descriptor, *more), _system_error)

        return call

    plain_write = os.write

    def written(descriptor: int, content: Any) -> int:
        place = watch.opened.get(descriptor)
        if not place:
            return plain_write(descriptor, content)
        return watch.around(
            f"write {place}",
            lambda: plain_write(descriptor, content),
            _system_error,
            half=lambda: plain_write(descriptor, content[: len(content) // 2]),
        )

    put(os, "open", opened)
    put(os, "fdopen", filed)
    put(os, "write", written)
    for name in ("fsync", "fchmod", "ftruncate"):
        put(os, name, watched(name, getattr(os, name)))


def _watch_database(watch: Watch, put: Put) -> None:
    """Errors are raised where the driver would raise them, so that they take the same way."""

    def watched(plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(dialect: Any, target: Any, *more: Any, **options: Any) -> Any:
            statement = str(more[0]).strip() if more else "COMMIT"
            if more and not WRITES.match(statement):
                return plain(dialect, target, *more, **options)
            return watch.around(
                " ".join(re.findall(r"\w+", statement)[:3]),
                lambda: plain(dialect, target, *more, **options),
                lambda number: dialect.loaded_dbapi.OperationalError(ERRORS[number]),
            )

        return call

    for name in ("do_execute", "do_execute_no_params", "do_commit"):
        put(DefaultDialect, name, watched(getattr(DefaultDialect, name)))
