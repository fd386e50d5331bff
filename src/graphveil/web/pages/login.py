"""Login: a token, and a password if there is one, become the cookie of a session."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from graphveil.web.rendering import rendered
from graphveil.web.safety.guard import Session
from graphveil.web.site import Site, site_of

MOST_BYTES = 4096
CLOSED = "This address was used already, or is of an earlier run. The terminal shows a new one."


async def _ask(request: Request) -> Response:
    """Let a visitor with the token in, or ask for the password."""
    site, token = site_of(request), request.query_params.get("token", "")
    if not site.access.knows(token):
        return _closed()
    if site.access.needs_password:
        return HTMLResponse(rendered("password.html.jinja", token=token, wrong=False))
    return _answer(site, site.access.enter(token))


async def _answer_password(request: Request) -> Response:
    """The password comes as a form, with the token that was in the address."""
    from urllib.parse import parse_qs

    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > MOST_BYTES:
            return _closed()
    fields = parse_qs(content.decode("utf-8", "replace"))
    token, password = (fields.get(name, [""])[0] for name in ("token", "password"))
    site = site_of(request)
    session = await run_in_threadpool(site.access.enter, token, password)
    if session is None and site.access.knows(token):
        page = rendered("password.html.jinja", token=token, wrong=True)
        return HTMLResponse(page, status_code=403)
    return _answer(site, session)


def _answer(site: Site, session: Session | None) -> Response:
    if session is None:
        return _closed()
    # Not a redirection: after one from elsewhere, browsers would withhold a strict cookie.
    answer = HTMLResponse(rendered("entered.html.jinja", first=site.first))
    answer.set_cookie(site.address.cookie, session.cookie, httponly=True, samesite="strict")
    return answer


def _closed() -> Response:
    page = rendered("closed.html.jinja", title="This address is used up", text=CLOSED)
    return HTMLResponse(page, status_code=403)


ROUTES = [
    Route("/enter", _ask, methods=["GET"]),
    Route("/enter", _answer_password, methods=["POST"]),
]
