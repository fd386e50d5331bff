"""polars: files to links between persons by number."""

from __future__ import annotations

import polars as pl

from benchmarks.graphs import Pair
from benchmarks.peers.answers import Links


def read(pair: Pair) -> Links:
    """A pair of files to sorted links between persons by number: what a ready graph holds."""
    scan = pl.scan_csv if pair.nodes.suffix == ".csv" else pl.scan_parquet
    persons = (
        scan(pair.nodes)
        .group_by("node")
        .agg(pl.col("time").min())
        .sort("time", "node")
        .select("node")
        .with_row_index("label")
    )
    a, b = pl.col("a"), pl.col("b")
    links = (
        scan(pair.edges)
        .join(persons.rename({"node": "source", "label": "a"}), on="source")
        .join(persons.rename({"node": "target", "label": "b"}), on="target")
        .filter(a != b)
        .select(newer=pl.max_horizontal(a, b), older=pl.min_horizontal(a, b))
        .unique()
        .sort("newer", "older")
        .collect()
    )
    return links["newer"].to_numpy(), links["older"].to_numpy()
