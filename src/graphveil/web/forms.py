"""Forms: what a browser sends, read within limits, once its token is found to be ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

MOST_BYTES = 1 << 20
MOST_FIELDS = 2000
CSRF = "csrf"
FORM = "application/x-www-form-urlencoded"


class Form:
    """The fields of a form; what is missing is empty."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def __getitem__(self, name: str) -> str:
        """What a field says, without surrounding blanks."""
        return next((value.strip() for key, value in self._pairs if key == name), "")

    def said(self, name: str) -> str | None:
        """The same; None where it says nothing."""
        return self[name] or None

    def checked(self, name: str) -> bool:
        """Whether a box has its mark."""
        return bool(self[name])

    def every(self, name: str) -> list[str]:
        """All values of a field that may come several times."""
        return [value.strip() for key, value in self._pairs if key == name]

    def also(self, more: Mapping[str, str]) -> Form:
        """The same with further fields."""
        return Form([*self._pairs, *more.items()])

    def saying(self, other: Mapping[str, str]) -> Form:
        """The same, but for what some fields say."""
        return Form([*((k, v) for k, v in self._pairs if k not in other), *other.items()])

    def without(self, name: str, value: str) -> Form:
        """The same without one value of a field that may come several times."""
        return Form([pair for pair in self._pairs if pair != (name, value)])


Endpoint: TypeAlias = Callable[[Request, Form], Response]


def taking_form(endpoint: Endpoint) -> Callable[[Request], object]:
    """An endpoint that is handed its form, and runs where it may take its time."""

    async def answer(request: Request) -> Response:
        form = await read_form(request)
        return await run_in_threadpool(endpoint, request, form)

    return answer


async def read_form(request: Request) -> Form:
    """The form of a request; refuses one that is not from a page of this session."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != FORM:
        raise HTTPException(415, "A form is expected.")
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > MOST_BYTES:
            raise HTTPException(413, "The form is too large.")
    try:
        pairs = parse_qsl(
            content.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except ValueError as error:
        raise HTTPException(400, "The form cannot be read.") from error
    form = Form(pairs)
    require_token(request, form[CSRF])
    return form


def require_token(request: Request, sent: str) -> None:
    """Refuse a form that does not carry the token of its session."""
    session = request.state.session
    if session is None or not session.sent(sent):
        raise HTTPException(403, "This form is of an earlier session. Load the page again.")
