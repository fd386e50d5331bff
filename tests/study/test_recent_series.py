"""Series of recent networks in a study: what they publish, say, and survive."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import ParameterError, StudyError
from graphveil.report.wording import counted_things, heading
from graphveil.steward.reporting import write_report
from graphveil.study import StoredStudy
from graphveil.study.extension import Further
from graphveil.study.opening import series_plan
from graphveil.study.promise_entries import SeriesPromise
from graphveil.study.public_part import PublicPart
from graphveil.study.verification import verify
from studies import YEARS, StillNoise, freeze_noise, opened, promise

# Two arrive each year; the last link is between people who are never recent together.
LINKS = {1: [1, 0, 1, 0], 2: [1, 3, 2, 1], 3: [1, 3, 5, 2]}
SERIES: list[dict[str, Any]] = [
    {"name": "now", "statistic": "edges", "parameters": {"window": 1}, "epsilon": "1/8"},
    {"name": "two", "statistic": "edges", "parameters": {"window": 2}, "epsilon": "1/8"},
    {"name": "three", "statistic": "edges", "parameters": {"window": 3}, "epsilon": "1/8"},
    {
        "name": "groups",
        "statistic": "growing-clusters",
        "parameters": {"k": 2, "window": 3},
        "epsilon": "1/8",
    },
    {"name": "degrees", "statistic": "degree-ccdf", "parameters": {"window": 2}, "epsilon": "1/8"},
]
OPEN = {"every": 1, "unit": "year", "first": YEARS[0]}


def exact(study: StoredStudy, name: str) -> list[int]:
    """Releases without their noise, which stands still: it begins anew with every block."""
    (series,) = (each for each in study.ledger().series if each.series == name)
    length = 2 if series.mechanism == "recent-blocks" else 1
    noise = [StillNoise().values[step % length] for step in range(len(series.releases))]
    return [made.raw[0] - drawn for made, drawn in zip(series.releases, noise, strict=True)]


@pytest.mark.parametrize("together", [True, False])
def test_people_are_counted_for_as_long_as_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    freeze_noise(monkeypatch)
    study = opened(tmp_path / "study", series=SERIES)
    for last in [3] if together else range(4):
        study.publish(last, early=True)
    for window, name in enumerate(("now", "two", "three"), 1):
        assert exact(study, name) == LINKS[window]
    assert exact(study, "groups") == [1, 0, 1, 0]
    assert list(verify(study)), "raises where something is wrong"


def test_the_best_noise_is_chosen_and_needs_no_end(tmp_path: Path) -> None:
    study = opened(tmp_path / "study", series=SERIES, calendar=OPEN)
    study.publish(5, early=True)
    found = {each.series: each for each in study.ledger().series}
    chosen = {name: each.mechanism for name, each in found.items()}
    assert chosen == {
        "now": "recent",
        "two": "recent",
        "three": "recent-blocks",
        "groups": "recent-blocks",
        "degrees": "recent",
    }
    for each in found.values():
        assert each.horizon is None
        assert len({made.noise_std for made in each.releases}) == 1, "noise never grows"
        assert not each.monotone
    assert found["two"].releases[-1].processing == "clipped at 0"
    assert found["degrees"].releases[-1].processing == "falling in degree, clipped at 0"
    assert found["two"].sensitivity.l1 == 2 * 4
    assert found["groups"].sensitivity.l1 == 3 * 3


def test_a_report_says_who_is_counted(tmp_path: Path) -> None:
    study = opened(tmp_path / "study", series=SERIES)
    study.publish(1, early=True)
    part = PublicPart.read(study.folder.public)
    said = {each.series: counted_things(each) for each in part.series}
    assert said["now"] == "links between people, among people who arrived in the last year"
    assert said["three"] == "links between people, among people who arrived in the last 3 years"
    assert said["groups"] == (
        "growing clusters: groups with at least 2 people of the last year, among people who "
        "arrived in the last 3 years"
    )
    (degrees,) = (each for each in part.series if each.series == "degrees")
    assert heading(degrees).startswith(
        "People with so many links, or more, among people who arrived"
    )
    write_report(study.folder.public)
    page = (study.folder.public / "report.html").read_text(encoding="utf-8")
    assert page.count("among people who arrived in the last 3 years") >= 2


def test_series_that_count_everybody_say_what_they_said_before(tmp_path: Path) -> None:
    study = opened(tmp_path / "study")
    study.announce()
    rows = [row.fact for row in study.ledger().public_rows if row.event == "series opened"]
    assert rows
    assert not any("spans" in fact for fact in rows)


def test_a_series_that_opens_late_begins_with_who_is_recent_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze_noise(monkeypatch)
    study = opened(tmp_path / "study", series=SERIES[:1])
    study.publish(1, early=True)
    study.open_series(SeriesPromise(**SERIES[1]))
    study.publish(3, early=True)
    assert exact(study, "two") == LINKS[2][2:]


def test_an_adopted_study_goes_on_as_planned(tmp_path: Path) -> None:
    """Fresh noise at every release: nothing was drawn ahead, so nothing is renewed."""
    study = opened(tmp_path / "study", series=SERIES[:2])
    study.publish(1, early=True)
    before = {each.series: each.noise for each in study.ledger().series}
    study.adopt("moved")
    study.publish(3, early=True)
    after = {each.series: each.releases[-1].noise_std for each in study.ledger().series}
    assert len(before) == len(after) == 2
    for each in study.ledger().series:
        assert {made.noise_std for made in each.releases} == {after[each.series]}


def test_an_adopted_study_goes_on_half_way_through_a_block(tmp_path: Path) -> None:
    """The rest of the block is drawn anew, from its law given what was used."""
    study = opened(tmp_path / "study", series=SERIES[2:4])
    study.publish(0, early=True)
    study.adopt("moved")
    study.publish(3, early=True)
    for each in study.ledger().series:
        assert each.mechanism == "recent-blocks"
        assert len({made.noise_std for made in each.releases}) == 1
    assert list(verify(study)), "raises where something is wrong"


def test_an_extended_study_goes_on_for_nothing(tmp_path: Path) -> None:
    study = opened(tmp_path / "study", series=SERIES)
    study.publish(3, early=True)
    study.extend(Further(steps=3))
    study.publish(6, early=True)
    for each in study.ledger().series:
        assert len({made.noise_std for made in each.releases}) == 1
        assert len(each.releases) == 7
    assert study.ledger().versions[-1].budget_left()[0] == Fraction(3, 8)


def test_a_window_is_no_longer_than_the_calendar() -> None:
    long = [SERIES[0] | {"parameters": {"window": 5}}]
    with pytest.raises(StudyError, match="window: of 5 steps is longer than the calendar"):
        promise(series=long)
    assert promise(series=long, calendar=OPEN).series[0].counted().counted_for == 5
    with pytest.raises(StudyError, match="window: must be a whole number of at least 1"):
        promise(series=[SERIES[0] | {"parameters": {"window": 0}}])
    made = promise(series=[SERIES[1] | {"mechanism": "tree"}])
    with pytest.raises(ParameterError, match="mechanism: tree is for people who stay"):
        series_plan(made, made.series[0], 0)
    made = promise(series=[SERIES[0] | {"mechanism": "recent", "parameters": {}}])
    with pytest.raises(ParameterError, match="mechanism: recent is for recent networks"):
        series_plan(made, made.series[0], 0)
