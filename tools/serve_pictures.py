"""The pictures of `docs/serve.md`: the local page, as a steward goes through it.

They are taken with the tutorial's county, in the world of its documents, where chance stands still.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from browser import Page, opened_page
from commands import ROOT
from frozen import frozen
from graphveil.web.server import ServeOptions, Server

COUNTY = ROOT / "examples" / "county" / "2021.json"
WORDS = {
    "title": "HIV clusters in Example County",
    "population": "people diagnosed with HIV in Example County since 2015",
    "publisher": "Example County Health Department",
    "first": "2021", "releases": "5", "degree": "10",
    "bound_reason": "published networks of similar counties stay below 10",
    "epsilon": "1.5", "epsilon_reason": "decided by the county's ethics board in 2021",
}  # fmt: skip
SERIES = {
    "expected-0": "700", "name-0": "people", "expected-1": "1200", "name-1": "links",
    "tau-2": "4", "expected-2": "300", "name-2": "hubs",
}  # fmt: skip
OPENED = "document.querySelectorAll('details').forEach(each => { each.open = true }); 0"
DONE = "!document.querySelector('#outlook[aria-busy]')"


@contextmanager
def served(home: Path) -> Iterator[Server]:
    """A server in a thread of this process, so that its world is this one's."""
    server = Server(ServeOptions(home), lambda _: None)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


def pictures(width: int) -> Iterator[tuple[str, Path]]:
    """Each picture with its name, while it lasts: a promise, records, publishing, the page."""
    with (
        TemporaryDirectory() as made,
        frozen("serve.md") as world,
        served(Path(made)) as server,
        opened_page("about:blank", Path(made) / "profile", width=width) as page,
    ):
        world.set_date("2022-01-17")
        page.ask("Page.navigate", url=server.address)
        page.wait_until("location.pathname === '/' && document.readyState === 'complete'")
        for name in _way(page, server.site.address.url):
            page.evaluate("scrollTo(0, 0)")
            file = Path(made) / f"{name}.png"
            page.screenshot(file)
            yield name, file


def _way(page: Page, origin: str) -> Iterator[str]:
    """The way of a steward; stops wherever a picture is taken."""
    page.go(f"{origin}/new")
    page.choose("#statistic", "high-degree")
    page.follow("button[value=add]")
    page.evaluate(OPENED)  # what is folded cannot be filled in
    page.click("#kind-degree")
    for name, text in {**WORDS, **SERIES}.items():
        page.fill(f"#{name}", text)
    page.wait_until("document.querySelectorAll('.prediction svg').length === 6")
    page.follow("button[value=split]")
    page.evaluate("document.activeElement.blur()")
    yield "promise"
    page.evaluate(OPENED)
    page.fill("#person_separator", "|")
    page.follow("section.seen button[value=make]")
    page.follow("a.primary[href$=records]")
    page.bring("#files", COUNTY)
    page.follow("form[action$=upload] button")
    page.choose("#time", "hiv_dx_date")
    page.follow("form[action$=look] button")
    page.wait_until("!!document.querySelector('#found')")
    yield "records"
    page.follow("form[action$=keep] button")
    page.wait_until("!!document.querySelector('#kept')")
    page.follow("a.primary[href$=publish]")
    page.fill("#typed", "2021")
    yield "publish"
    page.follow("form.confirm button")
    page.wait_until("!!document.querySelector('#made')")
    page.follow("section.done a.primary")
    page.wait_until("document.readyState === 'complete'")
    yield "public"
