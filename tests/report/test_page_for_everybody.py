"""The page for readers who do not see it, or not well: axe finds nothing, and colours differ."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from browser import opened_page
from graphveil.report.artefacts import write
from public_parts import promise, published, write_part
from required import require_browser

STYLE = files("graphveil.report").joinpath("templates/page.css").read_text(encoding="utf-8")
AXE = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
OPENED = "document.querySelectorAll('details').forEach(each => { each.open = true })"
READABLE = 4.5  # the contrast that WCAG asks for between letters and paper


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_browser()
    public = tmp_path_factory.mktemp("study")
    return write(write_part(public, promise(), published(promise(), 8, reach=40)))[-1]


def complaints(page: Path, profile: Path, *, width: int, dark: bool) -> list[tuple[str, str]]:
    """What axe finds, and how grave it is."""
    with opened_page(page.as_uri(), profile, width=width, dark=dark) as shown:
        shown.evaluate(OPENED)
        shown.evaluate(f"{AXE}; 0")
        found: dict[str, Any] = shown.evaluate("axe.run()")
    assert found["passes"], "axe has looked at nothing"
    return [(each["impact"], each["id"]) for each in found["violations"]]


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_axe_finds_nothing(page: Path, tmp_path: Path, width: int, dark: bool) -> None:
    assert complaints(page, tmp_path, width=width, dark=dark) == []


def test_axe_would_find_something(tmp_path: Path) -> None:
    require_browser()
    page = tmp_path / "page.html"
    page.write_text("<title>x</title><p style='color: #ddd; background: #fff'>pale</p>")
    found = complaints(page, tmp_path / "profile", width=1280, dark=False)
    assert {("serious", "html-has-lang"), ("serious", "color-contrast")} <= set(found)


def _colours(scheme: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", scheme))


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL))
@pytest.mark.parametrize("letters", ["ink", "muted", "accent", "raw"])
@pytest.mark.parametrize("paper", ["paper", "wash"])
def test_letters_can_be_told_from_the_paper(scheme: str, letters: str, paper: str) -> None:
    colours = _colours(scheme)
    assert contrast(colours[letters], colours[paper]) >= READABLE
