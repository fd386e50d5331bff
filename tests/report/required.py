"""What tests of the page need besides Python: a browser."""

from __future__ import annotations

import os

import pytest

from browser import browser_path


def require_browser() -> None:
    """Without a browser the test is skipped, unless one is required."""
    if browser_path() is None:
        missing = "no Chromium on the PATH"
        if "browser" in os.environ.get("GRAPHVEIL_REQUIRE", ""):
            pytest.fail(missing)
        pytest.skip(missing)
