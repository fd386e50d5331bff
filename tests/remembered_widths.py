"""Widths of intervals are found once for all studies of the tests, most of which are alike.

Every step of a study states them, and finding them takes most of its time. The tests of noise and
of planning find each of theirs.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from graphveil.noise.noise_sum import NoiseSum

FIND = {"noise", "planning", "mechanisms", "series", "lab", "testing", "experiments"}
KNOWN: dict[Any, int] = {}
plain = NoiseSum.half_width


def remembered(noise: NoiseSum, level: Fraction) -> int:
    """The width, as it was found for the same noises at the same level."""
    terms = (
        (each.law, each.weights.tobytes(), each.copies.tobytes(), len(each.weights))
        for each in noise.terms
    )
    key = (*terms, noise.slack, noise.smoothing, level)
    if key not in KNOWN:
        KNOWN[key] = plain(noise, level)
    return KNOWN[key]


@pytest.fixture(autouse=True)
def _widths_are_remembered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.parent.name not in FIND:
        monkeypatch.setattr(NoiseSum, "half_width", remembered)
