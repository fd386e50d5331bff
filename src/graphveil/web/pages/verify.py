"""Verify: everything that the study claims about itself is checked, and what was found is shown."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.steward.verifying import verify
from graphveil.web.forms import Form, taking_form
from graphveil.web.site import page, set_to_work, site_of, study_of
from graphveil.web.wording import refusal_of

KIND = "verify"


def _show(request: Request) -> Response:
    study = study_of(request)
    piece = site_of(request).work.latest(study.key, KIND)
    verification = piece.result if piece and not piece.is_running else None
    return page(
        request,
        "verify.html.jinja",
        study=study,
        at="verify",
        found=verification,
        failure=refusal_of(verification.failure) if verification and verification.failure else "",
        refusal=piece.refusal if piece else "",
    )


def _begin(request: Request, _: Form) -> Response:
    study = study_of(request)
    title = "Checking everything that the study claims"
    return set_to_work(request, study, KIND, title, lambda _: verify(study.folder), after="verify")


ROUTES = [
    Route("/study/{key}/verify", _show, methods=["GET"]),
    Route("/study/{key}/verify", taking_form(_begin), methods=["POST"]),
]
