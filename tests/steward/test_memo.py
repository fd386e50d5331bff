"""The memo says what a draft says, for people who decide, and reads no records."""

from __future__ import annotations

import re
from pathlib import Path

from commands import graphveil
from steward import contents, drafted, opened, run

SAID = (
    "A study for tests", "ε = 1", "73%", "nobody made up more", "an example", "privacy officer",
    "graphveil rehearse study", "Links between people",
)  # fmt: skip


def text_of(path: Path) -> str:
    return re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8"))


def test_a_draft_becomes_a_memo(tmp_path: Path) -> None:
    study, file = drafted(tmp_path / "study"), tmp_path / "memo.html"
    before = contents(study)
    assert str(file) in run("memo", study, "--to", file).out
    text = text_of(file)
    for said in SAID:
        assert said in text, said
    assert contents(study) == before


def test_what_a_projection_limits_is_said(tmp_path: Path) -> None:
    more = ("--series", "clusters:projection=forest:2@1/4")
    study = drafted(tmp_path / "study", *more)
    run("memo", study, "--to", tmp_path / "memo.html")
    text = text_of(tmp_path / "memo.html")
    assert "groups of at least 2 linked people" in text
    assert "forests with at most 2 links per person" in text


def test_what_is_divided_by_groups_is_said_with_its_ratios(tmp_path: Path) -> None:
    more = (
        "--group", "region=North:9|South:1", "--series", "nodes:by=region@1/4=people",
        "--expected", "people=90", "--ratio", "share = 100*people[North]/people", "--yes",
    )  # fmt: skip
    study = drafted(tmp_path / "study", *more)
    run("memo", study, "--to", tmp_path / "memo.html")
    text = text_of(tmp_path / "memo.html")
    for said in (
        "People, by region", "about 90, the largest number about 81", "share = 100*people[North]",
        "Groups by region: North, South, other, unknown.",
        "Of the 2 numbers of series people that are expected, 1 will be too noisy to tell.",
    ):  # fmt: skip
        assert said in text, said
    assert "leaves out comes on top" not in text, "nothing is limited here"


def test_texts_of_others_cannot_write_into_it(tmp_path: Path) -> None:
    study = opened(tmp_path / "study", "--title", "<script>alert(1)</script>")
    run("memo", study, "--to", tmp_path / "memo.html")
    assert "<script>" not in (tmp_path / "memo.html").read_text(encoding="utf-8")


def test_without_a_study_there_is_no_memo(tmp_path: Path) -> None:
    assert graphveil("memo", str(tmp_path)).code == 7
    assert graphveil("status", str(drafted(tmp_path / "s") / "public")).err.startswith(
        "graphveil: "
    )
    told = graphveil("status", str(tmp_path / "s" / "public")).err
    assert "is the public part of a study" in told
