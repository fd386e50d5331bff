"""The six mechanisms: calibrated as they should be, tuned as the paper does, equal where equal."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from experiment_data import small_dataset
from graphveil.engines import LocalEngine
from graphveil.errors import ParameterError
from graphveil.experiments.protocol.contenders import (
    AUTO,
    COMPOSE,
    MECHANISMS,
    POST,
    PROJECTION,
    SENSDIFF,
    TIGHT,
    Outcome,
    Trial,
    outcomes,
)
from graphveil.experiments.protocol.protocol import release_steps
from graphveil.experiments.protocol.subjects import AskedStatistic, DatasetVersion, true_values
from graphveil.graph.bound import DegreeBound
from graphveil.graph.projection import greedy_projection
from graphveil.mechanisms.sensdiff import SensDiff
from graphveil.statistics.statistic import registered

DATA = small_dataset(hubs=2)
VERSIONS = {directed: DatasetVersion.of(DATA, directed=directed) for directed in (True, False)}


def trial(
    asked: str, *, directed: bool, epsilon: str = "1", every: int = 1, runs: int = 40
) -> Trial:
    version = VERSIONS[directed]
    subject = version.subject(AskedStatistic(asked))
    (truth,) = true_values(version, [subject], LocalEngine())
    steps = release_steps(subject.steps, every)
    return Trial(subject, truth.at(steps), Fraction(epsilon), runs, (7, 1))


def by_name(asked: str, *, directed: bool, epsilon: str = "1") -> dict[str, Outcome]:
    found = outcomes(trial(asked, directed=directed, epsilon=epsilon))
    return {outcome.mechanism: outcome for outcome in found}


def test_every_mechanism_appears_once_and_in_order() -> None:
    assert [each.mechanism for each in outcomes(trial("edges", directed=False))] == list(MECHANISMS)


def test_sensdiff_takes_the_papers_sensitivity_and_tight_takes_ours() -> None:
    bound = VERSIONS[False].bound
    assert isinstance(bound, DegreeBound)
    found = by_name(f"high-degree:{bound.degree}", directed=False)
    assert found[SENSDIFF].sensitivity == 2 * bound.degree + 1
    assert found[TIGHT].sensitivity == found[COMPOSE].sensitivity == bound.degree + 1
    assert found[TIGHT].error < found[SENSDIFF].error


@pytest.mark.parametrize("directed", [True, False])
def test_mechanisms_that_coincide_have_the_same_error(directed: bool) -> None:
    found = by_name("edges", directed=directed)
    assert found[SENSDIFF].error == found[TIGHT].error
    few = {o.mechanism: o for o in outcomes(trial("edges", directed=directed, every=4))}
    assert few[AUTO].noise == "sensdiff"
    assert few[AUTO].error == few[TIGHT].error


def test_the_tuned_threshold_has_the_least_error_of_all() -> None:
    given = trial("high-degree", directed=False)
    tuned = {each.mechanism: each for each in outcomes(given)}[PROJECTION]
    each_alone = [
        outcomes(replace(given, truth=replace(given.truth, projected=(one,))))[2]
        for one in given.truth.projected
    ]
    assert len(each_alone) > 3
    best = min(each_alone, key=lambda outcome: outcome.error)
    assert (tuned.threshold, tuned.error) == (best.threshold, best.error)
    assert len({outcome.error for outcome in each_alone}) > 1


def test_projected_totals_are_those_of_each_graph_projected_by_itself() -> None:
    version = VERSIONS[False]
    (truth,) = true_values(version, [version.subject(AskedStatistic("edges"))], LocalEngine())
    threshold, totals = truth.projected[1]
    for step in (0, 5, 11):
        alone = greedy_projection(version.sequence.until(step + 1), threshold)
        assert totals[step] == len(alone.entries) + len(alone.late)


def test_a_threshold_at_the_bound_drops_nothing() -> None:
    for directed, version in VERSIONS.items():
        (truth,) = true_values(version, [version.subject(AskedStatistic("edges"))], LocalEngine())
        threshold, totals = truth.projected[-1]
        assert threshold == version.bound, directed
        assert np.array_equal(totals, truth.totals)


def test_thresholds_below_tau_are_left_out() -> None:
    given = trial("high-degree:4", directed=False)
    assert next(bound for bound, _ in given.truth.projected) == DegreeBound(4)


def test_errors_fall_with_epsilon_in_proportion() -> None:
    little, much = (by_name("edges", directed=False, epsilon=each) for each in ("0.1", "1"))
    assert 8 < little[SENSDIFF].error / much[SENSDIFF].error < 12


def test_without_noise_only_projection_would_be_wrong() -> None:
    found = by_name("edges", directed=False, epsilon="0.01")
    for name in (SENSDIFF, COMPOSE, TIGHT, AUTO, POST):
        assert found[name].noiseless_error == 0
    assert 0 < found[PROJECTION].noiseless_error < found[PROJECTION].error


def test_noise_is_added_to_the_truth_and_vanishes_with_it() -> None:
    given = trial("edges", directed=False, epsilon="5e4")
    assert not given.noise(given.plan(SensDiff(), given.sensitivity)).any()
    given = trial("edges", directed=False, epsilon="1")
    noise = given.noise(given.plan(SensDiff(), given.sensitivity))
    expected = (np.abs(noise) / given.truth.totals).sum(axis=1).mean()
    assert outcomes(given)[0].error == pytest.approx(expected)


def test_post_processing_helps_where_noise_is_large() -> None:
    for asked in ("edges", "components"):
        found = by_name(asked, directed=False, epsilon="0.05")
        assert found[POST].noise == found[AUTO].noise
        assert found[POST].error < 0.95 * found[AUTO].error


def test_publishing_nothing_has_one_unit_of_error_per_release() -> None:
    assert trial("edges", directed=True, every=3).zero_error == 4


@pytest.mark.parametrize("name", sorted(registered()))
def test_every_statistic_of_ours_can_be_measured(name: str) -> None:
    text = {"pattern": "pattern:a-b,b-c,c-d"}.get(name, name)
    versions = [d for d in (True, False) if AskedStatistic(text).defined(directed=d)]
    assert versions
    for directed in versions:
        given = trial(text, directed=directed, epsilon="5", every=6, runs=5)
        found = outcomes(given)
        assert {SENSDIFF, COMPOSE, TIGHT, AUTO, POST} <= {each.mechanism for each in found}
        assert all(np.isfinite(each.error) and each.error >= 0 for each in found)


def test_vectors_get_noise_in_every_number_and_run() -> None:
    given = trial("degree-ccdf", directed=False, runs=6)
    noise = given.noise(given.plan(SensDiff(), given.sensitivity))
    assert noise.shape == (6, *given.truth.totals.shape)
    assert len(np.unique(noise[:, -1, :])) > 20


@pytest.mark.parametrize(
    ("text", "directed", "message"),
    [
        ("triangles", True, "defined on undirected graphs only"),
        ("high-in-degree", False, "defined on directed graphs only"),
        ("pattern:a>b,b>c", False, "not of the graph's kind"),
        ("edges:3", False, "has no parameter"),
        ("stars:two", False, "needs a whole number"),
    ],
)
def test_what_a_version_does_not_have_is_refused(text: str, directed: bool, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        AskedStatistic(text).statistic(None, directed=directed)


def test_an_unknown_statistic_is_refused_with_the_nearest() -> None:
    with pytest.raises(ParameterError, match="Did you mean 'high-degree'"):
        AskedStatistic("high-degre")


def test_what_can_never_change_is_refused_before_anything_is_counted() -> None:
    with pytest.raises(ParameterError, match="nothing to publish"):
        DatasetVersion.of(small_dataset(), directed=False).subject(AskedStatistic("stars:60"))
