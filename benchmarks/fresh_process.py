"""A fresh process that reads a graph from CSV and counts: how much memory it takes.

Run by the job `memory`, not by hand. Prints gigabytes as JSON: the peak while reading, what
is held after reading, and the peak of reading and counting together.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def gigabytes(field: str) -> float:
    """A memory figure of this process (Linux). VmHWM is the peak, VmRSS the present state.

    `getrusage` would not do: its peak includes the parent's size at the time of the fork.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024 / 1e9
    raise RuntimeError(f"this system does not tell {field}")


def main() -> None:
    from benchmarks import ours
    from benchmarks.graphs import Pair

    nodes, edges, threads = sys.argv[1:]
    sequence = ours.read(Pair(Path(nodes), Path(edges)))
    peak_reading = gigabytes("VmHWM")
    gc.collect()
    after = gigabytes("VmRSS")
    totals = ours.totals(sequence, ours.EVERYTHING, int(threads))
    found = {"reading": peak_reading, "after": after, "all": gigabytes("VmHWM")}
    print(json.dumps(found | {"triangles": int(totals[ours.TRIANGLES][-1])}))


if __name__ == "__main__":
    main()
