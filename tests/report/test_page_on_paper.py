"""The page on paper, in a real browser: short, whole if asked, and no heading left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from browser import Page, opened_page
from graphveil.report.artefacts import write
from graphveil.report.summary import summary
from graphveil.study.public_part import PublicPart
from public_parts import SERIES, promise, published, write_part
from required import require_browser

MOST_PAGES = 4
LONG = "People who were diagnosed in the county, or who moved there later. " * 60
MANY: list[dict[str, Any]] = [
    {"name": f"well-linked-{number}", "statistic": "high-degree",
     "parameters": {"tau": 1 + number % 12}, "epsilon": "1/80", "horizon": 9, "justification": LONG}
    for number in range(30)
]  # fmt: skip
STUDIES: dict[str, tuple[dict[str, Any], int]] = {
    "nothing published": ({}, 0),
    "usual": ({}, 20),
    "many series, long texts": ({"series": [*SERIES, *MANY], "population": LONG}, 3),
}
HEADINGS = "[...document.querySelectorAll('h1, h2, h3, summary')].map(each => each.innerText)"


@pytest.fixture(scope="module", params=STUDIES)
def shown(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[PublicPart, Page]]:
    require_browser()
    changes, steps = STUDIES[request.param]
    folder = tmp_path_factory.mktemp("study")
    study = promise(**changes)
    page = write(write_part(folder, study, published(study, steps, reach=40)))[-1]
    profile = tmp_path_factory.mktemp("profile")
    with opened_page(page.as_uri(), profile, width=1280) as found:
        yield PublicPart.read(folder), found


def pages_of(page: Page) -> list[list[str]]:
    """The lines of each sheet, without what stands in its margin."""
    printed = pypdfium2.PdfDocument(page.printed())
    texts = [sheet.get_textpage().get_text_bounded() for sheet in printed]
    printed.close()
    lines = [[line.strip() for line in text.splitlines() if line.strip()] for text in texts]
    return [[line for line in each if not re.fullmatch(r"\d+ / \d+", line)] for each in lines]


def left_alone(pages: list[list[str]], headings: list[str]) -> list[str]:
    """The headings that stand at the foot of a sheet."""
    known = [" ".join(each.split()) for each in headings]
    feet = [" ".join(page[-1].split()) for page in pages[:-1]]
    return [foot for foot in feet if any(each.endswith(foot) for each in known)]


def test_the_short_edition_has_the_answers_and_few_pages(shown: tuple[PublicPart, Page]) -> None:
    part, page = shown
    page.evaluate("document.getElementById('everything').checked = false")
    pages = pages_of(page)
    assert 1 <= len(pages) <= MOST_PAGES
    text = " ".join(line for each in pages for line in each)
    plain = re.sub(r"\W+", "", text)
    for answer in summary(part):
        assert re.sub(r"\W+", "", answer.sentence) in plain
    for words in ("Short edition.", "What is promised", "What it rests on", part.head.hash):
        assert words in text
    assert "How this series is made" not in text
    assert left_alone(pages, page.evaluate(HEADINGS)) == []


def test_no_sheet_is_printed_for_a_line_or_two(tmp_path: Path) -> None:
    """However long the page is, its last section stays together with who published it."""
    require_browser()
    page = write(write_part(tmp_path, promise(), published(promise(), 2)))[-1]
    with opened_page(page.as_uri(), tmp_path / "profile", width=1280) as shown:
        shown.evaluate("document.getElementById('privacy').before(document.createElement('div'))")
        for height in range(0, 1000, 50):
            shown.evaluate(
                f"document.getElementById('privacy').previousSibling.style.height = '{height}px'"
            )
            last = pages_of(shown)[-1]
            assert "Check it yourself" in last
            assert f"{promise().publisher}. Opened on" in " ".join(last)


def test_everything_is_printed_for_whoever_asks(shown: tuple[PublicPart, Page]) -> None:
    part, page = shown
    page.evaluate("document.getElementById('everything').checked = true")
    pages = pages_of(page)
    text = " ".join(line for each in pages for line in each)
    assert "Short edition." not in text
    assert text.count("How this series is made") == len(part.series)
    assert text.count("Sensitivity") >= len(part.series)  # within what is closed on the screen
    assert left_alone(pages, page.evaluate(HEADINGS)) == []


def test_a_heading_that_is_left_alone_would_be_noticed() -> None:
    assert left_alone([["a", "Who is trusted  with what"], ["b"]], ["Who is trusted with what"])
    assert not left_alone([["Results", "a"], ["b", "Results"]], ["Results"])
