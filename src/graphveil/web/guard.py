"""The guard: every request is checked for its host, token and session before anything else.

It has to name this server as its host, which a name that an attacker points here does not; if it
says where it comes from, that has to be this server as well; and but for the door and the style
sheet it has to show the cookie of a session. Whatever changes something carries the token of its
form, which `forms` checks before the form is read.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphveil.errors import DEBUG
from graphveil.web.wording import rendered

# Access: a random token opens a session once, and a cookie identifies it; all of it in memory.
#
# The token is in the address that the terminal shows. It is valid for one use: what a browser
# keeps in its history, or another user of the machine sees in a list of processes, opens
# nothing.


TOKEN = 24  # bytes of randomness
MOST_SESSIONS = 16  # browsers, or windows of them; of more, the oldest are forgotten
PAUSE = 1.0  # seconds after a wrong password, in which no other is looked at


@dataclass(frozen=True)
class Session:
    """A browser that was let in.

    Attributes:
        cookie: what it shows with every request.
        csrf: what every form of it carries, so that no other site can send one.
    """

    cookie: str = field(repr=False)
    csrf: str = field(repr=False)

    @classmethod
    def new(cls) -> Session:
        """A fresh one."""
        return cls(secrets.token_urlsafe(TOKEN), secrets.token_urlsafe(TOKEN))

    def sent(self, csrf: str) -> bool:
        """Whether a form is its own."""
        return hmac.compare_digest(self.csrf.encode(), csrf.encode())


@dataclass(frozen=True)
class Password:
    """A password, of which only a slow hash is stored."""

    salt: bytes = field(repr=False)
    hash: bytes = field(repr=False)

    @classmethod
    def of(cls, text: str) -> Password:
        """Hash a password."""
        salt = secrets.token_bytes(16)
        return cls(salt, _slow_hash(text, salt))

    def fits(self, text: str) -> bool:
        """Whether it is this one."""
        return hmac.compare_digest(self.hash, _slow_hash(text, self.salt))


def _slow_hash(text: str, salt: bytes) -> bytes:
    return hashlib.scrypt(text.encode(), salt=salt, n=2**14, r=8, p=1)


class Access:
    """The sessions of one server, its token, and its password if it has one.

    Args:
        password: is asked for besides the token, where the server can be reached from elsewhere.
        renewed: is called whenever a token was used, since the next one is another.
    """

    def __init__(
        self, password: Password | None = None, renewed: Callable[[], object] = lambda: None
    ) -> None:
        self._password, self._renewed = password, renewed
        self._token = secrets.token_urlsafe(TOKEN)
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def token(self) -> str:
        """The one that is valid now."""
        return self._token

    @property
    def needs_password(self) -> bool:
        """Whether a password is needed besides the token."""
        return self._password is not None

    def knows(self, token: str) -> bool:
        """Whether a token is the one that is valid now."""
        return hmac.compare_digest(self._token.encode(), token.encode())

    def enter(self, token: str, password: str = "") -> Session | None:
        """A new session for a visitor with the token, and the password; the token is then used."""
        with self._lock:
            if not self.knows(token):
                return None
            if self._password is not None and not self._password.fits(password):
                time.sleep(PAUSE)
                return None
            self._token, session = secrets.token_urlsafe(TOKEN), Session.new()
            self._sessions[session.cookie] = session
            while len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
        self._renewed()
        return session

    def session(self, cookie: str) -> Session | None:
        """The session of a cookie, if there is one."""
        return self._sessions.get(cookie)


# What every answer says: store nothing, load nothing from elsewhere, run only our scripts.


_OWN = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# The published page brings its style with it, runs nothing, and is shown within our own alone.
PUBLISHED = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'; sandbox allow-downloads"
)
POLICY = "content-security-policy"
ALWAYS = {
    "cache-control": "no-store",
    POLICY: _OWN,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",  # without any, browsers would not say where a form is from
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
}


def completed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, and those that every answer has; its own take precedence."""
    present = {name.lower() for name, _ in headers}
    more = ((name.encode(), text.encode()) for name, text in ALWAYS.items())
    return [*headers, *((name, text) for name, text in more if name not in present)]


DOOR, STATIC = "/enter", "/static/"
READING = ("GET", "HEAD")


@dataclass(frozen=True)
class Address:
    """Where the server is reached.

    Attributes:
        host: a name or number, as browsers use it.
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
        """The name of the cookie: browsers do not distinguish the ports of a machine."""
        return f"graphveil-{self.port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class Guard:
    """Admits requests that are allowed; the others are answered here, in a few words."""

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
    """A page for visitors who are not admitted."""
    page = rendered("closed.html.jinja", title=title, text=text)
    return HTMLResponse(page, status_code=status)
