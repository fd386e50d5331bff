"""Error of processed values against raw ones, by simulation.

``python3 tasks.py documents`` writes the table into docs/postprocessing.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphveil.series.postprocessing import clipped, online_isotonic, refitted

PAGE = Path(__file__).resolve().parents[1] / "docs" / "postprocessing.md"
Floats = NDArray[np.float64]
SCALE = 5  # of the noise: Γ/ε

SHAPES: dict[str, Callable[[int], Floats]] = {
    "flat": lambda steps: np.full(steps, 30.0),
    "rising": lambda steps: np.arange(2.0, 2 * steps + 1, 2),
    "saturating": lambda steps: np.floor(200 - 200 * np.exp(np.linspace(-6 / steps, -6, steps))),
    "zero": np.zeros,
}


def increments_clipped(raw: Floats) -> Floats:
    """The dangerous one: every noisy increment that is negative becomes 0."""
    return np.cumsum(np.maximum(np.diff(raw, axis=0, prepend=0), 0), axis=0)


PROCESSES: dict[str, Callable[[Floats], Floats]] = {
    "clip at 0": clipped,
    "online isotonic": online_isotonic,
    "refitted history": refitted,
    "running maximum (not offered)": lambda raw: np.maximum.accumulate(raw, axis=0),
    "increments clipped (not offered)": increments_clipped,
}


def discrete_laplace(
    scale: float, shape: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.int64]:
    """The difference of two geometric numbers."""
    stop = -np.expm1(-1 / scale)
    return np.asarray(rng.geometric(stop, shape) - rng.geometric(stop, shape))


def raw_values(true: Floats, noise: str, runs: int, rng: np.random.Generator) -> Floats:
    """Raw histories, one per column: errors that add up (SensDiff), or that are independent."""
    drawn = discrete_laplace(SCALE, (len(true), runs), rng)
    error = np.cumsum(drawn, axis=0) if noise == "sensdiff" else drawn
    return true[:, None] + error


def ratios(shape: str, noise: str, steps: int, runs: int, seed: int) -> dict[str, float]:
    """Root of the mean squared error of each process, divided by the raw one's."""
    true = SHAPES[shape](steps)
    raw = raw_values(true, noise, runs, np.random.default_rng(seed))

    def error(values: Floats) -> float:
        return float(np.sqrt(((values - true[:, None]) ** 2).mean()))

    return {name: error(process(raw)) / error(raw) for name, process in PROCESSES.items()}


COLUMNS = [(shape, "sensdiff", 50) for shape in SHAPES] + [
    ("flat", "even", 50),
    ("rising", "even", 50),
    ("flat", "sensdiff", 1000),
]


def table() -> list[str]:
    """Rows of the document's table."""
    found = [
        ratios(shape, noise, steps, runs=400 if steps < 100 else 100, seed=7)
        for shape, noise, steps in COLUMNS
    ]
    return [
        f"| {name} | " + " | ".join(f"{column[name]:.2f}" for column in found) + " |"
        for name in PROCESSES
    ]


def refresh() -> None:
    """Write a fresh run into the document, row by row."""
    page = PAGE.read_text(encoding="utf-8")
    for row in table():
        start = re.escape(row[: row.index("|", 1)])
        page = re.sub(rf"^{start}\|.*$", row, page, flags=re.MULTILINE)
    PAGE.write_text(page, encoding="utf-8")
