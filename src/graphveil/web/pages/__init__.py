"""The pages, one a file; each has its routes, and says in its first line what it is for."""

from __future__ import annotations

from starlette.routing import Route

from graphveil.web.pages import (
    compare,
    door,
    promise,
    public_page,
    publish,
    records,
    safekeeping,
    start,
    study,
    study_file,
    verify,
    working,
)

_ALL = (
    door,
    start,
    promise,
    study,
    study_file,
    records,
    publish,
    public_page,
    verify,
    compare,
    safekeeping,
    working,
)
ROUTES: list[Route] = [route for each in _ALL for route in each.ROUTES]
