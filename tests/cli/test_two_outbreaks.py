"""Two outbreaks as a steward met them: links that were not counted, and dates nobody could read."""

from __future__ import annotations

import html
import re
from pathlib import Path

from commands import graphveil
from graphveil.steward.status import status
from steward import run

PROMISE = (
    *("--title", "An outbreak", "--population", "cases", "--publisher", "P", "--epsilon", "2"),
    *("--epsilon-reason", "r", "--every", "week", "--first", "2015-05-11", "--last", "2015-06-29"),
)
FEW = "counting at most 5 links per person"


def test_links_beyond_a_bound_are_named_wherever_their_number_stands(tmp_path: Path) -> None:
    """Three people infected nearly all, as in Korea in 2015; the study promised 5 links."""
    people = [f"SK{number}" for number in range(60)]
    days = [f"2015-05-{11 + number // 3:02}" for number in range(60)]
    cases = (f"{who},{day}\n" for who, day in zip(people, days, strict=True))
    (tmp_path / "cases.csv").write_text("case_id,onset\n" + "".join(cases))
    links = (f"{people[number % 3]},{people[number]}\n" for number in range(3, 60))
    (tmp_path / "links.csv").write_text("from,to\n" + "".join(links))
    study = tmp_path / "mers"
    bound = ("--bound", "5", "--hubs", "3", "--bound-reason", "b", "--expected", "edges=60")
    made = run("new", study, *PROMISE, *bound, "--series", "edges").out
    assert "What is beyond the bound is not counted, and comes on top. It is unknown" in made
    files = (tmp_path / "cases.csv", tmp_path / "links.csv", "--time", "onset")
    dry = run("add", study, *files, "--dry-run")
    assert "will not be counted" not in dry.out + dry.err, "a bound must not be chosen by that"
    added = run("add", study, *files)
    assert "42 of 57 links will not be counted (at most 5 per person)" in added.out + added.err
    assert FEW in run("publish", study, "--all").out
    page = (study / "public" / "report.html").read_text()
    text = html.unescape(re.sub(r"<(style|svg).*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL))
    totals = [each for each in re.split(r"(?<=\.)\s", text) if "the true number" in each]
    assert any(FEW in each for each in totals)
    assert f"Links between people, {FEW}" in text
    assert FEW in (study / "public" / "releases.csv").read_text()


def test_dates_that_nobody_can_read_open_nothing_and_name_one_remedy(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("case_id,onset\na,7/8/2015\nb,9/8/2015\n")
    (tmp_path / "links.csv").write_text("from,to\na,b\n")
    study = tmp_path / "study"
    run("new", study, *PROMISE, "--series", "nodes", "--expected", "nodes=100")
    refused = graphveil("add", str(study), str(tmp_path / "cases.csv"),
                        str(tmp_path / "links.csv"), "--time", "onset")  # fmt: skip
    assert refused.code == 1
    assert "--day-first (7/8/2021 is 7 August) or --month-first" in refused.err
    assert "excel" not in refused.err.lower()
    assert "Nothing was changed" in refused.err
    assert not status(study).is_open
