"""The start: the studies that this machine knows; open one, or begin one."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.errors import GraphveilError
from graphveil.steward.known_studies import forget, known_studies, opened
from graphveil.web.forms import Form, taking_form
from graphveil.web.site import go_to, page, site_of, within
from graphveil.web.wording import refusal_of


def _list(request: Request) -> Response:
    home = site_of(request).home
    return page(request, "start.html.jinja", studies=known_studies(home), home=home)


def _open(request: Request, form: Form) -> Response:
    """Take up the study in a folder that the steward names."""
    if not form["folder"]:
        return go_to(request, "/", bad="Name the folder in which the study is.")
    try:
        study = opened(site_of(request).home / Path(form["folder"]).expanduser())
    except GraphveilError as refused:
        return go_to(request, "/", bad=refusal_of(refused))
    except (OSError, ValueError, RuntimeError):  # the last: nobody has a home of that name
        return go_to(request, "/", bad="This folder cannot be opened.")
    return go_to(request, within(study))


def _forget(request: Request, form: Form) -> Response:
    forget(form["key"])
    return go_to(request, "/", good="It is no longer listed. The study itself is as it was.")


ROUTES = [
    Route("/", _list, methods=["GET"]),
    Route("/open", taking_form(_open), methods=["POST"]),
    Route("/forget", taking_form(_forget), methods=["POST"]),
]
