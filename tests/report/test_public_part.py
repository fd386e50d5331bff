"""The public part is read back as it was written, and refused where anything is off."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import GraphveilError, IntegrityError, StudyError
from graphveil.study.chain import as_text
from graphveil.study.public_part import PublicPart
from public_parts import Chain, opened, promise, published, series_fact, write_part


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    study, made = promise(), published(promise(), 3)
    part = PublicPart.read(write_part(tmp_path, study, made))
    assert part.promise == study
    assert [each.series for each in part.series] == [each.name for each in study.series]
    assert [step.label for step in part.steps] == ["2005", "2006", "2007"]
    assert [len(each.releases) for each in part.series] == [3, 3, 3, 3]
    assert [each.vector for each in part.series] == [False, False, False, True]
    assert (part.head.hash, part.head.rows) == (made.rows[-1].hash, len(made.rows))
    assert part.software == ("graphveil 0.1.0, noise by OpenDP 0.13.0",)


def test_budgets_add_up_exactly(tmp_path: Path) -> None:
    part = PublicPart.read(write_part(tmp_path, promise(), opened(promise())))
    assert part.spent == (Fraction(3, 2), Fraction(0))
    assert part.left == (Fraction(1, 2), Fraction(0))


def test_a_title_may_hold_any_kind_of_line_break(tmp_path: Path) -> None:
    study = promise(title="one\u2028two\u0085three")
    assert PublicPart.read(write_part(tmp_path, study, opened(study))).promise.title == study.title


def test_a_series_opened_later_belongs_to_the_study(tmp_path: Path) -> None:
    first = promise()
    later = {"name": "triangles", "statistic": "triangles", "epsilon": "0.1", "opened": "2008"}
    grown = promise(series=[*first.to_data()["series"], later])
    made = published(first, 3)
    fact = series_fact(grown, "triangles") | {"first_step": 3, "first_label": "2008"}
    made.add("series opened", fact)
    part = PublicPart.read(write_part(tmp_path, grown, made))
    assert part.series[-1].series == "triangles"
    assert part.series[-1].releases == ()
    # A process may have been killed before it wrote the newest series into the study file.
    assert PublicPart.read(write_part(tmp_path, first, made)).promise == part.promise


@pytest.mark.parametrize("name", ["study.toml", "ledger.jsonl"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    public = write_part(tmp_path, promise(), opened(promise()))
    (public / name).unlink()
    with pytest.raises(StudyError, match=f"{name} is missing"):
        PublicPart.read(public)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"population": "everybody"}, "population"),
        ({"calendar": {"every": 1, "unit": "year", "first": "2004"}}, "calendar"),
        ({"confidence": "0.9"}, "confidence"),
        ({"bound": {"degree": 14, "justification": "as before"}}, "bound"),
        ({"series": promise().to_data()["series"][:3]}, "series 'links-per-person'"),
    ],
)
def test_a_study_file_that_contradicts_the_ledger_is_refused(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    public = write_part(tmp_path, promise(), published(promise(), 1))
    (public / "study.toml").write_text(promise(**change).to_toml(), encoding="utf-8")
    with pytest.raises(StudyError, match=f"about: {named}"):
        PublicPart.read(public)


def test_every_changed_row_breaks_the_chain(tmp_path: Path) -> None:
    public = write_part(tmp_path, promise(), published(promise(), 2))
    ledger = public / "ledger.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    for row in range(len(lines) - 1):
        ledger.write_bytes(b"".join(lines[:row] + lines[row + 1 :]))
        with pytest.raises(IntegrityError, match=f"row {row}"):
            PublicPart.read(public)
        changed = lines[row].replace(b"2026-11-01T", b"2026-11-02T", 1)
        ledger.write_bytes(b"".join([*lines[:row], changed, *lines[row + 1 :]]))
        with pytest.raises(IntegrityError, match=f"row {row}"):
            PublicPart.read(public)


def _forged(event: str, **changes: Any) -> Chain:
    """A chain whose hashes are right, but in which the last row of an event is not."""
    made, forged = published(promise(), 2), Chain()
    last = max(row.number for row in made.rows if row.event == event)
    for row in made.rows:
        forged.add(row.event, row.fact | changes if row.number == last else row.fact)
    return forged


@pytest.mark.parametrize(
    ("event", "changes", "problem"),
    [
        ("release made", {"series": "other"}, "was not opened"),
        ("release made", {"step": 0}, "out of order"),
        ("release made", {"raw": [1]}, "too few or too many numbers"),
        ("release made", {"raw": ["x"] * 13}, "'raw.0' cannot be read"),
        ("release made", {"label": "1999"}, "never sealed"),
        ("step sealed", {"step": 7}, "out of order"),
        ("series opened", {"series": "people"}, "opened before"),
        ("series opened", {"noise": None}, "'noise' cannot be read"),
        ("study opened", {"study": {}}, "title"),
    ],
)
def test_facts_that_cannot_be_are_refused_with_their_row(
    tmp_path: Path, event: str, changes: dict[str, Any], problem: str
) -> None:
    public = write_part(tmp_path, promise(), _forged(event, **changes))
    with pytest.raises(IntegrityError, match=problem):
        PublicPart.read(public)


@pytest.mark.parametrize("content", [b"", b"\xff\n", b"[]\n", b"{}\n"])
def test_a_ledger_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    public = write_part(tmp_path, promise(), opened(promise()))
    (public / "ledger.jsonl").write_bytes(content)
    with pytest.raises(IntegrityError):
        PublicPart.read(public)


def test_an_event_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    made = opened(promise())
    made.add("study closed", {})
    with pytest.raises(StudyError, match="does not know this event"):
        PublicPart.read(write_part(tmp_path, promise(), made))


def test_a_chain_that_begins_in_the_middle_is_refused() -> None:
    made = Chain()
    made.add("step sealed", {"step": 0, "label": "2005"})
    assert as_text(made.rows)
    with pytest.raises(GraphveilError, match="row 0"):
        PublicPart.of(made.rows)
