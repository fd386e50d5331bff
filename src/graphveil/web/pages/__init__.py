"""The pages, one a file; each has its routes, and says in its first line what it is for."""

from __future__ import annotations

from starlette.routing import Route

from graphveil.web.pages import (
    door,
    public_page,
    publish,
    start,
    study,
    study_file,
    verify,
    working,
)

_ALL = (door, start, study, study_file, publish, public_page, verify, working)
ROUTES: list[Route] = [route for each in _ALL for route in each.ROUTES]
