"""Work that takes its time: one piece after the other, for all pages, each with its progress.

What is held here is only what a page shows. What was done is in the ledger: a server that is
killed forgets the piece, and the study does not.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from graphveil.errors import DEBUG, GraphveilError, unexpected
from graphveil.web.wording import refusal_of

SHORT = 1.0  # seconds that a page waits before it shows progress instead


@dataclass
class Piece:
    """A piece of work on one study.

    Attributes:
        study: its key.
        kind: of work.
        title: what it is, in words.
        after: the page to go to when it is done.
        doing: what it is at.
        done: how many of its steps it has done.
        steps: how many it has.
        result: what it came to.
        refusal: why it came to nothing.
    """

    study: str
    kind: str
    title: str
    after: str
    doing: str = ""
    done: int = 0
    steps: int = 0
    result: Any = field(default=None, repr=False)
    refusal: str = ""
    finished: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def is_running(self) -> bool:
        """Whether it is not done yet."""
        return not self.finished.is_set()


class Work:
    """All pieces of one server; one runs at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._entering = threading.Lock()
        self._pieces: dict[tuple[str, str], Piece] = {}
        self._running: list[threading.Thread] = []

    def begin(self, piece: Piece, task: Callable[[Piece], Any]) -> Piece:
        """Begin a piece, unless one of its kind runs on the study; returns the one that runs."""
        key = piece.study, piece.kind
        with self._entering:
            before = self._pieces.get(key)
            if before is not None and before.is_running:
                return before
            self._pieces[key] = piece
            thread = threading.Thread(target=self._run, args=(piece, task), daemon=True)
            self._running = [each for each in self._running if each.is_alive()] + [thread]
            thread.start()
        piece.finished.wait(SHORT)
        return piece

    def _run(self, piece: Piece, task: Callable[[Piece], Any]) -> None:
        try:
            with self._turn:
                piece.result = task(piece)
        except GraphveilError as refused:
            piece.refusal = refusal_of(refused)
        except Exception as error:  # whose text may hold ids
            if os.environ.get(DEBUG):
                traceback.print_exception(error, file=sys.stderr)
            piece.refusal = unexpected(error)
        finally:
            piece.finished.set()

    def latest(self, study: str, kind: str) -> Piece | None:
        """The newest piece of a kind on a study."""
        return self._pieces.get((study, kind))

    def forget(self, study: str, kind: str) -> None:
        """Stop showing a piece, unless it runs."""
        piece = self.latest(study, kind)
        if piece is not None and not piece.is_running:
            self._pieces.pop((study, kind), None)

    def wait(self) -> None:
        """Until everything that was begun is done."""
        for each in self._running:
            each.join()

    @property
    def is_busy(self) -> bool:
        """Whether something runs."""
        return any(each.is_alive() for each in self._running)
