"""Opening, part by part: what is affordable, what has room, and what the public is told."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest

from graphveil.errors import BudgetError, ParameterError, StudyError
from graphveil.mechanisms.factorisations.objectives import PLAIN
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import BoxNoise
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace
from graphveil.series.planner import losses_beyond, plan
from graphveil.statistics.sensitivity import PROOFS
from graphveil.study import Promise, SeriesPromise, opening
from graphveil.study.chain import digest
from graphveil.study.facts import (
    AFTER_PROJECTION,
    DIGITS,
    EVERY_NETWORK,
    SeriesOpened,
    StudyOpened,
)
from graphveil.study.ledger import Ledger
from graphveil.study.opening import (
    noise_facts,
    open_series,
    open_study,
    require_affordable,
    require_draft,
    require_new_name,
    require_payable,
    require_room,
    series_plan,
)
from graphveil.study.reading import StoredSeries
from graphveil.study.sql import Transaction
from studies import YEARS, promise

EDGES = {"name": "edges", "statistic": "edges", "epsilon": "1/4"}
OPEN_CALENDAR = {"every": 1, "unit": "year", "first": "2001"}


def with_series(*series: dict[str, Any], **changed: Any) -> Promise:
    return promise(series=list(series), **changed)


@dataclass
class Noted:
    """A transaction that only notes what it is asked to do."""

    facts: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)
    stored: dict[str, StoredSeries] = field(default_factory=dict)

    def append(self, fact: Any, *, private: dict[str, Any]) -> None:
        self.facts.append((fact, private))

    def open_series(self, name: str, stored: StoredSeries) -> None:
        self.stored[name] = stored


def test_a_study_is_entered_before_its_series_each_with_the_plan_that_is_kept() -> None:
    asked, noted = promise(), Noted()
    open_study(cast(Transaction, noted), asked)
    (first, sealed), *others = noted.facts
    assert isinstance(first, StudyOpened)
    assert (first.study, sealed) == (asked.to_data(), {"version": 2})
    assert [fact.series for fact, _ in others] == ["edges", "degrees"]
    for fact, private in others:
        assert fact.first_step == 0
        assert private == {"plan": digest(noted.stored[fact.series].plan)}
    assert Plan.from_dict(json.loads(noted.stored["edges"].plan)).request.horizon == 4


def told(series: dict[str, Any], first_step: int = 0, **changed: Any) -> SeriesOpened:
    asked, noted = with_series(series, **changed), Noted()
    open_series(cast(Transaction, noted), asked, asked.series[0], first_step=first_step)
    ((fact, _),) = noted.facts
    return cast(SeriesOpened, fact)


def test_the_public_is_told_what_was_planned() -> None:
    fact = told(EDGES | {"mechanism": "bridged"}, first_step=1)
    made = series_plan(with_series(EDGES), SeriesPromise(**EDGES, mechanism="bridged"), 1)  # type: ignore[arg-type]
    assert (fact.first_step, fact.first_label, fact.horizon, fact.width) == (1, "2002", 3, 1)
    assert (fact.epsilon, fact.delta, fact.mechanism) == (Fraction(1, 4), None, "bridged")
    assert fact.predicted_std == tuple(round(std, DIGITS) for std in made.predicted)
    assert len(fact.predicted_std) == sum(each.steps for each in fact.noise) == 3
    assert (fact.sensitivity.l1, fact.sensitivity.exact) == (4, True)
    assert fact.sensitivity.proof.startswith("docs/sensitivities.md")
    assert fact.parameters == {}
    assert fact.monotone
    chosen = told({"name": "s", "statistic": "clusters", "epsilon": "1/4", "parameters": {"k": 3}})
    assert chosen.parameters == {"k": 3}
    assert not chosen.monotone


@pytest.mark.parametrize("mechanism", ["tree", "sensdiff", "moves"])
def test_the_mechanism_is_the_one_that_was_asked_for(mechanism: str) -> None:
    fact = told(EDGES | {"mechanism": mechanism})
    assert (fact.mechanism, fact.projection) == (mechanism, None)


def test_a_projecting_series_is_planned_for_its_threshold() -> None:
    fact = told(EDGES | {"mechanism": "range-projection", "projection": 2})
    assert (fact.mechanism, fact.projection) == ("range-projection", 2)
    assert [(each.scale, each.steps) for each in fact.noise] == [("8", 4)]  # 2 / (1/4)
    assert (fact.sensitivity.l1, fact.sensitivity.exact) == (2, False)
    assert fact.sensitivity.assumption == EVERY_NETWORK
    assert fact.sensitivity.proof == f"{PROOFS}#{AFTER_PROJECTION}"


def test_gaussian_noise_is_planned_with_its_delta() -> None:
    budget = {"epsilon": "1", "delta": "1/8", "justification": "an example"}
    fact = told(EDGES | {"mechanism": "gaussian", "delta": "1/8"}, budget=budget)
    assert (fact.mechanism, fact.delta) == ("gaussian", Fraction(1, 8))


@pytest.mark.parametrize(
    "asked",
    [
        with_series(EDGES | {"epsilon": "2"}),
        with_series(EDGES | {"opened": "2002"}),
        promise(title="x" * 201),
    ],
    ids=["too dear", "begun", "too long"],
)
def test_what_cannot_be_promised_is_refused_before_anything_is_entered(asked: Promise) -> None:
    noted = Noted()
    with pytest.raises((BudgetError, StudyError)):
        open_study(cast(Transaction, noted), asked)
    assert noted == Noted()


def test_who_breaks_a_promise_that_does_not_refuse_is_told_the_price() -> None:
    hubs = {"degree": 4, "hubs": 1, "if_broken": "continue", "justification": "an example"}
    fact = told(EDGES | {"mechanism": "sensdiff"}, bound=hubs)
    asked = with_series(EDGES, bound=hubs)
    made = series_plan(asked, asked.series[0].model_copy(update={"mechanism": "sensdiff"}), 0)
    prices = losses_beyond(made, asked.series[0].counted(), asked.degree_bound)
    assert {each.further: each.epsilon for each in fact.beyond} == prices != {}
    assert told(EDGES).beyond == ()


def test_without_an_end_the_first_epoch_is_told() -> None:
    fact = told(EDGES | {"mechanism": "epochs"}, calendar=OPEN_CALENDAR)
    asked = with_series(EDGES | {"mechanism": "epochs"}, calendar=OPEN_CALENDAR)
    made = series_plan(asked, asked.series[0], 0)
    assert fact.horizon is None
    assert [each.steps for each in fact.noise] == [made.epoch(0).steps] != [made.epoch(1).steps]


@pytest.mark.parametrize(
    ("first_step", "horizon", "planned"),
    [(0, None, 4), (0, 4, 4), (3, None, 1), (1, 3, 3), (0, 9, 9)],
)
def test_a_series_is_planned_for_every_step_that_is_left(
    first_step: int, horizon: int | None, planned: int
) -> None:
    asked = with_series(EDGES | {"horizon": horizon})
    made = series_plan(asked, asked.series[0], first_step)
    assert made.request.horizon == planned


@pytest.mark.parametrize(("first_step", "horizon"), [(0, 3), (0, 1), (2, 1)])
def test_a_horizon_that_ends_too_early_is_refused(first_step: int, horizon: int) -> None:
    asked = with_series(EDGES | {"horizon": horizon})
    with pytest.raises(ParameterError, match=f"each of the {4 - first_step} steps"):
        series_plan(asked, asked.series[0], first_step)


def test_after_the_last_step_no_series_is_opened() -> None:
    asked = with_series(EDGES)
    with pytest.raises(StudyError, match="every step of the calendar is sealed"):
        series_plan(asked, asked.series[0], len(YEARS))
    unknown = with_series(EDGES | {"mechanism": "epochs"}, calendar=OPEN_CALENDAR)
    assert series_plan(unknown, unknown.series[0], 99).request.horizon is None
    known = with_series(EDGES | {"horizon": 7}, calendar=OPEN_CALENDAR)
    assert series_plan(known, known.series[0], 99).request.horizon == 7


@pytest.mark.parametrize("objective", ["last", None])
def test_a_series_keeps_the_error_small_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, objective: str | None
) -> None:
    given: dict[str, Any] = {}

    def noting(*what: Any, **how: Any) -> Plan:
        given.update(how)
        return plan(*what, **how)

    monkeypatch.setattr(opening, "plan", noting)
    asked = with_series(EDGES | {"minimise": objective})
    series_plan(asked, asked.series[0], 0)
    assert given["minimise"] == (objective or PLAIN)


def test_noise_of_the_only_release_is_tried_too() -> None:
    asked = with_series(EDGES | {"epsilon": "1e-12", "horizon": 1}, calendar=OPEN_CALENDAR)
    with pytest.raises(ParameterError, match="noise scale"):
        series_plan(asked, asked.series[0], 0)


@pytest.mark.parametrize("mechanism", ["sensdiff", "epochs"])
def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_opened(mechanism: str) -> None:
    calendar = OPEN_CALENDAR if mechanism == "epochs" else promise().calendar
    asked = with_series(EDGES | {"epsilon": "1e-12", "mechanism": mechanism}, calendar=calendar)
    with pytest.raises(ParameterError, match="noise scale"):
        series_plan(asked, asked.series[0], 0)


def test_a_budget_can_be_spent_to_the_last_bit() -> None:
    require_affordable(with_series(EDGES | {"epsilon": "1"}))
    budget = {"epsilon": "1", "delta": "1/8", "justification": "an example"}
    noisy = EDGES | {"mechanism": "gaussian", "delta": "1/8"}
    require_affordable(with_series(noisy, budget=budget))


@pytest.mark.parametrize(
    ("shares", "left"),
    [
        (["1", "1e-9"], "ε = 1: series 's1' asks for 0.000000001, and 0 is left"),
        (["1/2", "3/4"], "ε = 1: series 's1' asks for 0.75, and 0.5 is left"),
        (["2", "3"], "ε = 1: series 's1' asks for 3, and 0 is left"),
    ],
)
def test_what_costs_too_much_is_told_what_is_left(shares: list[str], left: str) -> None:
    series = [EDGES | {"name": f"s{n}", "epsilon": share} for n, share in enumerate(shares)]
    with pytest.raises(BudgetError) as refused:
        require_affordable(with_series(*series))
    assert left in str(refused.value)


def test_delta_is_charged_too() -> None:
    noisy = [EDGES | {"name": f"s{n}", "mechanism": "gaussian", "delta": "1/8"} for n in (0, 1)]
    budget = {"epsilon": "1", "delta": "3/16", "justification": "an example"}
    with pytest.raises(BudgetError, match=r"δ = 0\.1875: series 's1' asks for 0\.125, and 0\.0625"):
        require_affordable(with_series(*noisy, budget=budget))
    spent = [each | {"epsilon": "1/2"} for each in noisy]  # all of ε, and not a bit more
    with pytest.raises(BudgetError, match=r"δ = 0\.1875"):
        require_affordable(with_series(*spent, budget=budget))
    with pytest.raises(BudgetError, match=r"δ = 0\.1875: series 'edges' asks for 0, and 0 is left"):
        require_affordable(with_series(*noisy, EDGES, budget=budget))


POOLED = {
    "epsilon": "1",
    "delta": "1e-6",
    "justification": "an example",
    "pool": {"epsilon": "3/4", "delta": "1e-6"},
}
SHARING = {"name": "shared", "statistic": "edges"}


@pytest.mark.parametrize(
    ("shares", "left"),
    [
        (["1/2", "1/2"], None),
        (["3/4", "1/2"], "series 's1' asks for 0.5 of it, and 0.25 is left"),
        (["1/2", "0.500001"], "series 's1' asks for 0.500001 of it, and 0.5 is left"),
        (["3/4", "3/4", "1/8"], "series 's2' asks for 0.125 of it, and 0 is left"),
    ],
)
def test_a_pool_can_be_shared_to_the_last_bit(shares: list[str], left: str | None) -> None:
    series = [SHARING | {"name": f"s{n}", "pool": share} for n, share in enumerate(shares)]
    asked = with_series(*series, budget=POOLED)
    if left is None:
        require_affordable(asked)
    else:
        with pytest.raises(BudgetError, match=f"more than all of the pool: {left}"):
            require_affordable(asked)


def test_where_a_pool_is_shared_too_far_a_series_of_its_own_is_told_that_it_has_none() -> None:
    series = [SHARING | {"name": name, "pool": "3/4"} for name in ("s0", "s1")]
    with pytest.raises(BudgetError, match="series 'edges' asks for 0 of it, and 0 is left"):
        require_affordable(with_series(*series, EDGES, budget=POOLED))


def test_a_pool_and_series_cost_no_more_than_the_budget() -> None:
    shared = SHARING | {"pool": "1/2"}
    require_affordable(with_series(EDGES, shared, budget=POOLED))
    dear = EDGES | {"epsilon": "1/2"}
    with pytest.raises(
        BudgetError, match=r"series and the pool cost 0\.25 more than the study's ε"
    ):
        require_affordable(with_series(dear, shared, budget=POOLED))
    with pytest.raises(BudgetError, match=r"'edges' asks for 0\.5, and 0\.25 is left"):
        require_affordable(with_series(shared, dear, budget=POOLED))


def test_going_on_costs_no_more_than_is_left() -> None:
    asked = with_series(EDGES, EDGES | {"name": "b"}, EDGES | {"name": "a"})  # 1/4 is left
    eighth = Fraction(1, 8)
    require_payable(asked, {"b": eighth, "a": eighth}, {"a": eighth})
    dear = {"b": Fraction(1, 4), "edges": eighth, "a": Fraction(1, 16)}
    told = r"ε = 0\.4375 more, most of it for series 'b' \(0\.25\), and 0\.25 is left"
    with pytest.raises(BudgetError, match=told):
        require_payable(asked, dear, {})


def test_nothing_is_paid_that_nothing_is_asked_for() -> None:
    asked = with_series(EDGES, EDGES | {"name": "b"})
    with pytest.raises(ParameterError, match="series 'b' needs none"):
        require_payable(asked, {"edges": Fraction()}, {"b": Fraction(1)})
    with pytest.raises(ParameterError, match=r"there is no series 'edgse'.*edges"):
        require_payable(asked, {"edges": Fraction()}, {"edgse": Fraction(1)})


def test_who_breaks_the_promise_of_a_pool_is_told_the_price_in_sums() -> None:
    bound = {"degree": 4, "if_broken": "continue", "justification": "an example"}
    fact = told(SHARING | {"pool": "1/2"}, budget=POOLED, bound=bound)
    assert fact.beyond
    assert all(each.rho is not None and each.rho > 0 for each in fact.beyond)
    alone = told(EDGES, bound=bound)
    assert alone.beyond
    assert all(each.rho is None for each in alone.beyond)


def test_a_plan_and_times_in_words_are_told() -> None:
    fact = told(EDGES | {"parameters": {"window": 2}})
    assert fact.spans == {"window": promise().calendar.last_steps(2)}
    asked = with_series(EDGES | {"parameters": {"window": 2}})
    assert fact.plan == series_plan(asked, asked.series[0], 0).to_dict()
    assert told(EDGES).spans == {}


@pytest.mark.parametrize("hubs", [2, 3])
def test_hubs_that_nobody_can_be_linked_to_are_no_promise(hubs: int) -> None:
    """Without in-hubs, nobody has more than two incoming links, those of out-hubs among them."""
    bound = {"inward": 2, "outward": 2, "hubs": [0, hubs], "justification": "an example"}
    asked = with_series(EDGES, directed=True, bound=bound)
    if hubs == 2:
        require_draft(asked)
    else:
        with pytest.raises(ParameterError, match="hubs"):
            require_draft(asked)


def test_a_draft_names_no_beginning() -> None:
    require_draft(promise())
    with pytest.raises(StudyError, match="'opened' is set when something is promised later"):
        require_draft(with_series(EDGES | {"opened": "2002"}))
    with pytest.raises(StudyError, match=r"study\.toml, title"):
        require_draft(promise(title="x" * 201))


def planned(horizon: int | None, first_step: int) -> SimpleNamespace:
    own = SimpleNamespace(horizon=horizon)
    return SimpleNamespace(series=f"for {horizon}", promise=own, first_step=first_step)


def test_a_step_has_room_as_long_as_every_series_has() -> None:
    """The last release of a series that began at step 2 and has 5 is made at step 6."""
    ledger = cast(Ledger, SimpleNamespace(series=[planned(None, 0), planned(5, 2)]))
    for step in (0, 2, 6):
        require_room(ledger, step)
    for step in (7, 8):
        with pytest.raises(StudyError, match="'for 5' was planned for 5 releases"):
            require_room(ledger, step)


def test_a_name_is_given_once() -> None:
    require_new_name(promise(), "others")
    for name in ("edges", "degrees"):
        with pytest.raises(ParameterError, match=f"a series '{name}' is already open"):
            require_new_name(promise(), name)


def test_equal_laws_that_follow_each_other_are_told_once() -> None:
    laplace, gaussian = DiscreteLaplace(Fraction(3)), DiscreteGaussian(Fraction(7, 2))
    laws = [(4, laplace), (2, laplace), (1, gaussian), (5, laplace)]
    facts = noise_facts((law, steps) for steps, law in laws)
    assert [(each.law, each.steps, each.scale, each.variance) for each in facts] == [
        ("discrete Laplace", 6, "3", None),
        ("discrete Gaussian", 1, None, "7/2"),
        ("discrete Laplace", 5, "3", None),
    ]
    (joint,) = noise_facts([(BoxNoise(Fraction(5, 2), 3), 3)])
    assert (joint.scale, joint.steps) == ("5/2", 3)
