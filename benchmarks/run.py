"""One command that measures everything: ``python benchmarks/run.py``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.parts import Part
    from benchmarks.table import Row

HERE = Path(__file__).resolve().parent
os.environ.setdefault("POLARS_MAX_THREADS", "2")  # as everybody else in the race
sys.path.insert(0, str(HERE.parent))  # so that `benchmarks` can be imported from anywhere
PARTS = "parts"  # the last job, which has no rows of its own


def arguments() -> argparse.Namespace:
    """What the user asked for."""
    parser = argparse.ArgumentParser(description="Measure graphveil against its peers.")
    parser.add_argument("--small", action="store_true", help="a tenth of B, for a quick check")
    parser.add_argument("--only", nargs="+", metavar="JOB", help="these jobs; writes no files")
    return parser.parse_args()


def main() -> None:
    from benchmarks.jobs import JOBS, Field
    from benchmarks.parts import all_parts
    from benchmarks.table import environment

    asked = arguments()
    unknown = set(asked.only or ()) - {*JOBS, PARTS}
    if unknown:
        sys.exit(f"no such job: {', '.join(unknown)}. Jobs: {', '.join([*JOBS, PARTS])}.")
    field = Field(shrink=10 if asked.small else 1)
    rows: list[Row] = []
    parts: list[Part] = []
    load = os.getloadavg()[0]
    start = perf_counter()
    for name in asked.only or [*JOBS, PARTS]:
        print(f"{perf_counter() - start:5.0f} s  {name}", flush=True)
        if name == PARTS:
            parts = all_parts(field.b, field.quarter, field.sequence)
            for part in parts:
                print(f"        {part.job}  |  {part.name}  |  {part.seconds:.3f} s", flush=True)
            continue
        found = JOBS[name](field)
        for row in found:
            print("        " + "  |  ".join(row.cells()), flush=True)
        rows += found
    print(f"{perf_counter() - start:5.0f} s  done")
    if not asked.only and not asked.small:
        write(rows, parts, environment(field.sizes(), load))


def write(rows: Sequence[Row], parts: Sequence[Part], about: dict[str, str]) -> None:
    """Write the table, for people and for programs."""
    from benchmarks.table import markdown

    (HERE / "RESULTS.md").write_text(markdown(rows, parts, about), encoding="utf-8")
    record = {
        "about": about,
        "rows": [row.record() for row in rows],
        "parts": [vars(part) for part in parts],
    }
    text = json.dumps(record, indent=2, ensure_ascii=False)
    (HERE / "results.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
