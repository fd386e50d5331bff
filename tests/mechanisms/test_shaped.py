"""Noise shaped like the change: predictions, refusals, storage, intervals and audits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.lab.attacks.costs import matrices
from graphveil.lab.audit import AuditEffort, audit
from graphveil.lab.audit_cases import simulated
from graphveil.lab.simulation import SimulationNoise, simulate
from graphveil.mechanisms.factorisations.factorisation import (
    Dense,
    Factorisation,
    Totals,
    from_dict,
)
from graphveil.mechanisms.factorisations.optimiser import optimised_with_sum
from graphveil.mechanisms.mechanism import Request, mechanism
from graphveil.mechanisms.optimised import Returning
from graphveil.mechanisms.planning.continuation import continued, renewed
from graphveil.mechanisms.planning.intervals import noise_of
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import BoxNoise, JointLaw, MovesNoise, RangeNoise
from graphveil.noise.laws import DiscreteLaplace
from graphveil.series.counting import SeriesTerms
from graphveil.series.planner import compare, plan
from graphveil.series.state import advance, start
from graphveil.statistics.sensitivity import Mass, Moves
from graphveil.statistics.statistic import Statistic, statistic

HIGH, EDGES = statistic("high-degree", tau=1), statistic("edges")
CCDF, COMPONENTS = statistic("degree-ccdf"), statistic("components")
EFFORT = AuditEffort(20_000, 1_000, 0)


def moves(counted: Statistic, degree: int, horizon: int, epsilon: int = 1) -> Plan:
    bound = DegreeBound(degree)
    return plan(counted, bound, epsilon=epsilon, horizon=horizon, mechanism="moves")


def projected(counted: Statistic, threshold: int, horizon: int, name: str) -> Plan:
    bound = DegreeBound(threshold)
    return plan(counted, bound, epsilon=1, horizon=horizon, mechanism=name, projection=bound)


def optimised(counted: Statistic, degree: int, horizon: int) -> Plan:
    bound = DegreeBound(degree)
    return plan(counted, bound, epsilon=1, horizon=horizon, mechanism="optimised-moves")


EVERY = [
    moves(HIGH, 3, 6),
    moves(COMPONENTS, 2, 12),
    projected(EDGES, 3, 6, "range-projection"),
    projected(HIGH, 2, 6, "box-projection"),
    projected(EDGES, 2, 1, "box-projection"),
]


def law_of(made: Plan) -> JointLaw:
    law = made.epoch(0).law
    assert isinstance(law, JointLaw)
    return law


def test_the_scales() -> None:
    assert law_of(moves(HIGH, 10, 5)) == MovesNoise(Fraction(22), 5)
    assert law_of(moves(COMPONENTS, 10, 5)) == MovesNoise(Fraction(20), 5)
    assert law_of(moves(EDGES, 10, 5)) == MovesNoise(Fraction(20), 5)
    assert law_of(moves(CCDF, 3, 5)) == MovesNoise(Fraction(26), 5)
    assert law_of(projected(EDGES, 4, 5, "range-projection")) == RangeNoise(Fraction(4), 5)
    assert law_of(projected(HIGH, 4, 5, "box-projection")) == BoxNoise(Fraction(5), 5)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_the_norm_of_moves_is_that_of_its_matrix(steps: int) -> None:
    matrix = Dense(matrices(steps)["bridge"])
    for shape in (Moves(4, 3), Moves(2, 5), Moves(3, 0), Mass(3)):
        assert shape.cost(Returning()) == shape.cost(matrix)


@pytest.mark.parametrize("made", EVERY, ids=lambda made: f"{made.mechanism.name} {made.subject}")
def test_predictions_agree_with_simulation(made: Plan) -> None:
    noise = simulate(made, 60_000, np.random.default_rng(1)).astype(float)
    measured = np.sqrt((noise**2).mean(axis=0))
    np.testing.assert_allclose(measured, made.predicted, rtol=0.03)


@pytest.mark.parametrize("made", EVERY, ids=lambda made: f"{made.mechanism.name} {made.subject}")
def test_the_release_path_draws_once_and_keeps_the_noise(made: Plan) -> None:
    state, published = start(made), []
    source = SimulationNoise(np.random.default_rng(8))
    for _ in range(made.request.horizon or 0):
        value, state = advance(made, state, [2], source)
        published.append(value[0])
    again = SimulationNoise(np.random.default_rng(8)).draw(law_of(made), len(published))
    errors = np.array(published) - 2 * np.arange(1, len(published) + 1)
    noise = np.array(again) if made.mechanism.projects else np.cumsum(again)
    np.testing.assert_array_equal(errors, noise)
    with pytest.raises(ParameterError, match="releases of this series were made"):
        advance(made, state, [2], source)


def test_every_number_of_a_vector_has_a_vector_of_its_own() -> None:
    made = moves(CCDF, 2, 4)
    state, rows = start(made), []
    for _ in range(4):
        value, state = advance(made, state, [0] * 3, SimulationNoise(np.random.default_rng(2)))
        rows.append(value)
    assert len(set(zip(*rows, strict=True))) == 3


@pytest.mark.parametrize("made", EVERY, ids=lambda made: f"{made.mechanism.name} {made.subject}")
def test_intervals_cover_as_they_promise(made: Plan) -> None:
    """Releases and changes nearly exactly, any other combination at least."""
    runs = simulate(made, 40_000, np.random.default_rng(4))
    steps = runs.shape[1]
    asked = [{0: 1}, {steps - 1: 1}, {0: -1, steps - 1: 1}, {0: 1, steps // 2: 1, steps - 1: 1}]
    for place, coefficients in enumerate(asked if steps > 1 else asked[:1]):
        values = sum(weight * runs[:, step] for step, weight in coefficients.items())
        for level in (Fraction(1, 2), Fraction(19, 20)):
            noise = noise_of(made, coefficients)
            inside = float((np.abs(values) <= noise.half_width(level)).mean())
            assert inside >= float(level) - 0.012
            if place < 3:
                width = noise.half_width(level)
                assert float((np.abs(values) <= width - 1).mean()) <= float(level) + 0.012


def test_noise_of_two_series_may_be_added() -> None:
    joint = moves(HIGH, 3, 6)
    plain = plan(HIGH, DegreeBound(3), epsilon=1, horizon=6, mechanism="sensdiff")
    both = noise_of(plain, {2: 1}) + noise_of(joint, {2: 1})
    values = simulate(joint, 20_000, np.random.default_rng(1))[:, 2]
    values = values + simulate(plain, 20_000, np.random.default_rng(2))[:, 2]
    width = both.half_width(Fraction(9, 10))
    assert float((np.abs(values) <= width).mean()) >= 0.9
    assert both.variance() == pytest.approx(values.var(), rel=0.05)


@pytest.mark.parametrize(
    ("made", "bound", "horizon", "reason"),
    [
        (HIGH, "moves", None, "known horizon"),
        (HIGH, "moves", 2000, "up to 1024"),
        (EDGES, "range-projection", None, "known horizon"),
        (HIGH, "range-projection", 5, "take 'box-projection'"),
        (statistic("triangles"), "box-projection", 5, "no known sensitivity"),
    ],
)
def test_what_is_refused(made: Statistic, bound: str, horizon: int | None, reason: str) -> None:
    promise = DegreeBound(3)
    with pytest.raises(ParameterError, match=reason):
        plan(made, promise, epsilon=1, horizon=horizon, mechanism=bound, projection=promise)


def test_noise_of_millions_is_refused_in_words() -> None:
    with pytest.raises(ParameterError, match="choose a larger ε"):
        plan(HIGH, DegreeBound(3), epsilon="0.000001", horizon=9, mechanism="moves")


def test_auto_takes_the_law_of_the_shape_and_never_a_projection() -> None:
    best = plan(HIGH, DegreeBound(10), epsilon=1, horizon=20)
    usual = plan(HIGH, DegreeBound(10), epsilon=1, horizon=20, mechanism="sensdiff")
    assert best.mean_std <= 0.62 * usual.mean_std
    assert all(ours < theirs for ours, theirs in zip(best.predicted, usual.predicted, strict=True))
    ranked = compare(EDGES, DegreeBound(3), epsilon=1, horizon=20, projection=DegreeBound(3))
    errors = {each.name: each.plan.mean_std for each in ranked if each.plan}
    assert errors["range-projection"] < 0.35 * errors["compose-projection"]
    assert errors["box-projection"] < 0.5 * errors["compose-projection"]
    assert plan(HIGH, DegreeBound(10), epsilon=1, horizon=None).mechanism.name == "epochs"


@pytest.mark.parametrize(
    ("steps", "most"), [(2, 0.56), (8, 0.60), (20, 0.61), (50, 0.58), (100, 0.53)]
)
@pytest.mark.parametrize("counted", [HIGH, COMPONENTS], ids=str)
def test_auto_reaches_the_targets_for_moves(counted: Statistic, steps: int, most: float) -> None:
    """Mean standard deviation against SensDiff; from D = 12 on, 2D + 2 is near enough to 2D + 1."""
    bound = DegreeBound(12)
    ours = plan(counted, bound, epsilon=1, horizon=steps, minimise="mean:equal")
    theirs = plan(counted, bound, epsilon=1, horizon=steps, mechanism="sensdiff")
    assert ours.mean_std <= most * theirs.mean_std
    early = plan(counted, bound, epsilon=1, horizon=steps)
    assert early.mean_std <= 1.04 * ours.mean_std, "what early releases gain costs little"
    if steps <= 20:
        assert all(a < b for a, b in zip(ours.predicted, theirs.predicted, strict=True))


@pytest.mark.parametrize("steps", [3, 30])
def test_a_sum_over_all_steps_is_calibrated_to_what_moves(steps: int) -> None:
    """The scale is what the dearest corner costs, over all pairs of columns of the dense matrix."""
    made = optimised(HIGH, 3, steps)
    law, matrix = made.epoch(0).law, made.epoch(0).factorisation.strategy()
    assert isinstance(law, DiscreteLaplace)
    apart = [
        int(np.abs(4 * matrix[:, s] - 3 * matrix[:, t]).sum())
        for s in range(steps)
        for t in range(steps)
        if s != t
    ]
    assert law.scale == max(*apart, 4 * int(np.abs(matrix).sum(axis=0).max()))
    assert law.scale < 7 * int(np.abs(matrix).sum(axis=0).max())
    noise = simulate(made, 20_000, np.random.default_rng(1)).astype(float)
    np.testing.assert_allclose(np.sqrt((noise**2).mean(axis=0)), made.predicted, rtol=0.05)


def error(factorisation: Factorisation, shape: Moves) -> float:
    """The mean standard deviation, but for a factor that all have."""
    return shape.cost(factorisation) * float(np.sqrt(factorisation.decoder_squares()).mean())


@pytest.mark.parametrize("shape", [Moves(4, 3), Moves(5, 2), Moves(8, 1), Moves(1, 12)], ids=str)
@pytest.mark.parametrize("steps", [3, 8, 12])
def test_the_sum_has_about_the_best_weight(shape: Moves, steps: int) -> None:
    request = Request(HIGH.sensitivity(DegreeBound(50)), Fraction(1), horizon=steps, shape=shape)
    made = mechanism("optimised-moves").epoch(request, 0)
    assert made is not None
    assert made.law == DiscreteLaplace(Fraction(shape.cost(made.factorisation)))
    tried = [optimised_with_sum(steps, Fraction(eighths, 8)) for eighths in range(2, 9)]
    assert error(made.factorisation, shape) <= 1.004 * min(error(each, shape) for each in tried)


@pytest.mark.parametrize(
    ("name", "longest"),
    [
        ("moves", 1024),
        ("optimised-moves", 4096),
        ("range-projection", 1024),
        ("box-projection", 1024),
    ],
)
def test_the_longest_horizons(name: str, longest: int) -> None:
    asked = Request(
        HIGH.sensitivity(DegreeBound(3)),
        Fraction(1),
        horizon=longest,
        projected_l1=3,
        projected_rises=True,
        shape=Moves(4, 3),
    )
    assert mechanism(name).refusal(asked) is None
    refusal = mechanism(name).refusal(replace(asked, horizon=longest + 1))
    assert refusal == f"is computed for horizons up to {longest} only"


@pytest.mark.parametrize(("rises", "falls"), [(8, 3), (3, 8), (9, 1), (1, 1)])
def test_whatever_moves_at_all_gains_by_a_sum(rises: int, falls: int) -> None:
    """Rises and falls that cannot meet would cost twice their sum."""
    known = replace(HIGH.sensitivity(DegreeBound(3)), l1=rises + falls)
    asked = Request(known, Fraction(1), horizon=5, shape=Moves(rises, falls))
    assert mechanism("optimised-moves").refusal(asked) is None
    still = mechanism("optimised-moves").refusal(replace(asked, shape=Moves(rises + falls, 0)))
    assert still == "gains nothing: one person's changes do not move from step to step"


def test_without_moves_a_sum_over_all_steps_is_refused() -> None:
    with pytest.raises(ParameterError, match="gains nothing"):
        optimised(EDGES, 3, 5)


@pytest.mark.parametrize(
    "made",
    [*EVERY, optimised(HIGH, 3, 6)],
    ids=lambda made: f"{made.mechanism.name} {made.subject}",
)
def test_what_follows_has_a_price_unless_it_is_the_rest_of_the_same_noise(made: Plan) -> None:
    """A move from one epoch to the next would be two appearances, each of which costs ε."""
    assert continued(made, 3).request.epsilon > made.request.epsilon
    if made.epoch(0).resumes:  # its rest is drawn anew
        assert renewed(made, 1) is made
    else:
        assert renewed(made, 1).request.epsilon > made.request.epsilon


@pytest.mark.parametrize("made", EVERY, ids=lambda made: f"{made.mechanism.name} {made.subject}")
def test_a_stored_plan_comes_back(made: Plan) -> None:
    again = Plan.from_dict(made.to_dict())
    assert again == made
    assert again.predicted == made.predicted


def test_a_plan_of_before_shapes_is_read_and_written_as_it_was() -> None:
    stored = plan(HIGH, DegreeBound(3), epsilon=1, horizon=4, mechanism="sensdiff").to_dict()
    del stored["request"]["shape"]
    again = Plan.from_dict(stored)
    assert again.to_dict() == stored
    SeriesTerms(HIGH, DegreeBound(3), again).require_fitting_plan()


def test_a_plan_for_another_shape_is_refused() -> None:
    made = moves(HIGH, 3, 4)
    smaller = replace(made, request=replace(made.request, shape=Moves(1, 1)))
    with pytest.raises(ParameterError, match="another shape"):
        SeriesTerms(HIGH, DegreeBound(3), smaller).require_fitting_plan()
    falling = projected(HIGH, 3, 4, "box-projection")
    rising = replace(falling, request=replace(falling.request, projected_rises=True))
    SeriesTerms(HIGH, DegreeBound(3), falling).require_fitting_plan()
    with pytest.raises(ParameterError, match="another threshold"):
        SeriesTerms(HIGH, DegreeBound(3), rising).require_fitting_plan()


def test_a_shape_never_makes_a_matrix_dearer_than_gamma() -> None:
    sensitivity = HIGH.sensitivity(DegreeBound(3))
    careless = Request(sensitivity, Fraction(1), horizon=4, shape=Mass(100))
    assert careless.cost(Returning()) == 2 * sensitivity.l1


def test_totals_are_published_as_they_are_measured() -> None:
    totals = Totals(4)
    assert from_dict(totals.to_dict()) == totals
    np.testing.assert_array_equal(totals.decoder() @ totals.strategy(), np.tril(np.ones((4, 4))))
    assert totals.decode([3, -1, 0, 2]) == [3, -1, 0, 2]
    assert (totals.column_l1(), totals.column_l2_squared(), totals.measurements) == (4, 4, 4)
    assert totals.integral_steps().all()


AUDITED = [
    (moves(HIGH, 3, 4), HIGH, DegreeBound(3)),
    (moves(COMPONENTS, 3, 5), COMPONENTS, DegreeBound(3)),
    (optimised(HIGH, 3, 5), HIGH, DegreeBound(3)),
    (projected(EDGES, 2, 4, "range-projection"), EDGES, DegreeBound(2)),
    (projected(HIGH, 2, 4, "box-projection"), HIGH, DegreeBound(2)),
]


@pytest.mark.parametrize(
    ("made", "counted", "bound"), AUDITED, ids=lambda each: getattr(each, "subject", "")
)
def test_an_audit_finds_nothing_but_half_of_the_noise(
    made: Plan, counted: Statistic, bound: DegreeBound
) -> None:
    honest = audit(made, counted, bound, seed=1, effort=EFFORT)
    assert not honest.violated, honest
    request = replace(made.request, epsilon=2 * made.request.epsilon)
    quieter = simulated(Plan.of(made.mechanism, request))
    assert audit(made, counted, bound, seed=1, effort=EFFORT, subject=quieter).violated


def test_moves_claimed_for_edges_are_refuted() -> None:
    """A planted error of the shape: appearances taken for moves, at half of the scale."""
    request = moves(EDGES, 3, 4).request
    wrong = Plan.of(moves(EDGES, 3, 4).mechanism, replace(request, shape=Moves(1, 1)))
    assert law_of(wrong).scale == 2
    assert audit(wrong, EDGES, DegreeBound(3), seed=1, effort=EFFORT).violated


@pytest.mark.parametrize(("steps", "ratio"), [(1, 0.50), (3, 0.55), (8, 0.575), (20, 0.586)])
def test_the_bridge_against_sensdiff(steps: int, ratio: float) -> None:
    """Components, for which both have the same scale; D is large, so discreteness plays no part."""
    bound = DegreeBound(50)
    ours, theirs = (
        plan(COMPONENTS, bound, epsilon=1, horizon=steps, mechanism=name)
        for name in ("moves", "sensdiff")
    )
    assert ours.mean_std / theirs.mean_std == pytest.approx(ratio, abs=0.006)
    late = [t * (steps + 1 - t) / (steps + 1) for t in range(1, steps + 1)]
    shape = np.array(ours.predicted) ** 2 / np.array(late)
    assert shape.max() == pytest.approx(shape.min())
    assert sqrt(shape.min()) > 0
