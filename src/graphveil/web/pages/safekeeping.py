"""Safekeeping: backups, and adopting a study that was restored, copied or moved."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.errors import GraphveilError
from graphveil.steward.custody import Adoption, adoption, note_backup, safekeeping
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


ROUTES = [
    Route("/study/{key}/safekeeping", _show, methods=["GET"]),
    Route("/study/{key}/safekeeping/backup", taking_form(_backed_up), methods=["POST"]),
    Route("/study/{key}/safekeeping/adopt", taking_form(_adopt), methods=["POST"]),
]
