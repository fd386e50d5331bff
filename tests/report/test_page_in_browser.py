"""The page in a real browser: it is all there, asks for nothing, and complains about nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from browser import opened_page
from graphveil.report.artefacts import write
from public_parts import promise, published, write_part
from required import require_browser

BOXES = (
    "[...document.querySelectorAll('figure.chart svg')].filter(svg => svg.checkVisibility()).map("
    "svg => { const box = "
    "svg.getBoundingClientRect(); return [box.width, box.height, "
    "svg.querySelectorAll('path, text').length, svg.getAttribute('aria-label')] })"
)
CUT_OFF = (
    "[...document.querySelectorAll('.scroll')].map("
    "each => [each.getAttribute('aria-label'), each.scrollWidth - each.clientWidth])"
)
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TOO_WIDE = "<style>td { min-width: 30rem }</style>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_browser()
    public = tmp_path_factory.mktemp("study")
    return write(write_part(public, promise(), published(promise(), 40)))[-1]


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (390, True)])
def test_the_page_renders_by_itself(page: Path, tmp_path: Path, width: int, dark: bool) -> None:
    with opened_page(page.as_uri(), tmp_path / "profile", width=width, dark=dark) as shown:
        boxes, overflow = shown.evaluate(BOXES), shown.evaluate(OVERFLOW)
        paper = shown.evaluate("getComputedStyle(document.body).backgroundColor")
        asked = [each["request"]["url"] for each in shown.told("Network.requestWillBeSent")]
        shown.screenshot(tmp_path / "page.png")
    complaints = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
    assert [shown.told(event) for event in complaints] == [[], [], []]
    assert [url for url in asked if not url.startswith("data:")] == [page.as_uri()]
    assert len(boxes) == 4  # of the two of each series, the one that fits
    assert all(w > 300 and h > 150 and marks > 10 and label for w, h, marks, label in boxes)
    assert overflow <= 0, "the page is wider than the window"
    assert paper == ("rgb(20, 24, 31)" if dark else "rgb(255, 255, 255)")
    assert (tmp_path / "page.png").stat().st_size > 20_000


def test_tables_of_one_number_a_step_fit_a_desk(page: Path, tmp_path: Path) -> None:
    """What is new stands in the last column: nobody looks for what is cut off."""
    with opened_page(page.as_uri(), tmp_path / "profile", width=1280) as shown:
        shown.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        over = dict(shown.evaluate(CUT_OFF))
        shown.evaluate(f"document.head.insertAdjacentHTML('beforeend', '{TOO_WIDE}')")
        cut = dict(shown.evaluate(CUT_OFF))
    tables = [f"{name}, All releases" for name in ("people", "links", "well-linked")]
    assert [over[table] for table in tables] == [0] * 3
    assert all(cut[table] > 0 for table in tables)  # as a page that cuts them would be told


def test_a_page_that_does_ask_would_be_caught(tmp_path: Path) -> None:
    """The watch itself works: a page with a foreign picture and a script is told."""
    page = tmp_path / "page.html"
    page.write_text("<img src='missing.png'><script>console.error('no')</script>")
    with opened_page(page.as_uri(), tmp_path / "profile", width=800) as shown:
        asked = [each["request"]["url"] for each in shown.told("Network.requestWillBeSent")]
        assert (tmp_path / "missing.png").as_uri() in asked
        assert shown.told("Runtime.consoleAPICalled")


def test_a_required_browser_that_is_missing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setenv("GRAPHVEIL_REQUIRE", "postgresql browser")
    with pytest.raises(pytest.fail.Exception, match="no Chromium"):
        require_browser()
    monkeypatch.delenv("GRAPHVEIL_REQUIRE")
    with pytest.raises(pytest.skip.Exception):
        require_browser()
