"""The pages, one subject a file; each has its routes, and says in its first line what it is for."""

from __future__ import annotations

from starlette.routing import Route

from graphveil.web.pages import promise, publish, records, studies

_ALL = (studies, promise, records, publish)
ROUTES: list[Route] = [route for each in _ALL for route in each.ROUTES]
