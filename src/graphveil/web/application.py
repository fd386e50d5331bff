"""The application: every page at its place, behind the guard."""

from __future__ import annotations

from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from graphveil.errors import GraphveilError
from graphveil.steward.unexpected import unexpected
from graphveil.web.pages import ROUTES
from graphveil.web.safety.guard import Guard, closed
from graphveil.web.site import Site, page
from graphveil.web.wording import refusal_of

KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def application(site: Site) -> ASGIApp:
    """The whole site, guarded."""
    inside = Starlette(
        routes=[Route("/static/{name}", _static), *ROUTES],
        exception_handlers={
            HTTPException: _no_page,
            GraphveilError: _refused,
            Exception: _unforeseen,
        },
    )
    inside.state.site = site
    return Guard(inside, site.address, site.access)


def _static(request: Request) -> Response:
    """A style sheet or a script of the package; the style of the published page is one."""
    name = request.path_params["name"]
    own = {each.name: each for each in files("graphveil.web").joinpath("static").iterdir()}
    own["page.css"] = files("graphveil.report").joinpath("templates/page.css")
    kind = KINDS.get(f".{name.rpartition('.')[2]}")
    if name not in own or kind is None:
        return PlainTextResponse("There is no such file.", status_code=404)
    return Response(own[name].read_bytes(), media_type=kind)


def _no_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {404: "There is no such page.", 405: "This page takes no such request."}
    own = error.detail if error.detail not in ("Not Found", "Method Not Allowed") else ""
    text = own or texts.get(error.status_code, "This cannot be done.")
    if request.state.session is None:
        return PlainTextResponse(text, status_code=error.status_code)
    return page(request, "refused.html.jinja", code=error.status_code, text=text)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, GraphveilError)
    return page(request, "refused.html.jinja", code=409, text=refusal_of(error))


def _unforeseen(_: Request, error: Exception) -> Response:
    """An error's own text may hold ids: it is neither shown nor logged."""
    return closed(500, "Something went wrong", unexpected(error))
