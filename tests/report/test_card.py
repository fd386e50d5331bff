"""The card answers everything that a published release must state."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from commands import ROOT
from graphveil.report.card import as_json, card
from graphveil.report.page import CHECK
from graphveil.study.public_part import PublicPart
from public_parts import opened, promise, published

SCHEMA: dict[str, Any] = json.loads(
    files("graphveil.report").joinpath("card.schema.json").read_text()
)
DOCUMENT = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")


def part_of(steps: int = 3, **changes: Any) -> PublicPart:
    study = promise(**changes)
    return PublicPart.of(published(study, steps).rows)


@pytest.mark.parametrize(
    "quantity", ["degree bound", "calendar", "statistics", "τ", "times of publication"]
)
def test_what_is_not_protected_is_named(quantity: str) -> None:
    entries = card(part_of())["not_protected"]
    assert any(quantity in each["quantity"] and each["value"] for each in entries)


DIRECTED: dict[str, Any] = {
    "directed": True,
    "bound": {"inward": 4, "outward": 6, "justification": "a form has so many lines"},
    "budget": {"epsilon": "3", "delta": "1e-6", "justification": "agreed"},
    "series": [
        {"name": "sent", "statistic": "edges", "epsilon": "1", "delta": "1e-6"},
        {
            "name": "cut",
            "statistic": "edges",
            "epsilon": "1/3",
            "mechanism": "compose-projection",
            "projection": (3, 5),
            "horizon": 9,
        },
    ],
}


@pytest.mark.parametrize("changes", [{}, DIRECTED])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_the_card_keeps_its_schema(changes: dict[str, Any], steps: int) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.check_schema(SCHEMA)
    validator.validate(json.loads(as_json(part_of(steps, **changes))))


def test_the_schema_refuses_what_is_left_out() -> None:
    found = card(part_of())
    del found["choices"]["epsilon"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(found)


def test_choices_carry_the_publishers_words() -> None:
    choices = card(part_of())["choices"]
    assert "patients' council" in choices["epsilon"]
    assert "Contact tracing" in choices["degree_bound"]["justification"]
    reasons = {each["series"]: each["justification"] for each in choices["series"]}
    assert "outreach programme" in reasons["well-linked"]
    assert "gives no reason" in reasons["people"]


def test_the_budget_is_exact() -> None:
    found = card(part_of(**DIRECTED))["budget"]
    assert found["total"] == {"epsilon": "3", "delta": "0.000001"}
    assert found["spent"] == {"epsilon": "4/3", "delta": "0.000001"}
    assert found["left"] == {"epsilon": "5/3", "delta": "0"}


def test_pure_and_approximate_guarantees_are_told_apart() -> None:
    assert card(part_of())["guarantee"]["variant"].startswith("pure ε-")
    told = card(part_of(**DIRECTED))["guarantee"]
    assert told["variant"].startswith("(ε, δ)-")
    assert "δ = 0.000001" in told["meaning"]


def test_a_projected_series_needs_no_promise() -> None:
    assert (
        "Only the series cut do not need this"
        in card(part_of(**DIRECTED))["unit_of_privacy"]["assumption"]
    )
    assert "do not need this" not in card(part_of())["unit_of_privacy"]["assumption"]


def test_a_card_is_there_before_the_first_release() -> None:
    study = promise()
    found = card(PublicPart.of(opened(study).rows))
    assert found["deployment"]["last_step"] is None
    assert found["post_processing"]["done"] == []


def _unexplained(schema: dict[str, Any]) -> set[str]:
    named = schema.get("properties", {})
    below = [*named.values(), *([schema["items"]] if "items" in schema else [])]
    missing = {key for key, each in named.items() if not each.get("description")}
    return missing.union(*(_unexplained(each) for each in below))


def test_the_schema_explains_every_key_and_the_document_every_part() -> None:
    assert _unexplained(SCHEMA) == set()
    assert _unexplained({"properties": {"a": {"items": {"properties": {"b": {}}}}}}) == {"a", "b"}
    explained = set(re.findall(r"`([a-z_0-9]+)`", DOCUMENT))
    assert set(SCHEMA["properties"]) <= explained, set(SCHEMA["properties"]) - explained
    assert "(../src/graphveil/report/card.schema.json)" in DOCUMENT


def test_the_document_shows_the_program_of_the_page() -> None:
    assert CHECK in DOCUMENT
