"""A series: rounded measurements and nothing else, drawn once, stored and resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import CountOverflowError, ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import SimulationNoise, simulate
from graphveil.mechanisms.factorisations.bordered import Bordered
from graphveil.mechanisms.mechanism import Epoch, Measured, Mechanism, Request, mechanism
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import DiscreteLaplace, NoiseLaw, NoiseSource
from graphveil.series.state import SeriesState, advance, require_room, start
from graphveil.statistics.edges import Edges

LAW = DiscreteLaplace(Fraction(5))


@dataclass(frozen=True)
class Given(Mechanism):
    """A mechanism with the epochs that a test gives it."""

    given: tuple[Bordered, ...] = ()

    name = "given"
    summary = "for tests"
    proof = "none"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        return Epoch(self.given[number], LAW) if number < len(self.given) else None


@dataclass(frozen=True)
class GivenOnTotals(Given):
    """The same, on totals."""

    measured = Measured.TOTALS


@dataclass
class Recorder:
    """A source that remembers what it gave."""

    source: NoiseSource
    given: list[list[int]] = field(default_factory=list)

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        self.given.append(self.source.draw(law, count))
        return self.given[-1]


class Dry:
    """A source that must not be asked."""

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        raise AssertionError("noise was drawn")


def plan_of(member: Mechanism, horizon: int, width: int = 1) -> Plan:
    sensitivity = Edges().sensitivity(DegreeBound(5))
    return Plan.of(member, Request(sensitivity, Fraction(1), horizon=horizon, width=width))


def given_plan(epochs: Iterable[Bordered], width: int = 1, *, totals: bool = False) -> Plan:
    given = tuple(epochs)
    member = GivenOnTotals(given) if totals else Given(given)
    return plan_of(member, sum(epoch.steps for epoch in given), width)


def recorder(seed: int = 0) -> Recorder:
    return Recorder(SimulationNoise(np.random.default_rng(seed)))


def run(
    plan: Plan, state: SeriesState, differences: list[list[int]], source: NoiseSource
) -> tuple[list[tuple[int, ...]], SeriesState]:
    released = []
    for difference in differences:
        raw, state = advance(plan, state, difference, source)
        released.append(raw)
    return released, state


@st.composite
def factorisations(draw: st.DrawFn) -> Bordered:
    """Any diagonal, rows and weights: B·C = A holds whatever they are."""
    steps, rows = draw(st.integers(1, 4)), draw(st.integers(0, 2))

    def numbers(low: int, high: int, size: int) -> st.SearchStrategy[tuple[int, ...]]:
        return st.tuples(*[st.integers(low, high)] * size)

    return Bordered(
        diagonal=tuple(2 * half + 1 for half in draw(numbers(0, 3, steps))),
        rows=tuple(draw(numbers(-2, 2, steps)) for _ in range(rows)),
        weights=tuple(draw(numbers(-3, 3, rows)) for _ in range(steps)) if rows else (),
        grid=draw(st.sampled_from([1, 3, 5, 9])),
    )


@given(
    epochs=st.lists(factorisations(), min_size=1, max_size=3),
    width=st.integers(1, 2),
    totals=st.booleans(),
    data=st.data(),
)
def test_releases_are_rounded_decoded_measurements(
    epochs: list[Bordered], width: int, totals: bool, data: st.DataObject
) -> None:
    """Measuring C·x + z and decoding it gives the same numbers.

    Hence a release is a function of the measurements alone, and as private as they are. On
    totals, the first difference that an epoch measures is the whole total so far.
    """
    plan = given_plan(epochs, width, totals=totals)
    steps = sum(epoch.steps for epoch in epochs)
    numbers = st.lists(st.integers(-50, 50), min_size=width, max_size=width)
    differences = data.draw(st.lists(numbers, min_size=steps, max_size=steps))
    source = recorder(data.draw(st.integers(0, 99)))
    released, _ = run(plan, start(plan), differences, source)
    for number in range(width):
        before, first = Fraction(), 0
        for epoch, drawn in zip(epochs, source.given, strict=True):
            own = drawn[number * epoch.measurements :][: epoch.measurements]
            x = [difference[number] for difference in differences[first:][: epoch.steps]]
            if totals:
                x[0] += sum(difference[number] for difference in differences[:first])
                before = Fraction()
            measured = (epoch.strategy() @ np.array(x) + np.array(own)).tolist()
            decoded = [before + value for value in epoch.decode(measured)]
            found = [raw[number] for raw in released[first:][: epoch.steps]]
            assert found == [round(value) for value in decoded]
            before, first = decoded[-1], first + epoch.steps


@dataclass(frozen=True)
class Halved(Bordered):
    """A decoder with halves, which the usual factorisations do not allow."""

    def decode(self, noise: Sequence[int]) -> list[Fraction]:
        return [Fraction(value, 2) for value in noise]


def test_decoders_that_could_tie_are_refused() -> None:
    """Rounding a half by the noise alone, before it is added, would tell parities of counts."""

    @dataclass(frozen=True)
    class Fixed:
        value: int

        def draw(self, law: NoiseLaw, count: int) -> list[int]:
            return [self.value] * count

    plan = given_plan([Halved(diagonal=(1,))])
    assert advance(plan, start(plan), [5], Fixed(4))[0] == (7,)
    with pytest.raises(ValueError, match="odd denominators"):
        advance(plan, start(plan), [5], Fixed(3))


def test_rounding_favours_no_side() -> None:
    plan = given_plan([Bordered(diagonal=(3,))])
    noise = simulate(plan, 400_000, np.random.default_rng(3))
    assert abs(noise.mean()) < 5 * noise.std() / 400_000**0.5


EPOCHS = (
    Bordered(diagonal=(5, 3, 1), rows=((1, 1, 1),), weights=((1,), (2,), (3,)), grid=9),
    Bordered(diagonal=(1,)),
    Bordered(diagonal=(1, 1)),
)


@pytest.mark.parametrize("width", [1, 3])
def test_each_epoch_draws_once(width: int) -> None:
    plan, source = given_plan(EPOCHS, width), recorder()
    state, calls = start(plan), []
    for _ in range(6):
        _, state = advance(plan, state, [1] * width, source)
        calls.append(len(source.given))
    assert calls == [1, 1, 1, 2, 3, 3]
    assert [len(given) for given in source.given] == [4 * width, width, 2 * width]


def test_a_stored_state_goes_on_with_the_same_noise() -> None:
    plan, source = given_plan(EPOCHS), recorder()
    whole, _ = run(plan, start(plan), [[7]] * 3, source)
    _, state = run(plan, start(plan), [[7]], recorder())
    stored = SeriesState.from_dict(json.loads(json.dumps(state.to_dict())))
    for _ in range(2):  # again and again: never redrawn
        assert run(plan, stored, [[7]] * 2, Dry())[0] == whole[1:]


@given(
    epochs=st.lists(factorisations(), min_size=1, max_size=3),
    width=st.integers(1, 2),
    data=st.data(),
)
def test_states_survive_storage(epochs: list[Bordered], width: int, data: st.DataObject) -> None:
    plan = given_plan(epochs, width)
    made = data.draw(st.integers(0, sum(epoch.steps for epoch in epochs)))
    _, state = run(plan, start(plan), [[3] * width] * made, recorder())
    plain = state.to_dict()
    assert SeriesState.from_dict(json.loads(json.dumps(plain))) == state
    assert _kinds(plain) <= {int, str}


def _kinds(plain: object) -> set[type]:
    if isinstance(plain, dict):
        return {str}.union(*map(_kinds, plain.values()))
    if isinstance(plain, list):
        return set[type]().union(*map(_kinds, plain))
    return {type(plain)}


def test_past_the_horizon_nothing_is_drawn() -> None:
    plan = given_plan(EPOCHS)
    _, state = run(plan, start(plan), [[1]] * 6, recorder())
    with pytest.raises(ParameterError, match="releases of this series were made"):
        advance(plan, state, [1], Dry())
    require_room(plan, start(plan), 6)
    for begun in (start(plan), state):
        with pytest.raises(ParameterError, match="horizon"):
            require_room(plan, begun, 7)


def test_counts_near_the_end_of_64_bits_are_refused() -> None:
    plan = given_plan(EPOCHS)
    with pytest.raises(CountOverflowError, match="64 bits"):
        advance(plan, start(plan), [2**62 + 1], Dry())
    raw, state = advance(plan, start(plan), [2**62], recorder())
    assert abs(raw[0]) < 2**63
    with pytest.raises(CountOverflowError):
        advance(plan, state, [1], Dry())


@pytest.mark.parametrize("far", [2**62 + 1, -(2**62) - 1])
@pytest.mark.parametrize("place", [0, 1])
def test_one_count_near_either_end_is_enough_to_refuse(far: int, place: int) -> None:
    plan = given_plan(EPOCHS, width=2)
    with pytest.raises(CountOverflowError):
        advance(plan, start(plan), [far * (place == 0), far * (place == 1)], Dry())


def test_a_difference_has_as_many_numbers_as_the_plan_says() -> None:
    plan = given_plan(EPOCHS, width=2)
    with pytest.raises(ParameterError, match="2 numbers"):
        advance(plan, start(plan), [1], Dry())


def test_a_state_does_not_show_its_secrets() -> None:
    plan = given_plan(EPOCHS)
    _, state = advance(plan, start(plan), [987654321], recorder())
    assert "98765" not in repr(state)
    assert repr(state) == "SeriesState(step=1, epoch=0, epoch_start=0)"


@pytest.mark.parametrize("totals", [False, True])
def test_simulation_gives_the_noise_that_a_series_adds(totals: bool) -> None:
    plan = given_plan(EPOCHS, totals=totals)
    noise = simulate(plan, 1, np.random.default_rng(5))
    released, _ = run(plan, start(plan), [[0]] * 6, recorder(5))
    assert [raw for (raw,) in released] == noise[0].tolist()
    assert simulate(plan, 3, np.random.default_rng(5), steps=4).shape == (3, 4)


@pytest.mark.parametrize("name", ["sensdiff", "compose-d-bounded", "sensseq-d-bounded"])
def test_predicted_errors_hold_in_simulation(name: str) -> None:
    plan = plan_of(mechanism(name), 12)
    found = simulate(plan, 60_000, np.random.default_rng(1)).std(axis=0)
    assert found == pytest.approx(plan.standard_deviations(), rel=0.02)


def test_simulation_of_an_unknown_horizon_needs_steps() -> None:
    sensitivity = Edges().sensitivity(DegreeBound(5))
    plan = Plan.of(mechanism("sensdiff"), Request(sensitivity, Fraction(1)))
    with pytest.raises(ParameterError, match="steps"):
        simulate(plan, 1, np.random.default_rng(0))
    assert simulate(plan, 2, np.random.default_rng(0), steps=9).shape == (2, 9)
