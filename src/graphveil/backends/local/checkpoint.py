"""The checkpoint format of the local engine: its answers as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.backend import Answer
from graphveil.backends.local.components import Forest
from graphveil.backends.local.degrees import Degrees
from graphveil.backends.local.groups import Members
from graphveil.statistics.tallies import (
    ClusterTally,
    Counts,
    DegreeReach,
    DegreeTally,
    ForestTally,
    GroupTally,
    RecentTally,
    Tally,
)


@dataclass(frozen=True)
class LocalKeeping:
    """The format in which answers of the local engine are stored.

    Attributes:
        form: to be changed whenever a counter counts something else, or has another state.
    """

    form: str = "local 1"

    def packed(self, answer: Answer) -> dict[str, Any]:
        """An answer as numbers and arrays; of a table of degrees, what is not zero."""
        return {**packed_tally(answer.tallied), "state": _state(answer.state)}

    def unpacked(self, tally: Tally, data: Mapping[str, Any]) -> Answer:
        """The answer that was packed."""
        return Answer(unpacked_tally(data), _state_of(tally, data["state"]))

    def agree(self, tally: Tally, one: Answer, other: Answer) -> bool:
        """Whether two answers are equal; of recent networks, for the newest step.

        Those before it are counted only where somebody asks for them.
        """
        last = slice(-1, None) if isinstance(tally, RecentTally) else slice(None)
        if not same_tally(one.tallied, other.tallied, last):
            return False
        settled = (_settled(tally, each) for each in (one, other))
        return all(np.array_equal(*pair) for pair in zip(*settled, strict=True))


def packed_tally(tallied: Counts | DegreeReach) -> dict[str, Any]:
    """What was tallied as numbers and arrays; of a table of degrees, what is not zero."""
    if not isinstance(tallied, DegreeReach):
        return {"counts": tallied}
    places = np.flatnonzero(tallied.low)
    table = {"shape": list(tallied.low.shape), "places": places}
    return {"table": table | {"values": tallied.low.ravel()[places], "runs": tallied.runs}}


def same_tally(
    one: Counts | DegreeReach, other: Counts | DegreeReach, steps: slice = slice(None)
) -> bool:
    """Whether both are equal for some steps."""
    return np.array_equal(*_equally_wide(_rows(one)[steps], _rows(other)[steps]))


def _rows(tallied: Counts | DegreeReach) -> Counts:
    return tallied.table(tallied.highest()) if isinstance(tallied, DegreeReach) else tallied


def _equally_wide(one: Counts, other: Counts) -> tuple[Counts, Counts]:
    """Tables of degrees end at the highest degree that is in them."""
    if one.ndim < 2:
        return one, other
    widest = max(one.shape[-1], other.shape[-1])
    return _wide(one, widest), _wide(other, widest)


def _wide(table: Counts, width: int) -> Counts:
    none = [(0, 0)] * (table.ndim - 1)
    return np.pad(table, [*none, (0, width - table.shape[-1])])


def _settled(tally: Tally, answer: Answer) -> tuple[NDArray[Any], ...]:
    """A state in normal form, which is the same for equivalent states."""
    state = answer.state
    if isinstance(state, Degrees):
        return (state.degree,)
    if isinstance(state, Forest | Members):
        root = _oldest(state.parent)
        return root, np.where(root == np.arange(len(root)), state.size, 0)
    if state is None or isinstance(tally, ForestTally | GroupTally):
        return () if state is None else (state,)
    return (_oldest(state),)


def _oldest(parent: NDArray[np.int32]) -> NDArray[np.int32]:
    """The oldest node of the component of each."""
    while not np.array_equal(above := parent[parent], parent):
        parent = above
    return parent


def _state(state: Any) -> Any:
    if isinstance(state, Degrees):
        return {"degree": state.degree, "hubs": state.hubs, "width": state.width}
    return state._asdict() if isinstance(state, Forest | Members) else state


def _state_of(tally: Tally, data: Any) -> Any:
    within = tally.tally if isinstance(tally, RecentTally) else tally
    if isinstance(within, GroupTally) and isinstance(within.tally, ClusterTally):
        return None if data is None else Members(**data)
    kinds: dict[type, Any] = {DegreeTally: Degrees, ClusterTally: Forest}
    kind = kinds.get(type(within))
    return data if kind is None or data is None else kind(**data)


def unpacked_tally(data: Mapping[str, Any]) -> Counts | DegreeReach:
    """What was tallied."""
    if "counts" in data:
        return data["counts"]  # type: ignore[no-any-return]
    table = data["table"]
    low = np.zeros(table["shape"], np.int64)
    low.ravel()[table["places"]] = table["values"]
    return DegreeReach(low, table["runs"])
