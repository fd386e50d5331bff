"""The pictures of README and docs: the page on a screen, on a phone and on paper, and a chart.

``python3 tasks.py pictures`` writes them from the tutorial's own session; it needs Chromium.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pypdfium2
from PIL import Image

import headline_picture
import serve_pictures
from browser import browser_path, opened_page
from commands import ROOT
from documents import refreshed, session

IMAGES = ROOT / "docs" / "images"
SCREENS = {
    "report.png": (900, 1440),
    "report-1280.png": (1280, 1800),
    "report-390.png": (390, 3400),
}
SERVED = {"promise": 1900, "records": 1900, "publish": 1400, "public": 1000}
COLOURS = 128  # enough for flat pictures, and a quarter of the bytes
COLUMN = 1140  # pixels of a phone's page that stand in one column of its picture
GAP, DESK = 12, "#9aa3af"


def main() -> None:
    """Run the tutorial, and take the pictures of what it leaves."""
    if browser_path() is None:
        sys.exit("Pictures are taken with Chromium: install it.")
    tutorial = ROOT / "docs" / "tutorial.md"
    with session(tutorial) as running:
        refreshed(tutorial, running)
        public = running.folder / "county" / "public"
        photograph(public / "report.html")
        shutil.copyfile(public / "charts" / "hubs.svg", IMAGES / "tutorial-hubs.svg")
    photograph_server()
    headline_picture.write()


def photograph_server() -> None:
    """The local page of a steward, on a screen; its first page on a phone, too."""
    for name, file in serve_pictures.pictures(1280):
        with Image.open(file) as taken:
            _store(
                taken.crop((0, 0, 1280, min(SERVED[name], taken.height))),
                IMAGES / f"serve-{name}.png",
            )
    for name, file in serve_pictures.pictures(390):
        with Image.open(file) as taken:
            _store(_in_columns(taken.copy()), IMAGES / f"serve-{name}-390.png")
        break


def photograph(page: Path) -> None:
    """The page on every device."""
    for name, (width, height) in SCREENS.items():
        with (
            TemporaryDirectory() as folder,
            opened_page(page.as_uri(), Path(folder), width=width) as shown,
        ):
            shown.screenshot(Path(folder) / "page.png")
            with Image.open(Path(folder) / "page.png") as taken:
                top = taken.crop((0, 0, width, min(height, taken.height)))
            _store(_in_columns(top) if width < 600 else top, IMAGES / name)
            if name == "report-1280.png":
                _store(_side_by_side(list(_sheets(shown.printed()))), IMAGES / "report-print.png")


def _sheets(printed: bytes) -> Iterator[Image.Image]:
    """The sheets of a PDF."""
    document = pypdfium2.PdfDocument(printed)
    for sheet in document:
        yield sheet.render(scale=0.9).to_pil()
    document.close()


def _in_columns(tall: Image.Image) -> Image.Image:
    cuts = range(0, tall.height, COLUMN)
    return _side_by_side(
        [tall.crop((0, top, tall.width, min(top + COLUMN, tall.height))) for top in cuts]
    )


def _side_by_side(pictures: list[Image.Image]) -> Image.Image:
    width, height = (max(sizes) for sizes in zip(*(each.size for each in pictures), strict=True))
    desk = Image.new("RGB", ((width + GAP) * len(pictures) + GAP, height + 2 * GAP), DESK)
    for place, each in enumerate(pictures):
        desk.paste(each, (GAP + place * (width + GAP), GAP))
    return desk


def _store(picture: Image.Image, path: Path) -> None:
    """As a small file."""
    content = io.BytesIO()
    few = picture.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE)
    few.save(content, "PNG", optimize=True)
    path.write_bytes(content.getvalue())


if __name__ == "__main__":
    main()
