"""A made-up network: the well connected attract links, and friends of friends meet.

It stands for no place in particular. Demo and rehearsals use it where people want to see how a
study looks before there are records.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

ALONE = 0.4  # the part of newcomers who know nobody when they come


@dataclass(frozen=True)
class Manners:
    """How people of a network meet.

    Attributes:
        wanted: how many links somebody who is not alone brings along, if possible.
        nearby: how often the next acquaintance is a friend of the last one; a smaller part joins
            clusters into one.
        most: links that nobody exceeds.
        attraction: how often the first acquaintance is met by way of a link, so that people with
            many links get more; else everybody is as likely.
    """

    wanted: Callable[[random.Random], int]
    nearby: float
    most: int
    attraction: float = 1.0


def drawn(people: int, manners: Manners, seed: str) -> list[tuple[int, int]]:
    """Links between people, who come one after another; the same seed draws the same links.

    Args:
        people: how many; they are numbered in the order in which they come.
        manners: how they meet.
        seed: where the randomness comes from.
    """
    chance = random.Random(seed)
    friends: list[set[int]] = []
    ends: list[int] = []  # everybody once, and once more per link
    for person in range(people):
        met = _acquaintances(chance, friends, ends, manners)
        friends.append(met)
        for friend in met:
            friends[friend].add(person)
        ends += [person, *sorted(met), *[person] * len(met)]
    return [(a, b) for a, met in enumerate(friends) for b in sorted(met) if a < b]


def _acquaintances(
    chance: random.Random, friends: list[set[int]], ends: list[int], manners: Manners
) -> set[int]:
    """Nobody, or a few people, the next often a friend of the last; never beyond the most."""
    met: set[int] = set()
    if not ends or chance.random() < ALONE:
        return met
    by_link = manners.attraction == 1 or chance.random() < manners.attraction
    last = chance.choice(ends) if by_link else chance.randrange(len(friends))
    for _ in range(min(manners.wanted(chance), manners.most)):
        if len(friends[last]) < manners.most - 1:
            met.add(last)
        circle = sorted(friends[last])
        near = circle and chance.random() < manners.nearby
        last = chance.choice(circle) if near else chance.choice(ends)
    return met
