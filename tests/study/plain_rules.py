"""The rules for records in plain Python, slow and by the book, to hold the study against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np

from graphveil.graph.intake.arrivals import steps_of_labels
from graphveil.graph.sequence import BACKWARD, FORWARD, GraphSequence
from graphveil.study import Promise, StoredStudy
from graphveil.study.records import segments
from studies import promise

Node = tuple[str, int | None]  # a person, and the step that the record states
Link = tuple[str, str, int | None]  # source, target, and the link's own step
Edge = tuple[str, str]
Step = tuple[frozenset[str], frozenset[Edge]]  # who and what is new

EDGES = {"name": "edges", "statistic": "edges", "epsilon": "1/4", "mechanism": "sensdiff"}
DEGREES = EDGES | {"name": "degrees", "statistic": "degree-ccdf"}


def numbered(steps: int = 4, **changed: Any) -> Promise:
    """A study whose times are the numbers of its steps, with a bound that nobody reaches."""
    plain = {
        "bound": {"degree": 12, "justification": "more than there are people"},
        "calendar": {"every": 1, "unit": "number", "first": 0, "last": steps - 1},
        "records": {"undated": "first"},
        "series": [EDGES],
    }
    return promise(**(plain | changed))


@dataclass
class PlainStudy:
    """A study as `docs/records.md` tells it: what waits, and what each step sealed."""

    directed: bool = False
    sealed: list[Step] = field(default_factory=list)
    stated: dict[str, int | None] = field(default_factory=dict)
    batches: list[tuple[dict[str, int | None], list[Link]]] = field(default_factory=list)
    since_seal: int = 0  # batches that can be withdrawn

    def add(self, nodes: Iterable[Node], edges: Iterable[Link]) -> None:
        """A known person keeps the step that was stated first."""
        known, new = self.known(), dict[str, int | None]()
        for person, step in nodes:
            if person in known:
                new[person] = known[person]
            elif new.get(person) is None:
                new[person] = step
        self.batches.append((new, list(edges)))
        self.since_seal += 1

    def withdraw(self) -> bool:
        """The latest batch goes, unless a step was sealed since it came."""
        if not self.since_seal:
            return False
        self.batches.pop()
        self.since_seal -= 1
        return True

    def publish(self) -> None:
        """Everyone who is due joins the step, and every link between people who are there."""
        step, here = len(self.sealed), self._arrived()
        waiting = {person: at for person, at in self.known().items() if person not in here}
        new = {person: at for person, at in waiting.items() if at is None or at <= step}
        self.stated |= new
        there, linked = here | new.keys(), {edge for _, edges in self.sealed for edge in edges}
        edges = {
            self._edge(source, target)
            for _, links in self.batches
            for source, target, own in links
            if source != target and {source, target} <= there and (own is None or own <= step)
        }
        self.sealed.append((frozenset(new), frozenset(edges - linked)))
        self.since_seal = 0

    def graph(self, step: int) -> nx.Graph[str]:
        """All that is sealed up to a step."""
        graph: nx.Graph[str] = nx.DiGraph() if self.directed else nx.Graph()
        for nodes, edges in self.sealed[: step + 1]:
            graph.add_nodes_from(nodes)
            graph.add_edges_from(edges)
        return graph

    def _edge(self, source: str, target: str) -> Edge:
        return (source, target) if self.directed else (min(source, target), max(source, target))

    def _arrived(self) -> set[str]:
        return {person for nodes, _ in self.sealed for person in nodes}

    def known(self) -> dict[str, int | None]:
        """Everyone so far, with the step that was stated first."""
        waiting: dict[str, int | None] = {}
        for nodes, _ in self.batches:
            waiting = nodes | waiting
        return waiting | self.stated


def sealed_steps(study: StoredStudy) -> list[Step]:
    """What the study's segments hold, step by step."""
    ledger = study.ledger()
    sequence = segments.load(study.folder.segments, ledger.sealed, ledger.versions[-1])
    return steps_in(sequence)


def steps_in(sequence: GraphSequence) -> list[Step]:
    """Who and what is new at each step of a sequence."""
    ids = [str(each) for each in sequence.ids.to_list()]
    nodes: list[set[str]] = [set() for _ in range(sequence.steps)]
    edges: list[set[Edge]] = [set() for _ in range(sequence.steps)]
    labels = np.arange(sequence.nodes, dtype=np.int32)
    arrivals = steps_of_labels(sequence.node_offsets, labels).tolist()
    for label, step in enumerate(arrivals):
        nodes[step].add(ids[label])
        for entry in sequence.entries[sequence.offsets[label] : sequence.offsets[label + 1]]:
            edges[step] |= _edges(sequence, ids, label, int(entry))
    for step in range(sequence.steps):
        for place in range(sequence.late.offsets[step], sequence.late.offsets[step + 1]):
            newer, entry = int(sequence.late.newer[place]), int(sequence.late.entries[place])
            edges[step] |= _edges(sequence, ids, newer, entry)
    return [(frozenset(a), frozenset(b)) for a, b in zip(nodes, edges, strict=True)]


def _edges(sequence: GraphSequence, ids: list[str], newer: int, entry: int) -> set[Edge]:
    old, new = ids[entry >> 2], ids[newer]
    if not sequence.directed:
        return {(min(old, new), max(old, new))}
    found = {(old, new)} if entry & FORWARD else set()
    return found | ({(new, old)} if entry & BACKWARD else set())


def totals(study: StoredStudy, series: str) -> list[list[int]]:
    """The exact values that were kept for a series, step by step."""
    rows = (row for row in study.ledger().rows if row.event == "release made")
    differences = [row.secret["differences"] for row in rows if row.fact["series"] == series]
    return [list(numbers) for numbers in np.cumsum(np.array(differences), axis=0).tolist()]
