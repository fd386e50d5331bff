"""A plan with fresh noise after some releases: what it says is what happens, at the same ε."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound
from graphveil.graph.thresholds import FollowingBound
from graphveil.lab.simulation import SimulationNoise, simulate
from graphveil.mechanisms.factorisations.bordered import Bordered
from graphveil.mechanisms.mechanism import Epoch, Measured, Request, mechanism, registered
from graphveil.mechanisms.planning.continuation import renewed
from graphveil.mechanisms.planning.intervals import noise_of
from graphveil.mechanisms.planning.plan import Plan, epochs_of
from graphveil.noise.laws import DiscreteLaplace, NoiseLaw
from graphveil.noise.noise_sum import NoiseSum
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.series import state as states
from graphveil.series.planner import plan
from graphveil.series.state import SeriesState, advance, start
from graphveil.statistics.sensitivity import Moves
from graphveil.statistics.statistic import statistic

EDGES, BOUND = statistic("edges"), DegreeBound(3)
ADDING = sorted(name for name, each in registered().items() if each.adds_up and not each.whole)
ENDLESS = ["epochs", "gaussian"]
RUNS = 20_000


def planned(name: str, horizon: int | None = 24, epsilon: str = "1") -> Plan:
    delta = None if registered()[name].pure else "0.001"
    return plan(EDGES, BOUND, epsilon=epsilon, delta=delta, horizon=horizon, mechanism=name)


class Recorded:
    """Noise that is drawn once, and can be had again."""

    def __init__(self, again: list[int] | None = None) -> None:
        self.drawn: list[int] = []
        self._again: Iterator[int] | None = iter(again) if again is not None else None
        self._fresh = SimulationNoise(np.random.default_rng(5))

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        if self._again is None:
            found = [int(value) for value in self._fresh.draws(law, (count,))]
        else:
            found = [next(self._again) for _ in range(count)]
        self.drawn += found
        return found


def noise_in(made: Plan, state: SeriesState, steps: int, source: Recorded) -> list[int]:
    """What the next releases of a series that is always 0 say."""
    said = []
    for _ in range(steps):
        (raw,), state = advance(made, state, [0], source)
        said.append(raw)
    return said


@pytest.mark.parametrize("releases", [1, 5, 9, 16, 23])
@pytest.mark.parametrize("name", ADDING)
def test_the_renewed_plan_tells_what_has_happened(name: str, releases: int) -> None:
    """Run from its beginning, with the noise that was drawn, it says all that was said."""
    before = planned(name)
    source = Recorded()
    state = start(before)
    said = []
    for _ in range(releases):
        (raw,), state = advance(before, state, [0], source)
        said.append(raw)
    after = renewed(before, releases)
    fresh = states.renewed(before, state, ReleaseNoise())
    assert fresh.step == fresh.epoch_end == releases
    said += noise_in(after, fresh, 24 - releases, source)
    stored = Plan.from_dict(json.loads(json.dumps(after.to_dict())))
    assert stored == after
    assert noise_in(stored, start(stored), 24, Recorded(source.drawn)) == said
    if name != "epochs":  # whose last epoch is longer than the horizon
        with pytest.raises(ParameterError, match="all 24 releases"):
            noise_in(after, fresh, 25 - releases, Recorded())


@pytest.mark.parametrize(("epsilon", "releases"), [("1", 7), ("8", 1), ("8", 18), ("24", 5)])
@pytest.mark.parametrize("name", ADDING)
def test_predictions_match_simulation(name: str, epsilon: str, releases: int) -> None:
    """Also where the noise is so small that rounding decides, and after a second adoption."""
    after = renewed(renewed(planned(name, epsilon=epsilon), releases), releases + 3)
    noise = simulate(after, RUNS, np.random.default_rng(3))
    predicted = np.array(after.predicted)
    most = predicted.max() ** 2
    assert np.abs(noise.var(axis=0) - predicted**2).max() < 0.06 * most + 5 * np.sqrt(most / RUNS)
    for wanted in ({releases: 1}, {releases - 1: -1, 23: 1}, {releases: -1, releases + 3: 1}):
        law = noise_of(after, wanted)
        width = law.half_width(Fraction(9, 10))
        seen = sum(coefficient * noise[:, step] for step, coefficient in wanted.items())
        assert np.mean(np.abs(seen) <= width) >= 0.9 - 4 * np.sqrt(0.09 / RUNS)
        assert isinstance(law, NoiseSum)
        assert float(law.slack) <= 1.5


def test_a_change_since_the_cut_begins_with_what_was_published() -> None:
    """The rounded noise of the last release cancels: only the new epoch's rounding is left."""
    after = renewed(planned("bridged", epsilon="8"), 7)
    since, first = noise_of(after, {6: -1, 7: 1}), noise_of(planned("bridged", 17), {0: 1})
    assert isinstance(since, NoiseSum)
    assert isinstance(first, NoiseSum)
    assert since.slack == first.slack


MIXED = Bordered((1, 1, 1), ((1, 1, 1),), ((0,), (1,), (3,)), 3)  # whole, broken, whole


def mixed(scale: Fraction, *cuts: int | None) -> Plan:
    """Epochs whose releases are rounded or not, each cut after so many steps."""
    request = Request(EDGES.sensitivity(BOUND), Fraction(1), horizon=sum(cut or 3 for cut in cuts))
    epochs = tuple(Epoch(MIXED, DiscreteLaplace(scale), cut) for cut in cuts)
    return Plan(mechanism("sensdiff"), request, epochs)


@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(1), Fraction(5, 2), Fraction(40)])
def test_after_a_cut_the_variance_is_that_of_what_was_published_and_of_the_new_noise(
    scale: Fraction,
) -> None:
    alone = np.square(mixed(scale, None).predicted)
    broken, whole = alone[1], alone[0]
    wanted = [*alone[:2], *(broken + alone[:2]), *(2 * broken + alone[:1])]
    wanted += (2 * broken + whole + alone).tolist()
    assert np.square(mixed(scale, 2, 2, 1, None).predicted) == pytest.approx(np.array(wanted))


def test_what_begins_with_a_published_number_is_as_whole_as_the_first_epoch() -> None:
    """Only the published number itself was rounded, and it cancels in a change since then."""
    made = mixed(Fraction(1), 2, None)
    slacks = {
        wanted: noise_of(made, dict(wanted))
        for wanted in (
            ((2, 1),),
            ((3, 1),),
            ((1, -1), (2, 1)),
            ((1, -1), (3, 1)),
            ((2, -1), (4, 1)),
        )
    }
    found = [law.slack for law in slacks.values() if isinstance(law, NoiseSum)]
    assert found == [Fraction(1, 2), 1, 0, Fraction(1, 2), 0]


def test_only_plans_that_were_cut_need_the_second_format() -> None:
    made = mixed(Fraction(1), None, None)
    cut = mixed(Fraction(1), 2, None)
    assert (made.to_dict()["format"], cut.to_dict()["format"]) == (1, 2)
    assert [each.get("cut") for each in cut.to_dict()["epochs"]] == [2, None]
    assert ["cut" in each for each in cut.to_dict()["epochs"]] == [True, False]


def test_what_follows_are_the_steps_that_were_not_published() -> None:
    made = mixed(Fraction(1), 2, None, None)
    assert [sum(steps for _, steps in made.following(n)) for n in range(9)] == list(
        range(8, -1, -1)
    )
    assert made.following(2) == tuple((each.law, 3) for each in made.epochs[1:])
    assert made.following(3)[0] == (made.epochs[1].law, 2)


def test_noise_on_totals_cannot_be_cut() -> None:
    totals = replace(mixed(Fraction(1), None), mechanism=mechanism("compose-d-bounded"))
    with pytest.raises(ParameterError, match="cannot draw noise half-way"):
        renewed(totals, 1)


class Rest:
    """Says what was used, and draws 10, 20, 30, … for the rest."""

    def __init__(self, steps: int) -> None:
        self.steps, self.used = steps, list[list[int]]()

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        raise AssertionError("only the rest is drawn")

    def draw_rest(self, law: NoiseLaw, used: Sequence[int]) -> list[int]:
        self.used.append(list(used))
        return [10 * place for place in range(1, self.steps - len(used) + 1)]


def test_the_noise_of_the_future_is_thrown_away_and_what_was_told_stays() -> None:
    high = statistic("high-degree", tau=2)
    resuming = plan(high, BOUND, epsilon=1, horizon=5, mechanism="moves")
    drawn = ((7, 4, 9, 1, 0), (-3, 2, 2, 8, 0))
    state = replace(start(resuming), step=3, epoch=0, noise=drawn)
    source = Rest(5)
    fresh = states.renewed(resuming, state, source)
    assert source.used == [[7, -3, 5], [-3, 5, 0]]
    assert fresh == replace(state, noise=((7, 4, 9, 19, 39), (-3, 2, 2, 12, 32)))
    cut = states.renewed(
        mixed(Fraction(1), None), replace(state, step=2, noise=((7, 4, 9),)), source
    )
    assert (cut.noise, cut.carried) == (((7, 4),), (Fraction(4),))
    whole = replace(state, step=5)
    assert states.renewed(resuming, whole, source) is whole


class Given:
    """A mechanism with the epochs that a test gives it."""

    name = "given"

    def __init__(self, *epochs: Epoch) -> None:
        self._epochs = epochs

    def epoch(self, request: Request, number: int) -> Epoch | None:
        return self._epochs[number] if number < len(self._epochs) else None


def test_the_epochs_of_a_plan_are_those_of_its_mechanism_each_kept_once() -> None:
    one, other = (Epoch(MIXED, DiscreteLaplace(Fraction(scale))) for scale in (1, 2))
    again = Epoch(MIXED, DiscreteLaplace(Fraction(2)))
    given: Any = Given(one, other, again, one)
    request = Request(EDGES.sensitivity(BOUND), Fraction(1), horizon=12)
    found = epochs_of(given, request)
    assert found == (one, other, again, one)
    assert found[2] is other
    with pytest.raises(ParameterError, match="given does not reach it"):
        epochs_of(given, replace(request, horizon=13))


def test_what_a_matrix_costs_is_its_longest_column_times_all_that_one_person_changes() -> None:
    """Unless the shape of the change is known, and costs less."""
    request = Request(EDGES.sensitivity(BOUND), Fraction(1), horizon=3)
    assert request.cost(MIXED) == 3 * 2
    assert replace(request, shape=Moves(1, 1)).cost(MIXED) == 2
    assert replace(request, shape=Moves(9, 9)).cost(MIXED) == 3 * 2
    assert {"shape", "projected_rises"}.isdisjoint(request.to_dict())


@pytest.mark.parametrize("name", ADDING)
def test_every_person_pays_once_over_all_epochs(name: str) -> None:
    """Σ ‖C·d‖₁/scale (or ‖C·d‖₂²/2σ²) over epochs is within ε (or ρ), wherever the cuts are."""
    chance = np.random.default_rng(8)
    for releases in (1, 6, 17):
        before = planned(name)
        after = renewed(before, releases)
        whole = loss(before, np.eye(24, dtype=np.int64)[0] * EDGES.sensitivity(BOUND).l1)
        for _ in range(200):
            rises = chance.multinomial(EDGES.sensitivity(BOUND).l1, chance.dirichlet(np.ones(24)))
            assert loss(after, rises) <= max(whole, limit(before))


def limit(made: Plan) -> Fraction:
    """What one epoch may cost at most."""
    from graphveil.noise.zcdp import rho_of

    request = made.request
    return request.epsilon if request.delta is None else rho_of(request.epsilon, request.delta)


def loss(made: Plan, change: np.ndarray) -> Fraction:
    """What a person who changes so much at each step loses."""
    total, first = Fraction(), 0
    for epoch in made.epochs:
        here = np.zeros(epoch.factorisation.steps, dtype=np.int64)
        part = change[first : first + epoch.steps]
        here[: len(part)] = part
        moved = [int(each) for each in epoch.factorisation.strategy() @ here]
        if made.mechanism.pure:
            total += Fraction(sum(map(abs, moved))) / epoch.law.size
        else:
            total += Fraction(sum(each**2 for each in moved)) / (2 * epoch.law.size)
        first += epoch.steps
    return total


@pytest.mark.parametrize("releases", [1, 9, 23])
def test_noise_that_returns_to_zero_is_resumed_from_what_was_published(releases: int) -> None:
    """The past stays, the rest is fresh, and the plan, whose law it still follows, stays too."""
    made = plan(EDGES, BOUND, epsilon="1/10", horizon=24, mechanism="moves")
    state, source = start(made), Recorded()
    for _ in range(releases):
        _, state = advance(made, state, [0], source)
    assert renewed(made, releases) is made
    fresh, again = (states.renewed(made, state, ReleaseNoise()) for _ in range(2))
    (old,), (new,), (other,) = state.noise, fresh.noise, again.noise
    assert old[:releases] == new[:releases] == other[:releases]
    assert len({old[releases:], new[releases:], other[releases:]}) == 3 or releases == 23
    assert len(new) == 24


@pytest.mark.parametrize("name", ENDLESS)
def test_a_series_without_a_horizon_goes_on_with_its_next_epoch(name: str) -> None:
    before = planned(name, None)
    after = renewed(before, 5)
    assert after.epoch(0).cut == 5
    assert [after.epoch(number) for number in (1, 2)] == [before.epoch(1), before.epoch(2)]
    assert after.following(5) == ((before.epoch(1).law, before.epoch(1).steps),)
    assert after.outlook(5)[0] > before.outlook(5)[0] > 0
    assert Plan.from_dict(after.to_dict()).epoch(1) == before.epoch(1)


@pytest.mark.parametrize("name", sorted(registered().keys() - {"optimised-moves"}))
def test_where_nothing_was_drawn_ahead_nothing_changes(name: str) -> None:
    projection: Bound | None = BOUND if registered()[name].projects else None
    projection = FollowingBound(100) if registered()[name].follows else projection
    delta = None if registered()[name].pure else "0.001"
    leaving = registered()[name].measured is Measured.RECENT
    made = plan(
        EDGES.recent(4) if leaving else EDGES,
        BOUND,
        epsilon=1,
        delta=delta,
        horizon=24,
        mechanism=name,
        projection=projection,
    )
    assert renewed(made, 0) is made
    assert renewed(made, 24) is made or name in ENDLESS
    if made.epoch(0).steps == 1:
        assert renewed(made, 5) is made
