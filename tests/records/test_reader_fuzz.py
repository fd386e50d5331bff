"""Whatever the bytes, a reader gives records or a clear refusal, and nothing else."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import os
import re
import tempfile
import uuid
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from format_examples import COMPACT, EXAMPLES, HIVTRACE, PAIR, Example
from graphveil.calendar.calendar import Calendar
from graphveil.errors import GraphveilError
from graphveil.graph.sequence import GraphSequence
from graphveil.records import ReadingOptions, read_records
from graphveil.records.format import Claim, Claimed, format_named
from graphveil.records.held_tables import held, text_columns
from graphveil.records.source_file import Ceiling
from removal import CONTAINERS
from tries import tries

CASES = int(os.environ.get("GRAPHVEIL_CASES", "30"))  # of each kind, for each example
YEARS = Calendar.yearly(2019)

SNIPPETS = [
    b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\n", b"\r", b",", b'"', b"\t", b" ", b"#",
    b"<", b">", b"&amp;", b"&x;", b"<!DOCTYPE a>", b"<!--", b"{", b"}", b"[", b"]", b":", b"null",
    b"true", b"NaN", b"-1", b"0", b"1e999", b"9" * 25, b"99999999999", b"2020-02-30",
    b"13/25/2021",
    b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"PAR1", b"\x1f\x8b", b"node", b"source",
    b"id", b"keys", b";", b"infector",
]  # fmt: skip
VALUES = st.recursive(
    st.sampled_from([None, True, -1, 0, 1, 10**30, 1.5, float("nan"), "", "x", "\ud800", "2020"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "keys", "values", "0"]), inner, max_size=3)
    ),
    max_leaves=5,
)
Edit = tuple[float, int, bytes]
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1), st.integers(0, 12), st.sampled_from(SNIPPETS) | st.binary(max_size=4)
    ),
    min_size=1,
    max_size=4,
)


def spliced(content: bytes, edits: list[Edit]) -> bytes:
    """Bytes at some places are replaced by others."""
    for where, length, snippet in edits:
        at = int(where * len(content))
        content = content[:at] + snippet + content[at + length :]
    return content


def shuffled(content: bytes, edits: list[Edit]) -> bytes:
    """Words at some places are replaced, doubled or dropped; the structure stays near."""
    words = re.findall(rb"\w+|\W", content)
    for where, length, snippet in edits:
        at = min(int(where * len(words)), len(words) - 1)
        words[at : at + length % 3] = [snippet, *words[at : at + length % 2]]
        words = words or [b" "]
    return b"".join(words)


def read_or_refuse(example: Example, contents: list[bytes], *, named: bool) -> None:
    """Read with or without the name of the format and hand on; only our errors may come out."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"file{number}" for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        chosen = example.format if named else None
        with suppress(GraphveilError):
            found = read_records(paths, format=chosen, options=example.options)
            assert all(found.report.lines())
            GraphSequence.begin(YEARS).extend(found.records, undated="first")


Way = Callable[[bytes, list[Edit]], bytes]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
@pytest.mark.parametrize("way", [spliced, shuffled])
def test_changed_files_are_read_or_refused(example: Example, way: Way) -> None:
    originals = [path.read_bytes() for path in example.paths]

    @tries(CASES)
    @given(st.integers(0, len(originals) - 1), EDITS, st.booleans())
    def check(which: int, edits: list[Edit], named: bool) -> None:
        contents = list(originals)
        contents[which] = way(contents[which], edits)
        read_or_refuse(example, contents, named=named)

    check()


def test_a_list_that_fits_a_format_with_names_and_one_without_is_refused() -> None:
    """Found by many changed files: a brace before ids and dates."""
    example = next(each for each in EXAMPLES if each.name == "snap-edges.txt")
    first, *others = (path.read_bytes() for path in example.paths)
    read_or_refuse(example, [b"{" + first, *others], named=False)


@pytest.mark.parametrize("kind", ["gzip", "parquet"])
def test_changed_packed_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    originals = [gzip.compress(path.read_bytes()) for path in PAIR.paths]
    if kind == "parquet":
        for number, path in enumerate(PAIR.paths):
            pl.read_csv(path).write_parquet(tmp_path / "file")
            originals[number] = (tmp_path / "file").read_bytes()

    @tries(CASES)
    @given(st.integers(0, 1), EDITS, st.booleans())
    def check(which: int, edits: list[Edit], named: bool) -> None:
        contents = list(originals)
        contents[which] = spliced(contents[which], edits)
        read_or_refuse(PAIR, contents, named=named)

    check()


NAMED = {"sqlite": "sqlite:///{}#{}", "duckdb": "duckdb:///{}#{}"}


def contained(kind: str, folder: Path) -> bytes:
    """The tables of a network, in one file."""
    tables = PAIR.paths
    if kind in ("sqlite", "duckdb"):
        words = CONTAINERS["database" if kind == "sqlite" else kind](tables, folder)
        return Path(str(words[0]).partition("///")[2].partition("#")[0]).read_bytes()
    [path] = CONTAINERS[kind](tables, folder)
    content = Path(path).read_bytes()
    return gzip.decompress(content) if kind == "r" else content


@pytest.mark.parametrize("kind", ["workbook", "r", "sqlite", "duckdb"])
def test_changed_containers_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    original, path = contained(kind, tmp_path), tmp_path / "changed"
    words: list[Path | str] = [path]
    if kind in NAMED:
        words = [NAMED[kind].format(path, each.stem) for each in PAIR.paths]

    @tries(CASES)
    @given(EDITS, st.booleans())
    def check(edits: list[Edit], packed: bool) -> None:
        changed = spliced(original, edits)
        path.write_bytes(gzip.compress(changed) if packed and kind == "r" else changed)
        with suppress(GraphveilError):
            found = read_records(words)
            GraphSequence.begin(YEARS).extend(found.records, undated="first")

    check()


CELLS: list[Any] = [
    None, float("nan"), float("inf"), 2.0**53, -1e300, 7.5, 3, True, "x", "\ud800", b"\xff", pd.NA,
    pd.NaT, np.ma.masked, np.float32(1), np.int64(2), np.datetime64("2014-03-02"), dt.date(1, 1, 1),
    dt.datetime(2014, 3, 2, tzinfo=dt.UTC), Decimal("1e400"), Decimal("NaN"), [1, None],
    {"a": pd.NA}, dt.timedelta(days=1), dt.time(3), np.array([1, 2]), uuid.UUID(int=1), 10**400,
    1j, "",
]  # fmt: skip


@tries(CASES)
@given(st.lists(st.tuples(*[st.sampled_from(CELLS)] * 3), max_size=6), st.booleans())
def test_whatever_a_cell_of_a_container_holds_it_is_text_or_missing(
    rows: list[tuple[Any, ...]], marked: bool
) -> None:
    names = ["case_id", "onset", "report"]
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [[] for _ in names]
    texts, inexact = text_columns(names, columns)
    options = ReadingOptions(time="onset,report", mark_bad=marked)
    file = held(Path("t"), "t", texts, "a table", 1, options, Ceiling(10**6), inexact)
    with suppress(GraphveilError):
        found, claim = format_named("contacts"), Claim("nodes", "", ("case_id",))
        [parsed] = found.read([Claimed(file, claim)], options)
        assert len(parsed.nodes[0].frame) <= len(rows)


def places(tree: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value within a JSON document."""
    found = [at]
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            found += places(value, (*at, key))
    return found


def replaced(tree: Any, at: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at one place."""
    if not at:
        return value
    inner = replaced(tree[at[0]], at[1:], value)
    if isinstance(tree, dict):
        return {**tree, at[0]: inner}
    return [*tree[: at[0]], inner, *tree[at[0] + 1 :]]


@pytest.mark.parametrize("example", [HIVTRACE, COMPACT], ids=lambda each: each.name)
def test_changed_json_values_are_read_or_refused(example: Example) -> None:
    tree = json.loads(example.paths[0].read_text())
    ways = places(tree)

    @tries(CASES)
    @given(
        st.lists(st.tuples(st.sampled_from(ways), VALUES), min_size=1, max_size=2), st.booleans()
    )
    def check(changes: list[tuple[tuple[Any, ...], Any]], named: bool) -> None:
        changed = tree
        for at, value in changes:
            if at in places(changed):
                changed = replaced(changed, at, value)
        read_or_refuse(example, [json.dumps(changed).encode()], named=named)

    check()
