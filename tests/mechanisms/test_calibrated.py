"""Every mechanism, on every request it admits, has noise enough for what one person can change.

What is enough is computed here from the dense strategy matrices and the sensitivity, not by
the functions that the mechanisms themselves use.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import count, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.mechanisms import gaussian, laplace, optimised, projected
from graphveil.mechanisms import mechanism as mechanism_module
from graphveil.mechanisms import optimised as moves
from graphveil.mechanisms.factorisations.bordered import Bordered
from graphveil.mechanisms.factorisations.triangular import ScaledToeplitz
from graphveil.mechanisms.mechanism import (
    Epoch,
    Measured,
    Mechanism,
    Request,
    mechanism,
    registered,
)
from graphveil.mechanisms.planning.continuation import continued
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import BoxNoise, MovesNoise, RangeNoise
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace
from graphveil.noise.zcdp import laplace_for, rho_of
from graphveil.statistics.sensitivity import Bins, Mass, Measure, Moves, Recent, Sensitivity, Shape
from graphveil.statistics.statistic import Statistic, statistic
from graphveil.statistics.statistic import registered as statistics

Integers = NDArray[np.int64]

NAMES = sorted(registered())
BOUNDS: list[Bound] = [DegreeBound(1), DegreeBound(4), InOutBound(2, 3), InOutBound(1, 5)]
EPSILONS = [Fraction(1, 7), Fraction(3)]
HORIZONS = [None, 1, 2, 7, 20]
DELTA = Fraction(1, 10**6)
CCDF = statistic("degree-ccdf").sensitivity(DegreeBound(4))
RECENT = [statistic("edges", window=4), statistic("components", window=9)]
FIRST_EPOCHS = 2  # that are looked at where the horizon is unknown


def changing(bound: Bound) -> Iterator[tuple[Statistic, Sensitivity]]:
    """Every example of every statistic that can change under a bound, and some recent ones."""
    examples = [example for member in statistics().values() for example in member.examples()]
    for example in (*examples, *RECENT):
        try:
            example.require_domain(directed=bound.directed)
            stated = example.sensitivity(bound)
        except ParameterError:
            continue
        if stated.l1:
            yield example, stated


def requests() -> Iterator[Request]:
    for bound in BOUNDS:
        distinct = {
            (stated.l1, stated.static_l1, chosen.shape(bound), after): (chosen, stated, after)
            for chosen, stated in changing(bound)
            for after in [chosen.projected_l1(bound)]
        }
        for chosen, stated, after in distinct.values():
            width, rises, shape = chosen.width(bound), chosen.projection_rises, chosen.shape(bound)
            for epsilon, horizon in product(EPSILONS, HORIZONS):
                yield Request(stated, epsilon, None, horizon, width, after, rises, shape)


def admitted(member: Mechanism) -> list[Request]:
    asked = [each if member.pure else replace(each, delta=DELTA) for each in requests()]
    asked = [replace(each, guess=(100,)) for each in asked] if member.follows else asked
    return [each for each in asked if member.refusal(each) is None]


def epochs_of(member: Mechanism, request: Request) -> list[Epoch]:
    plan = Plan.of(member, request)
    if request.horizon is None:
        return [plan.epoch(number) for number in range(FIRST_EPOCHS)]
    return list(plan.epochs)


def columns(epoch: Epoch) -> list[list[int]]:
    """The columns of C: what one unit of difference at each step does to the measurements."""
    return [[int(entry) for entry in column] for column in epoch.factorisation.strategy().T]


def longest_column(epoch: Epoch) -> int:
    return max(sum(map(abs, column)) for column in columns(epoch))


def longest_column_squared(epoch: Epoch) -> int:
    return max(sum(entry * entry for entry in column) for column in columns(epoch))


def scale_of(epoch: Epoch) -> Fraction:
    assert isinstance(epoch.law, DiscreteLaplace)
    return epoch.law.scale


def variance_of(epoch: Epoch) -> Fraction:
    assert isinstance(epoch.law, DiscreteGaussian)
    return epoch.law.sigma_squared


def needed_variation(stated: Sensitivity) -> int:
    """V²: what the statistic states, or Γ², which is never less."""
    return stated.l1**2 if stated.variation is None else stated.variation


def require_enough_on_differences(request: Request, epochs: list[Epoch]) -> None:
    """The changes of one person split over epochs, so each may cost the whole ε or ρ."""
    for epoch in epochs:
        if request.delta is None:
            assert longest_column(epoch) * request.sensitivity.l1 / scale_of(epoch) <= (
                request.epsilon
            )
        else:
            moved = needed_variation(request.sensitivity) * longest_column_squared(epoch)
            rho = rho_of(request.epsilon, request.delta)
            assert Fraction(moved) / (2 * variance_of(epoch)) <= rho


def require_enough_on_totals(request: Request, epochs: list[Epoch], static: int) -> None:
    """Every release moves by `static` at most, and the costs of all of them add up to ε."""
    spent = sum(longest_column(epoch) * static / scale_of(epoch) for epoch in epochs)
    assert spent == request.epsilon
    assert len(epochs) == request.horizon


def corners(rises: int, falls: int, steps: int) -> Iterator[Integers]:
    """All rises at one step and all falls at another, or only the one or the other."""
    for up, down in product(range(-1, steps), repeat=2):
        change = np.zeros(steps, dtype=np.int64)
        change[up] += rises if up >= 0 else 0
        change[down] -= falls if down >= 0 else 0
        yield change


def dearest(shape: Shape | None, request: Request, measured: Callable[[Integers], int]) -> int:
    """What the dearest change of a shape costs, number by number."""
    assert isinstance(shape, Mass | Moves | Bins)
    if isinstance(shape, Bins):
        return sum(dearest(each, request, measured) for each in shape.bins)
    rises, falls = (shape.rises, shape.falls) if isinstance(shape, Moves) else (shape.total, 0)
    return max(measured(change) for change in corners(rises, falls, request.known_horizon()))


def require_enough_as_a_whole(request: Request, epoch: Epoch) -> None:
    """One epoch, and what one person can do in it is within ε; but for Γ, it is just ε."""
    law, matrix = epoch.law, epoch.factorisation.strategy()
    if isinstance(law, RangeNoise | BoxNoise):
        assert request.projected_l1 == request.epsilon * law.scale
        assert request.projected_rises or isinstance(law, BoxNoise)
        return
    if isinstance(law, DiscreteGaussian):
        require_enough_on_all_totals(request, epoch)
        return
    assert isinstance(law, MovesNoise | DiscreteLaplace)
    if isinstance(law, MovesNoise):
        matrix = np.vstack([matrix, np.ones_like(matrix[:1])])
    most = request.sensitivity.l1 * int(np.abs(matrix).sum(axis=0).max())
    cost = dearest(request.shape, request, lambda d: int(np.abs(matrix @ d).sum()))
    assert request.epsilon * law.scale == min(cost, most)


def require_enough_on_values(request: Request, epochs: list[Epoch]) -> None:
    """One person changes values of some steps in a row: all blocks that these touch."""
    shape, (epoch, *others) = request.shape, epochs
    assert isinstance(shape, Recent)
    assert all(other == epoch for other in others)
    if request.delta is not None:
        rho = rho_of(request.epsilon, request.delta)
        assert Fraction(request.sensitivity.l2_squared) / (2 * variance_of(epoch)) <= rho
        return
    places = (range(at, at + shape.window) for at in range(epoch.steps))
    touched = max(len({step // epoch.steps for step in place}) for place in places)
    norm = shape.span if isinstance(epoch.law, RangeNoise) else shape.height
    assert request.epsilon == Fraction(touched * norm) * epoch.law.privacy_loss


def require_enough_on_all_totals(request: Request, epoch: Epoch) -> None:
    """Gaussian noise on totals: what is dearest among a few that are as far as can be."""
    height, steps = request.projected_l1, request.known_horizon()
    assert height is not None
    assert request.delta is not None
    low = 0 if request.projected_rises else -height
    matrix = epoch.factorisation.strategy().astype(object)
    costs = []
    for high in range(steps + 1):
        totals = np.array([height] * high + [low] * (steps - high), dtype=object)
        for order in (totals, totals[::-1]):
            moved = matrix @ np.diff(order, prepend=0)
            costs.append(Fraction(int((moved**2).sum())) / (2 * variance_of(epoch)))
    rho = rho_of(request.epsilon, request.delta)
    assert 0.98 * rho <= max(costs) <= rho


def require_enough(member: Mechanism, request: Request) -> None:
    epochs = epochs_of(member, request)
    if member.measured is Measured.RECENT:
        require_enough_on_values(request, epochs)
    elif member.whole:
        (epoch,) = epochs
        require_enough_as_a_whole(request, epoch)
    elif member.measured is Measured.DIFFERENCES:
        require_enough_on_differences(request, epochs)
    elif member.measured is Measured.TOTALS:
        require_enough_on_totals(request, epochs, request.sensitivity.static_l1)
    else:
        assert request.projected_l1 is not None
        require_enough_on_totals(request, epochs, request.projected_l1)


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_has_noise_enough(name: str) -> None:
    asked = admitted(mechanism(name))
    assert len(asked) >= 20
    for request in asked:
        require_enough(mechanism(name), request)


@st.composite
def found(draw: st.DrawFn) -> Bordered:
    """A factorisation that a bad search may come to: any rows and weights."""
    steps, rows = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    odd = st.integers(0, 20).map(lambda half: 2 * half + 1)
    return Bordered(
        diagonal=tuple(draw(odd) for _ in range(steps)),
        rows=tuple(tuple(draw(st.integers(-9, 9)) for _ in range(steps)) for _ in range(rows)),
        weights=tuple(tuple(draw(st.integers(-9, 9)) for _ in range(rows)) for _ in range(steps)),
        grid=draw(odd),
    )


@given(searched=found(), shape=st.sampled_from([Moves(3, 3), Moves(2, 1)]))
def test_whatever_a_search_finds_has_noise_enough(searched: Bordered, shape: Moves) -> None:
    """So what the optimiser does decides errors, and never privacy."""
    request = replace(next(requests()), horizon=searched.steps, shape=shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimised, "optimised", lambda steps, aim: searched)
        patch.setattr(optimised, "optimised_with_sum", lambda steps, weight, aim: searched)
        for name in ("optimised", "optimised-moves"):
            epoch = mechanism(name).epoch(request, 0)
            assert epoch is not None
            assert epoch.factorisation == searched
            if mechanism(name).whole:
                require_enough_as_a_whole(request, epoch)
            else:
                require_enough_on_differences(request, [epoch])


@pytest.mark.parametrize("name", NAMES)
def test_no_mechanism_wastes_noise(name: str) -> None:
    """The inequality is an equation for Laplace, and nearly one for Gaussian noise."""
    member = mechanism(name)
    for request in admitted(member)[::7]:
        if member.measured is not Measured.DIFFERENCES or member.whole:
            continue  # there the cost is ε exactly, which is checked above
        for epoch in epochs_of(member, request):
            if request.delta is None:
                stretched = longest_column(epoch) * request.sensitivity.l1
                assert stretched / scale_of(epoch) == request.epsilon
            else:
                moved = needed_variation(request.sensitivity) * longest_column_squared(epoch)
                needed = moved / (2 * rho_of(request.epsilon, request.delta))
                assert variance_of(epoch) - needed < Fraction(1, 2**20)


@pytest.mark.parametrize("name", NAMES)
def test_epochs_cover_the_horizon_and_end_with_it(name: str) -> None:
    member = mechanism(name)
    for request in admitted(member)[::5]:
        if request.horizon is None:
            continue
        epochs = epochs_of(member, request)
        assert sum(epoch.steps for epoch in epochs[:-1]) < request.horizon
        assert sum(epoch.steps for epoch in epochs) >= request.horizon
        with pytest.raises(ParameterError, match="horizon"):
            Plan.of(member, request).epoch(len(epochs))


@pytest.mark.parametrize("name", NAMES)
def test_planning_twice_gives_the_same_epochs_and_they_survive_storage(name: str) -> None:
    member = mechanism(name)
    for request in admitted(member)[::11]:
        epochs = epochs_of(member, request)
        assert epochs_of(member, request) == epochs
        assert [Epoch.from_dict(epoch.to_dict()) for epoch in epochs] == epochs
        assert Request.from_dict(request.to_dict()) == request


@pytest.mark.parametrize("name", NAMES)
def test_what_a_mechanism_cannot_promise_is_refused(name: str) -> None:
    """Pure ε with a δ, a δ left out, a horizon or a projection that is not known."""
    member = mechanism(name)
    asked = Request(statistic("triangles").sensitivity(DegreeBound(4)), Fraction(1))
    leaving = member.measured is Measured.RECENT
    shape = Recent(window=4, height=3, span=3) if leaving else Moves(3, 3)
    guess = (100,) if member.follows else None
    asked = replace(asked, horizon=9, projected_l1=5, shape=shape, guess=guess)
    wrong = replace(asked, delta=DELTA if member.pure else None)
    assert member.refusal(wrong) is not None
    fitting = replace(wrong, delta=None if member.pure else DELTA, projected_rises=True)
    assert member.refusal(fitting) is None
    assert (member.refusal(replace(fitting, horizon=None)) is not None) == member.needs_horizon
    assert (member.refusal(replace(fitting, projected_l1=None)) is not None) == member.projects


def test_these_mechanisms_need_no_horizon() -> None:
    asked = Request(CCDF, Fraction(1), projected_l1=5)
    refusals = {name: mechanism(name).refusal(asked) for name in NAMES}
    refusals["following"] = mechanism("following").refusal(replace(asked, guess=(100,)))
    found = {name for name, refusal in refusals.items() if refusal != "needs a known horizon"}
    leaving = {"recent", "recent-blocks", "recent-gaussian"}
    assert found == {"sensdiff", "epochs", "gaussian"} | leaving


def test_gaussian_noise_without_a_delta_is_refused_even_past_the_planner() -> None:
    with pytest.raises(ParameterError, match="delta: is needed by 'gaussian'"):
        mechanism("gaussian").epoch(Request(CCDF, Fraction(1), None, 5), 0)


def test_the_longest_optimised_horizon_is_4096() -> None:
    asked = Request(CCDF, Fraction(1), None, 4096)
    assert mechanism("optimised").refusal(asked) is None
    refusal = mechanism("optimised").refusal(replace(asked, horizon=4097))
    assert refusal == "is computed for horizons up to 4096 only"


def test_a_horizon_is_at_least_1() -> None:
    assert Request(CCDF, Fraction(1), None, 1).horizon == 1
    with pytest.raises(ParameterError, match="horizon: must be at least 1"):
        Request(CCDF, Fraction(1), None, 0)


def test_a_horizon_that_is_asked_for_must_be_known() -> None:
    asked = Request(CCDF, Fraction(1))
    assert asked.width == 1
    with pytest.raises(ParameterError, match="horizon: must be known"):
        asked.known_horizon()
    assert replace(asked, horizon=7).known_horizon() == 7


def test_what_is_stored_of_a_request_is_plain_and_in_order() -> None:
    exact_for: frozenset[Measure] = frozenset({"static_l1", "l1", "edge_l1"})
    asked = Request(replace(CCDF, exact_for=exact_for), Fraction(1, 3), DELTA, 5)
    stored = json.loads(json.dumps(asked.to_dict()))
    assert stored["sensitivity"]["exact_for"] == ["edge_l1", "l1", "static_l1"]
    assert Request.from_dict(stored) == asked


def test_the_statistics_of_the_sweep_tell_v_squared_from_l2_squared() -> None:
    """Else the sweep could not notice that the one is taken for the other."""
    assert CCDF.l2_squared < needed_variation(CCDF) < CCDF.l1**2
    assert any(
        each.sensitivity.l2_squared < needed_variation(each.sensitivity)
        for each in admitted(mechanism("gaussian"))
    )


def test_the_statistics_of_the_sweep_tell_both_static_sensitivities_apart() -> None:
    both = [(each.sensitivity.static_l1, each.projected_l1) for each in requests()]
    assert any(after is not None and after > static for static, after in both)


def caught(name: str) -> bool:
    """Whether the sweep notices what was planted in a mechanism."""
    try:
        for request in admitted(mechanism(name)):
            require_enough(mechanism(name), request)
    except AssertionError:
        return True
    return False


def test_gaussian_noise_for_the_l2_distance_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not caught("gaussian")
    monkeypatch.setattr(
        gaussian.Gaussian, "change_squared", lambda self, request: request.sensitivity.l2_squared
    )
    assert caught("gaussian")


def test_a_variation_that_is_the_l2_distance_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Sensitivity, "variation_squared", property(lambda stated: stated.l2_squared)
    )
    assert caught("gaussian")


def test_gaussian_noise_without_the_stretch_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScaledToeplitz, "column_l2_squared", lambda self: self.coefficients[0] ** 2)
    assert caught("gaussian")


@pytest.mark.parametrize("name", ["sensdiff", "bridged", "tree", "epochs", "optimised"])
def test_laplace_noise_for_one_less_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(change: int, epsilon: Fraction) -> DiscreteLaplace:
        return laplace_for(change - 1 or 1, epsilon)

    monkeypatch.setattr(mechanism_module, "laplace_for", planted)
    assert caught(name)


@pytest.mark.parametrize("name", ["bridged", "epochs", "optimised"])
def test_laplace_noise_without_the_stretch_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bordered, "column_l1", lambda self: max(self.diagonal))
    assert caught(name)


@pytest.mark.parametrize(
    "name", ["compose-d-bounded", "compose-projection", "sensseq-d-bounded", "sensseq-projection"]
)
def test_a_release_too_many_for_the_budget_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The noise of T − 1 releases, on T of them."""
    honest = laplace.composed

    def planted(request: Request, static: int, number: int) -> Epoch | None:
        fewer = max(request.known_horizon() - 1, 1)
        epoch = honest(replace(request, horizon=fewer), static, min(number, fewer - 1))
        return None if number >= request.known_horizon() else epoch

    monkeypatch.setattr(laplace, "composed", planted)
    assert caught(name)


def test_the_projected_sensitivity_is_not_the_bounded_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(self: Mechanism, request: Request, number: int) -> Epoch | None:
        return laplace.composed(request, request.sensitivity.static_l1, number)

    monkeypatch.setattr(laplace.ComposeProjection, "epoch", planted)
    assert caught("compose-projection")


def test_moves_of_one_person_less_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moves.Returning, "pair_l1", lambda self, rises, falls: rises + falls)
    assert caught("moves")


def test_a_matrix_whose_columns_are_never_compared_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        Bordered, "pair_l1", lambda self, rises, falls: max(rises, falls) * self.column_l1() - 1
    )
    assert caught("optimised-moves")


@pytest.mark.parametrize("name", ["range-projection", "box-projection"])
def test_the_bounded_static_sensitivity_is_too_little_for_projected_totals(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(self: projected.JointProjection, request: Request) -> RangeNoise | BoxNoise:
        less = Fraction(1, 2) if self.law is RangeNoise else 0
        scale = (request.sensitivity.static_l1 - less) / request.epsilon
        return self.law(scale, request.known_horizon())

    monkeypatch.setattr(projected.JointProjection, "noise", planted)
    assert caught(name)


def split(differences: Integers, epochs: list[Epoch]) -> Iterator[tuple[Epoch, Integers]]:
    """What each epoch measures; steps beyond the series do not change."""
    first = 0
    for epoch in epochs:
        own = differences[first : first + epoch.steps]
        yield epoch, np.pad(own, ((0, epoch.steps - len(own)), (0, 0)))
        first += epoch.steps


apart = st.integers(1, 24).flatmap(
    lambda steps: st.integers(1, 3).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(-4, 4), min_size=width, max_size=width),
            min_size=steps,
            max_size=steps,
        )
    )
)


def sensitivity_of(distance: Integers) -> Sensitivity:
    """The sensitivity of a statistic whose only neighbours are this far apart."""
    rises, falls = distance.clip(min=0).sum(axis=0), distance.clip(max=0).sum(axis=0)
    static = int(np.abs(np.cumsum(distance, axis=0)).sum(axis=1).max())
    return Sensitivity(
        l1=int(np.abs(distance).sum()),
        static_l1=max(static, 1),
        l2_squared=int((distance**2).sum()),
        edge_l1=0,
        exact_for=frozenset(),
        assumption="these neighbours and no others",
        proof="none",
        variation=int((rises**2 + falls**2).sum()),
    )


@given(rows=apart.filter(lambda rows: any(map(any, rows))), known=st.booleans())
def test_the_cost_of_any_two_neighbours_is_within_the_budget(
    rows: list[list[int]], known: bool
) -> None:
    """The whole theorem: the measurements of two sequences, over all epochs, cost ε or ρ."""
    distance = np.array(rows, dtype=np.int64)
    rises, falls = distance.clip(min=0).sum(axis=0), -distance.clip(max=0).sum(axis=0)
    shape = Bins(tuple(map(Moves, rises.tolist(), falls.tolist())))
    horizon, width = 24 if known else None, len(rows[0])
    asked = Request(sensitivity_of(distance), Fraction(2), None, horizon, width, shape=shape)
    for member in registered().values():
        request = asked if member.pure else replace(asked, delta=DELTA)
        if member.refusal(request) is None and member.measured is Measured.DIFFERENCES:
            epochs = list(_until(Plan.of(member, request), len(rows)))
            moved = [
                (epoch, epoch.factorisation.strategy() @ x) for epoch, x in split(distance, epochs)
            ]
            if member.pure:
                assert sum(spent(epoch, by) for epoch, by in moved) <= request.epsilon
            else:
                cost = sum(Fraction(int((by**2).sum())) / (2 * variance_of(e)) for e, by in moved)
                assert cost <= rho_of(request.epsilon, DELTA)


def spent(epoch: Epoch, moved: Integers) -> Fraction:
    """The loss of measurements that differ by so much."""
    if isinstance(epoch.law, MovesNoise):
        ends = int(np.abs(moved.sum(axis=0)).sum())
        return (int(np.abs(moved).sum()) + ends) / epoch.law.scale
    return int(np.abs(moved).sum()) / scale_of(epoch)


def _until(plan: Plan, steps: int) -> Iterator[Epoch]:
    done = 0
    for number in count():
        if done >= steps:
            return
        epoch = plan.epoch(number)
        done += epoch.steps
        yield epoch


@given(
    rows=apart.filter(lambda rows: any(map(any, rows))),
    name=st.sampled_from(["sensdiff", "bridged", "tree", "optimised", "epochs"]),
    horizon=st.integers(1, 12),
)
def test_a_continued_plan_costs_no_more(rows: list[list[int]], name: str, horizon: int) -> None:
    distance = np.array(rows, dtype=np.int64)
    request = Request(sensitivity_of(distance), Fraction(1, 3), None, horizon, len(rows[0]))
    plan = continued(Plan.of(mechanism(name), request), len(rows))
    cost = sum(
        int(np.abs(epoch.factorisation.strategy() @ x).sum()) / scale_of(epoch)
        for epoch, x in split(distance, list(plan.epochs))
    )
    assert cost <= request.epsilon
