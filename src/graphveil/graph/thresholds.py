"""Thresholds of projections: how a series limits what one person can change, without a promise.

A study file writes a number D or a pair I, O for the greedy projection, which retains so many links
of everybody (`projection.greedy_projection`), and "forest:C" for forests, which retain all links
and count what holds together by at most C links of everybody (docs/sensitivities.md#forests).
"follow:LINKS" or "follow:LINKS:THRESHOLD" is a threshold that follows what was published
(docs/mechanisms.md#following), and "whole" leaves nothing out: for what one person hardly changes
in any network (docs/sensitivities.md#h-index).
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from graphveil.errors import ParameterError
from graphveil.graph.promises import (
    Bound,
    BoundLike,
    DegreeBound,
    Direction,
    NodeDegrees,
    OneLimit,
    Unpromised,
    as_bound,
)

ProjectionEntry: TypeAlias = "int | tuple[int, int] | str"  # as a study file has it
FOREST = "forest"
BRANCHES = 2  # of a forest, where nobody says how many
FOLLOW = "follow"
WHOLE = "whole"
LARGEST_GUESS = 10**15  # as of every expected size


class Threshold(Unpromised, ABC):
    """What limits a count in place of a promise, in any network.

    Attributes:
        only_for: what it can count, as a refusal of anything else says.
    """

    directed = False
    reciprocal = False
    only_for: ClassVar[str]

    def fits(self, *, directed: bool) -> bool:
        """Any graph."""
        return True

    def limit(self, direction: Direction) -> int:
        """Refused: in the network people may have any number of links."""
        raise ParameterError(
            "projection",
            self.only_for,
            hint="For others, give a number: the links of each person that are counted.",
        )


@dataclass(frozen=True)
class ForestBound(Threshold):
    """Of a forest within the network, nobody has more than `branches` links.

    Nothing is dropped and nothing is promised: it limits the forest, not the network.

    Examples:
        >>> print(ForestBound(2))
        forests with at most 2 links per person
    """

    branches: int

    only_for = "forests count components, and clusters of at least 2, and nothing else"

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

    def wider(self, by: int) -> ForestBound:
        """C raised."""
        return ForestBound(self.branches + by)

    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """A threshold per level."""
        return [ForestBound(level) for level in levels(self.branches)]

    def __str__(self) -> str:
        return f"forests with at most {self.branches} links per person"


@dataclass(frozen=True)
class TotalBound(OneLimit):
    """Of a directed sequence at most `degree` links of everybody are retained, in and out together.

    Examples:
        >>> print(TotalBound(7))
        in- and out-degree together at most 7
    """

    directed = True
    reciprocal = True

    @property
    def brief(self) -> str:
        """As in "total 7"."""
        return f"total {self.degree}"

    @property
    def in_words(self) -> str:
        """As in "at most 7 links, in and out together"."""
        return f"at most {self.degree:,} links, in and out together"

    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """Whether nobody has more than D links in total."""
        return len(outward) == 0 or int((outward + inward).max()) <= self.degree

    def __str__(self) -> str:
        return f"in- and out-degree together at most {self.degree}"


@dataclass(frozen=True)
class FollowingBound(Threshold):
    """A threshold that is chosen anew at each release, from what was published before.

    Nothing is promised. Both numbers are public guesses: wrong ones cost accuracy, never privacy.

    Attributes:
        links: how many links there will be at the last release.
        threshold: the best threshold there, if somebody guesses it too.

    Examples:
        >>> FollowingBound(5000, 12).brief
        'follow:5000:12'
    """

    links: int
    threshold: int | None = None

    only_for = f"a threshold that follows ({FOLLOW}) is for links (edges) and nothing else"

    def __post_init__(self) -> None:
        for guess in self.guess:
            if isinstance(guess, bool) or not isinstance(guess, int):
                raise ParameterError("projection", f"a guess is a whole number, not {guess!r}")
            if not 1 <= guess <= LARGEST_GUESS:
                raise ParameterError(
                    "projection",
                    f"a guess is a whole number from 1 to 10^15, not {guess}",
                    hint=f"Write {FOLLOW}:5000 for about 5,000 links at the last release.",
                )

    @property
    def guess(self) -> tuple[int, ...]:
        """What is guessed: the links, and perhaps the threshold."""
        return (self.links,) if self.threshold is None else (self.links, self.threshold)

    def at(self, threshold: int, *, directed: bool) -> Bound:
        """What a graph is projected to once a threshold is chosen: links in and out together."""
        return TotalBound(threshold) if directed else DegreeBound(threshold)

    @property
    def limits(self) -> tuple[int, ...]:
        """The guesses, as users give them."""
        return self.guess

    @property
    def brief(self) -> str:
        """As users write it."""
        return ":".join([FOLLOW, *map(str, self.guess)])

    @property
    def in_words(self) -> str:
        """As in "any number of links, of which each release counts as many as it states"."""
        return "any number of links, of which each release counts as many as it states"

    def __str__(self) -> str:
        guessed = f"about {self.links:,} links expected"
        if self.threshold is None:
            return f"a threshold that follows, {guessed}"
        return f"a threshold that follows, {guessed}, and {self.threshold:,} as the last threshold"


@dataclass(frozen=True)
class WholeNetwork(Threshold):
    """Nothing is left out, and nothing is promised: one person changes little in any network.

    Examples:
        >>> print(WholeNetwork())
        the whole network
    """

    only_for = f"'{WHOLE}' is for the h-index and nothing else"
    limits = ()
    brief = WHOLE
    in_words = "any number of links"

    def __str__(self) -> str:
        return "the whole network"


def projection_of(text: str) -> ProjectionEntry:
    """The entry of a study file, from what a user typed: a number, IxO, or the name of a kind."""
    match = re.fullmatch(r"([0-9]{1,9})(?:x([0-9]{1,9}))?", text)
    if match is not None:
        return int(match[1]) if match[2] is None else (int(match[1]), int(match[2]))
    return as_threshold(f"{FOREST}:{BRANCHES}" if text == FOREST else text).brief


def threshold_of(entry: ProjectionEntry | None) -> Bound | None:
    """What an entry of a study file means; None where nothing is projected."""
    return None if entry is None else as_threshold(entry)


def as_threshold(given: BoundLike | str) -> Bound:
    """A threshold, or the one that a number, two numbers or a text means."""
    return _named(given) if isinstance(given, str) else as_bound(given)


def _named(text: str) -> Bound:
    """A threshold that has a name, followed by whole numbers."""
    name, *texts = text.split(":")
    if not all(re.fullmatch(r"-?[0-9]{1,18}", each) for each in texts):
        texts = []
    numbers = [int(each) for each in texts]
    if name == FOREST and len(numbers) == 1:
        return ForestBound(*numbers)
    if name == FOLLOW and len(numbers) in (1, 2):
        return FollowingBound(*numbers)
    if text == WHOLE:
        return WholeNetwork()
    raise ParameterError(
        "projection",
        f"must be a number, IxO for in- and out-degrees, {FOREST}:C or {FOLLOW}:LINKS, "
        f"not '{text[:40]}'",
        hint=f"Write {FOREST}:{BRANCHES} for forests with {BRANCHES} links per person, or "
        f"{FOLLOW}:5000 if about 5,000 links are expected at the last release.",
    )
