"""The same network, written in any format, gives the same sequence as the plain pair."""

from __future__ import annotations

import datetime as dt
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_examples import EXAMPLES, Example
from graphveil.calendar.calendar import Calendar
from graphveil.graph.intake.records import Records
from graphveil.graph.sequence import GraphSequence
from graphveil.records import ReadingOptions, from_rows, read_records

DAYS = Calendar.every(1, "2019-01-01")
Nodes = list[tuple[str, str | None]]
Links = list[tuple[str, str]]
Files = dict[str, str]


def sequence(records: Records) -> dict[str, list[Any]]:
    made = GraphSequence.begin(DAYS).extend(records, undated="first").sequence
    late = made.late
    arrays = (made.node_offsets, made.entries, late.newer, late.entries, late.offsets)
    return {"ids": [str(name) for name in made.ids], "arrays": [each.tolist() for each in arrays]}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_an_example_gives_what_its_tables_give(example: Example) -> None:
    tables = from_rows(example.nodes, example.edges)
    found = read_records(example.paths, options=example.options).records
    assert sequence(found) == sequence(tables)


def as_pair(nodes: Nodes, links: Links) -> Files:
    return {
        "nodes": "\n".join(["node,dx", *(f"{name},{date or ''}" for name, date in nodes)]),
        "edges": "\n".join(["source,target", *(f"{a},{b}" for a, b in links)]),
    }


def as_hivtrace(nodes: Nodes, links: Links) -> Files:
    positions = {name: number for number, (name, _) in enumerate(nodes)}
    people = [{"id": name, "patient_attributes": {"dx": date}} for name, date in nodes]
    edges = [{"source": positions[a], "target": positions[b]} for a, b in links]
    return {"network": json.dumps({"trace_results": {"Nodes": people, "Edges": edges}})}


def as_compact_hivtrace(nodes: Nodes, links: Links) -> Files:
    positions = {name: number for number, (name, _) in enumerate(nodes)}
    dates = dict(enumerate(dict.fromkeys(date for _, date in nodes)))
    numbers = {date: number for number, date in dates.items()}
    coded = {"keys": dates, "values": [numbers[date] for _, date in nodes]}
    people = {"id": [name for name, _ in nodes], "dx": coded}
    ends = {"source": [positions[a] for a, _ in links], "target": [positions[b] for _, b in links]}
    return {"network": json.dumps({"Nodes": people, "Edges": ends})}


def as_microbetrace(nodes: Nodes, links: Links) -> Files:
    return {
        "nodes": "\n".join(["ID;dx", *(f"{name};{date or 'NA'}" for name, date in nodes)]),
        "links": "\n".join(["ID1\tID2\ttn93", *(f"{a}\t{b}\t0.01" for a, b in links)]),
    }


def as_linelist(nodes: Nodes, links: Links) -> Files:
    rows = [
        f'{name},{date or "unknown"},"{", ".join(a for a, b in links if b == name)}"'
        for name, date in nodes
    ]
    return {"cases": "\n".join(["case_id,dx,infected_by", *rows])}


def as_snap(nodes: Nodes, links: Links) -> Files:
    return {
        "edges": "\n".join(["# Undirected graph", *(f"{a}\t{b}" for a, b in links)]),
        "dates": "\n".join(["# id date", *(f"{name} {date or 'NA'}" for name, date in nodes)]),
    }


def as_graphml(nodes: Nodes, links: Links) -> Files:
    people = [
        f'<node id="{name}">' + (f'<data key="d">{date}</data>' if date else "") + "</node>"
        for name, date in nodes
    ]
    edges = [f'<edge source="{a}" target="{b}"/>' for a, b in links]
    key = '<key id="d" for="node" attr.name="dx"/>'
    lines = ["<graphml>", key, "<graph>", *people, *edges, "</graph></graphml>"]
    return {"graph": "\n".join(lines)}


Writer = Callable[[Nodes, Links], Files]
# SNAP dates have no names, so that none can be named; a temporal list has no dates of nodes.
WRITERS: list[tuple[Writer, str, str | None]] = [
    (as_pair, "pair", "dx"),
    (as_hivtrace, "hivtrace", "dx"),
    (as_compact_hivtrace, "hivtrace", "dx"),
    (as_microbetrace, "microbetrace", "dx"),
    (as_linelist, "linelist", "dx"),
    (as_snap, "snap", None),
    (as_graphml, "graphml", "dx"),
]
NAMES = [f"p{number}" for number in range(6)]
DATES = st.none() | st.dates(dt.date(2019, 1, 1), dt.date(2021, 12, 31)).map(str)
PAIRS = [(a, b) for a in NAMES for b in NAMES if a != b]
NETWORKS = st.tuples(
    st.lists(DATES, min_size=len(NAMES), max_size=len(NAMES)),
    st.lists(st.sampled_from(PAIRS), min_size=1, max_size=8),
)


@pytest.mark.parametrize(
    ("writer", "name", "time"), WRITERS, ids=[writer.__name__ for writer, *_ in WRITERS]
)
def test_any_network_reads_the_same_in_every_format(
    writer: Writer, name: str, time: str | None
) -> None:
    @settings(max_examples=25)
    @given(NETWORKS)
    def check(network: tuple[list[str | None], Links]) -> None:
        dates, links = network
        nodes = list(zip(NAMES, dates, strict=True))
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for file, text in writer(nodes, links).items():
                paths.append(Path(folder) / file)
                paths[-1].write_text(text)
            found = read_records(
                paths,
                format=name,
                options=ReadingOptions(
                    time=time, max_distance="1" if name == "microbetrace" else None
                ),
            )
        assert sequence(found.records) == sequence(from_rows(nodes, links))

    check()
