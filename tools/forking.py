"""Forking: a piece of work in a process of its own, which tells line by line how far it is."""

from __future__ import annotations

import os
import resource
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TypeAlias

MEMORY = 4 * 2**30  # bytes that a child may ask for beyond what the parent has
PATIENCE = 180  # seconds without a line, for a child that waits instead of computing

Tell: TypeAlias = Callable[[str], None]


def told_by_child(work: Callable[[Tell], None]) -> Iterator[str]:
    """The lines that the work tells; at last "timeout" if it took too long, see `allow`."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _work_and_die(work, writing)
    os.close(writing)
    last = ""
    for last in _lines(reading):
        yield last
    os.close(reading)
    if _end(child, patient=last != "timeout") == signal.SIGPROF:
        yield "timeout"


def allow(seconds: float) -> None:
    """End this process after so many more seconds of its own, however busy the machine is."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _work_and_die(work: Callable[[Tell], None], writing: int) -> NoReturn:
    """What the child does; nothing of it reaches the terminal, and nothing is cleaned up."""
    try:
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        work(lambda line: (os.write(writing, f"{line}\n".encode()), None)[1])
    finally:
        os._exit(0)


def _lines(reading: int) -> Iterator[str]:
    rest = b""
    while select.select([reading], [], [], PATIENCE)[0]:
        piece = os.read(reading, 65536)
        if not piece:
            return
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line.decode() for line in lines)
    yield "timeout"


def _end(child: int, *, patient: bool) -> int:
    """Take leave of a child that has ended, or should; the signal that ended it, or 0."""
    if patient:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # and what it has started
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
