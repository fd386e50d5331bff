"""The rules of a study for imperfect records: public, and fixed before any data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

Late: TypeAlias = Literal["refuse", "join"]
Undated: TypeAlias = Literal["refuse", "first"]


@dataclass(frozen=True)
class RecordRules:
    """How ids become people, and what happens to those without a time.

    Attributes:
        person_separator: what separates a person from a sequence in an id; "" if ids are
            people already.
        case: "keep" distinguishes Ann from ann; "fold" does not.
        undated: nodes without a time are refused, or put into the first open step.
    """

    # A study file has these rules as an entry, and must not take a misspelt one for none.
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    person_separator: str = ""
    case: Literal["keep", "fold"] = "keep"
    undated: Undated = "refuse"

    @property
    def merges_ids(self) -> bool:
        """Whether several ids can be one person."""
        return bool(self.person_separator) or self.case == "fold"
