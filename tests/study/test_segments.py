"""Private tables: what is written is read back to the entry, and no changed byte goes unseen."""

from __future__ import annotations

import shutil
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.errors import InputError, IntegrityError
from graphveil.graph.sequence import GraphSequence, LateEdges
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.records import from_rows
from graphveil.study import Promise, StoredStudy
from graphveil.study.ledger import BatchEntry, SealedTables
from graphveil.study.records import batches, segments
from graphveil.study.records.segments import read_table, write_table
from graphveil.study.verification import verify
from plain_rules import EDGES, numbered

STEPS = 3  # that are sealed, of five
KINDS = {
    "undirected": numbered(5),
    "directed": numbered(5, directed=True, bound={"inward": 9, "outward": 9, "justification": "x"}),
    "oriented": numbered(
        5,
        directed=True,
        bound={"inward": 9, "outward": 9, "oriented": True, "justification": "x"},
    ),
}
NUMBERS = st.integers(-3, 10**12)
ANYBODY = st.lists(NUMBERS | NUMBERS.map(str) | st.text("añ7", min_size=1), unique_by=str)


@st.composite
def graphs(draw: st.DrawFn, study: Promise) -> GraphSequence:
    """A random sequence as intake makes it, with late edges and empty steps."""
    oriented = study.degree_bound.kind == "oriented"
    sequence = GraphSequence.begin(study.calendar, directed=study.directed, oriented=oriented)
    people = draw(st.lists(NUMBERS, unique=True, max_size=7) | ANYBODY)
    times = st.integers(0, STEPS - 1)
    nodes = [(person, draw(times)) for person in people]
    pairs = st.tuples(st.sampled_from(people or [0]), st.sampled_from(people or [0]), times)
    unique = st.lists(pairs, max_size=9, unique_by=lambda pair: frozenset(map(str, pair[:2])))
    edges = draw(unique) if people else []
    if study.directed and not oriented:
        edges += [(target, source, time) for source, target, time in edges[:3]]
    grown = sequence.extend(from_rows(nodes, edges), upto=STEPS - 1).sequence
    stated = draw(st.lists(times, min_size=grown.nodes, max_size=grown.nodes))
    return replace(grown, stated=np.array(stated, np.int32), growth=None)


CUTS = ((0, 1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 3))  # between which steps are sealed together


def written(
    folder: Path, graph: GraphSequence, cuts: tuple[int, ...] = CUTS[0], old: int = 0
) -> list[SealedTables]:
    """The graph as segments, as sealing writes them, and wrote them up to the step `old`."""
    found = []
    for first, stop in pairwise(cuts):
        part = segments.segment(graph, range(first, stop))
        frames = [part.nodes, part.edges]
        if stop == first + 1 <= old:  # segments of one step did not say which
            frames = [frame.drop("step") for frame in frames]
        nodes = write_table(folder, f"{first:04}-nodes", frames[0])
        edges = write_table(folder, f"{first:04}-edges", frames[1])
        found += [SealedTables(nodes, edges)] * (stop - first)
    return found


def require_same(found: object, expected: object) -> None:
    """Entry by entry, and of the same kind."""
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
    elif isinstance(expected, pl.Series):
        assert isinstance(found, pl.Series)
        assert found.cast(pl.String).to_list() == expected.cast(pl.String).to_list()
    elif isinstance(expected, GraphSequence | LateEdges):
        for each in fields(expected):
            if each.name != "growth":
                require_same(getattr(found, each.name), getattr(expected, each.name))
    else:
        assert found == expected


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(st.data())
def test_what_is_written_is_read_back(kind: str, data: st.DataObject) -> None:
    study = KINDS[kind]
    graph = data.draw(graphs(study))
    with TemporaryDirectory() as folder:
        cuts = data.draw(st.sampled_from(CUTS))
        sealed = written(Path(folder), graph, cuts, old=data.draw(st.integers(0, STEPS)))
        few = data.draw(st.sampled_from([0, 64]))  # 0 reads several at a time
        with mock.patch.object(segments, "FEW", few), mock.patch.object(segments, "AT_ONCE", 2):
            require_same(segments.load(Path(folder), sealed, study), graph)
        before = segments.load(Path(folder), sealed[: cuts[1]], study)
        require_same(before, graph.until(cuts[1]))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_back_grows_like_the_original(tmp_path: Path, kind: str) -> None:
    study = KINDS[kind]
    oriented = study.degree_bound.kind == "oriented"
    empty = GraphSequence.begin(study.calendar, directed=study.directed, oriented=oriented)
    nodes, edges = [("a", 0), ("b", 0), ("c", 2)], [("a", "b", 1), ("a", "c")]
    first = empty.extend(from_rows(nodes, edges), upto=STEPS - 1).sequence
    loaded = segments.load(tmp_path, written(tmp_path, first), study)
    for more in (from_rows([]), from_rows([("d", 3)], [("d", "a"), ("b", "c", 4)])):
        require_same(loaded.extend(more).sequence, first.extend(more).sequence)
    if kind == "oriented":
        for sequence in (first, loaded):
            with pytest.raises(InputError, match="oriented"):
                sequence.extend(from_rows([], [("b", "a", 4)]))


@pytest.mark.parametrize("column", ["step", "time"])
def test_batches_of_every_version_are_read(tmp_path: Path, column: str) -> None:
    """The first ones call the column of steps `time`."""
    steps = pl.Series([1, None], dtype=pl.Int32)
    nodes = pl.DataFrame({"node": ["a", "b"], column: steps})
    edges = pl.DataFrame({"source": ["a", "b"], "target": ["b", "a"], column: steps})
    files = [write_table(tmp_path, "0001", frame) for frame in (nodes, edges)]
    empty = segments.load(tmp_path, [], KINDS["undirected"])
    waiting = batches.load(tmp_path, [BatchEntry(1, 2, 1, files[0], files[1])], empty)
    assert waiting.nodes.to_dict(as_series=False) == {"node": ["a", "b"], "step": [1, None]}
    assert waiting.edges.columns == ["source", "target", "step"]


def test_ids_that_became_text_are_read_with_numbers_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their tables differ in form, so that they cannot be read at once."""
    monkeypatch.setattr(segments, "FEW", 0)
    study = KINDS["undirected"]
    graph = GraphSequence.begin(study.calendar)
    sealed = []
    arriving: list[list[tuple[Any, int]]] = [[(1, 0), (2, 0)], [(3, 1)], [("x", 2)]]
    for step, people in enumerate(arriving):
        graph = graph.extend(from_rows(people, [(1, 2)]), upto=step).sequence
        part = segments.segment(graph, range(step, step + 1))
        tables = (write_table(tmp_path, f"{step}", each) for each in (part.nodes, part.edges))
        sealed.append(SealedTables(*tables))
    kinds = {read_table(tmp_path, each.nodes)["node"].dtype for each in sealed}
    assert len(kinds) == 2
    require_same(segments.load(tmp_path, sealed, study), graph)


@pytest.fixture
def halfway(tmp_path: Path) -> StoredStudy:
    """A study with sealed steps, and with batches that wait."""
    study = StoredStudy.create(tmp_path / "study", numbered(series=[EDGES]))
    study.add(from_rows([("a", 0), ("b", 1)], [("a", "b")]))
    study.publish(1)
    study.add(from_rows([("c", 2)], [("a", "c")]))
    study.add(from_rows([("d", 3)], [("a", "d")]))
    return study


def private_tables(study: StoredStudy) -> list[Path]:
    sealed = sorted(study.folder.segments.iterdir())
    waiting = [path for path in sorted(study.folder.batches.iterdir()) if path.name > "0002"]
    return sealed + waiting


def no_noise(*_: Any) -> list[int]:
    raise AssertionError("noise was drawn although a private file is not as it was")


def test_a_changed_or_missing_private_file_is_found_before_anything_is_published(
    halfway: StoredStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(halfway.folder.kept)  # so that the segments are needed
    tables = private_tables(halfway)
    assert len(tables) == 6  # of two steps that were sealed together, and of two batches
    rows, public = halfway.ledger().rows, halfway.folder.public_ledger.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(ReleaseNoise, "draw", no_noise)
        for path in tables:
            content = path.read_bytes()
            for changed in (_flipped(content, len(content) // 2), _flipped(content, 0), None):
                _put(path, changed)
                with pytest.raises(
                    IntegrityError, match=f"{path.parent.name}/{path.name} (is missing|was changed)"
                ):
                    halfway.publish()
                with pytest.raises(IntegrityError, match=path.name):
                    halfway.add(from_rows([]))
                _put(path, content)
    assert halfway.ledger().rows == rows
    assert halfway.folder.public_ledger.read_bytes() == public
    assert halfway.publish(3).steps == [2, 3]


def test_a_segment_that_no_command_needs_is_looked_at_by_verify(halfway: StoredStudy) -> None:
    path = sorted(halfway.folder.segments.iterdir())[0]
    content = path.read_bytes()
    path.write_bytes(_flipped(content, len(content) // 2))
    with pytest.raises(IntegrityError, match=path.name):
        list(verify(halfway))
    assert halfway.publish(2).steps == [2]
    path.write_bytes(content)
    assert list(verify(halfway))


def _flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def _put(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


def test_private_files_are_for_their_owner_only(halfway: StoredStudy) -> None:
    private = halfway.folder.private
    assert private.stat().st_mode & 0o777 == 0o700
    for path in private.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path.name
