"""The site: what all pages share, how one is answered, and work that takes its time.

One piece of work runs after the other, for all pages. What is held here is only what a page shows.
What was done is in the ledger: a server that is killed forgets the piece, and the study does not.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from graphveil.errors import DEBUG, GraphveilError, StudyError, unexpected
from graphveil.steward.custody import KnownStudy, known_study
from graphveil.web.guard import Access, Address, Session
from graphveil.web.wording import refusal_of, rendered

SEE_OTHER = 303
MOST_BYTES = 2 << 30
Tone = Literal["good", "bad"]
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


@dataclass(frozen=True)
class Site:
    """One running server.

    Attributes:
        home: the folder in which new studies are begun.
        address: where it is reached.
        access: who may.
        work: what runs.
        first: the path that is shown first.
        most_bytes: of all files that are brought at once.
        notices: what to say on the next page, by session.
    """

    home: Path
    address: Address
    access: Access
    work: Work = field(default_factory=Work)
    first: str = "/"
    most_bytes: int = MOST_BYTES
    notices: dict[str, list[tuple[Tone, str]]] = field(default_factory=dict, repr=False)


def site_of(request: Request) -> Site:
    """The site that a request came to."""
    site: Site = request.app.state.site
    return site


def session_of(request: Request) -> Session:
    """The session of a request; the guard has let in no other."""
    session: Session = request.state.session
    return session


def study_of(request: Request) -> KnownStudy:
    """The study that a request is about."""
    try:
        return known_study(request.path_params["key"])
    except StudyError as error:
        raise HTTPException(404, refusal_of(error)) from error


def page(request: Request, template: str, *, code: int = 200, **values: Any) -> Response:
    """A page, with the notices that were left for it."""
    session = session_of(request)
    notices = site_of(request).notices.pop(session.cookie, [])
    values = {"study": None, "at": "", **values}
    return HTMLResponse(
        rendered(template, csrf=session.csrf, notices=notices, **values), status_code=code
    )


def go_to(request: Request, path: str, *, good: str = "", bad: str = "") -> Response:
    """Redirect to another page, which shows a notice; so that loading it again does nothing."""
    notes: list[tuple[Tone, str]] = [("good", good)] if good else []
    notes += [("bad", bad)] if bad else []
    if notes:
        notices = site_of(request).notices
        notices.setdefault(session_of(request).cookie, []).extend(notes)
    return RedirectResponse(path, status_code=SEE_OTHER)


def within(study: KnownStudy, page: str = "") -> str:
    """The address of a page of a study; its folder is no part of it."""
    return f"/study/{study.key}/{page}"


def set_to_work(
    request: Request,
    study: KnownStudy,
    kind: str,
    title: str,
    task: Callable[[Piece], Any],
    *,
    after: str,
) -> Response:
    """Begin a piece of work, and go to its page; or directly to the result, if it is short."""
    piece = Piece(study.key, kind, title, within(study, after))
    running = site_of(request).work.begin(piece, task)
    return go_to(request, within(study, f"work/{kind}") if running.is_running else running.after)
