"""Ids of tests are the same in every process: the runs of two workers or two days compare.

The order is compared by pytest-xdist, whose workers have hash seeds of their own.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from commands import ROOT

CHANGING = {
    "a memory address": re.compile(r"\b0x[0-9a-f]{7,}"),
    "an object's repr": re.compile(r"<.* at 0x|<(function|module|generator|bound method) "),
    "a time": re.compile(  # in seconds, or written out; dates before 2026 are examples
        r"\b1[789]\d{8}(\d{3}|\d{9})?\b|\b20(2[6-9]|[3-9]\d)-\d\d-\d\d[T ]\d\d:\d\d:\d\d"
    ),
    "a machine's path": re.compile(
        "|".join(re.escape(f"{folder}/") for folder in (ROOT, Path.home(), tempfile.gettempdir()))
    ),
}


def faults(ids: Iterable[str]) -> list[str]:
    """What would make ids differ between processes, or two tests have one id."""
    counted = Counter(ids)
    twice = [f"{each} stands {times} times" for each, times in counted.items() if times > 1]
    return twice + [
        f"{each} holds {name}"
        for each in counted
        for name, pattern in CHANGING.items()
        if pattern.search(each)
    ]


def test_ids_are_unique_and_lasting(request: pytest.FixtureRequest) -> None:
    """Of all tests that were collected with this one."""
    assert faults(item.nodeid for item in request.session.items) == []


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        (repr(faults), "a memory address"),
        (repr(object()), "an object's repr"),
        ("<function f>", "an object's repr"),
        ("1763444851.25", "a time"),
        ("2026-11-18 05:47:31.25", "a time"),
        (str(ROOT / "docs"), "a machine's path"),
        (tempfile.gettempdir() + "/study", "a machine's path"),
    ],
    ids=range(7),
)
def test_an_id_that_would_change_is_found(planted: str, fault: str) -> None:
    assert f"test_a[{planted}] holds {fault}" in faults([f"test_a[{planted}]"])


def test_an_id_that_stands_twice_is_found() -> None:
    assert faults(["test_a[1]", "test_a[1]", "test_a[2]"]) == ["test_a[1] stands 2 times"]
