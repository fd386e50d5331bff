"""Connections that say nothing, or half of something: the page stays open, the terminal silent."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from graphveil.web import server
from graphveil.web.site import Site
from sites import entered, running, stranger

FILES = 256  # that the server may open: what macOS allows by default
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY = b"POST /enter HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\nContent-Length: 99\r\n\r\nx"


def opened_connection(stack: ExitStack, port: int, sent: bytes) -> socket.socket:
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
    connection.sendall(sent)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side has closed it, as far as can be seen within its time."""
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_many_half_requests_neither_block_the_page_nor_fill_the_terminal(tmp_path: Path) -> None:
    serving = [sys.executable, "-m", "graphveil", "serve", str(tmp_path), "--no-open"]
    with (
        subprocess.Popen(
            ["sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh", *serving],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        ExitStack() as stack,
    ):
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        port = int(address.partition("/enter")[0].rpartition(":")[2])
        for _ in range(FILES + 150):
            opened_connection(stack, port, HALF)
        assert httpx.get(address, timeout=30).status_code == 200
        stack.close()
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert said == ""


@pytest.mark.parametrize("sent", [b"", HALF, BODY])
def test_a_request_that_does_not_come_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr(server, "BODY_SECONDS", 0.2)
    with running(tmp_path) as site, ExitStack() as stack:
        host = f"127.0.0.1:{site.address.port}".encode()
        whole = sent % (host, host) if sent is BODY else sent
        connection = opened_connection(stack, site.address.port, whole)
        assert is_closed(connection)


def test_a_header_that_trickles_in_gets_no_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.5)
    with running(tmp_path) as site, ExitStack() as stack:
        connection = opened_connection(stack, site.address.port, HALF)
        connection.settimeout(0.05)
        while not is_closed(connection):
            with suppress(OSError):
                connection.sendall(b"x")


def test_who_is_being_answered_is_not_put_out(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 2)
    with ExitStack() as stack:
        for _ in range(5):
            opened_connection(stack, site.address.port, HALF)
            assert stranger(site).get("/static/page.css").status_code == 200
        assert entered(site).get("/").status_code == 200
