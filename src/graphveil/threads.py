"""Threads: run a kernel on many pieces, on every core that this process may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def available_threads() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(
    function: Callable[..., Result], pieces: Sequence[tuple[Any, ...]], threads: int | None = None
) -> list[Result]:
    """The results of `function` on each piece, in order; the function must free the GIL."""
    count = min(threads or available_threads(), len(pieces))
    if count <= 1:
        return [function(*piece) for piece in pieces]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda piece: function(*piece), pieces))
