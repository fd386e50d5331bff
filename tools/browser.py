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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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

_MIDDLE = (
    "(e => {{ e.scrollIntoView({{block: 'center', behavior: 'instant'}}); "
    "const b = e.getBoundingClientRect(); "
    "return [b.x + b.width / 2, b.y + b.height / 2]; }})(document.querySelector({}))"
)


def _found(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})"


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

    def go(self, url: str) -> None:
        """Go to another page, and wait until it has loaded."""
        self.loading(lambda: self.ask("Page.navigate", url=url))

    def loading(self, act: Callable[[], object]) -> None:
        """Do something that leads to another page, and wait until that has loaded."""
        self.evaluate("window.isLeft = true")
        act()
        self.wait_until("!window.isLeft && document.readyState === 'complete'")

    def click(self, selector: str) -> None:
        """Press the mouse where a person would, once nothing moves any more."""
        self.wait_until("document.readyState === 'complete'")
        x, y = self.evaluate(_MIDDLE.format(json.dumps(selector)))
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def follow(self, selector: str) -> None:
        """Click what leads to another page."""
        self.loading(lambda: self.click(selector))

    def fill(self, selector: str, text: str) -> None:
        """Type into a field, in the place of what it holds."""
        self.evaluate(f"(e => {{ e.focus(); e.select(); }})({_found(selector)})")
        self.ask("Input.insertText", text=text)

    def choose(self, selector: str, value: str) -> None:
        """Choose one of several, as its value says."""
        self.evaluate(
            f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('input', "
            f"{{bubbles: true}})); return e.value }})({_found(selector)})"
        )

    def press(self, key: str, code: int) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}),
            )  # fmt: skip

    def bring(self, selector: str, *files: Path) -> None:
        """Put files into a field, as if they were dropped there."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.ask("DOM.setFileInputFiles", nodeId=node, files=[str(each) for each in files])

    def text(self) -> str:
        """What the page says, each run of blanks as one."""
        return " ".join(str(self.evaluate("document.body.innerText")).split())

    def wait_until(self, expression: str) -> None:
        """Ask until an expression is true, whatever pages come and go meanwhile."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with suppress(AssertionError):  # of a page that is just being left
                if self.evaluate(expression):
                    return
            assert time.monotonic() < deadline, f"{expression} does not become true: {self.text()}"
            time.sleep(0.05)

    def screenshot(self, path: Path) -> None:
        """The whole page as PNG."""
        self.wait_until("document.readyState === 'complete'")
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
