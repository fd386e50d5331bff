"""Studies: the way in, those that this machine knows, one of them at a glance, its safekeeping."""

from __future__ import annotations

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from graphveil.errors import GraphveilError
from graphveil.steward.custody import (
    Adoption,
    adoption,
    exposure,
    forget,
    known_studies,
    note_backup,
    opened,
    safekeeping,
)
from graphveil.steward.status import status
from graphveil.steward.verifying import verify
from graphveil.web.forms import Form, taking_form
from graphveil.web.guard import Session
from graphveil.web.site import Piece, Site, go_to, page, set_to_work, site_of, study_of, within
from graphveil.web.wording import figure, only_commands, refusal_of, rendered

MOST_BYTES = 4096
CLOSED = "This address was used already, or is of an earlier run. The terminal shows a new one."
ADOPT, SAFEKEEPING, VERIFY = "adopt", "safekeeping", "verify"


# The way in: a token, and a password if there is one, become the cookie of a session.


async def _ask_password(request: Request) -> Response:
    """Let a visitor with the token in, or ask for the password."""
    site, token = site_of(request), request.query_params.get("token", "")
    if not site.access.knows(token):
        return _closed()
    if site.access.needs_password:
        return HTMLResponse(rendered("password.html.jinja", token=token, wrong=False))
    return _let_in(site, site.access.enter(token))


async def _answer_password(request: Request) -> Response:
    """The password comes as a form, with the token that was in the address."""
    from urllib.parse import parse_qs

    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > MOST_BYTES:
            return _closed()
    fields = parse_qs(content.decode("utf-8", "replace"))
    token, password = (fields.get(name, [""])[0] for name in ("token", "password"))
    site = site_of(request)
    session = await run_in_threadpool(site.access.enter, token, password)
    if session is None and site.access.knows(token):
        again = rendered("password.html.jinja", token=token, wrong=True)
        return HTMLResponse(again, status_code=403)
    return _let_in(site, session)


def _let_in(site: Site, session: Session | None) -> Response:
    if session is None:
        return _closed()
    # Not a redirection: after one from elsewhere, browsers would withhold a strict cookie.
    answer = HTMLResponse(rendered("entered.html.jinja", first=site.first))
    answer.set_cookie(site.address.cookie, session.cookie, httponly=True, samesite="strict")
    return answer


def _closed() -> Response:
    used_up = rendered("closed.html.jinja", title="This address is used up", text=CLOSED)
    return HTMLResponse(used_up, status_code=403)


# The studies that this machine knows.


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


# Safekeeping: backups, and adopting a restored copy.


def _show_safekeeping(request: Request) -> Response:
    study = study_of(request)
    piece = site_of(request).work.latest(study.key, ADOPT)
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
    return go_to(request, within(study, SAFEKEEPING), good=message)


def _adopt_copy(request: Request, form: Form) -> Response:
    study = study_of(request)
    if not form.checked("alone") or not form["reason"]:
        message = "Say why, and confirm that no other copy goes on. Nothing was changed."
        return go_to(request, within(study, SAFEKEEPING), bad=message)

    def task(_: Piece) -> Adoption:
        return adoption(study.folder, form["reason"])

    return set_to_work(request, study, ADOPT, "Adopting the study", task, after=SAFEKEEPING)


# Verify: everything that the study claims about itself is checked, and what was found is shown.


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
    Route("/enter", _ask_password, methods=["GET"]),
    Route("/enter", _answer_password, methods=["POST"]),
    Route("/", _list, methods=["GET"]),
    Route("/open", taking_form(_open), methods=["POST"]),
    Route("/forget", taking_form(_forget), methods=["POST"]),
    Route("/study/{key}/", _overview, methods=["GET"]),
    Route("/study/{key}/work/{kind}", _show_work, methods=["GET"]),
    Route("/study/{key}/work/{kind}/progress", _progress, methods=["GET"]),
    Route("/study/{key}/safekeeping", _show_safekeeping, methods=["GET"]),
    Route("/study/{key}/safekeeping/backup", taking_form(_backed_up), methods=["POST"]),
    Route("/study/{key}/safekeeping/adopt", taking_form(_adopt_copy), methods=["POST"]),
    Route("/study/{key}/verify", _show_checks, methods=["GET"]),
    Route("/study/{key}/verify", taking_form(_verify), methods=["POST"]),
]
