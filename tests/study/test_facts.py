"""Public facts: read back as written; what is newer is left aside, what is wrong refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.errors import IntegrityError
from graphveil.study.chain import canonical
from graphveil.study.facts import (
    Announcement,
    AnswerFact,
    ChangeFact,
    Event,
    ExtendedSeries,
    Fact,
    LossFact,
    NoiseFact,
    RatioPromised,
    ReleaseMade,
    RenewedSeries,
    SensitivityFact,
    SeriesOpened,
    StepSealed,
    StudyAdopted,
    StudyExtended,
    StudyOpened,
)
from graphveil.study.promise_entries import RatioPromise, SeriesPromise

PLACE = "a ledger, row 7 (an event)"
texts = st.text(max_size=12)
whole = st.integers(-(2**70), 2**70)
floats = st.floats(allow_nan=False, allow_infinity=False)
shares = st.fractions(min_value=Fraction(1, 10**9), max_value=50)
plain: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
promises = st.builds(
    SeriesPromise,
    name=st.sampled_from(["links", "high-1"]),
    statistic=st.just("high-degree"),
    parameters=st.dictionaries(texts, st.integers() | texts, max_size=2),
    epsilon=shares,
    delta=st.none() | st.just("1e-6"),
    mechanism=st.sampled_from(["auto", "tree"]),
    horizon=st.none() | st.integers(1, 99),
    projection=st.none() | st.integers(1, 9) | st.tuples(st.integers(1, 9), st.integers(1, 9)),
    opened=st.none() | texts,
    justification=st.none() | st.just("because it was asked for"),
)
noises = st.builds(NoiseFact, law=texts, steps=whole, scale=texts | st.none(), variance=st.none())
plans = st.dictionaries(texts, plain, min_size=1, max_size=4)
FACTS: dict[type[Fact], st.SearchStrategy[Any]] = {
    StudyOpened: st.builds(
        StudyOpened, software=texts, noise=texts, study=st.dictionaries(texts, plain, max_size=4)
    ),
    RatioPromised: st.builds(
        RatioPromised,
        software=texts,
        noise=texts,
        step=whole,
        label=st.none() | texts,
        ratio=st.just(RatioPromise(name="links per person", formula="2*links/people")),
    ),
    StepSealed: st.builds(StepSealed, software=texts, noise=texts, step=whole, label=texts),
    RenewedSeries: st.builds(
        RenewedSeries,
        series=texts,
        noise=st.lists(noises, max_size=2).map(tuple),
        predicted_std=st.lists(floats, max_size=3).map(tuple),
        again=shares,
        plan=plans,
    ),
    ExtendedSeries: st.builds(
        ExtendedSeries,
        series=texts,
        price=shares,
        horizon=whole,
        noise=st.lists(noises, max_size=2).map(tuple),
        predicted_std=st.lists(floats, max_size=3).map(tuple),
        plan=plans,
    ),
    StudyExtended: st.builds(
        StudyExtended,
        software=texts,
        noise=texts,
        step=whole,
        label=st.none() | texts,
        end=texts,
        last=texts,
        calendar=st.dictionaries(texts, plain, max_size=4),
        series=st.just(()),
    ),
    StudyAdopted: st.builds(
        StudyAdopted,
        software=texts,
        noise=texts,
        step=whole,
        label=st.none() | texts,
        reason=texts,
        series=st.just(()),
    ),
    SensitivityFact: st.builds(
        SensitivityFact, l1=whole, exact=st.booleans(), assumption=texts, proof=texts
    ),
    NoiseFact: noises,
    SeriesOpened: st.builds(
        SeriesOpened,
        series=texts,
        promise=promises,
        statistic=texts,
        parameters=st.dictionaries(texts, st.integers() | texts, max_size=2),
        summary=texts,
        epsilon=shares,
        delta=st.none() | shares,
        mechanism=texts,
        mechanism_summary=texts,
        projection=st.none() | st.integers(1, 9) | st.lists(st.integers(1, 9)).map(tuple),
        horizon=st.none() | whole,
        first_step=whole,
        first_label=texts,
        width=whole,
        sensitivity=st.builds(
            SensitivityFact, l1=whole, exact=st.booleans(), assumption=texts, proof=texts
        ),
        noise=st.lists(noises, max_size=3).map(tuple),
        predicted_std=st.lists(floats, max_size=3).map(tuple),
        monotone=st.booleans(),
        beyond=st.lists(st.builds(LossFact, further=whole, epsilon=shares), max_size=2).map(tuple),
    ),
    ReleaseMade: st.builds(
        ReleaseMade,
        series=texts,
        step=whole,
        label=texts,
        raw=st.lists(whole, max_size=3).map(tuple),
        processed=st.lists(floats, max_size=3).map(tuple),
        processing=texts,
        noise_std=floats,
        level=texts,
        low=st.lists(whole, max_size=3).map(tuple),
        high=st.lists(whole, max_size=3).map(tuple),
        changes=st.lists(
            st.builds(
                ChangeFact,
                over=st.integers(1, 99),
                against=st.booleans(),
                std=floats,
                width=whole,
            ),
            max_size=2,
        ).map(tuple),
    ),
}
EVERY_KIND = pytest.mark.parametrize("kind", FACTS, ids=lambda kind: kind.__name__)
OPTIONAL: dict[type[Fact], set[str]] = {
    NoiseFact: {"scale", "variance"},
    RenewedSeries: {"price", "beyond", "plan"},
    ExtendedSeries: {"beyond", "plan"},
    SeriesOpened: {"beyond"},  # which older ones do not have
    ReleaseMade: {"changes"},
}


def announced(data: dict[str, Any]) -> Announcement:
    """The row that a reader finds in the file."""
    return Announcement(PLACE, "an event", json.loads(canonical(data)), "2026-11-01T00:00:00Z")


def in_text(row: Announcement) -> Announcement:
    """The same row as the private ledger hands it on: its fact is not taken apart before."""
    return row._replace(fact=canonical(row.fact))


def refused(kind: type[Fact], data: dict[str, Any]) -> str:
    """Why both ledgers refuse it, by the same place and part."""
    row = announced(data)
    with pytest.raises(IntegrityError) as caught:
        kind.read(row)
    with pytest.raises(IntegrityError) as caught_in_text:
        kind.read(in_text(row))
    said, said_of_text = str(caught.value), str(caught_in_text.value)
    assert said.partition("cannot be read")[:2] == said_of_text.partition("cannot be read")[:2]
    return str(caught.value)


def wrong_for(value: Any) -> Any:
    """Something that no reader may take for this."""
    return 3 if isinstance(value, dict) else {"not": ["such", "a", "thing"]}


@EVERY_KIND
@given(data=st.data())
@settings(max_examples=40)
def test_facts_are_read_back_as_they_were_written(kind: type[Fact], data: st.DataObject) -> None:
    fact = data.draw(FACTS[kind])
    again = kind.read(announced(fact.to_data()))
    assert again == fact == kind.read(in_text(announced(fact.to_data())))
    assert canonical(again.to_data()) == canonical(fact.to_data())


@EVERY_KIND
@given(data=st.data(), newer=plain)
@settings(max_examples=20)
def test_parts_that_a_newer_version_adds_are_left_aside(
    kind: type[Fact], data: st.DataObject, newer: Any
) -> None:
    fact = data.draw(FACTS[kind])
    again = kind.read(announced(fact.to_data() | {"a part of tomorrow": newer}))
    assert again == fact
    assert "a part of tomorrow" not in again.to_data()


@EVERY_KIND
@given(data=st.data())
@settings(max_examples=20)
def test_every_part_of_the_wrong_type_is_refused_with_its_row(
    kind: type[Fact], data: st.DataObject
) -> None:
    told = data.draw(FACTS[kind]).to_data()
    for key, value in told.items():
        message = refused(kind, told | {key: wrong_for(value)})
        assert message.startswith(PLACE)
        assert f"'{key}" in message


@EVERY_KIND
@given(data=st.data())
@settings(max_examples=20)
def test_every_part_that_is_missing_is_refused_with_its_row(
    kind: type[Fact], data: st.DataObject
) -> None:
    told = data.draw(FACTS[kind]).to_data()
    for key in told.keys() - OPTIONAL.get(kind, set()):
        message = refused(kind, {name: value for name, value in told.items() if name != key})
        assert message.startswith(PLACE)
        assert f"'{key}'" in message


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["raw"].append("x"),
        lambda told: told["raw"].append(1.5),
        lambda told: told["raw"].append(None),
        lambda told: told["low"].append([1]),
        lambda told: told["processed"].append("many"),
        lambda told: told.update(step=0.5),
        lambda told: told.update(series=3),
        lambda told: told.update(std=None),
    ],
)
def test_one_wrong_number_among_many_is_refused(
    change: Callable[[dict[str, Any]], object],
) -> None:
    told = ReleaseMade(
        series="links",
        step=1,
        label="2006",
        raw=(3, 4),
        processed=(3.0, 4.0),
        processing="none",
        noise_std=1.5,
        level="0.95",
        low=(1, 2),
        high=(5, 6),
    ).to_data()
    ReleaseMade.read(announced(told))
    change(told)
    assert refused(ReleaseMade, told).startswith(PLACE)


@given(FACTS[SeriesOpened])
def test_prices_are_exact_in_the_chain(fact: SeriesOpened) -> None:
    told = fact.to_data()
    assert isinstance(told["epsilon"], str)
    assert Fraction(told["epsilon"]) == fact.epsilon
    assert fact.price == (fact.epsilon, Fraction(fact.promise.delta or 0))


@given(FACTS[ReleaseMade])
def test_the_width_of_a_release_is_that_of_all_its_lists(fact: ReleaseMade) -> None:
    lengths = [len(fact.raw), len(fact.processed), len(fact.low), len(fact.high)]
    for width in (*lengths, 0, 10**6):
        assert fact.has_numbers(width) == all(length == width for length in lengths)


def test_every_public_event_has_one_kind_of_fact() -> None:
    private = {
        Event.RECORDS_ADDED,
        Event.RECORDS_WITHDRAWN,
        Event.REFUSAL,
        Event.STUDY_HANDED_OVER,
    }
    told = [kind.event for kind in FACTS if "event" in vars(kind)]
    assert sorted(told) == sorted(set(Event) - private)


def test_names_in_the_chain_stay_as_they_are() -> None:
    """Ledgers live for decades: what was called so once is called so for ever."""
    assert set(SeriesOpened.model_json_schema(mode="serialization")["properties"]) == {
        *("series", "promise", "statistic", "parameters", "summary", "epsilon", "delta"),
        *("mechanism", "mechanism_summary", "projection", "horizon", "first_step", "first_label"),
        *("numbers", "sensitivity", "noise", "predicted_std", "monotone", "beyond", "spans"),
        *("plan", "defined_by", "cumulative"),
    }
    assert set(ReleaseMade.model_json_schema(mode="serialization")["properties"]) == {
        *("series", "step", "label", "raw", "processed", "processing", "std", "level"),
        *("low", "high", "changes", "answers"),
    }
    assert set(AnswerFact.model_json_schema(mode="serialization")["properties"]) == {
        *("threshold", "scaled", "parts"),
    }
    assert set(StepSealed.model_json_schema(mode="serialization")["properties"]) == {
        *("step", "label", "software", "noise"),
    }


@pytest.mark.parametrize("part", ["raw", "low", "high"])
def test_a_number_that_no_chart_can_show_is_refused(part: str) -> None:
    numbers: dict[str, Any] = {"raw": [1], "low": [0], "high": [2], "processed": [1.0]}
    fact = {"series": "s", "step": 0, "label": "1", "processing": "p", "std": 1.0, "level": "0.95"}
    for huge in (10**400, -(10**400), "9" * 400):
        told = Announcement(PLACE, "release made", fact | numbers | {part: [huge]}, "now")
        with pytest.raises(IntegrityError, match=r"a ledger, row 7"):
            ReleaseMade.read(told)
    assert ReleaseMade.read(Announcement(PLACE, "release made", fact | numbers, "now"))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{} {}", '{"series": "a"', "\ud800"])
def test_a_fact_that_is_no_object_is_refused_by_its_place(text: str) -> None:
    row = Announcement(PLACE, "an event", text, "2026-11-01T00:00:00Z")
    with pytest.raises(IntegrityError, match=f"^{re.escape(PLACE)}: cannot be read"):
        StepSealed.read(row)
