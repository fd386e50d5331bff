"""The plan and the state of a series, read back from the database."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from graphveil.errors import IntegrityError, ParameterError, require_known_format
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series.state import FORMAT, SeriesState
from graphveil.study.storage.reading import StoredSeries

Read = TypeVar("Read")
STATE_FORMAT = FORMAT  # of the state of a series; one that states none is of the first
# Whatever plain data of another form can lead to.
UNREADABLE = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError,
    ParameterError,
)  # fmt: skip


def plan_of(name: str, stored: StoredSeries) -> Plan:
    """How a series is published, as it was decided when it was opened."""
    return _read(Plan.from_dict, name, "plan", stored.plan)


def state_of(name: str, stored: StoredSeries) -> SeriesState:
    """The state of a series; a secret."""
    return _read(_sound_state, name, "state", stored.state)


def _sound_state(data: dict[str, Any]) -> SeriesState:
    require_known_format("the state of a series", data.get("format"), STATE_FORMAT)
    state = SeriesState.from_dict(data)
    places = (state.step, state.epoch, state.epoch_start)
    asked = () if state.asked is None else (state.asked,)
    numbers = (*places, *asked, *state.totals, *(each for drawn in state.noise for each in drawn))
    lengths = {len(drawn) for drawn in state.noise}
    if any(type(each) is not int for each in numbers) or len(lengths) > 1:
        raise ValueError("not a state")
    return state


def _read(read: Callable[[dict[str, Any]], Read], name: str, part: str, text: str) -> Read:
    try:
        return read(json.loads(text))
    except UNREADABLE as error:
        raise IntegrityError(
            f"series '{name}': its {part} in the ledger database cannot be read. Restore the "
            "newest backup of the private folder."
        ) from error
