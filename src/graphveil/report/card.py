"""The privacy card: what a published release must state, for programs."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.noise.exact_numbers import as_text
from graphveil.report import statement, wording
from graphveil.report.releases import counted
from graphveil.report.wording import counted_things

if TYPE_CHECKING:
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart

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
