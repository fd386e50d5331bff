"""Bad input: a clear error, an exit code of its own class, and nothing changed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from commands import Finished, graphveil
from steward import EDGES, NODES, contents, drafted, opened, people, run

GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="t" for="node" attr.name="time" attr.type="string"/>
<graph edgedefault="directed">
<node id="Q1"><data key="t">2001</data></node><node id="Q2"><data key="t">2002</data></node>
<edge source="Q1" target="Q2"/></graph></graphml>
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An open study of which one step is sealed; refusals leave it as it is."""
    root = opened(tmp_path_factory.mktemp("refusals") / "study")
    run("publish", root, "--no-report")
    return root


@pytest.fixture
def copy(study: Path, tmp_path: Path) -> Path:
    """The same study, for tests that damage it first."""
    return Path(shutil.copytree(study, tmp_path / "copy"))


@pytest.fixture
def unchanged(study: Path) -> Iterator[None]:
    before = contents(study)
    yield
    run("add", study, "--abandon")  # an attempt that failed leaves its note
    assert contents(study) == before


def refused(code: int, *arguments: object) -> Finished:
    finished = graphveil(*map(str, arguments))
    assert finished.code == code, (finished.code, finished.err)
    assert finished.err.startswith("graphveil: ")
    assert "Traceback" not in finished.err
    assert finished.out == ""
    return finished


@pytest.mark.parametrize("which", [(), ("--all",), ("--step", "2001"), ("--through", "2002")])
def test_a_draft_without_records_is_not_published(tmp_path: Path, which: tuple[str, ...]) -> None:
    """Else a script that goes on after a refused `add` would publish that there is nobody."""
    root = drafted(tmp_path / "study")
    before = contents(root)
    assert "no records were added yet" in refused(7, "publish", root, *which).err
    assert contents(root) == before
    nobody = people(tmp_path, "node,time\n", "source,target\n")
    assert "nothing would be added" in refused(1, "add", root, *nobody).err
    assert "records are missing" in refused(7, "publish", root, *which).err
    run("add", root, *nobody, "--yes")
    run("publish", root, *which, "--no-report")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        (NODES.replace("node", "nod"), EDGES, "Is the column 'nod' meant to be 'node'?"),
        (NODES.replace("time", "tim"), EDGES, "Name it: --time."),
        (NODES, EDGES.replace("source", "sorce"), "Is the column 'sorce' meant to be 'source'?"),
        (NODES + "P8,20x4\n", EDGES, "nodes.csv, row 10, column 'time': the time cannot be read"),
        (NODES + "P8,20x4\n", EDGES, "the time cannot be read: '20x4'. Write it as 1996."),
        (NODES + "P8,\n", EDGES, "nodes.csv, row 10, column 'time': the time is missing"),
        (NODES + "P8,2005\n", EDGES, "after the end of the calendar"),
        (NODES, EDGES + "P1,nobody\n", "edges.csv, row 8, column 'target'"),
        ("", EDGES, "nodes.csv"),
    ],
)  # fmt: skip
def test_records_that_cannot_be_accepted(
    study: Path, tmp_path: Path, nodes: str, edges: str, message: str
) -> None:
    finished = refused(3, "add", study, *people(tmp_path / "bad", nodes, edges), "--strict")
    assert message in finished.err
    assert "P1" not in finished.err
    assert "nobody" not in finished.err


@pytest.mark.usefixtures("unchanged")
def test_directed_records_in_an_undirected_study(study: Path, tmp_path: Path) -> None:
    path = tmp_path / "directed.graphml"
    path.write_text(GRAPHML)
    finished = refused(3, "add", study, path)
    assert "links are directed, but the study says that they are undirected" in finished.err


@pytest.mark.usefixtures("unchanged")
def test_directed_and_undirected_files_together(study: Path, tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(GRAPHML)
    (tmp_path / "b.graphml").write_text(GRAPHML.replace('"directed"', '"undirected"'))
    finished = refused(3, "add", study, tmp_path / "a.graphml", tmp_path / "b.graphml")
    assert "are undirected, those of a.graphml are directed" in finished.err


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (2, ("add", "*"), "at least one file"),
        (3, ("add", "*", "no-such-file.csv"), "no such file"),
        (3, ("add", "*", "."), r"a folder, not a file. Name its files"),
        (2, ("add", "*", "README.md", "--format", "pairs"), "Did you mean 'pair'?"),
        (2, ("add", "*", "x.csv", "--withdraw", "1"), "do not go with --withdraw"),
        (7, ("publish", "*", "--step", "2003"), "the next step is 2002"),
        (2, ("publish", "*", "--step", "2002-05"), "no step is called '2002-05'"),
        (2, ("publish", "*", "--through", "soon"), "Steps are called 2001, 2002"),
        (2, ("publish", "*", "--all", "--step", "2002"), "give only one of"),
        (8, ("series", "*", "--open", "nodes", "--epsilon", "0.6"), "0.5 is left"),
        (8, ("series", "*", "--open", "nodes@0.6", "--dry-run"), "0.5 is left"),
        (2, ("series", "*", "--open", "edges@1/4"), "is already open"),
        (2, ("series", "*", "--open", "nodes"), "Give --epsilon E"),
        (2, ("series", "*", "--open", "stars:k=2@1", "--k", "3"), "k: is given twice"),
        (2, ("series", "*", "--open", "nodes@1", "--epsilon", "1"), "epsilon: is given twice"),
        (2, ("series", "*", "--open", "node@1/4"), "Did you mean 'nodes'?"),
        (2, ("series", "*", "--open", "out-stars:k=2@1/4"), "directed graphs only"),
        (2, ("series", "*", "--epsilon", "1"), "only be used with --open"),
        (2, ("series", "*", "--open", "nodes@1/4", "--projection", "x"), "projection"),
        (2, ("releases", "*", "--series", "edge"), "There are: edges, degrees"),
        (2, ("releases", "*", "--csv", "--json"), "give one of"),
    ],
)
def test_commands_that_ask_for_what_cannot_be(
    study: Path, code: int, arguments: tuple[str, ...], message: str
) -> None:
    given = [study if each == "*" else each for each in arguments]
    assert message in refused(code, *given).err


@pytest.mark.parametrize(
    "command", ["add", "publish", "status", "releases", "series", "report", "verify"]
)
def test_where_there_is_no_study(tmp_path: Path, command: str) -> None:
    more = ("x.csv",) if command == "add" else ()
    assert "there is no study in" in refused(7, command, tmp_path, *more).err
    assert list(tmp_path.iterdir()) == []


def test_plan_where_there_is_no_study(tmp_path: Path) -> None:
    assert "there is no study in" in refused(7, "plan", tmp_path).err


def test_a_hand_edited_study_file_that_contradicts_the_ledger(copy: Path) -> None:
    path = copy / "public" / "study.toml"
    path.write_text(path.read_text().replace('epsilon = "1"', 'epsilon = "2"'))
    before = contents(copy)
    for arguments in (("publish", copy), ("status", copy), ("add", copy, "--withdraw", "1")):
        finished = refused(7, *arguments)
        assert "disagrees with the ledger about: budget" in finished.err
    assert contents(copy) == before


def test_a_hand_edited_draft_is_fine_unless_it_makes_no_sense(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study")
    path = root / "public" / "study.toml"
    text = path.read_text()
    path.write_text(text.replace("for tests", "by hand"))
    assert "A study by hand" in run("plan", root).out
    path.write_text(text.replace("degree = 4", "degree = 0"))
    assert "study.toml, bound.degree" in refused(7, "plan", root).err


def test_a_database_of_a_newer_version(copy: Path) -> None:
    with closing(sqlite3.connect(copy / "private" / "ledger.sqlite")) as database, database:
        database.execute("UPDATE about SET value = '99' WHERE key = 'version'")
    before = contents(copy)
    assert "has format 99" in refused(7, "publish", copy).err
    assert contents(copy) == before


def test_a_database_from_before_the_public_part(study: Path, copy: Path) -> None:
    """Somebody restores the private folder of yesterday."""
    run("add", study, "--abandon")  # what other tests tried to add
    run("add", copy, "--abandon")
    run("publish", copy, "--no-report")
    shutil.rmtree(copy / "private")
    shutil.copytree(study / "private", copy / "private")
    before = contents(copy)
    assert "older copy" in refused(9, "publish", copy).err
    assert contents(copy) == before


def test_a_lost_database(copy: Path) -> None:
    (copy / "private" / "ledger.sqlite").unlink()
    assert "ledger database is missing" in refused(10, "publish", copy).err


def test_a_series_of_a_draft_belongs_into_its_file(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study")
    before = contents(root)
    assert "is a draft" in refused(7, "series", root, "--open", "nodes@1/4").err
    assert "nothing to report" in refused(7, "report", root).err
    assert contents(root) == before


def test_a_step_that_has_not_ended(tmp_path: Path) -> None:
    """By the clock of whoever runs the tests, until 2060."""
    root = drafted(tmp_path / "study", "--first", "2020", "--last", "2060")
    run("add", root, *people(tmp_path / "files"))
    run("publish", root, "--all", "--no-report")
    before = contents(root)
    assert "has not ended yet" in refused(7, "publish", root, "--no-report").err
    assert contents(root) == before
    run("publish", root, "--early", "--no-report")


def test_all_needs_a_clock_or_an_end(tmp_path: Path) -> None:
    root = tmp_path / "study"
    run(
        "new", root, "--title", "T", "--population", "P", "--publisher", "X", "--bound", "4",
        "--bound-reason", "B", "--every", "10", "--first", "0", "--epsilon", "1",
        "--epsilon-reason", "E", "--series", "edges",
    )  # fmt: skip
    assert "Use --through LABEL" in refused(2, "publish", root, "--all").err
    assert "none is due" not in run("status", root).out
