"""The study file: the promise as it is, and how noisy each series will be."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.steward.planning.outlook import study_outlook
from graphveil.study.storage.folder import Folder
from graphveil.web.promise_form import prediction
from graphveil.web.site import page, study_of


def _show(request: Request) -> Response:
    study = study_of(request)
    outlook = study_outlook(study.folder)
    return page(
        request,
        "study_file.html.jinja",
        study=study,
        at="promise",
        text=Folder(study.folder).study_file.read_text(encoding="utf-8"),
        promise=outlook.promise,
        predictions=[prediction(each) for each in outlook.series],
    )


ROUTES = [Route("/study/{key}/promise", _show, methods=["GET"])]
