"""Exact integers in 64 bits: what does not fit is refused, never wrapped or rounded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphveil.errors import CountOverflowError
from graphveil.statistics.tallies import Counts

LARGEST = 2**63 - 1


def checked(values: Sequence[int]) -> Counts:
    """Whole numbers of any size as 64-bit counts, or a refusal."""
    if any(abs(value) > LARGEST for value in values):
        raise CountOverflowError(
            "a count is beyond 64 bits; nothing was rounded or wrapped. "
            "Count smaller subgraphs (a smaller k) or fewer steps."
        )
    return np.array(values, dtype=np.int64)


def totals(differences: Counts) -> Counts:
    """Running totals over the steps (the first axis), or a refusal beyond 64 bits."""
    if len(differences) == 0:
        return differences.copy()
    largest_move = max(abs(int(differences.min())), abs(int(differences.max())))
    if largest_move * len(differences) <= LARGEST:
        return np.cumsum(differences, axis=0)
    exact = np.cumsum(differences.astype(object), axis=0)
    return checked(exact.ravel().tolist()).reshape(differences.shape)
