"""The promises that public networks would keep best: the rows of benchmarks/PROMISES.md.

    python benchmarks/promises.py ../shared/data

names a folder of networks, each a folder with nodes.csv and edges.csv (or edges.csv.gz).
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from graphveil.graph.degrees import degrees
from graphveil.graph.sequence import GraphSequence
from graphveil.records import read_pair
from graphveil.statistics.statistic import statistic
from graphveil.steward.promising import Wanted, taken, tried_promises

MONTHLY = {"collegemsg", "covid-korea-kcdc"}  # the others have a step a year
SERIES = (
    Wanted("edges", statistic("edges"), Fraction(1)),
    Wanted("high", statistic("high-degree", tau=3), Fraction(1)),
)
HEADER = (
    "network", "steps", "people", "links", "largest degree", "edges: best promise",
    "links left out", "error", "with the largest degree", "high-degree, τ = 3: best promise",
    "error", "with the largest degree",
)  # fmt: skip


def network(folder: Path) -> GraphSequence:
    """The undirected network in a folder; people without a date are in the first step."""
    edges = next(path for path in sorted(folder.glob("edges.csv*")))
    every = "month" if folder.name in MONTHLY else None
    records = read_pair(folder / "nodes.csv", edges)
    return taken(records, every, directed=False, oriented=False, undated="first").sequence


def row(folder: Path) -> list[str]:
    """What one network says about promises, at ε = 1 for each series."""
    sequence = network(folder)
    most = int(np.max(degrees(sequence).outward, initial=0))
    cells = [folder.name, *(f"{number:,}" for number in (sequence.steps, sequence.nodes))]
    cells += [f"{sequence.edges:,}", f"{most:,}"]
    for series in SERIES:
        found = tried_promises(sequence, [series])
        cells.append(found.best.bound.brief)
        if series.name == "edges":
            cells.append(f"{found.best.dropped:.1%}")
        shown = (found.best, found.tried[-1])
        cells += [f"{each.series[series.name].relative:.1%}" for each in shown]
    return cells


def table(folders: list[Path]) -> str:
    """All rows, as Markdown."""
    lines = [HEADER, ["---"] * len(HEADER), *map(row, folders)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    print(table([path.parent for path in sorted(Path(sys.argv[1]).glob("*/nodes.csv"))]))
