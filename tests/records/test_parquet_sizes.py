"""What a Parquet file needs in memory is told by its page headers, whoever wrote it."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphveil.errors import InputError
from graphveil.records import ReadingOptions, read_records
from graphveil.records.parquet import BYTES_A_VALUE, bytes_needed

NAMES = ("node", "time")
KINDS = [*product(("1.0", "2.0"), ("snappy", "zstd", "gzip"), (True, False), (0, 1, 20_000))]


def people(rows: int) -> pl.DataFrame:
    """Two columns that count, and one that does not."""
    numbers = pl.Series(range(rows), dtype=pl.Int64)
    texts = ("p" + (numbers % 977).cast(pl.String)).alias("node")
    return pl.DataFrame([texts, (numbers % 5 + 2001).alias("time"), numbers.alias("more")])


def written(path: Path, frame: pl.DataFrame, version: str, packing: str, words: bool) -> None:
    """By Arrow, which knows more ways than polars."""
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        frame.to_arrow(), path, data_page_version=version, compression=packing,
        use_dictionary=words, row_group_size=7000, write_page_index=True,
    )  # fmt: skip


@pytest.mark.parametrize(("version", "packing", "words", "rows"), KINDS)
def test_every_way_to_write_the_same_needs_the_same(
    tmp_path: Path, version: str, packing: str, words: bool, rows: int
) -> None:
    path, frame = tmp_path / "nodes.parquet", people(rows)
    least = 2 * BYTES_A_VALUE * rows
    written(path, frame, version, packing, words)
    assert least <= bytes_needed(path, NAMES) <= least + 100_000
    frame.write_parquet(path, compression="zstd" if packing == "zstd" else "uncompressed")
    assert least <= bytes_needed(path, NAMES) <= least + 100_000


def test_one_huge_cell_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "cell.parquet"
    pl.DataFrame({"node": ["x" * 200_000_000], "time": [2001]}).write_parquet(path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(InputError, match=r"more than 100,000,000 bytes.*most_bytes="):
        read_records([path], options=ReadingOptions(most_bytes=10**8))


def test_damaged_headers_are_refused_or_read(tmp_path: Path) -> None:
    path, chance = tmp_path / "nodes.parquet", random.Random(7)
    written(path, people(300), "1.0", "snappy", True)
    whole = path.read_bytes()
    refused = 0
    for _ in range(500):
        changed = bytearray(whole)
        for _ in range(chance.choice([1, 3, 9])):
            changed[-1 - chance.randrange(1500)] = chance.randrange(256)
        path.write_bytes(
            changed[: chance.choice([len(changed), chance.randrange(1, len(changed))])]
        )
        try:
            bytes_needed(path, NAMES)
        except ValueError:
            refused += 1
    assert refused > 100
