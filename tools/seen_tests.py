"""What was seen of tests when they were run: how long they take, and which functions they call.

To see it takes longer than to try the mutants of a small module. So it is kept, and holds for a
test as long as its own file, and every file of the package that it calls, stay as they were.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

Called: TypeAlias = tuple[str, str]  # a file, and the dotted name of a function in it


@dataclass(frozen=True)
class Seen:
    """What a test does.

    Attributes:
        seconds: how long it takes.
        called: the functions of the package that it calls.
    """

    seconds: float
    called: tuple[Called, ...]


@dataclass
class Memory:
    """What was seen of tests, by their names, in a file; without one, of this run alone."""

    path: Path | None = None
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is not None and self.path.exists():
            self.tests = json.loads(self.path.read_text("utf-8"))

    def recall(self, name: str) -> Seen | None:
        """What was seen of a test, if nothing has changed that it runs."""
        kept = self.tests.get(name)
        if kept is None or any(_digest(Path(file)) != was for file, was in kept["files"].items()):
            return None
        return Seen(kept["seconds"], tuple((file, name) for file, name in kept["called"]))

    def note(self, name: str, file: Path, seen: Seen) -> None:
        """Remember a test, which stands in a file."""
        files = {str(file), *(path for path, _ in seen.called)}
        digests = {each: _digest(Path(each)) for each in sorted(files)}
        self.tests[name] = {"seconds": seen.seconds, "called": seen.called, "files": digests}

    def keep(self) -> None:
        """Write it down for the next run."""
        if self.path is not None:
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text(json.dumps(self.tests), "utf-8")


@cache
def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest() if path.exists() else ""
