"""How fast the local page is: ``python benchmarks/web.py``. Writes `WEB.md`.

Every page of the demo study, and the answers to sliders, asked for over the loopback of this
machine. Seconds are of the clock and of the processor: on a busy machine only these say something.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import httpx

HERE = Path(__file__).resolve().parent
RUNS = 7
PAGE_GOAL, SLIDER_GOAL = 0.3, 0.2
PAGES = {
    "start": "/", "new study": "/new", "overview": "", "promise": "promise", "records": "records",
    "publish": "publish", "public page": "public/", "verify": "verify", "compare": "compare",
    "safekeeping": "safekeeping",
}  # fmt: skip
FORM = {
    "first": "2021", "every": "year", "releases": "12", "kind": "degree", "degree": "15",
    "epsilon": "2", "row": ["0", "1", "2", "3"], "statistic-0": "nodes", "statistic-1": "edges",
    "statistic-2": "high-degree", "tau-2": "3", "statistic-3": "components",
    "expected-0": "8000", "expected-1": "12000", "expected-2": "1000", "expected-3": "3000",
}  # fmt: skip
SLIDERS = {
    "epsilon": ("0.5", "1", "1.5", "2", "3", "4", "5"),
    "degree": ("10", "12", "14", "16", "18", "20", "25"),
    "hubs": ("1", "2", "3", "5", "8", "10", "15"),
    "releases": ("8", "10", "14", "20", "24", "30", "40"),
}


@dataclass(frozen=True)
class Timed:
    """How long something took, in the middle and at worst."""

    name: str
    clock: tuple[float, ...]
    processor: tuple[float, ...]

    def row(self) -> str:
        """A line of the table."""
        clock, processor = self.clock, self.processor
        return (
            f"| {self.name} | {median(clock):.3f} | {max(clock):.3f} | {median(processor):.3f} | "
            f"{max(processor):.3f} |"
        )


def timed(name: str, acts: list[Callable[[], httpx.Response]]) -> Timed:
    clock, processor = [], []
    for act in acts:
        began, worked = perf_counter(), process_time()
        assert act().status_code == 200, name
        clock.append(perf_counter() - began)
        processor.append(process_time() - worked)
    return Timed(name, tuple(clock), tuple(processor))


def main() -> None:
    from graphveil.web.server import ServeOptions, Server

    with tempfile.TemporaryDirectory() as home:
        os.environ["GRAPHVEIL_STATE"] = str(Path(home) / "state")
        command = [sys.executable, "-m", "graphveil", "demo", f"{home}/demo", "--quiet"]
        subprocess.run(command, check=True)
        server = Server(ServeOptions(Path(home)), lambda _: None)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        with httpx.Client(base_url=server.site.address.url, timeout=60) as client:
            client.get(server.address)
            rows = [*_pages(client), *_sliders(client, server.site.address.url)]
        server.stop()
        thread.join()
    (HERE / "WEB.md").write_text(_report(rows), encoding="utf-8")
    print(_report(rows))


def _pages(client: httpx.Client) -> list[Timed]:
    found = re.search(r"/study/[0-9a-f]+/", client.get("/").text)
    assert found
    paths = {
        name: path if path.startswith("/") else found[0] + path for name, path in PAGES.items()
    }
    for path in paths.values():
        client.get(path)  # libraries are loaded once
    return [
        timed(f"page: {name}", [lambda path=path: client.get(path)] * RUNS)  # type: ignore[misc]
        for name, path in paths.items()
    ]


def _sliders(client: httpx.Client, origin: str) -> list[Timed]:
    token = re.search(r'name="csrf" value="([^"]+)"', client.get("/new").text)
    assert token

    def ask(**moved: str) -> httpx.Response:
        sent = {**FORM, **moved, "csrf": token[1] if token else ""}
        return client.post("/new/outlook", data=sent, headers={"origin": origin})

    ask()  # the first computation
    return [
        timed(
            f"slider: {name}",
            [lambda name=name, value=value: ask(**{name: value}) for value in values],  # type: ignore[misc]
        )
        for name, values in SLIDERS.items()
    ]


def _report(rows: list[Timed]) -> str:
    head = "| what | clock, median | clock, worst | processor, median | processor, worst |"
    lines = "\n".join(each.row() for each in rows)
    return (
        "# The local page\n\n"
        "Seconds for one answer of `graphveil serve`, by `python benchmarks/web.py`: every page of "
        f"the demo study, {RUNS} times after the first, and sliders moved to "
        f"{len(SLIDERS['hubs'])} new places each, none of which was planned before (four series). "
        f"{os.cpu_count()} cores, of which others had their part (load {os.getloadavg()[0]:.0f}): "
        "the clock says how long it took among them, the processor how long it takes alone. "
        f"Python {platform.python_version()}.\n\n"
        f"Goals on a quiet machine: {PAGE_GOAL} s for a page, {SLIDER_GOAL} s for a slider.\n\n"
        f"{head}\n|---|---|---|---|---|\n{lines}\n"
    )


if __name__ == "__main__":
    main()
