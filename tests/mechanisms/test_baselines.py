"""The paper's baselines: their scales, and the claim that SensSeq never beats Compose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import pytest

from graphveil.backends import LocalEngine
from graphveil.calendar.calendar import Calendar
from graphveil.errors import ParameterError
from graphveil.graph.projection import greedy_projection
from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.graph.sequence import GraphSequence
from graphveil.mechanisms.mechanism import Epoch, Measured, Mechanism, Request, mechanism
from graphveil.mechanisms.mechanism import registered as mechanisms
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import DiscreteLaplace
from graphveil.records import from_rows
from graphveil.statistics.statistic import Statistic, registered, statistic

Rows = Sequence[tuple[int, int]]

PAIRS = [
    ("compose-d-bounded", "sensseq-d-bounded"),
    ("compose-projection", "sensseq-projection"),
]
BOUNDS: list[Bound] = [DegreeBound(5), InOutBound(4, 5), InOutBound(2, 7)]


def cases(bound: Bound) -> Iterator[Statistic]:
    """Every registered statistic with small parameters that fit the bound."""
    directed = isinstance(bound, InOutBound)
    for kind in registered().values():
        for member in kind.examples():
            try:
                member.require_domain(directed=directed)
                changes = member.sensitivity(bound).l1
            except ParameterError:
                continue
            if changes and member.counted_for is None:
                yield member


def request(chosen: Statistic, bound: Bound, horizon: int | None, epsilon: str = "1") -> Request:
    return Request(
        chosen.sensitivity(bound),
        Fraction(epsilon),
        horizon=horizon,
        projected_l1=chosen.projected_l1(bound),
    )


def scale(name: str, asked: Request) -> Fraction:
    law = Plan.of(mechanism(name), asked).epoch(0).law
    assert isinstance(law, DiscreteLaplace)
    return law.scale


@pytest.mark.parametrize(
    ("chosen", "bound", "name", "expected"),
    [
        (statistic("edges"), DegreeBound(15), "compose-d-bounded", 15),
        (statistic("edges"), InOutBound(3, 4), "compose-d-bounded", 7),
        (statistic("edges"), InOutBound(3, 4), "compose-projection", 7),
        (statistic("nodes"), DegreeBound(9), "compose-projection", 1),
        (statistic("high-degree", tau=3), DegreeBound(15), "compose-d-bounded", 16),
        (statistic("high-degree", tau=3), DegreeBound(15), "compose-projection", 16),
        (statistic("high-out-degree", tau=2), InOutBound(2, 9), "compose-d-bounded", 3),
        (statistic("high-out-degree", tau=2), InOutBound(2, 9), "compose-projection", 8),
        (statistic("high-out-degree", tau=2), InOutBound(9, 2), "compose-projection", 10),
        (statistic("high-in-degree", tau=2), InOutBound(2, 9), "compose-projection", 10),
        (statistic("high-in-degree", tau=2), InOutBound(9, 2), "compose-projection", 8),
        (statistic("degree-histogram"), DegreeBound(4), "compose-d-bounded", 9),
    ],
)
def test_compose_spends_a_share_of_epsilon_on_the_static_sensitivity(
    chosen: Statistic, bound: Bound, name: str, expected: int
) -> None:
    asked = request(chosen, bound, horizon=20, epsilon="1/3")
    assert scale(name, asked) == expected * 20 * 3
    plan = Plan.of(mechanism(name), asked)
    assert plan.standard_deviations() == pytest.approx([sqrt(2) * expected * 60] * 20, rel=1e-4)


@pytest.mark.parametrize(("compose", "sensseq"), PAIRS)
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_sensseq_is_never_better_than_compose(bound: Bound, compose: str, sensseq: str) -> None:
    """The paper's claim, for every statistic on which the two are defined."""
    compared = 0
    for chosen in cases(bound):
        for horizon in (1, 2, 7, 100):
            asked = request(chosen, bound, horizon)
            refusal = mechanism(compose).refusal(asked)
            assert mechanism(sensseq).refusal(asked) == refusal
            if refusal is None:
                assert scale(sensseq, asked) >= scale(compose, asked)
                compared += 1
    assert compared >= 4 * 4


def with_person(
    nodes: Rows, edges: Rows, person: Rows, links: Rows, *, directed: bool, steps: int
) -> tuple[GraphSequence, GraphSequence]:
    """Two neighbouring sequences that stay as they are after step 1, for `steps` steps."""
    begin = GraphSequence.begin(Calendar.every(1, first=0), directed=directed)
    without = begin.extend(from_rows(nodes, edges), upto=steps - 1).sequence
    records = from_rows([*nodes, *person], [*edges, *links])
    return without, begin.extend(records, upto=steps - 1).sequence


def sequence_distance(
    pair: tuple[GraphSequence, GraphSequence], chosen: Statistic, threshold: Bound | None
) -> int:
    """Σ_t |f(G_t) − f(G'_t)|, after projection where there is a threshold."""
    seen = [greedy_projection(each, threshold) if threshold else each for each in pair]
    totals = [LocalEngine().count(each, [chosen]).totals(chosen) for each in seen]
    return int(abs(totals[0] - totals[1]).sum())


STEPS = 6
# Everybody of step 0 is alone but for the person 99, who has as many links as there may be.
LONERS: Rows = [(i, 0) for i in range(5)]


@pytest.mark.parametrize("projecting", [False, True])
@pytest.mark.parametrize(
    ("chosen", "bound", "links"),
    [
        (statistic("nodes"), DegreeBound(3), []),
        (statistic("edges"), DegreeBound(3), [(99, 0), (99, 1), (99, 2)]),
        (statistic("edges"), InOutBound(2, 3), [(0, 99), (1, 99), (99, 2), (99, 3), (99, 4)]),
        (statistic("high-degree", tau=1), DegreeBound(3), [(99, 0), (99, 1), (99, 2)]),
        (statistic("high-out-degree", tau=1), InOutBound(2, 1), [(0, 99), (1, 99), (99, 2)]),
        (statistic("high-in-degree", tau=1), InOutBound(1, 2), [(99, 0), (99, 1), (2, 99)]),
    ],
)
def test_the_sequence_sensitivity_is_reached_so_that_sensseq_needs_its_scale(
    chosen: Statistic, bound: Bound, links: Rows, projecting: bool
) -> None:
    directed = isinstance(bound, InOutBound)
    pair = with_person(LONERS, [], [(99, 0)], links, directed=directed, steps=STEPS)
    name = "sensseq-projection" if projecting else "sensseq-d-bounded"
    found = sequence_distance(pair, chosen, bound if projecting else None)
    assert found == scale(name, request(chosen, bound, STEPS))


def test_a_person_of_many_out_links_can_lower_others_after_projection() -> None:
    """The paper's second case, max(Din + 1, Dout − 1) = Dout − 1, is reached as well."""
    stars, tau = 5, 2
    ends = [(100 + i, 0) for i in range(stars)]
    centres = [(i, 1) for i in range(stars)]
    others = [(200 + i, 1) for i in range(stars)]
    edges = [(i, 100 + i) for i in range(stars)] + [(i, 200 + i) for i in range(stars)]
    links = [(99, 100 + i) for i in range(stars)]
    nodes = [*ends, *centres, *others]
    pair = with_person(nodes, edges, [(99, 0)], links, directed=True, steps=STEPS)
    chosen, threshold = statistic("high-out-degree", tau=tau), InOutBound(1, stars)
    static = chosen.projected_l1(threshold)
    assert static == stars - 1
    # at step 0 only the person has out-links; from step 1 on the stars have lost one each
    assert sequence_distance(pair, chosen, threshold) == 1 + static * (STEPS - 1)


def test_the_histogram_shows_where_compose_is_the_better_of_the_papers_mechanisms() -> None:
    chosen, bound = statistic("degree-histogram"), DegreeBound(15)
    asked = request(chosen, bound, 20)
    composed = Plan.of(mechanism("compose-d-bounded"), asked).standard_deviations()
    differences = Plan.of(mechanism("sensdiff"), asked).standard_deviations()
    assert sum(composed) < sum(differences) / 4


@pytest.mark.parametrize("name", [name for pair in PAIRS for name in pair])
def test_baselines_refuse_what_they_do_not_admit(name: str) -> None:
    edges, bound = statistic("edges"), DegreeBound(3)
    with pytest.raises(ParameterError, match="needs a known horizon"):
        Plan.of(mechanism(name), request(edges, bound, None))
    with_delta = replace(request(edges, bound, 3), delta=Fraction(1, 10**6))
    with pytest.raises(ParameterError, match="leave δ out"):
        Plan.of(mechanism(name), with_delta)
    plan = Plan.of(mechanism(name), request(edges, bound, 3))
    with pytest.raises(ParameterError, match="all 3 releases"):
        plan.epoch(3)
    assert mechanism(name).epoch(plan.request, 3) is None


@pytest.mark.parametrize("name", ["compose-projection", "sensseq-projection"])
def test_projection_is_refused_where_no_sensitivity_is_known(name: str) -> None:
    triangles = statistic("triangles")
    assert triangles.projected_l1(DegreeBound(3)) is None
    with pytest.raises(ParameterError, match="no known sensitivity after projection"):
        Plan.of(mechanism(name), request(triangles, DegreeBound(3), 4))
    assert mechanism(name).measured is Measured.PROJECTED_TOTALS


class OfAnotherPackage(Mechanism):
    """Projects, and says nothing about what it refuses."""

    name = "of-another-package"
    measured = Measured.PROJECTED_TOTALS

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Never asked for."""
        raise AssertionError


@pytest.mark.parametrize("member", [*mechanisms().values(), OfAnotherPackage()], ids=str)
def test_whatever_projects_is_refused_where_no_sensitivity_is_known(member: Mechanism) -> None:
    asked = replace(
        request(statistic("triangles"), DegreeBound(3), 4),
        delta=None if member.pure else Fraction(1, 10**6),
        guess=(50,) if member.follows else None,
        projected_rises=True,
    )
    assert asked.projected_l1 is None
    if member.projects:
        assert member.refusal(asked) is not None
        assert member.refusal(replace(asked, projected_l1=2)) is None


def test_a_statistic_that_cannot_change_is_refused() -> None:
    with pytest.raises(ParameterError, match="always 0"):
        request(statistic("stars", k=4), DegreeBound(3), 5)


def test_a_threshold_above_the_projection_is_refused() -> None:
    with pytest.raises(ParameterError, match="tau"):
        statistic("high-degree", tau=4).projected_l1(DegreeBound(3))
    with pytest.raises(ParameterError):
        statistic("high-degree", tau=2).projected_l1(InOutBound(3, 3))
