"""An attack on Gaussian noise, end to end: two graphs, the counts of both, the plan's own C and σ.

The cost of telling two sequences apart is ‖C·d‖²/(2σ²), where d is how far apart their
differences are; no bound on d alone says what C makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.lab.attacks.constructions import constructions
from graphveil.lab.pairs import NEVER, Pair, hidden_part, totals
from graphveil.mechanisms.mechanism import Request, mechanism
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import DiscreteGaussian
from graphveil.noise.zcdp import rho_of
from graphveil.statistics.sensitivity import Sensitivity
from graphveil.statistics.statistic import Statistic, registered, statistic

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
BOUNDS: list[Bound] = [DegreeBound(2), DegreeBound(4), InOutBound(2, 3)]
HORIZON = 512  # over so many steps C has room to line up what a person changes at the first few


def slow_star(degree: int) -> Pair:
    """A person who arrives first, and then meets one contact a step."""
    schedule = np.full((degree + 1, degree + 1), NEVER, dtype=np.int8)
    np.fill_diagonal(schedule, [*range(2, degree + 2), 1])
    schedule[:-1, -1] = schedule[-1, :-1] = range(2, degree + 2)
    return Pair.of(schedule, "node", directed=False)


def pairs(bound: Bound) -> Iterator[Pair]:
    for schedule in constructions(bound, "node"):
        pair = Pair.of(schedule, "node", directed=bound.directed)
        if pair.respects(bound):
            yield pair


def distance(chosen: Statistic, pair: Pair) -> NDArray[np.int64]:
    """How far apart the differences of both sequences are, step by step."""
    larger = np.array(pair.schedule, dtype=np.int64)
    hidden = hidden_part(len(larger), "node", directed=pair.directed) == 1
    apart = totals(chosen, larger, pair) - totals(chosen, np.where(hidden, NEVER, larger), pair)
    return np.asarray(np.diff(apart, axis=0, prepend=0))


def dearest(apart: Iterable[NDArray[np.int64]], stated: Sensitivity, width: int) -> Fraction:
    """What the worst of some pairs costs, in shares of ρ, under the plan that would be used."""
    asked = Request(stated, EPSILON, DELTA, HORIZON, width)
    (epoch,) = Plan.of(mechanism("gaussian"), asked).epochs
    assert isinstance(epoch.law, DiscreteGaussian)
    strategy = epoch.factorisation.strategy().astype(object)
    moved = [strategy[:, : len(each)] @ each.astype(object) for each in apart]
    energy = max(int((each**2).sum()) for each in moved)
    return Fraction(energy) / (2 * epoch.law.sigma_squared) / rho_of(EPSILON, DELTA)


def attacked(bound: Bound) -> Iterator[Statistic]:
    for kind in registered().values():
        for example in kind.examples():
            with suppress(ParameterError):
                example.require_domain(directed=bound.directed)
                if example.counted_for is None and example.sensitivity(bound).l1:
                    yield example


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_no_pair_of_graphs_costs_more_than_rho_and_some_cost_just_that(bound: Bound) -> None:
    costs = {
        chosen: dearest(
            (distance(chosen, pair) for pair in pairs(bound)),
            chosen.sensitivity(bound),
            chosen.width(bound),
        )
        for chosen in attacked(bound)
    }
    assert max(costs.values()) <= 1
    assert costs[statistic("edges")] > 0.999


def slow_links(degree: int) -> Fraction:
    """What a person costs who meets one contact a step, where that is all that can happen.

    Under this promise D links are ±1 at D steps: L1 is D, L2² is D too, and V² is D².
    """
    stated = statistic("edges").sensitivity(DegreeBound(degree))
    stated = replace(stated, l2_squared=degree, variation=degree**2)
    return dearest([distance(statistic("edges"), slow_star(degree))], stated, width=1)


def test_what_comes_slowly_costs_no_more_than_rho() -> None:
    assert 0.5 < slow_links(4) <= 1


def test_noise_for_the_l2_distance_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """C lines up what the L2 distance counts apart."""
    monkeypatch.setattr(Sensitivity, "variation_squared", property(lambda self: self.l2_squared))
    assert slow_links(4) > 2
