"""Shapes of a change: their cost is the largest that any change of the shape has."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.lab.attacks.costs import matrices
from graphveil.lab.attacks.sweep import BOUNDS, admits, every_statistic
from graphveil.mechanisms.factorisations.bordered import Dyadic, bridged, identity
from graphveil.mechanisms.factorisations.factorisation import Dense
from graphveil.statistics.change import sensitivity_under, shape_under
from graphveil.statistics.components import count_components
from graphveil.statistics.degree_histogram import _rises_and_falls
from graphveil.statistics.degrees import Reach
from graphveil.statistics.sensitivity import Bins, Mass, Moves, Recent, Shape, shape_from_dict
from graphveil.statistics.statistic import Statistic, statistic

HIGH = statistic("high-degree", tau=2)
COMPONENTS = statistic("components")


def changes(shape: Mass | Moves, steps: int) -> list[NDArray[np.int64]]:
    """Every change of the shape, over so many steps."""
    most = shape.total if isinstance(shape, Mass) else max(shape.rises, shape.falls)
    every = (np.array(d) for d in product(range(-most, most + 1), repeat=steps))
    if isinstance(shape, Mass):
        return [d for d in every if np.abs(d).sum() <= shape.total]
    within = (
        d
        for d in every
        if d.clip(min=0).sum() <= shape.rises and -d.clip(max=0).sum() <= shape.falls
    )
    return list(within)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [Mass(3), Moves(3, 2), Moves(1, 3), Moves(2, 2), Moves(2, 0)])
def test_the_cost_is_that_of_the_dearest_change(shape: Mass | Moves, steps: int) -> None:
    """Not only an upper bound: some change of the shape costs just as much."""
    admitted = changes(shape, steps)
    for name, matrix in matrices(steps).items():
        dearest = max(int(np.abs(matrix @ d).sum()) for d in admitted)
        assert shape.cost(Dense(matrix)) == dearest, name


@pytest.mark.parametrize("steps", [1, 2, 7, 16])
def test_factorisations_know_their_columns_without_forming_the_matrix(steps: int) -> None:
    for factorisation in (identity(steps), bridged(steps, 4), Dyadic(steps)):
        dense = Dense(factorisation.strategy())
        assert factorisation.column_l1() == dense.column_l1()
        for rises, falls in ((3, 3), (11, 10), (2, 9), (5, 0)):
            assert factorisation.pair_l1(rises, falls) == dense.pair_l1(rises, falls)


def test_numbers_beyond_64_bits_are_bounded_by_the_sum_of_norms() -> None:
    huge = 2**62
    assert identity(3).pair_l1(huge, huge) == 2 * huge
    assert identity(1).pair_l1(huge, huge - 1) == huge


def every_claim() -> list[tuple[Statistic, Bound]]:
    return [(each, bound) for each in every_statistic() for bound in BOUNDS if admits(each, bound)]


def test_every_shape_has_the_norm_that_the_sensitivity_states() -> None:
    """Without a matrix a shape costs Γ; an undirected histogram loses 2 that no bin can see."""
    for example, bound in every_claim():
        cost, stated = example.shape(bound).cost(identity(4)), example.sensitivity(bound).l1
        spare = 2 if example.name == "degree-histogram" and bound != DegreeBound(1) else 0
        assert cost == stated + spare, (example, bound)


def test_over_one_step_a_shape_costs_no_less_than_a_single_release() -> None:
    for example, bound in every_claim():
        assert example.shape(bound).cost(identity(1)) >= example.sensitivity(bound).static_l1


@pytest.mark.parametrize(
    ("example", "bound", "shape"),
    [
        (HIGH, DegreeBound(10), Moves(11, 10)),
        (HIGH, DegreeBound(2), Moves(3, 0)),
        (COMPONENTS, DegreeBound(10), Moves(10, 10)),
        (COMPONENTS, InOutBound(1, 4), Moves(2, 5)),
        (statistic("high-out-degree", tau=1), InOutBound(3, 7), Moves(4, 3)),
        (statistic("edges"), DegreeBound(4), Mass(4)),
        (statistic("degree-ccdf"), DegreeBound(2), Bins((Moves(1, 0), Moves(3, 2), Moves(3, 0)))),
        (
            statistic("degree-histogram"),
            DegreeBound(2),
            Bins((Moves(3, 3), Moves(3, 5), Moves(3, 0))),
        ),
    ],
)
def test_the_shapes_of_the_statistics(example: Statistic, bound: Bound, shape: Shape) -> None:
    assert example.shape(bound) == shape
    assert shape_from_dict(shape.to_dict()) == shape


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Mass(15), "changes of 15 in all, at any steps"),
        (Recent(3, 9, 10), "changes of 9 in a release, each of them in no more than 3 in a row"),
        (Recent(1, 9, 9), "changes of 9 in a release, each of them in one release"),
        (Moves(11, 10), "up to 10 moves from one step to another, and 1 rise besides"),
        (Moves(1, 1), "up to 1 move from one step to another"),
        (Moves(10, 10), "up to 10 moves from one step to another"),
        (Moves(2, 5), "up to 2 moves from one step to another, and 3 falls besides"),
        (Moves(11, 0), "up to 11 rises, at any steps"),
    ],
)
def test_a_shape_in_words(shape: Shape, words: str) -> None:
    assert shape.words() == words


@pytest.mark.parametrize("degree", [2, 5])
def test_noise_that_returns_to_zero_pays_little_more_than_the_norm(degree: int) -> None:
    """What the extra row of ones costs: 2D + 2 against 2D + 1, 2D, 2D² + 2D + 2 against 2D² + 1."""
    ends = Dense(matrices(4)["bridge"])
    bound = DegreeBound(degree)
    assert statistic("high-degree", tau=1).shape(bound).cost(ends) == 2 * degree + 2
    assert COMPONENTS.shape(bound).cost(ends) == 2 * degree
    assert statistic("degree-ccdf").shape(bound).cost(ends) == 2 * degree**2 + 2 * degree + 2


@pytest.mark.parametrize(
    ("name", "rising"), [("edges", True), ("nodes", True), ("high-degree", False)]
)
def test_shapes_after_projection(name: str, rising: bool) -> None:
    example = statistic(name, tau=2) if name == "high-degree" else statistic(name)
    shape = example.projected_shape(DegreeBound(3))
    assert shape is not None
    assert (shape.height, shape.rising) == (example.projected_l1(DegreeBound(3)), rising)
    assert statistic("triangles").projected_shape(DegreeBound(3)) is None
    assert ("−" in shape.words()) != rising


def test_loose_changes_cost_what_a_column_costs_and_are_stored() -> None:
    """CCDF, D = 2, H = 1: bins of 1 + 7 + 4 and one loose fall; 2D² + 2DH + 2·max(D + 1, H)."""
    shape = shape_under(statistic("degree-ccdf"), HubBound(DegreeBound(2), (1,)))
    assert shape == Bins((Moves(1, 0), Moves(4, 3), Moves(3, 1)), loose=1)
    assert shape.cost(identity(4)) == 13
    assert shape.cost(Dense(matrices(4)["bridge"])) == 8 + 4 + 2 * 3
    assert shape_from_dict(shape.to_dict()) == shape
    assert "1 change of any of them" in shape.words()
    plain = Bins(shape.bins)
    assert "loose" not in plain.to_dict()
    assert shape_from_dict(plain.to_dict()) == plain


def test_recent_changes_cost_all_of_them_where_the_matrix_stretches_most() -> None:
    shape = Recent(3, 5, 8)
    matrix = Dense(matrices(4)["bridge"])
    assert matrix.column_l1() > 1
    assert shape.cost(matrix) == 3 * 5 * matrix.column_l1()
    assert shape_from_dict(shape.to_dict()) == shape


def test_the_bins_of_a_histogram_rise_and_fall_as_their_people_pass() -> None:
    """Of 4 people beside somebody each passes inner bins twice; the person enters and leaves."""
    four = _rises_and_falls(Reach(4, 4, 2, True))
    assert four == [(5, 5), (9, 9), (9, 9), (5, 9), (5, 0)]
    assert _rises_and_falls(Reach(1, 1, 2, True)) == [(1, 2), (2, 0)]
    assert _rises_and_falls(Reach(3, 2, 2, True)) == [(4, 4), (4, 7), (4, 0)]


def test_how_far_one_person_or_edge_moves_clusters_in_one_release() -> None:
    one, three = DegreeBound(1), DegreeBound(3)
    pairs = statistic("clusters", k=2)
    assert (pairs.static_change(one).span, pairs.static_change(one).edge_span) == (1, 1)
    assert (pairs.static_change(three).span, pairs.static_change(three).edge_span) == (3, 2)
    assert statistic("clustered", k=4).static_change(three).edge_l1 == 6


def test_who_is_not_there_is_no_component() -> None:
    links, out = np.zeros((3, 3), np.uint8), np.zeros(1, np.int64)
    present, given = np.array([3, 0, 2], np.uint8), np.array([1, 255, 0])
    count_components(links, present, given, out)
    assert out.tolist() == [2]


def test_under_a_promise_with_hubs_no_shape_costs_less() -> None:
    promise = HubBound(DegreeBound(4), (2,))
    for example in (statistic("edges"), HIGH, COMPONENTS):
        norm = sensitivity_under(example, promise).l1
        assert norm > example.sensitivity(DegreeBound(4)).l1
        assert shape_under(example, promise).cost(identity(4)) >= norm
        ends = Dense(matrices(4)["bridge"])
        assert shape_under(example, promise).cost(ends) >= example.shape(DegreeBound(4)).cost(ends)
    assert shape_under(HIGH, DegreeBound(4)) == HIGH.shape(DegreeBound(4))


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Mass(1200), "changes of 1,200 in all, at any steps"),
        (Moves(4, 0), "up to 4 rises, at any steps"),
        (Moves(0, 1), "up to 1 fall, at any steps"),
        (Moves(3, 3), "up to 3 moves from one step to another"),
        (Moves(4, 3), "up to 3 moves from one step to another, and 1 rise besides"),
        (Moves(1, 3), "up to 1 move from one step to another, and 2 falls besides"),
        (
            Bins((Moves(4, 0), Moves(3, 3), Moves(1, 1))),
            "in each of 3 numbers up to 3 moves from one step to another",
        ),
    ],
)
def test_a_shape_in_plain_words(shape: Shape, words: str) -> None:
    assert shape.words() == words
