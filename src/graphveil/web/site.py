"""The site: what all pages share, and how one of them is answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from graphveil.errors import StudyError
from graphveil.steward.custody import KnownStudy, known_study
from graphveil.web.rendering import rendered
from graphveil.web.safety.guard import Access, Address, Session
from graphveil.web.wording import refusal_of
from graphveil.web.work import Piece, Work

SEE_OTHER = 303
MOST_BYTES = 2 << 30
Tone = Literal["good", "bad"]


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
