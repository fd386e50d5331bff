"""Forms: what a browser sends, read within limits, once its token is found to be ours; and files.

Files are written to the staging area as they arrive, up to a limit, and nowhere else. The token of
the form has to come before the first: nothing of another site is ever stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any, TypeAlias
from urllib.parse import parse_qsl

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from graphveil.steward.previewing import (
    DATE,
    DISTANCE,
    LINK_DATE,
    ONE_END,
    OTHER_END,
    PERSON,
    Preview,
)
from graphveil.steward.staging import Reading, StagingArea

MOST_BYTES = 1 << 20
MOST_FIELDS = 2000
CSRF = "csrf"
FORM = "application/x-www-form-urlencoded"


class Form:
    """The fields of a form; what is missing is empty."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = pairs

    def __getitem__(self, name: str) -> str:
        """The value of a field, without surrounding blanks."""
        return next((value.strip() for key, value in self.pairs if key == name), "")

    def said(self, name: str) -> str | None:
        """The same; None where it is empty."""
        return self[name] or None

    def checked(self, name: str) -> bool:
        """Whether a box is checked."""
        return bool(self[name])

    def every(self, name: str) -> list[str]:
        """All values of a field that may come several times."""
        return [value.strip() for key, value in self.pairs if key == name]

    def also(self, more: Mapping[str, str]) -> Form:
        """The same with further fields."""
        return Form([*self.pairs, *more.items()])

    def saying(self, other: Mapping[str, str]) -> Form:
        """The same with other values for some fields."""
        return Form([*((k, v) for k, v in self.pairs if k not in other), *other.items()])

    def without(self, name: str, value: str) -> Form:
        """The same without one value of a field that may come several times."""
        return Form([pair for pair in self.pairs if pair != (name, value)])


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


# The form on reading: which column is what, and what becomes of rows that break a rule.


# Each with its label and the columns that it is likely to be.
MAPPED = {
    "id": "Person",
    "time": "Date of a person",
    "source": "One end of a link",
    "target": "Other end of a link",
    "edge_time": "Date of a link",
    "distance": "Distance",
}
ROLES = {
    "id": PERSON, "time": DATE, "source": ONE_END, "target": OTHER_END, "edge_time": LINK_DATE,
    "distance": DISTANCE,
}  # fmt: skip
GROUP = "group-"  # and its name: the field of its column
TEXTS = ("max_distance", "time_from_id", "encoding", "undated")
MARKS = ("strict", "yes", "ignore_after_end", "complete", "change_reading")
DAYS = {"": None, "day": True, "month": False}


def reading_of(form: Form) -> Reading:
    """The options for reading files that a form gives."""
    options: dict[str, Any] = {
        name: form[name] for name in (*MAPPED, *TEXTS) if form[name]
    }  # what is not given is left to the files
    if form["time"] and form["time_else"]:
        options["time"] = f"{form['time']},{form['time_else']}"
    options["where"] = [line.strip() for line in form["where"].splitlines() if line.strip()]
    options["group"] = [f"{name}={form[GROUP + name]}" for name in form.every("grouped")
                        if form[GROUP + name]]  # fmt: skip
    options["day_first"] = DAYS.get(form["days"])
    options["excel_dates"] = form.checked("excel_dates")
    options["all_listed"] = form.checked("all_listed")
    marks = {name: form.checked(name) for name in MARKS}
    return Reading(form.said("format"), options, **marks)


def dates_said(reading: Reading) -> tuple[str, str]:
    """The column of a person's date, and the one that counts where it is empty."""
    first, _, rest = (reading.options.get("time") or "").partition(",")
    return first.strip(), rest.strip()


def said_by_files(previews: Sequence[Preview]) -> set[str]:
    """The roles for which the files have a column of their own."""
    taken = {role for each in previews for role in each.roles.values()}
    linked = any(each.lists == "network" for each in previews)  # a network has its own links
    return {name for name, role in ROLES.items() if role in taken} | (
        {"source", "target"} if linked else set()
    )


def choices(previews: Sequence[Preview], reading: Reading) -> dict[str, list[str]]:
    """The columns to choose from, for each role of a column; dates first where wanted."""
    every = list(dict.fromkeys(name for each in previews for name in each.columns))
    dates = [name for name in every if any(name in each.dates for each in previews)]
    columns = {}
    for name in MAPPED:
        likely = dates if name in ("time", "edge_time") else []
        chosen = dates_said(reading)[0] if name == "time" else reading.options.get(name)
        first = [chosen] if chosen and chosen not in every else []
        columns[name] = list(dict.fromkeys([*first, *likely, *every]))
    columns["distance"] = (
        [*columns["distance"], "none"] if "none" not in every else columns["distance"]
    )
    return columns


def grouped(previews: Sequence[Preview], reading: Reading, names: Iterable[str]) -> dict[str, Any]:
    """For each group of the study the columns to choose from, and the one that was chosen."""
    every = list(dict.fromkeys(column for each in previews for column in each.columns))
    said = dict(each.split("=", 1) for each in reading.options.get("group", ()))
    return {name: (list(dict.fromkeys([*every, "none"])), said.get(name, "")) for name in names}


def days_said(reading: Reading) -> str:
    """Which of the three answers on days and months was given."""
    day_first = reading.options.get("day_first")
    return next(name for name, meant in DAYS.items() if meant is day_first)


def marked(reading: Reading) -> set[str]:
    """The boxes that are checked."""
    own = {name for name in MARKS if getattr(reading, name)}
    return own | {name for name, value in reading.options.items() if value is True}


MOST_TOKEN = 200  # bytes


class _Receiver:
    """Receives the parts of the form from the parser: first the token, then files."""

    def __init__(self, staging: StagingArea, check: Callable[[str], None], most: int) -> None:
        self._staging, self._check, self._left = staging, check, most
        self._header, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._token, self._is_token, self._allowed = bytearray(), False, False
        self._whole = False
        self._file: IO[bytes] | None = None
        self._open = ExitStack()
        self.names: list[str] = []

    def callbacks(self) -> dict[str, Callable[..., None]]:
        return {
            "on_part_begin": self._headers.clear,
            "on_header_field": self._on_field,
            "on_header_value": self._on_value,
            "on_header_end": self._on_header,
            "on_headers_finished": self._on_headers,
            "on_part_data": self._on_data,
            "on_part_end": self._on_part_end,
            "on_end": self._on_end,
        }

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def _on_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._is_token = options.get(b"name") == CSRF.encode()
        called = options.get(b"filename", b"").decode("utf-8", "replace")
        if self._is_token or not called:
            return
        if not self._allowed:
            raise HTTPException(403, "This form is of an earlier session. Load the page again.")
        self.names.append(called)
        self._file = self._open.enter_context(self._staging.receiving(called))

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._is_token and len(self._token) + end - start <= MOST_TOKEN:
            self._token += data[start:end]
        if self._file is None:
            return
        self._left -= end - start
        if self._left < 0:
            raise HTTPException(413, "The files are larger than the limit of `graphveil serve`.")
        self._file.write(data[start:end])

    def _on_end(self) -> None:
        self._whole = True

    def _on_part_end(self) -> None:
        if self._is_token:
            self._check(self._token.decode("utf-8", "replace"))
            self._allowed, self._is_token = True, False
        self._file = None
        self._open.close()

    def require_whole(self) -> None:
        """Refuse a form that breaks off."""
        if not self._whole:
            raise HTTPException(400, "The form broke off. Bring the files again.")

    def stop(self, error: BaseException) -> None:
        """Remove the incomplete file."""
        self._open.__exit__(type(error), error, None)


async def receive(request: Request, staging: StagingArea, most: int) -> list[str]:
    """Write the files of a form to the staging area; returns their original names."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise HTTPException(415, "A form with files is expected.")
    receiver = _Receiver(staging, lambda sent: require_token(request, sent), most)
    try:
        parser = MultipartParser(options[b"boundary"], receiver.callbacks())  # type: ignore[arg-type]
        async for piece in request.stream():
            parser.write(piece)
        parser.finalize()
        receiver.require_whole()
    except MultipartParseError as error:
        receiver.stop(error)
        raise HTTPException(400, "The form cannot be read.") from error
    except BaseException as error:  # also where the client leaves in the middle
        receiver.stop(error)
        raise
    return receiver.names
