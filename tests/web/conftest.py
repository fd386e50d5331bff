"""What most tests of the pages begin with: a site in a fresh home, who has come in, a study."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphveil.steward.custody import KnownStudy
from graphveil.web.site import Site
from sites import Visitor, entered, running, small_study


@pytest.fixture
def study(tmp_path: Path) -> KnownStudy:
    return small_study(tmp_path)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running(tmp_path) as site:
        yield site


@pytest.fixture
def visitor(site: Site) -> Visitor:
    return entered(site)
