"""Factorisations: B·C = A exactly, whatever the weights, and least squares where promised."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.factorisations.bordered import Bordered, identity, least_squares, single_step
from graphveil.factorisations.dyadic import Dyadic
from graphveil.factorisations.factorisation import Factorisation, from_dict
from graphveil.factorisations.optimiser import optimised
from graphveil.factorisations.toeplitz import ScaledToeplitz, square_root
from graphveil.factorisations.two_level import bridged

MEMBERS: list[Factorisation] = [
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
        lambda: bridged(9, 3),
    ],
)
def test_what_would_not_be_exact_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"must be|needs"):
        wrong()  # type: ignore[operator]
