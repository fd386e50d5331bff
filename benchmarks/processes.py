"""Processes as Linux tells of them: who started whom, processor seconds, and peaks of memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """One process, as it was when somebody looked.

    Attributes:
        pid: its number.
        name: of its program.
        seconds: of processors, so far.
        peak: of its memory, in gigabytes.
    """

    pid: int
    name: str
    seconds: float
    peak: float


class Peaks(NamedTuple):
    """Gigabytes at most: of the first process, of Java, and of the largest of all others."""

    driver: float = 0
    java: float = 0
    worker: float = 0

    def seen(self, family: list[Process], root: int) -> Peaks:
        """With what some processes have come to."""
        found = self._asdict()
        for each in family:
            kind = "driver" if each.pid == root else "java" if each.name == "java" else "worker"
            found[kind] = max(found[kind], each.peak)
        return Peaks(**found)


def family(root: int) -> list[Process]:
    """A process, and everything that it has started and that is still there."""
    parents = {pid: int(figures[1]) for pid in _numbers() if (figures := _figures(pid)[1])}
    known = {root}
    while more := {pid for pid, parent in parents.items() if parent in known} - known:
        known |= more
    return [found for pid in known if (found := _process(pid))]


def _numbers() -> list[int]:
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]


def _figures(pid: int) -> tuple[str, list[str]]:
    """The name of a process and what stands behind it; nothing if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "", []
    name, rest = stat.partition("(")[2].rpartition(")")[::2]
    return name, rest.split()


def _process(pid: int) -> Process | None:
    name, figures = _figures(pid)
    try:
        peak = Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()
    except OSError:
        return None
    if not figures:
        return None
    seconds = sum(map(int, figures[11:13])) / _TICKS
    return Process(pid, name, seconds, int(peak[0]) * 1024 / 1e9 if peak else 0)
