"""Rows on their way between tasks: nothing is lost, and nothing stays behind."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from graphveil.backends.spark import batches
from graphveil.backends.spark import jobs as moving
from graphveil.backends.spark.batches import Order
from graphveil.backends.spark.intake.arrivals import Cuts, _cuts
from graphveil.backends.spark.intake.people import PartFound
from graphveil.backends.spark.intake.resolving import Broken, Note, together
from graphveil.backends.spark.jobs import Packet, Sorter, opened_rows, part_of, received, sent
from graphveil.errors import Place, RecordError
from graphveil.graph.intake.identity import identity_order

SCHEMA = pa.schema([("id", pa.string()), ("place", pa.int64())])


def rows(count: int) -> pa.RecordBatch:
    ids = pa.array([f"ann {n}" for n in range(count)])
    return pa.RecordBatch.from_arrays([ids, pa.array(range(count))], schema=SCHEMA)


def through(found: list[Packet]) -> list[Packet]:
    """Packets as another task gets them: several in one batch, as Spark sends them."""
    [whole] = pa.Table.from_batches(list(sent(found))).combine_chunks().to_batches()
    return list(received([whole]))


def test_every_row_arrives_once_in_its_part_and_in_its_order() -> None:
    sorter = Sorter(SCHEMA, lambda table: table["place"].to_numpy() % 7)
    found = through([*sorter.add(rows(40)), *sorter.add(rows(3)), *sorter.send()])
    came = {packet.part: opened_rows(packet.content, SCHEMA) for packet in found}
    assert sorted(came) == list(range(7))
    for part, batch in came.items():
        places = [n for n in [*range(40), *range(3)] if n % 7 == part]
        assert batch["place"].to_pylist() == places
        assert batch["id"].to_pylist() == [f"ann {n}" for n in places]


def test_rows_go_when_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "AT_ONCE", 10)
    sorter = Sorter(SCHEMA, lambda table: np.zeros(len(table), np.int64))
    assert not list(sorter.add(rows(9)))
    [packet] = sorter.add(rows(1))
    assert opened_rows(packet.content, SCHEMA).num_rows == 10
    assert not list(sorter.send())


def test_there_may_be_more_parts_than_small_numbers() -> None:
    sorter = Sorter(SCHEMA, lambda table: table["place"].to_numpy() * 70_000)
    found = [*sorter.add(rows(3)), *sorter.send()]
    assert [packet.part for packet in found] == [0, 70_000, 140_000]


def test_notes_stay_notes() -> None:
    [note] = through([Packet(3, b"said", note=True)])
    assert (note.part, bytes(note.content), note.note) == (3, b"said", True)


def test_what_was_sent_is_given_back_to_the_system() -> None:
    """A view of the bytes would do as well, but Arrow never lets go of those."""
    sorter = Sorter(SCHEMA, lambda table: table["place"].to_numpy() % 2)
    before = pa.total_allocated_bytes()
    for _ in range(3):
        for batch in sent([*sorter.add(rows(50_000)), *sorter.send()]):
            assert batch.num_rows == 1
    del batch
    gc.collect()
    assert pa.total_allocated_bytes() - before < 100_000


@pytest.mark.parametrize("kind", [pl.Int64, pl.String])
def test_an_id_has_one_part_wherever_it_stands(kind: type[pl.DataType]) -> None:
    ids = pl.Series([*range(-500, 500), 2**62, -(2**62)]).cast(kind)
    parts = part_of(ids, 13)
    assert set(parts.tolist()) == set(range(13))
    assert parts[::-3].tolist() == part_of(ids.reverse().gather_every(3), 13).tolist()
    assert part_of(ids, 1).tolist() == [0] * len(ids)


def test_of_two_notes_the_first_row_of_a_rule_is_named_and_all_are_counted() -> None:
    def note(what: str, *places: int, texts: int = 0) -> Note:
        refused = RecordError(
            what, place=Place("", column="time"), hint="", rule="late", kind="nodes",
            rows=np.empty(0, np.int64),
        )  # fmt: skip
        broken = Broken.of((3, 0), refused, np.array(places, np.int64), beyond=100)
        return Note(broken=tuple(broken), texts=texts)

    one, other = note("late: 'x'", 9, 12, texts=1), note("late: 'y'", 2)
    for found in (together([one, other]), together([other, one])):
        [broken] = found.broken
        assert (broken.what, broken.named, broken.rows) == ("late: 'y'", 2, 3)
        assert broken.places.tolist() == [2, 9, 12]
        assert found.texts == 1
    new, waited = together([note("late", 5, 101, 102), one]).broken
    assert (new.rows, new.awaited, waited.rows, waited.awaited) == (3, False, 2, True)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("files", [1, 2, 5, 40])
def test_ranks_follow_the_one_order_whatever_the_sample(text: bool, files: int) -> None:
    random = np.random.default_rng(files)
    ids = pl.Series(random.permutation(np.arange(-150, 150)))
    ids = ids.cast(pl.String) if text else ids
    steps = random.integers(3, 6, len(ids)).astype(np.int32)
    halves = [np.arange(0, 300, 2), np.arange(1, 300, 2)]
    parts = [
        PartFound(n, new=len(half), sample=(steps[half[:9]], ids[half[:9]].to_list()))
        for n, half in enumerate(halves)
    ]
    cuts = _cuts(parts, files, text=text)
    assert len(cuts.ids) <= files - 1
    ranks = cuts.ranks(ids, steps)[identity_order(ids, steps)]
    assert (np.diff(ranks) >= 0).all()
    assert set(ranks.tolist()) <= set(range(len(cuts.ids) + 1))


def test_without_cuts_there_is_one_file() -> None:
    assert Cuts(np.empty(0, np.int32), [], text=True).ranks(
        pl.Series(["b", "a"]), np.zeros(2, np.int32)
    ).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("spans", "sizes"),
    [
        ([(0, 4)], [4]),
        ([(0, 5)], [4, 1]),
        ([(6, 3), (0, 3), (3, 3)], [4, 4, 1]),
        ([(1 << 40, 6), (0, 5)], [4, 4, 3]),
        ([], [0]),
    ],
)
def test_files_of_a_batch_are_filled_in_order(
    monkeypatch: pytest.MonkeyPatch, spans: list[tuple[int, int]], sizes: list[int]
) -> None:
    monkeypatch.setattr(batches, "WHOLE", 4)
    places = np.array([first + n for first, count in sorted(spans) for n in range(count)], np.int64)
    table = pa.table({"place": places})
    order = Order.of(spans)
    found = order.file(table)
    assert order.files == len(sizes)
    assert (np.diff(found) >= 0).all()
    assert np.bincount(found, minlength=len(sizes)).tolist() == sizes


def test_a_task_comes_before_polars() -> None:
    """It says how many threads Polars may have, and Polars asks only when it loads."""
    modules = "graphveil.backends.spark.backend, graphveil.backends.local.patterns"
    code = f"import sys, {modules}; sys.exit('polars' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
