"""Synthetic II: an SIR epidemic over a Barabási–Albert network of contacts.

At first `initial` random people are infectious and all others susceptible. In every step, each
infectious person recovers with probability `recovery` and then, if still infectious, infects
each susceptible contact with probability `infection` / (number of contacts). The transmissions
are the graph; people who are never infected are not in it. The time stamp is the infection step,
0 for the initial cases.

What the paper leaves open, and what is done here:

- The number of initial cases: the transmissions are a forest whose trees begin with the initial
  cases, so the paper's 1088 nodes and 588 edges imply 500.
- Two people may infect the same contact in one step: one of them, each equally likely, counts.
- A person infected in a step can infect, or recover, from the next step on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.kernels import kernel
from graphveil.lab.models.transmissions import (
    Transmissions,
    require_probability,
    require_whole,
    seeded,
)


@dataclass(frozen=True)
class SyntheticTwo:
    """The model with its parameters; by default the paper's.

    Attributes:
        contacts: people in the network of contacts.
        k: how many earlier people each one is linked to.
        recovery: the probability to recover in a step (the paper's P_r).
        infection: expected infections in a step, if all contacts are susceptible (P_i).
        steps: how many steps follow the initial cases.
        initial: people who are infectious at first (the paper's n_0).
    """

    contacts: int = 10_000
    k: int = 2
    recovery: float = 0.1
    infection: float = 0.18
    steps: int = 20
    initial: int = 500

    def __post_init__(self) -> None:
        require_whole(1, contacts=self.contacts, k=self.k, steps=self.steps)
        require_whole(0, initial=self.initial)
        require_probability(recovery=self.recovery, infection=self.infection)
        if self.k >= self.contacts:
            raise ParameterError("k", "must be smaller than the number of contacts")
        if self.initial > self.contacts:
            raise ParameterError("initial", "must not be larger than the number of contacts")

    def draw(self, seed: int) -> Transmissions:
        """One epidemic over a network of its own; the same seed gives the same one."""
        rng = seeded(seed)
        older, newer = preferential_attachment(self.contacts, self.k, rng)
        offsets, neighbours = contact_lists(older, newer, self.contacts)
        first = np.sort(rng.choice(self.contacts, self.initial, replace=False))
        _, time, infector = spread(
            offsets,
            neighbours,
            first,
            float(self.recovery),
            float(self.infection),
            self.steps,
            rng,
        )
        infected = np.arange(self.initial, len(time))
        return Transmissions(time, infector[self.initial :], infected)


# Kernels of Synthetic II: a network of contacts, and an infection that spreads over it.


Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]
NEVER = -1  # marks people who have not been infected


@kernel
def preferential_attachment(nodes: int, k: int, rng: np.random.Generator) -> tuple[Int32s, Int32s]:
    """A Barabási–Albert graph: the older and the newer end of its k · (nodes − k) edges.

    The first `k` nodes are not linked to each other; the next one is linked to all of them.
    From then on each node draws k different ones from an urn in which everybody lies once for
    each link.
    """
    older = np.empty(k * (nodes - k), np.int32)
    newer = np.empty(k * (nodes - k), np.int32)
    for node in range(k, nodes):
        start = (node - k) * k
        for i in range(start, start + k):
            newer[i] = node
            older[i] = i if node == k else _drawn(older, newer, start, i, rng)
    return older, newer


@kernel
def _drawn(older: Int32s, newer: Int32s, start: int, end: int, rng: np.random.Generator) -> int:
    """An end of the edges before `start` that is none of older[start:end]."""
    while True:
        ticket = int(rng.random() * 2 * start)
        drawn = older[ticket // 2] if ticket % 2 else newer[ticket // 2]
        fresh = True
        for i in range(start, end):
            fresh &= older[i] != drawn
        if fresh:
            return int(drawn)


@kernel
def contact_lists(older: Int32s, newer: Int32s, nodes: int) -> tuple[Int64s, Int32s]:
    """The contacts of v as neighbours[offsets[v]:offsets[v + 1]]."""
    offsets = np.zeros(nodes + 2, np.int64)
    for i in range(len(older)):
        offsets[older[i] + 2] += 1
        offsets[newer[i] + 2] += 1
    offsets = np.cumsum(offsets)
    neighbours = np.empty(2 * len(older), np.int32)
    for i in range(len(older)):
        a, b = older[i], newer[i]
        neighbours[offsets[a + 1]], neighbours[offsets[b + 1]] = b, a
        offsets[a + 1] += 1
        offsets[b + 1] += 1
    return offsets[:-1].copy(), neighbours


@kernel
def spread(
    offsets: Int64s,
    neighbours: Int32s,
    first: Int64s,
    recovery: float,
    infection: float,
    steps: int,
    rng: np.random.Generator,
) -> tuple[Int64s, Int64s, Int64s]:
    """Person, time stamp and infector of every case, in order of infection.

    The infector is the number of a case, and NEVER for the initial ones, who are `first`.
    """
    people = len(offsets) - 1
    case_of = np.full(people, NEVER, np.int64)
    person = np.empty(people, np.int64)
    time = np.zeros(people, np.int64)
    infector = np.full(people, NEVER, np.int64)
    infectious = np.empty(people, np.int64)  # cases
    cases = active = len(first)
    for case in range(cases):
        person[case], infectious[case] = first[case], case
        case_of[first[case]] = case
    for step in range(1, steps + 1):
        active = _recover(infectious, active, recovery, rng)
        before = cases
        cases = _infect(
            offsets,
            neighbours,
            infectious[:active],
            infection,
            case_of,
            person,
            infector,
            cases,
            rng,
        )
        for case in range(before, cases):
            time[case] = step
            infectious[active] = case
            active += 1
    return person[:cases].copy(), time[:cases].copy(), infector[:cases].copy()


@kernel
def _recover(infectious: Int64s, active: int, recovery: float, rng: np.random.Generator) -> int:
    """Keep those who stay infectious in front; how many they are."""
    still = 0
    for i in range(active):
        if rng.random() >= recovery:
            infectious[still] = infectious[i]
            still += 1
    return still


@kernel
def _infect(
    offsets: Int64s,
    neighbours: Int32s,
    infectious: Int64s,
    infection: float,
    case_of: Int64s,
    person: Int64s,
    infector: Int64s,
    cases: int,
    rng: np.random.Generator,
) -> int:
    """Append the new cases; how many cases there are then.

    Of several infectors of one contact each is chosen with the same probability: the n-th one
    takes the place of those before with probability 1/n.
    """
    before = cases
    infectors = np.zeros(len(person) - before, np.int64)  # of each new case
    for case in infectious:
        start, end = offsets[person[case]], offsets[person[case] + 1]
        chance = infection / max(end - start, 1)
        for contact in neighbours[start:end]:
            known = case_of[contact]
            if (known == NEVER or known >= before) and rng.random() < chance:
                if known == NEVER:
                    known, case_of[contact], person[cases] = cases, cases, contact
                    cases += 1
                infectors[known - before] += 1
                if rng.random() * infectors[known - before] < 1:
                    infector[known] = case
    return cases
