"""`graphveil report --trend`: a table of its own, and a report that stays as it is."""

from __future__ import annotations

import csv
from pathlib import Path

from commands import graphveil
from steward import contents, opened, run, run_json


def test_a_smooth_trend_is_written_where_it_is_asked_for_and_nowhere_else(tmp_path: Path) -> None:
    root, file = opened(tmp_path / "study"), tmp_path / "trend.csv"
    run("publish", root, "--through", "2003")
    before = contents(root / "public")
    assert run_json("report", root, "--trend", file)[-1] == str(file)
    assert contents(root / "public") == before
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["label"] for row in rows[:3]] == ["2001", "2002", "2003"]
    assert {row["trend_at"] for row in rows} == {"2003"}
    links = [float(row["trend"]) for row in rows if row["series"] == "edges"]
    assert links == sorted(links)
    assert {row["degree"] for row in rows if row["series"] == "degrees"} == set("01234")
    alone = graphveil("report", str(root / "public"), "--trend", str(tmp_path / "again.csv"))
    assert alone.code == 0
    assert (tmp_path / "again.csv").read_bytes() == file.read_bytes()


def test_a_study_without_releases_has_no_trend(tmp_path: Path) -> None:
    root, file = opened(tmp_path / "study"), tmp_path / "trend.csv"
    refused = graphveil("report", str(root), "--trend", str(file))
    assert refused.code != 0
    assert "no series has a trend" in refused.err
    assert not file.exists()
