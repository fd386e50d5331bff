"""Extension, part by part: how far it goes, which series it takes along, and what it tells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.errors import BudgetError, ParameterError, StudyError
from graphveil.series.planner import losses_beyond
from graphveil.study.chain import canonical, digest
from graphveil.study.committed import Committed
from graphveil.study.extension import Extension, Further, enter, extension
from graphveil.study.facts import StudyExtended
from graphveil.study.ledger import Ledger
from graphveil.study.opening import series_plan
from graphveil.study.promise import Promise
from graphveil.study.reading import StoredSeries
from graphveil.study.sql import Transaction
from studies import promise

EDGES = {"name": "edges", "statistic": "edges", "epsilon": "1/4", "mechanism": "sensdiff"}
GROUPS = {"name": "groups", "statistic": "components", "epsilon": "1/4", "mechanism": "moves"}
OPEN_CALENDAR = {"every": 1, "unit": "year", "first": "2001"}
HUBS = {"degree": 3, "hubs": 1, "if_broken": "continue", "justification": "an example"}


@dataclass(frozen=True)
class Begun:
    """A study of which so many steps are made, as far as an extension looks at it."""

    promise: Promise
    made: int = 0
    earlier: tuple[Promise, ...] = ()
    first_steps: Mapping[str, int] = field(default_factory=dict)

    @property
    def ledger(self) -> Ledger:
        series = [
            SimpleNamespace(
                series=name,
                first_step=self.first_steps.get(name, 0),
                horizon=json.loads(stored.plan)["request"]["horizon"],
                releases=range(self.made - self.first_steps.get(name, 0)),
            )
            for name, stored in self.kept.items()
        ]
        versions = (*self.earlier, self.promise)
        return cast(
            Ledger, SimpleNamespace(versions=versions, series=series, sealed=range(self.made))
        )

    @property
    def kept(self) -> dict[str, StoredSeries]:
        plans = {
            each.name: series_plan(self.promise, each, self.first_steps.get(each.name, 0))
            for each in self.promise.series
        }
        return {
            name: StoredSeries(canonical(plan.to_dict()), f"the state of {name}")
            for name, plan in plans.items()
        }

    def extended(self, further: Further, **prices: Fraction) -> Extension:
        return extension(self.ledger, self.kept, further, prices)


def begun(*series: dict[str, Any], made: int = 0, **changed: Any) -> Begun:
    return Begun(promise(series=list(series), **changed), made)


def test_how_far_is_said_in_one_of_two_ways() -> None:
    years = Calendar.yearly(2001, 2004)
    assert Further(steps=1).after(years, 3) == 4
    assert Further("2005").after(years, 3) == 4
    for both_or_none in ((None, None), ("2007", 3)):
        with pytest.raises(ParameterError, match="either"):
            Further(*both_or_none)
    for steps in (0, -1):
        with pytest.raises(ParameterError, match="at least 1"):
            Further(steps=steps)


@pytest.mark.parametrize("last", ["2004", "2003", "1999"])
def test_nothing_goes_back_or_stays_where_it_is(last: str) -> None:
    with pytest.raises(StudyError, match="goes on to 2004 already"):
        Further(last).after(Calendar.yearly(2001, 2004), 3)


@pytest.mark.parametrize("calendar", [promise().calendar, OPEN_CALENDAR])
def test_a_step_that_has_no_name_is_refused_before_anything_is_planned(calendar: Any) -> None:
    study = begun(EDGES | {"horizon": 4}, calendar=calendar)
    with pytest.raises(ParameterError, match="after the last time that a calendar can hold"):
        study.extended(Further(steps=8000))


def test_what_the_study_says_by_now_is_what_goes_on() -> None:
    study = begun(EDGES, GROUPS, made=4)
    assert study.extended(Further("2006")).price == Fraction(1, 8)
    poor = promise(budget={"epsilon": "1/2", "justification": "an example"}, series=[EDGES, GROUPS])
    by_now = replace(study, earlier=(study.promise,), promise=poor)
    with pytest.raises(BudgetError, match="and 0 is left"):
        by_now.extended(Further("2006"))
    assert replace(by_now, made=0).extended(Further("2006")).before == poor


def test_the_end_is_the_one_that_was_said_last() -> None:
    longer = promise(series=[EDGES], calendar=OPEN_CALENDAR | {"last": "2005"})
    study = Begun(longer, earlier=(promise(series=[EDGES]),))
    assert study.extended(Further(steps=1)).labels == ("2005", "2006")
    with pytest.raises(StudyError, match="goes on to 2005 already"):
        study.extended(Further("2005"))


def test_series_that_last_long_enough_stay_as_they_are() -> None:
    """Those after them are looked at all the same."""
    ever = EDGES | {"name": "ever", "mechanism": "epochs"}
    longer, shorter = EDGES | {"name": "longer", "horizon": 5}, EDGES | {"horizon": 3}
    study = begun(ever, longer, shorter, made=3, calendar=OPEN_CALENDAR)
    for last in ("2004", "2005"):
        planned = study.extended(Further(last))
        assert planned.labels == ("2003", last)
        assert [each.series for each in planned.series] == ["edges"]
    further = study.extended(Further("2006"))
    assert [each.series for each in further.series] == ["longer", "edges"]
    assert [each.horizon for each in further.after.series] == [None, 6, 6]


def test_a_later_series_has_a_release_for_each_step_from_its_first_on() -> None:
    study = replace(begun(EDGES, GROUPS, made=4), first_steps={"groups": 3})
    edges, groups = study.extended(Further("2006")).series
    assert (edges.after.request.horizon, groups.after.request.horizon) == (6, 3)
    assert (edges.releases, groups.releases) == (4, 1)


def test_noise_that_cannot_be_drawn_is_refused_before_it_is_promised() -> None:
    study = begun(EDGES | {"mechanism": "compose-d-bounded"}, made=4)
    with pytest.raises(StudyError, match="'edges' cannot go on: noise scale: must be at most"):
        study.extended(Further("2006"), edges=Fraction(1, 10**12))


@dataclass
class Noted:
    """A transaction that only notes what it is asked to do."""

    facts: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)
    stored: dict[str, StoredSeries] = field(default_factory=dict)

    def append(self, fact: Any, *, private: dict[str, Any]) -> None:
        self.facts.append((fact, private))

    def renew_series(self, name: str, stored: StoredSeries) -> None:
        self.stored[name] = stored


def entered(study: Begun, further: Further) -> StudyExtended:
    """What the public is told, once it is sure that the same is kept."""
    noted, planned = Noted(), study.extended(further)
    found = SimpleNamespace(ledger=study.ledger, stored_series=study.kept)
    enter(cast(Transaction, noted), cast(Committed, found), planned)
    ((fact, private),) = noted.facts
    plans = {each.series: canonical(each.after.to_dict()) for each in planned.series}
    assert noted.stored == {
        name: StoredSeries(plan, f"the state of {name}") for name, plan in plans.items()
    }
    assert private == {"plans": {name: digest(plan) for name, plan in plans.items()}}
    return cast(StudyExtended, fact)


@pytest.mark.parametrize(("made", "label"), [(0, None), (1, "2001"), (3, "2003"), (4, "2004")])
def test_the_public_is_told_after_which_step_the_study_was_extended(
    made: int, label: str | None
) -> None:
    fact = entered(begun(EDGES, GROUPS, made=made), Further("2006"))
    assert (fact.step, fact.label) == (made, label)
    assert (fact.end, fact.last) == ("2004", "2006")
    assert fact.calendar["last"] == "2006"
    assert [each.horizon for each in fact.series] == [6, 6]


@pytest.mark.parametrize(("mechanism", "made"), [("moves", 4), ("optimised-moves", 0)])
def test_who_breaks_the_promise_is_told_the_price_if_it_changes(mechanism: str, made: int) -> None:
    """For a price it does; and at no price, where a series is planned anew for more steps."""
    study = begun(EDGES | {"mechanism": mechanism}, made=made, bound=HUBS)
    (longer,) = study.extended(Further("2007")).series
    assert bool(longer.price) == bool(made)
    (told,) = entered(study, Further("2007")).series
    counted, bound = study.promise.series[0].counted(), study.promise.degree_bound
    prices = losses_beyond(longer.after, counted, bound)
    assert {each.further: each.epsilon for each in told.beyond} == prices
    assert prices != losses_beyond(longer.before, counted, bound)


@pytest.mark.parametrize("made", [0, 4])
def test_who_breaks_the_promise_is_told_nothing_where_nothing_changes(made: int) -> None:
    (told,) = entered(begun(EDGES, made=made, bound=HUBS), Further("2007")).series
    assert told.beyond == ()
