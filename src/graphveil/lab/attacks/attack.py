"""An attack: every means of the kit against what one statistic claims under one bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from graphveil.graph.promises import Bound
from graphveil.lab.attacks.annealing import Climb, Found, search
from graphveil.lab.attacks.constructions import constructions
from graphveil.lab.attacks.enumeration import Size, exhaustive
from graphveil.lab.pairs import MEASURES, NEVER, Attackable, Pair, Relation, Schedule
from graphveil.statistics.sensitivity import Measure


@dataclass(frozen=True)
class Effort:
    """How hard to attack.

    Attributes:
        undirected: the sizes at which every undirected pair is tried.
        directed: the sizes at which every directed pair is tried.
        moves: how many pairs one run of the search tries.
        runs: how many runs each claim gets from good pairs, and as many from random ones.
        patience: how many further rounds of runs a claim to be exact gets until it is reached.
        seed: what every choice of the search follows from.
    """

    undirected: tuple[Size, ...]
    directed: tuple[Size, ...]
    moves: int
    runs: int
    patience: int
    seed: int = 0

    def sizes(self, *, directed: bool) -> tuple[Size, ...]:
        """The sizes for one kind of graph."""
        return self.directed if directed else self.undirected


QUICK = Effort(
    undirected=(Size(2), Size(3), Size(4), Size(5), Size(3, 4), Size(4, 3)),
    directed=(Size(2), Size(3), Size(4), Size(3, 3)),
    moves=2_000,
    runs=1,
    patience=20,
)
THOROUGH = Effort(
    undirected=(*QUICK.undirected, Size(4, 4), Size(6)),
    directed=(*QUICK.directed, Size(3, 5)),
    moves=10_000,
    runs=3,
    patience=40,
)


@dataclass(frozen=True)
class Finding:
    """What became of one claim.

    Attributes:
        measure: which of the claimed numbers.
        claimed: the number.
        exact: whether it is claimed that some pair reaches it.
        found: the largest distance found.
        witness: a pair that has this distance.
    """

    measure: Measure
    claimed: int
    exact: bool
    found: int = -1
    witness: Pair | None = None

    @property
    def broken(self) -> bool:
        """Whether a pair lies farther apart than claimed: noise so calibrated leaks."""
        return self.found > self.claimed

    @property
    def reached(self) -> bool:
        """Whether a pair lies exactly as far apart as claimed."""
        return self.found == self.claimed

    @property
    def unconfirmed(self) -> bool:
        """Whether the claim is to be exact, but no pair that reaches it was found."""
        return self.exact and self.found < self.claimed

    @property
    def verdict(self) -> str:
        """The outcome in one word."""
        if self.broken:
            return "broken"
        if self.reached:
            return "reached"
        return "unconfirmed" if self.exact else "holds"

    def improved(self, found: int, witness: Pair | None) -> Finding:
        """This finding, or a farther pair in its place."""
        return replace(self, found=found, witness=witness) if found > self.found else self


@dataclass(frozen=True)
class Attack:
    """An attack on one statistic under one bound: what is known so far, or its outcome.

    Attributes:
        statistic: what is attacked.
        bound: under which bound.
        relation: with which kind of neighbours.
        findings: one per claimed number.
        enumerated: how many small pairs were tried; several bounds share them.
        searched: how many pairs the search tried under this bound.
    """

    statistic: Attackable
    bound: Bound
    relation: Relation
    findings: tuple[Finding, ...]
    enumerated: int = 0
    searched: int = 0

    @property
    def pairs(self) -> int:
        """How many pairs were tried."""
        return self.enumerated + self.searched

    @property
    def broken(self) -> bool:
        """Whether any claim is too small."""
        return any(finding.broken for finding in self.findings)

    @property
    def reached(self) -> bool:
        """Whether no claim is broken and every claim to be exact was reached."""
        return not any(finding.broken or finding.unconfirmed for finding in self.findings)

    def finding(self, measure: Measure) -> Finding:
        """The finding about one of the claimed numbers."""
        return next(finding for finding in self.findings if finding.measure == measure)

    def after(self, found: Found) -> Attack:
        """This attack, enriched by what a run of the search found."""
        known = zip(self.findings, found.best, found.witnesses, strict=False)
        findings = tuple(finding.improved(best, witness) for finding, best, witness in known)
        return replace(self, findings=findings, searched=self.searched + found.pairs)

    def inheriting(self, other: Attack) -> Attack:
        """This attack, enriched by the pairs of another that keep this bound as well."""
        known = zip(self.findings, other.findings, strict=True)
        findings = tuple(
            own.improved(theirs.found, theirs.witness)
            if theirs.witness is not None and theirs.witness.respects(self.bound)
            else own
            for own, theirs in known
        )
        return replace(self, findings=findings)


def claims(statistic: Attackable, bound: Bound, relation: Relation) -> Attack:
    """What a statistic claims, with nothing tried yet."""
    stated = statistic.sensitivity(bound)
    findings = tuple(
        Finding(measure, getattr(stated, measure), measure in stated.exact_for)
        for measure in MEASURES[relation]
    )
    return Attack(statistic, bound, relation, findings)


def padded(schedule: Schedule, spare: int) -> Schedule:
    """The same pair with more nodes, which arrive first and stay alone."""
    nodes = len(schedule) + spare
    larger = np.full((nodes, nodes), NEVER, dtype=np.int8)
    np.fill_diagonal(larger, 0)
    larger[spare:, spare:] = schedule
    return larger


def random_start(
    bound: Bound, relation: Relation, steps: int, rng: np.random.Generator
) -> Schedule:
    """Nodes at random steps without edges, but for the one in which neighbours differ."""
    reach = bound.limit("total")
    nodes = int(rng.integers(reach + 2, reach + 2 + max(2, min(reach, 4))))
    schedule = np.full((nodes, nodes), NEVER, dtype=np.int8)
    np.fill_diagonal(schedule, rng.integers(0, steps, nodes))
    if relation == "edge":
        schedule[-2, -1] = max(schedule[-2, -2], schedule[-1, -1])
        schedule[-1, -2] = NEVER if bound.directed else schedule[-2, -1]
    return schedule


def run(
    attack: Attack, start: Schedule, steps: int, goal: int, moves: int, rng: np.random.Generator
) -> Attack:
    """Search from one pair for pairs that lie far apart in the measure `goal`."""
    claimed = attack.findings[goal].claimed
    # Losses worth accepting grow with the claim: squared distances are large numbers.
    climb = Climb(goal, moves, hot=0.5 + 0.06 * claimed, cold=0.1 + 0.006 * claimed)
    found = search(
        attack.statistic,
        attack.bound,
        start,
        steps=steps,
        relation=attack.relation,
        climb=climb,
        rng=rng,
    )
    return attack.after(found)


def try_constructions(attack: Attack, rng: np.random.Generator) -> Attack:
    """Try the known worst cases as they are."""
    for schedule in constructions(attack.bound, attack.relation):
        steps = Pair.of(schedule, attack.relation, directed=attack.bound.directed).steps
        attack = run(attack, schedule, steps, 0, 0, rng)
    return attack


def search_round(attack: Attack, goal: int, moves: int, rng: np.random.Generator) -> Attack:
    """Two runs: from the farthest pair so far, with room to grow, and from a random one."""
    witness = attack.findings[goal].witness
    if witness is not None:
        start = padded(np.array(witness.schedule, dtype=np.int8), int(rng.integers(0, 3)))
        attack = run(attack, start, witness.steps + int(rng.integers(0, 2)), goal, moves, rng)
    steps = int(rng.choice((1, 2, 3, 4, 6, 8)))
    start = random_start(attack.bound, attack.relation, steps, rng)
    return run(attack, start, steps, goal, moves, rng)


def search_larger(attack: Attack, effort: Effort) -> Attack:
    """The known worst cases, some rounds for every claim, and more until one is reached."""
    name = f"{attack.statistic} {attack.bound} {attack.relation}"
    rng = np.random.default_rng([effort.seed, crc32(name.encode())])
    attack = try_constructions(attack, rng)
    for goal in range(len(attack.findings)):
        for number in range(effort.runs + effort.patience):
            if number < effort.runs or attack.findings[goal].unconfirmed:
                attack = search_round(attack, goal, effort.moves, rng)
    return attack


def attack_all(
    statistic: Attackable, bounds: Sequence[Bound], *, relation: Relation, effort: Effort
) -> Iterator[Attack]:
    """Attack one statistic under several bounds of one kind, which share what they find.

    Bounds should ascend: what is found under one is then tried under the later ones too.
    """
    directed = bounds[0].directed
    small = exhaustive(
        statistic, effort.sizes(directed=directed), relation=relation, directed=directed
    )
    finished: list[Attack] = []
    for bound in bounds:
        begun = claims(statistic, bound, relation)
        findings = tuple(
            finding.improved(*small.best(bound, place))
            for place, finding in enumerate(begun.findings)
        )
        attack = replace(begun, findings=findings, enumerated=small.pairs)
        for other in finished:
            attack = attack.inheriting(other)
        finished.append(search_larger(attack, effort))
        yield finished[-1]


def attack(
    statistic: Attackable, bound: Bound, *, relation: Relation = "node", effort: Effort = QUICK
) -> Attack:
    """Attack what `statistic.sensitivity(bound)` claims.

    Args:
        statistic: any statistic, registered or not.
        bound: the degree bound, which also decides whether graphs are directed.
        relation: whether neighbours differ in one node (`l1`, `static_l1`, `l2_squared`) or
            in one edge (`edge_l1`).
        effort: how hard to try; `QUICK` takes about a second once compiled.
    """
    (outcome,) = attack_all(statistic, [bound], relation=relation, effort=effort)
    return outcome
