"""The pictures of the tutorial: the page in a browser, and a chart, from its own session.

PYTHONPATH=src:tests:tests/report python tests/pictures.py
"""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from browser import opened_page
from commands import ROOT
from documents import refreshed, session

IMAGES = ROOT / "docs" / "images"
WIDTH, HEIGHT = 900, 1142  # of the part of the page that is shown


def photograph(page: Path, picture: Path) -> None:
    """The top of a page as PNG."""
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
    with (
        TemporaryDirectory() as profile,
        opened_page(page.as_uri(), Path(profile), width=WIDTH) as tab,
    ):
        shot = tab.ask("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
    picture.write_bytes(base64.b64decode(shot["data"]))


def main() -> None:
    """Run the tutorial, and take the pictures of what it leaves."""
    tutorial = ROOT / "docs" / "tutorial.md"
    with session(tutorial) as running:
        refreshed(tutorial, running)
        public = running.folder / "county" / "public"
        photograph(public / "report.html", IMAGES / "report.png")
        shutil.copyfile(public / "charts" / "hubs.svg", IMAGES / "tutorial-hubs.svg")


if __name__ == "__main__":
    main()
