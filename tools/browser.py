"""A headless Chromium, spoken to over a pipe: no network, and no library between."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
A4 = 8.27, 11.69  # inches
PATIENCE = 60  # seconds for one answer, on a busy machine
# Chromium expects to read from descriptor 3 and to write to descriptor 4.
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execvp(sys.argv[3], sys.argv[3:])"
)


def browser_path() -> str | None:
    """Where a browser is; None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Page:
    """One open page, and everything that the browser has told about it."""

    incoming: int
    outgoing: int
    session: str | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    _asked: int = 0
    _rest: bytes = b""

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol and wait for its answer."""
        self._asked += 1
        call = {"id": self._asked, "method": method, "params": parameters}
        if self.session:
            call["sessionId"] = self.session
        os.write(self.outgoing, json.dumps(call).encode() + b"\0")
        while (message := self._next()).get("id") != self._asked:
            self.events.append(message)
        assert "error" not in message, message
        answer: dict[str, Any] = message["result"]
        return answer

    def wait_for(self, event: str) -> None:
        """Read on until this event has come."""
        while not any(each.get("method") == event for each in self.events):
            self.events.append(self._next())

    def told(self, event: str) -> list[dict[str, Any]]:
        """What came with the events of one kind."""
        return [each["params"] for each in self.events if each.get("method") == event]

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page, or of its promise; None if it has none."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """The whole page as PNG."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def printed(self) -> bytes:
        """The page on A4 paper, as PDF."""
        width, height = A4
        answer = self.ask(
            "Page.printToPDF",
            preferCSSPageSize=True, printBackground=True, paperWidth=width, paperHeight=height,
        )  # fmt: skip
        return base64.b64decode(answer["data"])

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self.incoming], [], [], deadline - time.monotonic())
            assert ready, "the browser does not answer"
            piece = os.read(self.incoming, 1 << 16)
            assert piece, "the browser has gone"
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def opened_page(url: str, profile: Path, *, width: int, dark: bool = False) -> Iterator[Page]:
    """A page after it has loaded, with the network and the console watched from the start."""
    path = browser_path() or "chromium"
    to_browser, from_browser = os.pipe(), os.pipe()
    ends = to_browser[0], from_browser[1]
    command = [sys.executable, "-c", LAUNCH, *map(str, ends), path, *FLAGS]
    running = subprocess.Popen(
        [*command, f"--user-data-dir={profile}"],
        pass_fds=ends,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in ends:
        os.close(end)
    page = Page(from_browser[0], to_browser[1])
    try:
        _navigate(page, url, width, dark=dark)
        yield page
    finally:
        running.terminate()
        running.wait(PATIENCE)
        os.close(page.incoming)
        os.close(page.outgoing)


def _navigate(page: Page, url: str, width: int, *, dark: bool) -> None:
    target = page.ask("Target.createTarget", url="about:blank")["targetId"]
    page.session = page.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Network", "Log"):
        page.ask(f"{domain}.enable")
    page.ask(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=width < 600,
    )  # fmt: skip
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    page.ask("Emulation.setEmulatedMedia", features=[scheme])
    page.events.clear()
    page.ask("Page.navigate", url=url)
    page.wait_for("Page.loadEventFired")
    page.evaluate("document.fonts.ready")
