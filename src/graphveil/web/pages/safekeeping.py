"""Safekeeping: checking all that a study claims, backups, and adopting a restored copy."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.errors import GraphveilError
from graphveil.steward.custody import Adoption, adoption, note_backup, safekeeping
from graphveil.steward.verifying import verify
from graphveil.web.forms import Form, taking_form
from graphveil.web.site import go_to, page, set_to_work, site_of, study_of, within
from graphveil.web.wording import figure, refusal_of
from graphveil.web.work import Piece

KIND, HERE = "adopt", "safekeeping"


def _show(request: Request) -> Response:
    study = study_of(request)
    piece = site_of(request).work.latest(study.key, KIND)
    state = safekeeping(study.folder)
    would, why_not = None, ""
    if study.is_open:
        try:
            would = adoption(study.folder)
        except GraphveilError as refused:
            why_not = refusal_of(refused)
    return page(
        request,
        "safekeeping.html.jinja",
        study=study,
        at="safe",
        found=state,
        would=would,
        why_not=why_not,
        figure=figure,
        adopted=piece.result if piece else None,
        refusal=piece.refusal if piece else "",
    )


def _backed_up(request: Request, _: Form) -> Response:
    study = study_of(request)
    note_backup(study.folder)
    message = "Noted: all there is now is in your backup."
    return go_to(request, within(study, HERE), good=message)


def _adopt(request: Request, form: Form) -> Response:
    study = study_of(request)
    if not form.checked("alone") or not form["reason"]:
        message = "Say why, and confirm that no other copy goes on. Nothing was changed."
        return go_to(request, within(study, HERE), bad=message)

    def task(_: Piece) -> Adoption:
        return adoption(study.folder, form["reason"])

    return set_to_work(request, study, KIND, "Adopting the study", task, after=HERE)


# Verify: everything that the study claims about itself is checked, and what was found is shown.


VERIFY = "verify"


def _show_checks(request: Request) -> Response:
    study = study_of(request)
    piece = site_of(request).work.latest(study.key, VERIFY)
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


def _verify(request: Request, _: Form) -> Response:
    study = study_of(request)
    title = "Checking everything that the study claims"
    return set_to_work(
        request, study, VERIFY, title, lambda _: verify(study.folder), after="verify"
    )


ROUTES = [
    Route("/study/{key}/safekeeping", _show, methods=["GET"]),
    Route("/study/{key}/safekeeping/backup", taking_form(_backed_up), methods=["POST"]),
    Route("/study/{key}/safekeeping/adopt", taking_form(_adopt), methods=["POST"]),
    Route("/study/{key}/verify", _show_checks, methods=["GET"]),
    Route("/study/{key}/verify", taking_form(_verify), methods=["POST"]),
]
