"""The better mechanisms: their errors in closed form, by simulation and against the targets."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.factorisations.bordered import (
    Dyadic,
    best_block,
    border,
    bridged,
    bridged_squares,
    identity,
)
from graphveil.mechanisms.factorisations.objectives import Aim, plain_mean
from graphveil.mechanisms.factorisations.optimiser import deviation, minimised, optimised
from graphveil.mechanisms.mechanism import Request, mechanism, registered
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import DiscreteLaplace
from graphveil.statistics.sensitivity import Sensitivity

ROOT = Path(__file__).parents[2]
UNIT = Sensitivity(1, 1, 1, 1, frozenset(), "none", "none")
WIDE = Sensitivity(50, 50, 2500, 1, frozenset(), "none", "none")
BETTER = ("tree", "bridged", "optimised", "epochs")
TARGETS = [(8, 2.89), (20, 3.95), (50, 5.1), (100, 6.1), (365, 8.5)]


@cache
def planned(
    name: str, horizon: int | None, sensitivity: Sensitivity = UNIT, delta: str | None = None
) -> Plan:
    exactly = None if delta is None else Fraction(delta)
    return Plan.of(mechanism(name), Request(sensitivity, Fraction(1), exactly, horizon))


@pytest.mark.parametrize(("horizon", "most"), TARGETS)
def test_the_optimised_factorisation_meets_its_target(horizon: int, most: float) -> None:
    assert planned("optimised", horizon).mean_std <= most


@pytest.mark.parametrize(("horizon", "facts"), [(20, 3.855), (50, 4.98), (100, 5.93), (365, 7.90)])
def test_the_optimised_factorisation_is_as_good_as_was_found(horizon: int, facts: float) -> None:
    found = optimised(horizon)
    mean = float(np.sqrt(2 * found.decoder_squares()).mean()) * found.column_l1()
    assert mean == pytest.approx(facts, rel=0.002)


@pytest.mark.slow
def test_the_optimised_factorisation_of_a_thousand_steps() -> None:
    assert planned("optimised", 1000).mean_std <= 9.7


def test_a_year_of_days_is_planned_quickly() -> None:
    optimised.cache_clear()
    start = perf_counter()
    optimised(365)
    assert perf_counter() - start < 10


def test_few_steps_are_measured_as_they_are() -> None:
    assert optimised(9) == identity(9)
    assert optimised(10) != identity(10)


def test_an_unknown_horizon_meets_its_target() -> None:
    assert planned("epochs", None).mean_std <= 7.1  # the target is 8.0, over 100 steps


def test_epochs_follow_one_another_for_ever() -> None:
    endless = planned("epochs", None)
    lengths = [endless.epoch(number).steps for number in range(5)]
    assert lengths == [16, 64, 256, 1024, 4096]
    assert planned("epochs", 100).standard_deviations(100) == endless.standard_deviations(100)


def test_epochs_add_what_finished_ones_left() -> None:
    inside = [bridged_squares(16 * 4**e, 8 * 2**e) for e in range(2)]
    law = planned("epochs", None, WIDE).epoch(0).law
    assert isinstance(law, DiscreteLaplace)
    factor = law.variance()
    expected = factor * np.concatenate([inside[0], inside[0][-1] + inside[1]])
    found = np.array(planned("epochs", None, WIDE).standard_deviations(80)) ** 2
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_the_tree_has_honakers_variance() -> None:
    found = Dyadic(100)
    assert found.column_l1() == 7
    for t in (1, 6, 64, 77, 100):
        digits = [j for j in range(7) if t >> j & 1]
        expected = sum(1 / (2 - 2.0**-j) for j in digits)
        assert found.decoder_squares()[t - 1] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("horizon", "facts"),
    [(8, 5.98), (20, 8.25), (50, 11.0), (100, 13.7), (365, 19.6), (1000, 23.6)],
)
def test_the_tree_has_the_known_mean_deviation(horizon: int, facts: float) -> None:
    found = Dyadic(horizon)
    mean = np.sqrt(2 * found.decoder_squares()).mean() * found.column_l1()
    assert mean == pytest.approx(facts, rel=0.005)


@pytest.mark.parametrize(("steps", "block"), [(24, 6), (48, 12), (120, 30)])
def test_bridged_has_its_closed_form(steps: int, block: int) -> None:
    q, r = np.divmod(np.arange(1, steps + 1), block)
    expected = q * block / (block + 1) + r - r**2 / (block + 1)
    np.testing.assert_allclose(bridged(steps, block).decoder_squares(), expected)


def test_bridged_with_a_rest_has_its_closed_form_too() -> None:
    for steps in range(1, 40):
        for block in range(2, steps + 3, 2):
            found = bridged(steps, block).decoder_squares()
            np.testing.assert_allclose(found, bridged_squares(steps, block))


@pytest.mark.parametrize(("horizon", "facts"), [(20, 4.25), (50, 5.39), (100, 6.47), (365, 9.07)])
def test_bridged_finds_a_good_block(horizon: int, facts: float) -> None:
    mean = float(np.sqrt(8 * bridged_squares(horizon, best_block(horizon))).mean())
    assert 0.98 * facts <= mean <= facts


@pytest.mark.parametrize("name", BETTER)
@pytest.mark.parametrize("sensitivity", [UNIT, WIDE], ids=["narrow", "wide"])
def test_predictions_agree_with_simulation(name: str, sensitivity: Sensitivity) -> None:
    plan = planned(name, 40, sensitivity)
    noise = simulate(plan, 40_000, np.random.default_rng(11), 40)
    np.testing.assert_allclose(noise.std(axis=0), plan.standard_deviations(40), rtol=0.03)
    assert noise.std(axis=0).mean() == pytest.approx(plan.mean_std, rel=0.01)


@pytest.mark.parametrize("name", BETTER)
def test_plans_come_out_the_same_twice(name: str) -> None:
    first = planned(name, 60).to_dict()
    optimised.cache_clear()
    bridged.cache_clear()
    request = Request(UNIT, Fraction(1), None, 60)
    assert Plan.of(mechanism(name), request).to_dict() == first


@pytest.mark.parametrize("name", BETTER)
def test_scales_stretch_with_the_factorisation(name: str) -> None:
    plan = Plan.of(mechanism(name), Request(WIDE, Fraction(1, 3), None, 30))
    epoch = plan.epoch(0)
    assert epoch.law.size == 150 * epoch.factorisation.column_l1()


@pytest.mark.parametrize("name", BETTER)
def test_a_delta_is_refused_by_pure_mechanisms(name: str) -> None:
    with pytest.raises(ParameterError, match="leave δ out"):
        planned(name, 20, UNIT, "1/1000")


@pytest.mark.parametrize("name", ["tree", "bridged", "optimised"])
def test_an_unknown_horizon_is_refused_where_it_is_needed(name: str) -> None:
    with pytest.raises(ParameterError, match="needs a known horizon"):
        planned(name, None)


@pytest.mark.parametrize("name", ["tree", "bridged", "optimised"])
def test_nothing_follows_the_horizon(name: str) -> None:
    with pytest.raises(ParameterError, match="all 12 releases"):
        planned(name, 12).epoch(1)


def test_very_long_horizons_are_not_optimised() -> None:
    with pytest.raises(ParameterError, match="up to 4096"):
        planned("optimised", 4097)


AIMS = {
    "mean": plain_mean(9),
    "early": Aim.of_totals([Fraction(1, t) for t in range(1, 10)]),
    "worst": Aim.of_totals([Fraction(1)] * 9, worst=True),
    "windows": Aim((0.0, 0.0, *(1 / 7,) * 7), 3),
    "differences": Aim((1 / 9,) * 9, 1),
}


def slopes(
    aim: Aim, diagonal: NDArray[np.float64], rows: NDArray[np.float64], each: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both gradients by small steps."""
    by_leaf, by_rows, step = np.zeros_like(diagonal), np.zeros_like(rows), 1e-6
    for place in np.ndindex(diagonal.shape):
        nudge = np.zeros_like(diagonal)
        nudge[place] = step
        ahead, behind = (deviation(aim, diagonal + n, rows, each)[0] for n in (nudge, -nudge))
        by_leaf[place] = (ahead - behind) / 2 / step
    for place in np.ndindex(rows.shape):
        nudge = np.zeros_like(rows)
        nudge[place] = step
        ahead, behind = (deviation(aim, diagonal, rows + n, each)[0] for n in (nudge, -nudge))
        by_rows[place] = (ahead - behind) / 2 / step
    return by_leaf, by_rows


@pytest.mark.parametrize("name", AIMS)
@pytest.mark.parametrize("each", [1, 3])
def test_the_gradient_is_the_slope(name: str, each: int) -> None:
    rng = np.random.default_rng(3)
    diagonal, rows = rng.uniform(0.3, 1, 9), rng.uniform(0, 0.5, (2, 9))
    _, by_leaf, by_rows = deviation(AIMS[name], diagonal, rows, each)
    for found, slope in zip(
        (by_leaf, by_rows), slopes(AIMS[name], diagonal, rows, each), strict=True
    ):
        np.testing.assert_allclose(found, slope, rtol=1e-4, atol=1e-7)


def test_columns_that_several_steps_share_have_the_deviations_of_those_steps() -> None:
    rng = np.random.default_rng(4)
    diagonal, rows = rng.uniform(0.3, 1, 5), rng.uniform(0, 0.5, (2, 5))
    leaves, reach, schur = border(np.repeat(diagonal, 3), np.repeat(rows, 3, axis=1))
    variances = leaves - (reach * np.linalg.solve(schur, reach)).sum(axis=0)
    mean, _, _ = deviation(plain_mean(15).coarse(3), diagonal, rows, 3)
    assert mean == pytest.approx(np.sqrt(2 * variances[2::3]).mean())


def test_sharing_columns_costs_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = np.sqrt(optimised(300).decoder_squares()).mean() * optimised(300).column_l1()
    monkeypatch.setattr("graphveil.mechanisms.factorisations.optimiser.MOST_COLUMNS", 200)
    monkeypatch.setattr("graphveil.mechanisms.factorisations.optimiser.SHARED_COLUMNS", 150)
    shared = optimised.__wrapped__(300)
    together = np.sqrt(shared.decoder_squares()).mean() * shared.column_l1()
    assert together <= 1.01 * alone


def test_the_minimiser_walks_a_curved_valley() -> None:
    def rosenbrock(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        bend = x[1] - x[0] ** 2
        value = 1 + (1 - x[0]) ** 2 + 100 * bend**2
        return float(value), np.array([-2 * (1 - x[0]) - 400 * x[0] * bend, 200 * bend])

    found = minimised(rosenbrock, np.array([-1.2, 1.0]), rounds=200, tolerance=0.0)
    np.testing.assert_allclose(found, [1, 1], atol=1e-6)


def anchors(document: Path) -> set[str]:
    """Where a link into a document can lead."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_cited_proof_stands_where_it_is_said_to() -> None:
    cited = {member.proof for member in registered().values()}
    for source in (ROOT / "src" / "graphveil" / "mechanisms").glob("*.py"):
        cited |= set(re.findall(r"docs/mechanisms\.md#[\w-]+", source.read_text(encoding="utf-8")))
    found = anchors(ROOT / "docs" / "mechanisms.md")
    assert {each.split("#")[1] for each in cited} <= found
