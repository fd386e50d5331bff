"""A made-up network: the well connected attract links, and friends of friends meet."""

from __future__ import annotations

import random
from dataclasses import dataclass

DEGREE_BOUND = 15


@dataclass(frozen=True)
class MadeUp:
    """People with the year in which they come, and the links between them."""

    people: list[tuple[str, int]]
    links: list[tuple[str, str]]

    def until(self, year: int) -> MadeUp:
        """What is known by the end of a year."""
        return self.without({person for person, came in self.people if came > year})

    def without(self, missing: set[str]) -> MadeUp:
        """The same without some people, and without their links."""
        return MadeUp(
            [each for each in self.people if each[0] not in missing],
            [(a, b) for a, b in self.links if a not in missing and b not in missing],
        )


def made_up(seed: str, first_year: int, years: int, per_year: int) -> MadeUp:
    """The same seed makes the same network; nobody has more links than the bound."""
    chance = random.Random(seed)
    people: list[tuple[str, int]] = []
    friends: dict[str, set[str]] = {}
    ends: list[str] = []  # everybody once, and once more per link
    for number in range(years * per_year):
        person = f"P{number:04}"
        met = _acquaintances(chance, friends, ends)
        friends[person] = met
        for friend in met:
            friends[friend].add(person)
        ends += [person, *sorted(met), *[person] * len(met)]
        people.append((person, first_year + number // per_year))
    links = [(a, b) for a, met in friends.items() for b in sorted(met) if a < b]
    return MadeUp(people, links)


def _acquaintances(
    chance: random.Random, friends: dict[str, set[str]], ends: list[str]
) -> set[str]:
    """Nobody, or a few people, the next often a friend of the last; never beyond the bound."""
    met: set[str] = set()
    if not ends or chance.random() < 0.4:
        return met
    last = chance.choice(ends)
    for _ in range(chance.choice([1, 1, 2, 3])):
        if len(friends[last]) < DEGREE_BOUND - 1:
            met.add(last)
        circle = sorted(friends[last])
        last = chance.choice(circle) if circle and chance.random() < 0.7 else chance.choice(ends)
    return met
