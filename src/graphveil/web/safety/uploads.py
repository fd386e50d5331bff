"""Uploads: files are written to the staging area as they arrive, up to a limit, and nowhere else.

The token of the form has to come before the first file: nothing of another site's is ever stored.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import IO

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.exceptions import HTTPException
from starlette.requests import Request

from graphveil.steward.staging import Tray
from graphveil.web.forms import CSRF, require_token

MOST_TOKEN = 200  # bytes


class _Receiver:
    """Receives the parts of the form from the parser: first the token, then files."""

    def __init__(self, tray: Tray, check: Callable[[str], None], most: int) -> None:
        self._staging, self._check, self._left = tray, check, most
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


async def receive(request: Request, tray: Tray, most: int) -> list[str]:
    """Write the files of a form to the staging area; returns their original names."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise HTTPException(415, "A form with files is expected.")
    receiver = _Receiver(tray, lambda sent: require_token(request, sent), most)
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
