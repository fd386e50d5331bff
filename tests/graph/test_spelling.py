"""Ids that look alike are alike: one documented place spells them, whichever way they came in."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError
from graphveil.graph.intake import identity
from graphveil.graph.intake.identity import look_alikes, spelled_alike
from graphveil.graph.intake.records import Records, Table
from graphveil.graph.intake.resolving import resolve
from graphveil.graph.intake.rules import RecordRules
from graphveil.graph.sequence import GraphSequence
from graphveil.records import from_arrays, from_frames, from_rows, read_pair

YEARS = Calendar.yearly(2001, 2004)
COMPOSED, DECOMPOSED = "Zo\u00eb", "Zoe\u0308"
HIDDEN = ["an\u200bn", "\ufeffann", "ann\u00ad", "a\u200dnn", "\u2066ann\u2069", "ann\ufe0f"]
Way = Callable[[Path, list[str]], Records]


def files(folder: Path, ids: list[str]) -> Records:
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    nodes.write_text("node,time\n" + "".join(f"{name},2001\n" for name in ids), encoding="utf-8")
    edges.write_text("source,target\n")
    return read_pair(nodes, edges)


def rows(_: Path, ids: list[str]) -> Records:
    return from_rows([(name, 2001) for name in ids])


def arrays(_: Path, ids: list[str]) -> Records:
    return from_arrays(np.array(ids), np.full(len(ids), 2001), [], [])


def frames(_: Path, ids: list[str]) -> Records:
    columns: dict[str, Any] = {"node": ids, "time": [2001] * len(ids)}
    return from_frames(pl.DataFrame(columns), pl.DataFrame({"source": [], "target": []}))


def pandas_frames(_: Path, ids: list[str]) -> Records:
    columns: dict[str, Any] = {"node": ids, "time": [2001] * len(ids)}
    return from_frames(pd.DataFrame(columns), pd.DataFrame({"source": [], "target": []}))


every_way = pytest.mark.parametrize("way", [files, rows, arrays, frames, pandas_frames])


def people(records: Records) -> tuple[list[str], int]:
    sequence, report = GraphSequence.begin(YEARS).extend(records)
    return [str(name) for name in sequence.ids], report.respelled_ids


@every_way
def test_composed_and_decomposed_letters_are_one_person(way: Way, tmp_path: Path) -> None:
    assert people(way(tmp_path, [COMPOSED, DECOMPOSED, "7"])) == (["7", COMPOSED], 1)


@every_way
@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_shows_nothing_distinguishes_nobody(way: Way, hidden: str, tmp_path: Path) -> None:
    assert people(way(tmp_path, ["bob", hidden, "ann"])) == (["ann", "bob"], 1)


@every_way
@pytest.mark.parametrize("broken", ["a\x07b", "a\x0bb", "a\u2028b", "a\x85b", "a\tb", "a\x7fb"])
def test_control_characters_are_refused_with_their_row(
    way: Way, broken: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="column 'node': the id holds a line break") as told:
        people(way(tmp_path, ["ann", broken]))
    assert told.value.place is not None
    assert told.value.place.row == (3 if way is files else 1)
    assert broken not in str(told.value)


def test_line_breaks_in_ids_are_refused_in_memory_too() -> None:
    with pytest.raises(InputError, match="row 0, column 'target': the id holds a line break"):
        people(from_rows([("a", 2001)], [("a", "b,2002\nc")]))


def test_an_id_of_nothing_visible_is_missing() -> None:
    with pytest.raises(InputError, match="the id is missing"):
        people(from_rows([("\u200b \ufeff", 2001)]))


@pytest.mark.parametrize("text", ["ann", "Zo\u00eb", "\u0627\u0600\u0628", "\u65e5\u672c", "a b"])
def test_what_is_seen_stays(text: str) -> None:
    assert spelled_alike(pl.Series([text, None])).to_list() == [text, None]


@given(st.lists(st.text(max_size=6), max_size=8), st.data())
def test_spelling_looks_at_one_id_only(ids: list[str], data: st.DataObject) -> None:
    ids = [name.encode("utf-8", "replace").decode() for name in ids]
    together = spelled_alike(pl.Series(ids, dtype=pl.String)).to_list()
    assert together == [spelled_alike(pl.Series([name])).item() for name in ids]
    assert spelled_alike(pl.Series(together, dtype=pl.String)).to_list() == together
    assert all(unicodedata.is_normalized("NFC", name) for name in together)


def test_folding_case_spells_alike_again() -> None:
    rules = RecordRules(case="fold")
    records = from_rows([("\u0130x", 2001), ("i\u0307X", 2001), ("K\u030c", 2001)])
    nodes = resolve(records, YEARS, rules).nodes.frame["node"]
    assert nodes.n_unique() == 2
    assert all(unicodedata.is_normalized("NFC", name) for name in nodes)


def test_look_alikes_are_counted_and_stay_two_people() -> None:
    all_of_them = pl.Series(["Ann", "ann", "bob", "\uff42ob", "Lee Ray", "Lee\u00a0Ray", "dan"])
    assert look_alikes(all_of_them, all_of_them) == 6
    assert look_alikes(pl.Series(["dan", "ann"]), all_of_them) == 1
    assert look_alikes(pl.Series([7]), pl.Series([7, 8])) == 0
    assert people(from_rows([("Ann", 2001), ("ann", 2001)])) == (["Ann", "ann"], 0)


ODD = [
    "",
    " ",
    " ann",
    "ann ",
    "a nn",
    "ann\t",
    "\x7f",
    "é",
    "7",
    "-7",
    "07",
    "a" * 1001,
    "2021-07",
]


@given(st.lists(st.sampled_from(ODD) | st.text("aZ 07-", max_size=25), min_size=1, max_size=8))
def test_a_long_column_that_passes_at_a_glance_is_what_cleaning_makes_of_it(ids: list[str]) -> None:
    table = Table(pl.DataFrame({"node": ids}), "the nodes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "_WORTH_A_LOOK", 0)
        passed = identity._is_clean(table.frame["node"])
        patch.setattr(identity, "_is_clean", lambda _: False)
        if not passed:
            return
        cleaned = identity.clean_ids(table, "node")
    assert cleaned.column.to_list() == ids
    assert (cleaned.trimmed, cleaned.respelled) == (0, 0)


def test_ids_as_registers_have_them_pass_at_a_glance() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "_WORTH_A_LOOK", 0)
        for ids in (["P0000000000000000001", "P2"], ["a b", "7"], ["2021-x"]):
            assert identity._is_clean(pl.Series(ids))
        for odd in ODD[:-1]:
            assert odd in ("a nn", "07", "7", "-7") or not identity._is_clean(
                pl.Series(["P1", odd])
            )
        assert not identity._is_clean(pl.Series(["7", "-7"]))
