"""Publish: seal steps after a last look; and the public page as readers see it, with its files."""

from __future__ import annotations

import mimetypes
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.errors import StudyError
from graphveil.report.wording import count_range, percent
from graphveil.steward.custody import KnownStudy
from graphveil.steward.publishing import (
    Due,
    Progress,
    Publication,
    PublishRequest,
    Stage,
    due,
    publish,
)
from graphveil.steward.reporting import public_archive, public_file, public_files, report
from graphveil.web.forms import Form, taking_form
from graphveil.web.guard import POLICY, PUBLISHED
from graphveil.web.site import Piece, go_to, page, set_to_work, site_of, study_of, within
from graphveil.web.wording import Same, figure, publishing, refusal_of

KIND = "publish"
HERE = "publish"


def _show(request: Request) -> Response:
    study = study_of(request)
    piece = site_of(request).work.latest(study.key, KIND)
    if piece is not None and piece.is_running:
        return go_to(request, within(study, f"work/{KIND}"))
    return page(
        request,
        "publish.html.jinja",
        study=study,
        at="publish",
        due=due(study.folder),
        figure=figure,
        interval=count_range,
        percent=percent,
        made=piece.result if piece else None,
        refusal=piece.refusal if piece else "",
        same=_same(study, piece),
    )


def _same(study: KnownStudy, piece: Piece | None) -> Same | None:
    """What would have published the same elsewhere; the page does not ask for a seal too early."""
    made = piece.result if piece else None
    if not isinstance(made, Publication) or not made.steps:
        return None
    return publishing(study.folder, made.labels[-1], early=False)


def _begin(request: Request, form: Form) -> Response:
    """Publish up to the step that was chosen, once its name was typed."""
    study = study_of(request)
    if form["action"] == "finish":
        return _set_to_work(request, study, PublishRequest(), "Bringing the public part up to date")
    wanted, typed = form["through"], form["typed"]
    refusal = _refusal(due(study.folder), wanted, typed, early=form.checked("early"))
    if refusal:
        return go_to(request, within(study, HERE), bad=refusal)
    asked = PublishRequest(through=wanted, early=form.checked("early"))
    return _set_to_work(request, study, asked, f"Publishing {wanted}")


def _refusal(now_due: Due, wanted: str, typed: str, *, early: bool) -> str:
    """Why nothing is published, if it is not."""
    step = next((each for each in now_due.steps if each.label == wanted), None)
    if not wanted:
        return "Choose up to which step is published. Nothing was published."
    if typed != wanted:
        return f"Type the name of the step, {wanted}, to confirm. Nothing was published."
    if step is not None and not step.ended and not early:
        label = "“Seal it although it has not ended”"
        return f"{wanted} has not ended yet. To publish it all the same, mark {label}."
    return ""


def _set_to_work(
    request: Request, study: KnownStudy, asked: PublishRequest, title: str
) -> Response:
    def task(piece: Piece) -> Publication:
        def tell(now: Progress) -> None:
            piece.done, piece.steps = now.sealed, now.steps
            sealing = now.stage is Stage.SEALING
            piece.doing = "Counting, and drawing noise" if sealing else "Writing the page"

        return publish(study.folder, asked, tell)

    return set_to_work(request, study, KIND, title, task, after=HERE)


# The public page as readers see it, its files, and all of them in one archive.


PAGE = "report.html"


def _show_public(request: Request) -> Response:
    study = study_of(request)
    names = [each.as_posix() for each in public_files(study.folder)]
    return page(request, "public_page.html.jinja", study=study, at="public", names=names, page=PAGE)


def _file(request: Request) -> Response:
    """A public file; the page is shown, and everything else is downloaded."""
    study, name = study_of(request), request.path_params["name"]
    try:
        path = public_file(study.folder, name)
    except StudyError as error:
        raise HTTPException(404, refusal_of(error)) from error
    headers = {POLICY: PUBLISHED}
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if name != PAGE or "keep" in request.query_params:
        headers["content-disposition"] = f'attachment; filename="{quote(path.name)}"'
    return Response(path.read_bytes(), media_type=kind, headers=headers)


def _archive(request: Request) -> Response:
    study = study_of(request)
    headers = {"content-disposition": f'attachment; filename="{_file_name(study.folder.name)}"'}
    return Response(public_archive(study.folder), media_type="application/zip", headers=headers)


def _file_name(folder: str) -> str:
    plain = "".join(each if each.isascii() and each.isalnum() else "-" for each in folder)
    return f"{plain.strip('-') or 'study'}-public.zip"


def _write_again(request: Request, _: Form) -> Response:
    study = study_of(request)
    report(study.folder)
    return go_to(request, within(study, "public/"), good="The page is written again.")


ROUTES = [
    Route("/study/{key}/publish", _show, methods=["GET"]),
    Route("/study/{key}/publish", taking_form(_begin), methods=["POST"]),
    Route("/study/{key}/public/", _show_public, methods=["GET"]),
    Route("/study/{key}/public/", taking_form(_write_again), methods=["POST"]),
    Route("/study/{key}/public.zip", _archive, methods=["GET"]),
    Route("/study/{key}/public/{name:path}", _file, methods=["GET"]),
]
