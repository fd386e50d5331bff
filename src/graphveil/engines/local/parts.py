"""Cutting a pass over the nodes into parts of about equal work, for threads to share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Part:
    """The nodes first..last-1, which arrive at the steps from_step..to_step-1."""

    first: int
    last: int
    from_step: int
    to_step: int


def parts(
    node_offsets: NDArray[np.int64], offsets: NDArray[np.int64], from_step: int, size: int
) -> list[Part]:
    """The nodes of the steps from `from_step` on, in parts of about `size` list entries."""
    first, last = int(node_offsets[from_step]), int(node_offsets[-1])
    if first == last:
        return []
    aims = np.arange(int(offsets[first]), int(offsets[last]), size)[1:]
    inner = np.searchsorted(offsets, aims)
    cuts = np.unique(np.concatenate(([first], inner, [last])))
    begins = np.searchsorted(node_offsets, cuts[:-1], side="right") - 1
    ends = np.searchsorted(node_offsets, cuts[1:], side="left")
    columns = (cuts[:-1], cuts[1:], begins, ends)
    return [Part(*(int(value) for value in row)) for row in zip(*columns, strict=True)]
