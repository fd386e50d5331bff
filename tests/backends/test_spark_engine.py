"""On Spark itself: tables become the graph that the one intake makes, and are counted alike."""

from __future__ import annotations

import gc
import json
import operator
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from graphveil.backends import LocalEngine
from graphveil.backends.spark import SparkCluster, SparkEngine, SparkGraph
from graphveil.backends.spark.graph import handed_over
from graphveil.backends.spark.intake import arrivals, begin, extend, label_index
from graphveil.backends.spark.intake.tables import table_at
from graphveil.calendar.calendar import Calendar
from graphveil.cli import program
from graphveil.errors import EngineError, InputError
from graphveil.graph.groups import Groups, column_of
from graphveil.graph.intake.records import Records, Table
from graphveil.graph.promises import DegreeBound, HubBound
from graphveil.graph.sequence import GraphSequence
from graphveil.statistics.statistic import statistic
from spark_sessions import SETTINGS, local_session
from test_spark_tasks import assert_same

CALENDAR = Calendar.yearly(2000)
GROUPS = Groups.of(["region=North|South"])
LABELS = ["South", "north", "Mars", None]
Rows = list[tuple[object, ...]]
RANDOM = np.random.default_rng


def tables(folder: Path, name: str, nodes: pl.DataFrame, edges: pl.DataFrame) -> Records:
    """The same records as files for Spark and in memory for the local engine."""
    nodes.write_parquet(folder / f"{name}-nodes.parquet")
    edges.write_parquet(folder / f"{name}-edges.parquet")
    return Records(Table(nodes, f"{name}-nodes.parquet"), Table(edges, f"{name}-edges.parquet"))


def taken(graph: SparkGraph, folder: Path, name: str, **rules: Any) -> tuple[SparkGraph, Any]:
    session = local_session()
    labels = {"region": "County"} if "groups" in rules else None
    nodes = table_at(session, str(folder / f"{name}-nodes.parquet"), "nodes", groups=labels)
    edges = table_at(session, str(folder / f"{name}-edges.parquet"), "edges")
    return extend(session, graph, nodes, edges, **rules)


def batch(seed: int, new: list[int], known: list[int], years: range, *, text: bool) -> list[Any]:
    """Untidy records: repeated rows, loops, edges listed twice and either way, some dated."""
    random = RANDOM(seed)
    times = random.integers(years.start, years.stop, len(new))
    again = random.integers(0, len(new), 5)
    nodes = pl.DataFrame(
        {"node": [*new, *(new[i] for i in again)], "time": [*times, *times[again]]},
        schema={"node": pl.Int64, "time": pl.Int64},
    )
    ends = random.choice([*known, *new], (160, 2))
    own = [None if x < 3 else int(x) for x in random.integers(0, 4, 160) + years.start - 1]
    edges = pl.DataFrame({"source": ends[:, 0], "target": ends[:, 1], "time": own})
    if not text:
        return [nodes, edges]
    spelled = [
        pl.when(pl.col(c) % 3 == 0)
        .then(pl.format(" a{}", pl.col(c)))
        .when(pl.col(c) % 3 == 1)
        .then(pl.col(c).cast(pl.String))
        .otherwise((-pl.col(c)).cast(pl.String))
        .alias(c)
        for c in ("node", "source", "target")
    ]
    return [nodes.with_columns(spelled[0]), edges.with_columns(spelled[1:])]


def rows_of(graph: SparkGraph) -> list[tuple[object, ...]]:
    return sorted(
        (part.newer, part.older, part.late, *row)
        for part in graph.parts
        for row in zip(*graph.workspace.read(part.name).to_pydict().values(), strict=True)
    )


def ids_of(graph: SparkGraph) -> list[str]:
    return [
        str(node)
        for part in graph.people
        for node in graph.workspace.read(part.name)["node"].to_pylist()
    ]


@pytest.mark.parametrize(
    ("directed", "text", "many"),
    [
        pytest.param(False, True, False, marks=pytest.mark.slow),
        pytest.param(True, False, True, marks=pytest.mark.slow),
        (False, True, True),
    ],
)
def test_batches_become_the_graph_that_the_one_intake_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directed: bool, text: bool, many: bool
) -> None:
    session = local_session()
    if many:  # parts of ids, and files of nodes, as large graphs have them
        monkeypatch.setattr(label_index, "MOST_IDS", 30)
        monkeypatch.setattr(arrivals, "IN_A_FILE", 20)
    sequence = GraphSequence.begin(CALENDAR, directed=directed, grouped=True)
    graph = begin(session, CALENDAR, directed=directed, text_ids=text, grouped=True)
    graph = replace(graph, colours=2)
    people = RANDOM(3).permutation(90).tolist()
    halves = ("one", people[:50], range(2000, 2004)), ("two", people[50:], range(2003, 2007))
    for name, new, years in halves:
        known = people[: people.index(new[0])]
        nodes, edges = batch(7, new, known, years, text=text)
        labels = pl.Series("County", [LABELS[row % len(LABELS)] for row in range(len(nodes))])
        records = tables(tmp_path, name, nodes.with_columns(labels), edges)
        labelled = nodes.with_columns(labels.alias(column_of("region")))
        records = replace(records, nodes=replace(records.nodes, frame=labelled))
        sequence, report = sequence.extend(records, late="join", groups=GROUPS)
        graph, there = taken(graph, tmp_path, name, late="join", groups=GROUPS)
        assert report.two_labels
        assert there == report
        assert graph.node_offsets.tolist() == sequence.node_offsets.tolist()
        assert ids_of(graph) == sequence.ids.cast(pl.String).to_list()
        handed = handed_over(sequence, graph.workspace, 2)
        assert rows_of(graph) == rows_of(handed)
        assert graph.edges.tolist() == handed.edges.tolist()
        assert graph.extent(graph.steps) == handed.extent(handed.steps)
    assert len(sequence.late) > 10
    engine, members = SparkEngine(SparkCluster(session)), [statistic("components")]
    members += [statistic("edges", by="region", groups=GROUPS)]
    members += [] if directed else [statistic("triangles"), statistic("degree-histogram")]
    assert_same(LocalEngine(1).count(sequence, members), engine.count(graph, members))
    if not directed:
        bound = HubBound(DegreeBound(3), (1,))
        part = LocalEngine(1).counted_part(sequence, bound)
        assert_same(
            LocalEngine(1).count(part, members),
            engine.count(engine.counted_part(graph, bound), members),
        )
    graph.workspace.remove()


def people(*rows: tuple[object, object]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["node", "time"], orient="row", strict=False)


def links(*rows: tuple[object, ...]) -> pl.DataFrame:
    names = ["source", "target", "time"][: len(rows[0])]
    return pl.DataFrame(rows, schema=names, orient="row", strict=False)


ANN = people(("ann", "2001"), ("bob", "2002"))
AB = links(("ann", "bob"))
BAD: dict[str, tuple[pl.DataFrame, pl.DataFrame]] = {
    "an id is missing": (people(("ann", "2001"), ("bob", "2002"), (" ", "2001")), AB),
    "a time cannot be read": (people(("ann", "2001"), ("bob", "soon")), AB),
    "a time is missing": (people(("ann", "2001"), ("bob", None)), AB),
    "two times": (people(("bob", "2003"), ("ann", "2001"), ("bob", "2002")), AB),
    "an unknown source": (ANN, links(("ann", "bob"), ("eve", "bob"))),
    "an end is missing": (ANN, links(("ann", "bob"), ("bob", None))),
    "a reverse": (ANN, links(("ann", "bob"), ("bob", "ann"))),
}


def refusal(take: Callable[[], object]) -> str:
    with pytest.raises(InputError) as refused:
        take()
    return str(refused.value)


def test_refusals_name_the_same_row_in_the_same_words(tmp_path: Path) -> None:
    session = local_session()
    for name, (nodes, edges) in BAD.items():
        records = tables(tmp_path, "bad", nodes, edges)
        empty = GraphSequence.begin(CALENDAR, directed=True, oriented=True)
        graph = begin(session, CALENDAR, directed=True, oriented=True)
        here = refusal(lambda: empty.extend(records))  # noqa: B023
        there = refusal(lambda: taken(graph, tmp_path, "bad"))  # noqa: B023
        assert there == here, name
        graph.workspace.remove()


def test_what_is_closed_is_refused_alike(tmp_path: Path) -> None:
    session = local_session()
    sequence, _ = GraphSequence.begin(CALENDAR).extend(tables(tmp_path, "one", ANN, AB))
    graph, _ = taken(begin(session, CALENDAR), tmp_path, "one")
    later = people(("cyd", "2003"))
    for nodes, edges in (
        (people(("cyd", "2003"), ("dan", "2001")), links(("cyd", "ann"))),
        (people(("cyd", "2003"), ("ann", "2003")), links(("cyd", "ann"))),
        (people(("cyd", "2003"), ("ann", "2003"), ("bob", None)), links(("cyd", "ann"))),
        (later, links(("cyd", "ann", "2003"), ("bob", "ann", "2002"), ("ann", "ann", "2001"))),
    ):
        records = tables(tmp_path, "two", nodes, edges)
        outcomes = []
        for take in (lambda: sequence.extend(records), lambda: taken(graph, tmp_path, "two")):  # noqa: B023
            try:
                outcomes.append(str(take()[1]))
            except InputError as refused:
                outcomes.append(str(refused))
        assert outcomes[0] == outcomes[1]
    graph.workspace.remove()


def _fails(task: int) -> int:
    raise ValueError("ann is linked to bob")


def test_a_worker_looks_for_garbage_among_what_is_new() -> None:
    cluster = SparkCluster(local_session())
    cluster.run(abs, [1] * 8)
    found = cluster.run(operator.call, [gc.get_freeze_count] * 8)
    assert min(found) > 10_000


def test_a_task_that_fails_for_good_is_our_error_and_names_nobody() -> None:
    with pytest.raises(EngineError, match="Spark gave up: a") as failed:
        SparkCluster(local_session()).run(_fails, [1, 2])
    assert "ann" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert len(str(failed.value)) < 300


def test_the_command_prints_what_the_local_engine_prints(tmp_path: Path) -> None:
    local_session()
    new = list(range(40))
    nodes, edges = batch(5, new, [], range(2000, 2005), text=False)
    tables(tmp_path, "x", nodes, edges.drop("time"))
    files = [str(tmp_path / f"x-{kind}.parquet") for kind in ("nodes", "edges")]
    ask = ["count", "triangles", *files, "--every", "2", "--json"]
    here = CliRunner().invoke(program("count"), ask)
    conf = [part for key, value in SETTINGS.items() for part in ("--conf", f"{key}={value}")]
    on_spark = ["--engine", "spark", "--master", "local[2]", *conf]
    there = CliRunner().invoke(program("count"), [*ask, *on_spark])
    assert here.exit_code == there.exit_code == 0, there.output
    ours, theirs = json.loads(here.stdout), json.loads(there.stdout)
    assert ours.pop("files") != theirs.pop("files") == []
    assert ours == theirs
    refused = CliRunner().invoke(program("count"), [*ask, "--master", "local[2]"])
    assert refused.exit_code != 0
