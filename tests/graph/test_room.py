"""What cannot fit is refused before memory is taken, with another way; what can, never."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphveil import Calendar, GraphSequence, from_rows, read_records
from graphveil.errors import InputError
from graphveil.graph import columns
from graphveil.graph.intake import appending
from graphveil.graph.intake.records import Records
from graphveil.graph.sequence import BOTH, MOST_NODES

PEOPLE = [(name, 2021) for name in "abcdef"]
LINKS = [("a", "b"), ("b", "c")]


def records() -> Records:
    return from_rows(PEOPLE, LINKS)


def built() -> GraphSequence:
    return GraphSequence.begin(Calendar.yearly(2021)).extend(records()).sequence


def test_a_graph_that_does_not_fit_is_refused_before_it_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needed = columns.BYTES_A_NODE * len(PEOPLE) + columns.BYTES_AN_EDGE * len(LINKS)
    monkeypatch.setattr(columns, "free_bytes", lambda: needed)
    assert built().nodes == len(PEOPLE)
    monkeypatch.setattr(columns, "free_bytes", lambda: needed - 1)
    monkeypatch.setattr(appending, "arrivals", lambda *_, **__: pytest.fail("it has begun"))
    with pytest.raises(InputError, match="GB are free") as refused:
        built()
    assert "the Spark engine" in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_refused_batch_leaves_the_sequence_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = built()
    monkeypatch.setattr(columns, "free_bytes", lambda: 0)
    with pytest.raises(InputError, match="memory"):
        begun.extend(from_rows([("g", 2022)], [("g", "a")]))
    assert (begun.nodes, len(begun.entries), begun.steps) == (6, 2, 1)


def test_a_table_that_does_not_fit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    nodes.write_text("node,time\n" + "".join(f"{name},{time}\n" for name, time in PEOPLE))
    edges.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in LINKS))
    assert len(read_records([nodes, edges]).records.nodes.frame) == len(PEOPLE)
    monkeypatch.setattr(columns, "free_bytes", lambda: nodes.stat().st_size - 1)
    with pytest.raises(InputError, match="reading takes at least"):
        read_records([nodes, edges])


def test_where_the_system_does_not_tell_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(columns, "_SYSTEM", tmp_path / "none")
    monkeypatch.setattr(columns, "_GROUP", tmp_path / "none")
    assert columns.free_bytes() is None
    assert built().nodes == len(PEOPLE)


def test_a_container_may_have_less_than_its_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    system = tmp_path / "meminfo"
    system.write_text("MemTotal: 9000 kB\nMemAvailable: 8000 kB\n")
    monkeypatch.setattr(columns, "_SYSTEM", system)
    monkeypatch.setattr(columns, "_GROUP", tmp_path)
    assert columns.free_bytes() == 8000 * 1024
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("4000\n")
    assert columns.free_bytes() == 1000
    (tmp_path / "memory.stat").write_text("anon 1\nfile 300\n")
    assert columns.free_bytes() == 1300
    (tmp_path / "memory.max").write_text("max\n")
    assert columns.free_bytes() == 8000 * 1024


def test_labels_fit_beside_the_direction_bits_up_to_the_last_node() -> None:
    """Without the memory of so many: the largest entry is the largest number of 32 bits."""
    largest = np.int32(MOST_NODES - 1) << np.int32(2) | np.int32(BOTH)
    assert largest == np.iinfo(np.int32).max
    assert largest >> 2 == MOST_NODES - 1


def test_more_nodes_than_labels_are_refused_before_they_are_labelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(appending, "MOST_NODES", len(PEOPLE))
    assert built().nodes == len(PEOPLE)
    monkeypatch.setattr(appending, "MOST_NODES", len(PEOPLE) - 1)
    monkeypatch.setattr(appending, "links", lambda *_, **__: pytest.fail("it has begun"))
    with pytest.raises(InputError, match="at most 5 nodes") as refused:
        built()
    assert "several studies" in str(refused.value)
