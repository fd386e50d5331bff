"""Plots of what is known beforehand: errors of plans and of tried promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphveil.drawing.plots import (
    COLOURS,
    Axis,
    Curve,
    Figure,
    Panel,
    even_ticks,
    in_percent,
    round_ticks,
    with_air,
)

if TYPE_CHECKING:
    from graphveil.drawing.svg import Drawing, Point
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.series.planner import Prospect
    from graphveil.steward.planning.promising import TriedPromise, TriedPromises


WIDTH, HEIGHT = 560, 340


def plan_chart(prospects: Sequence[Prospect], chosen: Plan) -> Drawing:
    """Error against release, one line per mechanism, each with its name at its end."""
    lines = _lines(prospects, chosen)
    low, high = with_air([value for _, deviations in lines for value in deviations])
    curves = [
        Curve(name, _releases_of(deviations), _colour(place), 1.6 if place else 3.6)
        for place, (name, deviations) in enumerate(lines)
    ]
    steps = len(chosen.predicted)
    error = Axis(low, high, round_ticks(low, high), "standard deviation of the noise", lines=True)
    release = Axis(1, max(steps, 2), tuple(_releases(steps)), "release", linear=True)
    # The choice is drawn last, above the others.
    panel = Panel(WIDTH, HEIGHT, release, error, (*curves[1:], curves[0]), named=True)
    head = (
        f"Predicted error: {chosen.subject}",
        f"{chosen.budget} for the whole series; the thick line is the choice",
    )
    return Figure(head, ((panel,),)).drawing(chosen.describe())


def _lines(prospects: Sequence[Prospect], chosen: Plan) -> list[tuple[str, tuple[float, ...]]]:
    """Each line with its name, the chosen one first; equal lines share one name."""
    shared: dict[tuple[float, ...], list[str]] = {}
    for each in sorted(prospects, key=lambda each: each.name != chosen.mechanism.name):
        if each.plan:
            key = tuple(round(value, 6) for value in each.std)
            shared.setdefault(key, []).append(each.name)
    return [(", ".join(names), deviations) for deviations, names in shared.items()]


def _releases_of(deviations: Sequence[float]) -> tuple[Point, ...]:
    """The points of a line; a series of one release is drawn as a short level line."""
    drawn = deviations if len(deviations) > 1 else (*deviations, *deviations)
    return tuple((float(release), error) for release, error in enumerate(drawn, start=1))


def _releases(steps: int) -> list[int]:
    """The first release, the last, and some round numbers between."""
    stride = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if steps / s <= 11)
    inner = [release for release in range(stride, steps, stride) if steps - release > stride / 2]
    return sorted({1, *inner, steps})


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


# The plot of tried promises: noise, what is missed, and both together, bound by bound.


LINES = ("error", "noise", "missed")


def promise_chart(found: TriedPromises) -> Drawing:
    """Parts of the true number against the bound, averaged over the series; the best is marked."""
    shown = _shown(found)
    curves = tuple(
        Curve(what, tuple((_bound(each), _parts(each)[what]) for each in shown), COLOURS[place])
        for place, what in enumerate(LINES)
    )
    best = Curve(
        "", ((_bound(found.best), found.best.score),), COLOURS[0], width=0, mark="circle", size=1.7
    )
    ticks = even_ticks(max(part for each in shown for part in _parts(each).values()))
    height = Axis(0, ticks[-1], ticks, "part of the true number", in_percent, True, True)
    panel = Panel(WIDTH, HEIGHT, _bound_axis(found, shown), height, (*curves, best))
    title = f"Promises tried on a public network, {found.horizon} releases"
    said = f"smallest error: {found.best.bound}"
    return Figure((title, said), ((panel,),), curves).drawing(f"{title}; {said}")


def _shown(tried: TriedPromises) -> list[TriedPromise]:
    """One promise for each bound on the axis: where there are two bounds, the better one."""
    by_bound: dict[int, TriedPromise] = {}
    for each in sorted(tried.tried, key=lambda each: -each.score):
        by_bound[each.bound.within.limits[-1]] = each
    return [by_bound[bound] for bound in sorted(by_bound)]


def _bound(tried: TriedPromise) -> float:
    return float(tried.bound.within.limits[-1])


def _bound_axis(tried: TriedPromises, shown: Sequence[TriedPromise]) -> Axis:
    title = "out-bound, with its best in-bound" if tried.best.bound.directed else "bound"
    bounds = [max(_bound(each), 0.5) for each in shown]
    low, high = bounds[0], max(bounds[-1], 2 * bounds[0])
    return Axis(low, high, round_ticks(low, high), title)


def _parts(each: TriedPromise) -> dict[str, float]:
    return {
        "error": each.score,
        "noise": _mean([one.noise / max(one.size, 1) for one in each.series.values()]),
        "missed": _mean([one.missed / max(one.size, 1) for one in each.series.values()]),
    }


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)
