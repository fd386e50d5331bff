"""Every way in gives the same sequence, and every bad file a clear refusal."""

from __future__ import annotations

import datetime as dt
import gzip
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError
from graphveil.graph.intake.records import Records
from graphveil.graph.sequence import GraphSequence
from graphveil.records import (
    delimited,
    from_arrays,
    from_frames,
    from_networkx,
    from_rows,
    read_pair,
)

YEARS = Calendar.yearly(2001)
NODES: dict[str, list[Any]] = {"node": [3, 1, 2, 40], "time": [2001, 2001, 2002, 2003]}
EDGES: dict[str, list[Any]] = {
    "source": [1, 40, 3],
    "target": [2, 1, 1],
    "time": [2002, 2004, None],
}


def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    return pl.DataFrame(NODES), pl.DataFrame(EDGES)


def csv_pair(folder: Path) -> Records:
    nodes, edges = frames()
    nodes.write_csv(folder / "nodes.csv")
    edges.write_csv(folder / "edges.csv")
    return read_pair(folder / "nodes.csv", folder / "edges.csv")


def gzipped_pair(folder: Path) -> Records:
    csv_pair(folder)
    for name in ("nodes.csv", "edges.csv"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    return read_pair(folder / "nodes.csv.gz", folder / "edges.csv.gz")


def parquet_pair(folder: Path) -> Records:
    nodes, edges = frames()
    nodes.write_parquet(folder / "nodes.parquet")
    edges.write_parquet(folder / "edges.parquet")
    return read_pair(folder / "nodes.parquet", folder / "edges.parquet")


def date_parquet_pair(folder: Path) -> Records:
    nodes, edges = frames()
    dated = pl.date(pl.col("time"), 5, 17).alias("time")
    nodes.with_columns(dated).write_parquet(folder / "nodes.parquet")
    edges.with_columns(dated).write_parquet(folder / "edges.parquet")
    return read_pair(folder / "nodes.parquet", folder / "edges.parquet")


def rows(_: Path) -> Records:
    return from_rows(
        list(zip(*NODES.values(), strict=True)), list(zip(*EDGES.values(), strict=True))
    )


def mappings(_: Path) -> Records:
    nodes = [dict(zip(NODES, row, strict=True)) for row in zip(*NODES.values(), strict=True)]
    edges = [dict(zip(EDGES, row, strict=True)) for row in zip(*EDGES.values(), strict=True)]
    return from_rows(nodes, edges)


def arrays(_: Path) -> Records:
    own = np.array([2002, 2004, 0])
    node, time, source, target = NODES["node"], NODES["time"], EDGES["source"], EDGES["target"]
    return from_arrays(np.array(node), np.array(time), np.array(source), np.array(target), own)


def object_arrays(_: Path) -> Records:
    made = [np.array(values, dtype=object) for values in (*NODES.values(), *EDGES.values())]
    return from_arrays(*made)


def date_arrays(_: Path) -> Records:
    times = np.array([f"{year}-05-17" for year in NODES["time"]], dtype="datetime64[D]")
    own = np.array(["2002-01-01", "2004-12-31", "NaT"], dtype="datetime64[D]")
    return from_arrays(NODES["node"], times, EDGES["source"], EDGES["target"], own)


def polars_frames(_: Path) -> Records:
    return from_frames(*frames())


def pandas_frames(_: Path) -> Records:
    return from_frames(pd.DataFrame(NODES), pd.DataFrame(EDGES))


def pandas_object_frames(_: Path) -> Records:
    nodes = pd.DataFrame(NODES).astype(object)
    edges = pd.DataFrame(EDGES).astype(object)
    return from_frames(nodes, edges)


def pandas_timestamps(_: Path) -> Records:
    nodes, edges = pd.DataFrame(NODES), pd.DataFrame(EDGES)
    nodes["time"] = pd.to_datetime(nodes["time"].astype(str) + "-03-04 05:06:07")
    edges["time"] = pd.to_datetime(edges["time"].map({2002: "2002-01-01", 2004: "2004-06-01"}))
    return from_frames(nodes, edges)


def networkx_graph(_: Path) -> Records:
    graph: nx.DiGraph[Any] = nx.DiGraph()
    for node, time in zip(*NODES.values(), strict=True):
        graph.add_node(node, time=time)
    for source, target, time in zip(*EDGES.values(), strict=True):
        graph.add_edge(source, target, **({} if time is None else {"time": time}))
    return from_networkx(graph)


def multigraph(_: Path) -> Records:
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    for node, time in zip(*NODES.values(), strict=True):
        graph.add_node(node, when=dt.date(time, 7, 1))
    for source, target, time in zip(*EDGES.values(), strict=True):
        graph.add_edge(source, target, when=None if time is None else dt.datetime(time, 7, 1))
        graph.add_edge(source, target, when=dt.date(2030, 1, 1))
    return from_networkx(graph, time="when")


Way = Callable[[Path], Records]
WAYS: list[Way] = [
    csv_pair, gzipped_pair, parquet_pair, date_parquet_pair, rows, mappings, arrays,
    object_arrays, date_arrays, polars_frames, pandas_frames, pandas_object_frames,
    pandas_timestamps, networkx_graph, multigraph,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_in_gives_the_same_sequence(way: Way, tmp_path: Path) -> None:
    sequence = GraphSequence.begin(YEARS, directed=True).extend(way(tmp_path)).sequence
    assert sequence.labels[:4] == ["2001", "2002", "2003", "2004"]
    assert [str(x) for x in sequence.ids] == ["1", "3", "2", "40"]
    assert sequence.node_offsets.tolist()[:4] == [0, 2, 3, 4]
    assert sequence.entries.tolist() == [0 << 2 | 2, 0 << 2 | 1]
    assert sequence.late.newer.tolist() == [3]
    assert sequence.late.entries.tolist() == [0 << 2 | 2]
    assert sequence.late.offsets.tolist()[:5] == [0, 0, 0, 0, 1]


def test_ids_of_any_type_are_compared_by_their_text() -> None:
    one, two = uuid.UUID(int=1), ("site", 2)
    nodes = [(one, 2001), (two, 2001), (3, 2001), (4.0, 2001)]
    records = from_rows(nodes, [(one, two), (str(one), 3), (4, 3)])
    assert GraphSequence.begin(YEARS).extend(records).report.edges_added == 3


def write(folder: Path, nodes: str | bytes, edges: str | bytes) -> tuple[Path, Path]:
    paths = folder / "nodes.csv", folder / "edges.csv"
    for path, text in zip(paths, (nodes, edges), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


GOOD_NODES, GOOD_EDGES = "node,time\na,2001\nb,2002\n", "source,target\na,b\n"


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ("", GOOD_EDGES, "nodes.csv: the file is empty"),
        ("\n\n", GOOD_EDGES, "nodes.csv: the file is empty"),
        ("nod,time\na,2001\n", GOOD_EDGES, "column 'node': there is no such column.*'nod'"),
        (GOOD_NODES, "from,to\na,b\n", "edges.csv, column 'source'.*Expected columns: source,"),
        (GOOD_NODES, "source,target\na,b,c\n", "edges.csv, row 2: the row has more columns"),
        (GOOD_NODES, "source,target\na,b\na,zz\n", "edges.csv, row 3, column 'target'"),
        (GOOD_NODES, "source,target\na,b\na\n", "edges.csv, row 3, column 'target'.*missing"),
        (GOOD_NODES, "source,target\na,b\n\na,\n", "edges.csv, row 4, column 'target'.*missing"),
        ("node,time,x\na,2001,\n,,1\nb,2002,\n", GOOD_EDGES, "nodes.csv, row 3, .*'node'.*missing"),
        ("node,time,x\na,2001,\nb,2002,\n,,1\n", GOOD_EDGES, "nodes.csv, row 4, .*'node'.*missing"),
        ('node,time\na,2001\n"b,2002\n"c,2002\n', GOOD_EDGES, "nodes.csv, row 3: a quote is not"),
        ('node,time,x\na,2001,"y\nb,2002,y"\n', GOOD_EDGES, "nodes.csv, row 2: a quote is not"),
        ('node,time\na,2001\n"b"c,2002\n', GOOD_EDGES, "nodes.csv, row 3: a quote stands within"),
        ('node,time,x\na"7,2001,y"\nb,2002,\n', GOOD_EDGES, "nodes.csv, row 2: a quote stands"),
        ('node,time,x\na,2001,\nb,2002, "y,z"\n', GOOD_EDGES, "nodes.csv, row 3: a quote stands"),
        (b"node,time,x\na,2001,y,z\nb,2002,\xff\n", GOOD_EDGES, "nodes.csv, row 3: .*UTF-8"),
        ("node,time,time\na,2001,2\n", GOOD_EDGES, "nodes.csv, row 1, column 'time': two columns"),
        ("node,time, Time\na,2001,2\n", GOOD_EDGES, "row 1, column 'time': two columns have"),
        ("node,time,x,x\na,2001,2,3\n", GOOD_EDGES, "row 1, column 'x': two columns have"),
        ("node,time\na,2001\nb,\n", GOOD_EDGES, "nodes.csv, row 3, column 'time'.*missing"),
        ("node,time\na,2001\nb,spring\n", GOOD_EDGES, "nodes.csv, row 3, column 'time'"),
        ("node,time\na,2001\nb,2002-02-30\n", GOOD_EDGES, "nodes.csv, row 3, column 'time'"),
        (f"node,time\na,2001\nb,{10**20}\n", GOOD_EDGES, "nodes.csv, row 3, column 'time'"),
        ("node,time\na,2001\nb,2002\na,2003\n", GOOD_EDGES, "nodes.csv, row 4, column 'time'"),
        (b"node,time\n\xff\xfe,2001\n", GOOD_EDGES, "nodes.csv.*UTF-8"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_with_their_place(
    tmp_path: Path, nodes: str | bytes, edges: str | bytes, message: str
) -> None:
    paths = write(tmp_path, nodes, edges)
    with pytest.raises(InputError, match=message):
        GraphSequence.begin(YEARS).extend(read_pair(*paths))


def test_missing_and_unknown_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_pair(tmp_path / "nodes.csv", tmp_path / "edges.csv")
    (tmp_path / "nodes.xlsx").write_text("x")
    with pytest.raises(InputError, match=r"Known endings: \.csv, \.csv\.gz, \.parquet"):
        read_pair(tmp_path / "nodes.xlsx", tmp_path / "edges.csv")
    for name, message in [("nodes.parquet", "Parquet"), ("nodes.csv.gz", "gzip")]:
        (tmp_path / name).write_text("not what it says")
        with pytest.raises(InputError, match=message):
            read_pair(tmp_path / name, tmp_path / "edges.csv")


@pytest.mark.parametrize(
    "text",
    [
        "node,time\n1,2001\n2,2002\n",
        "node,time\n1,2001\n2,2002",
        "node,time\r\n1,2001\r\n2,2002\r\n",
        "\ufeffnode,time\n1,2001\n2,2002\n",
        "Time , NODE\n2001,1\n2002,2\n",
        'node,time,note\n1,2001,"a, b"\n2,2002,\n',
        "node,time\n1,2001\n2,2002\n\n\n",
        "node,time\n1,2001\n\n,\n2,2002\n",
        "node,time,,,X,x\n1,2001,,,,\n2,2002,,,,\n,,,,,\n",
        '"node","time"\n"1","2001"\n" 2 ","2002"\n',
    ],
)
@pytest.mark.parametrize("fast", [True, False])
def test_harmless_variations_read_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, fast: bool
) -> None:
    monkeypatch.setattr(delimited, "_WORTH_THE_TRY", 0 if fast else 1 << 40)
    paths = write(tmp_path, text, "source,target\n1,2\n")
    sequence = GraphSequence.begin(YEARS).extend(read_pair(*paths)).sequence
    assert [str(x) for x in sequence.ids] == ["1", "2"]
    assert sequence.node_offsets.tolist() == [0, 1, 2]


@pytest.mark.parametrize("odd", ["01", "+1", " 1", '"1"', "1.0", "1e0", "-0"])
def test_fast_reading_never_mistakes_an_odd_id_for_a_plain_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    """The fast way must give up on any file that is not plain numbers throughout."""
    nodes = f"node,time\n7,2001\n{odd},2001\n"
    frames = []
    for limit in (0, 1 << 40):
        monkeypatch.setattr(delimited, "_WORTH_THE_TRY", limit)
        paths = write(tmp_path, nodes, "source,target\n")
        sequence = GraphSequence.begin(YEARS).extend(read_pair(*paths)).sequence
        frames.append([str(x) for x in sequence.ids])
    assert frames[0] == frames[1]
    assert odd.strip(' "') in frames[0]


def test_fast_reading_is_taken_for_plain_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_WORTH_THE_TRY", 0)
    monkeypatch.setattr(delimited, "_as_text", None)
    numbers = [0, 9, 10, 99, -1, -10, 10**17, 5, 123456789]
    text = "node,time\n" + "".join(f"{n},2001\n" for n in numbers)
    paths = write(tmp_path, text, "source,target\n9,10\n")
    assert read_pair(*paths).nodes.frame["node"].to_list() == numbers


def test_frames_and_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"the nodes frame.*'node'"):
        from_frames(pl.DataFrame({"x": [1]}), pl.DataFrame(EDGES))
    with pytest.raises(InputError, match="equally long"):
        from_arrays([1, 2], [2001], [1], [2])
    with pytest.raises(InputError, match=r"row 1, column 'node'.*not whole"):
        GraphSequence.begin(YEARS).extend(from_arrays(np.array([1.0, 1.5]), [2001, 2001], [], []))


SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real graphs lie outside the repository")
@pytest.mark.parametrize("nodes", sorted(SHARED.glob("*/nodes.csv")), ids=lambda p: p.parent.name)
def test_real_graphs_read(nodes: Path) -> None:
    edges = next(nodes.parent.glob("edges.csv*"))
    records = read_pair(nodes, edges)
    calendar = Calendar.spanning(records.nodes.frame["time"], "year")
    sequence, report = GraphSequence.begin(calendar).extend(records, undated="first")
    assert report.nodes_added == sequence.nodes > 0
    assert report.edges_added > 0
