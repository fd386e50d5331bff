"""The h-index: one person changes it by 0 or 1 in every network, and it is counted exactly."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from commands import graphveil
from graphveil import NoBound
from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.graph.thresholds import WholeNetwork, as_threshold
from graphveil.lab import attack
from graphveil.records import from_rows
from graphveil.report.wording import beyond_links, counted_links, counted_things
from graphveil.series.planner import plan
from graphveil.statistics.sensitivity import TotalsShape
from graphveil.statistics.statistic import registered, statistic
from graphveil.statistics.tallies import DegreeReach
from graphveil.steward.reporting import write_report
from graphveil.study import StoredStudy
from graphveil.study.public_part import PublicPart
from plain_rules import numbered, totals

H_INDEX = statistic("h-index")


def by_sorting(graph: nx.Graph[int]) -> int:
    """An oracle that shares nothing with the package."""
    degrees = sorted((degree for _, degree in graph.degree()), reverse=True)
    return sum(degree >= place for place, degree in enumerate(degrees, 1))


def changes(value: Callable[[nx.Graph[int]], int]) -> set[int]:
    """What each person does to each graph of up to 7 people."""
    found = set()
    for graph in nx.graph_atlas_g():
        whole = value(graph)
        for node in graph:
            without = graph.copy()
            without.remove_node(node)
            found.add(whole - value(without))
    return found


def test_one_person_changes_it_by_0_or_1_in_every_small_graph() -> None:
    assert changes(by_sorting) == {0, 1}
    assert H_INDEX.whole_shape() == TotalsShape(1, rising=True)


def test_the_attack_sees_what_changes_by_more() -> None:
    def twice_as_many(
        graph: nx.Graph[int],
    ) -> int:  # people with degree ≥ 2, for which nothing holds
        return sum(degree >= 2 for _, degree in graph.degree())

    def with_their_neighbours(
        graph: nx.Graph[int],
    ) -> int:  # j people of degree ≥ 2j, counted twofold
        degrees = sorted((degree for _, degree in graph.degree()), reverse=True)
        return 2 * sum(degree >= 2 * place for place, degree in enumerate(degrees, 1))

    assert max(changes(twice_as_many)) > 1
    assert max(changes(with_their_neighbours)) > 1


def test_one_edge_changes_it_by_0_or_1() -> None:
    for graph in nx.graph_atlas_g()[:400]:
        whole = by_sorting(graph)
        for edge in list(graph.edges):
            without = graph.copy()
            without.remove_edge(*edge)
            assert whole - by_sorting(without) in (0, 1)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_no_neighbours_are_farther_apart_than_a_bound_says(degree: int) -> None:
    result = attack(H_INDEX, DegreeBound(degree))
    assert not result.broken


def test_the_definition_is_the_oracle() -> None:
    for graph in nx.graph_atlas_g():
        links = (
            nx.to_numpy_array(graph, dtype=np.dtype(np.uint8))
            if graph
            else np.zeros((0, 0), np.uint8)
        )
        out = np.zeros(1, np.int64)
        H_INDEX.definition(links, np.ones(len(links), np.uint8), np.zeros(1, np.int64), out)
        assert out[0] == by_sorting(graph)


def test_a_large_index_is_found_beyond_the_degrees_that_are_looked_at_first() -> None:
    people = 200
    low = np.zeros((2, 8), np.int64)
    low[1] = people
    runs = np.array([[1, 8, 199]] * people)
    reached = H_INDEX.differences(DegreeReach(low, runs))
    assert reached.tolist() == [0, people - 1], "as in a clique"
    assert H_INDEX.differences(DegreeReach(np.zeros((0, 4), np.int64), runs[:0])).tolist() == []


def test_it_needs_neither_a_promise_nor_a_projection() -> None:
    chosen = plan(H_INDEX, NoBound(), epsilon=1, horizon=20, projection=WholeNetwork())
    assert chosen.mechanism.name == "range-projection"
    assert max(chosen.predicted) < 10
    assert H_INDEX.without_promise(None) == "whole"
    assert as_threshold("whole") == WholeNetwork()


@pytest.mark.parametrize("name", sorted(set(registered()) - {"h-index", "growing-clusters"}))
def test_others_are_not_published_of_the_whole_network(name: str) -> None:
    for example in registered()[name].examples():
        with pytest.raises(ParameterError, match="without end"):
            plan(example, NoBound(), epsilon=1, horizon=5, projection="whole")


def test_after_a_projection_nothing_is_known_of_it() -> None:
    with pytest.raises(ParameterError, match=r"nothing is known.*whole with h-index"):
        plan(H_INDEX, NoBound(), epsilon=1, horizon=5, projection=3)
    with pytest.raises(ParameterError, match="horizon"):
        plan(H_INDEX, NoBound(), epsilon=1, horizon=None, projection="whole")


SERIES: dict[str, Any] = {
    "name": "core", "statistic": "h-index", "epsilon": "1/4", "projection": "whole",
}  # fmt: skip


def test_a_study_without_a_bound_publishes_it(root: Path) -> None:
    study = StoredStudy.create(root, numbered(3, bound="none", series=[SERIES]))
    people = [("a", 0), ("b", 0), ("c", 1), ("d", 2)]
    for step in range(3):
        here = [each for each in people if each[1] == step]
        names = [name for name, when in people if when <= step]
        study.add(from_rows(here, [(x, y) for x, y in combinations(names, 2) if (y, step) in here]))
        study.publish()
    assert totals(study, "core") == [[1], [2], [3]], "cliques of 2, 3 and 4"
    part = PublicPart.read(study.folder.public)
    (series,) = part.series
    assert series.mechanism == "range-projection"
    assert counted_links(series) == beyond_links(series) == ""
    assert "h people have at least h links" in counted_things(series)
    write_report(study.folder.public)
    assert graphveil("verify", str(root)).code == 0


def test_new_takes_it_without_a_promise(tmp_path: Path) -> None:
    made = graphveil(
        *("new", str(tmp_path / "s"), "--title", "t", "--population", "p", "--publisher", "p"),
        *("--first", "2020", "--every", "year", "--last", "2024", "--epsilon", "1"),
        *("--epsilon-reason", "r", "--series", "h-index=core", "--yes"),
    )
    assert made.code == 0, made.err
    assert "whole" in made.out
    assert "leaves out" not in made.out
