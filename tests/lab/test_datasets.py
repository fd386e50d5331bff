"""Datasets by name and path: models, native pairs, calendars, and the paper's table."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest

from graphveil.errors import InputError, ParameterError
from graphveil.graph.sequence import GraphSequence
from graphveil.lab.dataset_files import PAPER, Summary, calendar_for, summarise, write_pair
from graphveil.lab.dataset_sources import STAND_INS
from graphveil.lab.datasets import Dataset, dataset, entries, model, names
from graphveil.lab.synthetic import SyntheticOne

NODES = "node,time\na,2001\nb,2003\nc,\nd,2007\n"
EDGES = "source,target\na,b\nb,a\nc,d\nb,d\n"


def pair(folder: Path, nodes: str = NODES, edges: str = EDGES) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(edges)
    return folder


def edges_of(given: Dataset) -> set[tuple[object, object]]:
    return set(given.records.edges.frame.select("source", "target").iter_rows())


def test_the_names_are_those_of_the_paper() -> None:
    assert names() == ["synthetic-1", "synthetic-2", "patents", "acl-signed", "hiv-trace"]
    assert set(names()) == set(PAPER)
    assert [entry.name for entry in entries()] == names()


@pytest.mark.parametrize("name", ["synthetic-1", "synthetic-2"])
def test_models_give_twenty_releases_with_the_initial_nodes_in_the_first(name: str) -> None:
    found = dataset(name, seed=1)
    for directed in (False, True):
        sequence = found.sequence(directed)
        assert isinstance(sequence, GraphSequence)
        assert sequence.directed is directed
        assert sequence.steps == PAPER[name].steps == 20
        assert sequence.labels[0] == "1"
        assert sequence.node_offsets[1] > 500
    assert found.directed_by_nature
    assert found.stand_in is None


def test_a_seed_chooses_the_draw_and_none_is_zero() -> None:
    assert edges_of(dataset("synthetic-1", seed=0)) == edges_of(dataset("synthetic-1"))
    assert edges_of(dataset("synthetic-1", seed=1)) != edges_of(dataset("synthetic-1"))


def test_models_take_parameters_behind_a_colon() -> None:
    found = dataset("synthetic-1:years=3, yearly=10,m0=5,isolated=0", seed=2)
    assert found.sequence(True).nodes == 35
    assert len(edges_of(found)) == 30
    assert model("synthetic-1:preference=out-degree,decay=2")[1] == SyntheticOne(
        decay=2.0, preference="out-degree"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("synthetic-3", "dataset: there is none called 'synthetic-3'. Did you mean 'synthetic-2'?"),
        ("patent", "Did you mean 'patents'?"),
        ("hivtrace", "Did you mean 'hiv-trace'?"),
        ("zzz", "Known: synthetic-1, "),
        ("synthetic-1:yeers=3", "Did you mean 'years'?"),
        ("synthetic-1:years=many", "years: cannot be 'many'"),
        ("synthetic-1:years", "years: cannot be ''"),
        ("synthetic-2:recovery=2", "recovery: must be a probability"),
    ],
)
def test_unknown_names_offer_the_nearest(name: str, message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        dataset(name)


@pytest.mark.parametrize("name", ["synthetc-1", "patents"])
def test_only_models_can_be_drawn(name: str) -> None:
    with pytest.raises(ParameterError, match="synthetic-1"):
        model(name)


def test_a_folder_is_a_native_pair_and_gives_its_name(tmp_path: Path) -> None:
    found = dataset(str(pair(tmp_path / "our-town")))
    assert found.name == "our-town"
    assert found.sequence(True).labels == [str(year) for year in range(2001, 2008)]
    assert found.sequence(True).node_offsets[1] == 2, "the undated node is in the first step"
    assert str(tmp_path) not in f"{found.source} {found.title} {found.stand_in}"


def test_two_files_are_a_native_pair(tmp_path: Path) -> None:
    folder = pair(tmp_path / "town")
    found = dataset(f"{folder / 'nodes.csv'},{folder / 'edges.csv'}")
    assert found.name == "town"
    assert found.sequence(False).nodes == 4


def test_pairs_may_be_packed_or_parquet(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv.gz").write_bytes(gzip.compress(NODES.encode()))
    pl.DataFrame({"source": ["a"], "target": ["d"]}).write_parquet(tmp_path / "edges.parquet")
    assert summarise(dataset(str(tmp_path)).sequence(True)).edges == 1


def test_a_missing_file_is_named_with_its_columns(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(NODES)
    expected = "edges.csv or edges.csv.gz or edges.parquet is missing. Supply it with the columns"
    with pytest.raises(InputError, match=expected):
        dataset(str(tmp_path))


@pytest.mark.parametrize("path", ["no/such/folder", "nodes.csv"])
def test_a_missing_folder_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        dataset(path)


def test_summaries_agree_with_networkx(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    nodes, ends = np.arange(60), rng.integers(0, 60, (200, 2))
    frame = pl.DataFrame({"node": nodes, "time": 2000 + nodes // 6})
    folder = tmp_path / "random"
    folder.mkdir()
    frame.write_csv(folder / "nodes.csv")
    pl.DataFrame(ends, schema=["source", "target"]).write_csv(folder / "edges.csv")
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(nodes.tolist())
    graph.add_edges_from((a, b) for a, b in ends.tolist() if a != b)
    assert summarise(dataset(str(folder)).sequence(True)) == Summary(
        nodes=60,
        edges=graph.number_of_edges(),
        steps=10,
        max_degree=max(degree for _, degree in graph.to_undirected().degree()),
        max_in_degree=max(degree for _, degree in graph.in_degree()),
        max_out_degree=max(degree for _, degree in graph.out_degree()),
    )


def test_a_graph_without_edges_or_nodes_has_a_summary(tmp_path: Path) -> None:
    lonely = pair(tmp_path / "lonely", edges="source,target\n")
    assert summarise(dataset(str(lonely)).sequence(True)).max_degree == 0
    empty = pair(tmp_path / "empty", nodes="node,time\n", edges="source,target\n")
    assert summarise(dataset(str(empty)).sequence(True)) == Summary(0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("times", "first", "steps"),
    [
        ([1996, 2016, None], "1996", 21),
        (["1992-01", "2003-04"], "1992", 12),
        (["2020-01-20", "2020-06-30", None], "2020-01", 6),
        (["2022-01-15", "2022-04-15"], "2022-01-15", 13),
        (["2022-01", "2022-03"], "2022", 1),
        ([3, 9], "3", 7),
        ([0, 1500], "0", 1501),
        ([2001, 2002], "2001", 2),
    ],
)
def test_calendars_fit_the_times(times: list[object], first: str, steps: int) -> None:
    column = pl.Series(times)
    calendar = calendar_for(column)
    assert calendar.label(0) == first
    assert calendar.steps_of(column).steps.max() + 1 == steps


def test_known_public_graphs_say_what_they_stand_in_for(tmp_path: Path) -> None:
    assert {each.stands_for for each in STAND_INS.values()} <= {*PAPER, None}
    assert dataset(str(pair(tmp_path / "collegemsg"))).stand_in is None
    found = dataset(str(pair(tmp_path / "hiv-pirc-sandiego")))
    assert found.stand_in is not None
    assert found.stand_in.startswith("It stands in for the paper's HIV transmission graph: ")
    assert not found.directed_by_nature


def test_a_written_pair_reads_back_as_the_same_graph(tmp_path: Path) -> None:
    drawn = dataset("synthetic-2:contacts=400,initial=30,infection=0.5", seed=9)
    write_pair(drawn.records, tmp_path / "a" / "b")
    again = dataset(str(tmp_path / "a" / "b"))
    assert edges_of(again) == {(str(a), str(b)) for a, b in edges_of(drawn)}
    assert (
        again.records.nodes.frame["time"].to_list() == drawn.records.nodes.frame["time"].to_list()
    )
    assert again.sequence(True).labels == ["0", *drawn.sequence(True).labels]


def test_nothing_is_overwritten_and_nothing_is_left_behind(tmp_path: Path) -> None:
    records = dataset("synthetic-1:years=1,m0=1").records
    folder = pair(tmp_path / "mine")
    with pytest.raises(InputError, match="not overwritten"):
        write_pair(records, folder)
    assert (folder / "nodes.csv").read_text() == NODES
    with pytest.raises(InputError, match="cannot be written"):
        write_pair(records, folder / "nodes.csv" / "below-a-file")
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]
    (tmp_path / "empty").mkdir()
    write_pair(records, tmp_path / "empty")
    assert sorted(each.name for each in (tmp_path / "empty").iterdir()) == [
        "edges.csv",
        "nodes.csv",
    ]
