"""The local page under test: in this process, or as a real server that can be killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx

from graphveil.steward import adding, drafting
from graphveil.steward.custody import KnownStudy, opened
from graphveil.web.guard import Password
from graphveil.web.server import ServeOptions, Server
from graphveil.web.site import MOST_BYTES, Site
from steward import people
from study_requests import REQUEST


@dataclass
class Visitor:
    """A browser without scripts: it keeps cookies, fills in forms and follows their answers."""

    client: httpx.Client
    origin: str

    def get(self, path: str) -> httpx.Response:
        """A page, as if its address were typed."""
        return self.client.get(path)

    def post(
        self, path: str, *, at: str | None = None, **fields: str | list[str]
    ) -> httpx.Response:
        """A form of a page, sent with what is filled in besides its token."""
        return self.send(path, fields, at=at)

    def send(
        self, path: str, fields: Mapping[str, str | list[str]], *, at: str | None = None
    ) -> httpx.Response:
        """The same, of many fields."""
        sent = {"csrf": self.token(at or path), **fields}
        return self.client.post(path, data=sent, headers={"origin": self.origin})

    def bring(self, study: KnownStudy, files: Mapping[str, bytes | str]) -> httpx.Response:
        """Files, dropped onto the page of records."""
        path = f"/study/{study.key}/records"
        sent = [("files", (name, content)) for name, content in files.items()]
        return self.client.post(
            f"{path}/upload",
            data={"csrf": self.token(path)},
            files=sent,
            headers={"origin": self.origin},
        )

    def token(self, path: str) -> str:
        """What a form of a page carries."""
        found = re.search(r'name="csrf" value="([^"]+)"', self.client.get(path).text)
        assert found
        return found[1]

    def done(self, answer: httpx.Response) -> str:
        """What a page says once its work is done."""
        while "/work/" in str(answer.url):
            answer = self.get(str(answer.url))
        return text_of(answer.text)


def stranger(site: Site, **headers: str) -> httpx.Client:
    """A browser that was not let in."""
    return _client(site.address.url, headers=headers)


def _client(origin: str, **more: Any) -> httpx.Client:
    """A client that leaves no connection open behind it."""
    closing = httpx.Limits(max_keepalive_connections=0)
    return httpx.Client(base_url=origin, timeout=60, limits=closing, **more)


def entered(site: Site) -> Visitor:
    """A browser that was let in."""
    client = _client(site.address.url, follow_redirects=True)
    assert client.get(f"/enter?token={site.access.token}").status_code == 200
    return Visitor(client, site.address.url)


@contextmanager
def running(
    home: Path, password: str | None = None, most_bytes: int = MOST_BYTES
) -> Iterator[Site]:
    """A site that a thread of this process serves."""
    server = Server(ServeOptions(home, most_bytes=most_bytes), lambda _: None)
    if password is not None:
        server.site.access._password = Password.of(password)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server.site
    finally:
        server.stop()
        thread.join()


def small_study(home: Path, *, records: bool = True) -> KnownStudy:
    """A study of a few people, with their records waiting."""
    drafting.create(home / "study", REQUEST)
    if records:
        adding.add(home / "study", people(home / "files"))
    return opened(home / "study")


def text_of(page: str) -> str:
    """What a page says, without its tags."""
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


@dataclass
class Served:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    address: str

    @property
    def origin(self) -> str:
        """Where it is."""
        return self.address.partition("/enter")[0]

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def visitor(self) -> Visitor:
        """A browser that was let in."""
        client = _client(self.origin, follow_redirects=True)
        assert client.get(self.address).status_code == 200
        return Visitor(client, self.origin)


@contextmanager
def served(home: Path, *more: str, state: Path | None = None) -> Iterator[Served]:
    """`graphveil serve`, as a user starts it."""
    told = {**os.environ, **({"GRAPHVEIL_STATE": str(state)} if state else {})}
    command = [sys.executable, "-m", "graphveil", "serve", str(home), "--no-open", *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=told)
    try:
        assert process.stdout is not None
        yield Served(process, process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
