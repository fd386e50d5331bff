"""The study file: every wrong entry is named, and what was promised cannot be edited away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.errors import StudyError
from graphveil.records import from_rows
from graphveil.study import Promise, SeriesPromise, StoredStudy
from graphveil.study.backends import AddOptions
from plain_rules import DEGREES, EDGES, numbered
from studies import promise

DIRECTED: dict[str, Any] = {"inward": 3, "outward": 4, "justification": "x"}


def data(**changed: Any) -> dict[str, Any]:
    return promise(series=[EDGES]).to_data() | changed


def part(name: str, **changed: Any) -> dict[str, Any]:
    """The file with some entries of one part changed."""
    return data(**{name: data()[name] | changed})


def series(**changed: Any) -> dict[str, Any]:
    return data(series=[EDGES, DEGREES | changed])


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in data().items() if key != name}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no title": (without("title"), "title: Field required"),
    "a blank title": (data(title="  "), "title: String should have at least 1 character"),
    "no population": (without("population"), "population"),
    "no publisher": (without("publisher"), "publisher"),
    "another unit": (data(unit="one link"), "unit: Input should be 'one person with all"),
    "directed in words": (data(directed="perhaps"), "directed: .*boolean"),
    "full confidence": (data(confidence="1"), "confidence: must be above 0 and at most 0.999999"),
    "blind confidence": (data(confidence="high"), "confidence: the level: must be a number"),
    "no bound": (without("bound"), "bound: Field required"),
    "a bound of nothing": (part("bound", degree=0), "bound.degree: .*greater than or equal to 1"),
    "a bound without a reason": (part("bound", justification=""), "bound.justification"),
    "two kinds of bound": (part("bound", inward=3), "bound: give either 'degree', or 'inward'"),
    "half a bound": (data(bound={"inward": 3, "justification": "x"}), "bound: give either"),
    "a bound of the other kind": (data(bound=DIRECTED), "given by 'degree'"),
    "the other kind of graph": (data(directed=True), "given by 'inward' and 'outward'"),
    "an oriented degree": (part("bound", oriented=True), "bound: give either"),
    "no calendar": (without("calendar"), "calendar: Field required"),
    "a calendar in words": (data(calendar="yearly"), "calendar: must be a table"),
    "half a calendar": (data(calendar={"every": 1}), "calendar: .*exactly the keys"),
    "a calendar that ends early": (part("calendar", last="1999"), "calendar: last: must lie"),
    "another unit of time": (part("calendar", unit="month"), "calendar: unit: must be 'year'"),
    "no length of steps": (part("calendar", every=0), "calendar: every"),
    "cuts out of order": (data(calendar={"cuts": [2, 1]}), "calendar: cuts: .*ascending"),
    "no budget": (without("budget"), "budget: Field required"),
    "a budget of nothing": (part("budget", epsilon="0"), "budget: epsilon: must be greater"),
    "a budget in words": (part("budget", epsilon="much"), "budget: epsilon: must be a number"),
    "too much risk": (part("budget", delta="1"), "budget: delta: must lie strictly between"),
    "a budget without a reason": (part("budget", justification=" "), "budget.justification"),
    "records by magic": (part("records", undated="guess"), "records.undated: .*'refuse'"),
    "a rule that is none": (part("records", dates="guess"), "records.dates: Extra inputs are not"),
    "another case": (part("records", case="upper"), "records.case: .*'keep'"),
    "no series": (data(series=[]), "'series' must have at least one"),
    "a name with blanks": (
        series(name="My Series"),
        "series.1.name: .*lower-case letters",
    ),
    "a name that leaves the folder": (series(name="../x"), "series.1.name"),
    "two of one name": (series(name="edges"), "two series have the same name"),
    "an unknown statistic": (series(statistic="egdes"), "series 'degrees': .*mean 'edges'"),
    "a share of nothing": (series(epsilon="-1"), "series.1: epsilon: must be greater than 0"),
    "a parameter too many": (series(parameters={"tau": 1}), "series 'degrees': tau: has no"),
    "a parameter too few": (series(statistic="high-degree"), "series 'degrees': tau: is needed"),
    "a parameter too large": (
        series(statistic="high-degree", parameters={"tau": 99}),
        "series 'degrees': tau: 99 is above",
    ),
    "an unknown mechanism": (series(mechanism="magic"), "series 'degrees': mechanism: there is"),
    "a threshold for nobody": (
        series(projection=2),
        "series 'degrees': 'projection' is required for",
    ),
    "no threshold": (series(mechanism="compose-projection"), "'projection' is required"),
    "a threshold of nothing": (
        series(mechanism="compose-projection", projection=0),
        "series 'degrees': bound: must be",
    ),
    "a risk without a budget": (series(delta="1e-9"), "series 'degrees' has a δ, but the budget"),
    "no horizon": (series(horizon=0), "series.1.horizon: .*greater than or equal to 1"),
    "a statistic of directed graphs": (
        series(statistic="cyclic-triangles"),
        "series 'degrees': cyclic-triangles",
    ),
    "an unknown key": (data(colour="red"), "colour: Extra inputs are not permitted"),
    "an unknown key of a part": (part("bound", why="so"), "bound.why: Extra inputs"),
    "an unknown key of a series": (series(shape="round"), "series.1.shape: Extra inputs"),
    "a newer format": (
        data(format=99),
        "has format 99, but this graphveil reads formats up to 5. Install the newest",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_entry_is_named(case: str) -> None:
    wrong, message = WRONG[case]
    with pytest.raises(StudyError, match=message):
        Promise.from_data(wrong)


def test_every_wrong_entry_is_told_at_once() -> None:
    with pytest.raises(StudyError) as refusal:
        Promise.from_data(data(title="", colour="red", confidence="2"))
    assert [line.split(",")[1].split(":")[0] for line in str(refusal.value).splitlines()] == [
        " title",
        " confidence",
        " colour",
    ]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
FRACTIONS = st.fractions("1/1000", "1/3", max_denominator=1000).map(str)


@settings(max_examples=30)
@given(TEXTS, TEXTS, FRACTIONS, st.sampled_from(["0.95", 0.5, "1/3", 0.999]))
def test_a_study_file_reads_back_as_it_was(
    title: str, separator: str, share: str, confidence: str | float
) -> None:
    said = promise(
        title=title,
        confidence=confidence,
        records={"person_separator": separator, "case": "fold"},
        series=[EDGES | {"epsilon": share, "justification": title}, DEGREES | {"epsilon": share}],
    )
    text = said.to_toml()
    assert Promise.from_toml(text) == said
    assert Promise.from_toml(text).to_toml() == text


@pytest.mark.parametrize(
    "calendar",
    [
        {"every": 7, "unit": "day", "first": date(2001, 1, 1), "last": date(2001, 3, 1)},
        {"every": 1, "unit": "month", "first": "2001-01"},
        {"cuts": [date(2001, 1, 1), date(2001, 7, 1)], "end": date(2002, 1, 1)},
        {"cuts": [0, 10, 100]},
    ],
)
def test_calendars_are_written_in_one_way(root: Path, calendar: dict[str, Any]) -> None:
    said = promise(calendar=calendar, series=[EDGES])
    text = said.to_toml()
    assert Promise.from_toml(text) == said
    study = StoredStudy.create(root, said)
    study.publish(0, early=True)
    assert study.folder.study_file.read_text() == text


def test_dates_as_toml_knows_them_can_be_written_into_a_draft(root: Path) -> None:
    study = StoredStudy.create(root, promise(series=[EDGES]))
    edited = study.folder.study_file.read_text().replace('"year"', '"day"')
    edited = edited.replace('"2001"', "2001-01-01").replace('"2004"', "2001-01-04")
    study.folder.study_file.write_text(edited)
    study.add(from_rows([("a", "2001-01-02")]))
    assert study.publish(1).steps == [0, 1]
    assert StoredStudy.at(root).promise().calendar.labels(2) == ["2001-01-01", "2001-01-02"]


def test_what_is_not_toml_is_refused_with_its_line(root: Path) -> None:
    study = StoredStudy.create(root, numbered())
    study.folder.study_file.write_text("title = \nbound = 3\n")
    with pytest.raises(StudyError, match=r"public/study.toml is not readable as TOML: .*line 1"):
        study.add(from_rows([]))


def test_a_draft_may_be_edited(root: Path) -> None:
    study = StoredStudy.create(root, numbered())
    edit(study, 'title = "A study for tests"', 'title = "Another"')
    study.publish()
    assert study.promise().title == "Another"


def edit(study: StoredStudy, old: str, new: str) -> None:
    text = study.folder.study_file.read_text()
    assert old in text
    study.folder.study_file.write_text(text.replace(old, new))


EDITS = {
    "title": ('title = "A study for tests"', 'title = "Another"'),
    "confidence": ('confidence = "0.95"', 'confidence = "0.99"'),
    "bound": ("degree = 12", "degree = 11"),
    "calendar": ("last = 3", "last = 4"),
    "budget": ('epsilon = "1"', 'epsilon = "2"'),
    "records": ('undated = "first"', 'undated = "refuse"'),
    "series": ('epsilon = "0.25"', 'epsilon = "0.5"'),
}

ACTIONS: list[Callable[[StoredStudy], object]] = [
    lambda study: study.publish(),
    lambda study: study.add(from_rows([]), AddOptions(yes=True)),
    lambda study: study.withdraw(1),
    lambda study: study.open_series(SeriesPromise.model_validate(DEGREES)),
    lambda study: study.announce(),
    lambda study: study.promise(),
]


def test_an_open_study_refuses_an_edited_file_and_names_the_entry(root: Path) -> None:
    study = StoredStudy.create(root, numbered())
    study.publish()
    promised = study.folder.study_file.read_text()
    for entry, (old, new) in EDITS.items():
        edit(study, old, new)
        edited = study.folder.study_file.read_text()
        for act in ACTIONS:
            with pytest.raises(StudyError, match=f"disagrees with.* about: {entry}"):
                act(study)
        assert study.folder.study_file.read_text() == edited
        study.folder.study_file.write_text(promised)
    assert study.publish().steps == [1]


def test_a_file_from_before_the_newest_series_is_brought_up_to_date(root: Path) -> None:
    study = StoredStudy.create(root, numbered())
    study.publish()
    before = study.folder.study_file.read_text()
    study.open_series(SeriesPromise.model_validate(DEGREES))
    after = study.folder.study_file.read_text()
    study.folder.study_file.write_text(before)
    study.publish()
    assert study.folder.study_file.read_text() == after


def test_the_same_promise_in_other_words_is_accepted(root: Path) -> None:
    study = StoredStudy.create(root, numbered())
    study.publish()
    edit(study, 'epsilon = "0.25"', 'epsilon = "1/4"')
    assert study.publish().steps == [1]
    assert isinstance(study.promise(), Promise)


def test_a_study_file_of_a_newer_format_is_left_to_newer_versions(root: Path) -> None:
    study = StoredStudy.create(root, numbered())
    edit(study, "format = 1", "format = 99")
    with pytest.raises(StudyError, match="format 99"):
        study.publish()
