"""Thresholds that follow: the rule, its privacy by enumeration and by an adversary, its errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound, NoBound
from graphveil.graph.thresholds import FollowingBound, TotalBound, projection_of
from graphveil.lab.audit_cases import Ahead
from graphveil.lab.audit_questions import (
    Questioner,
    World,
    audit_questions,
    log_ratio,
    transcript,
)
from graphveil.lab.simulation import SimulationNoise
from graphveil.mechanisms.following import (
    JUMP,
    LARGEST_THRESHOLD,
    SPARE,
    Answer,
    Rule,
    nearest_root,
    rival_bound,
)
from graphveil.mechanisms.planning import continuation
from graphveil.mechanisms.planning.intervals import half_widths
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import RangeNoise
from graphveil.noise.laws import NoiseLaw, NoiseSource
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.series.planner import compare, plan
from graphveil.series.state import Trail, ask, corrected_answers, renewed, start
from graphveil.statistics.sensitivity import PARTS
from graphveil.statistics.statistic import statistic

BLIND, GUESSED = "follow:1000", "follow:1000:12"


def planned(horizon: int = 6, epsilon: int | str = 1, projection: str = BLIND) -> Plan:
    return plan("edges", NoBound(), epsilon=epsilon, horizon=horizon, projection=projection)


# The rule, in whole numbers.


@given(st.fractions(min_value=0, max_value=10**12), st.sampled_from([1, 2, 3, 12]))
def test_roots_are_the_nearest_whole_numbers(number: Fraction, degree: int) -> None:
    root = nearest_root(number, degree)
    assert root == 0 or Fraction(2 * root - 1, 2) ** degree <= number
    assert number < Fraction(2 * root + 1, 2) ** degree


@pytest.mark.parametrize("size", [1, 10, 444, 1021, 94_544, 10**9])
def test_thresholds_are_those_of_the_formula(size: int) -> None:
    blind, guessed = (Rule(Fraction(1, 2), 22, PARTS, guess) for guess in ((1000,), (1000, 12)))
    formula = (3 * 0.5 * size / 24) ** (2 / 3) / 2
    assert abs(blind.threshold(Fraction(size)) - max(formula, 1)) <= 0.5 + 1e-6 * formula
    mean = (formula * 12 * (size / 1000) ** 0.5) ** 0.5
    assert abs(guessed.threshold(Fraction(size)) - max(mean, 1)) <= 0.5 + 1e-6 * mean


def test_a_threshold_is_never_below_one_nor_beyond_counting() -> None:
    rule = Rule(Fraction(1), 22, PARTS, (1000,))
    assert rule.threshold(Fraction(-5)) == rule.threshold(Fraction(0)) == 1
    assert rule.threshold(Fraction(10**40)) == LARGEST_THRESHOLD


@given(st.integers(1, 50), st.integers(0, 10**6), st.data())
def test_what_is_measured_changes_by_a_threshold_at_most(
    threshold: int, count: int, data: st.DataObject
) -> None:
    """The lemma on rounding down, for every change from 0 to D."""
    rule = Rule(Fraction(1), 22, data.draw(st.sampled_from([1, 2, 3, 7, PARTS])), (1,))
    change = data.draw(st.integers(0, threshold))
    apart = rule.measured(count + change, threshold) - rule.measured(count, threshold)
    assert 0 <= apart <= rule.parts


# Privacy: every transcript of a tiny law, and an adversary that asks through the release path.


def norm(noise: Sequence[int]) -> int:
    return max(0, *noise) - min(0, *noise)


def test_no_transcript_of_a_tiny_law_loses_more_than_epsilon_and_some_lose_it() -> None:
    """All answers in reach, all counts of both sides, thresholds that depend on answers.

    The noise of a transcript is one vector a side, of probability ∝ exp(−norm/scale): the loss is
    the difference of two norms, in whole numbers, and ε is `parts` of them.
    """
    parts, reach = 2, 4
    rule, largest = Rule(Fraction(1), 3, parts, (1,)), 0
    for seen in product(range(-reach, reach + 1), repeat=3):
        thresholds = [1, 1 + (seen[0] > 0), 1 + 2 * (seen[0] + seen[1] > 1)]
        changes = product(*(range(limit + 1) for limit in thresholds))
        for change, base in product(changes, product((0, 1), repeat=3)):
            sides = [
                [
                    answer - rule.measured(count + more * here, limit)
                    for answer, count, here, limit in zip(
                        seen, base, change, thresholds, strict=True
                    )
                ]
                for more in (0, 1)
            ]
            largest = max(largest, abs(norm(sides[0]) - norm(sides[1])))
    assert largest == parts


def greedy(ends: Sequence[tuple[int, int]], limit: int, without: int | None = None) -> int:
    """How many links are retained if nobody has more than `limit`, whatever their direction."""
    used: dict[int, int] = {}
    kept = 0
    for a, b in ends:
        if without not in (a, b) and used.get(a, 0) < limit and used.get(b, 0) < limit:
            used[a], used[b], kept = used.get(a, 0) + 1, used.get(b, 0) + 1, kept + 1
    return kept


def test_one_person_changes_arcs_by_total_degree_by_the_threshold_at_most() -> None:
    """All directed graphs on four people, everybody removed, all thresholds; and it is reached."""
    pairs = [(a, b) for b in range(4) for a in range(4) if a != b]
    largest = dict.fromkeys((1, 2, 3), 0)
    for chosen in range(2 ** len(pairs)):
        arcs = [pair for place, pair in enumerate(pairs) if chosen >> place & 1]
        for limit, person in product(largest, range(4)):
            change = greedy(arcs, limit) - greedy(arcs, limit, without=person)
            assert 0 <= change <= limit
            largest[limit] = max(largest[limit], change)
    assert largest == {1: 1, 2: 2, 3: 3}


def star(links: int, since: int = 0) -> tuple[World, World]:
    """A person with so many links from a step on, and the same network without."""

    def larger(step: int, threshold: int) -> int:
        return 40 + (min(links, threshold) if step >= since else 0)

    return larger, lambda step, threshold: 40


def scaled_up(history: Questioner, answers: Sequence[Answer]) -> int:
    """Asks for more where answers seem to speak for the person, else for less."""
    newest = [*(each for made in history.seen for each in made), *answers][-1:]
    return 1 + 6 * (bool(newest) and newest[0].scaled * newest[0].threshold > 41 * PARTS)


def peeking(history: Questioner, answers: Sequence[Answer]) -> int:
    """A planted fault: the threshold sees the true count."""
    return 3 if history.world(history.made, 8) > 41 else 2


@dataclass(frozen=True)
class Half:
    """Half the noise that was asked for."""

    source: NoiseSource

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        assert isinstance(law, RangeNoise)
        return self.source.draw(replace(law, scale=law.scale / 2), count)


@pytest.mark.parametrize("since", [0, 1, 2])
def test_an_adversary_that_chooses_questions_learns_at_most_epsilon(since: int) -> None:
    """Through the release path: exactly, on every transcript, and by what it can prove."""
    made, source = planned(3), Ahead(SimulationNoise(np.random.default_rng(since)))
    larger, smaller = star(9, since)
    losses = [
        log_ratio(made, transcript(made, world, scaled_up, source), larger, smaller, scaled_up)
        for world in (larger, smaller)
        for _ in range(400)
    ]
    assert max(map(abs, losses)) <= 1 + 1e-9
    assert max(losses) > 0.99  # and it is reached
    found = audit_questions(made, larger, smaller, scaled_up, source=source, runs=1_500)
    assert 0 < found.lower_bound <= 1


def test_the_noise_of_releases_is_audited_too() -> None:
    made, (larger, smaller) = planned(2), star(9)
    found = audit_questions(made, larger, smaller, scaled_up, source=ReleaseNoise(), runs=60)
    assert found.lower_bound <= 1


def test_a_threshold_that_sees_the_true_count_is_caught() -> None:
    made, source = planned(3), SimulationNoise(np.random.default_rng(5))
    larger, smaller = star(9, since=1)
    found = audit_questions(made, larger, smaller, peeking, source=source, runs=500)
    assert found.lower_bound > 1
    seen = transcript(made, larger, peeking, source)
    assert log_ratio(made, seen, larger, smaller, peeking) == float("inf")


def test_half_the_noise_is_caught() -> None:
    made, source = planned(3), Half(SimulationNoise(np.random.default_rng(5)))
    larger, smaller = star(9)
    found = audit_questions(made, larger, smaller, scaled_up, source=source, runs=6_000)
    assert found.lower_bound > 1


# What is published: answers, thresholds, and how they follow.


def left(size: int, threshold: int) -> int:
    """A network in which forty people have nearly all links."""
    return min(size, 40 * threshold)


SIZES = [20, 200, 400, 800, 1000]


def followed(
    made: Plan, sizes: Sequence[int], seed: int = 0
) -> tuple[Trail, list[tuple[Answer, ...]]]:
    source, trail, state = SimulationNoise(np.random.default_rng(seed)), Trail(made), start(made)
    released = []
    for size in sizes:
        asked = ask(trail, state, partial(left, size), source)
        released.append(asked.answers)
        trail, state = trail.after(asked.answers), asked.state
    return trail, released


@pytest.mark.parametrize("projection", [BLIND, GUESSED])
@pytest.mark.parametrize("seed", range(5))
def test_published_answers_alone_tell_every_threshold(projection: str, seed: int) -> None:
    made = planned(6, 4, projection)
    _, released = followed(made, [5, 50, 2000, 2500, 2600, 9000], seed)
    trail = Trail(made)
    for answers in released:
        assert trail.is_due(answers)
        wrong = (*answers[:-1], replace(answers[-1], threshold=answers[-1].threshold + 1))
        assert not trail.is_due(wrong)
        assert not trail.is_due(())
        trail = trail.after(answers)
    assert trail.asked <= made.epoch(0).factorisation.measurements
    assert sum(map(len, released)) == trail.asked


def test_spare_questions_are_asked_where_the_size_jumps_and_no_further() -> None:
    made = planned(4, 100)
    _, released = followed(made, [10_000, 10_000, 10_000, 10_000])
    assert [len(each) for each in released] == [1 + SPARE, 1, 1, 1]
    first = [each.threshold for each in released[0]]
    assert first[0] == 1
    assert all(later >= JUMP * earlier for earlier, later in pairwise(first))


def test_the_state_counts_its_questions_and_its_rest_is_drawn_given_them() -> None:
    made, source = planned(4, 100), ReleaseNoise()
    trail, state = Trail(made), start(made)
    asked = ask(trail, state, lambda _: 10_000, source)
    assert asked.state.asked == len(asked.answers) > 1
    again = renewed(made, asked.state, source)
    used = asked.state.asked
    assert again.noise[0][:used] == asked.state.noise[0][:used]
    assert len(again.noise[0]) == made.epoch(0).factorisation.measurements
    assert again.noise != asked.state.noise
    assert replace(again, noise=asked.state.noise) == asked.state


def test_a_longer_series_goes_on_with_questions_of_its_own() -> None:
    made = planned(3, 10)
    longer = continuation.extended(made, 3, 2, Fraction(1))
    assert [each.steps for each in longer.epochs] == [3, 2]
    assert longer.request.epsilon == 11
    trail, released = followed(longer, [100, 200, 300, 4000, 5000])
    assert len(released) == 5
    assert trail.rule.epsilon == 1 if trail.made < 5 else True
    assert Plan.from_dict(longer.to_dict()) == longer


@pytest.mark.parametrize("projection", [BLIND, GUESSED])
def test_intervals_cover_what_is_counted_at_the_stated_threshold(projection: str) -> None:
    made, runs = planned(5, 1, projection), 400
    widths, inside = half_widths(made, range(5), "0.9"), np.zeros(5)
    for seed in range(runs):
        _, released = followed(made, SIZES, seed)
        for place, (answers, size) in enumerate(zip(released, SIZES, strict=True)):
            newest = answers[-1]
            truth = min(size, 40 * newest.threshold)
            inside[place] += abs(newest.raw(PARTS) - truth) <= newest.reach(widths[place], PARTS)
    assert (inside / runs > 0.9 - 3 * 0.015).all()
    assert (inside / runs < 0.9 + 3 * 0.015).all()


def test_corrected_answers_are_those_that_a_trail_fits() -> None:
    made = planned(4, 10)
    trail, released = followed(made, [100, 200, 300, 400])
    corrected = list(corrected_answers(made, released))
    best = max(sum(corrected[since:], Fraction()) / (4 - since) for since in range(4))
    assert trail.size == max(best, Fraction())


# What is planned, and what is refused.


def test_the_predicted_error_is_that_of_the_expected_thresholds() -> None:
    made = planned(20)
    rule, law = Rule.of(made.request, made.epoch(0)), made.epoch(0).joint_law
    assert made.epoch(0).law == RangeNoise(Fraction(PARTS), 20 + SPARE)
    single = law.spread()[0] ** 0.5 / PARTS
    assert isclose(single, ((22 + 2) * (22 + 3) / 6) ** 0.5, rel_tol=1e-3)
    last = rule.threshold(Fraction(1000)) * single
    assert isclose(made.last_std, last, rel_tol=1e-9)
    assert list(made.predicted) == sorted(made.predicted)


def test_auto_follows_where_it_is_asked_to_and_never_otherwise() -> None:
    assert planned().mechanism.name == "following"
    assert plan("edges", 15, epsilon=1, horizon=6).mechanism.name != "following"
    fixed = plan("edges", 15, epsilon=1, horizon=6, projection=5)
    assert fixed.mechanism.name == "range-projection"
    others = compare("edges", NoBound(), epsilon=1, horizon=6, projection=BLIND)
    assert [each.name for each in others if each.plan] == ["following"]


@pytest.mark.parametrize(
    "text", ["follow", "follow:", "follow:0", "follow:-3", "follow:5:0", "follow:x"]
)
def test_guesses_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="projection"):
        projection_of(text)


@pytest.mark.parametrize(
    "counted", [("nodes", {}), ("high-degree", {"tau": 3}), ("triangles", {}), ("components", {})]
)
def test_statistics_other_than_links_are_refused(counted: tuple[str, dict[str, int]]) -> None:
    name, parameters = counted
    chosen = statistic(name, **parameters)
    for mechanism in ("auto", "following"):
        with pytest.raises(ParameterError, match="projection"):
            plan(chosen, NoBound(), epsilon=1, horizon=6, mechanism=mechanism, projection=BLIND)


def test_what_else_is_refused() -> None:
    with pytest.raises(ParameterError, match="horizon: must be known"):
        plan("edges", NoBound(), epsilon=1, horizon=None, projection=BLIND)
    with pytest.raises(ParameterError, match="needs a threshold that follows"):
        plan("edges", 5, epsilon=1, horizon=6, mechanism="following", projection=5)
    with pytest.raises(ParameterError, match="needs a projection threshold"):
        plan("edges", 5, epsilon=1, horizon=6, mechanism="following")
    with pytest.raises(ParameterError, match="at one threshold"):
        plan("edges", 5, epsilon=1, horizon=6, mechanism="range-projection", projection=BLIND)
    with pytest.raises(ParameterError, match="noise of millions"):
        plan("edges", NoBound(), epsilon="0.001", horizon=100, projection=BLIND)


def test_a_guess_is_written_as_it_is_read() -> None:
    for text in (BLIND, GUESSED):
        assert projection_of(text) == text
    assert FollowingBound(1000, 12).at(7, directed=False) == DegreeBound(7)
    assert FollowingBound(1000).at(7, directed=True) == TotalBound(7)
    made = planned(projection=GUESSED)
    assert made.to_dict()["format"] == 5
    assert made.to_dict()["request"]["guess"] == [1000, 12]
    assert Plan.from_dict(made.to_dict()) == made


def test_the_bound_that_would_do_as_well_is_the_one_whose_noise_is_as_large() -> None:
    made = planned(20, projection="follow:1021")
    bound = rival_bound(made.predicted, made.request.epsilon)
    rival = plan("edges", bound, epsilon=1, horizon=20, mechanism="sensdiff")
    assert isclose(rival.mean_std, made.mean_std, rel_tol=0.1)
    assert rival_bound([0.001], Fraction(1)) == 1
