"""Settings for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["study_databases"]

# Kernels compile on first use, which no deadline foresees.
settings.register_profile(
    "graphveil", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("graphveil")


@pytest.fixture(scope="session", autouse=True)
def machine() -> Iterator[Path]:
    """What the machine remembers of studies: of those of the tests, and only as long."""
    with TemporaryDirectory(prefix="graphveil-state-") as folder:
        os.environ["GRAPHVEIL_STATE"] = folder
        yield Path(folder)
