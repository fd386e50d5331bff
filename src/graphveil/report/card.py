"""The privacy card: what a published release must state, for programs and for a registry.

An entry for a registry of deployments of differential privacy is filled from the card. `FIELDS`
says where each field comes from; they are those of the entries that were public in 2026 (`SCHEMA`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from graphveil.errors import ParameterError
from graphveil.noise.exact_numbers import as_text
from graphveil.report import statement, wording
from graphveil.report.public_tables import slug
from graphveil.report.releases import counted
from graphveil.report.wording import counted_things

if TYPE_CHECKING:
    from graphveil.study.history import PublishedSeries
    from graphveil.study.public_part import PublicPart

FORMAT = 1
NO_REASON = (
    "the publisher gives no reason; fixed when the series was opened, before its first release"
)
NO_PROMISE = "none is needed: every series holds for every network"


def card(part: PublicPart) -> dict[str, Any]:
    """The card as plain data; `card.schema.json` beside this file describes it."""
    return {
        "card_format": FORMAT,
        "deployment": _deployment(part),
        "unit_of_privacy": _unit(part),
        "guarantee": _guarantee(part),
        "setting": dict(statement.SETTING),
        "not_protected": [
            {"quantity": what, "value": value} for what, value in statement.not_protected(part)
        ],
        "choices": _choices(part),
        "composition": statement.composition(part),
        "budget": _budget(part),
        "series": [_series(each) for each in part.series],
        "implementation": {"software": list(part.software), **statement.IMPLEMENTATION},
        "post_processing": _processing(part),
        "trust": [{"who": who, "with": what} for who, what in statement.trust(part)],
        "ledger": _ledger(part),
        **{key: turn for key, turn in _turns(part).items() if turn},
        **({"ratios": _ratios(part)} if part.promise.ratios else {}),
    }


def _ratios(part: PublicPart) -> list[dict[str, str]]:
    """What is divided by what; the values are in ratios.csv."""
    return [
        {"ratio": each.name, "formula": each.formula}
        | ({"opened": each.opened} if each.opened else {})
        for each in part.promise.ratios
    ]


def _turns(part: PublicPart) -> dict[str, list[str]]:
    """What happened to the study itself, in sentences; most studies have none."""
    return {
        "adoptions": list(statement.adoptions(part)),
        "extensions": list(statement.extensions(part)),
    }


def as_json(part: PublicPart) -> bytes:
    """The card as a file."""
    return (json.dumps(card(part), indent=2, ensure_ascii=False) + "\n").encode()


def _deployment(part: PublicPart) -> dict[str, Any]:
    return {
        "title": part.promise.title,
        "population": part.promise.population,
        "publisher": part.promise.publisher,
        **statement.PRODUCT,
        "directed": part.promise.directed,
        "calendar": part.promise.calendar.describe(),
        "steps_published": len(part.steps),
        "first_step": part.steps[0].label if part.steps else None,
        "last_step": part.steps[-1].label if part.steps else None,
        "opened_at": part.opened_at,
        "published_until": part.head.at,
    }


def _unit(part: PublicPart) -> dict[str, Any]:
    return {
        "unit": part.promise.unit,
        "neighbours": statement.NEIGHBOURS,
        "neighbours_formally": statement.neighbours_formally(part),
        "assumption": statement.assumption(part),
        **({"beyond_the_promise": beyond} if (beyond := _exposures(part)) else {}),
    }


def _exposures(part: PublicPart) -> list[dict[str, Any]]:
    """What a person loses who is linked to more hubs than promised."""
    return [
        {
            "further_hubs": each.further,
            "epsilon": as_text(each.epsilon),
            "times": wording.rounded_up(each.times),
        }
        for each in wording.exposures(part)
    ]


def _guarantee(part: PublicPart) -> dict[str, Any]:
    epsilon, delta = part.total
    return {
        "variant": statement.variant(part),
        "epsilon": as_text(epsilon),
        "delta": as_text(delta),
        "meaning": statement.meaning(part),
        "certainty": [
            {
                "before": each.before,
                "at_least": _rounded(each.at_least),
                "at_most": _rounded(each.at_most),
            }
            for each in wording.certainties(epsilon)
        ],
        "limits": list(statement.limits()),
    }


def _rounded(probability: float) -> float:
    return float(f"{probability:.6g}")  # the last bits of exp differ between machines


def _choices(part: PublicPart) -> dict[str, Any]:
    promise = part.promise
    return {
        "epsilon": promise.budget.justification,
        "degree_bound": {
            "value": str(promise.degree_bound),
            "justification": promise.bound.justification if promise.bound else NO_PROMISE,
        },
        "series": [
            {
                "series": each.series,
                "statistic": counted(each),
                "parameters": dict(each.parameters),
                "justification": each.promise.justification or NO_REASON,
            }
            for each in part.series
        ],
    }


def _budget(part: PublicPart) -> dict[str, Any]:
    names = ("epsilon", "delta")
    return {
        key: {name: as_text(value) for name, value in zip(names, values, strict=True)}
        for key, values in (("total", part.total), ("spent", part.spent), ("left", part.left))
    } | _pool(part)


def _pool(part: PublicPart) -> dict[str, Any]:
    """What several series share, if they do."""
    pool = part.promise.budget.pool
    if pool is None:
        return {}
    left = as_text(part.promise.pool_left())
    return {"pool": {"epsilon": pool.epsilon, "delta": pool.delta, "left": left}}


def _series(series: PublishedSeries) -> dict[str, Any]:
    sensitivity = series.sensitivity
    return {
        "series": series.series,
        "statistic": counted(series),
        "counts": counted_things(series),
        "definition": series.summary,
        "epsilon": as_text(series.epsilon),
        "delta": as_text(series.delta or Fraction()),
        **({"pool_share": as_text(share)} if (share := series.pool_share) else {}),
        "mechanism": series.mechanism,
        "mechanism_summary": series.mechanism_summary,
        **({"minimised": aim} if (aim := statement.aim(series)) else {}),
        "projection": series.projection,
        "horizon": series.horizon,
        "first_step": series.first_label,
        "releases_made": len(series.releases),
        "numbers_per_release": series.width,
        **({"divided_by": divided} if (divided := _divided(series)) else {}),
        "sensitivity": {
            "l1": sensitivity.l1,
            "exact": sensitivity.exact,
            "assumption": sensitivity.assumption,
            "proof": sensitivity.proof,
        },
        **({"defined_by": series.defined_by} if series.defined_by else {}),
        **({"beyond_the_promise": beyond} if (beyond := _series_exposures(series)) else {}),
        "noise": [
            {"law": each.law, "parameter": each.size[0], "value": each.size[1], "steps": each.steps}
            for each in series.noise
        ],
        "noise_std_per_release": list(series.predicted_std),
        **_expectation(series),
    }


def _expectation(series: PublishedSeries) -> dict[str, Any]:
    """What the publisher expected, and what the announced noise leaves of it."""
    judgement = series.judgement
    if judgement is None:
        return {}
    size = series.promise.expected
    largest = {} if judgement.expected == size else {"largest": judgement.expected}
    return {"expected": {"size": size, **largest, "usefulness": str(judgement.word)}}


def _divided(series: PublishedSeries) -> dict[str, Any]:
    """By which groups, into what cells, and what that means for the guarantee; or nothing."""
    divided = series.breakdown
    if divided is None:
        return {}
    return {
        "groups": {each.name: list(each.cells) for each in divided.axes},
        "cells": divided.cells,
        "guarantee": statement.DIVIDED,
    }


def _series_exposures(series: PublishedSeries) -> list[dict[str, Any]]:
    return [
        {"further_hubs": each.further, "epsilon": as_text(each.epsilon)} for each in series.beyond
    ]


def _processing(part: PublicPart) -> dict[str, Any]:
    return {
        "statement": statement.POST_PROCESSING,
        "done": [
            {"series": each.series, "processing": each.releases[-1].processing}
            for each in part.series
            if each.releases
        ],
        "raw_values": "published beside the processed ones, in releases.csv and in the ledger",
        **({"revisions": statement.REVISIONS} if statement.has_revisions(part) else {}),
        "confidence": part.promise.confidence,
    }


def _ledger(part: PublicPart) -> dict[str, Any]:
    return {
        "head": part.head.hash,
        "rows": part.head.rows,
        "at": part.head.at,
        "hash": "SHA-256 over the canonical JSON of each row, chained",
        "file": "ledger.jsonl",
    }


# The entry for a registry of deployments, filled from the card.


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
