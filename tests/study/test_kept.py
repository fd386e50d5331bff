"""What is kept between commands: a step costs what is new, and counts as if all were counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.backends import LocalEngine
from graphveil.backends.local.counters import LocalKeeping
from graphveil.errors import IntegrityError
from graphveil.graph.sequence import GraphSequence
from graphveil.records import from_rows
from graphveil.study import Promise, StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.chain import canonical
from graphveil.study.ledger import Ledger
from graphveil.study.records import arena, checkpoint, segments
from graphveil.study.records import batches as growing
from graphveil.study.verification import verify
from plain_rules import numbered
from tries import sampled, tries

STEPS = 5
KEPT = "what is kept to go on from"


def series(*statistics: str) -> list[dict[str, Any]]:
    """Series of one statistic each, at a price that all can pay."""
    found = []
    for place, text in enumerate(statistics):
        name, *options = text.split(":")
        given = {key: int(value) for key, value in (option.split("=") for option in options)}
        top = {key: given.pop(key) for key in ("projection",) if key in given}
        found.append(
            {
                "name": f"s{place}",
                "statistic": name,
                "epsilon": "1/20",
                "parameters": given,
                **({} if top or "window" in given else {"mechanism": "sensdiff"}),
                **top,
            }
        )
    return found


UNDIRECTED = series(
    "nodes", "edges", "triangles", "components", "clusters:k=3", "degree-ccdf",
    "stars:k=2", "edges:projection=2", "high-degree:tau=2:projection=3", "edges:window=2",
)  # fmt: skip
DIRECTED = series(
    "edges", "cyclic-triangles", "transitive-triangles", "components", "in-degree-ccdf",
    "out-stars:k=2", "components:window=3",
)  # fmt: skip
INWARD = {"inward": 2, "outward": 3, "justification": "x"}
KINDS = {
    "undirected": numbered(STEPS, series=UNDIRECTED),
    "first links": numbered(
        STEPS,
        bound={"degree": 2, "hubs": 1, "if_broken": "continue", "justification": "x"},
        series=UNDIRECTED[:7],
    ),
    "directed": numbered(
        STEPS,
        directed=True,
        bound={"inward": 12, "outward": 12, "justification": "x"},
        series=DIRECTED,
    ),
    "directed first links": numbered(
        STEPS,
        directed=True,
        bound=INWARD | {"hubs": [1, 1], "if_broken": "continue"},
        series=DIRECTED[:6],
    ),
}


def checks(study: StoredStudy) -> dict[str, str]:
    return {check.name: check.found for check in verify(study)}


def kept(study: StoredStudy) -> dict[str, Path]:
    """The files that the newest row names, by what they are."""
    entry = checkpoint.newest(study.ledger())
    assert entry is not None
    home = study.folder.kept
    return {
        "columns": home / entry.columns,
        "graph": home / entry.graph.name,
        "counts": home / entry.counts.name,
    }


def sealed(study: StoredStudy) -> growing.Sealed:
    return growing.sealed(study.stored(study.ledger()), study.backend)


@st.composite
def histories(draw: st.DrawFn) -> Iterator[Any]:
    """Batches of people and links, some of them late, with how many steps are sealed after each."""
    people: list[Any] = []
    names = draw(st.sampled_from(["numbers", "texts", "both"]))
    batches = []
    for cut in draw(st.lists(st.integers(1, 2), min_size=2, max_size=4)):
        first = len(people)
        for number in range(first, first + draw(st.integers(0, 4))):
            text = names == "texts" or (names == "both" and number % 3 == 2)
            people.append(f"p{number}" if text else number * 10**9)
        nodes = [(person, draw(st.integers(0, STEPS - 1))) for person in people[first:]]
        pairs = [(a, b) for place, a in enumerate(people) for b in people[:place]]
        links = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=8)) if pairs else []
        batches.append((nodes, links, cut))
    return batches  # type: ignore[return-value]


@pytest.mark.parametrize("kind", KINDS)
@tries(2)
@given(batches=histories())
def test_what_is_kept_is_what_counting_from_scratch_comes_to(kind: str, batches: Any) -> None:
    with TemporaryDirectory() as place:
        study = StoredStudy.create(Path(place) / "study", KINDS[kind])
        made = 0
        for nodes, links, cut in batches:
            if made == STEPS:
                break
            study.add(from_rows(nodes, links), AddOptions(yes=True))
            made = min(made + cut, STEPS)
            study.publish(made - 1, early=True)
            assert sealed(study).cached is not None
            assert checks(study)[KEPT] == "the same as from scratch"


FEW = numbered(STEPS, series=series("edges", "components", "degree-ccdf", "edges:projection=2"))


def halfway(root: Path, promise: Promise = FEW) -> StoredStudy:
    """A study with two sealed steps, and more to seal."""
    study = StoredStudy.create(root, promise)
    nodes = [(f"P{number}", number % 4) for number in range(12)]
    links = [
        (f"P{a}", f"P{b}") for a, b in ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (5, 3), (9, 8))
    ]
    study.add(from_rows(nodes, links), AddOptions(yes=True))
    study.publish(0)
    study.publish(1)
    return study


def counted(study: StoredStudy) -> list[list[int]]:
    rows = (row for row in study.ledger().rows if row.event == "release made")
    return [row.secret["differences"] for row in rows]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """What is counted if nothing is kept."""
    with mock.patch.object(LocalEngine, "checkpoint_format", None):
        study = halfway(tmp_path_factory.mktemp("plain") / "study")
        study.publish(3)
        assert not study.folder.kept.exists()
        assert checks(study)[KEPT].startswith("nothing")
    return counted(study)


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("everything was read again")


def test_a_step_reads_no_segment_and_counts_no_step_again(
    tmp_path: Path, expected: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    study, asked = halfway(tmp_path / "study"), []
    count = LocalEngine.count

    def counting(self: LocalEngine, *given: Any, **named: Any) -> Any:
        asked.append(named["after"] and named["after"].extent.steps)
        return count(self, *given, **named)

    monkeypatch.setattr(LocalEngine, "count", counting)
    monkeypatch.setattr(segments, "_read", refuse)
    study.publish(3)
    assert set(asked) == {2}
    assert counted(study) == expected


@pytest.mark.parametrize(
    ("part", "damage"),
    sampled(
        product(
            ("columns", "graph", "counts"), ("flipped", "shorter", "longer", "missing", "a link")
        ),
        2,
    ),
)
def test_damage_is_noticed_and_does_no_harm(
    tmp_path: Path, expected: list[list[int]], part: str, damage: str
) -> None:
    study = halfway(tmp_path / "study")
    path = kept(study)[part]
    content = path.read_bytes()
    path.unlink()
    if damage == "a link":
        (tmp_path / "elsewhere").write_bytes(content)
        path.symlink_to(tmp_path / "elsewhere")
    elif damage != "missing":
        path.write_bytes(
            {
                "flipped": bytes([content[0] ^ 1]) + content[1:],
                "shorter": content[:-1],
                "longer": content + b"\0",
            }[damage]
        )
    if damage == "missing":
        assert checks(study)[KEPT].startswith("of another version, or not there")
    else:
        with pytest.raises(IntegrityError, match="Remove that folder"):
            checks(study)
    study.add(from_rows([]), AddOptions(yes=True))
    study.publish(2)
    study.publish(3)
    assert counted(study) == expected
    assert checks(study)[KEPT] == "the same as from scratch"


def test_every_byte_that_is_used_has_a_checksum(tmp_path: Path) -> None:
    study = halfway(tmp_path / "study")
    found = sealed(study).cached
    assert found is not None
    path, layout = kept(study)["columns"], found.arena.layout
    content = path.read_bytes()
    for region in layout.regions.values():
        for place in (0, region.bytes_used - 1):
            changed = bytearray(content)
            changed[region.start + place] ^= 1
            path.write_bytes(changed)
            assert (sealed(study).cached is None) == (region.bytes_used > 0)
    path.write_bytes(content)
    assert sealed(study).cached is not None


def test_of_many_chunks_some_are_checked_in_turn_and_all_by_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena, "CHUNK", 64)
    monkeypatch.setattr(arena, "AT_ONCE", 2)
    study = halfway(tmp_path / "study")
    found = sealed(study).cached
    assert found is not None
    path, layout = kept(study)["columns"], found.arena.layout
    many = sum(len(region.sums) for region in layout.regions.values())
    region = layout.regions["entries"]
    changed = bytearray(path.read_bytes())
    changed[region.start] ^= 1
    path.write_bytes(changed)
    noticed = []
    for turn in range(many):
        try:
            arena.Arena.opened(study.folder.kept, layout, turn)
        except arena.UnusableError:
            noticed.append(turn)
    assert 0 < len(noticed) < many / 2
    with pytest.raises(IntegrityError, match="Remove that folder"):
        checks(study)


def test_another_version_counts_from_scratch_and_keeps_from_then_on(
    tmp_path: Path, expected: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = halfway(tmp_path / "study")
    with mock.patch.object(LocalEngine, "checkpoint_format", LocalKeeping("another")):
        assert sealed(study).cached is None
        assert checks(study)[KEPT].startswith("of another version")
        study.publish(2)
        assert sealed(study).cached is not None
    assert sealed(study).cached is None
    study.publish(3)
    assert counted(study) == expected


def test_a_place_that_somebody_has_claimed_is_not_written_to(
    tmp_path: Path, expected: list[list[int]]
) -> None:
    """A writer was killed, or does not know yet that it lost the lock: it may still write."""
    study = halfway(tmp_path / "study")
    path = kept(study)["columns"]
    content = path.read_bytes()
    (path.parent / f"{path.name}.2").touch()
    study.publish(2)
    assert kept(study)["columns"] != path
    assert path.read_bytes() == content
    study.publish(3)
    assert not path.exists()
    assert counted(study) == expected
    assert checks(study)[KEPT] == "the same as from scratch"


def test_what_a_killed_writer_left_behind_the_end_changes_nothing(
    tmp_path: Path, expected: list[list[int]]
) -> None:
    study = halfway(tmp_path / "study")
    found = sealed(study).cached
    assert found is not None
    layout = found.arena.layout
    with kept(study)["columns"].open("r+b") as file:
        for region in layout.regions.values():
            file.seek(region.start + region.bytes_used)
            file.write(b"\xff" * 40)
    study.publish(3)
    assert counted(study) == expected
    assert checks(study)[KEPT] == "the same as from scratch"


def test_steps_that_were_sealed_behind_what_is_kept_are_read_from_their_segments(
    tmp_path: Path, expected: list[list[int]]
) -> None:
    """As after a backfill that was killed, or a step that an older graphveil sealed."""
    study = halfway(tmp_path / "study")
    with mock.patch.object(LocalEngine, "checkpoint_format", None):
        study.publish(2)
    found = sealed(study)
    assert found.cached is not None
    assert (found.cached.sequence.steps, found.graph.steps) == (2, 3)
    study.publish(3)
    assert counted(study) == expected
    assert checks(study)[KEPT] == "the same as from scratch"


def test_a_backfill_keeps_once_at_its_end(
    tmp_path: Path, expected: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphveil.study.stored_study.TOGETHER", 1)
    study = halfway(tmp_path / "study")
    kept, plain = [], checkpoint.Checkpoint.keep

    def noted(standing: checkpoint.Checkpoint, folder: Any, row: str) -> dict[str, str]:
        kept.append(standing.graph.steps)
        return plain(standing, folder, row)

    monkeypatch.setattr(checkpoint.Checkpoint, "keep", noted)
    study.publish(3)
    assert kept == [4]
    assert counted(study) == expected


def test_what_an_earlier_version_kept_inside_a_row_is_gone_on_from(tmp_path: Path) -> None:
    """Rows of before have the entry in what their hash covers; it counts until the next step."""
    study = halfway(tmp_path / "study")
    ledger = study.ledger()
    entry = json.loads(ledger.beside[checkpoint.ENGINE])
    last = [row for row in ledger.rows if row.event == "step sealed"][-1]
    within = replace(last, private=canonical(last.secret | {checkpoint.NAME: entry}))
    rows = tuple(within if row is last else row for row in ledger.rows)
    found = checkpoint.newest(Ledger(rows))
    assert found == checkpoint.newest(ledger)
    assert found is not None
    assert checkpoint.newest(Ledger(rows, {checkpoint.ENGINE: "of another study"})) == found


@pytest.mark.parametrize("entry", ["", "[]", "7", '{"step": 99, "row": "x"}', '{"step": -1}'])
def test_an_entry_that_belongs_to_no_row_is_not_used(tmp_path: Path, entry: str) -> None:
    study = halfway(tmp_path / "study")
    with study.writing() as transaction:
        transaction.keep_beside(checkpoint.ENGINE, entry)
    assert checkpoint.newest(study.ledger()) is None
    assert checks(study)[KEPT].startswith("nothing")
    study.publish(3)
    assert checkpoint.newest(study.ledger()) is not None


def test_a_series_that_opens_later_is_counted_from_the_start_once(tmp_path: Path) -> None:
    study = halfway(tmp_path / "study", numbered(STEPS, series=UNDIRECTED[:2]))
    late = [each for each in UNDIRECTED if each["name"] in ("s3", "s7")]
    for each in late:
        study.open_series(numbered(STEPS, series=[each]).series[0])
    study.publish(2)
    study.publish(3)
    assert checks(study)[KEPT] == "the same as from scratch"


def test_only_the_owner_may_read_and_nothing_is_left_over(tmp_path: Path) -> None:
    study = halfway(tmp_path / "study")
    study.publish(3)
    home = study.folder.kept
    assert home.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in home.iterdir()} == {0o600}
    (home / "stray").touch()
    study.publish(4, early=True)
    assert not (home / "stray").exists()
    # Two states: the newest, and the one before, which a reader may still be about to open.
    assert len([path for path in home.iterdir() if path.suffix == ".kept"]) == 4


def test_wrong_counts_with_right_checksums_are_found_by_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tester needs a test: a state that is wrong when it is written."""
    packed = LocalKeeping.packed

    def wrong(self: LocalKeeping, answer: Any) -> dict[str, Any]:
        found = packed(self, answer)
        if isinstance(answer.state, np.ndarray):
            found["state"] = np.zeros_like(answer.state)
        return found

    study = StoredStudy.create(tmp_path / "study", KINDS["undirected"])
    study.add(from_rows([(f"P{number}", 0) for number in range(4)], [("P0", "P1")]))
    monkeypatch.setattr(LocalKeeping, "packed", wrong)
    study.publish(0)
    with pytest.raises(IntegrityError, match="does not hold what counting from scratch"):
        checks(study)


def test_a_mapped_graph_grows_without_changing_its_file(tmp_path: Path) -> None:
    study = halfway(tmp_path / "study")
    before = kept(study)["columns"].read_bytes()
    study.add(from_rows([("new", 2)], [("new", "P0"), ("P0", "P4")]))
    study.add(from_rows([]), AddOptions(dry_run=True))
    assert kept(study)["columns"].read_bytes() == before
    graph: GraphSequence = sealed(study).graph
    assert graph.nodes == graph.until(2).nodes
