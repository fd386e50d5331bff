"""A drawn transmission graph: when each node appears, and who infected whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.intake.records import Records
from graphveil.records.memory import from_arrays

Int64s = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Transmissions:
    """What a model drew; nodes are numbered from 0 in order of appearance.

    Attributes:
        time: (nodes,) the time stamp of each node, 0 for the initial ones.
        source: (edges,) the node that each edge leaves.
        target: (edges,) the node that it enters, which never appears before its source.
    """

    time: Int64s
    source: Int64s
    target: Int64s

    def records(self) -> Records:
        """The graph as records for a sequence."""
        return from_arrays(np.arange(len(self.time)), self.time, self.source, self.target)


def seeded(seed: int) -> np.random.Generator:
    """The randomness that belongs to a seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError("seed", f"must be a whole number, 0 or larger, not {seed!r}")
    return np.random.default_rng(seed)


def require_whole(least: int, **values: object) -> None:
    """Refuse parameters that are not whole numbers of at least this size."""
    for name, value in values.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= value <= MOST:  # type: ignore[operator]
            raise ParameterError(name, f"must be a whole number from {least} to {MOST:,}")


def require_probability(**values: float) -> None:
    """Refuse parameters that are not probabilities."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise ParameterError(name, f"must be a probability from 0 to 1, not {value!r}")


MOST = 10**8  # nodes, years or steps of a model: far beyond what fits into memory is refused
