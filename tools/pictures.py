"""The pictures of README and tutorial: the page in a browser, and a chart, from its own session.

``python3 tasks.py pictures`` writes them; it needs Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from commands import ROOT
from documents import refreshed, session

IMAGES = ROOT / "docs" / "images"
WIDTH, HEIGHT = 900, 1142  # of the part of the page that is shown


def photograph(page: Path, picture: Path) -> None:
    """The top of a page as PNG."""
    browser = shutil.which("chromium") or sys.exit("Pictures are taken with Chromium: install it.")
    with TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}",
                f"--screenshot={picture}", page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )  # fmt: skip


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
