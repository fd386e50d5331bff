"""The table of results: one row per comparison, with its ratio and its target."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.parts import Part

PACKAGES = (
    "numpy",
    "numba",
    "polars",
    "python-graphblas",
    "suitesparse-graphblas",
    "networkit",
    "igraph",
    "duckdb",
    "networkx",
)
BUSY = 0.7  # other processes at work; two threads would not have two cores


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        job: what is done, and on which graph.
        ours: what graphveil takes.
        rival: what it is compared with; empty where the target is absolute.
        theirs: what the rival takes.
        most: the target, as a share of the rival or, without one, in units; None where the
            row is for information.
        unit: seconds, or gigabytes.
    """

    job: str
    ours: float
    rival: str = ""
    theirs: float | None = None
    most: float | None = None
    unit: str = "s"

    @property
    def ratio(self) -> float | None:
        """Ours over theirs."""
        return None if self.theirs is None else self.ours / self.theirs

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if there is none."""
        measured = self.ours if self.ratio is None else self.ratio
        return None if self.most is None else measured <= self.most

    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        return (
            self.job,
            _amount(self.ours, self.unit),
            self.rival or "–",
            "–" if self.theirs is None else _amount(self.theirs, self.unit),
            "–" if self.ratio is None else _share(self.ratio),
            self._target(),
            {True: "yes", False: "**no**", None: "–"}[self.met],
        )

    def record(self) -> dict[str, Any]:
        """The row for the JSON file."""
        return {**vars(self), "ratio": self.ratio, "met": self.met}

    def _target(self) -> str:
        if self.most is None:
            return "for information"
        return _amount(self.most, self.unit) if self.theirs is None else _share(self.most)


HEADINGS = ("job", "graphveil", "compared with", "takes", "ratio", "at most", "met")


def _amount(value: float, unit: str) -> str:
    return f"{value:.3f} {unit}" if value < 1 else f"{value:.2f} {unit}"


def _share(value: float) -> str:
    return f"1/{1 / value:.1f}" if value < 0.5 else f"{value:.2f}"


def environment(scale: str, load: float) -> dict[str, str]:
    """What the run ran on; no names of machines or people."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": f"{_processor()}, {os.cpu_count()} cores, 2 of them used",
        "load before the run": f"{load:.1f}" + (" (busy: not a fair run)" if load > BUSY else ""),
        "system": f"{platform.system()}, Python {platform.python_version()}",
        "graphs": scale,
        "versions": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    }


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


WHERE_IT_GOES = """\
## Where the rest goes

Seconds of the clock, the best of three laps, beside floors that were measured in the same run:
loops that do nothing of a job but its visits to memory. What the parts mean for targets that are
missed is told in [README.md](README.md#what-is-missed-and-why).
"""


def markdown(rows: Sequence[Row], parts: Sequence[Part], about: dict[str, str]) -> str:
    """The whole page."""
    targets = [row for row in rows if row.met is not None]
    met = sum(bool(row.met) for row in targets)
    lines = [
        "# Measured speed",
        "",
        "Written by `python benchmarks/run.py`; what is measured, and how, is told in",
        "[README.md](README.md). Times are the best of several interleaved laps.",
        "",
        *(f"- {name}: {value}" for name, value in about.items()),
        f"- targets met: {met} of {len(targets)}",
        "",
        _line(HEADINGS),
        _line(["---", "--:", "---", "--:", "--:", "--:", "---"]),
        *(_line(row.cells()) for row in rows),
        "",
        WHERE_IT_GOES,
        _line(["job", "part", "seconds"]),
        _line(["---", "---", "--:"]),
        *(_line([part.job, part.name, f"{part.seconds:.3f}"]) for part in parts),
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
