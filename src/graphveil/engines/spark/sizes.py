"""What tasks must hold, and refusing what does not fit before it starts."""

from __future__ import annotations

import math
import re

from graphveil.errors import EngineError, ParameterError

# Estimates on the safe side of what a task holds at its worst: triangles of graph B with 1g took
# 0.65 GB, and components of ten times its nodes 2.9 GB.
BYTES_AN_EDGE = 96
BYTES_A_NODE = 72
WORKER = 350 << 20  # Python, NumPy, Arrow and the compiled kernels

_SIZE = re.compile(r"([0-9]{1,9})([kmgt]?)b?", re.IGNORECASE)


def bytes_of(text: str, setting: str) -> int:
    """A size as Spark's settings have it: 512m, 2g."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ParameterError(setting, "must be a size such as 512m or 2g")
    return int(int(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " "))


def colours_for(edges: int, task_bytes: int) -> int:
    """Into how many colours nodes are divided, so that edges among three of them fit a task.

    Such a task has 6 of colours² shares of the edges.
    """
    room = max(task_bytes - WORKER, WORKER) // BYTES_AN_EDGE
    return max(1, math.ceil(math.sqrt(6 * edges / room)))


def require_forest_fits(nodes: int, task_bytes: int) -> None:
    """Refuse components of more nodes than one task can hold."""
    needed = WORKER + nodes * BYTES_A_NODE
    if needed > task_bytes:
        raise EngineError(
            f"components and clusters need one task that holds all nodes, about "
            f"{needed / 2**30:.1f} GiB, and spark.graphveil.taskMemory is "
            f"{task_bytes / 2**30:.1f} GiB. Raise it, with the workers' memory overhead."
        )
