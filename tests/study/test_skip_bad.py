"""`add`: what breaks a rule is set aside and listed, and everything else is taken."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from graphveil.errors import InputError, IntegrityError, Place, RecordError, UnconfirmedError
from graphveil.graph.intake import appending
from graphveil.records import ReadingOptions
from graphveil.steward import adding
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.verification import verify
from plain_rules import EDGES
from studies import people_and_bad_rows, promise

ORIENTED = {"inward": 4, "outward": 4, "oriented": True, "justification": "an example"}
NODES = [
    ("a", "2001", ""),
    ("b", "2002", ""),
    ("c", "2001", ""),
    ("", "2001", "the id is missing"),
    ("d", "soon", "the time cannot be read"),
    ("e", "2005", "the time lies after the end"),
    ("f", "", "the time is missing"),
    ("g", "2001", ""),
    ("g", "2003", "an earlier time in another row"),
    ("a", "2001", ""),
]
LINKS = [
    ("a", "b", "", ""),
    ("b", "b", "", ""),
    ("a", "d", "", "names a node that is not in the nodes"),
    ("g", "f", "", "names a node that is not in the nodes"),
    ("a", "", "", "the id is missing"),
    ("a", "c", "soon", "the time cannot be read"),
    ("a", "c", "2002", ""),
    ("b", "c", "", "the reverse of an existing one"),
    ("c", "b", "", "the reverse of an existing one"),
    ("a", "b", "", ""),
]


def files(folder: Path) -> list[Path]:
    """Both tables, in which every kind of bad row stands among good ones."""
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    nodes.write_text("node,time\n" + "".join(f"{','.join(row[:2])}\n" for row in NODES))
    edges.write_text("source,target,time\n" + "".join(f"{','.join(row[:3])}\n" for row in LINKS))
    return [nodes, edges]


@pytest.fixture
def study(root: Path) -> StoredStudy:
    """A study of links with one direction."""
    return StoredStudy.create(root, promise(series=[EDGES], directed=True, bound=ORIENTED))


def test_every_row_is_taken_or_listed_with_its_reason(study: StoredStudy, tmp_path: Path) -> None:
    added = adding.add(study.folder.root, files(tmp_path), how=AddOptions(yes=True))
    entry = study.ledger().batches[0].skipped
    assert entry is not None
    path = study.folder.batches / entry.files[0].name
    assert path.stat().st_mode & 0o777 == 0o600
    listed = list(csv.DictReader(path.read_text().splitlines()))
    told = {(row["file"], int(row["row"])): row["reason"] for row in listed}
    assert len(told) == len(listed)
    for name, rows in (("nodes.csv", NODES), ("edges.csv", LINKS)):
        for number, row in enumerate(rows, start=2):
            assert row[-1] in told.get((name, number), ""), row
            assert bool(row[-1]) == ((name, number) in told), row
    words = {(row["file"], int(row["row"])): row for row in listed}
    assert (words["nodes.csv", 6]["node"], words["nodes.csv", 6]["time"]) == ("d", "soon")
    assert (words["edges.csv", 5]["source"], words["edges.csv", 5]["target"]) == ("g", "f")
    intake = added.added.findings.intake
    assert (intake.nodes_added, intake.repeated_nodes, intake.edges_added) == (4, 1, 2)
    assert (intake.repeated_edges, intake.self_links) == (1, 1)
    assert any("1 row of nodes set aside" in line for line in added.lines())
    aside = [line.partition(" (")[0] for line in added.lines() if "set aside" in line]
    assert len(set(aside)) == len(aside), "two lines that say the same name their columns"
    assert sum(each["rows"] for each in added.as_data()["skipped"]) == len(told)
    assert len(list(verify(study))) > 3
    study.publish(3)


def test_a_list_that_was_changed_is_noticed(study: StoredStudy, tmp_path: Path) -> None:
    adding.add(study.folder.root, files(tmp_path), how=AddOptions(yes=True))
    entry = study.ledger().batches[0].skipped
    assert entry is not None
    with (study.folder.batches / entry.files[0].name).open("a") as file:
        file.write("one more\n")
    with pytest.raises(IntegrityError, match="skipped"):
        list(verify(study))


def test_a_dry_run_tells_the_same_and_keeps_nothing(study: StoredStudy, tmp_path: Path) -> None:
    tried = adding.add(study.folder.root, files(tmp_path), how=AddOptions(yes=True, dry_run=True))
    assert (tried.batch, list(study.folder.batches.iterdir())) == (None, [])
    added = adding.add(study.folder.root, files(tmp_path), how=AddOptions(yes=True))
    assert tried.lines() == added.lines()


def test_who_is_strict_is_refused_at_the_first_row(study: StoredStudy, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"nodes\.csv, row 5, .*strict=False") as told:
        adding.add(study.folder.root, files(tmp_path), how=AddOptions(strict=True))
    assert len(str(told.value)) < 300
    assert not study.ledger().is_open


def test_who_is_strict_lets_links_wait_that_waited_before(
    study: StoredStudy, tmp_path: Path
) -> None:
    """Found from outside: nothing could be added strictly any more, and `add` broke down."""
    nodes, edges = files(tmp_path)
    nodes.write_text("node,time\na,2001\nb,2001\n")
    edges.write_text("source,target\na,b\na,later\n")
    adding.add(study.folder.root, [nodes, edges], how=AddOptions(yes=True))
    nodes.write_text("node,time\nc,2001\n")
    edges.write_text("source,target\na,c\n")
    added = adding.add(study.folder.root, [nodes, edges], how=AddOptions(strict=True)).added
    assert (added.findings.awaiting, added.findings.intake.edges_added) == (1, 1)
    nodes.write_text("node,time\nd,2001\n")
    edges.write_text("source,target\nd,nobody\n")
    with pytest.raises(RecordError, match=r"edges\.csv, row 2"):
        adding.add(study.folder.root, [nodes, edges], how=AddOptions(strict=True))


def test_more_than_a_tenth_wants_a_yes_and_opens_nothing(
    study: StoredStudy, tmp_path: Path
) -> None:
    with pytest.raises(UnconfirmedError, match=r"a tenth of the rows of nodes.*yes=True") as told:
        adding.add(study.folder.root, files(tmp_path))
    assert len(str(told.value)) < 300
    assert not study.ledger().is_open
    assert list(study.folder.batches.iterdir()) == []


def test_sound_records_leave_no_list(study: StoredStudy, tmp_path: Path) -> None:
    nodes, edges = files(tmp_path)
    nodes.write_text("node,time\na,2001\nb,2001\n")
    edges.write_text("source,target\na,b\n")
    adding.add(study.folder.root, [nodes, edges], how=AddOptions(yes=True))
    assert study.ledger().batches[0].skipped is None


BAD_ENTRIES = {
    "network.json": json.dumps(
        {
            "Nodes": [
                {"id": "A", "dx": "2001"}, {"id": None, "dx": "2001"}, {"id": "B", "dx": [1]},
                {"id": "C", "dx": "2002"}, {"id": "D", "dx": "13/25/2001"},
            ],
            "Edges": [
                {"source": 0, "target": 3}, {"source": 0, "target": 1}, {"source": 0, "target": 9},
                {"source": 2, "target": 3}, {"source": "0", "target": 3},
            ],
            "Settings": {},
        }
    ),
    "network.graphml": '<graphml><key id="k" for="node" attr.name="dx"/><graph>'
    '<node id="A"><data key="k">2001</data></node><node><data key="k">2001</data></node>'
    '<node id="B"><data key="k">1/32/2001</data></node>'
    '<node id="C"><data key="k">2002</data></node><edge source="A" target="C"/>'
    '<edge source="A"/><edge source="B" target="C"/><edge source="A" target="Z"/>'
    "</graph></graphml>",
    "cases.csv": "case_id,dx,infected_by\nA,2001,\n,2001,A\nB,2/30/2001,A\nC,2002,A;B\n",
}  # fmt: skip


@pytest.mark.parametrize(("name", "bad"), [*zip(BAD_ENTRIES, (7, 5, 5), strict=True)])
def test_what_a_reader_finds_is_skipped_too(
    root: Path, tmp_path: Path, name: str, bad: int
) -> None:
    path = tmp_path / name
    path.write_text(BAD_ENTRIES[name])
    study = StoredStudy.create(root, promise(series=[EDGES]))
    options = ReadingOptions(time="dx", all_listed=True)
    with pytest.raises(RecordError, match="strict=False"):
        adding.add(root, [path], options=options, how=AddOptions(strict=True))
    added = adding.add(root, [path], options=options, how=AddOptions(yes=True))
    intake = added.added.findings.intake
    assert (intake.nodes_added, intake.edges_added) == (2, 1)
    assert sum(len(each) for each in added.added.findings.skipped) == bad
    assert study.ledger().batches[0].skipped is not None


WHOLE = {
    "no date": b"node\nA\n",
    "empty": b"",
    "cut": gzip.compress(b"x")[:9],
}


@pytest.mark.parametrize("content", WHOLE.values(), ids=WHOLE)
def test_what_is_wrong_with_a_whole_file_still_refuses_it(
    study: StoredStudy, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "nodes.csv").write_bytes(content)
    with pytest.raises(InputError) as told:
        adding.add(study.folder.root, [tmp_path / "nodes.csv"], how=AddOptions(yes=True))
    assert not isinstance(told.value, RecordError)
    assert not study.ledger().is_open


def test_rows_are_left_out_in_memory_as_in_files(root: Path) -> None:
    study = StoredStudy.create(root, promise())
    study.add(people_and_bad_rows(), AddOptions(yes=True))
    assert study.ledger().batches[0].skipped is not None


def test_a_refusal_without_rows_is_raised_and_not_tried_forever() -> None:
    def never(_: object) -> None:
        rows = np.empty(0, np.int64)
        raise RecordError("no", place=Place("x"), hint="", rule="no", kind="edges", rows=rows)

    with pytest.raises(RecordError):
        appending.filtered(people_and_bad_rows(), never)
