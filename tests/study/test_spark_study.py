"""A study whose counting runs on Spark publishes, byte for byte, what the local engine publishes.

The tasks run in this process here; `tests/engines/test_spark_engine.py` runs them on Spark.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from frozen import frozen
from graphveil.engines import Engine, LocalEngine
from graphveil.engines.spark.sequences import SequenceEngine
from graphveil.engines.spark.workspace import Workspace
from graphveil.errors import BoundError, EngineError
from graphveil.formats import from_rows
from graphveil.steward.reporting import write_report
from graphveil.study import Study
from graphveil.study.verification import verify
from here import Here
from studies import people, promise

SERIES = [
    {"name": name, "statistic": name, "epsilon": "1/8"}
    for name in ("edges", "degree-ccdf", "triangles", "components")
]
HUBS = {"degree": 2, "hubs": 3, "justification": "nobody made up more"}


@pytest.fixture
def spark(tmp_path: Path) -> SequenceEngine:
    return SequenceEngine(Here(), Workspace.within(str(tmp_path)))


def published(root: Path, engines: list[Engine | None], **changed: Any) -> dict[str, bytes]:
    """All public files of a study that is published year by year, each by its engine."""
    with frozen("Spark"):
        Study.create(root, promise(series=SERIES, **changed))
        Study.at(root, engine=engines[0]).add(people())
        for step, engine in enumerate(engines):
            study = Study.at(root, engine=engine)
            if step == 2:
                study.add(from_rows([("P9", 2003)], [("P9", "P0"), ("P9", "P5"), ("P3", "P5")]))
            study.publish()
        write_report(root / "public")
        for engine in (None, engines[-1]):  # whoever published it
            assert all(check.is_finished for check in verify(Study.at(root, engine=engine)))
    public = root / "public"
    return {
        str(file.relative_to(public)): file.read_bytes()
        for file in sorted(public.rglob("*"))
        if file.is_file()
    }


def without_hashes(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: re.sub(rb"[0-9a-f]{8,}", b"#", content) for name, content in files.items()}


@pytest.mark.parametrize("bound", [{}, {"bound": HUBS}], ids=["bound", "hubs"])
def test_public_files_are_the_same_byte_for_byte(
    tmp_path: Path, spark: SequenceEngine, bound: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = published(tmp_path / "kept" / "study", [None] * 4, **bound)
    # What the local engine keeps for the next step is private, but sealed: hashes cover it.
    monkeypatch.setattr(LocalEngine, "keeping", None)
    here = published(tmp_path / "here" / "study", [None] * 4, **bound)
    assert without_hashes(kept) == without_hashes(here)
    there = published(tmp_path / "there" / "study", [spark] * 4, **bound)
    mixed = published(tmp_path / "mixed" / "study", [None, spark, None, spark], **bound)
    assert len(here) > 8
    assert here == there == mixed


def test_what_spark_does_not_count_stops_a_publication_before_anything_is_sealed(
    tmp_path: Path, spark: SequenceEngine
) -> None:
    recent = [{"name": "new", "statistic": "edges", "parameters": {"window": 2}, "epsilon": "1/4"}]
    study = Study.create(tmp_path / "study", promise(series=recent))
    study.add(people())
    rows = len(study.ledger().rows)
    with pytest.raises(EngineError, match="The local engine counts them"):
        Study.at(tmp_path / "study", engine=spark).publish()
    assert len(study.ledger().rows) == rows
    study.publish()


def test_a_broken_promise_is_found_there_too(tmp_path: Path, spark: SequenceEngine) -> None:
    few = {"degree": 1, "justification": "an example"}
    study = Study.create(tmp_path / "study", promise(bound=few), engine=spark)
    found = study.add(people())
    assert not found.findings.keeps_bound
    study.publish()
    with pytest.raises(BoundError):
        study.publish()


def test_nothing_is_left_behind(tmp_path: Path, spark: SequenceEngine) -> None:
    published(tmp_path / "study", [spark])
    folder = Path(spark.workspace.address)
    assert any(folder.iterdir())
    spark.close()
    assert not folder.exists()
