"""The paper's two synthetic models, and the kernels that draw them.

Synthetic I: preferential attachment in which cases are isolated or grow old.

The paper modifies the Barabási–Albert model in three ways. Nodes come in years, after `m0`
initial ones at time 0. Each new node is isolated with probability `isolated`; otherwise it
connects to `k` different existing nodes. Older nodes are chosen less often: the weight of an
existing node is (degree + 1) · (now − its year + 1)^(−decay).

What the paper leaves open, and what is done here:

- By the paper's weight, degree · decay, a node of degree 0 would never be chosen, and at the
  beginning all nodes are such. Everybody has one ticket more than links: degree + 1.
- The paper's degree becomes the out-degree "in directed graph". Both readings are here
  (`preference`); its one line in the table of datasets suggests one graph for both versions,
  and the default is the degree.
- Nodes of one year arrive one after the other, and each may connect to those before it, of its
  own year too: the "+ 1" in the paper's age would not be needed otherwise. Edges run from the
  lower to the higher time stamp and, within a year, from the earlier arrival to the later.
- An isolated node is isolated when it arrives. Later nodes may still connect to it.

Synthetic II: an SIR epidemic over a Barabási–Albert network of contacts.

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
from math import log10

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.intake.records import Records
from graphveil.kernels import kernel
from graphveil.records.memory import from_arrays

Int64s = NDArray[np.int64]
MOST = 10**8  # nodes, years or steps of a model: far beyond what fits into memory is refused
PREFERENCES = ("degree", "out-degree")
_SMALLEST_WEIGHT = 300  # decimal places; what is smaller than a float's least would never be drawn
Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]
NEVER = -1  # marks people who have not been infected


@dataclass(frozen=True, eq=False)
class Transmissions:
    """What a model drew; nodes are numbered from 0 in order of appearance.

    Attributes:
        time: (nodes,) the time stamp of each node, 0 for the initial ones.
        source: (edges,) the node that each edge leaves.
        target: (edges,) the node that it enters, which never appears before its source.
    """

    time: Int64s
    source: Int64s
    target: Int64s

    def records(self) -> Records:
        """The graph as records for a sequence."""
        return from_arrays(np.arange(len(self.time)), self.time, self.source, self.target)


def seeded(seed: int) -> np.random.Generator:
    """The randomness that belongs to a seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError("seed", f"must be a whole number, 0 or larger, not {seed!r}")
    return np.random.default_rng(seed)


def require_whole(least: int, **values: object) -> None:
    """Refuse parameters that are not whole numbers of at least this size."""
    for name, value in values.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= value <= MOST:  # type: ignore[operator]
            raise ParameterError(name, f"must be a whole number from {least} to {MOST:,}")


def require_probability(**values: float) -> None:
    """Refuse parameters that are not probabilities."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise ParameterError(name, f"must be a probability from 0 to 1, not {value!r}")


@dataclass(frozen=True)
class SyntheticOne:
    """The model with its parameters; by default the paper's.

    Attributes:
        m0: initial nodes, with time stamp 0.
        yearly: new nodes a year (the paper's n).
        years: how many years follow (the paper's Y).
        k: how many existing nodes a new node connects to, unless it is isolated.
        isolated: the probability that a new node connects to none.
        decay: how fast old nodes lose weight (the paper's c); 0 for never.
        preference: whether links in both directions attract further ones, or outgoing only.
    """

    m0: int = 500
    yearly: int = 70
    years: int = 20
    k: int = 1
    isolated: float = 0.5
    decay: float = 1.0
    preference: str = "degree"

    def __post_init__(self) -> None:
        require_whole(1, m0=self.m0, yearly=self.yearly, years=self.years, k=self.k)
        require_probability(isolated=self.isolated)
        if not 0 <= self.decay * log10(self.years + 1) <= _SMALLEST_WEIGHT:
            most = f"{_SMALLEST_WEIGHT / log10(self.years + 1):.0f}"
            raise ParameterError("decay", f"must lie between 0 and {most} for {self.years} years")
        if self.preference not in PREFERENCES:
            raise ParameterError("preference", f"must be one of {', '.join(PREFERENCES)}")

    def draw(self, seed: int) -> Transmissions:
        """One graph of the model; the same seed gives the same graph."""
        weight_at_age = np.arange(1, self.years + 2, dtype=np.float64) ** -self.decay
        time, source, target = grow(
            self.m0,
            self.yearly,
            self.years,
            self.k,
            float(self.isolated),
            weight_at_age,
            self.preference == "degree",
            seeded(seed),
        )
        return Transmissions(time, source, target)


# Kernels of Synthetic I: drawing nodes by weights that change every year.
#
# All nodes of one year lose weight at the same rate. So a year is drawn first, by its tickets
# times its weight, then a ticket within the year. Nodes are numbered by arrival, hence a year's
# tickets are neighbours in one Fenwick tree, and a draw takes logarithmic time.


@kernel
def grow(
    m0: int,
    yearly: int,
    years: int,
    k: int,
    isolated: float,
    weight_at_age: Floats,
    both_ways: bool,
    rng: np.random.Generator,
) -> tuple[Int64s, Int64s, Int64s]:
    """Time stamps of all nodes, and the source and target of all edges."""
    nodes = m0 + yearly * years
    time = np.zeros(nodes, np.int64)
    source = np.empty(k * yearly * years, np.int64)
    target = np.empty(k * yearly * years, np.int64)
    tickets = np.zeros(nodes, np.int64)  # of each node
    tree = np.zeros(nodes + 1, np.int64)  # of ranges of nodes
    held = np.zeros(years + 1, np.int64)  # of each year
    edges = 0
    for node in range(nodes):
        year = 0 if node < m0 else (node - m0) // yearly + 1
        time[node] = year
        own = 1
        if year > 0 and rng.random() >= isolated:
            wanted = min(k, node)
            for i in range(wanted):
                chosen = _draw(tree, held, year, weight_at_age, rng)
                source[edges + i], target[edges + i] = chosen, node
                _give(tree, held, chosen, time[chosen], -tickets[chosen])  # not twice
            for i in range(wanted):
                chosen = source[edges + i]
                tickets[chosen] += 1
                _give(tree, held, chosen, time[chosen], tickets[chosen])
            edges += wanted
            own += wanted * both_ways
        tickets[node] = own
        _give(tree, held, node, year, own)
    return time, source[:edges].copy(), target[:edges].copy()


@kernel
def _give(tree: Int64s, held: Int64s, node: int, year: int, tickets: int) -> None:
    held[year] += tickets
    i = node + 1
    while i < len(tree):
        tree[i] += tickets
        i += i & -i


@kernel
def _draw(
    tree: Int64s, held: Int64s, now: int, weight_at_age: Floats, rng: np.random.Generator
) -> int:
    """A node, by its tickets times the weight of its age."""
    total = 0.0
    for year in range(now + 1):
        total += held[year] * weight_at_age[now - year]
    left, before, drawn, first = rng.random() * total, 0, -1, 0
    for year in range(now + 1):
        if held[year] > 0:
            drawn, first = year, before  # stays, should rounding leave a rest after the last
            left -= held[year] * weight_at_age[now - year]
            if left < 0:
                break
        before += held[year]
    return _holder(tree, first + int(rng.random() * held[drawn]))


@kernel
def _holder(tree: Int64s, ticket: int) -> int:
    """The node that holds a ticket, counted from 0 over all nodes."""
    reach = 1
    while reach * 2 < len(tree):
        reach *= 2
    node = 0
    while reach > 0:
        if node + reach < len(tree) and tree[node + reach] <= ticket:
            node += reach
            ticket -= tree[node]
        reach //= 2
    return node


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
