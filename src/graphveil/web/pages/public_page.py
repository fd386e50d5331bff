"""The public page as readers see it, its files, and all of them in one archive."""

from __future__ import annotations

import mimetypes
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.errors import StudyError
from graphveil.steward.reporting import public_archive, public_file, public_files, report
from graphveil.web.forms import Form, taking_form
from graphveil.web.safety.guard import POLICY, PUBLISHED
from graphveil.web.site import go_to, page, study_of, within
from graphveil.web.wording import refusal_of

PAGE = "report.html"


def _show(request: Request) -> Response:
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
    Route("/study/{key}/public/", _show, methods=["GET"]),
    Route("/study/{key}/public/", taking_form(_write_again), methods=["POST"]),
    Route("/study/{key}/public.zip", _archive, methods=["GET"]),
    Route("/study/{key}/public/{name:path}", _file, methods=["GET"]),
]
