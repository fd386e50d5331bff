"""Audits: honest mechanisms stay below their claim, planted faults do not."""

from __future__ import annotations

from fractions import Fraction
from math import e, log

import numpy as np
import pytest
from numpy.typing import NDArray

from commands import ROOT
from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.lab.audit import (
    LONG,
    NORMAL,
    SMALL,
    AuditEffort,
    DistinguishingEvent,
    audit,
    best_event,
    epsilon_bounds,
    judge,
)
from graphveil.lab.audit_cases import LARGEST_BOUND, Case, released, simulated, worst_cases
from graphveil.lab.pairs import replay
from graphveil.mechanisms.laplace import SensDiff
from graphveil.mechanisms.mechanism import Measured, registered
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import JointLaw, MovesNoise, RangeNoise
from graphveil.noise.laws import DiscreteLaplace
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.noise.zcdp import rho_of
from graphveil.series.planner import compare
from graphveil.series.planner import plan as planned
from graphveil.statistics.change import sensitivity_under
from graphveil.statistics.statistic import Statistic, statistic
from planted_audits import EDGES, PLANTED, Half, plan_of, redrawn

BRIEF = AuditEffort(runs=6_000, pilot=1_000, releases=30)
STEPS = 6
COUNTED: list[tuple[Statistic, Bound]] = [
    (statistic("edges"), DegreeBound(3)),
    (statistic("high-degree", tau=1), DegreeBound(2)),
    (statistic("triangles"), DegreeBound(3)),
    (statistic("transitive-triangles"), InOutBound(3, 3)),
    (statistic("components"), DegreeBound(2)),
    (statistic("degree-histogram"), DegreeBound(2)),
    (statistic("edges", window=3), DegreeBound(2)),
]
BY_NAME = {str(counted): (counted, bound) for counted, bound in COUNTED}


def plans(counted: Statistic, bound: Bound, horizon: int | None = STEPS) -> dict[str, Plan]:
    """Every mechanism that admits the statistic, pure or not."""
    prospects = compare(counted, bound, epsilon=1, delta="1e-6", horizon=horizon, projection=bound)
    return {each.name: each.plan for each in prospects if each.plan is not None}


@pytest.mark.parametrize("name", BY_NAME)
def test_every_mechanism_stays_below_its_claim(name: str) -> None:
    counted, bound = BY_NAME[name]
    for plan in plans(counted, bound).values():
        found = audit(plan, counted, bound, seed=7, effort=BRIEF)
        assert not found.violated, (plan.mechanism.name, found)
        assert found.verdict == "no violation found"


def norm(law: JointLaw, change: NDArray[np.int64]) -> int:
    """What the law of a number's noise charges for a change, as docs/mechanisms.md states it."""
    if isinstance(law, MovesNoise):
        return int(np.abs(change).sum() + abs(change.sum()))
    if isinstance(law, RangeNoise):
        return int(change.max(initial=0) - change.min(initial=0))
    return int(np.abs(change).max())


def loss(plan: Plan, case: Case) -> float:
    """The exact privacy loss of the measurements on one pair: ε, or ρ of zCDP for Gaussians."""
    differences = plan.mechanism.measured is Measured.DIFFERENCES
    signal = case.shift if differences else np.cumsum(case.shift, axis=0)
    spent, begin = 0.0, 0
    for number in range(len(plan.epochs)):
        epoch = plan.epoch(number)
        here = signal[begin : begin + epoch.steps]
        steps = here if differences else np.diff(here, axis=0, prepend=0)
        measured = epoch.factorisation.strategy()[:, : len(here)] @ steps
        if isinstance(epoch.law, JointLaw):
            spent += sum(norm(epoch.law, column) for column in here.T) / float(epoch.law.scale)
        elif isinstance(epoch.law, DiscreteLaplace):
            spent += float(np.abs(measured).sum() / epoch.law.scale)
        else:
            spent += float(int((measured**2).sum()) / (2 * epoch.law.size))
        begin += epoch.steps
    return spent


@pytest.mark.parametrize("name", BY_NAME)
def test_no_measurement_loses_more_than_its_budget_wherever_steps_fall(name: str) -> None:
    """Exact, not by chance: pairs are spread over a longer series in random ways."""
    counted, bound = BY_NAME[name]
    rng = np.random.default_rng(5)
    for plan in plans(counted, bound, 24).values():
        projection = bound if plan.mechanism.measured is Measured.PROJECTED_TOTALS else None
        width, largest = plan.request.width, 0.0
        delta = plan.request.delta
        budget = float(1 if delta is None else rho_of(Fraction(1), delta)) * (1 + 1e-9)
        for case in worst_cases(counted, bound, steps=8, width=width, projection=projection):
            for _ in range(8):
                spread = np.zeros((2, 24, width), dtype=np.int64)
                if counted.counted_for is None:
                    places = np.sort(rng.choice(24, 8, replace=False))
                    spread[:, places] = case.larger, case.smaller
                else:  # values of steps in a row, after which the person has left
                    at, sides = int(rng.integers(0, 16)), np.stack([case.larger, case.smaller])
                    spread[:, at : at + 8] = sides
                    spread[:, at + 8] = -sides.sum(axis=1)
                largest = max(largest, loss(plan, Case(case.pair, spread[0], spread[1])))
        assert 0 < largest <= budget, plan.mechanism.name


HUBS = HubBound(DegreeBound(2), (1,))


@pytest.mark.parametrize("counted", [statistic("edges"), statistic("high-degree", tau=1)], ids=str)
def test_promises_with_hubs_are_audited_on_what_is_counted(counted: Statistic) -> None:
    """Pairs keep the promise, and differ as far as Γ says; noise for no hubs is found out."""
    stated = sensitivity_under(counted, HUBS)
    cases = worst_cases(counted, HUBS, steps=STEPS, width=1)
    assert max(case.strengths()[0] for case in cases) == stated.l1
    sound = planned(counted, HUBS, epsilon=1, horizon=STEPS, mechanism="sensdiff")
    assert not audit(sound, counted, HUBS, seed=7, effort=BRIEF).violated
    careless = planned(counted, HUBS.within, epsilon=1, horizon=STEPS, mechanism="sensdiff")
    assert audit(careless, counted, HUBS, seed=7, effort=AuditEffort(30_000, 1_000, 0)).violated


def test_no_registered_mechanism_escapes_the_audit() -> None:
    audited = {name for counted, bound in COUNTED for name in plans(counted, bound)}
    # Thresholds that follow have an audit of their own: test_following.py.
    assert audited == {name for name, each in registered().items() if not each.follows}


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_faults_are_caught(fault: str) -> None:
    found = PLANTED[fault](SMALL)
    assert found.violated, found
    assert found.lower_bound > found.claimed
    assert found.verdict == "violation"


def test_the_document_shows_every_planted_fault() -> None:
    page = (ROOT / "docs" / "audit.md").read_text()
    for fault in PLANTED:
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {fault} |")]
        assert float(row.strip("|").split("|")[1]) > 1


def test_faults_of_the_release_path_are_caught() -> None:
    """Evidence from series.advance with the noise of releases, not from the simulation."""
    bound, effort = DegreeBound(3), AuditEffort(runs=4_000, pilot=1_000, releases=1_500)
    plan = plan_of(SensDiff(), EDGES, bound, steps=2)
    sound = audit(plan, EDGES, bound, seed=1, effort=effort)
    assert sound.release is not None
    assert 0.3 < sound.release.lower_bound < 1
    halved = released(plan, Half(ReleaseNoise()))
    found = audit(plan, EDGES, bound, seed=1, effort=effort, release=halved)
    assert found.release is not None
    assert found.simulation.lower_bound < 1 < found.release.lower_bound
    assert found.violated


def test_releases_that_forget_their_state_are_caught() -> None:
    """Each release replays the series from its start: noise drawn again for old differences."""
    bound, effort = DegreeBound(3), AuditEffort(runs=3_000, pilot=1_000, releases=0)
    plan = plan_of(SensDiff(), EDGES, bound, steps=8)
    found = audit(plan, EDGES, bound, seed=1, effort=effort, subject=redrawn(simulated(plan)))
    assert found.release is None
    assert found.violated


def test_an_audit_of_sensdiff_shows_most_of_epsilon() -> None:
    found = audit(
        plan_of(SensDiff(), EDGES, DegreeBound(3)), EDGES, DegreeBound(3), seed=2,
        effort=AuditEffort(runs=60_000, pilot=2_000, releases=0),
    )  # fmt: skip
    assert 0.9 < found.lower_bound < 1


def test_an_audit_repeats_with_its_seed() -> None:
    plan, effort = plan_of(SensDiff(), EDGES, DegreeBound(2)), AuditEffort(2_000, 1_000, 0)
    outcomes = [audit(plan, EDGES, DegreeBound(2), seed=s, effort=effort) for s in (1, 1, 2)]
    assert outcomes[0] == outcomes[1] != outcomes[2]


def test_progress_is_told_and_ends_at_one() -> None:
    told: list[float] = []
    plan = plan_of(SensDiff(), EDGES, DegreeBound(2))
    audit(
        plan, EDGES, DegreeBound(2), seed=1, effort=AuditEffort(1_000, 1_000, 0),
        progress=told.append,
    )  # fmt: skip
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.parametrize(("counted", "bound"), COUNTED)
def test_cases_reach_the_sensitivity_and_keep_the_bound(counted: Statistic, bound: Bound) -> None:
    width = 3 if counted.vector else 1
    cases = worst_cases(counted, bound, steps=STEPS, width=width)
    claimed = counted.sensitivity(bound)
    measured = 0 if counted.counted_for is None else 3  # differences, or values
    assert max(case.strengths()[measured] for case in cases) == claimed.l1
    assert max(case.strengths()[2] for case in cases) == claimed.static_l1
    for case in cases:
        assert case.pair.respects(bound)
        assert case.strengths()[measured] <= replay(counted, case.pair).l1


def test_cases_of_projected_graphs_stay_within_their_sensitivity() -> None:

    for bound in (DegreeBound(2), DegreeBound(3), InOutBound(2, 2)):
        counted = statistic("edges")
        cases = worst_cases(counted, bound, steps=STEPS, width=1, projection=bound)
        assert max(case.strengths()[2] for case in cases) == counted.projected_l1(bound)
        assert any(not case.pair.respects(bound) for case in cases)


def test_a_bound_too_large_to_build_is_refused() -> None:
    bound = DegreeBound(LARGEST_BOUND + 1)
    with pytest.raises(ParameterError, match="bound"):
        audit(plan_of(SensDiff(), EDGES, bound), EDGES, bound, seed=1)


def test_too_few_runs_and_a_senseless_confidence_are_refused() -> None:
    with pytest.raises(ParameterError, match="runs"):
        AuditEffort.of(10)
    plan = plan_of(SensDiff(), EDGES, DegreeBound(2))
    with pytest.raises(ParameterError, match="confidence"):
        audit(plan, EDGES, DegreeBound(2), seed=1, confidence=1)


def test_bounds_from_counts() -> None:
    """Against the defining tails of the binomial law, and at the ends of its range."""
    from scipy.stats import binom

    runs, likely, unlikely, error = 1000, 600, 200, 1e-3
    found = epsilon_bounds(np.array([likely]), np.array([unlikely]), runs, 0.01, error)[0]
    grid = np.linspace(0, 1, 200_001)
    least = grid[binom.sf(likely - 1, runs, grid) >= error / 2][0]
    most = grid[binom.cdf(unlikely, runs, grid) >= error / 2][-1]
    assert found == pytest.approx(log((least - 0.01) / most), abs=1e-4)
    ends = epsilon_bounds(np.array([0, 1000, 1000]), np.array([0, 0, 1000]), runs, 0.0, error)
    assert ends[0] == 0 == ends[2]
    assert ends[1] == pytest.approx(
        log((error / 2) ** (1 / runs) / (1 - (error / 2) ** (1 / runs)))
    )


def test_bounds_are_rarely_false() -> None:
    """Randomised response with a known ε: the bound may exceed it once in a hundred times."""
    rng = np.random.default_rng(3)
    runs, error = 500, 0.01
    chance = e / (1 + e)
    likely, unlikely = (rng.binomial(runs, p, 20_000) for p in (chance, 1 - chance))
    bounds = epsilon_bounds(likely, unlikely, runs, 0.0, error)
    assert (bounds > 1).mean() <= error
    assert bounds.mean() > 0.6


def test_events_speak_for_either_side() -> None:
    larger, smaller = np.array([0.0, 2.0, 2.0, 3.0] * 100), np.array([0.0, 0.0, 0.0, 2.0] * 100)
    _, event = best_event(larger, smaller, 0.0, 0.01)
    assert event.happens(np.array([event.threshold])) == 1
    for_larger = judge(DistinguishingEvent(2.0, True), larger, smaller, 0.0, 0.01)
    assert (for_larger.likely, for_larger.unlikely) == (300, 100)
    for_smaller = judge(DistinguishingEvent(0.0, False), larger, smaller, 0.0, 0.01)
    assert (for_smaller.likely, for_smaller.unlikely) == (300, 100)
    assert for_smaller.lower_bound == for_larger.lower_bound > 0.5


def test_a_delta_weakens_the_bound() -> None:
    counts = np.array([100]), np.array([1])
    pure, approximate = (epsilon_bounds(*counts, 1000, delta, 0.01)[0] for delta in (0, 0.05))
    assert pure > approximate > 0
    assert epsilon_bounds(*counts, 1000, 0.5, 0.01)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("horizon", [3, 16])
def test_long_audits_of_every_mechanism(name: str, horizon: int) -> None:
    counted, bound = BY_NAME[name]
    for plan in plans(counted, bound, horizon).values():
        found = audit(plan, counted, bound, seed=horizon, effort=NORMAL)
        assert not found.violated, (plan.mechanism.name, found)


@pytest.mark.slow
def test_a_long_audit_shows_nearly_all_of_epsilon() -> None:
    plan = plan_of(SensDiff(), EDGES, DegreeBound(3))
    found = audit(plan, EDGES, DegreeBound(3), seed=1, effort=LONG)
    assert Fraction(98, 100) < found.lower_bound < 1
