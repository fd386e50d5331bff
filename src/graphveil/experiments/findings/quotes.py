"""Quotes: every number that a text about results may cite, by name, as the reader sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphveil.experiments.findings.claims import (
    Panels,
    growth,
    mean_ratio,
    points,
    slower,
    span,
    useful_from,
    verdict,
    worst,
)
from graphveil.experiments.protocol.contenders import COMPOSE, MECHANISMS, PROJECTION, SENSDIFF
from graphveil.experiments.protocol.results import Row

BASELINES = (COMPOSE, PROJECTION)


def quotes(rows: Sequence[Row]) -> dict[str, str]:
    """All numbers: of all panels, of those on the models, and of those on real data."""
    by_epsilon, by_time = points(rows, "epsilon"), points(rows, "time")
    drawn = {place: panel for place, panel in by_epsilon.items() if "synthetic" in place[0]}
    real = {place: panel for place, panel in by_epsilon.items() if place not in drawn}
    found = {"runs": str(rows[0].runs) if rows else "no"}
    for where, panels in (("", by_epsilon), (" synthetic", drawn), (" real", real)):
        named = _on_epsilon(panels)
        found |= {f"{name}{where}": text for name, text in named.items()}
    return found | _on_time(by_time)


def _on_epsilon(panels: Panels) -> dict[str, str]:
    """Where SensDiff is below the baselines, all ratios to it, and whether it is of use."""
    found = {
        f"below {other}": _share(
            verdict(panel, other, "epsilon") == "yes" for panel in panels.values()
        )
        for other in BASELINES
    }
    for mechanism in MECHANISMS:
        for word, absolute in (("relative", False), ("absolute", True)):
            ratios = (mean_ratio(panel, mechanism, absolute=absolute) for panel in panels.values())
            found[f"{word} {mechanism}"] = span(ratios)
    found["worst epsilon"] = _share(worst(panel, "epsilon") == "yes" for panel in panels.values())
    found["useless"] = _share(useful_from(panel, SENSDIFF) is None for panel in panels.values())
    return found


def _on_time(panels: Panels) -> dict[str, str]:
    """How errors grow with T, and what few releases are like for high degrees."""
    found = {
        f"growth {mechanism}": span(growth(panel, mechanism) for panel in panels.values())
        for mechanism in MECHANISMS
    }
    for other in BASELINES:
        found[f"slower {other}"] = _share(slower(panel, other) for panel in panels.values())
        for few in (2, 3):
            found[f"at {few} {other}"] = span(_few_releases(panels, few, other))
    found["worst releases"] = _share(worst(panel, "releases") == "yes" for panel in panels.values())
    return found


def _few_releases(panels: Panels, releases: int, other: str) -> Iterable[float]:
    """A baseline's error on high degrees as a ratio to SensDiff's, at a number of releases."""
    for (_, _, statistic), panel in panels.items():
        for point in panel:
            if statistic == "high-degree" and point.releases == releases and other in point.rows:
                yield point.ratio(other)


def _share(holds: Iterable[bool]) -> str:
    listed = list(holds)
    return f"{sum(listed)} of {len(listed)}"
