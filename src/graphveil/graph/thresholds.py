"""Thresholds of projections: how a series limits what one person can change, without a promise.

A study file writes a number D or a pair I, O for the greedy projection, which retains so many links
of everybody (`projection.greedy_projection`), and "forest:C" for forests, which retain all links
and count what holds together by at most C links of everybody (docs/sensitivities.md#forests).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, BoundLike, Direction, NodeDegrees, as_bound

ProjectionEntry: TypeAlias = "int | tuple[int, int] | str"  # as a study file has it
FOREST = "forest"
BRANCHES = 2  # of a forest, where nobody says how many


@dataclass(frozen=True)
class ForestBound(Bound):
    """Of a forest within the network, nobody has more than `branches` links.

    Nothing is dropped and nothing is promised: it limits the forest, not the network.

    Examples:
        >>> print(ForestBound(2))
        forests with at most 2 links per person
    """

    branches: int

    directed = False
    reciprocal = False
    checked = False
    assumption = "nothing: it holds for every network"

    def __post_init__(self) -> None:
        if isinstance(self.branches, bool) or not isinstance(self.branches, int):
            raise ParameterError(
                "projection", f"forest:C needs a whole number, not {self.branches!r}"
            )
        if self.branches < 1:
            raise ParameterError(
                "projection",
                "a forest needs at least 1 link per person",
                hint=f"Write {FOREST}:{BRANCHES}; more where many people hold groups together.",
            )

    def fits(self, *, directed: bool) -> bool:
        """Any graph: directions do not matter to what is connected."""
        return True

    def limit(self, direction: Direction) -> int:
        """Refused: in the network people may have any number of links."""
        raise ParameterError(
            "projection",
            "forests count components, and clusters of at least 2, and nothing else",
            hint="For others, give a number: the links of each person that are counted.",
        )

    @property
    def limits(self) -> tuple[int]:
        """C alone."""
        return (self.branches,)

    @property
    def brief(self) -> str:
        """As users write it."""
        return f"{FOREST}:{self.branches}"

    @property
    def in_words(self) -> str:
        """As in "any number of links, of which at most 2 hold a group together"."""
        return f"any number of links, of which at most {self.branches:,} hold a group together"

    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """By every graph."""
        return True

    def wider(self, by: int) -> ForestBound:
        """C raised."""
        return ForestBound(self.branches + by)

    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """A threshold per level."""
        return [ForestBound(level) for level in levels(self.branches)]

    def __str__(self) -> str:
        return f"forests with at most {self.branches} links per person"


def projection_of(text: str) -> ProjectionEntry:
    """The entry of a study file, from what a user typed: D, IxO, forest or forest:C."""
    if text == FOREST:
        return f"{FOREST}:{BRANCHES}"
    match = re.fullmatch(r"([0-9]{1,9})(?:x([0-9]{1,9}))?", text)
    if match is not None:
        return int(match[1]) if match[2] is None else (int(match[1]), int(match[2]))
    if text.startswith(f"{FOREST}:"):
        threshold_of(text)
        return text
    raise ParameterError(
        "projection",
        f"must be a number, IxO for in- and out-degrees, or {FOREST}:C, not '{text[:40]}'",
    )


def threshold_of(entry: ProjectionEntry | None) -> Bound | None:
    """What an entry of a study file means; None where nothing is projected."""
    return None if entry is None else as_threshold(entry)


def as_threshold(given: BoundLike | str) -> Bound:
    """A threshold, or the one that a number, two numbers or a text means."""
    return _forest(given) if isinstance(given, str) else as_bound(given)


def _forest(text: str) -> ForestBound:
    match = re.fullmatch(rf"{FOREST}:(-?[0-9]{{1,9}})", text)
    if match is None:
        raise ParameterError(
            "projection",
            f"must be a number, a pair of numbers or '{FOREST}:C', not '{text[:40]}'",
            hint=f"Write {FOREST}:{BRANCHES} for forests with {BRANCHES} links per person.",
        )
    return ForestBound(int(match[1]))
