"""Public parts made by hand, for tests: every number in them is invented."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphveil.statistics.change import sensitivity_under
from graphveil.study.chain import PublicRow, as_text
from graphveil.study.opening import series_plan
from graphveil.study.promise import Promise

DEGREE = 12
SOFTWARE = {"software": "graphveil 0.1.0", "noise": "OpenDP 0.13.0"}


def promise(**changes: Any) -> Promise:
    """A study of a made-up clinic."""
    data: dict[str, Any] = {
        "title": "Transmission network of the Rivermouth clinic",
        "population": "People diagnosed with HIV in Rivermouth county since 2005",
        "publisher": "Rivermouth Department of Public Health",
        "bound": {
            "degree": DEGREE,
            "justification": "Contact tracing asks for at most 12 contacts of each person.",
        },
        "calendar": {"every": 1, "unit": "year", "first": "2005"},
        "budget": {
            "epsilon": "2",
            "justification": "Agreed with the patients' council on 2026-03-02; it keeps an "
            "even guess below nine in ten.",
        },
        "series": SERIES,
    }
    return Promise.from_data(data | changes)


SERIES: list[dict[str, Any]] = [
    {"name": "people", "statistic": "nodes", "epsilon": "1/8", "horizon": 40},
    {"name": "links", "statistic": "edges", "epsilon": "3/8", "horizon": 40},
    {
        "name": "well-linked",
        "statistic": "high-degree",
        "parameters": {"tau": 3},
        "epsilon": "0.5",
        "horizon": 40,
        "justification": "Three links mark the people whom the outreach programme visits.",
    },
    {"name": "links-per-person", "statistic": "degree-ccdf", "epsilon": "0.5", "horizon": 40},
]
SIZES = {"people": 62.0, "links": 85.0, "well-linked": 21.0, "links-per-person": 62.0}
NOISE = {"people": 25.0, "links": 110.0, "well-linked": 60.0, "links-per-person": 130.0}


@dataclass
class Chain:
    """Rows that are added one by one."""

    rows: list[PublicRow] = field(default_factory=list)

    def add(self, event: str, fact: dict[str, Any]) -> None:
        """Append a row; times and seals are made up."""
        number = len(self.rows)
        last = self.rows[-1] if self.rows else None
        at = f"2026-11-{1 + number // 600:02}T{number // 60 % 10:02}:{number % 60:02}:00Z"
        self.rows.append(
            PublicRow.after(last, at=at, event=event, fact=fact, seal=f"{number:064x}")
        )


def opened(study: Promise, planned: bool = False) -> Chain:
    """The ledger of a study of which nothing is published."""
    made = Chain()
    made.add(
        "study opened",
        {"study": study.to_data(), **SOFTWARE},
    )
    for each in study.series:
        told = planned or each.pool is not None
        plan = {"plan": series_plan(study, each, 0).to_dict()} if told else {}
        made.add("series opened", series_fact(study, each.name) | plan)
    return made


def series_fact(study: Promise, name: str) -> dict[str, Any]:
    """How a series was opened."""
    each = next(series for series in study.series if series.name == name)
    counted = each.counted()
    found = sensitivity_under(counted, each.threshold() or study.degree_bound)
    noise = {"law": "discrete Laplace", "scale": "62/3"}
    epsilon, delta, _ = study.price_of(each)
    if delta is not None:
        noise = {"law": "discrete Gaussian", "variance": "841/2"}
    return {
        "series": name,
        "promise": each.model_dump(mode="json", exclude_none=True),
        "statistic": each.statistic,
        "parameters": each.parameters,
        "summary": counted.summary,
        "epsilon": str(epsilon),
        "delta": None if delta is None else str(delta),
        "mechanism": "optimised" if each.mechanism == "auto" else each.mechanism,
        "mechanism_summary": "the factorisation with the smallest mean error, found numerically",
        "projection": each.projection,
        "horizon": each.horizon,
        "first_step": 0,
        "first_label": study.calendar.label(0),
        "numbers": DEGREE + 1 if counted.vector else 1,
        "sensitivity": {
            "l1": found.l1,
            "exact": found.exact,
            "assumption": found.assumption,
            "proof": found.proof,
        },
        "noise": [noise | {"steps": each.horizon or 8}],
        "predicted_std": [NOISE.get(name, 20.0)] * 3,
        "monotone": counted.monotone,
        **_spans(study, each.parameters),
    }


def _spans(study: Promise, parameters: dict[str, int | str]) -> dict[str, Any]:
    window = parameters.get("window")
    return {"spans": {"window": study.calendar.last_steps(int(window))}} if window else {}


def published(study: Promise, steps: int, reach: int | None = None, planned: bool = False) -> Chain:
    """The ledger after some steps.

    Args:
        study: what is promised.
        steps: how many are published.
        reach: how far noise reaches in changes; None if that is not announced.
        planned: whether plans are told, as newer versions do.
    """
    made, chance = opened(study, planned), random.Random(7)
    for step in range(steps):
        label = study.calendar.label(step)
        made.add("step sealed", {"step": step, "label": label, **SOFTWARE})
        for row in made.rows[1 : 1 + len(study.series)]:
            told = _release(row.fact, step, label, chance)
            made.add("release made", told | _changes(step, reach))
    return made


def _changes(step: int, reach: int | None) -> dict[str, Any]:
    """How sure one can be of what is new, in one step and in five."""
    if reach is None:
        return {}
    asked = [(over, against) for over in (1, 5) for against in (False, True)]
    told = [
        {"over": over, "against": against, "std": reach / 2, "width": reach}
        for over, against in asked
        if over * (1 + against) <= step
    ]
    return {"changes": told}


def _release(
    series: dict[str, Any], step: int, label: str, chance: random.Random
) -> dict[str, Any]:
    name, top = series["series"], series["numbers"]
    std = NOISE.get(name, 20.0) * (1 + step / 60)
    size = SIZES.get(name, 40.0) * (step + 1) * (1 + step / 40)
    raw = [round(size * 0.68**degree + chance.gauss(0, std)) for degree in range(top)]
    half = round(1.96 * std)
    return {
        "series": name,
        "step": step,
        "label": label,
        "raw": raw,
        "processed": _falling([max(0.0, float(value)) for value in raw]),
        "processing": "each value ends a rising fit of those before it, clipped at 0",
        "std": std,
        "level": "0.95",
        "low": [value - half for value in raw],
        "high": [value + half for value in raw],
    }


def _falling(values: Sequence[float]) -> list[float]:
    return [min(values[: place + 1]) for place in range(len(values))]


def write_part(public: Path, study: Promise, made: Chain) -> Path:
    """Put both files into a folder."""
    public.mkdir(parents=True, exist_ok=True)
    (public / "study.toml").write_text(study.to_toml(), encoding="utf-8")
    (public / "ledger.jsonl").write_bytes(as_text(made.rows).encode())
    return public
