"""Synthetic II against the definition of the model, draw by draw and in distribution."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from graphveil.errors import ParameterError
from graphveil.lab.dataset_files import PAPER
from graphveil.lab.synthetic import (
    NEVER,
    SyntheticTwo,
    contact_lists,
    preferential_attachment,
    spread,
)

PINNED = [(0, 1), (2, 2), (3, 2), (4, 3), (4, 3), (4, 3)]
UNLIKELY = 1e-4  # all seeds are fixed, so that a test never fails by chance later
Pairs = list[tuple[int, int]]
Infections = frozenset[tuple[int, int, int]]  # who infected whom at which step

TRIANGLE_WITH_TAIL: Pairs = [(0, 1), (0, 2), (1, 2), (2, 3)]
SQUARE: Pairs = [(0, 1), (1, 2), (2, 3), (0, 3)]
STAR: Pairs = [(0, 1), (0, 2), (0, 3)]


def lists_of(pairs: Pairs) -> Any:
    ends = np.array(pairs, dtype=np.int32)
    return contact_lists(ends[:, 0].copy(), ends[:, 1].copy(), int(ends.max()) + 1)


def run(
    pairs: Pairs, first: list[int], recovery: float, infection: float, steps: int, seed: int
) -> Infections:
    """What the kernel draws, as a set."""
    rng = np.random.default_rng(seed)
    offsets, neighbours = lists_of(pairs)
    person, time, infector = spread(
        offsets, neighbours, np.array(first), recovery, infection, steps, rng
    )
    return frozenset(
        (int(person[infector[case]]), int(person[case]), int(time[case]))
        for case in range(len(first), len(person))
    )


def exact_law(
    pairs: Pairs, first: list[int], recovery: float, infection: float, steps: int
) -> dict[Infections, float]:
    """The probability of every course of the epidemic, from the definition alone."""
    contacts = {v: {a + b - v for a, b in pairs if v in (a, b)} for pair in pairs for v in pair}
    states = {(frozenset(first), frozenset(first), Infections()): 1.0}
    for step in range(1, steps + 1):
        after: defaultdict[Any, float] = defaultdict(float)
        for (infectious, ever, history), probability in states.items():
            for still, kept in _recoveries(infectious, recovery):
                for new, chance in _infections(contacts, still, ever, infection):
                    fresh = {v for _, v in new}
                    dated = history | {(u, v, step) for u, v in new}
                    after[still | fresh, ever | fresh, dated] += probability * kept * chance
        states = dict(after)
    law: dict[Infections, float] = {}
    for (_, _, history), probability in states.items():
        law[history] = law.get(history, 0) + probability
    return law


def _recoveries(
    infectious: frozenset[int], recovery: float
) -> Iterator[tuple[frozenset[int], float]]:
    for size in range(len(infectious) + 1):
        for still in combinations(sorted(infectious), size):
            gone = len(infectious) - size
            yield frozenset(still), (1 - recovery) ** size * recovery**gone


def _infections(
    contacts: dict[int, set[int]], still: frozenset[int], ever: frozenset[int], infection: float
) -> Iterator[tuple[list[tuple[int, int]], float]]:
    """Every set of (infector, infected), at most one infector for each, with its probability."""
    exposed = sorted(set().union(*(contacts[u] for u in still)) - ever) if still else []
    outcomes = [list(_infectors(contacts, still, v, infection)) for v in exposed]
    for combined in product(*outcomes):
        pairs = [(u, v) for v, (u, _) in zip(exposed, combined, strict=True) if u is not None]
        yield pairs, prod(chance for _, chance in combined)


def _infectors(
    contacts: dict[int, set[int]], still: frozenset[int], v: int, infection: float
) -> Iterator[tuple[int | None, float]]:
    near = sorted(contacts[v] & still)
    chances: dict[int | None, float] = {}
    for hits in product([False, True], repeat=len(near)):
        each = [infection / len(contacts[u]) for u in near]
        chance = prod(p if hit else 1 - p for p, hit in zip(each, hits, strict=True))
        successful: list[int | None] = [u for u, hit in zip(near, hits, strict=True) if hit]
        for u in successful or [None]:
            chances[u] = chances.get(u, 0) + chance / max(len(successful), 1)
    yield from chances.items()


@pytest.mark.parametrize(
    ("pairs", "first", "recovery", "infection", "steps"),
    [
        (TRIANGLE_WITH_TAIL, [0], 0.3, 0.9, 2),
        (TRIANGLE_WITH_TAIL, [0, 1], 0.2, 1.0, 2),
        (SQUARE, [0, 2], 0.1, 0.8, 1),
        (SQUARE, [1], 0.4, 1.0, 3),
        (STAR, [1, 2, 3], 0.5, 0.5, 1),
    ],
)
def test_every_course_has_the_probability_that_the_definition_gives(
    pairs: Pairs, first: list[int], recovery: float, infection: float, steps: int
) -> None:
    runs = 12_000
    law = exact_law(pairs, first, recovery, infection, steps)
    assert sum(law.values()) == pytest.approx(1)
    drawn = Counter(run(pairs, first, recovery, infection, steps, seed) for seed in range(runs))
    assert {course for course in drawn if law.get(course, 0) == 0} == set()
    likely = [course for course in law if law[course] * runs > 5]
    rare = 1 - sum(law[course] for course in likely)
    counts = [drawn[course] for course in likely]
    expected = [law[course] * runs for course in likely]
    if rare * runs > 1:
        counts, expected = [*counts, runs - sum(counts)], [*expected, rare * runs]
    assert chisquare(counts, np.array(expected) * sum(counts) / sum(expected)).pvalue > UNLIKELY


def test_the_expected_cases_of_the_first_step_are_exact() -> None:
    """Whoever is susceptible escapes each infectious contact independently."""
    rng = np.random.default_rng(11)
    older, newer = preferential_attachment(300, 2, rng)
    offsets, neighbours = contact_lists(older, newer, 300)
    first, recovery, infection = np.arange(0, 300, 10), 0.1, 0.8
    escape = np.ones(300)
    for u in first:
        contacts = neighbours[offsets[u] : offsets[u + 1]]
        escape[contacts] *= 1 - (1 - recovery) * infection / len(contacts)
    escape[first] = 1
    sizes = [
        len(spread(offsets, neighbours, first, recovery, infection, 1, rng)[0]) - len(first)
        for _ in range(2_000)
    ]
    error = np.std(sizes) / np.sqrt(len(sizes))
    assert abs(np.mean(sizes) - (1 - escape).sum()) < 4 * error


@pytest.mark.parametrize("seed", range(5))
def test_transmissions_are_a_forest_that_begins_with_the_initial_cases(seed: int) -> None:
    model = SyntheticTwo(contacts=500, initial=20, infection=0.6)
    drawn = model.draw(seed)
    assert len(drawn.source) == len(drawn.time) - model.initial
    assert drawn.target.tolist() == list(range(model.initial, len(drawn.time)))
    assert (drawn.time[drawn.source] < drawn.time[drawn.target]).all()
    assert (drawn.time[: model.initial] == 0).all()
    assert (drawn.time[model.initial :] >= 1).all()
    assert drawn.time.max() <= model.steps


@pytest.mark.parametrize("still", [{"infection": 0.0}, {"recovery": 1.0}, {"initial": 0}])
def test_without_infection_or_infectious_people_nothing_is_transmitted(
    still: dict[str, Any],
) -> None:
    drawn = SyntheticTwo(**{"contacts": 200, "initial": 50, **still}).draw(0)
    assert len(drawn.source) == 0


def test_a_certain_infection_walks_along_a_path() -> None:
    """The end of the path infects for sure, the middle with probability one half each."""
    course = run([(0, 1)], [0], recovery=0, infection=1, steps=1, seed=0)
    assert course == {(0, 1, 1)}


def test_everybody_can_be_infected_but_only_once() -> None:
    drawn = SyntheticTwo(contacts=300, initial=5, recovery=0, infection=1, steps=500).draw(0)
    assert len(drawn.time) == 300
    assert len(drawn.source) == 295


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_network_links_each_person_to_k_different_earlier_ones(k: int) -> None:
    older, newer = preferential_attachment(200, k, np.random.default_rng(0))
    assert len(older) == k * (200 - k)
    assert (older < newer).all()
    assert len(set(zip(older.tolist(), newer.tolist(), strict=True))) == len(older)
    assert Counter(newer.tolist()) == dict.fromkeys(range(k, 200), k)


def test_the_network_prefers_the_well_connected_as_the_definition_says() -> None:
    """All trees of five nodes, each with its exact probability."""
    law: dict[tuple[int, ...], float] = {}
    for parents in product([0], [0, 1], [0, 1, 2], [0, 1, 2, 3]):
        degrees, probability = [1, 1], 1.0
        for parent in parents[1:]:
            probability *= degrees[parent] / sum(degrees)
            degrees[parent] += 1
            degrees.append(1)
        law[parents] = probability
    runs, rng = 20_000, np.random.default_rng(4)
    drawn = Counter(tuple(preferential_attachment(5, 1, rng)[0].tolist()) for _ in range(runs))
    expected = [probability * runs for probability in law.values()]
    assert chisquare([drawn[parents] for parents in law], expected).pvalue > UNLIKELY


def test_contact_lists_hold_every_link_twice() -> None:
    offsets, neighbours = lists_of(TRIANGLE_WITH_TAIL)
    lists = [sorted(neighbours[offsets[v] : offsets[v + 1]].tolist()) for v in range(4)]
    assert lists == [[1, 2], [0, 2], [0, 1, 3], [2]]


def test_initial_cases_have_no_infector() -> None:
    offsets, neighbours = lists_of(STAR)
    rng = np.random.default_rng(0)
    person, time, infector = spread(offsets, neighbours, np.array([1, 3]), 0.0, 1.0, 1, rng)
    assert person.tolist() == [1, 3, 0]
    assert time.tolist() == [0, 0, 1]
    assert infector[:2].tolist() == [NEVER, NEVER]


def test_the_same_seed_draws_the_same_epidemic() -> None:
    model = SyntheticTwo(contacts=1000, initial=50)
    first, again, other = model.draw(5), model.draw(5), model.draw(6)
    assert first.source.tolist() == again.source.tolist()
    assert first.time.tolist() == again.time.tolist()
    assert first.source.tolist() != other.source.tolist()


def test_a_seed_means_the_same_epidemic_for_ever() -> None:
    """What a paper reports with a seed must stay reproducible."""
    drawn = SyntheticTwo(contacts=12, initial=3, infection=0.9, steps=3).draw(2024)
    found = zip(drawn.source.tolist(), drawn.time[drawn.target].tolist(), strict=True)
    assert list(found) == PINNED


def test_the_papers_parameters_beside_the_papers_table() -> None:
    """The paper's 588 transmissions lie below every draw of its model as it is described."""
    paper = PAPER["synthetic-2"]
    assert paper.nodes - paper.edges == SyntheticTwo().initial
    draws = [SyntheticTwo().draw(seed) for seed in range(100)]
    edges = np.array([len(drawn.source) for drawn in draws])
    most_out = np.array([np.bincount(drawn.source).max() for drawn in draws])
    assert edges.mean() == pytest.approx(920, abs=40)
    assert edges.min() > paper.edges
    after_ten_steps = [int((drawn.time <= 10).sum()) - 500 for drawn in draws]
    assert np.mean(after_ten_steps) == pytest.approx(paper.edges, abs=20)
    assert most_out.mean() == pytest.approx(paper.max_out_degree, abs=1)
    assert {int(np.bincount(drawn.target).max()) for drawn in draws} == {paper.max_in_degree}


def test_a_million_contacts_are_no_trouble() -> None:
    drawn = SyntheticTwo(contacts=500_002, initial=25_000).draw(0)
    assert 30_000 < len(drawn.source) < 60_000


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"contacts": 0}, "contacts"),
        ({"k": 10_000}, "k"),
        ({"steps": 0}, "steps"),
        ({"initial": -1}, "initial"),
        ({"initial": 10_001}, "initial"),
        ({"recovery": -0.1}, "recovery"),
        ({"infection": 1.01}, "infection"),
    ],
)
def test_parameters_outside_their_range_are_refused(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError, match=f"^{named}: "):
        SyntheticTwo(**wrong)
