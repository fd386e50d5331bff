"""The promise: a form with the errors that it leads to; the study file; and a rehearsal of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from graphveil.errors import GraphveilError, ParameterError
from graphveil.lab.rehearsal import (
    Rehearsal,
    at_budget,
    comparison,
    expected_sizes,
    made_up,
    rehearse,
)
from graphveil.noise.exact_numbers import as_text, exact_epsilon
from graphveil.report.wording import OPEN
from graphveil.steward.custody import opened
from graphveil.steward.drafting import RHYTHMS, create, delete_draft, draft, rewrite_draft
from graphveil.steward.outlook import study_outlook
from graphveil.steward.requests import expected_size
from graphveil.steward.staging import safe_name
from graphveil.study.folder import Folder
from graphveil.web.forms import Form, taking_form
from graphveil.web.guard import POLICY, PUBLISHED
from graphveil.web.promise_form import (
    EMPTY,
    TEMPLATES,
    Prediction,
    best_shares,
    offered,
    prediction,
    request_of,
    rows_of,
    with_series,
)
from graphveil.web.site import go_to, page, site_of, study_of, within
from graphveil.web.wording import refusal_of, rendered

HERE = "/new"
DELETE = "delete"  # what is typed to confirm
MOST_BUDGETS = 4  # that are rehearsed side by side


def _empty(request: Request) -> Response:
    """The form: as a template fills it in, or almost empty."""
    chosen = TEMPLATES.get(request.query_params.get("template", ""))
    return _page(request, chosen.form() if chosen else EMPTY)


def _page(request: Request, form: Form, *, refusal: str = "", code: int = 200) -> Response:
    predictions, trouble = _predicted(form)
    return page(
        request,
        "promise.html.jinja",
        code=code,
        form=form,
        rows=rows_of(form),
        templates=TEMPLATES,
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
        create(folder, request_of(form), even_too_noisy=form.checked("drowned"))
        study = opened(folder)
    except GraphveilError as refused:
        return _page(request, form, refusal=refusal_of(refused), code=422)
    message = "The study is made. This is its file: read it once more."
    return go_to(request, within(study, "promise"), good=message)


def _folder(home: Path, form: Form) -> Path:
    return home / safe_name(form["folder"] or form["title"].lower().replace(" ", "-"))


# The study file: the promise as it is, and how noisy each series will be.


def _show_file(request: Request, text: str = "", refusal: str = "") -> Response:
    study = study_of(request)
    outlook = study_outlook(study.folder)
    return page(
        request,
        "study_file.html.jinja",
        study=study,
        at="promise",
        text=Folder(study.folder).study_file.read_text(encoding="utf-8"),
        typed=text,
        refusal=refusal,
        promise=outlook.promise,
        predictions=[prediction(each) for each in outlook.series],
    )


def _change(request: Request, form: Form) -> Response:
    """Write another study file of a draft, or delete the draft; a refusal keeps what was typed."""
    study = study_of(request)
    try:
        if form["action"] == "delete":
            if form["typed"] != DELETE:
                return _show_file(request, refusal=f"Type {DELETE} to confirm.")
            delete_draft(study.folder)
            return go_to(request, "/", good="The draft is deleted. Nothing was promised by it.")
        rewrite_draft(study.folder, form["text"].replace("\r\n", "\n") + "\n")
    except GraphveilError as refused:
        return _show_file(request, form["text"], refusal_of(refused))
    return go_to(request, within(study, "promise"), good="Changed. Read it once more.")


# Rehearse: the page that readers would see, with made-up people.


def _rehearsal(request: Request) -> Response:
    """The form; with sizes in it, the truth beside what would be published."""
    study, wanted = study_of(request), request.query_params
    played: list[Rehearsal] = []
    trouble = ""
    try:
        played = _played(study.folder, wanted) if "people" in wanted else []
    except GraphveilError as refused:
        trouble = refusal_of(refused)
    sizes = expected_sizes(study_outlook(study.folder).promise)
    return page(
        request,
        "rehearse.html.jinja",
        study=study,
        at="rehearse",
        people=wanted.get("people", sizes.get("people", "")),
        links=wanted.get("links", sizes.get("links", "")),
        epsilon=wanted.get("epsilon", ""),
        trouble=trouble,
        found=comparison(played) if played else None,
        budgets=[as_text(each.epsilon) for each in played],
    )


def _rehearsed_page(request: Request) -> Response:
    """The whole page of one budget, as readers would see it."""
    study = study_of(request)
    try:
        played = _played(study.folder, request.query_params)
    except GraphveilError as refused:
        raise HTTPException(409, refusal_of(refused)) from refused
    return Response(
        played[0].page(played, public=False), media_type="text/html", headers={POLICY: PUBLISHED}
    )


def _played(folder: Path, wanted: Mapping[str, str]) -> list[Rehearsal]:
    """One rehearsal for each ε, of the study's own where none is given."""
    promise = study_outlook(folder).promise
    sizes = {name: expected_size(wanted.get(name, ""), name) for name in ("people", "links")}
    budgets = wanted.get("epsilon", "").split() or [promise.budget.epsilon]
    if len(budgets) > MOST_BUDGETS:
        raise ParameterError("epsilon", f"compare at most {MOST_BUDGETS} budgets")
    network = made_up(promise, **sizes)
    return [rehearse(at_budget(promise, exact_epsilon(each)), network) for each in budgets]


ROUTES = [
    Route(HERE, _empty, methods=["GET"]),
    Route(HERE, taking_form(_send), methods=["POST"]),
    Route(f"{HERE}/outlook", taking_form(_outlook), methods=["POST"]),
    Route("/study/{key}/promise", _show_file, methods=["GET"]),
    Route("/study/{key}/promise", taking_form(_change), methods=["POST"]),
    Route("/study/{key}/rehearse", _rehearsal, methods=["GET"]),
    Route("/study/{key}/rehearse/page", _rehearsed_page, methods=["GET"]),
]
