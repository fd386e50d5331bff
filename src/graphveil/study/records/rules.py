"""The rules for the records of one batch: those of the study, and what its steward says."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from graphveil.errors import ParameterError
from graphveil.graph.intake.rules import RecordRules, Undated


def rules_of(rules: RecordRules, undated: Undated | Literal["drop"] | None) -> RecordRules:
    """The rules of a study for one batch: nobody joins the first open step unless it says so."""
    if undated == "first" and rules.undated != "first":
        raise ParameterError(
            "undated", "cannot be 'first': the study says that people without a date are refused",
            hint="Say 'drop' to leave them out; `graphveil new --undated first` is a new study.",
        )  # fmt: skip
    chosen: Undated = "refuse" if undated == "refuse" else "first"
    return rules if undated is None else replace(rules, undated=chosen)
