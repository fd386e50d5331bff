"""The server: bound to this machine, its address shown once, stopped by Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import uvicorn

from graphveil.errors import ParameterError, StorageError
from graphveil.web.application import application
from graphveil.web.safety.access import Access, Password
from graphveil.web.safety.guard import DOOR, Address
from graphveil.web.site import MOST_BYTES, Site

LOCAL = "127.0.0.1"
ANYWHERE = ("0.0.0.0", "::", "*", "")
SHORTEST_PASSWORD = 12


@dataclass(frozen=True)
class Wish:
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
        wish: how to serve.
        tell: is told the address to open: first when it runs, then whenever it was used.
    """

    def __init__(self, wish: Wish, tell: Callable[[str], object]) -> None:
        require_safe(wish)
        self._socket = _bound(wish.host, wish.port)
        address = Address(wish.host, self._socket.getsockname()[1])
        password = None if wish.password is None else Password.of(wish.password)
        access = Access(password, lambda: tell(self.address))
        self.site = Site(wish.home, address, access, first=wish.first, most_bytes=wish.most_bytes)
        self._tell = tell

    @property
    def address(self) -> str:
        """What to open in a browser: good once."""
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
            access_log=False,
            log_config=None,
            log_level="critical",
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        return uvicorn.Server(config)


def require_safe(wish: Wish) -> None:
    """Refuse to be reached from elsewhere without a password, or under no certain name."""
    if wish.host in (LOCAL, "localhost"):
        return
    if wish.host in ANYWHERE:
        problem = "must be the one address at which it is reached, such as 192.168.1.20"
        raise ParameterError("address", problem)
    if wish.password is None or len(wish.password) < SHORTEST_PASSWORD:
        problem = f"other than {LOCAL} needs a password of at least {SHORTEST_PASSWORD} letters"
        hint = "Give --password-file; nothing is encrypted on the way, so prefer an SSH tunnel."
        raise ParameterError("address", problem, hint=hint)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.bind((host, port))
        found.listen()  # so that whoever is faster than we are waits
    except (OSError, OverflowError) as error:
        found.close()
        cause = error.strerror if isinstance(error, OSError) else "no such port"
        raise StorageError(f"{host}:{port} cannot be served: {cause}. Try another --port.") from (
            error
        )
    return found
