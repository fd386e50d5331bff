"""A study whose records stay with Spark publishes the very bytes that the local engine does."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from frozen import frozen
from graphveil.backends.spark import batches, segments
from graphveil.errors import BoundError, EngineError, GraphveilError, InputError, ParameterError
from graphveil.records import ReadingOptions
from graphveil.steward.adding import add
from graphveil.steward.reporting import write_report
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions, BackendChoice
from graphveil.study.verification import verify
from spark_sessions import SETTINGS, local_session
from studies import people, promise

SPARK = BackendChoice("spark", master="local[2]", settings=SETTINGS)
LOCAL = BackendChoice()
SERIES = [
    {"name": name, "statistic": name, "epsilon": "1/8"}
    for name in ("edges", "degree-ccdf", "triangles", "components")
]
KEPT = "what is kept to go on from"

Batch = tuple[list[tuple[Any, Any]], list[tuple[Any, ...]]]
FIRST: Batch = (
    [*((number, 2001 + number // 2) for number in range(8)), (7, 2004), (" 3", 2002)],
    [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (6, 1), (5, 4), (2, 2)],
)
SECOND: Batch = (
    [("nine", 2003), (1, 2004), ("Nine", 2004), (10, 2001)],
    [("nine", 0), ("nine", 5), (3, 5), (0, 1), (10, 0)],
)


@pytest.fixture(scope="module", autouse=True)
def _session() -> None:
    local_session()


COUNTIES = ["North", "south ", "N", "", "Mars", None, "East"]
YEARS = [3, 24, 25, None, 77, -1]
BY_GROUPS: dict[str, Any] = {
    "groups": {
        "region": {"labels": ["North", "South", "East"], "same": {"N": "North"}},
        "age": {"cuts": [0, 25, 50]},
    },
    "series": [
        {"name": name, "statistic": name, "parameters": {"by": by}, "epsilon": "1/8"}
        for name, by in (
            ("edges", "region"), ("degree-ccdf", "age"), ("clustered", "region,age"),
        )
    ],
}  # fmt: skip
COLUMNS = ReadingOptions(group=("region=res. county", "age=years"))


def files_of(folder: Path, batch: Batch, number: int) -> list[str]:
    """A batch as two Parquet files; ids are text where one is.

    People have labels that go by the place of their row, so that some have two.
    """
    folder.mkdir(exist_ok=True)
    nodes, edges = batch
    texts = any(isinstance(node, str) for node, _ in nodes)
    kind = pl.String if texts else pl.Int64
    people = {"node": [str(n) if texts else n for n, _ in nodes], "time": [t for _, t in nodes]}
    places = range(number, number + len(nodes))
    people |= {"Res. County": [COUNTIES[place % len(COUNTIES)] for place in places]}
    people |= {"Years": [YEARS[place % len(YEARS)] for place in places]}
    ends = [[str(edge[place]) if texts else edge[place] for edge in edges] for place in (0, 1)]
    links: dict[str, Any] = {"source": ends[0], "target": ends[1]}
    schema = {"source": kind, "target": kind}
    if any(len(edge) == 3 for edge in edges):
        links["time"] = [edge[2] if len(edge) == 3 else None for edge in edges]
    paths = [folder / f"{number}-nodes.parquet", folder / f"{number}-edges.parquet"]
    pl.DataFrame(people, schema_overrides={"node": kind}).write_parquet(paths[0])
    pl.DataFrame(links, schema_overrides=schema).write_parquet(paths[1])
    return [str(path) for path in paths]


def publish(root: Path, choice: BackendChoice, through: int | None = None) -> None:
    with choice.running() as backend:
        StoredStudy.at(root, backend=backend).publish(through, early=True)


def checks(root: Path, choice: BackendChoice) -> dict[str, str]:
    with choice.running() as backend:
        found = list(verify(StoredStudy.at(root, backend=backend)))
    assert all(check.is_finished for check in found)
    return {check.name: check.found for check in found}


Course = Sequence[tuple[BackendChoice, Batch | int]]  # who adds a batch, or publishes up to a step


def lived(root: Path, course: Course, **changed: Any) -> dict[str, bytes]:
    """All public files of a study with that course."""
    with frozen("Spark"):
        StoredStudy.create(root, promise(**{"series": SERIES, **changed}))
        for number, (choice, what) in enumerate(course):
            if isinstance(what, int):
                publish(root, choice, what)
            else:
                options = COLUMNS if changed.get("groups") else None
                files = files_of(root.parent, what, number)
                how = AddOptions(yes=True)  # some labels are on no list
                add(root, files, engine=choice, options=options, how=how)
        write_report(root / "public")
    public = root / "public"
    return {
        str(file.relative_to(public)): file.read_bytes()
        for file in sorted(public.rglob("*"))
        if file.is_file()
    }


def course(*choices: BackendChoice) -> Course:
    """Two batches and four steps, each with its engine."""
    return list(zip(choices, (FIRST, 1, SECOND, 2, 3), strict=True))


@pytest.mark.slow
def test_public_files_are_the_same_byte_for_byte_if_engines_take_turns(tmp_path: Path) -> None:
    here = lived(tmp_path / "here" / "study", course(*[LOCAL] * 5))
    mixed = lived(tmp_path / "mixed" / "study", course(SPARK, LOCAL, SPARK, SPARK, LOCAL))
    assert here == mixed
    assert checks(tmp_path / "mixed" / "study", SPARK)[KEPT] == "the same as from scratch"


def test_public_files_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    steps: list[Batch | int] = [FIRST, 1, SECOND, 3]
    here = lived(tmp_path / "here" / "study", [(LOCAL, each) for each in steps])
    there = lived(tmp_path / "there" / "study", [(SPARK, each) for each in steps])
    assert len(here) > 8
    assert here == there
    root = tmp_path / "there" / "study"
    assert checks(root, SPARK)[KEPT] == "the same as from scratch"
    assert checks(root, LOCAL)[KEPT].startswith("nothing")
    kept = StoredStudy.at(root).folder.kept / "spark"
    assert {path.stat().st_mode & 0o777 for path in kept.iterdir()} == {0o600}


def test_tables_of_several_files_hold_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fits no single file is cut into some, which either engine reads as one table."""
    here, there = tmp_path / "here" / "study", tmp_path / "there" / "study"
    lived(here, course(*[LOCAL] * 5))
    for module in (batches, segments):
        monkeypatch.setattr(module, "WHOLE", 2)
    lived(there, course(SPARK, SPARK, SPARK, LOCAL, SPARK))
    private = StoredStudy.at(there).folder
    for home in (private.batches, private.segments):
        assert {"nodes", "edges"} <= {
            path.name.split("-")[1] for path in home.glob("*-0001.parquet")
        }
    assert exact(there) == exact(here)
    assert checks(there, SPARK)[KEPT] == "the same as from scratch"
    checks(there, LOCAL)


def exact(root: Path) -> list[Any]:
    """The true differences of all releases."""
    rows = StoredStudy.at(root).ledger().rows
    return [row.secret["differences"] for row in rows if row.event == "release made"]


def test_first_links_of_hubs_are_the_same(tmp_path: Path) -> None:
    hubs = {"degree": 2, "hubs": 3, "justification": "nobody made up more"}
    steps: list[Batch | int] = [FIRST, 3]
    here = lived(tmp_path / "here" / "study", [(LOCAL, each) for each in steps], bound=hubs)
    there = lived(tmp_path / "there" / "study", [(SPARK, each) for each in steps], bound=hubs)
    assert here == there


def test_people_have_the_same_labels_if_engines_take_turns(tmp_path: Path) -> None:
    """Sealed by either engine and gone on with by the other; and what is said about new labels."""
    here, there = tmp_path / "here" / "study", tmp_path / "there" / "study"
    steps: list[Batch | int] = [FIRST, 1, SECOND, 3]
    turns = list(zip((SPARK, SPARK, LOCAL, SPARK), steps, strict=True))
    alone = lived(here, [(LOCAL, each) for each in steps], **BY_GROUPS)
    assert alone == lived(there, turns, **BY_GROUPS)
    assert checks(there, SPARK)[KEPT] == "the same as from scratch"
    again = files_of(tmp_path, (FIRST[0] + SECOND[0] + [(12, 2004)] * 2, FIRST[1]), 4)
    found = [
        add(there, again, engine=each, how=AddOptions(dry_run=True))  # which columns, it knows
        for each in (LOCAL, SPARK)
    ]
    ours, theirs = (each.added.findings for each in found)
    assert ours.lines() == theirs.lines()
    assert ours.details.equals(theirs.details)
    assert ours.intake.relabelled_nodes > 2
    assert ours.intake.two_labels
    assert [each.rows for each in ours.unlisted] == [each.rows for each in theirs.unlisted]
    assert ours.unlisted


def test_people_without_a_column_of_a_group_are_refused_in_the_same_words(tmp_path: Path) -> None:
    StoredStudy.create(tmp_path / "study", promise(**BY_GROUPS))
    files = files_of(tmp_path, FIRST, 0)
    for group in (
        ("region=res. county",),
        ("region=res. county", "age=Yeers"),
        ("region=res. county", "x=Years"),
    ):
        refused = []
        for choice in (LOCAL, SPARK):
            with pytest.raises(GraphveilError) as error:
                add(tmp_path / "study", files, engine=choice, options=ReadingOptions(group=group))
            refused.append(str(error.value))
        assert refused[0] == refused[1]


def test_the_steward_learns_the_same_about_records(tmp_path: Path) -> None:
    """Known, re-dated, late, repeated, alike and vanished records, against sealed and waiting."""
    root = tmp_path / "study"
    lived(root, [(LOCAL, FIRST), (LOCAL, 0), (LOCAL, SECOND)])
    given = files_of(
        tmp_path,
        (
            [
                ("0", 2002),
                ("nine", 2004),
                ("ten", 2001),
                ("ten", 2001),
                ("TEN", 2004),
                (" 5", 2003),
            ],
            [("0", "ten"), ("ten", "0"), ("nine", "0"), ("1", "2", 2003), ("5", "5"), ("0", "1")],
        ),
        9,
    )
    found = [
        add(root, given, engine=each, how=AddOptions(complete=True, dry_run=True))
        for each in (LOCAL, SPARK)
    ]
    here, there = (each.added.findings for each in found)
    assert here.lines() == there.lines()
    assert len(here.lines()) > 9
    assert here.details.equals(there.details)
    undated = files_of(
        tmp_path, ([("a", None), ("0", None), ("b", 2004)], [("a", "0"), ("b", "0")]), 11
    )
    drop = ReadingOptions(undated="drop")
    without = [
        add(root, undated, options=drop, engine=each, how=AddOptions(dry_run=True))
        for each in (LOCAL, SPARK)
    ]
    assert without[0].added.findings.lines() == without[1].added.findings.lines()
    for bad in ([("", 2003)], [("a", 2003), ("a", 2004)], [("a", None)]):
        refused = []
        for choice in (LOCAL, SPARK):
            files = files_of(tmp_path, (bad, []), 10)
            with pytest.raises(GraphveilError) as error:
                add(root, files, engine=choice, how=AddOptions(strict=True, dry_run=True))
            refused.append(str(error.value).partition(" Without --strict")[0])
        assert refused[0].partition("rows have none")[0][:80] == refused[1][:80]


def test_rows_without_numbers_of_a_table_of_the_catalogue_all_count(tmp_path: Path) -> None:
    """One of its links is sealed already; no other one may be taken for that."""
    found = []
    for name, choice in (("here", LOCAL), ("there", SPARK)):
        root = tmp_path / name / "study"
        StoredStudy.create(root, promise(series=SERIES))
        add(root, files_of(root.parent, FIRST, 0))
        publish(root, LOCAL, 1)
        tables = files_of(root.parent, SECOND, 2)
        if choice is SPARK:
            views = [f"view_of_{kind}" for kind in ("people", "links")]
            for path, view in zip(tables, views, strict=True):
                local_session().read.parquet(path).createOrReplaceTempView(view)
            tables = views
        add(root, tables, engine=choice)
        publish(root, LOCAL, 3)
        segments = sorted((root / "private" / "segments").glob("*-edges-*"))
        found.append([pl.read_parquet(path).rows() for path in segments])
    assert found[0] == found[1]
    assert len(found[0][-1]) > 2


@pytest.mark.parametrize(
    "said",
    [
        {"format": "pair"},
        {"options": ReadingOptions(where=("county=A",))},
        {"options": ReadingOptions(max_distance="0.015")},
        {"options": ReadingOptions(excel_dates=True)},
        {"options": ReadingOptions(encoding="latin-1")},
        {"options": ReadingOptions(all_listed=True)},
    ],
)
def test_options_for_files_are_refused_and_not_ignored(tmp_path: Path, said: Any) -> None:
    StoredStudy.create(tmp_path / "study", promise())
    with pytest.raises(ParameterError, match="is for files that the local engine reads"):
        add(tmp_path / "study", ["people.parquet"], engine=SPARK, **said)


def test_records_of_this_process_are_refused(tmp_path: Path) -> None:
    StoredStudy.create(tmp_path / "study", promise())
    with SPARK.running() as backend, pytest.raises(InputError, match="tables that Spark reads"):
        StoredStudy.at(tmp_path / "study", backend=backend).add(people())


def test_what_spark_does_not_count_stops_a_publication_before_anything_is_sealed(
    tmp_path: Path,
) -> None:
    recent = [{"name": "new", "statistic": "edges", "parameters": {"window": 2}, "epsilon": "1/4"}]
    study = StoredStudy.create(tmp_path / "study", promise(series=recent))
    study.add(people())
    rows = len(study.ledger().rows)
    with pytest.raises(EngineError, match="The local engine counts them"):
        publish(tmp_path / "study", SPARK)
    assert len(study.ledger().rows) == rows
    study.publish()


def test_a_broken_promise_is_found_there_too(tmp_path: Path) -> None:
    few = {"degree": 1, "justification": "an example"}
    root = tmp_path / "study"
    StoredStudy.create(root, promise(bound=few))
    found = add(root, files_of(tmp_path, FIRST, 1), engine=SPARK)
    assert not found.added.findings.keeps_bound
    with pytest.raises(BoundError):
        publish(root, SPARK, 1)
    assert not StoredStudy.at(root).ledger().sealed


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["a file changed", "a file gone", "all gone", "entry forged"])
def test_what_is_kept_and_damaged_is_made_anew(tmp_path: Path, harm: str) -> None:
    here = lived(tmp_path / "here" / "study", course(*[LOCAL] * 5))
    root = tmp_path / "there" / "study"
    with frozen("Spark"):
        StoredStudy.create(root, promise(series=SERIES))
        for number, (_, what) in enumerate(course(*[SPARK] * 5)):
            if isinstance(what, int):
                publish(root, SPARK, what)
                damage(root, harm)
            else:
                add(root, files_of(root.parent, what, number), engine=SPARK)
        write_report(root / "public")
    public = root / "public"
    assert here == {
        str(file.relative_to(public)): file.read_bytes()
        for file in sorted(public.rglob("*"))
        if file.is_file()
    }


def damage(root: Path, harm: str) -> None:
    study = StoredStudy.at(root)
    home = study.folder.kept / "spark"
    files = sorted(home.glob("*.parquet"))
    if harm == "a file changed":
        content = bytearray(files[0].read_bytes())
        content[len(content) // 2] ^= 1
        files[0].write_bytes(content)
    elif harm == "a file gone":
        files[-1].unlink()
    elif harm == "all gone":
        shutil.rmtree(home)
    else:
        with study.writing() as transaction:
            transaction.keep_beside("spark", '{"step": 0, "row": "x", "form": "spark 1"}')


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_engines_that_take_turns_at_random(tmp_path: Path, seed: int, directed: bool) -> None:
    """Six steps; late links, repeated rows, numbers that become text; a batch is withdrawn."""
    chance = random.Random(f"{seed} {directed}")
    kind: dict[str, Any] = {
        "calendar": {"every": 1, "unit": "year", "first": "2001", "last": "2006"},
        "bound": {"degree": 40, "justification": "an example"},
    }
    if directed:
        kind |= {"directed": True, "bound": {"inward": 40, "outward": 40, "justification": "x"}}
    names = ("edges", "in-degree-ccdf" if directed else "degree-ccdf", "components")
    series = [{"name": n, "statistic": n, "epsilon": "1/8"} for n in names]
    people: list[Any] = []
    batches: list[Batch] = []
    for step in range(6):
        new = [f"x{step}-{n}" if step > 2 and n % 3 == 0 else 100 * step + n for n in range(12)]
        people += new
        nodes = [(each, 2001 + max(0, step - chance.randrange(2))) for each in new]
        pairs = [tuple(chance.sample(people, 2)) for _ in range(30)]
        times = [(a, b, 2001 + step) if chance.random() < 0.3 else (a, b) for a, b in pairs]
        batches.append(([*nodes, *nodes[:2]], [*times, *times[:3]]))
    found = []
    for name in ("local", "turns"):
        root = tmp_path / name / "study"
        with frozen("turns"):
            StoredStudy.create(root, promise(series=series, **kind))
            for step, batch in enumerate(batches):
                who = [chance.choice([SPARK, LOCAL]) if name == "turns" else LOCAL for _ in "ab"]
                add(root, files_of(root.parent, batch, step), engine=who[0])
                if step == 3:
                    StoredStudy.at(root).withdraw(StoredStudy.at(root).ledger().batches[-1].number)
                    add(root, files_of(root.parent, batch, step), engine=who[1])
                publish(root, who[1], step)
        found.append((root / "public" / "ledger.jsonl").read_bytes())
        assert checks(root, SPARK)["the exact counts"]
    assert found[0] == found[1]
