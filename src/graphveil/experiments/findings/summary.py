"""The summary: each contender at ε = 1, over all real networks, statistic by statistic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphveil.experiments.contenders.comparison import POST, PROJECTION, SENSDIFF
from graphveil.experiments.findings.claims import NONE, Place, Point, geometric_mean, ratios
from graphveil.experiments.findings.result_table import ResultTable

ONE = 1.0  # the ε at which budgets are usually compared


def is_model(place: Place) -> bool:
    """Whether a panel shows a network that was drawn from a model."""
    return "synthetic" in place[0]


def summary(at_one: Mapping[Place, Point], names: Sequence[str]) -> ResultTable:
    """Ratios to SensDiff in both measures, and how often tuned Compose-projection is beaten."""
    real = {place: point for place, point in at_one.items() if not is_model(place)} or at_one
    statistics = list(dict.fromkeys(place[2] for place in real))
    shown = [name for name in names if name != SENSDIFF and not name.endswith(POST)]

    def cells(name: str) -> Iterable[str]:
        for statistic in statistics:
            here = [point for place, point in real.items() if place[2] == statistic]
            yield _both(number(geometric_mean(ratios(here, each))) for each in _variants(name))
            yield _both(
                number(geometric_mean(ratios(here, each, absolute=True)))
                for each in _variants(name)
            )
            yield _both(beaten(here, each) for each in _variants(name))

    columns = ("relative error", "absolute error", f"below {PROJECTION}")
    return ResultTable(
        "In short: ε = 1, real networks",
        "Errors as ratios to SensDiff's, geometric means over all networks and versions but those "
        "drawn from models; then in how many of them the relative error is below that of tuned "
        "Compose-projection. Behind the stroke, ours after post-processing.",
        ("contender", *(f"{each}: {column}" for each in statistics for column in columns)),
        tuple((name, *cells(name)) for name in shown),
    )


def number(value: float | None) -> str:
    """A ratio as a reader wants it."""
    return NONE if value is None else f"{value:.2f}"


def share(holds: Iterable[bool]) -> str:
    """In how many cases something holds, of how many."""
    listed = list(holds)
    return f"{sum(listed)} of {len(listed)}"


def beaten(here: Iterable[Point], name: str) -> str:
    """In how many cases a contender's relative error is below tuned Compose-projection's."""
    both = [point for point in here if name in point.rows and PROJECTION in point.rows]
    if not both or name == PROJECTION:
        return NONE
    return share(point.ratio(name, PROJECTION) < 1 for point in both)


def _variants(name: str) -> tuple[str, str]:
    return name, name + POST


def _both(texts: Iterable[str]) -> str:
    """Raw and post-processed; one alone where there is no other."""
    return " / ".join(text for text in texts if text != NONE) or NONE
