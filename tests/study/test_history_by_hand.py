"""The public history by hand: studies that go on, share a pool, or compare what they said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from graphveil.errors import IntegrityError
from graphveil.study.facts import Announcement, Event, LossFact, NoiseFact
from graphveil.study.history import History
from graphveil.study.promise import Promise
from public_parts import SOFTWARE, promise, published

CALENDAR = {"every": 1, "unit": "year", "first": "2005", "last": "2008"}
LONGER = CALENDAR | {"last": "2010"}
FRESH = {"law": "discrete Laplace", "steps": 4, "scale": "7"}
LOSS = LossFact(further=1, epsilon=Fraction(3))
LATER = {"software": "graphveil 9", "noise": "OpenDP 9"}
POOL = {"epsilon": "1", "delta": "1e-6"}

Told = tuple[str, dict[str, Any]]


def made_up(calendar: dict[str, Any] = CALENDAR, **changed: Any) -> Promise:
    """Two series that cost 3/4 each, of ε = 2: 1/2 is left."""
    series = [
        {"name": name, "statistic": "nodes", "epsilon": "3/4", "horizon": 4} for name in ("a", "b")
    ]
    return promise(**{"calendar": calendar, "series": series} | changed)


def pooled() -> Promise:
    """One series with a price of its own, and two that share a pool."""
    budget = {"epsilon": "2", "delta": "1e-6", "justification": "an example", "pool": POOL}
    own = {"name": "own", "statistic": "nodes", "epsilon": "1/4", "horizon": 4}
    shared = [
        {"name": name, "statistic": "edges", "pool": "1/2", "horizon": 4} for name in ("p", "q")
    ]
    return made_up(budget=budget, series=[own, *shared])


def rows(study: Promise, steps: int = 2, **options: Any) -> list[Told]:
    chain = published(study, steps, **options)
    found: list[Told] = json.loads(json.dumps([(row.event, row.fact) for row in chain.rows]))
    return found


def history(told: Sequence[Told]) -> History:
    return History.of(
        [Announcement(f"row {n}", event, fact, f"at {n}") for n, (event, fact) in enumerate(told)],
        "the rows",
    )


def refused(told: Sequence[Told], problem: str) -> bool:
    """Whether the last row is refused for this reason; whatever is before it must be read."""
    with pytest.raises(IntegrityError, match=f"^row {len(told) - 1}: .*{problem}"):
        history(told)
    return True


def more(name: str = "a", price: str = "1/4", **changed: Any) -> dict[str, Any]:
    """What an extension says of a series."""
    told = {"series": name, "price": price, "horizon": 6, "noise": [FRESH]}
    return told | {"predicted_std": [9.0] * 4} | changed


def extended(*series: dict[str, Any], step: int = 2, calendar: Any = LONGER) -> Told:
    ends = {"label": "2006", "end": "2008", "last": "2010"}
    fact = {"step": step, "calendar": calendar, "series": list(series), **ends, **LATER}
    return Event.STUDY_EXTENDED.value, fact


def adopted(*series: dict[str, Any], step: int = 2) -> Told:
    fact = {"step": step, "label": "2006", "reason": "moved", "series": list(series), **LATER}
    return Event.STUDY_ADOPTED.value, fact


def renewed(name: str, price: str = "0", **changed: Any) -> dict[str, Any]:
    """What an adoption says of a series."""
    told = {"series": name, "price": price, "again": "1", "noise": [FRESH]}
    return told | {"predicted_std": [9.0] * 2} | changed


def test_an_extension_says_what_a_series_is_like_from_then_on() -> None:
    before = rows(made_up())
    last = extended(more(beyond=[LOSS.model_dump(mode="json")]))
    found = history([*before, last])
    changed, other = found.series
    assert (changed.epsilon, changed.horizon) == (Fraction(1), 6)
    assert changed.beyond == (LOSS,)
    assert (changed.promise.epsilon, changed.promise.horizon) == ("1", 6)
    opened = NoiseFact.model_validate(before[1][1]["noise"][0] | {"steps": 2})
    assert changed.noise == (opened, NoiseFact.model_validate(FRESH))
    std = [fact["std"] for event, fact in before if fact.get("series") == "a" and "std" in fact]
    assert changed.predicted_std == (*std, 9.0, 9.0, 9.0, 9.0)
    assert other == history(before).series[1]
    assert found.spent == (Fraction(7, 4), Fraction())
    first, second = found.versions
    assert (first.calendar.last_step, second.calendar.last_step) == (3, 5)
    assert [(each.epsilon, each.horizon) for each in second.series] == [("1", 6), ("0.75", 4)]
    ((at, fact),) = found.extensions
    assert (at, fact.last) == (f"at {len(before)}", "2010")
    assert found.software == (
        f"{SOFTWARE['software']}, noise by {SOFTWARE['noise']}",
        "graphveil 9, noise by OpenDP 9",
    )
    grown = history([*before, last, extended(more(price="0"), calendar=LONGER)])
    assert grown.series[0].beyond == (LOSS,)  # nothing said: as it was
    assert len(grown.extensions) == 2


def test_an_extension_stands_where_it_can() -> None:
    before = rows(made_up())
    for step in (1, 3):
        assert refused([*before, extended(more(), step=step)], "out of order")
    assert refused([*before[:-1], extended(more(), step=2)], "out of order")
    for named in (["a", "a"], ["c"], ["a", "c"]):
        other = extended(*(more(name, "0") for name in named))
        assert refused([*before, other], "not open, or one twice")
    both = history([*before, extended(more("b", "0"), more("a", "0"))])
    assert [each.horizon for each in both.series] == [6, 6]


@pytest.mark.parametrize("price", ["-1/100", "1/2", "51/100"])
def test_an_extension_is_paid_from_what_is_left(price: str) -> None:
    told = [*rows(made_up()), extended(more(price=price))]
    if price == "1/2":
        assert history(told).spent == (Fraction(2), Fraction())
    else:
        assert refused(told, "negative" if price[0] == "-" else "more than the study's budget")


@pytest.mark.parametrize(
    ("before", "after", "held"),
    [
        (CALENDAR, CALENDAR, True),
        (CALENDAR, CALENDAR | {"last": "2007"}, False),
        (CALENDAR, LONGER | {"first": "2004"}, False),
        (CALENDAR, LONGER | {"every": 2}, False),
        ({"every": 1, "unit": "year", "first": "2005"}, None, True),
        (CALENDAR | {"last": "2006"}, {"every": 1, "unit": "year", "first": "2005"}, False),
    ],
)
def test_an_extension_keeps_all_steps(before: Any, after: Any, held: bool) -> None:
    told = [*rows(made_up(before)), extended(more(), calendar=after or before)]
    if held:
        stated = Promise.from_data(made_up(after or before).to_data()).calendar
        assert history(told).versions[-1].calendar == stated
    else:
        assert refused(told, "changes steps of the calendar, or takes some")


def test_an_extension_without_a_calendar_is_refused() -> None:
    with pytest.raises(IntegrityError, match="calendar"):
        history([*rows(made_up()), extended(more(), calendar={"first": "2005"})])


def test_an_adoption_that_costs_something_makes_a_version_of_the_promise() -> None:
    before = rows(made_up())
    free = history([*before, adopted(renewed("a"), renewed("b"))])
    assert free.versions == history(before).versions
    paid = history([*before, adopted(renewed("a"), renewed("b", "1/4"))])
    assert len(paid.versions) == 2
    assert [(each.epsilon, each.horizon) for each in paid.versions[-1].series] == [
        ("0.75", 4),
        ("1", 4),
    ]
    assert [(each.epsilon, each.horizon) for each in paid.series] == [
        (Fraction(3, 4), 4),
        (Fraction(1), 4),
    ]
    assert paid.spent == (Fraction(7, 4), Fraction())
    assert refused([*before, adopted(renewed("a"), renewed("b", "3/5"))], "study's budget")


def test_each_time_a_study_goes_on_it_does_so_from_the_last_time() -> None:
    before = rows(made_up())
    longer = [*before, extended(more(price="1/8"))]
    again = [*longer, adopted(renewed("a"), renewed("b", "1/8"))]
    assert [[each.epsilon for each in version.series] for version in history(again).versions] == [
        ["0.75", "0.75"],
        ["0.875", "0.75"],
        ["0.875", "0.875"],
    ]
    further = history([*again, extended(more("b", "0"), calendar=LONGER)]).versions[-1]
    assert [(each.epsilon, each.horizon) for each in further.series] == [("0.875", 6)] * 2
    shorter = extended(more(price="0"), calendar=CALENDAR | {"last": "2009"})
    assert refused([*longer, shorter], "changes steps of the calendar, or takes some")


def test_the_plan_of_whoever_goes_on_has_the_new_price() -> None:
    before = rows(made_up())
    plans = {
        stated: {"request": {"epsilon": stated, "delta": None, "pool_share": None}}
        for stated in ("3/4", "1")
    }
    assert history([*before, extended(more(plan=plans["1"]))]).series[0].plan == plans["1"]
    assert refused([*before, extended(more(plan=plans["3/4"]))], "another price than its plan")
    other = plans["1"]["request"] | {"delta": "1/10"}
    assert refused([*before, extended(more(plan={"request": other}))], "another price")
    untold = history([*before, extended(more(plan={"request": "unknown"}))])
    assert untold.series[0].plan == {"request": "unknown"}


def test_a_pool_is_paid_once_and_shared_once() -> None:
    before = rows(pooled())
    assert history(before).spent == (Fraction(5, 4), Fraction(1, 10**6))
    plan = {fact["series"]: fact["plan"] for event, fact in before if "plan" in fact}
    renewing = [renewed("own"), *(renewed(name, plan=plan[name]) for name in ("p", "q"))]
    assert history([*before, adopted(*renewing)]).spent == history(before).spent
    for wrong, problem in (
        (renewed("q", "1/100", plan=plan["q"]), "its pool is paid"),
        (renewed("q"), "plan of a series in the pool is not told"),
    ):
        assert refused([*before, adopted(*renewing[:2], wrong)], problem)
    changed = json.loads(json.dumps(before))
    changed[3][1]["promise"]["pool"] = "51/100"
    changed[3][1]["plan"]["request"]["pool_share"] = "51/100"
    assert refused(changed[:4], "share more than all of the pool")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"epsilon": "1/2"}, "a pool that is not the study's"),
        ({"delta": "1/10"}, "a pool that is not the study's"),
        ({"plan": None}, "is not told"),
        ({"plan": {"request": {}}}, "another price than its plan"),
    ],
)
def test_who_shares_a_pool_has_its_price(change: dict[str, Any], problem: str) -> None:
    before = rows(pooled(), 0)
    event, fact = before[-1]
    assert refused([*before[:-1], (event, fact | change)], problem)


def test_nobody_shares_a_pool_that_the_study_does_not_have() -> None:
    before = rows(made_up(), 0)
    event, fact = before[-1]
    shared = {key: told for key, told in fact["promise"].items() if key != "epsilon"}
    stated = {"epsilon": fact["epsilon"], "delta": None, "pool_share": "1/2"}
    other = fact | {"promise": shared | {"pool": "1/2"}, "plan": {"request": stated}}
    assert refused([*before[:-1], (event, other)], "a pool that is not the study's")


@pytest.mark.parametrize(
    ("over", "against", "held"),
    [(1, False, True), (1, True, True), (2, False, True), (2, True, False), (3, False, False)],
)
def test_a_release_compares_what_was_said(over: int, against: bool, held: bool) -> None:
    before = rows(promise(series=[{"name": "a", "statistic": "nodes", "epsilon": "1"}]), 3)
    event, fact = before[-1]
    near = {"over": 1, "against": False, "std": 1.0, "width": 2}
    changes = [near, near | {"over": over, "against": against}]
    told = [*before[:-1], (event, fact | {"changes": changes})]
    if held:
        assert len(history(told).series[0].releases[-1].changes) == 2
    else:
        assert refused(told, "compares what was never said")
