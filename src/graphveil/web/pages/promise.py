"""The promise: a form with the errors that it leads to; the study file; and other budgets."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from graphveil.drawing.svg import can_make_pixels
from graphveil.errors import GraphveilError
from graphveil.noise.exact_numbers import as_text
from graphveil.report.wording import OPEN
from graphveil.steward.known_studies import opened
from graphveil.steward.planning.budgets import Budgets, read_range, study_budgets
from graphveil.steward.planning.drafting import RHYTHMS, create, draft
from graphveil.steward.planning.outlook import study_outlook
from graphveil.steward.planning.plots import budget_chart
from graphveil.steward.records.staging import safe_name
from graphveil.study.storage.folder import Folder
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
from graphveil.web.site import go_to, page, site_of, study_of, within
from graphveil.web.wording import figure, refusal_of

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


# The study file: the promise as it is, and how noisy each series will be.


def _show_file(request: Request) -> Response:
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


# Compare: the error of every series against ε, as a picture to download and as a table.


KINDS = {".svg": "image/svg+xml"} | ({".png": "image/png"} if can_make_pixels() else {})
USUAL = ("0.1", "10")


def _compare(request: Request) -> Response:
    study = study_of(request)
    low, high = _range(request)
    budgets, trouble = None, ""
    try:
        budgets = _budgets(study.folder, low, high)
    except GraphveilError as refused:
        trouble = refusal_of(refused)
    return page(
        request,
        "compare.html.jinja",
        study=study,
        at="compare",
        found=budgets,
        trouble=trouble,
        low=low,
        high=high,
        figure=figure,
        as_text=as_text,
        kinds=KINDS,
    )


def _picture(request: Request) -> Response:
    """The picture; sent as a file where a download is asked for."""
    study, name = study_of(request), request.path_params["picture"]
    ending = Path(name).suffix
    if name.removesuffix(ending) != "errors" or ending not in KINDS:
        raise HTTPException(404, "There is no such picture.")
    drawn = budget_chart(_budgets(study.folder, *_range(request))).content(ending)
    headers = {}
    if "keep" in request.query_params:
        headers["content-disposition"] = f'attachment; filename="errors{ending}"'
    return Response(drawn, media_type=KINDS[ending], headers=headers)


def _range(request: Request) -> tuple[str, str]:
    """The budgets to compare; they are public."""
    low, high = (request.query_params.get(name, "").strip() for name in ("low", "high"))
    return low or USUAL[0], high or USUAL[1]


def _budgets(folder: Path, low: str, high: str) -> Budgets:
    return study_budgets(folder, *read_range(f"{low}:{high}"))


ROUTES = [
    Route(HERE, _empty, methods=["GET"]),
    Route(HERE, taking_form(_send), methods=["POST"]),
    Route(f"{HERE}/outlook", taking_form(_outlook), methods=["POST"]),
    Route("/study/{key}/promise", _show_file, methods=["GET"]),
    Route("/study/{key}/compare", _compare, methods=["GET"]),
    Route("/study/{key}/compare/{picture}", _picture, methods=["GET"]),
]
