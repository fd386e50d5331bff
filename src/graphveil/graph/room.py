"""Room: whether a graph will fit into the memory of this machine, asked before any is taken.

Estimates are low: what they refuse would not have fitted. `benchmarks/growth.py` measures them.
"""

from __future__ import annotations

from pathlib import Path

from graphveil.errors import InputError
from graphveil.hints import Hint

HELD_BYTES = 1.0  # in memory, for each byte of a table on disk, as the least
BYTES_A_NODE, BYTES_AN_EDGE = 24, 16  # while records become a graph, beside the records
GIGABYTE = 10**9
_SYSTEM = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def require_room_to_read(size: int) -> None:
    """Refuse a table that is this large on disk, where memory cannot hold it."""
    _require(HELD_BYTES * size, "reading")


def require_room_to_build(nodes: int, edges: int) -> None:
    """Refuse so many rows of nodes and edges, where memory cannot hold their graph."""
    _require(BYTES_A_NODE * nodes + BYTES_AN_EDGE * edges, "building the graph")


def _require(needed: float, what: str) -> None:
    free = free_bytes()
    if free is not None and needed > free:
        raise InputError(
            f"{what} takes at least {needed / GIGABYTE:.1f} GB of memory, and "
            f"{free / GIGABYTE:.1f} GB are free",
            hint=Hint("room"),
        )


def free_bytes() -> int | None:
    """What this process may still take; None where the system does not tell."""
    sizes = [each for each in (_free_in_system(), _free_in_group()) if each is not None]
    return min(sizes, default=None)


def _free_in_system() -> int | None:
    """What the system could give, its caches included."""
    for line in _text(_SYSTEM).splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) * 1024
    return None


def _free_in_group() -> int | None:
    """What a container is allowed; files in its cache are given back when memory is needed."""
    most, taken = _text(_GROUP / "memory.max").strip(), _text(_GROUP / "memory.current").strip()
    if not (most.isdecimal() and taken.isdecimal()):
        return None
    cached = dict(line.split() for line in _text(_GROUP / "memory.stat").splitlines())
    return max(int(most) - int(taken) + int(cached.get("file", 0)), 0)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeError):
        return ""
