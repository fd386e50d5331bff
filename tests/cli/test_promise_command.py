"""`graphveil promise`: bounds tried on a public network, and what is refused before it is read."""

from __future__ import annotations

import random
from math import hypot, sqrt
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from commands import graphveil
from graphveil import NoBound
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound
from graphveil.series.planner import plan
from graphveil.statistics.statistic import statistic
from steward import run, run_json

STEPS = 4


def network(folder: Path, *, directed: bool = False) -> tuple[list[str], nx.Graph[int]]:
    """Sixty people in four years, who prefer those with many links: as tables, and as a graph."""
    chance, ends = random.Random(5), [0]
    graph: nx.Graph[int] = nx.DiGraph() if directed else nx.Graph()
    for person in range(60):
        graph.add_node(person, step=person // 15)
        for friend in {chance.choice(ends) for _ in range(2)} - {person}:
            graph.add_edge(friend, person)
            ends += [friend, person]
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    nodes.write_text("node,time\n" + "".join(f"{p},{2001 + p // 15}\n" for p in graph))
    edges.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in graph.edges))
    return [str(nodes), str(edges)], graph


def first_links(graph: nx.Graph[int], bound: int) -> nx.Graph[int]:
    """Links among the first of both ends; all are prompt, and people come in order."""
    kept: nx.Graph[int] = nx.Graph()
    kept.add_nodes_from(graph)
    used = dict.fromkeys(graph, 0)
    for newer, older in sorted((max(edge), min(edge)) for edge in graph.edges):
        if used[newer] < bound and used[older] < bound:
            kept.add_edge(newer, older)
        used[newer] += 1
        used[older] += 1
    return kept


def test_every_number_is_what_it_says(tmp_path: Path) -> None:
    files, graph = network(tmp_path)
    found = run_json("promise", *files, "--epsilon", "1")
    assert (found["steps"], found["releases"]) == (STEPS, STEPS)
    most = max(degree for _, degree in graph.degree())
    assert [each["bound"] for each in found["tried"]][:3] == [1, 2, 3]
    assert (found["tried"][-1]["bound"], found["tried"][-1]["hubs"]) == (most, 0)
    for each in found["tried"]:
        bound = each["bound"]
        hubs = {node for node, degree in graph.degree() if degree > bound}
        fewest = max(len(hubs & set(graph[node])) for node in graph)
        kept = first_links(graph, bound)
        assert each["hubs"] == fewest
        assert each["dropped"] == pytest.approx(1 - kept.size() / graph.size())
        edges = each["series"]["edges"]
        assert edges["l1"] == bound + fewest
        missed = [
            graph.subgraph(range(15 * (step + 1))).size()
            - kept.subgraph(range(15 * (step + 1))).size()
            for step in range(STEPS)
        ]
        assert edges["missed"] == pytest.approx(sqrt(sum(n * n for n in missed) / STEPS))
        promised = HubBound(DegreeBound(bound), (fewest,), checked=False)
        predicted = plan(statistic("edges"), promised, epsilon=1, horizon=STEPS).predicted
        assert edges["noise"] == pytest.approx(sqrt(sum(std * std for std in predicted) / STEPS))
        assert edges["error"] == pytest.approx(hypot(edges["noise"], edges["missed"]))
    least = min(found["tried"], key=lambda each: each["series"]["edges"]["error"])
    assert found["best"] == least


def test_people_see_the_best_and_a_warning(tmp_path: Path) -> None:
    files, _ = network(tmp_path)
    told = run("promise", *files, "--epsilon", "1")
    assert "never the records to be published" in told.err
    best = run_json("promise", *files, "--epsilon", "1")["best"]
    assert f"--bound {best['bound']}" in told.out
    assert told.out.count("◀") == 1


def test_several_series_share_the_budget_and_the_horizon_may_be_longer(tmp_path: Path) -> None:
    files, _ = network(tmp_path)
    series = ("--series", "edges@1/4", "--series", "high-degree:tau=3")
    found = run_json("promise", *files, "--epsilon", "1", *series, "--horizon", "9")
    assert found["releases"] == 9
    assert found["tried"][0]["bound"] == 3  # below τ there is nothing to count
    each = found["best"]
    parts = [one["relative"] for one in each["series"].values()]
    assert each["mean_relative_error"] == pytest.approx(sum(parts) / 2)
    bound = HubBound(DegreeBound(each["bound"]), (each["hubs"],), checked=False)
    high = plan(statistic("high-degree", tau=3), bound, epsilon="3/4", horizon=9)
    assert each["series"]["high-degree-3"]["mechanism"] == high.mechanism.name


def test_directed_networks_have_two_of_each(tmp_path: Path) -> None:
    files, graph = network(tmp_path, directed=True)
    found = run_json("promise", *files, "--epsilon", "1", "--directed")
    assert isinstance(graph, nx.DiGraph)
    for each in found["tried"][:6]:
        inward, outward = each["bound"]
        in_hubs = {node for node, degree in graph.in_degree() if degree > inward}
        out_hubs = {node for node, degree in graph.out_degree() if degree > outward}
        to_hubs = max(len(in_hubs & set(graph.successors(node))) for node in graph)
        from_hubs = max(len(out_hubs & set(graph.predecessors(node))) for node in graph)
        assert each["hubs"] == [to_hubs, from_hubs]
        own = HubBound(InOutBound(inward, outward), (to_hubs, from_hubs), checked=False)
        assert each["series"]["edges"]["l1"] == inward + outward + sum(own.hubs)


@pytest.mark.parametrize("directed", [False, True])
def test_it_is_drawn(tmp_path: Path, directed: bool) -> None:
    files, _ = network(tmp_path, directed=directed)
    more = ("--directed",) if directed else ()
    run("promise", *files, "--epsilon", "1", *more, "--plot", tmp_path / "promises.svg")
    assert "smallest error" in (tmp_path / "promises.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--epsilon", "0"), "epsilon"),
        (("--epsilon", "1", "--series", "degree-ccdf"), "one number per degree"),
        (("--epsilon", "1", "--series", "edges:projection=3"), "projection: is not part"),
        (("--epsilon", "1", "--horizon", "0"), "horizon: must be at least 1"),
        (("--epsilon", "1", "--series", "high-degree:tau=99"), "no bound admits"),
        (("--epsilon", "1", "--series", "high-out-degree:tau=1"), "directed graphs only"),
        (("--epsilon", "1", "--plot", "a.txt"), "plot: must end in"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    files, _ = network(tmp_path)
    refused = graphveil("promise", *files, *arguments)
    message = refused.err.splitlines()[-1]
    assert refused.code != 0
    assert complaint in message
    assert len(message) < 300


def test_a_network_without_links_has_nothing_to_try(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("node,time\na,2001\n")
    (tmp_path / "e.csv").write_text("source,target\n")
    files = (str(tmp_path / name) for name in ("n.csv", "e.csv"))
    refused = graphveil("promise", *files, "--epsilon", "1")
    assert refused.code != 0
    assert "no links" in refused.err


def test_forests_are_tried_where_they_count_a_series(tmp_path: Path) -> None:
    files, _ = network(tmp_path)
    wanted = ("--series", "components", "--series", "edges")
    found = run_json("promise", *files, "--epsilon", "1", *wanted)
    assert [each["projection"] for each in found["forests"]] == [f"forest:{c}" for c in range(1, 7)]
    for branches, each in enumerate(found["forests"], 1):
        assert set(each["series"]) == {"components"}  # nothing else is counted by forests
        noisy = plan("components", 9, epsilon="1/2", horizon=STEPS, projection=f"forest:{branches}")
        assert each["series"]["components"]["l1"] == noisy.request.projected_l1
        assert each["series"]["components"]["missed"] >= 0
    missed = [each["series"]["components"]["missed"] for each in found["forests"]]
    assert missed == sorted(missed, reverse=True)
    shown = run("promise", *files, "--epsilon", "1", *wanted).out
    assert "Without a promise, counted by forests" in shown
    assert "Smallest error: components:projection=forest:" in shown
    plain = run_json("promise", *files, "--epsilon", "1")
    assert plain["forests"] == []


def test_links_get_the_guess_of_a_threshold_that_follows(tmp_path: Path) -> None:
    files, graph = network(tmp_path)
    found = run_json("promise", *files, "--epsilon", "1", "--series", "edges=links")
    guessed = found["following"]["links"]
    rank = int(2 * (STEPS + 2 + 2) / 3)  # two spare questions
    degrees = sorted((degree for _, degree in graph.degree()), reverse=True)
    assert guessed["projection"] == f"follow:{graph.number_of_edges()}:{degrees[rank]}"
    asked = plan("edges", NoBound(), epsilon=1, horizon=STEPS, projection=guessed["projection"])
    noise = np.sqrt(np.mean(np.square(asked.predicted)))
    assert guessed["noise"] == pytest.approx(noise)
    shown = " ".join(
        run("promise", *files, "--epsilon", "1", "--series", "edges=links").out.split()
    )
    assert f"links:projection={guessed['projection']}" in shown
    assert "a threshold that follows loses" in shown, "sixty people, and four releases"


def test_groups_that_hang_on_hubs_are_called_so(tmp_path: Path) -> None:
    people = range(400)
    (tmp_path / "n.csv").write_text("node,time\n" + "".join(f"{p},2001\n" for p in people))
    links = "".join(f"{p % 8},{p}\n" for p in people if p > 7)
    (tmp_path / "e.csv").write_text("source,target\n" + links)
    files = [str(tmp_path / name) for name in ("n.csv", "e.csv")]
    shown = run("promise", *files, "--epsilon", "1", "--series", "components").out
    assert "hang on people with many links" in " ".join(shown.split())
