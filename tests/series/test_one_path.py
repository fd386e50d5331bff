"""One path for a release: in memory and in a study, together and alone, at once and later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.backends import LocalEngine
from graphveil.graph.promises import Bound, DegreeBound
from graphveil.graph.sequence import GraphSequence
from graphveil.mechanisms.mechanism import registered
from graphveil.noise.laws import Law, NoiseLaw
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.series import counting
from graphveil.series.counting import SeriesTerms, count_series, difference_at, first_break
from graphveil.series.planner import plan
from graphveil.series.postprocessing import Processing, processed
from graphveil.series.release import MadeRelease, Release, Series, has_same_past, make_release
from graphveil.series.state import SeriesState, Trail, start
from graphveil.statistics.statistic import statistic
from graphveil.study import StoredStudy
from graphveil.study.facts import DIGITS, ReleaseMade
from graphveil.study.promise import Promise
from graphveil.study.promise_entries import SeriesPromise
from graphveil.study.records.local import LocalBackend
from small_sequences import growths
from studies import people, promise

ENGINE = LocalEngine(threads=1)
Table = NDArray[np.int64]


def frozen(law: Law, count: int) -> list[int]:
    """Noise without chance, which tells laws and places apart."""
    size = law.size.numerator + 3 * law.size.denominator
    return [(-1) ** place * (10 + (7 * place * place + size) % 31) for place in range(count)]


@dataclass
class Frozen:
    """A source of it that remembers what it gave."""

    given: list[list[int]] = field(default_factory=list)

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        assert isinstance(law, Law)
        self.given.append(frozen(law, count))
        return self.given[-1]


@pytest.fixture
def without_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReleaseNoise, "draw", lambda self, law, count: frozen(law, count))


SERIES: list[dict[str, Any]] = [
    {"name": "a", "statistic": "edges", "epsilon": "1/8"},
    {"name": "b", "statistic": "degree-ccdf", "epsilon": "1/8", "mechanism": "sensdiff"},
    {"name": "c", "statistic": "components", "epsilon": "1/8", "mechanism": "tree"},
    {"name": "g", "statistic": "edges", "epsilon": "1/8", "mechanism": "tree"},
    {"name": "d", "statistic": "nodes", "epsilon": "1/8", "mechanism": "compose-d-bounded"},
    {"name": "e", "statistic": "degree-histogram", "epsilon": "1/8", "delta": "1e-6"},
    {
        "name": "f",
        "statistic": "edges",
        "epsilon": "1/8",
        "mechanism": "compose-projection",
        "projection": 1,
    },
    {
        "name": "h",
        "statistic": "clusters",
        "parameters": {"window": 2},
        "epsilon": "1/8",
        "mechanism": "recent",
    },
]
BUDGET = {"epsilon": "9/8", "delta": "1e-6", "justification": "an example"}


def terms_of(study: Promise, series: SeriesPromise, first_step: int = 0) -> SeriesTerms:
    """The terms that a reader of the promise would come to."""
    threshold, bound = series.threshold(), study.degree_bound
    chosen = plan(
        series.counted(),
        bound,
        epsilon=series.price[0],
        delta=series.delta,
        horizon=4 - first_step,
        mechanism=series.mechanism,
        projection=threshold,
        minimise=series.minimise or "mean:equal",
    )
    return SeriesTerms(series.counted(), threshold or bound, chosen, first_step)


def graph_of(study: Promise) -> GraphSequence:
    return GraphSequence.begin(study.calendar).extend(people(), upto=3).sequence


def told(study: StoredStudy, name: str) -> list[ReleaseMade]:
    (found,) = (each for each in study.ledger().series if each.series == name)
    return list(found.releases)


def require_same(published: Sequence[Release], told: Sequence[ReleaseMade]) -> None:
    assert len(published) == len(told) > 0
    for release, fact in zip(published, told, strict=True):
        assert (release.step, release.label) == (fact.step, fact.label)
        assert release.raw == fact.raw
        assert tuple(round(value, DIGITS) for value in release.processed) == fact.processed
        assert release.processing == fact.processing
        assert round(release.noise_std, DIGITS) == fact.noise_std
        assert release.intervals(fact.level) == list(zip(fact.low, fact.high, strict=True))


@pytest.fixture
def both(root: Path, without_chance: None) -> tuple[Promise, StoredStudy]:
    made = promise(series=SERIES, budget=BUDGET)
    study = StoredStudy.create(root, made, backend=LocalBackend(threads=1))
    study.add(people())
    return made, study


def test_a_study_and_a_series_in_memory_publish_the_same(both: tuple[Promise, StoredStudy]) -> None:
    made, study = both
    study.publish()
    study.publish(3)
    for series in made.series:
        terms = terms_of(made, series)
        opened = Series.open(terms.plan, terms.statistic, terms.bound, engine=ENGINE)
        published, _ = opened.publish(graph_of(made), through=3)
        require_same(published, told(study, series.name))


def test_in_memory_it_does_not_matter_how_often_one_publishes(without_chance: None) -> None:
    made = promise(series=SERIES, budget=BUDGET)
    for series in made.series:
        terms = terms_of(made, series)
        opened = Series.open(terms.plan, terms.statistic, terms.bound, engine=ENGINE)
        at_once, _ = opened.publish(graph_of(made), through=3)
        again = Series.open(terms.plan, terms.statistic, terms.bound, engine=ENGINE)
        one_by_one: list[Release] = []
        for steps in range(1, 5):
            more, again = again.publish(graph_of(made).until(steps), through=steps - 1)
            one_by_one += more
        assert tuple(one_by_one) == at_once


def test_a_series_that_opens_late_is_made_in_the_same_way(
    both: tuple[Promise, StoredStudy],
) -> None:
    made, study = both
    study.publish(1)
    late = SeriesPromise(name="late", statistic="degree-ccdf", epsilon="1/8")
    study.open_series(late)
    study.publish(3)
    terms = terms_of(made, late, first_step=2)
    releases = [each.release for each in made_releases(terms, graph_of(made), Frozen())]
    require_same(releases, told(study, "late"))


def made_releases(
    terms: SeriesTerms, graph: GraphSequence, source: Frozen
) -> Iterator[MadeRelease]:
    """Every release of a series, made by hand."""
    differences = count_series(ENGINE, graph, [terms]).differences(terms)
    state = start(terms.plan)
    processing: Processing | Trail = Processing.of(terms.statistic, terms.plan.request.width)
    for step in range(terms.first_step, graph.steps):
        label = graph.calendar.label(step)
        made = make_release(terms, state, differences, processing, label, source)
        yield made
        state, processing = made.state, made.processing


@pytest.mark.parametrize("first_step", [0, 2])
@pytest.mark.parametrize("series", SERIES, ids=lambda series: str(series["name"]))
def test_the_noise_of_a_release_is_its_raw_values_less_the_totals(
    series: dict[str, Any], first_step: int
) -> None:
    made = promise(series=SERIES, budget=BUDGET)
    graph, terms = graph_of(made), terms_of(made, SeriesPromise(**series), first_step)
    source = Frozen()
    totals = np.cumsum(count_series(ENGINE, graph, [terms]).differences(terms), axis=0)
    releases = list(made_releases(terms, graph, source))
    decoded = added(terms, source)
    for release, total, noise in zip(releases, totals[first_step:], decoded, strict=False):
        assert release.state.totals == tuple(total.tolist())
        assert release.noise == noise
        assert release.release.raw == tuple(a + b for a, b in zip(total, noise, strict=True))


def added(terms: SeriesTerms, source: Frozen) -> list[tuple[int, ...]]:
    """What the drawn integers add to each release, decoded here by plain sums of fractions."""
    width, carried, found = terms.plan.request.width, None, []
    for number, drawn in enumerate(source.given):
        epoch = terms.plan.epoch(number)
        size = epoch.factorisation.measurements
        parts = [epoch.factorisation.decode(drawn[i * size : (i + 1) * size]) for i in range(width)]
        before = carried or [Fraction()] * width
        errors = [
            [start + error for error in part] for start, part in zip(before, parts, strict=True)
        ]
        found += [tuple(round(error) for error in step) for step in zip(*errors, strict=True)]
        carried = [part[-1] for part in errors] if terms.plan.mechanism.adds_up else None
    return found


@pytest.mark.parametrize("first_step", [0, 2])
@pytest.mark.parametrize("series", SERIES, ids=lambda series: str(series["name"]))
def test_what_stands_beside_the_raw_values_follows_from_all_of_them_and_the_plan(
    series: dict[str, Any], first_step: int
) -> None:
    made = promise(series=SERIES, budget=BUDGET)
    graph, terms = graph_of(made), terms_of(made, SeriesPromise(**series), first_step)
    releases = [each.release for each in made_releases(terms, graph, Frozen())]
    raw = np.array([release.raw for release in releases])
    wanted = processed(terms.statistic, raw if terms.statistic.vector else raw[:, 0])
    assert [release.noise_std for release in releases] == terms.plan.standard_deviations()
    assert [release.place for release in releases] == list(range(len(releases)))
    assert [release.step for release in releases] == list(range(first_step, 4))
    for release, values in zip(releases, wanted.values.reshape(raw.shape), strict=True):
        assert release.processed == tuple(values.tolist())
        assert release.processing == wanted.done


def test_some_processed_values_depend_on_earlier_releases() -> None:
    """Else a path that forgets the history of a series would not be noticed here."""
    made = promise(series=SERIES, budget=BUDGET)
    series = next(each for each in made.series if each.name == "g")
    terms = terms_of(made, series)
    releases = [each.release for each in made_releases(terms, graph_of(made), Frozen())]
    alone = [processed(terms.statistic, [release.value]).values[0] for release in releases]
    assert any(each.processed != (value,) for each, value in zip(releases, alone, strict=True))


def test_every_mechanism_that_measures_differently_is_among_the_series() -> None:
    made = promise(series=SERIES, budget=BUDGET)
    measured = {terms_of(made, each).plan.mechanism.measured for each in made.series}
    assert measured == {member.measured for member in registered().values()}


def some_terms(name: str, bound: Bound, mechanism: str = "sensdiff", **given: Any) -> SeriesTerms:
    chosen = statistic(name, **given)
    threshold = bound if "projection" in mechanism else None
    made = plan(chosen, bound, epsilon="1", horizon=5, mechanism=mechanism, projection=threshold)
    return SeriesTerms(chosen, bound, made)


WIDE = DegreeBound(8)  # growths have nine nodes, so nobody has more
SEVERAL = [
    some_terms("edges", WIDE),
    some_terms("degree-ccdf", WIDE),
    some_terms("degree-histogram", WIDE, "bridged"),
    some_terms("triangles", DegreeBound(9), "tree"),
    some_terms("edges", DegreeBound(1), "compose-projection"),
    some_terms("edges", DegreeBound(2), "compose-projection"),
    some_terms("high-degree", DegreeBound(2), "sensseq-projection", tau=2),
    some_terms("nodes", WIDE, "compose-projection"),
]
chosen_terms = st.lists(st.sampled_from(SEVERAL), min_size=1, unique=True)


@given(growth=growths(directed=False, late=True), several=chosen_terms)
def test_series_counted_together_are_counted_as_each_alone(
    growth: Any, several: list[SeriesTerms]
) -> None:
    together = count_series(ENGINE, growth.sequence(), several)
    for terms in several:
        alone = count_series(ENGINE, growth.sequence(), [terms]).differences(terms)
        assert together.differences(terms).tolist() == alone.tolist()
        assert alone.shape == (growth.steps, terms.plan.request.width)


@given(growth=growths(directed=False, late=True), several=chosen_terms)
def test_projecting_series_count_the_projected_graph_and_others_do_not(
    growth: Any, several: list[SeriesTerms]
) -> None:
    counts = count_series(ENGINE, growth.sequence(), several)
    for terms in several:
        seen = growth.sequence()
        if terms.projects:
            seen = ENGINE.project(seen, terms.bound)
        wanted = ENGINE.count(seen, [terms.statistic], bound=terms.bound)
        found = counts.differences(terms).reshape(-1)
        assert found.tolist() == wanted.differences(terms.statistic).reshape(-1).tolist()


@given(growth=growths(directed=False, late=True), several=chosen_terms, data=st.data())
@settings(max_examples=40)
def test_counting_on_equals_counting_from_the_start(
    growth: Any, several: list[SeriesTerms], data: st.DataObject
) -> None:
    """Also where a series joins that was not counted before."""
    before = data.draw(st.lists(st.sampled_from(several), unique=True))
    whole = count_series(ENGINE, growth.sequence(), several)
    counts = None
    for steps in sorted(data.draw(st.lists(st.integers(0, growth.steps), max_size=3))):
        counts = count_series(ENGINE, growth.until(steps).sequence(), before, after=counts)
    after = count_series(ENGINE, growth.sequence(), several, after=counts)
    assert after.steps == growth.steps
    for terms in several:
        assert after.differences(terms).tolist() == whole.differences(terms).tolist()


def test_what_was_counted_is_handed_on_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    made = promise(series=SERIES, budget=BUDGET)
    asked, count = [], LocalEngine.count

    def remember(self: LocalEngine, *given: Any, **named: Any) -> Any:
        asked.append(named.get("after"))
        return count(self, *given, **named)

    monkeypatch.setattr(LocalEngine, "count", remember)
    before = count_series(ENGINE, graph_of(made), SEVERAL[:1])
    count_series(ENGINE, graph_of(made), SEVERAL[:1], after=before)
    assert asked == [None, *(view.counts for view in before.views.values())]
    assert repr(before) == f"SeriesCounts(steps={before.steps})"


def test_taking_one_view_for_another_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds that are not told apart would publish the counts of another projection."""
    made = promise(series=SERIES, budget=BUDGET)
    one, two = (some_terms("edges", DegreeBound(n), "compose-projection") for n in (1, 2))
    counts = count_series(ENGINE, graph_of(made), [one, two])
    apart = [counts.differences(terms).tolist() for terms in (one, two)]
    assert apart[0] != apart[1]
    monkeypatch.setattr(counting, "view_of", lambda terms: (terms.projects, DegreeBound(1)))
    mixed = count_series(ENGINE, graph_of(made), [one, two])
    assert mixed.differences(two).tolist() != apart[1]


def test_recent_networks_are_counted_from_the_step_that_is_wanted() -> None:
    member, bound = statistic("nodes", window=2), DegreeBound(20)
    made = plan(member, bound, epsilon=1, horizon=None, mechanism="recent")
    terms = SeriesTerms(member, bound, made)
    graph = graph_of(promise(series=SERIES, budget=BUDGET))

    every, later = (
        np.cumsum(counts.differences(terms), axis=0).tolist()
        for counts in (
            count_series(ENGINE, graph, [terms]),
            count_series(ENGINE, graph, [terms], since=2),
        )
    )
    assert len(every) > 2
    assert all(value != [0] for value in every)
    assert later == [[0], [0], *every[2:]]


@given(growth=growths(directed=False, late=True), degree=st.integers(1, 4), data=st.data())
def test_the_first_break_is_what_a_plain_loop_finds(
    growth: Any, degree: int, data: st.DataObject
) -> None:
    since = data.draw(st.integers(0, growth.steps - 1))
    found = first_break(ENGINE, growth.sequence(), DegreeBound(degree), since)
    breaking = (
        step
        for step in range(since, growth.steps)
        if growth.matrix(step)[0].sum(axis=0, dtype=int).max(initial=0) > degree
    )
    assert found == next(breaking, None)


tables = st.integers(1, 6).flatmap(
    lambda steps: st.integers(1, 3).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(-5, 50), min_size=width, max_size=width),
            min_size=steps,
            max_size=steps,
        ).map(lambda rows: np.array(rows, dtype=np.int64))
    )
)


@given(table=tables, data=st.data())
def test_differences_add_up_to_the_totals_from_any_first_step(
    table: Table, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(table) - 1))
    total = np.zeros(table.shape[1], dtype=np.int64)
    for step in range(first, len(table)):
        difference = difference_at(table, first, step)
        assert all(type(number) is int for number in difference)
        total += np.array(difference)
        assert total.tolist() == table[: step + 1].sum(axis=0).tolist()


def state_after(table: Table, first: int, releases: int) -> tuple[SeriesTerms, SeriesState]:
    """A series that has made some releases of a table of differences."""
    terms = SeriesTerms(SEVERAL[0].statistic, WIDE, SEVERAL[0].plan, first)
    totals = table[: first + releases].sum(axis=0) if releases else np.zeros_like(table[0])
    made = tuple(int(total) for total in totals)
    return terms, SeriesState(releases, 0, 0, made, (), ())


@given(table=tables, data=st.data())
def test_the_past_is_the_same_whatever_follows(table: Table, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(table) - 1))
    releases = data.draw(st.integers(0, len(table) - first))
    terms, state = state_after(table, first, releases)
    assert has_same_past(terms, state, table)
    longer = np.vstack([table, np.full((2, table.shape[1]), 9)])
    assert has_same_past(terms, state, longer)
    made = first + releases if releases else 0
    later = longer.copy()
    later[made:] += 1
    assert has_same_past(terms, state, later)


@given(table=tables, data=st.data())
def test_every_change_in_the_past_is_noticed(table: Table, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(table) - 1))
    releases = data.draw(st.integers(1, len(table) - first))
    terms, state = state_after(table, first, releases)
    step = data.draw(st.integers(0, first + releases - 1))
    number = data.draw(st.integers(0, table.shape[1] - 1))
    changed = table.copy()
    changed[step, number] += data.draw(st.sampled_from([-3, -1, 1, 2]))
    assert not has_same_past(terms, state, changed)
    assert not has_same_past(terms, state, table[: first + releases - 1])


@given(table=tables)
def test_a_series_that_has_said_nothing_has_no_past(table: Table) -> None:
    assume(table.any())
    terms, state = state_after(table, 0, 0)
    assert has_same_past(terms, state, table)
    assert has_same_past(terms, state, table[:0])
