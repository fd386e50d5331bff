"""Compare: the error of every series against ε, as a picture to download and as a table."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphveil.drawing.svg import can_make_pixels
from graphveil.errors import GraphveilError
from graphveil.noise.exact_numbers import as_text
from graphveil.steward.planning.budgets import Budgets, read_range, study_budgets
from graphveil.steward.planning.plots import budget_chart
from graphveil.web.site import page, study_of
from graphveil.web.wording import figure, refusal_of

KINDS = {".svg": "image/svg+xml"} | ({".png": "image/png"} if can_make_pixels() else {})
USUAL = ("0.1", "10")


def _show(request: Request) -> Response:
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
    Route("/study/{key}/compare", _show, methods=["GET"]),
    Route("/study/{key}/compare/{picture}", _picture, methods=["GET"]),
]
