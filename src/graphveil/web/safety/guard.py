"""The guard: looks at every request before anything else does.

It has to name this server as its host, which a name that an attacker points here does not; if it
says where it comes from, that has to be this server as well; and but for the door and the style
sheet it has to show the cookie of a session. Whatever changes something carries the token of its
form, which `forms` checks before the form is read.
"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphveil.steward.unexpected import DEBUG
from graphveil.web.rendering import rendered
from graphveil.web.safety.access import Access, Session
from graphveil.web.safety.headers import completed

DOOR, STATIC = "/enter", "/static/"
READING = ("GET", "HEAD")


@dataclass(frozen=True)
class Address:
    """Where the server is reached.

    Attributes:
        host: a name or number, as browsers are told.
        port: of it.
    """

    host: str
    port: int

    @property
    def names(self) -> frozenset[str]:
        """What a request may call it; this machine has two names."""
        local = self.host in ("127.0.0.1", "localhost")
        hosts = ("127.0.0.1", "localhost") if local else (_bracketed(self.host),)
        return frozenset(f"{host}:{self.port}" for host in hosts)

    @property
    def url(self) -> str:
        """Its beginning."""
        return f"http://{_bracketed(self.host)}:{self.port}"

    @property
    def cookie(self) -> str:
        """What the cookie is called: browsers do not tell apart the ports of a machine."""
        return f"graphveil-{self.port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class Guard:
    """Lets in what may come in; the rest is answered here, in a few words."""

    def __init__(self, inside: ASGIApp, address: Address, access: Access) -> None:
        self._inside, self._address, self._access = inside, address, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return  # neither sockets nor anything else

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = completed(list(message.get("headers", [])))
            await send(message)

        refusal = self._refusal(scope)
        try:
            await (refusal or self._inside)(scope, receive, safely)
        except Exception as error:  # which was answered, and would now be logged
            if os.environ.get(DEBUG):
                traceback.print_exception(error, file=sys.stderr)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[name] for name in self._address.names]:
            return closed(421, "Not here", "This address belongs to another server.")
        door = scope["path"] == DOOR
        if not self._is_ours(headers, scope["method"], door=door):
            return closed(403, "Not from there", "Another site has sent you here: nothing is done")
        session = self._session(headers)
        scope.setdefault("state", {})["session"] = session
        if session is None and not door and not scope["path"].startswith(STATIC):
            return closed(
                403,
                "This page is closed",
                "It opens with the address that `graphveil serve` shows in its terminal: the last "
                "one there, which is good once. If it no longer runs, start it again.",
            )
        return None

    def _is_ours(self, headers: Headers, method: str, *, door: bool) -> bool:
        """Whether a request comes from our own pages, or from the person at the browser."""
        origin = headers.get("origin")
        if origin is None and method not in READING:
            return False
        if origin is not None and origin not in self._origins(headers):
            return False
        return door or headers.get("sec-fetch-site", "none") in ("none", "same-origin")

    def _origins(self, headers: Headers) -> tuple[str, ...]:
        """The one origin that fits: that of the host which the request itself names."""
        return (f"http://{headers['host']}",)

    def _session(self, headers: Headers) -> Session | None:
        # Other programs of this machine set cookies, too, and not all of them in good form.
        sent = cookie_parser(headers.get("cookie", ""))
        return self._access.session(sent.get(self._address.cookie, ""))


def closed(status: int, title: str, text: str) -> Response:
    """A page for those who see no other."""
    page = rendered("closed.html.jinja", title=title, text=text)
    return HTMLResponse(page, status_code=status)
