"""Small data for experiments: a network that grows for twelve years, made by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from graphveil.calendar.calendar import Calendar
from graphveil.graph.intake.records import Records, Table
from graphveil.lab.datasets import Dataset

YEARS, A_YEAR = 12, 20


def growing(hubs: int = 0, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Twenty people a year, each linked to an earlier one; hubs get a link from many."""
    rng = np.random.default_rng(seed)
    nodes = np.arange(YEARS * A_YEAR)
    later = nodes[1:]
    earlier = (later * rng.random(len(later))).astype(np.int64)
    pairs = {(int(a), int(b)) for a, b in zip(earlier, later, strict=True)}
    pairs |= {(hub, int(b)) for hub in range(hubs) for b in later[hub + 1 :: 2] if b > hub}
    edges = pl.DataFrame(sorted(pairs), schema=["source", "target"], orient="row")
    return pl.DataFrame({"node": nodes, "time": 2000 + nodes // A_YEAR}), edges


def small_dataset(name: str = "small", hubs: int = 0) -> Dataset:
    """Such a network as a dataset."""
    nodes, edges = growing(hubs)
    return Dataset(
        name=name,
        title="made by hand",
        records=Records(Table(nodes, "nodes"), Table(edges, "edges")),
        directed_by_nature=True,
        calendar=Calendar.yearly(2000),
        stand_in=None,
        source="a test",
    )


def write_pair(folder: Path, hubs: int = 0) -> Path:
    """Such a network as a folder with a native pair."""
    folder.mkdir(parents=True)
    nodes, edges = growing(hubs)
    nodes.write_csv(folder / "nodes.csv")
    edges.write_csv(folder / "edges.csv")
    return folder
