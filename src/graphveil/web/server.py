"""The server: bound to this machine, its address shown once, stopped by Ctrl-C.

A client that opens many connections and sends nothing does not block others: a request has to come
within a time, and where there are too many connections, the one that waits longest is closed.
"""

from __future__ import annotations

import asyncio
import os
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphveil.errors import DEBUG, GraphveilError, ParameterError, StorageError, unexpected
from graphveil.hints import Hint
from graphveil.study.folder import write_private
from graphveil.web.guard import DOOR, Access, Address, Guard, Password, closed
from graphveil.web.pages import ROUTES
from graphveil.web.site import MOST_BYTES, Site, page
from graphveil.web.wording import refusal_of, rendered

LOCAL = "127.0.0.1"
ANYWHERE = ("0.0.0.0", "::", "*", "")
SHORTEST_PASSWORD = 12
MOST_CONNECTIONS = 64  # a browser opens six
MOST_WAITING = 64  # to be accepted; with the others far below the files that a process may open
HEADER_SECONDS = 10.0  # for all of a request's header
BODY_SECONDS = 60.0  # without a byte of what follows it


@dataclass(frozen=True)
class ServeOptions:
    """How to serve.

    Attributes:
        home: a folder of studies, in which new ones are begun.
        first: the path to show first.
        port: 0 takes a free one.
        host: where it is reached; another than this machine needs a password.
        password: see there.
        most_bytes: of all files that are brought at once.
    """

    home: Path
    first: str = "/"
    port: int = 0
    host: str = LOCAL
    password: str | None = None
    most_bytes: int = MOST_BYTES


class Server:
    """A server that is bound, and not running yet.

    Args:
        options: how to serve.
        tell: is called with the address to open: first when it runs, then whenever it was used.
    """

    def __init__(self, options: ServeOptions, tell: Callable[[str], object]) -> None:
        require_safe(options)
        self._socket = _bound(options.host, options.port)
        address = Address(options.host, self._socket.getsockname()[1])
        password = None if options.password is None else Password.of(options.password)
        access = Access(password, lambda: tell(self.address))
        self.site = Site(
            options.home, address, access, first=options.first, most_bytes=options.most_bytes
        )
        self._tell = tell

    @property
    def address(self) -> str:
        """The address to open in a browser: valid once."""
        return f"{self.site.address.url}{DOOR}?token={self.site.access.token}"

    def run(self) -> None:
        """Serve until somebody stops it; no request is logged."""
        with self._socket:
            self._tell(self.address)
            self._running.run(sockets=[self._socket])

    def stop(self) -> None:
        """Stop serving, from another thread."""
        self._running.should_exit = True

    @cached_property
    def _running(self) -> uvicorn.Server:
        config = uvicorn.Config(
            application(self.site),
            http=Connection,
            backlog=MOST_WAITING,
            access_log=False,
            log_config=None,
            log_level="critical",
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        return _Silent(config)


class _Silent(uvicorn.Server):
    """Writes no tracebacks into the terminal, whatever strangers do to its connections."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        if not os.environ.get(DEBUG):
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await super().serve(sockets)


class Connection(H11Protocol):
    """A connection that is closed if its request does not come in time.

    The header as a whole has `HEADER_SECONDS`; what follows it may take as long as it likes, but
    not pause for `BODY_SECONDS`.
    """

    _timer: asyncio.TimerHandle | None = None
    _heard = 0.0  # when the last byte came
    _in_header = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected; if there are too many, the one that waits longest is closed."""
        self._heard = self.loop.time()
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            waiting = (each for each in self.connections if isinstance(each, Connection))
            min(waiting, key=lambda each: each.heard).close()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Some bytes have come."""
        self._heard = self.loop.time()
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._forget_timer()
        super().connection_lost(exc)

    @property
    def heard(self) -> float:
        """When something came last; infinity while its request is being answered."""
        return self._heard if self._is_awaited else float("inf")

    def close(self) -> None:
        """End it at once, unless it waits for our answer."""
        if self.flow.read_paused:
            self._timer = None
            self._watch()
        else:
            self.connections.discard(self)
            self.transport.abort()

    @property
    def _is_awaited(self) -> bool:
        """Whether the client is expected to send something."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _watch(self) -> None:
        """Set the deadline for the next part; a header that trickles in gets no extension."""
        if self.conn.their_state is h11.IDLE and self._timer is not None and self._in_header:
            return
        self._forget_timer()
        self._in_header = self.conn.their_state is h11.IDLE
        if self._is_awaited:
            seconds = HEADER_SECONDS if self._in_header else BODY_SECONDS
            self._timer = self.loop.call_later(seconds, self.close)

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def require_safe(options: ServeOptions) -> None:
    """Refuse to be reachable from elsewhere without a password, or without a definite host name."""
    if options.host in (LOCAL, "localhost"):
        return
    if options.host in ANYWHERE:
        problem = "must be the one address at which it is reached, such as 192.168.1.20"
        raise ParameterError("address", problem)
    if options.password is None or len(options.password) < SHORTEST_PASSWORD:
        problem = f"other than {LOCAL} needs a password of at least {SHORTEST_PASSWORD} letters"
        raise ParameterError("address", problem, hint=Hint("password"))


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.bind((host, port))
        listener.listen()  # so that early connections wait
    except (OSError, OverflowError) as error:
        listener.close()
        cause = error.strerror if isinstance(error, OSError) else "no such port"
        problem = f"{host}:{port} cannot be served: {cause}."
        raise StorageError(problem, hint=Hint("port")) from error
    return listener


# The application: every page at its place, behind the guard.


KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def application(site: Site) -> ASGIApp:
    """The whole site, guarded."""
    inside = Starlette(
        routes=[Route("/static/{name}", _static), *ROUTES],
        exception_handlers={
            HTTPException: _no_page,
            GraphveilError: _refused,
            Exception: _unforeseen,
        },
    )
    inside.state.site = site
    return Guard(inside, site.address, site.access)


def _static(request: Request) -> Response:
    """A style sheet or a script of the package; the style of the published page is one."""
    name = request.path_params["name"]
    own = {each.name: each for each in files("graphveil.web").joinpath("static").iterdir()}
    own["page.css"] = files("graphveil.report").joinpath("templates/page.css")
    kind = KINDS.get(f".{name.rpartition('.')[2]}")
    if name not in own or kind is None:
        return PlainTextResponse("There is no such file.", status_code=404)
    return Response(own[name].read_bytes(), media_type=kind)


def _no_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {404: "There is no such page.", 405: "This page takes no such request."}
    own = error.detail if error.detail not in ("Not Found", "Method Not Allowed") else ""
    text = own or texts.get(error.status_code, "This cannot be done.")
    if request.state.session is None:
        return PlainTextResponse(text, status_code=error.status_code)
    return page(request, "refused.html.jinja", code=error.status_code, text=text)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, GraphveilError)
    return page(request, "refused.html.jinja", code=409, text=refusal_of(error))


def _unforeseen(_: Request, error: Exception) -> Response:
    """An error's own text may hold ids: it is neither shown nor logged."""
    return closed(500, "Something went wrong", unexpected(error))


# The steward's browser is opened at the page, without showing its token to other users.
#
# What a browser is called with, everybody on the machine can list. So it is handed a file that
# only its owner may read, and that leads on.


@contextmanager
def opening(address: str) -> Iterator[None]:
    """Open a browser there; where there is none, the address on the terminal does."""
    with TemporaryDirectory(prefix="graphveil-serve-") as folder:  # for its owner only
        file = Path(folder) / "open.html"
        write_private(file, rendered("opening.html.jinja", address=address).encode())
        with suppress(webbrowser.Error):
            webbrowser.open(file.as_uri())
        yield
