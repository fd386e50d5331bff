"""Bad records: refused with their place, and nothing is changed; untidy ones keep their places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import InputError
from graphveil.graph.intake.records import Records
from graphveil.graph.intake.resolving import resolve
from graphveil.records import from_rows
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from plain_rules import EDGES, numbered
from studies import promise

YEARLY = promise(series=[EDGES])
NODES = [("a", 2001), ("b", 2002)]

REFUSED: dict[str, tuple[Records, str]] = {
    "a date that nobody can read": (
        from_rows([("a", "2001"), ("b", "the year after")]),
        "the nodes, row 1, column 'time': the time cannot be read",
    ),
    "a time after the end of the calendar": (
        from_rows([("a", 2001), ("b", 2005)]),
        "the nodes, row 1, column 'time': the time lies after the end",
    ),
    "a node without a time": (
        from_rows([("a", 2001), ("b", 2002), ("c", None)]),
        "the nodes, row 2, column 'time': the time is missing",
    ),
    "a node with two times": (
        from_rows([("a", 2001), ("a", 2002)]),
        "the nodes, row 1, column 'time': .*an earlier time",
    ),
    "a node without an id": (
        from_rows([("a", 2001), (" ", 2001)]),
        "the nodes, row 1, column 'node': the id is missing",
    ),
    "an edge with an end that is nobody": (
        from_rows(NODES, [("a", "b"), ("nobody", "b")]),
        "the edges, row 1, column 'source': the edge names a node that is not in the nodes",
    ),
    "an edge without an end": (
        from_rows(NODES, [("a", None)]),
        "the edges, row 0, column 'target': the id is missing",
    ),
    "an edge at no time": (
        from_rows(NODES, [("a", "b", "soon")]),
        "the edges, row 0, column 'time': the time cannot be read",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_records_are_refused_with_their_place(root: Path, case: str) -> None:
    records, message = REFUSED[case]
    study = StoredStudy.create(root, YEARLY)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=message):
        study.add(records, AddOptions(strict=True))
    assert not study.ledger().is_open
    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert {**after, study.folder.database: b""} == {**before, study.folder.database: b""}


def test_a_refusal_leaves_an_open_study_as_it_was(root: Path) -> None:
    study = StoredStudy.create(root, YEARLY)
    study.add(from_rows([("z", 2001)]))
    rows, files = study.ledger().rows, sorted(study.folder.batches.iterdir())
    for records, message in REFUSED.values():
        with pytest.raises(InputError, match=message):
            study.add(records, AddOptions(strict=True))
        with pytest.raises(InputError, match=message):
            study.add(records, AddOptions(strict=True, dry_run=True))
    assert study.ledger().rows == rows
    assert sorted(study.folder.batches.iterdir()) == files


def test_a_person_without_a_name_is_refused(root: Path) -> None:
    rules = {"person_separator": "|", "case": "fold"}
    study = StoredStudy.create(root, promise(series=[EDGES], records=rules))
    with pytest.raises(InputError, match="the nodes, row 1, column 'node': the id is missing"):
        study.add(from_rows([("a|1", 2001), (" |2", 2001)]), AddOptions(strict=True))


IDS = st.text("aB1| ", min_size=1, max_size=4).filter(lambda text: text.split("|")[0].strip())


def person(text: str, rules: dict[str, Any]) -> str:
    """Who an id means, in plain Python."""
    separator = rules.get("person_separator")
    bare = (text.strip().split(separator)[0] if separator else text).strip()
    return bare.lower() if rules.get("case") == "fold" else bare


@given(
    st.lists(st.tuples(IDS, st.none() | st.integers(-2, 3)), min_size=1, max_size=8),
    st.sampled_from(["", "|"]),
    st.sampled_from(["keep", "fold"]),
)
def test_every_row_gets_its_person_and_step(
    rows: list[tuple[str, int | None]], separator: str, case: str
) -> None:
    rules = {"person_separator": separator, "case": case, "undated": "first"}
    study = numbered(records=rules)
    records = from_rows(rows, [(text, text) for text, _ in rows])
    nodes = resolve(records, study.calendar, study.records).nodes.frame
    assert [str(each) for each in nodes["node"]] == [person(text, rules) for text, _ in rows]
    steps: dict[str, list[int]] = {}
    for text, time in rows:
        steps.setdefault(person(text, rules), []).extend([] if time is None else [max(time, 0)])
    for (text, time), found in zip(rows, nodes["step"], strict=True):
        known = steps[person(text, rules)]
        merged = separator == "|" or case == "fold" or time is None
        expected = min(known, default=None) if merged else max(time or 0, 0)
        assert found == expected
