"""Faults that an audit must catch, each planted in an otherwise sound series.

``PYTHONPATH=src python tests/planted_audits.py`` prints the tables behind docs/audit.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.lab.audit import NORMAL, Audit, AuditEffort, audit
from graphveil.lab.audit_cases import Integers, Publisher, simulated
from graphveil.mechanisms.laplace import ComposeDBounded, SensDiff
from graphveil.mechanisms.mechanism import Mechanism, Request, mechanism
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import JointLaw
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, NoiseLaw, NoiseSource
from graphveil.series.planner import compare
from graphveil.series.planner import plan as planned
from graphveil.statistics.sensitivity import Moves
from graphveil.statistics.statistic import Statistic, statistic

HIGH = statistic("high-degree", tau=1)
EDGES = statistic("edges")
TRANSITIVE = statistic("transitive-triangles")


@dataclass(frozen=True)
class Half:
    """Noise of releases with half the scale that was asked for."""

    source: NoiseSource

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        if isinstance(law, DiscreteLaplace | JointLaw):
            return self.source.draw(replace(law, scale=law.scale / 2), count)
        return self.source.draw(DiscreteGaussian(law.size / 4), count)


def plan_of(
    mechanism: Mechanism, counted: Statistic, bound: Bound, steps: int = 4, l1: int | None = None
) -> Plan:
    """A plan with ε = 1, calibrated to another L1 sensitivity if one is given."""
    honest = counted.sensitivity(bound)
    claimed = replace(honest, l1=honest.l1 if l1 is None else l1)
    return Plan.of(mechanism, Request(claimed, Fraction(1), horizon=steps))


def louder(plan: Plan, factor: int) -> Plan:
    """The same plan, spending `factor` times its ε."""
    request = replace(plan.request, epsilon=factor * plan.request.epsilon)
    return Plan.of(plan.mechanism, request)


def redrawn(again: Publisher) -> Publisher:
    """Forgets its state: every release draws the noise of all differences so far again.

    Whoever averages the releases then averages the noise of the first differences away.
    """

    def publish(differences: Integers, runs: int, rng: np.random.Generator) -> Integers:
        releases = [again(differences[: step + 1], runs, rng) for step in range(len(differences))]
        return np.stack([release[:, -1] for release in releases], axis=1)

    return publish


def half_the_noise(effort: AuditEffort) -> Audit:
    plan = plan_of(SensDiff(), EDGES, DegreeBound(3))
    return audit(
        plan, EDGES, DegreeBound(3), seed=1, effort=effort, subject=simulated(louder(plan, 2))
    )


def half_of_a_better_mechanism(effort: AuditEffort) -> Audit:
    plan = planned(EDGES, DegreeBound(3), epsilon=1, horizon=16, mechanism="bridged")
    return audit(
        plan, EDGES, DegreeBound(3), seed=2, effort=effort, subject=simulated(louder(plan, 2))
    )


def noise_redrawn(effort: AuditEffort) -> Audit:
    plan = plan_of(SensDiff(), EDGES, DegreeBound(3))
    return audit(
        plan, EDGES, DegreeBound(3), seed=3, effort=effort, subject=redrawn(simulated(plan))
    )


def d_for_high_degree(effort: AuditEffort) -> Audit:
    plan = plan_of(SensDiff(), HIGH, DegreeBound(3), l1=3)
    return audit(plan, HIGH, DegreeBound(3), seed=4, effort=effort)


def static_for_differences(effort: AuditEffort) -> Audit:
    plan = plan_of(SensDiff(), HIGH, DegreeBound(3), l1=4)
    return audit(plan, HIGH, DegreeBound(3), seed=5, effort=effort)


def the_papers_constant(effort: AuditEffort) -> Audit:
    bound = InOutBound(3, 3)
    paper = TRANSITIVE.sensitivity(bound).paper
    plan = plan_of(SensDiff(), TRANSITIVE, bound, l1=paper)
    return audit(plan, TRANSITIVE, bound, seed=6, effort=effort)


def whole_budget_every_step(effort: AuditEffort) -> Audit:
    plan = plan_of(ComposeDBounded(), EDGES, DegreeBound(3))
    return audit(
        plan, EDGES, DegreeBound(3), seed=7, effort=effort, subject=simulated(louder(plan, 4))
    )


def half_of(name: str, counted: Statistic, seed: int) -> Callable[[AuditEffort], Audit]:
    """A mechanism whose noise is made for twice its ε, or, with a δ, for a hundredth of σ²."""

    def planted(effort: AuditEffort) -> Audit:
        bound, member = DegreeBound(3), mechanism(name)
        plan = planned(
            counted,
            bound,
            epsilon=1,
            delta=None if member.pure else "1e-6",
            horizon=4,
            mechanism=name,
            projection=bound if member.projects else None,
        )
        wrong = louder(plan, 2) if member.pure else thinned(plan, 100)
        return audit(plan, counted, bound, seed=seed, effort=effort, subject=simulated(wrong))

    return planted


def thinned(plan: Plan, factor: int) -> Plan:
    """The same plan, with Gaussian noise of a part of its variance."""
    law = DiscreteGaussian(Fraction(plan.epoch(0).law.size) / factor)
    return replace(plan, epochs=(replace(plan.epoch(0), law=law),))


def appearances_for_moves(effort: AuditEffort) -> Audit:
    plan = planned(EDGES, DegreeBound(3), epsilon=1, horizon=4, mechanism="moves")
    wrong = Plan.of(plan.mechanism, replace(plan.request, shape=Moves(1, 1)))
    return audit(wrong, EDGES, DegreeBound(3), seed=13, effort=effort)


def range_for_high_degree(effort: AuditEffort) -> Audit:
    """The noise of totals that only rise, and for half of what a person changes."""
    bound = DegreeBound(3)
    plan = planned(HIGH, bound, epsilon=1, horizon=4, mechanism="box-projection", projection=bound)
    request = replace(plan.request, projected_l1=2, projected_rises=True)
    wrong = Plan.of(mechanism("range-projection"), request)
    return audit(wrong, HIGH, bound, seed=14, effort=effort)


def hubs_forgotten(effort: AuditEffort) -> Audit:
    bound = HubBound(DegreeBound(2), (1,))
    plan = planned(EDGES, bound.within, epsilon=1, horizon=4, mechanism="sensdiff")
    return audit(plan, EDGES, bound, seed=15, effort=effort)


PLANTED: dict[str, Callable[[AuditEffort], Audit]] = {
    "SensDiff, edges: half the noise": half_the_noise,
    "Two-level bridged, edges: half the noise": half_of_a_better_mechanism,
    "SensDiff, edges: noise drawn again at every release": noise_redrawn,
    "SensDiff, high degree: D = 3 instead of 2D + 1 = 7": d_for_high_degree,
    "SensDiff, high degree: the static D + 1 = 4 instead of 7": static_for_differences,
    "SensDiff, transitive triangles: the paper's 15 instead of 18": the_papers_constant,
    "Compose, edges, 4 releases: ε instead of ε/4 for each": whole_budget_every_step,
    "Moves, high degree: half the noise": half_of("moves", HIGH, 8),
    "Optimised for moves, high degree: half the noise": half_of("optimised-moves", HIGH, 9),
    "Range, projected edges: half the noise": half_of("range-projection", EDGES, 10),
    "Box, projected high degree: half the noise": half_of("box-projection", HIGH, 11),
    "Gaussian, projected edges: a tenth of the noise": half_of("gaussian-projection", EDGES, 12),
    "Moves, edges: appearances taken for moves": appearances_for_moves,
    "Range, projected high degree: Δ = 2 instead of 4": range_for_high_degree,
    "SensDiff, edges, one hub: Γ = D instead of D + h": hubs_forgotten,
}


SOUND: list[tuple[Statistic, Bound]] = [
    (EDGES, DegreeBound(3)),
    (HIGH, DegreeBound(3)),
    (statistic("components"), DegreeBound(3)),
    (statistic("degree-histogram"), DegreeBound(2)),
]


def planted_rows(effort: AuditEffort) -> Iterator[str]:
    """The document's table of faults, each at a claimed ε of 1 and a violation."""
    yield "| planted fault | ε is at least |"
    yield "|---|--:|"
    for name, plant in PLANTED.items():
        found = plant(effort)
        assert found.claimed == 1, name
        assert found.violated, name
        yield f"| {name} | {found.lower_bound:.2f} |"


def sound_rows(effort: AuditEffort) -> Iterator[str]:
    """The document's table of registered mechanisms at ε = 1 and 8 releases."""
    shown: dict[str, list[str]] = {}
    for counted, bound in SOUND:
        options = compare(counted, bound, epsilon=1, delta="1e-6", horizon=8, projection=bound)
        for option in options:
            cell = "–"
            if option.plan is not None:
                found = audit(option.plan, counted, bound, seed=1, effort=effort)
                cell = f"{found.lower_bound:.2f}" + (" (violation)" if found.violated else "")
            shown.setdefault(option.name, []).append(cell)
    heads = [f"{counted}, {bound}" for counted, bound in SOUND]
    yield f"| mechanism | {' | '.join(heads)} |"
    yield "|---" + "|---:" * len(heads) + "|"
    yield from (f"| {name} | {' | '.join(cells)} |" for name, cells in sorted(shown.items()))


if __name__ == "__main__":
    for line in (*planted_rows(NORMAL), "", *sound_rows(NORMAL)):
        print(line)
