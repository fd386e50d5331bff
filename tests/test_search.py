"""Search of the documentation, from a folder: the page that answers a question is first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import pytest
from markdown import markdown  # type: ignore[import-untyped]

from browser import Page, opened_page
from commands import ROOT
from required import require_browser
from site_search import INDEX, entries, script

QUESTIONS = {
    "How do I install it?": "installing",
    "Which epsilon should we choose?": "faq",
    "How do I read an Excel file?": "formats",
    "people without a date": "formats",
    "my computer broke, restore a backup": "durability",
    "a patient wants to be deleted": "faq",
    "move the study to another machine": "durability",
    "the number is too noisy to tell": "faq",
    "what happens to late records": "records",
    "what does the 95% interval mean": "faq",
    "correct a published number": "faq",
    "TN93 distances threshold": "formats",
    "how many links should we promise": "planning",
}


@pytest.fixture(scope="module")
def searching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    require_browser()
    site = tmp_path_factory.mktemp("site")
    found = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.stem not in ("search", "api"):
            html = markdown(page.read_text(encoding="utf-8"), extensions=["toc", "tables"])
            found += entries(f"{page.stem}.html", html)
    (site / INDEX).write_text(script(found), encoding="utf-8")
    (site / "style").mkdir()
    copyfile(ROOT / "docs" / "style" / "search.js", site / "style" / "search.js")
    text = markdown((ROOT / "docs" / "search.md").read_text(encoding="utf-8"))
    (site / "search.html").write_text(f"<!doctype html><meta charset=utf-8>{text}")
    address = (site / "search.html").as_uri()
    with opened_page(address, tmp_path_factory.mktemp("profile"), width=800) as shown:
        yield shown


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_page_that_answers_is_first(searching: Page, question: str) -> None:
    found = searching.evaluate(f"search({json.dumps(question)}).slice(0, 3).map(each => each.url)")
    assert found[0].partition(".html")[0] == QUESTIONS[question], found


def test_answers_are_shown_and_link_to_their_section(searching: Page) -> None:
    searching.evaluate("asked.value = 'restore a backup'; answer(); 0")
    link = searching.evaluate("document.querySelector('#answers a').getAttribute('href')")
    assert link == "durability.html#copies-and-restored-backups"
    searching.evaluate("asked.value = 'xyzzy'; answer(); 0")
    assert "Nothing was found" in searching.evaluate("answers.textContent")
    assert not searching.told("Runtime.exceptionThrown")


def test_a_question_in_bold_is_a_section_and_scripts_are_not_text() -> None:
    html = "<h1 id=a>Page</h1><p>One.</p><h2 id=b>More<a class=headerlink>¶</a></h2>"
    html += "<p><strong>Why?</strong> Because.</p><p>So <strong>bold</strong>.</p>"
    found = entries("page.html", html + "<script>no()</script>")
    assert [(each["url"], each["heading"], each["text"]) for each in found] == [
        ("page.html", "Page", "One."),
        ("page.html#b", "More", ""),
        ("page.html#b", "Why?", "Because.So bold."),
    ]


def test_the_site_has_the_search() -> None:
    settings = Path(ROOT / "properdocs.yml").read_text(encoding="utf-8")
    assert "tools/site_search.py" in settings
    assert "search.md" in settings
