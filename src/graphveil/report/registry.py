"""An entry for OpenDP's registry of deployments of differential privacy, filled from a study.

`FIELDS` says where each field of an entry comes from. The fields are those of the entries that
were public in 2026 (`SCHEMA`); a registry that has moved on may want other names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graphveil.errors import ParameterError
from graphveil.report.card import card
from graphveil.report.public_tables import slug

if TYPE_CHECKING:
    from graphveil.study.public.public_part import PublicPart

SCHEMA: Final = "entries of the public registry, as stored in 2026"


@dataclass(frozen=True)
class FiledBy:
    """What a study cannot know of itself.

    Attributes:
        region: of the data, such as a country.
        sector: such as Public health.
        authors: of the entry, who need not be those of the study.
        curator: what kind of institution publishes it.
    """

    region: str
    sector: str
    authors: tuple[str, ...]
    curator: str = "Government"

    def __post_init__(self) -> None:
        for name in ("region", "sector"):
            if not getattr(self, name).strip():
                raise ParameterError(name, "must be stated: a study does not know it")
        if not self.authors:
            raise ParameterError("author", "name at least one author of the entry")


Card = Mapping[str, Any]
Source = tuple[str, Callable[[Card, FiledBy], Any]]


def _card(*keys: str) -> Source:
    """A field that is an entry of the card."""

    def value(card: Card, _: FiledBy) -> Any:
        found: Any = card
        for key in keys:
            found = found[key]
        return found

    return ".".join(keys), value


def _stated(name: str) -> Source:
    return f"you: {name}", lambda _, filed: getattr(filed, name)


def _fixed(value: Any) -> Source:
    return "always the same", lambda _card, _filed: value


def _lines(key: str, text: Callable[[Any], str]) -> Source:
    """A list, one line for each entry of a list of the card."""
    return f"{key}.*", lambda card, _: "\n".join(f"- {text(each)}" for each in card[key])


def _curators(card: Card, filed: FiledBy) -> list[dict[str, str]]:
    name = card["deployment"]["publisher"]
    return [{"data_curator_name": name, "data_curator_type": filed.curator}]


def _parameters(card: Card, _: FiledBy) -> dict[str, float]:
    stated = {key: float(_number(card["guarantee"][key])) for key in ("epsilon", "delta")}
    return {key: value for key, value in stated.items() if value}


def _number(text: str) -> float:
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


def _variant(card: Card, _: FiledBy) -> str:
    return "Approximate DP" if _number(card["guarantee"]["delta"]) else "Pure DP"


def _evidence(card: Card, _: FiledBy) -> dict[str, Any]:
    title = f"{card['deployment']['title']}: report.html, ledger head {card['ledger']['head']}"
    return {"report": {"evidence_source_type": "First-party source", "citation": {"title": title}}}


FIELDS: Mapping[str, Source] = {
    "basic.name": _card("deployment", "title"),
    "basic.data_curators": ("deployment.publisher; you: curator", _curators),
    "basic.description": _card("deployment", "population"),
    "basic.intended_use": _card("deployment", "intended_use"),
    "basic.data_product_type": _fixed("Summary statistics"),
    "basic.data_product_region": _stated("region"),
    "basic.data_product_sector": _stated("sector"),
    "basic.publication_date": (
        "deployment.opened_at",
        lambda card, _: str(card["deployment"]["opened_at"])[:10],
    ),
    "dp_variant.variant_name": ("guarantee.delta", _variant),
    "dp_variant.data_domain": _card("unit_of_privacy", "neighbours_formally"),
    "dp_variant.unprotected_quantities": _lines(
        "not_protected", lambda each: f"{each['quantity']}: {each['value']}"
    ),
    "privacy_loss.privacy_unit": _card("unit_of_privacy", "unit"),
    "privacy_loss.privacy_unit_details": _card("unit_of_privacy", "neighbours"),
    "privacy_loss.privacy_parameters": ("guarantee.epsilon, guarantee.delta", _parameters),
    "privacy_loss.privacy_parameters_details": _card("guarantee", "meaning"),
    "deployment_model.model_name": _fixed("Central"),
    "deployment_model.release_type": _fixed("Many releases"),
    "deployment_model.data_source_type": _fixed("Dynamic"),
    "deployment_model.access_type": _fixed("Non-interactive"),
    "implementation.preprocessing_and_hyperparameter_tuning": _card(
        "implementation", "before_counting"
    ),
    "implementation.mechanisms": _lines(
        "series", lambda each: f"{each['series']}: {each['mechanism_summary']}"
    ),
    "implementation.justification": _card("choices", "epsilon"),
    "administrative.evidence_sources": ("ledger.head", _evidence),
    "administrative.status": _fixed("Draft"),
    "administrative.registry_authors": (
        "you: author",
        lambda _, filed: list(filed.authors),
    ),
    "administrative.tier": _fixed(3),
}


def entry(part: PublicPart, filed: FiledBy) -> dict[str, Any]:
    """The entry as plain data."""
    stated = card(part)
    sections: dict[str, Any] = {}
    for path, (_, value) in FIELDS.items():
        section, _, name = path.partition(".")
        sections.setdefault(section, {})[name] = value(stated, filed)
    return {"url_slug": slug(part.promise.title), "deployment": sections}


def as_yaml(data: Mapping[str, Any]) -> bytes:
    """Plain data as YAML, in which every text is quoted as JSON quotes it."""
    return ("\n".join(_yaml(data)) + "\n").encode()


def _yaml(data: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    blank = "  " * depth
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            yield f"{blank}{key}:"
            yield from _yaml(value, depth + 1)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{blank}{key}:"
            yield from (f"{blank}  - {json.dumps(each, ensure_ascii=False)}" for each in value)
        else:
            yield f"{blank}{key}: {json.dumps(value, ensure_ascii=False)}"
