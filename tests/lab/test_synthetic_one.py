"""Synthetic I against the definition of the model, draw by draw and in distribution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from graphveil.errors import ParameterError
from graphveil.lab.dataset_files import PAPER
from graphveil.lab.synthetic import SyntheticOne, Transmissions

Edges = tuple[tuple[int, int], ...]
PINNED = [(0, 3), (3, 4), (1, 7), (1, 8)]
UNLIKELY = 1e-4  # all seeds are fixed, so that a test never fails by chance later


def exact_law(model: SyntheticOne) -> dict[frozenset[tuple[int, int]], float]:
    """The probability of every graph without isolated arrivals, from the definition alone."""
    law: dict[frozenset[tuple[int, int]], float] = {}
    for edges, probability in _histories(model, model.m0, (), 1.0):
        graph = frozenset(edges)
        law[graph] = law.get(graph, 0) + probability
    return law


def _year(model: SyntheticOne, node: int) -> int:
    return 0 if node < model.m0 else (node - model.m0) // model.yearly + 1


def _weight(model: SyntheticOne, node: int, now: int, edges: Edges) -> float:
    links = sum(node == a or (node == b and model.preference == "degree") for a, b in edges)
    age = float(now - _year(model, node) + 1)
    return float((links + 1) * age**-model.decay)


def _histories(
    model: SyntheticOne, node: int, edges: Edges, probability: float
) -> Iterator[tuple[Edges, float]]:
    if node == model.m0 + model.yearly * model.years:
        yield edges, probability
        return
    now = _year(model, node)
    weights = {v: _weight(model, v, now, edges) for v in range(node)}
    for chosen, chance in _choices(weights, min(model.k, node)):
        added = tuple((v, node) for v in chosen)
        yield from _histories(model, node + 1, edges + added, probability * chance)


def _choices(weights: dict[int, float], k: int) -> Iterator[tuple[tuple[int, ...], float]]:
    if k == 0:
        yield (), 1.0
        return
    total = sum(weights.values())
    for v, weight in weights.items():
        others = {u: w for u, w in weights.items() if u != v}
        for rest, chance in _choices(others, k - 1):
            yield (v, *rest), weight / total * chance


def graph_of(drawn: Transmissions) -> frozenset[tuple[int, int]]:
    return frozenset(zip(drawn.source.tolist(), drawn.target.tolist(), strict=True))


@pytest.mark.parametrize(
    "model",
    [
        SyntheticOne(m0=2, yearly=2, years=2, isolated=0, decay=1),
        SyntheticOne(m0=2, yearly=2, years=2, isolated=0, decay=1, preference="out-degree"),
        SyntheticOne(m0=2, yearly=1, years=4, isolated=0, decay=2),
        SyntheticOne(m0=3, yearly=2, years=1, isolated=0, decay=0.5, k=2),
        SyntheticOne(m0=1, yearly=3, years=1, isolated=0, decay=1, k=2),
    ],
    ids=str,
)
def test_every_graph_has_the_probability_that_the_definition_gives(model: SyntheticOne) -> None:
    runs = 12_000
    law = exact_law(model)
    assert sum(law.values()) == pytest.approx(1)
    drawn = Counter(graph_of(model.draw(seed)) for seed in range(runs))
    assert drawn.keys() <= law.keys()
    expected = np.array(list(law.values())) * runs
    assert expected.min() > 5, "too few runs for the test"
    assert chisquare([drawn[graph] for graph in law], expected).pvalue > UNLIKELY


def test_the_definition_of_the_test_can_tell_the_readings_apart() -> None:
    by_degree = SyntheticOne(m0=2, yearly=2, years=2, isolated=0)
    runs = 12_000
    law = exact_law(SyntheticOne(m0=2, yearly=2, years=2, isolated=0, preference="out-degree"))
    drawn = Counter(graph_of(by_degree.draw(seed)) for seed in range(runs))
    expected = np.array(list(law.values())) * runs
    assert chisquare([drawn[graph] for graph in law], expected).pvalue < UNLIKELY


@pytest.mark.parametrize("k", [1, 3])
def test_nodes_come_in_years_and_edges_run_forward(k: int) -> None:
    model = SyntheticOne(m0=4, yearly=5, years=6, k=k, isolated=0.3)
    drawn = model.draw(3)
    assert drawn.time.tolist() == [0] * 4 + [year for year in range(1, 7) for _ in range(5)]
    assert (drawn.source < drawn.target).all()
    assert (drawn.time[drawn.source] <= drawn.time[drawn.target]).all()
    arriving = Counter(drawn.target.tolist())
    assert set(arriving.values()) == {k}, "isolated, or linked to k"
    assert len(graph_of(drawn)) == len(drawn.source), "to k different ones"
    assert min(arriving) >= model.m0


def test_nodes_of_the_same_year_may_be_linked() -> None:
    drawn = SyntheticOne().draw(1)
    assert (drawn.time[drawn.source] == drawn.time[drawn.target]).any()


@pytest.mark.parametrize("isolated", [0.5, 0.9])
def test_the_isolated_share_is_binomial(isolated: float) -> None:
    model = SyntheticOne(m0=10, yearly=50, years=10, isolated=isolated)
    linked = [len(model.draw(seed).source) for seed in range(200)]
    arrivals = model.yearly * model.years
    below = binom.cdf(sum(linked), arrivals * len(linked), 1 - isolated)
    assert UNLIKELY < below < 1 - UNLIKELY
    spread = np.var(linked) / (arrivals * isolated * (1 - isolated))
    assert 0.7 < spread < 1.4


def test_nobody_or_everybody_is_isolated() -> None:
    model = SyntheticOne(m0=3, yearly=20, years=5, isolated=1)
    assert len(model.draw(0).source) == 0
    model = SyntheticOne(m0=3, yearly=20, years=5, isolated=0)
    assert len(model.draw(0).source) == 100


def test_decay_makes_infectors_younger() -> None:
    def mean_gap(decay: float) -> float:
        gaps = []
        for seed in range(20):
            drawn = SyntheticOne(decay=decay).draw(seed)
            gaps.append((drawn.time[drawn.target] - drawn.time[drawn.source]).mean())
        return float(np.mean(gaps))

    never, paper, fast = mean_gap(0), mean_gap(1), mean_gap(4)
    assert never > paper + 1 > fast + 2


def test_extreme_decay_still_links_to_the_old_when_there_is_nobody_else() -> None:
    drawn = SyntheticOne(m0=2, yearly=1, years=3, k=2, isolated=0, decay=200).draw(0)
    assert len(drawn.source) == 6


def test_the_same_seed_draws_the_same_graph() -> None:
    model = SyntheticOne()
    first, again, other = model.draw(5), model.draw(5), model.draw(6)
    assert graph_of(first) == graph_of(again)
    assert graph_of(first) != graph_of(other)
    assert (first.time == again.time).all()


def test_a_seed_means_the_same_graph_for_ever() -> None:
    """What a paper reports with a seed must stay reproducible."""
    drawn = SyntheticOne(m0=3, yearly=2, years=3, isolated=0.25).draw(2024)
    assert list(zip(drawn.source.tolist(), drawn.target.tolist(), strict=True)) == PINNED


def test_the_papers_parameters_give_about_the_papers_table() -> None:
    paper = PAPER["synthetic-1"]
    draws = [SyntheticOne().draw(seed) for seed in range(200)]
    edges = np.array([len(drawn.source) for drawn in draws])
    most_out = np.array([np.bincount(drawn.source).max() for drawn in draws])
    most_in = {int(np.bincount(drawn.target).max()) for drawn in draws}
    assert {len(drawn.time) for drawn in draws} == {1900}, "the paper's table has 1990"
    assert paper.nodes == 1990
    assert edges.mean() == pytest.approx(700, abs=5)
    assert abs(paper.edges - edges.mean()) < 3 * edges.std(), "665 is a plausible draw"
    assert most_in == {paper.max_in_degree}
    assert most_out.mean() == pytest.approx(5.9, abs=0.3)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"m0": 0}, "m0"),
        ({"yearly": -1}, "yearly"),
        ({"years": 2.5}, "years"),
        ({"k": True}, "k"),
        ({"isolated": 1.1}, "isolated"),
        ({"isolated": float("nan")}, "isolated"),
        ({"decay": -1.0}, "decay"),
        ({"decay": float("nan")}, "decay"),
        ({"decay": 1000.0}, "decay"),
        ({"preference": "in-degree"}, "preference"),
    ],
)
def test_parameters_outside_their_range_are_refused(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError, match=f"^{named}: "):
        SyntheticOne(**wrong)


@pytest.mark.parametrize("seed", [-1, 1.5, True, None])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(ParameterError, match="seed"):
        SyntheticOne().draw(seed)
