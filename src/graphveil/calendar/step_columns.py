"""Columns of steps: what a calendar makes of a column of times, and which rows it cannot place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.calendar.units import Flaw
from graphveil.deferred import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_STEP = -1  # stands in a step column where the time is missing
BAD_STEP = -2  # stands there where the time has no step


@dataclass(frozen=True, eq=False)
class Trouble:
    """All rows (from 0) that a calendar cannot place for one reason, why, and how to fix it."""

    rows: NDArray[np.int64]
    flaw: Flaw
    what: str
    hint: str


@dataclass(frozen=True, eq=False)
class StepColumn:
    """The steps of a column of times.

    Attributes:
        steps: (rows,) the step; NO_STEP where the time is missing, BAD_STEP in trouble.
        missing_count: how many rows have no time: null, NaN or blank.
        folded: how many rows lie before the first cut, and so count into step 0.
        trouble: what is wrong with the first row whose time has no step, if there is one, and
            with how many others.
    """

    steps: NDArray[np.int32]
    missing_count: int
    folded: int
    trouble: Trouble | None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(rows,) whether the row has no time."""
        return np.equal(self.steps, NO_STEP)
