"""The plot of tried promises: noise, what is missed, and both together, bound by bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.rendering import RENDERERS
from graphveil.steward.beforehand.plots.plan_plot import COLOURS, HEIGHT, WIDTH
from graphveil.whole_files import write_whole

if TYPE_CHECKING:
    import altair

    from graphveil.steward.beforehand.promising import TriedPromise, TriedPromises

LINES = ("error", "noise", "missed")


def write_promises(path: Path, found: TriedPromises) -> None:
    """Draw the errors into a file, whole or not at all; needs no network."""
    content = RENDERERS[path.suffix.lower()](chart(found).to_dict())
    write_whole(path, lambda file: file.write(content), parameter="plot")


def chart(found: TriedPromises) -> altair.LayerChart:
    """Parts of the true number against the bound, averaged over the series; the best is marked."""
    import altair as alt

    shown = _shown(found)
    colours = alt.Color(
        "what:N",
        title=None,
        scale=alt.Scale(domain=list(LINES), range=list(COLOURS[: len(LINES)])),
        legend=alt.Legend(orient="top"),
    )
    x = alt.X("bound:Q", title=_axis(found), scale=alt.Scale(type="log", nice=False))
    y = alt.Y("part:Q", title="part of the true number", axis=alt.Axis(format="%"))
    points = [point for each in shown for point in _points(each)]
    best = [point for point in _points(found.best) if point["what"] == "error"]
    layers = alt.LayerChart(
        layer=[
            alt.Chart(alt.InlineData(values=points), mark=alt.MarkDef("line", strokeWidth=2)),
            alt.Chart(alt.InlineData(values=best), mark=alt.MarkDef("point", size=90, filled=True)),
        ]
    ).encode(x=x, y=y, color=colours)
    title = alt.TitleParams(
        f"Promises tried on a public network, {found.horizon} releases",
        subtitle=f"smallest error: {found.best.bound}",
        anchor="start",
        fontSize=15,
        subtitleFontSize=12,
        offset=14,
    )
    dressed: altair.LayerChart = layers.properties(
        width=WIDTH, height=HEIGHT, title=title, background="white"
    )
    return dressed


def _shown(found: TriedPromises) -> list[TriedPromise]:
    """One promise for each bound on the axis: where there are two bounds, the better one."""
    by_bound: dict[int, TriedPromise] = {}
    for each in sorted(found.tried, key=lambda each: -each.score):
        by_bound[each.bound.within.limits[-1]] = each
    return [by_bound[bound] for bound in sorted(by_bound)]


def _axis(found: TriedPromises) -> str:
    return "out-bound, with its best in-bound" if found.best.bound.directed else "bound"


def _points(each: TriedPromise) -> list[dict[str, Any]]:
    parts = {
        "error": each.score,
        "noise": _mean([one.noise / max(one.size, 1) for one in each.series.values()]),
        "missed": _mean([one.missed / max(one.size, 1) for one in each.series.values()]),
    }
    bound = each.bound.within.limits[-1]
    return [{"bound": bound, "part": part, "what": what} for what, part in parts.items()]


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)
