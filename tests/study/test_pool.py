"""A pool in the life of a study: promised, charged, published, extended, adopted, checked."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import BudgetError, IntegrityError, ParameterError, StudyError
from graphveil.mechanisms.gaussian import GaussianMechanism
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.zcdp import epsilon_of, rho_of
from graphveil.report.card import card
from graphveil.report.wording import exposures
from graphveil.steward.verifying import verify
from graphveil.study import Promise, StoredStudy
from graphveil.study.announced_plans import require_enough_noise
from graphveil.study.extension import Further
from graphveil.study.facts import Announcement
from graphveil.study.history import History
from graphveil.study.machine import Machine
from graphveil.study.opening import require_affordable, series_plan
from graphveil.study.promise_entries import SeriesPromise
from graphveil.study.public_part import PublicPart
from studies import opened, promise

DELTA = "1e-6"
BUDGET = {
    "epsilon": "2",
    "delta": DELTA,
    "justification": "an example",
    "pool": {"epsilon": "3/2", "delta": DELTA},
}
SERIES: list[dict[str, Any]] = [
    {"name": "people", "statistic": "nodes", "epsilon": "1/4"},
    {"name": "links", "statistic": "edges", "pool": "1/4"},
    {"name": "degrees", "statistic": "degree-ccdf", "pool": "1/2"},
]
LATER: dict[str, Any] = {"name": "triangles", "statistic": "triangles"}


@pytest.fixture
def study(tmp_path: Path) -> StoredStudy:
    return opened(tmp_path / "study", budget=BUDGET, series=SERIES)


def with_last(**entries: Any) -> Promise:
    return promise(budget=BUDGET, series=[*SERIES, LATER | entries])


def told(study: StoredStudy) -> list[dict[str, Any]]:
    return [{"event": row.event, "fact": row.fact} for row in study.ledger().public_rows]


def history(rows: list[dict[str, Any]]) -> History:
    plain = json.loads(json.dumps(rows))
    return History.of(
        [Announcement(f"row {n}", row["event"], row["fact"], "") for n, row in enumerate(plain)],
        "the rows",
    )


def test_the_pool_is_charged_once_and_the_others_are_added(study: StoredStudy) -> None:
    said = study.promise()
    assert said.budget_left() == (Fraction(1, 4), Fraction())
    assert said.pool_left() == Fraction(1, 4)
    assert study.ledger().history.spent == (Fraction(7, 4), Fraction(DELTA))
    part = PublicPart.read(study.folder.public)
    assert part.spent == (Fraction(7, 4), Fraction(DELTA))
    assert part.left == (Fraction(1, 4), Fraction())


def test_noise_is_that_of_a_share_of_rho() -> None:
    said = with_last(pool="1/4")
    rho = rho_of(Fraction("3/2"), Fraction(DELTA))
    for each in said.series[1:]:
        made = series_plan(said, each, 0)
        assert isinstance(made.mechanism, GaussianMechanism)
        assert made.request.rho == Fraction(each.pool or 0) * rho
        assert made.mechanism.rho_of_noise(made.request, made.epochs) <= made.request.rho


def test_a_study_file_with_a_pool_is_read_as_it_was_written() -> None:
    said = with_last(pool="0.25")
    assert Promise.from_toml(said.to_toml()) == said
    assert '[budget.pool]\nepsilon = "1.5"\ndelta = "0.000001"\n' in said.to_toml()
    assert 'pool = "0.25"' in said.to_toml()
    assert "pool" not in promise().to_toml()


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "give either 'epsilon', or 'pool'"),
        ({"epsilon": "1/8", "pool": "1/8"}, "give either 'epsilon', or 'pool'"),
        ({"pool": "1/8", "delta": "1e-7"}, "'delta' is that of the pool"),
        ({"pool": "0"}, "a share of it must be above 0"),
        ({"pool": "1.5"}, "at most 1"),
        ({"pool": "1/8", "mechanism": "sensdiff"}, "sensdiff has pure noise"),
    ],
)
def test_shares_that_make_no_sense_are_refused(entries: dict[str, str], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        with_last(**entries)


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"pool": None}, "the budget has none"),
        ({"delta": None}, "no 'delta' itself"),
        ({"pool": {"epsilon": "1"}}, "budget.pool.delta"),
        ({"pool": {"epsilon": "0", "delta": DELTA}}, "must be greater than 0"),
    ],
)
def test_pools_that_make_no_sense_are_refused(budget: dict[str, Any], message: str) -> None:
    changed = {key: value for key, value in (BUDGET | budget).items() if value is not None}
    with pytest.raises(StudyError, match=message):
        promise(budget=changed, series=SERIES)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pool": "0.26"}, "asks for 0.26 of it, and 0.25 is left"),
        ({"epsilon": "0.26"}, "asks for 0.26, and 0.25 is left"),
        ({"epsilon": "1/8", "delta": "1e-9"}, "study's δ"),
    ],
)
def test_what_is_not_left_is_refused(changed: dict[str, str], message: str) -> None:
    with pytest.raises(BudgetError, match=message):
        require_affordable(with_last(**changed))


def test_a_pool_beyond_the_budget_is_refused() -> None:
    large = BUDGET | {"pool": {"epsilon": "1.8", "delta": DELTA}}
    with pytest.raises(BudgetError, match=r"series and the pool cost 0\.05 more"):
        require_affordable(promise(budget=large, series=SERIES))


def test_a_later_series_takes_from_what_is_left_of_the_pool(study: StoredStudy) -> None:
    study.publish(through=1)
    with pytest.raises(BudgetError, match=r"0\.25 is left"):
        study.open_series(SeriesPromise(**LATER, pool="1/3"))
    study.open_series(SeriesPromise(**LATER, pool="1/4"))
    assert study.promise().pool_left() == 0
    assert study.ledger().history.spent == (Fraction(7, 4), Fraction(DELTA))
    with pytest.raises(BudgetError, match="0 is left"):
        study.open_series(SeriesPromise(name="more", statistic="nodes", pool="1/1000"))
    study.publish(through=3)
    assert verify(study.folder.root).failure is None


def test_going_on_costs_the_pool_nothing(study: StoredStudy) -> None:
    study.publish(through=3)
    study.extend(Further(steps=3))
    assert study.ledger().history.spent == (Fraction(7, 4), Fraction(DELTA))
    assert [each.pool for each in study.promise().series] == [None, "0.25", "0.5"]
    study.publish(through=6)
    assert verify(study.folder.root).failure is None
    with pytest.raises(StudyError, match=r"links.*cannot go on: price"):
        study.extend(Further(steps=3), {"links": Fraction(1, 8)})


def test_an_adopted_pool_keeps_its_price_and_another_copy_costs_it_once_more(
    tmp_path: Path,
) -> None:
    machines = [Machine(tmp_path / name) for name in ("one", "other")]
    study = opened(tmp_path / "study", budget=BUDGET, series=SERIES, machine=machines[0])
    study.publish(through=1)
    moved = StoredStudy.at(tmp_path / "study", machine=machines[1])
    moved.adopt("moved to another machine")
    (adopted,) = moved.ledger().history.adoptions
    assert [each.again for each in adopted.series] == [Fraction(1, 4), 0, 0]
    assert adopted.again == Fraction(1, 4) + Fraction(3, 2)
    assert moved.ledger().history.spent == (Fraction(7, 4), Fraction(DELTA))
    moved.publish(through=3)
    assert PublicPart.read(moved.folder.public).spent == (Fraction(7, 4), Fraction(DELTA))


def test_a_study_without_a_pool_says_nothing_of_one(tmp_path: Path) -> None:
    study = opened(tmp_path / "plain")
    study.publish(through=1)
    text = "".join(json.dumps(row) for row in told(study))
    assert "pool" not in text
    assert "rho" not in text
    assert "pool" not in json.dumps(card(PublicPart.read(study.folder.public)))


def changed(rows: list[dict[str, Any]], name: str, change: Any) -> list[dict[str, Any]]:
    """The rows with something else where a series is opened."""
    copied: list[dict[str, Any]] = json.loads(json.dumps(rows))
    (row,) = [
        each for each in copied if each["fact"].get("series") == name and "plan" in each["fact"]
    ]
    change(row["fact"])
    return copied


def more_of_the_pool(fact: dict[str, Any]) -> None:
    fact["promise"]["pool"] = fact["plan"]["request"]["pool_share"] = "4/5"


def another_share_than_planned(fact: dict[str, Any]) -> None:
    fact["promise"]["pool"] = "1/8"


def no_share(fact: dict[str, Any]) -> None:
    del fact["promise"]["pool"]
    fact["promise"] |= {"epsilon": "1/1000"}
    fact["epsilon"] = "1/1000"


def no_share_anywhere(fact: dict[str, Any]) -> None:
    no_share(fact)
    del fact["plan"]["request"]["pool_share"]


def another_epsilon(fact: dict[str, Any]) -> None:
    fact["epsilon"] = "1/2"


def another_delta(fact: dict[str, Any]) -> None:
    fact["delta"] = "1e-7"


def another_plan(fact: dict[str, Any]) -> None:
    fact["plan"]["request"]["epsilon"] = "5"


def no_plan(fact: dict[str, Any]) -> None:
    del fact["plan"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (more_of_the_pool, "share more than all of the pool"),
        (another_share_than_planned, "another price than its plan"),
        (no_share, "another price than its plan"),
        (no_share_anywhere, "another price than its plan"),
        (another_epsilon, "a pool that is not the study's"),
        (another_delta, "a pool that is not the study's"),
        (another_plan, "another price than its plan"),
        (no_plan, "plan of a series in the pool is not told"),
    ],
)
def test_a_history_that_overspends_or_contradicts_itself_is_refused(
    study: StoredStudy, change: Any, message: str
) -> None:
    rows = told(study)
    assert history(rows).spent[0] == Fraction(7, 4)
    with pytest.raises(IntegrityError, match=message):
        history(changed(rows, "links", change))


def test_a_pool_beyond_the_budget_is_refused_in_a_history(study: StoredStudy) -> None:
    rows = told(study)
    rows[0]["fact"]["study"]["budget"]["pool"]["epsilon"] = "1.8"
    with pytest.raises(IntegrityError):
        history(rows)
    without = json.loads(json.dumps(rows))
    del without[0]["fact"]["study"]["budget"]["pool"]
    with pytest.raises(IntegrityError):
        history(without)


def test_a_price_for_a_series_of_the_pool_is_refused(study: StoredStudy) -> None:
    study.publish(through=3)
    study.extend(Further(steps=3))
    rows = told(study)
    (last,) = [row for row in rows if row["event"] == "study extended"]
    last["fact"]["series"][1]["price"] = "1/100"
    with pytest.raises(IntegrityError, match="its pool is paid"):
        history(rows)


def with_less_noise(fact: dict[str, Any]) -> None:
    for epoch in fact["plan"]["epochs"]:
        epoch["law"]["spread"] = str(Fraction(epoch["law"]["spread"]) / 2)


def test_less_noise_than_was_paid_for_is_found_from_public_facts_alone(study: StoredStudy) -> None:
    found = history(told(study))
    loss = require_enough_noise(found.versions[0], found.series)
    rho = Fraction(3, 4) * rho_of(Fraction("3/2"), Fraction(DELTA))
    assert 0.999 < loss / epsilon_of(rho, Fraction(DELTA)) <= 1
    halved = history(changed(told(study), "degrees", with_less_noise))
    with pytest.raises(IntegrityError, match="'degrees' has less noise than its price allows"):
        require_enough_noise(halved.versions[0], halved.series)


def test_verify_tells_what_the_noise_of_the_pool_costs(study: StoredStudy) -> None:
    study.publish(through=1)
    found = verify(study.folder.root)
    assert found.failure is None
    said = {each.name: each.found for each in found.checks}
    assert (
        "ε = 1.75 of 2, δ = 0.000001 of 0.000001; the noise of the pool costs ε = 1.2"
        in said["the budget"]
    )
    assert "the noise of the pool costs" in said["the public part by itself"]


def test_a_plan_that_cannot_be_read_is_refused(study: StoredStudy) -> None:
    found = history(changed(told(study), "links", lambda fact: fact["plan"].pop("epochs")))
    with pytest.raises(IntegrityError, match="plan of series 'links' cannot be read"):
        require_enough_noise(found.versions[0], found.series)


def test_who_breaks_the_promise_loses_by_the_sum_of_rho(tmp_path: Path) -> None:
    bound = {"degree": 4, "if_broken": "continue", "justification": "nobody made up more"}
    study = opened(tmp_path / "hubs", budget=BUDGET, series=SERIES, bound=bound)
    study.publish(through=0)
    part = PublicPart.read(study.folder.public)
    (people, links, degrees) = part.series
    for place, exposure in enumerate(exposures(part)):
        rhos = [each.beyond[place].rho or Fraction() for each in (links, degrees)]
        assert min(rhos) > 0
        expected = people.beyond[place].epsilon + epsilon_of(sum(rhos, Fraction()), Fraction(DELTA))
        assert exposure.epsilon == expected
        alone = sum(each.beyond[place].epsilon for each in part.series)
        assert people.beyond[place].epsilon < exposure.epsilon < alone


def test_the_card_names_pool_and_shares(study: StoredStudy) -> None:
    study.publish(through=0)
    said = card(PublicPart.read(study.folder.public))
    assert said["budget"]["pool"] == {"epsilon": "1.5", "delta": "0.000001", "left": "0.25"}
    assert [each.get("pool_share") for each in said["series"]] == [None, "0.25", "0.5"]
    assert "The series links, degrees share a pool" in said["composition"]["over_statistics"]
    assert "A share of 0.25 of the pool is left" in said["composition"]["over_statistics"]


def test_a_plan_in_a_pool_is_as_public_as_any(study: StoredStudy) -> None:
    for each in study.ledger().series[1:]:
        assert each.plan is not None
        made = Plan.from_dict(each.plan)
        assert made.request.pool_share == each.pool_share
        assert (made.request.epsilon, made.request.delta) == (each.epsilon, each.delta)


def test_a_price_for_a_pool_without_use_is_refused(study: StoredStudy) -> None:
    with pytest.raises(ParameterError, match="price"):
        study.extension(Further(steps=1), {"nobody": Fraction(1)})
