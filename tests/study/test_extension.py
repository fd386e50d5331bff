"""A study goes on past its last step: what it says, what it pays, and what stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from graphveil.errors import BudgetError, GraphveilError, IntegrityError, ParameterError, StudyError
from graphveil.mechanisms.planning.plan import Plan
from graphveil.records import from_rows
from graphveil.report.artefacts import artefacts
from graphveil.study import Promise, StoredStudy
from graphveil.study.extension import Further
from graphveil.study.machine import Machine
from graphveil.study.public_part import PublicPart
from graphveil.study.verification import verify
from graphveil.study.witness import WitnessVerdict
from studies import people, promise, released

LATER = from_rows([("Q1", 2005), ("Q2", 2007)], [("Q1", "P1"), ("Q2", "Q1")])
SERIES: list[dict[str, Any]] = [
    {"name": "edges", "statistic": "edges", "epsilon": "1/4"},
    {"name": "groups", "statistic": "components", "epsilon": "1/4", "mechanism": "moves"},
    {
        "name": "boxed", "statistic": "high-degree", "parameters": {"tau": 2}, "epsilon": "1/4",
        "mechanism": "box-projection", "projection": 3,
    },
]  # fmt: skip


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine")


def made(
    root: Path, machine: Machine, steps: int = 4, series: Any = None, **changed: Any
) -> StoredStudy:
    """A study of the years 2001 to 2004 with three series, ε = 2, of which 3/4 is spent."""
    budget = {"epsilon": "2", "justification": "an example"}
    asked = promise(**{"series": series or SERIES, "budget": budget} | changed)
    study = StoredStudy.create(root, asked, machine=machine)
    study.add(people())
    if steps:
        study.publish(through=steps - 1)
    return study


def plan_of(study: StoredStudy, name: str) -> Plan:
    return Plan.from_dict(json.loads(study.committed().stored_series[name].plan))


def checks(study: StoredStudy) -> list[str]:
    return [check.found for check in verify(study)]


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_an_extended_study_goes_on_to_its_new_end(
    tmp_path: Path, machine: Machine, steps: int
) -> None:
    study = made(tmp_path / "study", machine, steps)
    before = released(study)
    done = study.extend(Further("2007"))
    assert done.labels == ("2004", "2007")
    paid = {each.series: each.price for each in done.series}
    free = {"edges": Fraction(), "groups": Fraction(1, 8), "boxed": Fraction(3, 16)}
    assert paid == (free if steps else dict.fromkeys(free, Fraction()))
    study.add(LATER)
    study.publish(through=6)
    assert {key: released(study)[key] for key in before} == before
    assert len(released(study)) == 3 * 7
    for name, epsilon in paid.items():
        plan = plan_of(study, name)
        assert plan.request.epsilon == Fraction(1, 4) + epsilon
        assert plan.request.horizon == 7
    assert study.ledger().history.spent[0] == Fraction(3, 4) + sum(paid.values())
    assert f"ε = {float(Fraction(3, 4) + sum(paid.values())):g} of 2" in checks(study)
    with pytest.raises(StudyError, match="extend"):
        study.publish()


def test_the_study_file_says_what_the_ledger_says(tmp_path: Path, machine: Machine) -> None:
    study = made(tmp_path / "study", machine)
    old = study.folder.study_file.read_text()
    study.extend(Further(steps=3))
    said = Promise.from_toml(study.folder.study_file.read_text())
    assert said == study.ledger().versions[-1]
    assert said.calendar.last_step == 6
    assert [each.epsilon for each in said.series] == ["0.25", "0.375", "0.4375"]
    assert said.budget_left()[0] == 2 - Fraction(17, 16)
    study.folder.study_file.write_text(old)  # a process was killed before it wrote
    assert any("before the newest" in found for found in checks(study))
    study.announce()
    assert Promise.from_toml(study.folder.study_file.read_text()) == said
    study.folder.study_file.write_text(said.to_toml().replace("2007", "2008"))
    with pytest.raises(StudyError, match="calendar"):
        study.publish()


def test_everybody_is_told(tmp_path: Path, machine: Machine) -> None:
    study = made(tmp_path / "study", machine)
    study.extend(Further("2006"), {"groups": Fraction(1, 20)})
    part = PublicPart.read(study.folder.public)
    files = {each.path: each.make().decode() for each in artefacts(part)}
    day = study.ledger().rows[-1].at[:10]
    sentence = f"Extended on {day} from 2004 to 2006. Its further releases cost ε = 0.05 for groups"
    assert sentence in files["report.html"]
    card = json.loads(files["card.json"])
    assert card["extensions"][0].startswith(sentence)
    assert "adoptions" not in card
    groups = card["series"][1]
    assert (groups["epsilon"], groups["horizon"]) == ("0.3", 6)
    assert [each["steps"] for each in groups["noise"]] == [4, 2]
    assert len(groups["noise_std_per_release"]) == 6
    assert card["budget"]["left"]["epsilon"] == str(2 - 0.75 - 0.05 - 0.125)
    assert part.left[0] == 2 - Fraction(3, 4) - Fraction(1, 20) - Fraction(1, 8)


def test_what_costs_nothing_is_called_so(tmp_path: Path, machine: Machine) -> None:
    study = made(tmp_path / "study", machine, series=SERIES[:1])
    study.extend(Further("2006"))
    (told,) = json.loads(
        next(
            each
            for each in artefacts(PublicPart.read(study.folder.public))
            if each.path == "card.json"
        ).make()
    )["extensions"]
    assert "cost nothing more" in told


def test_it_may_be_extended_again_and_what_was_paid_holds_on(
    tmp_path: Path, machine: Machine
) -> None:
    study = made(tmp_path / "study", machine, series=SERIES[:2])
    study.extend(Further("2006"))
    again = study.extend(Further("2009"))
    assert [each.price for each in again.series] == [0, 0]
    study.publish(through=8)
    third = study.extend(Further(steps=1))
    assert third.labels == ("2009", "2010")
    study.publish()
    assert len(released(study)) == 2 * 10
    assert len(study.ledger().history.extensions) == 3
    checks(study)


REFUSED: list[tuple[Callable[[StoredStudy], object], type[GraphveilError], str]] = [
    (lambda study: study.extend(Further("2004")), StudyError, "goes on to 2004 already"),
    (lambda study: study.extend(Further("1999")), StudyError, "goes on to 2004 already"),
    (lambda study: study.extend(Further("soon")), GraphveilError, "cannot be read"),
    (lambda study: study.extend(Further(steps=2**21)), ParameterError, "first 1048576 steps"),
    (
        lambda study: study.extend(Further("2007"), {"groups": Fraction(2)}),
        BudgetError,
        r"costs ε = 2\.1875 more.*'groups' \(2\).*1\.25 is left",
    ),
    (
        lambda study: study.extend(Further("2007"), {"groups": Fraction()}),
        StudyError,
        "'groups' cannot go on: price: is too small",
    ),
    (
        lambda study: study.extend(Further("2007"), {"boxed": Fraction()}),
        StudyError,
        "'boxed' cannot go on: price: must be above 0",
    ),
    (
        lambda study: study.extend(Further("2007"), {"grops": Fraction(1)}),
        ParameterError,
        "Did you mean 'groups'",
    ),
]


@pytest.mark.parametrize(("act", "kind", "words"), REFUSED)
def test_what_is_refused_leaves_all_as_it_was(
    tmp_path: Path,
    machine: Machine,
    act: Callable[[StoredStudy], object],
    kind: type[GraphveilError],
    words: str,
) -> None:
    study = made(tmp_path / "study", machine, 1)
    before = (
        study.ledger().rows,
        study.folder.study_file.read_bytes(),
        study.committed().stored_series,
    )
    with pytest.raises(kind, match=words) as refused:
        act(study)
    assert len(str(refused.value)) < 300
    after = (
        study.ledger().rows,
        study.folder.study_file.read_bytes(),
        study.committed().stored_series,
    )
    assert after == before
    study.publish()


def test_too_little_is_left(tmp_path: Path, machine: Machine) -> None:
    budget = {"epsilon": "0.8", "justification": "an example"}
    study = made(tmp_path / "study", machine, budget=budget)
    with pytest.raises(BudgetError, match=r"costs ε = 0\.3125 more.*0\.05 is left"):
        study.extend(Further("2007"))
    cheap = {"groups": Fraction(1, 50), "boxed": Fraction(3, 100)}
    assert study.extension(Further("2007"), cheap).price == Fraction(1, 20)
    study.extend(Further("2007"), cheap)
    study.publish(through=6)
    assert study.ledger().versions[-1].budget_left()[0] == 0


def test_calendars_without_an_end_and_without_a_rhythm(tmp_path: Path, machine: Machine) -> None:
    endless = {"every": 1, "unit": "year", "first": "2001"}
    study = made(tmp_path / "open", machine, series=SERIES[:1], calendar=endless)
    with pytest.raises(StudyError, match="has no end"):
        study.extend(Further("2007"))
    listed = {"cuts": ["2001-01-01", "2003-01-01"], "end": "2005-01-01"}
    asked = promise(series=SERIES[:1], calendar=listed)
    closed = StoredStudy.create(tmp_path / "cuts", asked, machine=machine)
    closed.add(from_rows([("ann", "2001-05-01")], []))
    with pytest.raises(StudyError, match="one by one"):
        closed.extend(Further(steps=1))
    draft = StoredStudy.create(tmp_path / "draft", promise(), machine=machine)
    with pytest.raises(StudyError, match=r"draft.*study\.toml"):
        draft.extend(Further(steps=1))
    with pytest.raises(StudyError, match="draft"):
        draft.extension(Further(steps=1))


def test_series_that_end_before_an_open_calendar_are_extended(
    tmp_path: Path, machine: Machine
) -> None:
    endless = {"every": 1, "unit": "year", "first": "2001"}
    series = [SERIES[0] | {"horizon": 3}, SERIES[1] | {"horizon": 5}]
    series.append(SERIES[0] | {"name": "ever", "mechanism": "epochs"})
    study = made(tmp_path / "study", machine, 3, series=series, calendar=endless)
    with pytest.raises(StudyError, match="extend"):
        study.publish()
    done = study.extend(Further("2004"))
    assert [each.series for each in done.series] == ["edges"]
    assert done.labels == ("2003", "2004")
    assert study.extend(Further(steps=2)).labels == ("2004", "2006")
    study.publish(through=5)
    said = study.ledger().versions[-1]
    assert [each.horizon for each in said.series] == [6, 6, None]
    assert said.calendar.last_step is None
    checks(study)


def test_a_later_series_begins_in_the_new_steps(tmp_path: Path, machine: Machine) -> None:
    study = made(tmp_path / "study", machine)
    study.extend(Further("2006"))
    from graphveil.study import SeriesPromise

    study.open_series(SeriesPromise(name="people", statistic="nodes", epsilon="1/8"))
    study.publish(through=5)
    study.extend(Further("2008"))
    study.publish(through=7)
    people_plan = plan_of(study, "people")
    assert people_plan.request.horizon == 4
    checks(study)


def test_of_two_copies_one_goes_on(tmp_path: Path, machine: Machine) -> None:
    """The other lacks what this machine has seen, whatever it wants to do."""
    study = made(tmp_path / "study", machine)
    copytree(study.folder.root, tmp_path / "copy")
    copy = StoredStudy.at(tmp_path / "copy", machine=machine)
    elsewhere = StoredStudy.at(tmp_path / "copy", machine=Machine(tmp_path / "elsewhere"))
    study.extend(Further("2007"))
    assert copy.verdict() is WitnessVerdict.BEHIND
    assert elsewhere.verdict() is WitnessVerdict.UNKNOWN
    before = copy.folder.public_ledger.read_bytes()
    for act in (partial(copy.extend, Further("2006")), partial(elsewhere.extend, Further("2006"))):
        with pytest.raises(IntegrityError, match="graphveil adopt"):
            act()
    assert copy.folder.public_ledger.read_bytes() == before
    study.publish()


def test_a_study_that_was_handed_over_is_extended_where_it_is(
    tmp_path: Path, machine: Machine
) -> None:
    study, taker = made(tmp_path / "study", machine), Machine(tmp_path / "taker")
    study.hand_over(taker.code())
    with pytest.raises(IntegrityError, match="handed over"):
        study.extend(Further("2007"))
    moved = StoredStudy.at(study.folder.root, machine=taker)
    moved.extend(Further("2007"))
    moved.publish(through=6)
    checks(moved)


@pytest.mark.parametrize("steps", [2, 4, 5])
def test_an_extended_study_is_adopted_like_any_other(
    tmp_path: Path, machine: Machine, steps: int
) -> None:
    study = made(tmp_path / "study", machine, 2)
    study.extend(Further("2007"))
    study.publish(through=steps - 1) if steps > 2 else None
    copytree(study.folder.root, tmp_path / "copy")
    copy = StoredStudy.at(tmp_path / "copy", machine=Machine(tmp_path / "there"))
    renewed = copy.adopt("moved")
    assert all(each.price == 0 for each in renewed)
    assert copy.ledger().history.spent == study.ledger().history.spent
    copy.publish(through=6)
    study.publish(through=6)
    assert len(released(copy)) == 3 * 7
    checks(copy)
    checks(study)


def test_an_adoption_with_a_price_is_paid_and_told(tmp_path: Path, machine: Machine) -> None:
    series = [SERIES[0], SERIES[1] | {"mechanism": "optimised-moves"}]
    calendar = {"every": 1, "unit": "year", "first": "2001", "last": "2012"}
    study = made(tmp_path / "study", machine, 3, series=series, calendar=calendar)
    copytree(study.folder.root, tmp_path / "copy")
    copy = StoredStudy.at(tmp_path / "copy", machine=Machine(tmp_path / "there"))
    (_, groups) = copy.adopt("moved")
    assert 0 < groups.price <= Fraction(1, 8)
    promised = copy.ledger().versions[-1]
    assert promised.series[1].epsilon == str(float(Fraction(1, 4) + groups.price))
    assert copy.ledger().history.spent[0] == Fraction(1, 2) + groups.price
    assert Promise.from_toml(copy.folder.study_file.read_text()) == promised
    copy.extend(Further("2014"))
    copy.publish(through=13)
    checks(copy)
    part = PublicPart.read(copy.folder.public)
    card = next(each for each in artefacts(part) if each.path == "card.json").make().decode()
    assert "The fresh noise has cost ε = 0.1" in card
    poor = made(
        tmp_path / "poor", machine, 3, series=series, calendar=calendar,
        budget={"epsilon": "1/2", "justification": "an example"},
    )  # fmt: skip
    copytree(poor.folder.root, tmp_path / "poor-copy")
    beggar = StoredStudy.at(tmp_path / "poor-copy", machine=Machine(tmp_path / "there"))
    with pytest.raises(BudgetError, match="and 0 is left"):
        beggar.adopt("moved")
    assert beggar.verdict() is WitnessVerdict.UNKNOWN


FORGED: list[tuple[str, Callable[[dict[str, Any]], None]]] = [
    ("out of order", lambda fact: fact.update(step=3)),
    ("not open, or one twice", lambda fact: fact["series"].append(fact["series"][0])),
    ("not open, or one twice", lambda fact: fact["series"][0].update(series="other")),
    ("price is negative", lambda fact: fact["series"][1].update(price="-1/8")),
    ("more than the study's budget", lambda fact: fact["series"][1].update(price="3")),
    ("changes steps", lambda fact: fact["calendar"].update(first="2000")),
    ("takes some", lambda fact: fact["calendar"].update(last="2003")),
    ("calendar", lambda fact: fact["calendar"].update(every=0)),
]


@pytest.mark.parametrize(("words", "forge"), FORGED)
def test_an_extension_that_cannot_stand_is_refused(
    tmp_path: Path, machine: Machine, words: str, forge: Callable[[dict[str, Any]], None]
) -> None:
    from graphveil.study.history import History

    study = made(tmp_path / "study", machine)
    study.extend(Further("2007"))
    rows = [row.announcement for row in study.ledger().rows if row.public is not None]
    assert len(History.of(rows, "the ledger").versions) == 2
    fact = json.loads(str(rows[-1].fact))
    forge(fact)
    with pytest.raises(IntegrityError, match=words):
        History.of([*rows[:-1], rows[-1]._replace(fact=fact)], "the ledger")
