"""Access: a random token opens a session once, and a cookie keeps it; all of it in memory.

The token stands in the address that the terminal shows. It is good for one use: what a browser
keeps in its history, or another user of the machine sees in a list of processes, opens nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

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
    """A password, of which only a slow hash is kept."""

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
        renewed: is told whenever a token was used, since the next one is another.
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
        """The one that is good now."""
        return self._token

    @property
    def needs_password(self) -> bool:
        """Whether the token alone lets nobody in."""
        return self._password is not None

    def knows(self, token: str) -> bool:
        """Whether a token is the one that is good now."""
        return hmac.compare_digest(self._token.encode(), token.encode())

    def enter(self, token: str, password: str = "") -> Session | None:
        """A new session for whoever has the token, and the password; the token is then used."""
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
