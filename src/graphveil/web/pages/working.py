"""Work as it goes: what it is at, and where it leads; the page asks again by itself."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graphveil.web.site import go_to, page, site_of, study_of, within


def _show(request: Request) -> Response:
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
    Route("/study/{key}/work/{kind}", _show, methods=["GET"]),
    Route("/study/{key}/work/{kind}/progress", _progress, methods=["GET"]),
]
