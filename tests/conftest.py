"""Settings for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

pytest_plugins = ["study_databases"]

# Kernels compile on first use, which no deadline foresees.
settings.register_profile(
    "graphveil", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("graphveil")
