"""The promise: what is published, for whom, under which bound and budget; with its noise beside.

Nothing that is typed is stored, and nothing is spent, until it is made the promise.
"""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from graphveil.errors import GraphveilError
from graphveil.report.wording import OPEN
from graphveil.steward.known_studies import opened
from graphveil.steward.planning.drafting import RHYTHMS, create, draft
from graphveil.steward.records.staging import safe_name
from graphveil.web.forms import Form, taking_form
from graphveil.web.promise_form import (
    EMPTY,
    Prediction,
    best_shares,
    offered,
    prediction,
    request_of,
    rows_of,
    with_series,
)
from graphveil.web.rendering import rendered
from graphveil.web.site import go_to, page, site_of, within
from graphveil.web.wording import refusal_of

HERE = "/new"


def _empty(request: Request) -> Response:
    return _page(request, EMPTY)


def _page(request: Request, form: Form, *, refusal: str = "", code: int = 200) -> Response:
    predictions, trouble = _predicted(form)
    return page(
        request,
        "promise.html.jinja",
        code=code,
        form=form,
        rows=rows_of(form),
        rhythms=RHYTHMS,
        statistics=offered(),
        symbols=OPEN,
        predictions=predictions,
        trouble=trouble,
        refusal=refusal,
        home=site_of(request).home,
    )


def _predicted(form: Form) -> tuple[list[Prediction], str]:
    """What the planner says, or what it still has to know."""
    try:
        return [prediction(each) for each in draft(request_of(form, draft=True)).outlooks], ""
    except GraphveilError as refused:
        return [], refusal_of(refused)


def _outlook(_: Request, form: Form) -> Response:
    """The predictions alone, for a moved slider."""
    predictions, trouble = _predicted(form)
    return HTMLResponse(rendered("outlook.html.jinja", predictions=predictions, trouble=trouble))


def _send(request: Request, form: Form) -> Response:
    """Do what the button says that was pressed."""
    action, _, which = form["action"].partition(" ")
    if action == "make":
        return _make(request, form)
    if action == "add":
        return _page(request, with_series(form))
    if action == "remove":
        return _page(request, form.without("row", which))
    if action == "split":
        return _split(request, form)
    return _page(request, form)


def _split(request: Request, form: Form) -> Response:
    try:
        return _page(request, form.saying(best_shares(form)))
    except GraphveilError as refused:
        return _page(request, form, refusal=refusal_of(refused))


def _make(request: Request, form: Form) -> Response:
    """Create the study; a refusal leaves everything as it was, and all that was typed."""
    try:
        folder = _folder(site_of(request).home, form)
        create(folder, request_of(form), drowned_too=form.checked("drowned"))
        study = opened(folder)
    except GraphveilError as refused:
        return _page(request, form, refusal=refusal_of(refused), code=422)
    message = "The study is made. This is its file: read it once more."
    return go_to(request, within(study, "promise"), good=message)


def _folder(home: Path, form: Form) -> Path:
    return home / safe_name(form["folder"] or form["title"].lower().replace(" ", "-"))


ROUTES = [
    Route(HERE, _empty, methods=["GET"]),
    Route(HERE, taking_form(_send), methods=["POST"]),
    Route(f"{HERE}/outlook", taking_form(_outlook), methods=["POST"]),
]
