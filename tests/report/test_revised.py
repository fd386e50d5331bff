"""Revised histories as the public sees them: beside first values, from the public ledger alone."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from shutil import copy, copytree
from typing import Any

import numpy as np
import pytest

from graphveil.errors import IntegrityError
from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.planning.intervals import half_widths
from graphveil.report.artefacts import artefacts
from graphveil.report.estimates import around, of_series, revisions, with_estimates
from graphveil.series.planner import plan
from graphveil.series.postprocessing import revised
from graphveil.statistics.statistic import statistic
from graphveil.study import StoredStudy
from graphveil.study.announced_plans import announced_plan
from graphveil.study.chain import PublicRow, canonical, read_rows
from graphveil.study.history import PublishedSeries
from graphveil.study.machine import Machine
from graphveil.study.public_part import PublicPart
from studies import opened, promise

SERIES = [
    {"name": "links", "statistic": "edges", "epsilon": "1/4", "mechanism": "optimised"},
    {"name": "groups", "statistic": "components", "epsilon": "1/4"},
    {"name": "degrees", "statistic": "degree-ccdf", "epsilon": "1/4"},
]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> StoredStudy:
    made = opened(tmp_path_factory.mktemp("revised") / "study", series=SERIES)
    made.publish(through=2)
    return made


def part_of(study: StoredStudy) -> PublicPart:
    return PublicPart.read(study.folder.public)


def content(part: PublicPart, path: str = "revised.csv") -> str:
    (found,) = (each for each in artefacts(part) if each.path == path)
    return found.make().decode()


def table(part: PublicPart) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(part))))


def test_every_first_value_has_its_revision_beside_it(study: StoredStudy) -> None:
    part = part_of(study)
    rows = table(part)
    told = [
        (each.series, str(made.step), made.label, str(raw), str(processed), str(made.noise_std))
        for each in part.series
        for made in each.releases
        for raw, processed in zip(made.raw, made.processed, strict=True)
    ]
    names = ("series", "step", "label", "raw", "processed", "noise_std")
    assert [tuple(row[name] for name in names) for row in rows] == told
    assert {row["revised_at"] for row in rows} == {"2003"}
    assert [row["degree"] for row in rows[:6]] == [""] * 6
    assert [row["degree"] for row in rows[-5:]] == ["0", "1", "2", "3", "4"]


def test_of_a_study_of_one_series_the_joint_estimate_is_its_own(tmp_path: Path) -> None:
    for number, entry in enumerate(SERIES):
        study = opened(tmp_path / str(number), series=[entry])
        study.publish(through=3)
        (each,) = with_estimates(part_of(study)).series
        raw = np.array([made.raw for made in each.releases])
        history = raw if each.vector else raw[:, 0]
        stored = announced_plan(each)
        assert stored is not None
        expected = revised(each.promise.counted(), history, stored)
        found = np.array([row.revised for row in of_series(each)])
        assert found == pytest.approx(expected.ravel(), abs=0.0500001)  # one decimal


def test_series_of_one_study_agree(study: StoredStudy) -> None:
    """Links are half of the ends that the degrees tell of, at every step."""
    by_name: dict[str, dict[int, list[float]]] = {}
    for row in revisions(part_of(study)):
        by_name.setdefault(row.series, {}).setdefault(row.step, []).append(row.revised)
    for step, (links,) in by_name["links"].items():
        degrees = by_name["degrees"][step]
        assert 2 * links == pytest.approx(sum(degrees[1:]), abs=1e-6)
        assert degrees == sorted(degrees, reverse=True)
        (groups,) = by_name["groups"][step]
        assert degrees[0] - links - 0.5 <= groups <= degrees[0] + 0.5


def test_first_values_never_change_and_revisions_do(tmp_path: Path) -> None:
    study = opened(tmp_path / "study", series=SERIES)
    fixed = ("series", "step", "degree", "raw", "processed")
    before: list[dict[str, str]] = []
    for step, label in enumerate(("2001", "2002", "2003", "2004")):
        study.publish(through=step)
        rows = table(part_of(study))
        assert {row["revised_at"] for row in rows} == {label}
        known = {tuple(row[name] for name in fixed) for row in before}
        assert known <= {tuple(row[name] for name in fixed) for row in rows}
        before = rows


def test_revisions_follow_from_the_two_public_files(study: StoredStudy, tmp_path: Path) -> None:
    for name in ("study.toml", "ledger.jsonl"):
        copy(study.folder.public / name, tmp_path / name)
    assert content(PublicPart.read(tmp_path)) == content(part_of(study))


def test_what_is_told_of_a_series_depends_on_the_promise_alone(tmp_path: Path) -> None:
    """Other people, other noise: the very same plans, to the byte."""
    from graphveil.records import from_rows

    some = opened(tmp_path / "some", series=SERIES)
    other = StoredStudy.create(tmp_path / "other", promise(series=SERIES))
    other.add(from_rows([("A", 2001)], []))
    plans = []
    for study in (some, other):
        study.publish(through=1)
        opening = [row for row in study.ledger().public_rows if row.event == "series opened"]
        plans.append([canonical(row.fact) for row in opening])
        assert all(row.fact["plan"] for row in opening)
    assert plans[0] == plans[1]


def without_plans(rows: tuple[PublicRow, ...]) -> list[PublicRow]:
    """The same ledger, as older versions wrote it."""
    return changed(rows, lambda fact: fact.pop("plan", None))


def changed(
    rows: tuple[PublicRow, ...], change: Callable[[dict[str, Any]], Any]
) -> list[PublicRow]:
    """A chain that is whole, of facts that somebody has changed."""
    made: list[PublicRow] = []
    for row in rows:
        fact = json.loads(json.dumps(row.fact))
        if row.event == "series opened":
            change(fact)
        last = made[-1] if made else None
        made.append(PublicRow.after(last, at=row.at, event=row.event, fact=fact, seal=row.seal))
    return made


def test_studies_of_older_versions_have_no_revisions_and_their_page_says_nothing(
    study: StoredStudy,
) -> None:
    rows = read_rows(study.folder.public_ledger.read_text())
    old = PublicPart.of(without_plans(rows))
    assert revisions(old) == ()
    assert "revised.csv" not in [each.path for each in artefacts(old)]
    assert "evised" not in content(old, "report.html")
    assert "Processed value" in content(old, "report.html")
    part = PublicPart.of(rows)
    new = content(part, "report.html")
    assert "revised after 2003" in new
    assert 'href="revised.csv"' in new
    assert "<dt>Estimate</dt>" in new
    processing = [json.loads(content(each, "card.json"))["post_processing"] for each in (old, part)]
    assert ["revisions" in each for each in processing] == [False, True]


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored.pop("request"),
        lambda stored: stored.update(epochs=[]) or stored["request"].update(horizon=3),
        lambda stored: stored["request"].update(width=7),
        lambda stored: stored["request"].update(minimise="a lot"),
        lambda stored: stored["epochs"][0].update(times=10**12),
        lambda stored: stored["epochs"][0].update(
            factorisation={"kind": "totals", "steps": 10**12}
        ),
        lambda stored: stored["epochs"][0]["factorisation"].update(diagonal=[1]),
        lambda stored: stored["epochs"].append([[]]),
    ],
)
def test_a_plan_that_is_none_is_refused(
    study: StoredStudy, change: Callable[[dict[str, Any]], Any]
) -> None:
    rows = read_rows(study.folder.public_ledger.read_text())
    part = PublicPart.of(changed(rows, lambda fact: change(fact["plan"])))
    with pytest.raises(IntegrityError, match="the plan of series 'links' cannot be read") as caught:
        revisions(part)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("newer", [{"format": 99}, {"mechanism": "of tomorrow"}])
def test_a_plan_of_a_newer_version_is_left_to_that_version(
    study: StoredStudy, newer: dict[str, Any]
) -> None:
    rows = read_rows(study.folder.public_ledger.read_text())
    part = PublicPart.of(changed(rows, lambda fact: fact["plan"].update(newer)))
    assert revisions(part) == ()
    assert "revised after" not in content(part, "report.html")


def test_a_series_that_goes_on_is_revised_by_the_plan_that_it_has_then(tmp_path: Path) -> None:
    from graphveil.study.extension import Further

    study = opened(tmp_path / "study", series=SERIES)
    study.publish(through=3)
    before = table(part_of(study))
    study.extend(Further(steps=2))
    part = part_of(study)
    assert [horizon_of(each) for each in part.series] == [6, 6, 6]
    assert [row["raw"] for row in table(part)] == [row["raw"] for row in before]
    study.publish(through=5)
    assert {row["revised_at"] for row in table(part_of(study))} == {"2006"}


def test_fresh_noise_after_an_adoption_is_known_to_revisions(tmp_path: Path) -> None:
    """The epoch is cut where the copy went on, and what follows begins with what was told."""
    bridged = [SERIES[0] | {"mechanism": "bridged"}]
    study = opened(tmp_path / "study", machine=Machine(tmp_path / "one"), series=bridged)
    study.publish(through=1)
    copytree(tmp_path / "study", tmp_path / "copy")
    copied = StoredStudy.at(tmp_path / "copy", machine=Machine(tmp_path / "two"))
    copied.adopt("the disk broke")
    copied.publish(through=3)
    (series,) = with_estimates(part_of(copied)).series
    stored = announced_plan(series)
    assert stored is not None
    assert stored.epochs[0].cut == 2
    assert [row.revised_at for row in of_series(series)] == ["2004"] * 4


def horizon_of(series: PublishedSeries) -> int | None:
    found = announced_plan(series)
    assert found is not None
    return found.request.horizon


def test_an_interval_has_all_of_the_first_one_that_can_be_and_the_revision(
    study: StoredStudy,
) -> None:
    part = part_of(study)
    first = {
        (each.series, made.step, place if each.vector else None): (low, high)
        for each in part.series
        for made in each.releases
        for place, (low, high) in enumerate(zip(made.low, made.high, strict=True))
    }
    for row in revisions(part):
        low, high = first[row.series, row.step, row.degree]
        assert row.low <= row.revised <= row.high
        if row.known_by is None:
            assert 0 <= row.low <= max(low, 0)
            assert row.high >= high


@pytest.mark.parametrize(("mechanism", "growth"), [("sensdiff", 0), ("moves", 4), ("moves", 60)])
def test_intervals_hold_the_truth_as_often_as_they_say(mechanism: str, growth: int) -> None:
    """That they do follows from the first intervals: nothing that can be true is taken away."""
    counted = statistic("high-degree", tau=1)
    made = plan(counted, DegreeBound(3), epsilon="1", horizon=12, mechanism=mechanism)
    truth = growth * np.arange(1, 13)
    raw = truth + simulate(made, 1500, np.random.default_rng(6))
    widths = np.array(half_widths(made, range(12)))
    fitted = np.array([revised(counted, run, made) for run in raw])
    low, high = np.vectorize(around)(raw - widths, raw + widths, fitted)
    held = ((low <= truth) & (truth <= high)).mean(axis=0)
    assert held.min() >= 0.95 - 3 * 0.0057
