"""The width of a degree table: as many columns as the promise allows, or as data need."""

from __future__ import annotations

from graphveil.errors import BoundError
from graphveil.statistics.tallies import DegreeReach


def highest_column(tallied: DegreeReach, width: int | None) -> int:
    """The last degree that a table shows; refuses data beyond the promised width."""
    highest = tallied.highest()
    if width is None:
        return highest
    if highest >= width:
        raise BoundError(
            "the sequence breaks its promised degree bound, so no sensitivity holds for it. "
            "That this happened is private: it must not be published, nor anything counted here."
        )
    return width - 1
