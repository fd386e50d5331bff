"""The user's object: what it publishes, what it refuses, and what it never shows."""

from __future__ import annotations

import copy
import json
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from graphveil.backends import LocalEngine
from graphveil.calendar.calendar import Calendar
from graphveil.errors import BoundError, GraphveilError, InputError, ParameterError
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound, NoBound
from graphveil.graph.sequence import GraphSequence
from graphveil.mechanisms.planning.continuation import continued
from graphveil.noise.laws import NoiseLaw
from graphveil.records import from_rows
from graphveil.series import release as series_module
from graphveil.series.counting import SeriesCounts, count_series
from graphveil.series.planner import compare, plan
from graphveil.series.release import Release, Series
from graphveil.series.state import SeriesState, start
from graphveil.statistics.statistic import Statistic, statistic

BASELINES = ["sensdiff", "compose-d-bounded", "sensseq-d-bounded"]
PROJECTING = ["compose-projection", "sensseq-projection"]
HUGE = "5000"  # an ε with which the noise is 0 but with negligible probability


def grown(steps: int, people: int = 4, *, directed: bool = False) -> GraphSequence:
    """Every year `people` arrive as a path, so that nobody has more than two links."""
    sequence = GraphSequence.begin(Calendar.yearly(2020), directed=directed)
    for step in range(steps):
        ids = [step * people + i for i in range(people)]
        nodes = [(i, 2020 + step) for i in ids]
        sequence, _ = sequence.extend(from_rows(nodes, list(pairwise(ids))))
    return sequence


def opened(
    chosen: Statistic | None = None,
    bound: Bound | None = None,
    *,
    name: str = "sensdiff",
    epsilon: str = "1",
    horizon: int = 5,
) -> Series:
    chosen = chosen or statistic("edges")
    bound = bound or DegreeBound(2)
    threshold = bound if "projection" in name else None
    chosen_plan = plan(
        chosen, bound, epsilon=epsilon, horizon=horizon, mechanism=name, projection=threshold
    )
    return Series.open(chosen_plan, chosen, bound)


def numbers(published: tuple[Release, ...]) -> list[tuple[int, ...]]:
    return [each.raw for each in published]


class Dry:
    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        raise AssertionError("noise was drawn")


@pytest.fixture
def dry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither noise nor counts may be asked for."""
    monkeypatch.setattr(series_module, "ReleaseNoise", Dry)
    monkeypatch.setattr(Series, "_count", Dry().draw)


@pytest.mark.parametrize("name", BASELINES + PROJECTING)
def test_with_a_huge_epsilon_the_truth_is_published(name: str) -> None:
    """So the right steps of the right counts are released, batch after batch."""
    release = opened(name=name, epsilon=HUGE)
    first, release = release.publish(grown(2), through=1)
    later, release = release.publish(grown(5), through=4)
    assert [each.value for each in first + later] == [3, 6, 9, 12, 15]
    assert [each.step for each in later] == [2, 3, 4]
    assert [each.label for each in first] == ["2020", "2021"]


@pytest.mark.parametrize("horizon", [12, None])
@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_every_registered_mechanism_releases_within_its_error(
    horizon: int | None, delta: str | None
) -> None:
    chosen, bound, sequence = statistic("edges"), DegreeBound(2), grown(12)
    prospects = compare(chosen, bound, epsilon="1", delta=delta, horizon=horizon, projection=bound)
    plans = [prospect.plan for prospect in prospects if prospect.plan is not None]
    assert len(plans) >= (2 if horizon is None else 8)
    for each in plans:
        published, release = Series.open(each, chosen, bound).publish(
            sequence, through=sequence.steps - 1
        )
        assert release.state.totals == (36,)
        for step, said in enumerate(published):
            assert said.noise_std == pytest.approx(each.standard_deviations(12)[step])
            assert abs(said.value - 3 * (step + 1)) < 40 * said.noise_std + 40


def test_vectors_have_one_number_per_degree() -> None:
    release = opened(statistic("degree-ccdf"), DegreeBound(3), epsilon=HUGE)
    (first, second), _ = release.publish(grown(2), through=1)
    assert (first.raw, second.raw) == ((4, 4, 2, 0), (8, 8, 4, 0))
    assert len(first.intervals()) == 4
    with pytest.raises(ParameterError, match="one per degree"):
        _ = first.value


def test_directed_statistics_are_published() -> None:
    chosen, bound = statistic("high-out-degree", tau=1), InOutBound(1, 1)
    (published,), _ = opened(chosen, bound, epsilon=HUGE).publish(
        grown(1, directed=True), through=0
    )
    assert published.value == 3


def test_a_projecting_mechanism_counts_the_projected_graph_and_needs_no_promise() -> None:
    star = from_rows([(i, 2020) for i in range(9)], [(0, i) for i in range(1, 9)])
    sequence, _ = GraphSequence.begin(Calendar.yearly(2020)).extend(star)
    release = opened(bound=DegreeBound(3), name="compose-projection", epsilon=HUGE)
    (first,), release = release.publish(sequence, through=sequence.steps - 1)
    assert first.value == 3
    more, _ = sequence.extend(from_rows([(9, 2021), (10, 2021)], [(9, 0), (9, 10)]))
    (second,), _ = release.publish(more, through=more.steps - 1)
    assert second.value == 4


def test_what_is_published_is_noisy_and_says_how_much() -> None:
    release = opened(epsilon="1/1000", horizon=5)
    (published,), _ = release.publish(grown(1), through=0)
    assert published.noise_std == pytest.approx(2000 * 2**0.5, rel=1e-3)
    assert published.value != 3  # with probability 0.9997
    low, high = published.interval("0.95")
    assert low < published.value < high
    assert low <= 3 <= high or abs(published.value) > 5000


def test_a_promise_that_does_not_refuse_stops_nothing() -> None:
    """Numbers then hold for those who keep it, and the series goes on with the links that fit."""
    star = from_rows([(i, 2020) for i in range(5)], [(0, i) for i in range(1, 5)])
    sequence, _ = GraphSequence.begin(Calendar.yearly(2020)).extend(star)
    free = HubBound(DegreeBound(3), (0,), checked=False)
    (published,), _ = opened(bound=free, epsilon=HUGE).publish(sequence, through=0)
    assert published.value == 3


@pytest.mark.parametrize("name", BASELINES)
def test_a_broken_promise_is_refused_and_nothing_changes(name: str, dry: None) -> None:
    star = from_rows([(i, 2020) for i in range(5)], [(0, i) for i in range(1, 5)])
    sequence, _ = GraphSequence.begin(Calendar.yearly(2020)).extend(star)
    release = opened(bound=DegreeBound(3), name=name)
    for _ in range(2):
        with pytest.raises(BoundError, match="do not publish"):
            release.publish(sequence, through=sequence.steps - 1)
    assert (
        release.state
        == Series.open(release.terms.plan, release.terms.statistic, release.terms.bound).state
    )


def test_after_a_refusal_the_same_release_goes_on() -> None:
    release = opened(epsilon=HUGE)
    with pytest.raises(ParameterError, match="horizon"):
        release.publish(grown(6), through=5)
    (published,), _ = release.publish(grown(1), through=0)
    assert published.value == 3


@pytest.mark.parametrize("name", BASELINES + PROJECTING)
def test_past_the_horizon_nothing_is_counted_or_drawn(name: str, dry: None) -> None:
    with pytest.raises(ParameterError, match="all 3 releases of this series were made"):
        opened(name=name, horizon=3).publish(grown(4), through=3)


def test_a_longer_plan_goes_on_where_the_series_stands() -> None:
    chosen, bound = statistic("edges"), DegreeBound(2)
    _, release = opened(epsilon=HUGE, horizon=2).publish(grown(2), through=1)
    longer = Series.resume(
        continued(release.terms.plan, 3), chosen, bound, release.state, release.history
    )
    published, _ = longer.publish(grown(5), through=4)
    assert [each.value for each in published] == [9, 12, 15]


def test_noise_is_never_drawn_twice_for_a_step() -> None:
    release = opened()
    _, following = release.publish(grown(1), through=0)
    with pytest.raises(ParameterError, match="has already published"):
        release.publish(grown(2), through=1)
    following.publish(grown(2), through=1)
    with pytest.raises(TypeError):
        pickle.dumps(release)
    with pytest.raises(TypeError):
        copy.deepcopy(release)
    with pytest.raises(ParameterError, match="has already published"):
        copy.copy(release).publish(grown(2), through=1)


@pytest.mark.parametrize("latecomer", [False, True])
def test_how_many_releases_there_are_is_public(latecomer: bool) -> None:
    """Not how far the records reach: that would tell, with certainty, of whoever came last."""
    people = [("a", 2020), ("b", 2020)] + [("last", 2023)] * latecomer
    sequence, _ = GraphSequence.begin(Calendar.yearly(2020)).extend(from_rows(people, [("a", "b")]))
    published, series = opened(epsilon=HUGE).publish(sequence, through=1)
    assert [each.label for each in published] == ["2020", "2021"]
    published, _ = series.publish(sequence, through=4)
    assert [each.label for each in published] == ["2022", "2023", "2024"]
    assert {each.value for each in published} == {1}


@pytest.mark.parametrize("through", [-1, True, None, "2020"])
def test_a_last_step_that_is_none_is_refused(through: Any, dry: None) -> None:
    with pytest.raises(ParameterError, match="through"):
        opened().publish(grown(1), through=through)


def test_publishing_the_same_steps_again_publishes_nothing() -> None:
    _, release = opened().publish(grown(2), through=1)
    assert release.publish(grown(2), through=1) == ((), release)
    published, _ = release.publish(grown(3), through=2)
    assert len(published) == 1


def test_a_stored_series_is_resumed_with_its_own_noise() -> None:
    chosen, bound = statistic("edges"), DegreeBound(2)
    _, release = opened(name="sensdiff", epsilon="1/100").publish(grown(2), through=1)
    text = json.dumps(release.state.to_dict())
    state = SeriesState.from_dict(json.loads(text))
    resumed = Series.resume(release.terms.plan, chosen, bound, state, release.history)
    assert resumed.state == release.state
    published, _ = resumed.publish(grown(3), through=2)
    assert [each.step for each in published] == [2]


def test_another_past_is_refused() -> None:
    chosen, bound = statistic("edges"), DegreeBound(2)
    _, release = opened().publish(grown(2), through=1)
    resumed = Series.resume(release.terms.plan, chosen, bound, release.state, release.history)
    for each in (release, resumed):
        with pytest.raises(InputError, match="have changed"):
            each.publish(grown(3, people=5), through=2)
        with pytest.raises(InputError, match="have changed"):
            each.publish(grown(1), through=2)


@pytest.mark.parametrize(
    ("chosen", "bound", "directed"),
    [
        (statistic("edges"), DegreeBound(2), True),
        (statistic("edges"), InOutBound(2, 2), False),
        (statistic("high-degree", tau=1), DegreeBound(2), True),
        (statistic("edges"), InOutBound(2, 2, oriented=True), True),
    ],
)
def test_sequences_of_another_kind_are_refused(
    chosen: Statistic, bound: Bound, directed: bool, dry: None
) -> None:
    with pytest.raises(ParameterError):
        opened(chosen, bound).publish(grown(1, directed=directed), through=0)


@pytest.mark.parametrize(
    ("chosen", "bound"),
    [
        (statistic("edges"), DegreeBound(3)),
        (statistic("edges"), InOutBound(1, 1)),
        (statistic("high-degree", tau=1), DegreeBound(2)),
        (statistic("degree-ccdf"), DegreeBound(2)),
    ],
)
def test_a_plan_for_something_else_is_refused(chosen: Statistic, bound: Bound) -> None:
    with pytest.raises(ParameterError, match="plan"):
        Series.open(opened().terms.plan, chosen, bound)


def test_a_state_of_something_else_is_refused() -> None:
    wide = opened(statistic("degree-ccdf"), DegreeBound(3))
    with pytest.raises(ParameterError, match="state"):
        Series.resume(opened().terms.plan, statistic("edges"), DegreeBound(2), wide.state, [])


def test_a_history_of_another_length_is_refused() -> None:
    made, chosen, bound = opened().terms.plan, statistic("edges"), DegreeBound(2)
    state = replace(start(made), step=2)
    for history in ([], [[1]], [[1], [2], [3]]):
        with pytest.raises(ParameterError, match="raw values of all 2 releases"):
            Series.resume(made, chosen, bound, state, history)
    resumed = Series.resume(made, chosen, bound, state, [[1], [2]])
    assert resumed.history == ((1,), (2,))
    assert resumed.publish(grown(1), through=1) == ((), resumed)


def test_only_new_steps_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SeriesCounts | None] = []

    def remember(*given: Any, **named: Any) -> SeriesCounts:
        asked.append(named.get("after"))
        return count_series(*given, **named)

    monkeypatch.setattr(series_module, "count_series", remember)
    _, release = opened().publish(grown(1), through=0)
    release.publish(grown(2), through=1)
    assert asked == [None, release.counts]
    assert release.counts is not None


@pytest.mark.parametrize(("parameter", "told"), [("after", InputError), ("bound", ParameterError)])
def test_counts_of_another_past_are_told_apart_from_other_refusals(
    monkeypatch: pytest.MonkeyPatch, parameter: str, told: type[GraphveilError]
) -> None:
    def refuse(*given: Any, **named: Any) -> SeriesCounts:
        raise ParameterError(parameter, "is refused")

    release = opened()
    with monkeypatch.context() as refusing:
        refusing.setattr(series_module, "count_series", refuse)
        with pytest.raises(told) as error:
            release.publish(grown(1), through=0)
    assert type(error.value) is told
    published, _ = release.publish(grown(1), through=0)  # nothing was drawn, so it may go on
    assert len(published) == 1


def test_a_series_counts_where_it_is_told() -> None:
    made, engine = opened(), LocalEngine(threads=1)
    chosen = made.terms.plan, statistic("edges"), DegreeBound(2)
    assert Series.open(*chosen, engine=engine).engine is engine
    assert Series.resume(*chosen, made.state, [], engine=engine).engine is engine


CANARY = 7919


def texts(release: Series, published: tuple[Release, ...]) -> Iterator[str]:
    yield from (repr(release), str(release), repr(release.state), repr(published), str(published))
    yield from (f"{release.terms.plan!r}", repr(vars(published[0])))


@pytest.mark.parametrize("name", BASELINES + PROJECTING)
def test_nothing_shows_a_true_count(name: str) -> None:
    """A path of 7,919 people has 7,918 links; noise of scale 10^8 hides both."""
    release = opened(name=name, epsilon="1/100000000", horizon=2)
    published, release = release.publish(grown(1, people=CANARY), through=0)
    assert release.state.totals == (CANARY - 1,)  # there is something to hide
    for text in texts(release, published):
        # As a number of its own: the noise may have the same digits among its own by chance.
        assert not re.search(rf"(?<!\d)({CANARY}|{CANARY - 1})(?!\d)", text)


def test_errors_do_not_show_a_true_count() -> None:
    _, release = opened(horizon=2).publish(grown(1, people=CANARY), through=0)
    for sequence in (grown(2, people=CANARY + 3), grown(3), grown(0)):
        with pytest.raises(GraphveilError) as caught:
            release.publish(sequence, through=max(1, sequence.steps - 1))
        assert "79" not in str(caught.value)


def test_exact_epsilon_is_kept() -> None:
    assert opened(epsilon="0.1").terms.plan.request.epsilon == Fraction(1, 10)


def test_a_promise_that_is_not_checked_is_of_the_right_kind_all_the_same() -> None:
    """Nobody's links are looked at, so nothing else would tell the kinds apart."""
    series = opened(statistic("nodes"), NoBound())
    with pytest.raises(ParameterError, match="a directed sequence needs"):
        series.publish(grown(2, directed=True), through=1)
    releases, _ = series.publish(grown(2), through=1)
    assert len(releases) == 2
