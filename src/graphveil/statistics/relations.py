"""What is true of every network: how the numbers of different statistics hang together.

A statistic says which *facts* each of its numbers is made of, and which relations hold between
facts, in its own file. Whoever estimates published numbers together knows facts and relations
alone (`docs/revisions.md#what-is-true-of-every-network`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from graphveil.graph.promises import Bound, Direction


@dataclass(frozen=True, order=True)
class Fact:
    """One number that is true of the network at a step.

    Attributes:
        name: what it is; equal names of one network are the same fact.
        at: which one of several, such as a degree.
        rises: whether it can never fall, in the network that is looked at.
        of_links: whether it is another one where links are left out.
    """

    name: str
    at: int = 0
    rises: bool = field(default=True, compare=False)
    of_links: bool = True


Combination: TypeAlias = Mapping[Fact, int | Fraction]

PEOPLE = Fact("people", of_links=False)
LINKS = Fact("links")


def at_least(direction: Direction, degree: int) -> Fact:
    """How many people have at least so many links."""
    return PEOPLE if degree == 0 else Fact(f"degree {direction}", degree)


@dataclass(frozen=True)
class Relation:
    """A combination of facts that is 0, or at least 0, in every network.

    Attributes:
        terms: facts with their coefficients. Of an identity the first fact is the one that is
            written in terms of the others.
        identity: whether it is 0.
    """

    terms: tuple[tuple[Fact, int | Fraction], ...]
    identity: bool = False


def zero(terms: Combination) -> Relation:
    """What is 0 in every network."""
    return Relation(tuple(terms.items()), identity=True)


def never_negative(terms: Combination) -> Relation:
    """What is at least 0 in every network."""
    return Relation(tuple(terms.items()))


@dataclass(frozen=True)
class Known:
    """Which facts are published of one network.

    Attributes:
        facts: all of them.
        bound: what limits the links that are counted; None if nothing does.
    """

    facts: frozenset[Fact]
    bound: Bound | None = None

    def levels(self, direction: Direction) -> list[int]:
        """The degrees of at least 1 that are published: ascending."""
        name = at_least(direction, 1).name
        return sorted(each.at for each in self.facts if each.name == name)

    def highest(self, direction: Direction) -> int | None:
        """The highest degree that anybody can have; None if there is none."""
        return None if self.bound is None else self.bound.counted.limit(direction)

    def ordered(self, direction: Direction) -> Iterator[Relation]:
        """More links, fewer people."""
        for fewer, more in pairwise([0, *self.levels(direction)]):
            yield never_negative({at_least(direction, fewer): 1, at_least(direction, more): -1})

    def summed(
        self, total: Combination, direction: Direction, weight: Callable[[int], int]
    ) -> Iterator[Relation]:
        """A total that is Σ weight(d) · (people with at least d links), over all d ≥ 1.

        Where not every degree is published, the numbers on both sides of a gap limit it.
        """
        levels, highest = self.levels(direction), self.highest(direction)
        below = dict.fromkeys(levels, 0)  # each degree counts as the next level
        for lower, level in pairwise([0, *levels]):
            below[level] = sum(map(weight, range(lower + 1, level + 1)))
        lowest = {at_least(direction, level): -share for level, share in below.items()}
        if highest is None:
            yield never_negative({**total, **lowest})
            return
        if levels == list(range(1, highest + 1)):
            yield zero({**total, **lowest})
            return
        yield never_negative({**total, **lowest})
        above = {
            at_least(direction, level): sum(map(weight, range(max(level, 1), end)))
            for level, end in pairwise([0, *levels, highest + 1])
        }
        yield never_negative({**{fact: -times for fact, times in total.items()}, **above})
