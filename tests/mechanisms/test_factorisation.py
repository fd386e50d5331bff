"""Factorisations: B·C = A exactly, whatever the weights, and least squares where promised."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.mechanisms.factorisations.bordered import (
    Bordered,
    Dyadic,
    best_block,
    bridged,
    bridged_squares,
    dyadic,
    identity,
    least_squares,
    single_step,
)
from graphveil.mechanisms.factorisations.factorisation import (
    _REGISTRY,
    Factorisation,
    Questions,
    Totals,
    from_dict,
)
from graphveil.mechanisms.factorisations.optimiser import GRID, optimised
from graphveil.mechanisms.factorisations.triangular import (
    ScaledSums,
    ScaledToeplitz,
    shared,
    square_root,
)

MEMBERS: list[Factorisation] = [
    Totals(5),
    Questions(5, 2),
    ScaledSums((1, 1, 3), (1, 1, 1)),
    *(shared(steps) for steps in (1, 2, 9)),
    single_step(),
    identity(5),
    *(bridged(steps, block) for steps, block in [(2, 2), (7, 4), (20, 8), (33, 16)]),
    *(Dyadic(steps) for steps in (1, 2, 7, 8, 21)),
    *(square_root(steps) for steps in (1, 2, 9, 30)),
    *(optimised(steps) for steps in (3, 12, 40)),
    least_squares([3, 5, 1, 7], [[1, -2, 0, 4], [0, 0, 3, 3]]),
]
odd = st.integers(0, 20).map(lambda n: 2 * n + 1)
small = st.integers(-30, 30)


@st.composite
def bordered(draw: st.DrawFn) -> Bordered:
    """Any diagonal, any rows, any weights."""
    steps, rows = draw(st.integers(1, 7)), draw(st.integers(0, 3))

    def table(height: int, width: int) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(draw(small) for _ in range(width)) for _ in range(height))

    diagonal = tuple(draw(odd) for _ in range(steps))
    weights = table(steps, rows) if rows else ()
    return Bordered(diagonal, table(rows, steps), weights, draw(odd))


@st.composite
def toeplitz(draw: st.DrawFn) -> ScaledToeplitz:
    """Any coefficients and scales that are admitted."""
    steps = draw(st.integers(1, 8))
    later = (draw(st.integers(0, 30)) for _ in range(steps - 1))
    return ScaledToeplitz((draw(odd), *later), tuple(draw(odd) for _ in range(steps)))


@st.composite
def scaled_sums(draw: st.DrawFn) -> ScaledSums:
    """Any factors that are admitted."""
    steps = draw(st.integers(1, 8))
    rows, columns = (tuple(draw(odd) for _ in range(steps)) for _ in range(2))
    return ScaledSums(rows, columns)


def require_exact(member: Factorisation) -> None:
    """Decoding what C makes of any one difference gives back its prefix sums."""
    for place, column in enumerate(member.strategy().T.tolist()):
        assert member.decode(column) == [int(t >= place) for t in range(member.steps)]


@given(st.one_of(bordered(), toeplitz()))
@settings(deadline=None, max_examples=100)
def test_any_weights_give_the_prefix_sums_exactly(member: Factorisation) -> None:
    require_exact(member)


@given(st.one_of(bordered(), toeplitz()), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=50)
def test_the_exact_decoder_is_the_one_that_is_predicted_with(
    member: Factorisation, random: np.random.Generator
) -> None:
    noise = [int(random.random() * 2000) - 1000 for _ in range(member.measurements)]
    decoded = np.array([float(value) for value in member.decode(noise)])
    scale = 1 + np.abs(member.decoder()).max()
    np.testing.assert_allclose(decoded, member.decoder() @ noise, atol=1e-8 * 1000 * scale)


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: f"{type(member).__name__}")
def test_every_member_is_exact_and_knows_its_norms(member: Factorisation) -> None:
    require_exact(member)
    strategy = member.strategy()
    assert strategy.shape == (member.measurements, member.steps)
    assert member.column_l1() == np.abs(strategy).sum(axis=0).max()
    assert member.column_l2_squared() == (strategy**2).sum(axis=0).max()
    squares = (member.decoder() ** 2).sum(axis=1)
    np.testing.assert_allclose(member.decoder_squares(), squares, rtol=1e-9)


@pytest.mark.parametrize("member", MEMBERS, ids=str)
def test_what_is_measured_is_whole(member: Factorisation) -> None:
    assert member.strategy().dtype == np.int64
    assert member.integral_steps().dtype == np.bool_


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: f"{type(member).__name__}")
def test_no_estimate_falls_between_two_whole_numbers(member: Factorisation) -> None:
    noise = [(7 * place) ** 2 % 31 - 15 for place in range(member.measurements)]
    assert all(value.denominator % 2 for value in member.decode(noise))


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: f"{type(member).__name__}")
def test_members_survive_storage(member: Factorisation) -> None:
    assert from_dict(json.loads(json.dumps(member.to_dict()))) == member


def test_least_squares_is_the_best_decoder() -> None:
    rng = np.random.default_rng(5)
    diagonal = (2 * rng.integers(0, 9, 12) + 1).tolist()
    rows = rng.integers(0, 9, (3, 12)).tolist()
    found = least_squares(diagonal, rows)
    best = np.tril(np.ones((12, 12))) @ np.linalg.pinv(found.strategy().astype(float))
    np.testing.assert_allclose(found.decoder(), best, atol=1e-5)
    np.testing.assert_allclose(found.decoder_squares(), (best**2).sum(axis=1), rtol=1e-7)


@pytest.mark.parametrize("steps", [7, 16, 21])
def test_bridged_weights_are_least_squares(steps: int) -> None:
    found = bridged(steps, 6)
    best = np.tril(np.ones((steps, steps))) @ np.linalg.pinv(found.strategy().astype(float))
    np.testing.assert_allclose(found.decoder(), best, atol=1e-9)


def test_honaker_is_least_squares_on_complete_blocks() -> None:
    """At a power of two the tree's last estimate uses every node, so nothing can be better."""
    found = Dyadic(16)
    best = np.ones(16) @ np.linalg.pinv(found.strategy().astype(float))
    np.testing.assert_allclose(found.decoder()[-1], best, atol=1e-12)
    assert found.decode([0] * 30 + [31])[-1] == Fraction(16)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Bordered((2,)),
        lambda: Bordered((0,)),
        lambda: Bordered((1,), grid=4),
        lambda: Bordered((1, 1), rows=((1,),), weights=((1,), (1,))),
        lambda: Bordered((1, 1), rows=((1, 1),), weights=((1,),)),
        lambda: ScaledToeplitz((4, 1), (1, 1)),
        lambda: ScaledToeplitz((3, -1), (1, 1)),
        lambda: ScaledSums((1, 2), (1, 1)),
        lambda: ScaledSums((1,), (-1,)),
        lambda: ScaledSums((1, 1), (1,)),
        lambda: ScaledSums((), ()),
        lambda: bridged(9, 3),
    ],
)
def test_what_would_not_be_exact_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"must be|needs"):
        wrong()  # type: ignore[operator]


EVERY_KIND = sorted(_REGISTRY.members())


def exact_decoder(member: Factorisation) -> list[list[Fraction]]:
    """B exactly, (steps, measurements): one column for each unit of noise."""
    size = member.measurements
    columns = [member.decode([int(i == place) for i in range(size)]) for place in range(size)]
    return [list(row) for row in zip(*columns, strict=True)]


def as_floats(table: Sequence[Sequence[Fraction]]) -> NDArray[np.float64]:
    return np.array([[float(entry) for entry in row] for row in table])


def require_agreement(member: Factorisation, coefficients: Sequence[float]) -> None:
    """Everything that is said about B follows from the exact one."""
    exact = exact_decoder(member)
    dense, given_floats = as_floats(exact), np.array(coefficients, dtype=np.float64)
    near = 1e-9 * (1 + np.abs(dense).max())
    assert member.decoder().shape == (member.steps, member.measurements)
    np.testing.assert_allclose(member.decoder(), dense, atol=near)
    squares = (dense**2).sum(axis=1)
    np.testing.assert_allclose(member.decoder_squares(), squares, rtol=1e-7, atol=near)
    combined = member.combined_row(given_floats)
    np.testing.assert_allclose(combined, given_floats @ dense, atol=near * member.steps * 10)
    for place in (-1, *range(member.steps)):
        np.testing.assert_allclose(member.single_row(place), dense[place], atol=near)
    for row, claimed in zip(exact, member.integral_steps().tolist(), strict=True):
        assert not claimed or all(entry.denominator == 1 for entry in row)


def require_norms(member: Factorisation) -> None:
    """The norms, to which noise is calibrated, are those of the dense C."""
    columns = member.strategy().T.tolist()
    assert (len(columns[0]), len(columns)) == (member.measurements, member.steps)
    assert member.column_l1() == max(sum(map(abs, column)) for column in columns)
    assert member.column_l2_squared() == max(sum(c**2 for c in column) for column in columns)


def product(exact: Sequence[Sequence[Fraction]], member: Factorisation) -> list[list[Fraction]]:
    """B·C in fractions."""
    columns = member.strategy().T.tolist()
    return [
        [sum((b * c for b, c in zip(row, column, strict=True)), Fraction()) for column in columns]
        for row in exact
    ]


def prefix_sums(steps: int) -> list[list[int]]:
    return [[int(j <= t) for j in range(steps)] for t in range(steps)]


@st.composite
def dyadics(draw: st.DrawFn) -> Dyadic:
    return Dyadic(draw(st.integers(1, 12)))


FORMS: dict[str, st.SearchStrategy[Factorisation]] = {
    Bordered.kind: bordered(),
    Dyadic.kind: dyadics(),
    ScaledToeplitz.kind: toeplitz(),
    ScaledSums.kind: scaled_sums(),
    Totals.kind: st.integers(1, 12).map(Totals),
    Questions.kind: st.builds(Questions, st.integers(1, 12), st.integers(0, 3)),
}


def test_every_registered_form_is_swept() -> None:
    """A new form has to be given a strategy here, and then all of the checks below."""
    assert sorted(FORMS) == EVERY_KIND
    assert {member.kind for member in MEMBERS} == set(EVERY_KIND)


@pytest.mark.parametrize("kind", EVERY_KIND)
@given(data=st.data())
@settings(max_examples=25)
def test_decoder_times_strategy_is_the_prefix_sums(kind: str, data: st.DataObject) -> None:
    member = data.draw(FORMS[kind])
    assert product(exact_decoder(member), member) == prefix_sums(member.steps)


@pytest.mark.parametrize("kind", EVERY_KIND)
@given(data=st.data())
@settings(max_examples=25)
def test_all_that_is_said_of_the_decoder_agrees(kind: str, data: st.DataObject) -> None:
    member = data.draw(FORMS[kind])
    numbers = st.lists(st.floats(-3, 3), min_size=member.steps, max_size=member.steps)
    require_agreement(member, data.draw(numbers))


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: f"{type(member).__name__}")
def test_all_that_is_said_of_a_members_decoder_agrees(member: Factorisation) -> None:
    require_agreement(member, [(-1) ** t / (t + 1) for t in range(member.steps)])


@pytest.mark.parametrize("kind", EVERY_KIND)
@given(data=st.data())
@settings(max_examples=25)
def test_any_member_has_odd_denominators_and_survives_storage(
    kind: str, data: st.DataObject
) -> None:
    """Odd in every entry of B, hence in every estimate, whatever the noise is."""
    member = data.draw(FORMS[kind])
    assert all(entry.denominator % 2 for row in exact_decoder(member) for entry in row)
    assert from_dict(json.loads(json.dumps(member.to_dict()))) == member
    assert member.to_dict()["kind"] == kind


@pytest.mark.parametrize("kind", EVERY_KIND)
@given(data=st.data())
@settings(max_examples=25)
def test_column_norms_are_those_of_the_dense_strategy(kind: str, data: st.DataObject) -> None:
    require_norms(data.draw(FORMS[kind]))


@pytest.mark.parametrize("kind", EVERY_KIND)
@given(data=st.data())
@settings(max_examples=25)
def test_decoding_is_linear(kind: str, data: st.DataObject) -> None:
    member = data.draw(FORMS[kind])
    noises = st.lists(small, min_size=member.measurements, max_size=member.measurements)
    one, other, times = data.draw(noises), data.draw(noises), data.draw(small)
    mixed = member.decode([a + times * b for a, b in zip(one, other, strict=True)])
    apart = zip(member.decode(one), member.decode(other), strict=True)
    assert mixed == [a + times * b for a, b in apart]


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: f"{type(member).__name__}")
def test_whole_steps_of_the_librarys_own_members_are_all_known(member: Factorisation) -> None:
    whole = [all(entry.denominator == 1 for entry in row) for row in exact_decoder(member)]
    assert member.integral_steps().tolist() == whole


@dataclass(frozen=True)
class Shortened(Bordered):
    """Forgets the last row of C when it says how far C stretches."""

    def column_l1(self) -> int:
        return max(self.diagonal)


@dataclass(frozen=True)
class Careless(Bordered):
    """Combines rows of B as if there were no rows of C below the diagonal."""

    def combined_row(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        leaves = np.cumsum(coefficients[::-1])[::-1] / np.array(self.diagonal)
        return np.concatenate([leaves, np.zeros(len(self.rows))])


def test_a_careless_combination_is_caught() -> None:
    plain = bridged(7, 4)
    careless = Careless(plain.diagonal, plain.rows, plain.weights, plain.grid)
    require_agreement(plain, [1.0] * 7)
    with pytest.raises(AssertionError):
        require_agreement(careless, [1.0] * 7)


def test_a_forgotten_row_is_caught() -> None:
    plain = bridged(7, 4)
    forgetful = Shortened(plain.diagonal, plain.rows, plain.weights, plain.grid)
    require_norms(plain)
    with pytest.raises(AssertionError):
        require_norms(forgetful)


@given(st.integers(1, 40), st.integers(1, 8).map(lambda half: 2 * half))
def test_blocks_of_two_levels_have_their_closed_form(steps: int, block: int) -> None:
    found = bridged(steps, block)
    require_exact(found)
    assert found.column_l1() <= 2
    np.testing.assert_allclose(bridged_squares(steps, block), found.decoder_squares(), rtol=1e-9)


@given(st.integers(1, 60))
def test_the_best_block_is_the_best_of_all(steps: int) -> None:
    best = best_block(steps)
    assert best % 2 == 0
    least = np.sqrt(bridged_squares(steps, best)).mean()
    for block in range(2, steps + 2, 2):
        assert least <= np.sqrt(bridged_squares(steps, block)).mean() + 1e-12


@given(st.integers(1, 300))
def test_the_first_steps_fall_into_the_blocks_of_their_digits(t: int) -> None:
    covered = [
        step
        for height, place in dyadic(t)
        for step in range(place << height, (place + 1) << height)
    ]
    assert sorted(covered) == list(range(t))
    assert len(list(dyadic(t))) == t.bit_count()


@given(st.integers(1, 40))
def test_the_square_root_is_causal_and_its_columns_are_about_equal(steps: int) -> None:
    """Gaussian noise needs both: no look ahead, and no column that pays for the others."""
    strategy = square_root(steps).strategy()
    assert (strategy == np.tril(strategy)).all()
    assert (strategy >= 0).all()
    lengths = np.sqrt((strategy**2).sum(axis=0))
    assert lengths.min() > 0.98 * lengths.max()


@pytest.mark.parametrize("steps", [10, 17, 64])
def test_an_optimised_column_stays_within_its_grid(steps: int) -> None:
    found = optimised(steps)
    assert found.column_l1() <= GRID
    assert (found.strategy() >= 0).all()
    own, plain = (np.sqrt(each.decoder_squares()).mean() for each in (found, identity(steps)))
    assert own * found.column_l1() < plain
