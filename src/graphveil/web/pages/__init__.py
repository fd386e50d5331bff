"""The pages, one subject a file; each has its routes, and says in its first line what it is for."""

from __future__ import annotations

from starlette.routing import Route

from graphveil.web.pages import login, promise, publish, records, safekeeping, studies

_ALL = (login, studies, promise, records, publish, safekeeping)
ROUTES: list[Route] = [route for each in _ALL for route in each.ROUTES]
