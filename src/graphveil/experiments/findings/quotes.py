"""Quotes: every number that a text about results may cite, by name, as the reader sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphveil.experiments.contenders.comparison import (
    COMPOSE,
    OURS,
    POST,
    PROJECTION,
    TUNED,
)
from graphveil.experiments.findings.claims import (
    NONE,
    Panels,
    Point,
    at_epsilon,
    geometric_mean,
    growth,
    mean_ratio,
    points,
    ratios,
    slower,
    span,
    useful_from,
    verdict,
    worst,
)
from graphveil.experiments.findings.summary import ONE, beaten, is_model, number, share
from graphveil.experiments.protocol.results import Row, competing

BASELINES = (COMPOSE, PROJECTION)
UNTUNED = tuple(name + post for name in OURS if name not in TUNED for post in ("", POST))


def quotes(rows: Sequence[Row]) -> dict[str, str]:
    """All numbers: of all panels, of those on the models, and of those on real data."""
    by_epsilon, by_time = points(rows, "epsilon"), points(rows, "time")
    names = competing(rows)
    drawn = {place: panel for place, panel in by_epsilon.items() if is_model(place)}
    real = {place: panel for place, panel in by_epsilon.items() if place not in drawn}
    found = {"runs": str(rows[0].runs) if rows else "no"}
    for where, panels in (("", by_epsilon), (" synthetic", drawn), (" real", real)):
        named = _on_epsilon(panels, names) | _at_one(panels, names)
        found |= {f"{name}{where}": text for name, text in named.items()}
    for dataset in dict.fromkeys(place[0] for place in by_epsilon):
        here = {place: panel for place, panel in by_epsilon.items() if place[0] == dataset}
        found |= {f"{name} {dataset}": text for name, text in _at_one(here, names).items()}
    return found | _on_time(by_time, names)


def _on_epsilon(panels: Panels, names: Iterable[str]) -> dict[str, str]:
    """Where SensDiff is below the baselines, all ratios to it, and whether it is of use."""
    found = {
        f"below {other}": share(
            verdict(panel, other, "epsilon") == "yes" for panel in panels.values()
        )
        for other in BASELINES
    }
    for mechanism in names:
        for word, absolute in (("relative", False), ("absolute", True)):
            mean = (mean_ratio(panel, mechanism, absolute=absolute) for panel in panels.values())
            found[f"{word} {mechanism}"] = span(mean)
        useful = (useful_from(panel, mechanism) for panel in panels.values())
        found[f"useless {mechanism}"] = share(each is None for each in useful)
    found["worst epsilon"] = share(worst(panel, "epsilon") == "yes" for panel in panels.values())
    return found


def _at_one(panels: Panels, names: Iterable[str]) -> dict[str, str]:
    """At ε = 1, statistic by statistic: what each contender gains, and the best untuned of ours."""
    at_one = at_epsilon(panels, ONE)
    found = {
        "luck": _percent(
            point.luck(PROJECTION) for point in at_one.values() if PROJECTION in point.rows
        )
    }
    for statistic in dict.fromkeys(place[2] for place in at_one):
        here = [point for place, point in at_one.items() if place[2] == statistic]
        for mechanism in names:
            found |= {
                f"{word} {mechanism} {statistic}": text
                for word, text in _of_points(here, mechanism).items()
            }
        best = [min(_untuned_ratios(point)) for point in here]
        found[f"mean best untuned {statistic}"] = number(geometric_mean(best))
        found[f"span best untuned {statistic}"] = span(best)
    return found


def _of_points(here: Sequence[Point], mechanism: str) -> dict[str, str]:
    relative, absolute = (ratios(here, mechanism, absolute=each) for each in (False, True))
    rivals = [point for point in here if mechanism in point.rows and PROJECTION in point.rows]
    return {
        "mean": number(geometric_mean(relative)),
        "span": span(relative),
        "mean absolute": number(geometric_mean(absolute)),
        "span absolute": span(absolute),
        "wins": share(ratio < 1 for ratio in relative),
        "beats projection": beaten(here, mechanism),
        "clearly beats projection": share(p.order(mechanism, PROJECTION) < 0 for p in rivals),
    }


def _percent(parts: Iterable[float]) -> str:
    """The least and the largest, in percent."""
    listed = [f"{part:.0%}" for part in sorted(parts)]
    return f"{listed[0]} to {listed[-1]}" if listed else NONE


def _untuned_ratios(point: Point) -> list[float]:
    return [point.ratio(name) for name in UNTUNED if name in point.rows]


def _on_time(panels: Panels, names: Iterable[str]) -> dict[str, str]:
    """How errors grow with T, and what few releases are like for high degrees."""
    found = {
        f"growth {mechanism}": span(growth(panel, mechanism) for panel in panels.values())
        for mechanism in names
    }
    for other in BASELINES:
        found[f"slower {other}"] = share(slower(panel, other) for panel in panels.values())
        for few in (2, 3):
            found[f"at {few} {other}"] = span(_few_releases(panels, few, other))
    found["worst releases"] = share(worst(panel, "releases") == "yes" for panel in panels.values())
    return found


def _few_releases(panels: Panels, releases: int, other: str) -> Iterable[float]:
    """A baseline's error on high degrees as a ratio to SensDiff's, at a number of releases."""
    for (_, _, statistic), panel in panels.items():
        for point in panel:
            if statistic == "high-degree" and point.releases == releases and other in point.rows:
                yield point.ratio(other)
