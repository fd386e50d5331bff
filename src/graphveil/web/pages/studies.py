"""Studies: those that this machine knows, one of them at a glance, and work as it goes."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graphveil.errors import GraphveilError
from graphveil.steward.custody import exposure, forget, known_studies, opened
from graphveil.steward.status import status
from graphveil.web.commands import only_commands
from graphveil.web.forms import Form, taking_form
from graphveil.web.site import go_to, page, site_of, study_of, within
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


# Overview of a study: its state, and what its steward does next.


def _overview(request: Request) -> Response:
    study = study_of(request)
    return page(
        request,
        "study.html.jinja",
        study=study,
        at="overview",
        status=status(study.folder),
        exposure=exposure(study.folder),
        commands=only_commands(study.folder, is_open=study.is_open),
    )


# Work as it goes: what it is at, and where it leads; the page asks again by itself.


def _show_work(request: Request) -> Response:
    study, kind = study_of(request), request.path_params["kind"]
    piece = site_of(request).work.latest(study.key, kind)
    if piece is None:  # of an earlier run of the server: the study itself shows its state
        return go_to(request, within(study))
    if not piece.is_running:
        return go_to(request, piece.after)
    return page(request, "working.html.jinja", study=study, piece=piece)


def _progress(request: Request) -> Response:
    study, kind = study_of(request), request.path_params["kind"]
    piece = site_of(request).work.latest(study.key, kind)
    if piece is None or not piece.is_running:
        return JSONResponse({"running": False})
    return JSONResponse(
        {"running": True, "doing": piece.doing, "done": piece.done, "steps": piece.steps}
    )


ROUTES = [
    Route("/", _list, methods=["GET"]),
    Route("/open", taking_form(_open), methods=["POST"]),
    Route("/forget", taking_form(_forget), methods=["POST"]),
    Route("/study/{key}/", _overview, methods=["GET"]),
    Route("/study/{key}/work/{kind}", _show_work, methods=["GET"]),
    Route("/study/{key}/work/{kind}/progress", _progress, methods=["GET"]),
]
