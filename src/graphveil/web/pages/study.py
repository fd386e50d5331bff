"""Overview of a study: its state, and what its steward does next."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.steward.custody import exposure
from graphveil.steward.status import status
from graphveil.web.site import page, study_of


def _show(request: Request) -> Response:
    study = study_of(request)
    return page(
        request,
        "study.html.jinja",
        study=study,
        at="overview",
        status=status(study.folder),
        exposure=exposure(study.folder),
    )


ROUTES = [Route("/study/{key}/", _show, methods=["GET"])]
