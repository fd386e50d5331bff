"""The paper's claims, held against results: where each holds, and how much better we do.

Two mean errors count as different if they are more than two standard errors of their
difference apart; otherwise they are level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, hypot, log
from typing import TypeAlias

from graphveil.experiments.contenders.comparison import COMPOSE, PROJECTION, SENSDIFF
from graphveil.experiments.protocol.results import Row

APART = 2  # standard errors
NONE = "–"

Place: TypeAlias = tuple[str, str, str]  # dataset, version, statistic


@dataclass(frozen=True)
class Point:
    """All mechanisms on one subject, at one ε and one number of releases."""

    epsilon: float
    releases: int
    rows: dict[str, Row]

    def ratio(self, mechanism: str, to: str = SENSDIFF, *, absolute: bool = False) -> float:
        """The error of a mechanism, divided by another's."""
        above, below = self.rows[mechanism], self.rows[to]
        if absolute:
            return above.absolute_error / below.absolute_error
        return above.error / below.error

    def luck(self, mechanism: str) -> float:
        """The standard error of the ratio to SensDiff, as a part of it."""
        both = (self.rows[mechanism], self.rows[SENSDIFF])
        return hypot(*(row.standard_error / row.error for row in both if row.error > 0))

    def order(self, mechanism: str, other: str) -> int:
        """-1 if a mechanism's error is below another's, 1 if above, 0 if they are level."""
        one, two = self.rows[mechanism], self.rows[other]
        gap = one.error - two.error
        margin = APART * hypot(one.standard_error, two.standard_error)
        return 0 if abs(gap) <= margin else (1 if gap > 0 else -1)


Panels: TypeAlias = dict[Place, list[Point]]


def points(rows: Iterable[Row], figure: str) -> Panels:
    """The points of each panel of a figure, by ε and then by the number of releases."""
    found: dict[Place, dict[tuple[float, int], Point]] = {}
    for row in rows:
        if row.figure == figure:
            panel = found.setdefault(row.place, {})
            at = row.epsilon, row.releases
            panel.setdefault(at, Point(*at, {})).rows[row.mechanism] = row
    return {place: [panel[at] for at in sorted(panel)] for place, panel in found.items()}


def mean_ratio(panel: Sequence[Point], mechanism: str, *, absolute: bool = False) -> float | None:
    """The geometric mean, over a panel, of the ratio to SensDiff as the paper has it."""
    return geometric_mean(ratios(_drawn(panel, mechanism), mechanism, absolute=absolute))


def at_epsilon(panels: Panels, epsilon: float) -> dict[Place, Point]:
    """The point of each panel at one ε, where there is one."""
    return {
        place: point
        for place, panel in panels.items()
        for point in panel
        if point.epsilon == epsilon
    }


def ratios(points: Iterable[Point], mechanism: str, *, absolute: bool = False) -> list[float]:
    """The errors of a mechanism as ratios to SensDiff's, wherever both have one."""
    return [
        point.ratio(mechanism, absolute=absolute)
        for point in points
        if mechanism in point.rows and point.rows[SENSDIFF].error > 0
    ]


def geometric_mean(numbers: Sequence[float]) -> float | None:
    """The geometric mean; None of nothing."""
    return exp(sum(map(log, numbers)) / len(numbers)) if numbers and min(numbers) > 0 else None


def verdict(panel: Sequence[Point], other: str, axis: str) -> str:
    """Whether SensDiff's error is below another's at every point; otherwise, where it is not."""
    known = [point for point in panel if other in point.rows]
    if not known:
        return NONE
    orders = [(getattr(point, axis), point.order(SENSDIFF, other)) for point in known]
    above = [f"{at:g}" for at, order in orders if order > 0]
    level = [f"{at:g}" for at, order in orders if order == 0]
    if not above and not level:
        return "yes"
    sign = "ε" if axis == "epsilon" else "T"
    parts = [f"above at {sign} = {', '.join(above)}"] if above else []
    parts += [f"level at {sign} = {', '.join(level)}"] if level else []
    everywhere = len(above) == len(known)
    return (
        "no, above everywhere"
        if everywhere
        else f"{'no' if above else 'nearly'}: " + "; ".join(parts)
    )


def worst(panel: Sequence[Point], axis: str) -> str:
    """Whether Compose-D-bounded is the worst of the paper's three at every point."""
    others = (SENSDIFF, PROJECTION)
    wrong = [
        f"{getattr(point, axis):g}"
        for point in panel
        if any(other in point.rows and point.order(COMPOSE, other) < 1 for other in others)
    ]
    sign = "ε" if axis == "epsilon" else "T"
    return "yes" if not wrong else f"not at {sign} = {', '.join(wrong)}"


def growth(panel: Sequence[Point], mechanism: str) -> float | None:
    """The exponent g of error ∝ T^g, by least squares on logarithms; None for fewer than 2 T."""
    known = _drawn(panel, mechanism)
    x = [log(point.releases) for point in known]
    y = [log(point.rows[mechanism].error) for point in known]
    if len(known) < 2:
        return None
    centre = sum(x) / len(x)
    spread = sum((a - centre) ** 2 for a in x)
    return sum((a - centre) * b for a, b in zip(x, y, strict=True)) / spread


def dropped(panel: Sequence[Point]) -> list[float]:
    """The part of Compose-projection's error that would be there without noise, at each point."""
    rows = (point.rows[PROJECTION] for point in _drawn(panel, PROJECTION))
    return [row.noiseless_error / row.error for row in rows]


def span(numbers: Iterable[float | None]) -> str:
    """The least and the largest, as a reader wants them."""
    listed = [f"{number:.2f}" for number in sorted(n for n in numbers if n is not None)]
    if not listed:
        return NONE
    return listed[0] if listed[0] == listed[-1] else f"{listed[0]} to {listed[-1]}"


def slower(panel: Sequence[Point], other: str) -> bool:
    """Whether SensDiff's error grows more slowly with T than another's."""
    one, two = growth(panel, SENSDIFF), growth(panel, other)
    return one is not None and two is not None and one < two


def useful_from(panel: Sequence[Point], mechanism: str) -> float | None:
    """The least ε from which a mechanism is better than always publishing 0, if there is one."""
    found: float | None = None
    for point in reversed(panel):
        row = point.rows.get(mechanism)
        if row is None or row.error >= row.zero_error:
            break
        found = point.epsilon
    return found


def _drawn(panel: Sequence[Point], mechanism: str) -> list[Point]:
    """The points that have a place on a logarithmic axis: all, unless noise vanishes."""
    return [p for p in panel if mechanism in p.rows and p.rows[mechanism].error > 0]
