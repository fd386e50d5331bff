"""Synthetic II: an SIR epidemic over a Barabási–Albert network of contacts.

At first `initial` random people are infectious and all others susceptible. In every step, each
infectious person recovers with probability `recovery` and then, if still infectious, infects
each susceptible contact with probability `infection` / (number of contacts). The transmissions
are the graph; whoever is never infected is not in it. The time stamp is the step of infection,
0 for the initial cases.

What the paper leaves open, and what is done here:

- The number of initial cases: the transmissions are a forest whose trees begin with the initial
  cases, so the paper's 1088 nodes and 588 edges imply 500.
- Two people may infect the same contact in one step: one of them, each equally likely, counts.
- Whoever is infected in a step can infect, or recover, from the next step on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphveil.errors import ParameterError
from graphveil.experiments.models.transmissions import (
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
        from graphveil.experiments.models.epidemic import (
            contact_lists,
            preferential_attachment,
            spread,
        )

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
