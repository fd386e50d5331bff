"""Small studies for the tests: a promise, some people, and noise that stands still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphveil.graph.intake.records import Records
from graphveil.noise.laws import NoiseLaw
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.records import from_rows
from graphveil.study import Promise, StoredStudy
from graphveil.study.machine import Machine

YEARS = ("2001", "2002", "2003", "2004")


def promise(**changed: Any) -> Promise:
    """A yearly study of four steps with two series, and half of its budget left."""
    plain: dict[str, Any] = {
        "title": "A study for tests",
        "population": "made-up people",
        "publisher": "the tests",
        "bound": {"degree": 4, "justification": "nobody made up more"},
        "calendar": {"every": 1, "unit": "year", "first": YEARS[0], "last": YEARS[-1]},
        "budget": {"epsilon": "1", "justification": "an example"},
        "series": [
            {"name": "edges", "statistic": "edges", "epsilon": "1/4"},
            {"name": "degrees", "statistic": "degree-ccdf", "epsilon": "1/4"},
        ],
    }
    return Promise.from_data(plain | changed)


def people() -> Records:
    """Eight people over four years, in two clusters."""
    nodes = [(f"P{number}", 2001 + number // 2) for number in range(8)]
    edges = [("P0", "P1"), ("P1", "P2"), ("P0", "P2"), ("P3", "P4"), ("P4", "P5"), ("P6", "P1")]
    return from_rows(nodes, edges)


def people_and_bad_rows() -> Records:
    """The same, and among them rows that break a rule each."""
    nodes = [("Q0", "soon"), (None, 2001), *((f"P{n}", 2001 + n // 2) for n in range(8))]
    edges = [("P0", "P1"), ("P1", "P2"), ("P0", "P2"), ("P3", "P4"), ("P4", "P5"), ("P6", "P1")]
    return from_rows(nodes, [("Q0", "P1"), *edges])


def opened(
    root: Path, database: str | None = None, machine: Machine | None = None, **changed: Any
) -> StoredStudy:
    """A study with those people in it, of which nothing is sealed."""
    study = StoredStudy.create(root, promise(**changed), database=database, machine=machine)
    study.add(people())
    return study


@dataclass(frozen=True)
class StillNoise:
    """Draws the same noise for every law, so that inputs can be compared."""

    values: Sequence[int] = (3, -1, 4, -1, 5, -9, 2, 6)

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        return [self.values[place % len(self.values)] for place in range(count)]


def freeze_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the chance out of releases; only a test can do this, from outside."""
    monkeypatch.setattr(
        ReleaseNoise, "draw", lambda self, law, count: StillNoise().draw(law, count)
    )


def released(study: StoredStudy) -> dict[tuple[str, int], list[int]]:
    """Every raw value so far, by series and step."""
    rows = (row for row in study.ledger().public_rows if row.event == "release made")
    return {(row.fact["series"], row.fact["step"]): row.fact["raw"] for row in rows}
