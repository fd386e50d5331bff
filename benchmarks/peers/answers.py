"""Answers in a form that every peer can give, so that they can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Links = tuple[NDArray[Any], NDArray[Any]]  # newer and older ends, ascending


@dataclass(frozen=True, eq=False)
class DegreeAnswer:
    """Totals after each step: the statistics that follow from the degrees.

    Attributes:
        edges: (steps,) edges.
        high: (steps,) nodes whose degree is at least τ.
        histogram: (steps, degrees) nodes of each degree.
        ccdf: (steps, degrees) nodes of at least each degree.
        two_stars: (steps,) pairs of links that share a node.
    """

    edges: Counts
    high: Counts
    histogram: Counts
    ccdf: Counts
    two_stars: Counts

    def differs_from(self, other: DegreeAnswer) -> list[str]:
        """The names of the statistics on which two answers disagree."""
        return [name for name, mine in vars(self).items() if not same(mine, getattr(other, name))]


def same(left: Counts, right: Counts) -> bool:
    """Whether two answers are equal, where one may have more columns of zeros."""
    if left.ndim == 1:
        return np.array_equal(left, right)
    width = min(left.shape[1], right.shape[1])
    rest = left[:, width:].any() or right[:, width:].any()
    return np.array_equal(left[:, :width], right[:, :width]) and not rest


def answer_of_histogram(histogram: Counts, tau: int) -> DegreeAnswer:
    """All degree statistics from the histogram after each step."""
    degrees = np.arange(histogram.shape[1], dtype=np.int64)
    ccdf = histogram[:, ::-1].cumsum(axis=1)[:, ::-1]
    return DegreeAnswer(
        edges=histogram @ degrees // 2,
        high=ccdf[:, tau],
        histogram=histogram,
        ccdf=ccdf,
        two_stars=histogram @ (degrees * (degrees - 1) // 2),
    )
