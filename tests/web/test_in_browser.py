"""A person who never used a terminal: from a file to a published page, in a real browser."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from browser import Page
from browsing import browsing, complaints, excel, foreign, hivtrace
from graphveil.steward.publishing import PublishRequest, publish
from graphveil.steward.status import status
from graphveil.steward.verifying import Outcome, verify
from required import require_browser
from sites import served, small_study

AXE = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
OPENED = "document.querySelectorAll('details').forEach(each => { each.open = true })"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LAST = "document.querySelector('.prediction strong')?.textContent"
RIGHT = 39  # a key
WORDS = {
    "title": "HIV in Rivermouth", "population": "people diagnosed since 2021",
    "publisher": "Health office", "first": "2021", "releases": "4", "degree": "12",
    "bound_reason": "published surveys", "epsilon_reason": "ethics board",
    "expected-0": "80", "expected-1": "60",
}  # fmt: skip


def says(page: Page, words: str) -> None:
    """Wait until the page says something."""
    page.wait_until(f"document.body.innerText.replace(/\\s+/g, ' ').includes({words!r})")


def promise(page: Page, **other: str) -> None:
    """From the start to a promise, with sliders, and with one thing forgotten."""
    page.follow("a.primary[href='/new']")
    page.evaluate(OPENED)
    page.click("#kind-degree")
    for name, text in {**WORDS, **other}.items():
        page.fill(f"#{name}", text)
    says(page, "Total ε: enter it first")
    page.evaluate("document.querySelector('#epsilon-slider').focus()")
    for _ in range(12):
        page.press("ArrowRight", RIGHT)
    page.wait_until(f"{LAST} && {LAST}.startsWith('±')")
    before = page.evaluate(LAST)
    for _ in range(3):
        page.press("ArrowRight", RIGHT)
    page.wait_until(f"{LAST} !== {before!r}")
    page.follow("button[value=split]")
    page.wait_until("document.querySelector('#share-0').value !== ''")
    page.follow("section.seen button[value=make]")
    says(page, "The study is made")


def test_from_an_excel_file_to_a_published_page(tmp_path: Path) -> None:
    require_browser()
    (tmp_path / "home").mkdir()
    with (
        served(tmp_path / "home", state=tmp_path / "state") as server,
        browsing(server, tmp_path / "profile") as page,
    ):
        promise(page)
        says(page, 'title = "HIV in Rivermouth"')
        page.follow("a.primary[href$=records]")
        page.bring("#files", excel(tmp_path / "cases.xlsx"))
        page.follow("form[action$=upload] button")
        says(page, "Not recognised yet")
        # The mistake: wards are taken for dates.
        mapping = {"id": "Pat No", "time": "Ward", "source": "Named by", "target": "Named"}
        for name, column in mapping.items():
            page.choose(f"#{name}", column)
        page.follow("form[action$=look] button")
        says(page, "Look first: more than a tenth of the rows of nodes would be set aside")
        page.choose("#time", "Diagnosed")
        page.follow("form[action$=look] button")
        says(page, "60 nodes added")
        says(page, "PRIVATE")
        page.follow("form[action$=keep] button")
        says(page, "Kept as batch 1")
        page.follow("a.primary[href$=publish]")
        # And another: the name of another step is typed.
        page.choose("#through", "2022")
        page.fill("#typed", "2021")
        page.press("Enter", 13)
        says(page, "Nothing was published")
        page.choose("#through", "2022")
        page.fill("#typed", "2022")
        page.follow("form.confirm button")
        says(page, "Published: 2021 to 2022")
        page.follow("section.done a.primary")
        page.wait_until("document.querySelector('iframe').contentWindow.length === 0")
        page.follow("a[href$=verify]")
        page.follow("main form button")
        says(page, "All checks passed")
        assert complaints(page) == []
        assert foreign(page, server.origin) == []
    folder = tmp_path / "home" / "hiv-in-rivermouth"
    assert "HIV in Rivermouth" in (folder / "public" / "report.html").read_text()
    assert sorted(path.name for path in (folder / "private").iterdir() if "tray" in path.name) == []


def test_from_an_hivtrace_file_to_a_published_page_on_a_phone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_browser()
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "state"))
    (tmp_path / "home").mkdir()
    with (
        served(tmp_path / "home") as server,
        browsing(server, tmp_path / "profile", width=390) as page,
    ):
        promise(page, person_separator="|")
        page.follow("a.primary[href$=records]")
        page.bring("#files", hivtrace(tmp_path / "results.json"))
        page.follow("form[action$=upload] button")
        says(page, "hivtrace")
        # The mistake: nobody says which field is the date.
        page.follow("form[action$=look] button")
        says(page, "no field was named as the date")
        page.choose("#time", "dx_date")
        page.follow("form[action$=look] button")
        says(page, "60 nodes added")
        page.follow("form[action$=keep] button")
        says(page, "Kept as batch 1")
        page.follow("a.primary[href$=publish]")
        page.choose("#through", "2023")
        page.fill("#typed", "2023")
        page.follow("form.confirm button")
        says(page, "Published: 2021 to 2023")
        assert complaints(page) == []
    folder = tmp_path / "home" / "hiv-in-rivermouth"
    assert status(folder).steps.last_sealed == "2023"
    assert verify(folder).outcome is Outcome.PASSED


def violations(page: Page) -> list[tuple[str, str, Any]]:
    """What axe finds on a page with everything open."""
    page.evaluate(OPENED)
    page.evaluate(f"{AXE}; 0")
    found: dict[str, Any] = page.evaluate("axe.run(document, {iframes: false})")
    assert found["passes"], "axe has looked at nothing"
    return [(each["impact"], each["id"], each["nodes"][0]["html"]) for each in found["violations"]]


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_every_page_is_for_everybody(tmp_path: Path, width: int, dark: bool) -> None:
    require_browser()
    study = small_study(tmp_path)
    publish(study.folder, PublishRequest())
    (tmp_path / "more").mkdir()
    other = small_study(tmp_path / "more", records=False)
    pages = ["", "promise", "records", "publish", "public/", "verify", "rehearse", "safekeeping"]
    paths = [
        "/", "/new", "/nowhere", f"/study/{other.key}/", f"/study/{other.key}/publish",
        *(f"/study/{study.key}/{each}" for each in pages),
    ]  # fmt: skip
    with (
        served(tmp_path) as server,
        browsing(server, tmp_path / "profile", width=width, dark=dark) as page,
    ):
        for path in paths:
            page.go(server.origin + path)
            assert violations(page) == [], path
            assert page.evaluate(OVERFLOW) <= 0, f"{path} is wider than the window"
        page.go(f"{server.origin}/study/{study.key}/records")
        page.bring("#files", excel(tmp_path / "cases.xlsx"))
        page.follow("form[action$=upload] button")
        assert violations(page) == []
        assert page.evaluate(OVERFLOW) <= 0
        assert foreign(page, server.origin) == []


def test_sliders_move_every_prediction(tmp_path: Path) -> None:
    require_browser()
    with served(tmp_path) as server, browsing(server, tmp_path / "profile") as page:
        page.go(f"{server.origin}/new")
        page.evaluate(OPENED)
        page.click("#kind-degree")
        for name, text in {
            "first": "2021",
            "releases": "10",
            "degree": "10",
            "epsilon": "2",
        }.items():
            page.fill(f"#{name}", text)
        page.wait_until(f"!!{LAST}")
        for name in ("epsilon", "degree", "hubs", "releases"):
            before = page.evaluate("document.querySelector('#outlook').innerText")
            page.evaluate(f"document.querySelector('#{name}-slider').focus()")
            for _ in range(4):
                page.press("ArrowRight", RIGHT)
            page.wait_until(
                f"document.querySelector('#outlook').innerText !== {before!r} && "
                "!document.querySelector('#outlook[aria-busy]')"
            )
        assert complaints(page) == []
