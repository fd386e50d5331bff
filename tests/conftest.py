"""Settings for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from tries import GATE

pytest_plugins = ["remembered_widths", "study_databases"]

# Kernels compile on first use, which no deadline foresees.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", PATIENT, max_examples=GATE)
settings.register_profile("audit", PATIENT, max_examples=10 * GATE)
settings.load_profile("gate")


@pytest.fixture(scope="session", autouse=True)
def machine() -> Iterator[Path]:
    """What the machine remembers of studies: of those of the tests, and only as long."""
    with TemporaryDirectory(prefix="graphveil-state-") as folder:
        os.environ["GRAPHVEIL_STATE"] = folder
        yield Path(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let what needs Spark come first, so that one worker has it all: Java is slow to start."""
    items.sort(key=lambda item: not hasattr(getattr(item, "module", None), "local_session"))
