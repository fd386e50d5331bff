"""Going on past a horizon, or half-way: its price, attacked with every change over the border."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, lcm, log
from typing import Any

import numpy as np
import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound
from graphveil.graph.thresholds import FollowingBound
from graphveil.lab.attacks import costs
from graphveil.lab.simulation import SimulationNoise, simulate
from graphveil.mechanisms.factorisations.bordered import single_step
from graphveil.mechanisms.mechanism import Epoch, Measured, Request, mechanism, registered
from graphveil.mechanisms.planning import continuation
from graphveil.mechanisms.planning.continuation import (
    Charge,
    charges,
    continued,
    extended,
    loss,
    loss_on_differences,
    renewed,
)
from graphveil.mechanisms.planning.intervals import half_widths, noise_of
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import BoxNoise, JointLaw, MovesNoise, RangeNoise
from graphveil.noise.laws import DiscreteLaplace, NoiseLaw
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.series import state as states
from graphveil.series.planner import plan
from graphveil.series.state import SeriesState, advance, start
from graphveil.statistics.sensitivity import Bins, Moves, Shape
from graphveil.statistics.statistic import statistic

BOUND = DegreeBound(3)
COMPONENTS, HIGH = statistic("components"), statistic("high-degree", tau=2)
TOTALS = sorted(
    name
    for name, each in registered().items()
    if each.pure and each.measured in (Measured.TOTALS, Measured.PROJECTED_TOTALS)
)
DIFFERENCES = sorted(name for name, each in registered().items() if each.pure and each.adds_up)
WHOLE = [name for name in DIFFERENCES if registered()[name].whole]
PLAIN = [name for name in DIFFERENCES if not registered()[name].whole]


def planned(name: str, horizon: int, epsilon: str = "1", what: str = "components") -> Plan:
    counted = HIGH if what == "high-degree" else statistic(what)
    delta = None if registered()[name].pure else "0.001"
    projection: Bound | None = BOUND if registered()[name].projects else None
    if registered()[name].follows:
        projection = FollowingBound(100)
    return plan(
        counted, BOUND, epsilon=epsilon, delta=delta, horizon=horizon, mechanism=name,
        projection=projection,
    )  # fmt: skip


# What a change costs, by the definition: the norm of each epoch's law, over its scale.


def measured(epoch: Epoch) -> np.ndarray:
    """The matrix behind the norm of an epoch's law."""
    matrix = epoch.factorisation.strategy()
    if isinstance(epoch.law, MovesNoise):
        return np.vstack([matrix, np.ones_like(matrix[:1])])
    return matrix


def charged(made: Plan, change: np.ndarray) -> Fraction:
    """Σ ‖C_e·d_e‖₁/b_e for a change of the differences, step by step."""
    total, first = Fraction(), 0
    for epoch in made.epochs:
        here = np.zeros(epoch.factorisation.steps, dtype=np.int64)
        part = change[first : first + epoch.steps]
        here[: len(part)] = part
        total += Fraction(int(np.abs(measured(epoch) @ here).sum())) / epoch.law.size
        first += epoch.steps
    return total


def changes(shape: Moves, steps: int) -> Iterator[np.ndarray]:
    """Every change of this shape."""
    reach = range(-shape.falls, shape.rises + 1)
    for change in product(reach, repeat=steps):
        rises, falls = sum(max(each, 0) for each in change), -sum(min(each, 0) for each in change)
        if rises <= shape.rises and falls <= shape.falls:
            yield np.array(change, dtype=np.int64)


def dearest(made: Plan, steps: int) -> Fraction:
    """What the dearest change costs, of all there are."""
    assert isinstance(made.request.shape, Moves)
    return max(charged(made, change) for change in changes(made.request.shape, steps))


def asked(shape: Shape | None, horizon: int, epsilon: Fraction = Fraction(1)) -> Request:
    claim = COMPONENTS.sensitivity(BOUND)
    most = claim.l1
    if isinstance(shape, Moves):
        most = shape.rises + shape.falls
    return Request(replace(claim, l1=most), epsilon, horizon=horizon, shape=shape)


SHAPES = [Moves(1, 1), Moves(2, 1), Moves(1, 2), Moves(2, 2), Moves(2, 0), Moves(3, 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 2), (3, 2), (1, 3)])
def test_no_change_over_the_border_costs_more_than_was_paid(
    name: str, shape: Moves, before: int, after: int
) -> None:
    """Every change of the shape, of which the dearest costs just what is claimed."""
    request = asked(shape, before)
    if mechanism(name).refusal(request) is not None:
        pytest.skip("has nothing that moves")
    made = Plan.of(mechanism(name), request)
    assert dearest(made, before) <= 1
    for price in (None, Fraction(1, 10), Fraction(1)):
        longer = continued(made, after, price)
        paid = longer.request.epsilon - 1
        assert paid == (paid if price is None else price)
        found = dearest(longer, before + after)
        assert found <= longer.request.epsilon
        assert found == loss(longer.mechanism, longer.request, longer.epochs) or shape.falls == 0
        twice = continued(longer, 1)
        assert twice.request.epsilon == longer.request.epsilon  # what was paid holds on
        assert dearest(twice, before + after + 1) <= twice.request.epsilon


@pytest.mark.parametrize("shape", [Moves(1, 1), Moves(2, 2), Moves(2, 1)], ids=str)
def test_a_wrong_price_is_found(shape: Moves) -> None:
    """Planted: epochs are charged as if a change lay in one of them, or met half of the others."""
    made = Plan.of(mechanism("moves"), asked(shape, 2))
    longer = continued(made, 2)
    right = longer.request.epsilon
    wrong = max(
        loss(made.mechanism, made.request, (epoch,)) for epoch in longer.epochs
    )  # forgets that a move may cross
    assert wrong < right - Fraction(1, 4) < dearest(longer, 4) <= right
    (first, *others) = charges(longer.epochs)
    half = [each.scaled(Fraction(1, 2)) for each in others]
    assert loss_on_differences(made.request, [first, *half]) < dearest(longer, 4)


def test_after_noise_that_returns_to_zero_half_an_epsilon_buys_the_noise_of_sensdiff() -> None:
    """With r rises and f falls, ε·min(r, f)/(r + f): a half for components, a little less else."""
    for shape in SHAPES:
        made = Plan.of(mechanism("moves"), asked(shape, 4))
        longer = continued(made, 3)
        few, many = sorted((shape.rises, shape.falls))
        price = Fraction(few, few + many)
        assert 0 <= longer.request.epsilon - 1 - price < Fraction(1, 1000)  # which is rounded up
        assert 1 <= (few + many) / longer.epochs[-1].law.size < Fraction(101, 100)


def test_nothing_is_paid_where_a_law_leaves_room() -> None:
    """A weight of the sum below 1 leaves some of ε to those who move over the border."""
    made = planned("optimised-moves", 60, what="high-degree")
    room = 1 - 4 * charges(made.epochs)[0].single  # four rises at the dearest step
    free = continued(made, 5, Fraction())
    assert Fraction(9, 100) < room < Fraction(1, 10)
    assert free.request.epsilon == 1
    assert Fraction(9, 10) * room / 3 < charges(free.epochs)[-1].single <= room / 3
    usual = continued(made, 5)
    assert usual.request.epsilon == 1 + Fraction(332, 1000)
    assert usual.request.epsilon > 1 - room + Fraction(3, 7)
    assert sum(usual.predicted[60:]) < sum(free.predicted[60:])
    with pytest.raises(ParameterError, match="too small") as refused:
        continued(planned("moves", 6), 2, Fraction())
    assert "0.5" in str(refused.value)


def test_for_a_price_the_mechanism_with_the_least_error_follows() -> None:
    made = planned("moves", 6)
    for price in (Fraction(1, 8), Fraction(1, 2)):
        longer = continued(made, 40, price)
        for name in PLAIN:
            other = Plan.of(mechanism(name), replace(made.request, horizon=40))
            (scaled,) = {2 * price * epoch.law.privacy_loss for epoch in other.epochs}
            epochs = tuple(replace(each, law=DiscreteLaplace(1 / scaled)) for each in other.epochs)
            rival = replace(longer, epochs=made.epochs + epochs)
            if sum(epoch.steps for epoch in epochs) == 40:
                assert dearest_at_corners(rival) <= 1 + price
                assert sum(longer.predicted) <= 1.002 * sum(rival.predicted)


def dearest_at_corners(made: Plan) -> Fraction:
    """All rises at one step and all falls at another, where the norm of a long plan is largest."""
    shape, steps = made.request.shape, made.request.horizon
    assert isinstance(shape, Moves)
    assert steps is not None
    eye = np.eye(steps, dtype=np.int64)
    places = [0, 5, 6, 7, steps - 1]
    pairs = [(s, t) for s in places for t in places if s != t]
    return max(charged(made, shape.rises * eye[s] - shape.falls * eye[t]) for s, t in pairs)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("what", ["components", "edges", "degree-ccdf"])
def test_noise_on_differences_goes_on_for_nothing(name: str, what: str) -> None:
    made = planned(name, 9, what=what)
    longer = continued(made, 20)
    assert longer.request == replace(made.request, horizon=29)
    assert loss(longer.mechanism, longer.request, longer.epochs) == 1
    assert charges(longer.epochs)[-1].single == charges(made.epochs)[-1].single
    better = continued(made, 20, Fraction(1, 2))
    assert loss(better.mechanism, better.request, better.epochs) <= Fraction(3, 2)
    assert sum(better.predicted) < sum(longer.predicted)  # who pays has less noise
    with pytest.raises(ParameterError, match="must not be negative"):
        continued(made, 20, Fraction(-1, 4))


def test_gaussian_noise_on_differences_goes_on_for_nothing() -> None:
    made = planned("gaussian", 9)
    longer = continued(made, 7)
    assert longer.request == replace(made.request, horizon=16)
    assert longer.epochs == (*made.epochs, *planned("gaussian", 7).epochs)
    with pytest.raises(ParameterError, match="for nothing"):
        continued(made, 7, Fraction(1, 2))


@pytest.mark.parametrize("name", TOTALS)
def test_totals_go_on_for_as_much_a_release_as_before(name: str) -> None:
    made = planned(name, 6, what="edges")
    longer = continued(made, 4)
    assert longer.request.epsilon == 1 + Fraction(4, 6)
    assert loss(longer.mechanism, longer.request, longer.epochs) == longer.request.epsilon
    assert longer.predicted[:6] == made.predicted or made.mechanism.follows
    cheap = continued(made, 4, Fraction(1, 10))
    assert cheap.request.epsilon == Fraction(11, 10)
    assert cheap.predicted[6] > longer.predicted[6] * (1 if made.mechanism.follows else 5)
    again = continued(longer, 3)
    assert again.request.epsilon == 1 + Fraction(4, 6) + Fraction(3, 6)
    with pytest.raises(ParameterError, match="above 0"):
        continued(made, 4, Fraction())


@pytest.mark.parametrize("name", TOTALS)
@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 2), (1, 3)])
def test_no_change_of_totals_costs_more_than_was_paid(name: str, before: int, after: int) -> None:
    """One person may change every total, on both sides of the border, and that is paid for."""
    made = planned(name, before, what="edges")
    longer = continued(made, after, Fraction(1, 3))
    high = made.request.projected_l1 if made.mechanism.projects else 3
    assert high is not None
    worst = Fraction()
    for change in product((0, 1, high), repeat=before + after):
        cost, first = Fraction(), 0
        for epoch in longer.epochs:
            part = change[first : first + epoch.steps]
            cost += max(part) / epoch.law.size  # of any sign: box, and range of those that rise
            first += epoch.steps
        worst = max(worst, cost)
    assert worst == longer.request.epsilon == Fraction(4, 3)


# The laws themselves: how much likelier one person can make any outcome, on both sides.


def law_of(epoch: Epoch, reach: int) -> dict[tuple[int, ...], float]:
    """P(noise of what is measured), from the definition, on all vectors that matter."""
    law = epoch.law
    grid = product(range(-reach, reach + 1), repeat=epoch.steps)
    weights = {each: exp(-norm(law, each) / float(law.size)) for each in grid}
    whole = sum(weights.values())
    return {each: weight / whole for each, weight in weights.items()}


def norm(law: object, vector: tuple[int, ...]) -> int:
    if isinstance(law, MovesNoise):
        return sum(map(abs, vector)) + abs(sum(vector))
    if isinstance(law, RangeNoise):
        return max(0, *vector) - min(0, *vector)
    if isinstance(law, BoxNoise):
        return max(map(abs, vector))
    return sum(map(abs, vector))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("moves", (1, 0, 0, -1)),
        ("moves", (0, -1, 1, 0)),
        ("box-projection", (3, -3, -3, 3)),
        ("range-projection", (0, 3, 3, 3)),
    ],
)
def test_the_price_is_what_the_likeliest_outcome_tells(name: str, change: tuple[int, ...]) -> None:
    """The exact loss over all outcomes of both laws is ε and the price: none could be smaller."""
    if name == "moves":
        made = Plan.of(mechanism(name), asked(Moves(1, 1), 2))
    else:
        made = planned(name, 2, "3", "edges")
    longer = continued(made, 2)
    total, first = 0.0, 0
    for epoch in longer.epochs:
        part, reach = change[first : first + epoch.steps], 14
        law = law_of(epoch, reach)
        ratios = [
            log(law[each] / law[moved])
            for each in law
            if (moved := tuple(a + b for a, b in zip(each, part, strict=True))) in law
        ]
        total += max(ratios)
        first += epoch.steps
    assert total == pytest.approx(float(longer.request.epsilon))


# Graphs: every pair of neighbours with a few people, on both sides of the border.


def side_by_side(made: Plan) -> tuple[np.ndarray, int]:
    """All epochs as one matrix, in whole numbers, and the unit of its rows."""
    unit = lcm(*(epoch.law.privacy_loss.denominator for epoch in made.epochs))
    steps = sum(epoch.steps for epoch in made.epochs)
    rows, first = [], 0
    for epoch in made.epochs:
        block = np.zeros((len(measured(epoch)), steps), dtype=np.int64)
        block[:, first : first + epoch.steps] = measured(epoch)[:, : epoch.steps]
        rows.append(int(epoch.law.privacy_loss * unit) * block)
        first += epoch.steps
    return np.vstack(rows), unit


@pytest.mark.parametrize(
    ("what", "parameters", "degree"),
    [
        ("components", {}, 2),
        pytest.param("clusters", {"k": 2}, 3, marks=pytest.mark.slow),
        ("high-degree", {"tau": 1}, 2),
        pytest.param("degree-ccdf", {}, 2, marks=pytest.mark.slow),
    ],
)
def test_no_neighbours_tell_more_than_was_paid(
    what: str, parameters: dict[str, int], degree: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every pair of up to 4 people over 4 steps, and some larger ones, whatever they move."""
    bound, counted = DegreeBound(degree), statistic(what, **parameters)

    def longer(steps: int) -> Plan:
        before = max(1, steps // 2)
        made = plan(counted, bound, epsilon=1, horizon=before, mechanism="moves")
        return continued(made, steps - before) if steps > before else made

    paid, unit = longer(4).request.epsilon, side_by_side(longer(4))[1]
    assert all(
        (longer(n).request.epsilon, side_by_side(longer(n))[1]) == (paid, unit) for n in (3, 6)
    )
    monkeypatch.setattr(costs, "matrices", lambda n: {"border": side_by_side(longer(n))[0]})
    (finding,) = costs.attack_costs(counted, bound, sizes=((3, 3), (4, 4)), moves=400)
    found = Fraction(finding.found, unit)
    assert found <= paid
    if what in ("components", "high-degree"):
        assert found > 1  # who forgets the border is found out


# Predicted errors, intervals, storage, and the numbers that are published.

GOING_ON = [
    ("moves", "components", None),
    ("moves", "high-degree", "1/10"),
    ("optimised-moves", "components", None),
    ("optimised-moves", "high-degree", "0"),
    ("box-projection", "high-degree", None),
    ("range-projection", "edges", "1/4"),
    ("compose-projection", "edges", None),
    ("optimised", "edges", None),
    ("gaussian", "degree-ccdf", None),
]


@pytest.mark.parametrize(("name", "what", "price"), GOING_ON)
@pytest.mark.parametrize("epsilon", ["1", "12"])
def test_predictions_and_intervals_after_the_border(
    name: str, what: str, price: str | None, epsilon: str
) -> None:
    made = planned(name, 40 if name == "optimised-moves" else 6, epsilon, what)
    before = made.request.horizon or 0
    after = continued(continued(made, 5, None if price is None else Fraction(price)), 2)
    noise = simulate(after, 20_000, np.random.default_rng(3))
    predicted = np.array(after.predicted)
    np.testing.assert_allclose(noise.std(axis=0), predicted, rtol=0.06, atol=0.06)
    stored = Plan.from_dict(after.to_dict())
    assert stored == after
    assert stored.predicted == after.predicted
    steps = [before - 1, before, before + 4, before + 6]
    widths = half_widths(after, range(before + 7), Fraction(9, 10))
    for step in steps:
        inside = np.mean(np.abs(noise[:, step]) <= widths[step])
        assert inside >= 0.9 - 4 * np.sqrt(0.09 / 20_000)
        narrower = np.mean(np.abs(noise[:, step]) <= widths[step] - 2 - widths[step] // 20)
        assert narrower < 0.9  # no wider than it has to be
    for earlier, later in ((0, before), (before - 1, before), (before, before + 6)):
        width = noise_of(after, {earlier: -1, later: 1}).half_width(Fraction(9, 10))
        apart = noise[:, later] - noise[:, earlier]
        assert np.mean(np.abs(apart) <= width) >= 0.9 - 4 * np.sqrt(0.09 / 20_000)


def test_plans_that_older_versions_would_misread_have_a_format_of_their_own() -> None:
    made = planned("moves", 6)
    assert made.to_dict()["format"] == 1
    assert continued(made, 2).to_dict()["format"] == 3
    assert continued(planned("optimised", 6), 2).to_dict()["format"] == 1


class Counted:
    """Draws 1, 2, 3, … and for the rest of a vector 100, 101, …"""

    def __init__(self) -> None:
        self.next, self.rest, self.used = 1, 100, list[list[int]]()

    def draw(self, law: object, count: int) -> list[int]:
        drawn = list(range(self.next, self.next + count))
        self.next += count
        return drawn

    def draw_rest(self, law: NoiseLaw, used: Sequence[int]) -> list[int]:
        assert isinstance(law, JointLaw)
        self.used.append(list(used))
        drawn = list(range(self.rest, self.rest + law.steps - len(used)))
        self.rest += len(drawn)
        return drawn


def run(
    made: Plan, state: SeriesState, steps: int, source: Counted
) -> tuple[list[int], SeriesState]:
    said = []
    for _ in range(steps):
        (raw,), state = advance(made, state, [0], source)
        said.append(raw)
    return said, state


def test_what_follows_begins_with_the_noise_that_was_published() -> None:
    made = planned("moves", 3)
    longer, source = continued(made, 2), Counted()
    said, _ = run(longer, start(longer), 5, source)
    assert said[:3] == [1, 3, 6]
    assert longer.epochs[1].factorisation.decode([4, 5])[:2] == [4, 9]
    assert said[3:] == [10, 15]


def test_what_follows_does_not_depend_on_what_was_imported_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, known = planned("moves", 3), registered()
    longer = continued(made, 2)
    for reverse in (False, True):
        ordered = dict(sorted(known.items(), reverse=reverse))
        monkeypatch.setattr(continuation, "registered", lambda ordered=ordered: ordered)
        assert continued(made, 2).epochs == longer.epochs


def test_after_resumed_noise_it_begins_with_the_new_end() -> None:
    """Not with the one that another copy may have published."""
    made, source = planned("moves", 3), Counted()
    longer = continued(made, 2)
    _, state = run(longer, start(longer), 1, source)
    fresh = states.renewed(longer, state, source)
    assert fresh.noise == ((1, 101, 202),)
    said, _ = run(longer, fresh, 4, source)
    assert said == [101, 202, 206, 211]


@pytest.mark.parametrize("name", ["box-projection", "range-projection"])
def test_noise_on_totals_is_resumed_from_what_was_published(name: str) -> None:
    made, source = planned(name, 4, what="edges"), Counted()
    longer = continued(made, 3)
    assert renewed(longer, 2) is longer
    _, state = run(longer, start(longer), 2, source)
    fresh = states.renewed(longer, state, source)
    assert (source.used, fresh.noise) == ([[1, 2]], ((1, 2, 100, 101),))
    said, state = run(longer, fresh, 4, source)
    assert said == [100, 101, 5, 6]
    again = states.renewed(longer, state, source)
    assert (source.used[-1], again.noise) == ([5, 6], ((5, 6, 102),))
    real = states.renewed(longer, state, ReleaseNoise())
    assert real.noise[0][:2] == (5, 6)


@pytest.mark.parametrize("releases", [1, 20, 39])
def test_noise_for_moves_is_renewed_half_way_at_the_price_of_going_on(releases: int) -> None:
    made = planned("optimised-moves", 40, what="high-degree")
    after = renewed(made, releases)
    assert after.epoch(0).cut == releases
    assert sum(epoch.steps for epoch in after.epochs) == 40
    price = after.request.epsilon - 1
    assert 0 < price <= Fraction(1, 2)
    assert loss(after.mechanism, after.request, after.epochs) <= 1 + price
    noise = simulate(after, 20_000, np.random.default_rng(4))
    np.testing.assert_allclose(noise.std(axis=0), np.array(after.predicted), rtol=0.05)
    shape = made.request.shape
    assert isinstance(shape, Moves)
    eye = np.eye(40, dtype=np.int64)
    for s, t in product((0, releases - 1, releases, 39), repeat=2):
        assert charged(after, shape.rises * eye[s] - shape.falls * eye[t] * (s != t)) <= 1 + price
    free = renewed(made, releases, Fraction())
    assert free.request.epsilon == 1
    with pytest.raises(ParameterError, match="for nothing"):
        renewed(made, 40, Fraction(1, 2))


def test_a_price_can_be_paid_half_way_and_past_the_end() -> None:
    """First cut, then continued, then cut again: what was paid once is not paid twice."""
    made = renewed(planned("optimised-moves", 40), 10)
    longer = continued(made, 5)
    again = renewed(longer, 42)
    assert made.request.epsilon == longer.request.epsilon == again.request.epsilon
    assert loss(again.mechanism, again.request, again.epochs) <= again.request.epsilon


def test_a_series_that_has_said_nothing_is_planned_anew() -> None:
    for name in ("moves", "box-projection", "compose-projection", "optimised"):
        made = planned(name, 6, what="edges")
        assert extended(made, 0, 4) == planned(name, 10, what="edges")
        assert extended(made, 1, 4) == continued(made, 4)
    with pytest.raises(ParameterError, match="for nothing"):
        extended(planned("moves", 6), 0, 4, Fraction(1))


def test_a_vector_pays_for_every_number() -> None:
    shape = Bins((Moves(1, 1), Moves(2, 1)))
    claim = replace(COMPONENTS.sensitivity(BOUND), l1=5)
    made = Plan.of(mechanism("moves"), Request(claim, Fraction(1), horizon=2, width=2, shape=shape))
    longer = continued(made, 2)
    (scale,) = {epoch.law.size for epoch in made.epochs}
    assert scale == 6
    crossing = (2 * 1 + 2 * 2) / scale + Fraction(1 * 1 + 1 * 1, 5)
    assert 0 <= longer.request.epsilon - crossing < Fraction(1, 1000)


def test_the_same_epoch_twice_is_two_epochs() -> None:
    """A move from one to the next is charged in both."""
    request = asked(Moves(1, 1), 2)
    one = Charge(single_step(), Fraction(1, 2))
    assert loss_on_differences(request, [one]) == Fraction(1, 2)
    assert loss_on_differences(request, [replace(one, times=2)]) == 1
    assert loss_on_differences(request, [one, one.scaled(Fraction(1, 2))]) == Fraction(3, 4)


def test_simulated_noise_is_that_of_the_series() -> None:
    """Both paths carry the end of a joint law along."""
    longer = continued(planned("moves", 2, "2"), 2)
    source = SimulationNoise(np.random.default_rng(0))
    said = np.array([_said(longer, source) for _ in range(3_000)])
    np.testing.assert_allclose(said.std(axis=0), longer.predicted, rtol=0.08)


def _said(made: Plan, source: SimulationNoise) -> list[int]:
    state, said = start(made), []
    for _ in range(4):
        (raw,), state = advance(made, state, [0], source)
        said.append(raw)
    return said


def test_what_goes_on_for_nothing_has_no_price() -> None:
    """Ten releases of an epoch of sixteen: six more are there already, to the last."""
    made = planned("epochs", 10, what="nodes")
    for more in (5, 6):
        with pytest.raises(ParameterError, match=r"epochs goes on for nothing here.*price out"):
            continued(made, more, Fraction(1, 10))
        assert continued(made, more).epochs == made.epochs
    for more in (0, True):
        with pytest.raises(ParameterError, match="more_steps"):
            extended(made, 0, more)


def test_after_the_last_release_the_epoch_is_cut_all_the_same() -> None:
    """Its spare noise was drawn, and another copy may have it."""
    made = planned("epochs", 10, what="nodes")
    assert [each.cut for each in renewed(made, 10).epochs] == [10]


def test_noise_that_was_planned_for_its_releases_with_delta_ends_there() -> None:
    with pytest.raises(ParameterError, match="cannot go past the releases it was planned for"):
        continued(planned("gaussian-projection", 4, what="edges"), 2)


@pytest.mark.parametrize("epsilon", ["1", "1/3", "5"])
@pytest.mark.parametrize("price", [None, Fraction(1, 5), Fraction(3)])
def test_what_follows_has_the_least_noise_that_the_price_allows(
    epsilon: str, price: Fraction | None
) -> None:
    """In 1024ths of its own ε; and prices are in parts of the ε, so that all scale with it."""
    made = planned("moves", 5, epsilon)
    share = made.request.epsilon
    longer = continued(made, 4, None if price is None else price * share)
    assert longer.request.epsilon - share == (price or Fraction(1, 2)) * share
    first, *new = charges(longer.epochs)

    def total(scale: Fraction) -> Fraction:
        return loss_on_differences(
            made.request, (first, *(replace(each, times=2).scaled(scale) for each in new))
        )

    assert total(Fraction(1)) <= longer.request.epsilon
    parts = new[0].single * made.request.sensitivity.l1 / share * 1024
    assert parts.denominator == 1
    assert total((parts + 1) / parts) > longer.request.epsilon


def test_of_those_that_follow_nearly_as_well_the_first_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thousandth of the error is no difference, however large the errors are."""
    made, errors = (
        planned("moves", 6),
        dict(zip("abcd", (100.5, 100.05, 100.0, 99.96), strict=True)),
    )
    monkeypatch.setattr(continuation, "_mean_error", lambda _plan, _kept, new: errors[new[0]])
    offered: Any = [(each,) for each in errors]
    assert continuation._best(made, (), offered) == offered[1]


def test_errors_are_compared_at_the_new_steps() -> None:
    made = planned("moves", 6)
    longer = continued(made, 3)
    found = continuation._mean_error(longer, made.epochs, longer.epochs[1:])
    assert found == pytest.approx(sum(longer.predicted[6:]))


def test_what_has_no_end_needs_no_continuation() -> None:
    endless = plan(COMPONENTS, BOUND, epsilon=1, horizon=None, mechanism="sensdiff")
    with pytest.raises(ParameterError, match="continues by itself"):
        continued(endless, 3)


def test_a_price_for_which_no_noise_can_be_made_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"price.*noise of millions"):
        continued(planned("box-projection", 4, what="edges"), 4, Fraction(1, 10**9))


def test_after_a_dear_epoch_the_price_is_that_of_its_own_noise() -> None:
    """The usual price is for what the last epoch has, if that is more noise than SensDiff's."""
    cheap = continued(planned("moves", 6), 4, Fraction(1, 8))
    assert cheap.request.epsilon == Fraction(9, 8)
    again = continued(cheap, 4)
    assert again.request.epsilon == Fraction(9, 8)
    assert charges(again.epochs)[-1].single <= charges(cheap.epochs)[-1].single
