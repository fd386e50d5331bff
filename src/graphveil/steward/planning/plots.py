"""Plots of what is known beforehand: errors of plans, budgets and tried promises."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, floor, log, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError
from graphveil.mechanisms.planning.usefulness import DROWNING, SMALL
from graphveil.rendering import RENDERERS
from graphveil.whole_files import write_whole

if TYPE_CHECKING:
    import altair

    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.series.planner import Prospect
    from graphveil.steward.planning.budgets import Budgets
    from graphveil.steward.planning.promising import TriedPromise, TriedPromises


WIDTH, HEIGHT = 560, 340
LABEL_GAP = 15  # pixels between the names of two lines
# Dark enough to be read as text on white, and distinct for colour-blind readers together
# with the names at the lines' ends; the choice has the first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#B5508A", "#A67C00", "#6A51A3", "#5B5B5B", "#8C2D04")


def require_drawable(path: Path) -> None:
    """Refuse a file that could not be written in the end, before anything is computed."""
    if path.suffix.lower() not in RENDERERS:
        raise ParameterError("plot", f"must end in {', '.join(RENDERERS)}, not '{path.suffix}'")
    if not path.resolve().parent.is_dir():
        raise ParameterError("plot", "must be in a folder that exists")


def write_chart(path: Path, prospects: Sequence[Prospect], chosen: Plan) -> None:
    """Draw the errors into a file, whole or not at all; needs no network."""
    specification = plan_chart(prospects, chosen).to_dict()
    content = RENDERERS[path.suffix.lower()](specification)
    write_whole(path, lambda file: file.write(content), parameter="plot")


def plan_chart(prospects: Sequence[Prospect], chosen: Plan) -> altair.LayerChart:
    """Error against release, one line per mechanism, each with its name at its end."""
    import altair as alt

    lines = _lines(prospects, chosen)
    low, high = with_air([value for _, deviations in lines for value in deviations])
    places = apart([line[-1] for _, line in lines], low, high)
    ends = [
        {"release": len(line), "error": place, "mechanism": name}
        for (name, line), place in zip(lines, places, strict=True)
    ]
    layers = alt.LayerChart(
        layer=[
            _layer(_points(lines[1:]), alt.MarkDef("line", strokeWidth=1.6)),
            _layer(_points(lines[:1]), alt.MarkDef("line", strokeWidth=3.6)),
            _layer(ends, alt.MarkDef("text", align="left", dx=7, fontSize=12, clip=False)),
        ]
    ).encode(
        x=_release_axis(len(chosen.predicted)),
        y=_error_axis(low, high),
        color=_colours([name for name, _ in lines]),
        text="mechanism:N",
    )
    return dressed(
        layers,
        f"Predicted error: {chosen.subject}",
        f"{chosen.budget} for the whole series; the thick line is the choice",
        chosen.describe(),
    )


def _layer(values: list[dict[str, Any]], mark: altair.MarkDef) -> altair.Chart:
    import altair as alt

    return alt.Chart(alt.InlineData(values=values), mark=mark)


def _release_axis(steps: int) -> altair.X:
    import altair as alt

    return alt.X(
        "release:Q",
        title="release",
        scale=alt.Scale(domain=[1, max(steps, 2)], nice=False),
        axis=alt.Axis(format="d", grid=False, tickMinStep=1, values=_releases(steps)),
    )


def _error_axis(low: float, high: float) -> altair.Y:
    import altair as alt

    return alt.Y(
        "error:Q",
        title="standard deviation of the noise",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(format=",~g", values=round_ticks(low, high), gridColor="#e6e6e6"),
    )


def _colours(names: list[str]) -> altair.Color:
    import altair as alt

    shades = [COLOURS[place % len(COLOURS)] for place in range(len(names))]
    return alt.Color("mechanism:N", scale=alt.Scale(domain=names, range=shades), legend=None)


def dressed(
    layers: altair.LayerChart, title: str, subtitle: str, description: str | None = None
) -> altair.LayerChart:
    """A chart of predictions with its title, size and fonts."""
    import altair as alt

    above = alt.TitleParams(
        title,
        subtitle=subtitle,
        anchor="start",
        fontSize=15,
        subtitleFontSize=12,
        subtitleColor="#444444",
        offset=14,
    )
    options = {"description": description} if description else {}
    chart: altair.LayerChart = layers.properties(
        width=WIDTH, height=HEIGHT, title=above, background="white", **options
    ).configure(
        padding={"left": 12, "right": 16, "top": 12, "bottom": 12},
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titlePadding=10
        ),
    )
    return chart


def _lines(prospects: Sequence[Prospect], chosen: Plan) -> list[tuple[str, tuple[float, ...]]]:
    """Each line with its name, the chosen one first; equal lines share one name."""
    shared: dict[tuple[float, ...], list[str]] = {}
    for each in sorted(prospects, key=lambda each: each.name != chosen.mechanism.name):
        if each.plan:
            key = tuple(round(value, 6) for value in each.std)
            shared.setdefault(key, []).append(each.name)
    return [(", ".join(names), deviations) for deviations, names in shared.items()]


def _points(lines: list[tuple[str, tuple[float, ...]]]) -> list[dict[str, Any]]:
    """The data of some lines; a series of one release is drawn as a short level line."""
    return [
        {"release": release, "error": error, "mechanism": name}
        for name, deviations in lines
        for release, error in enumerate(
            deviations if len(deviations) > 1 else deviations * 2, start=1
        )
    ]


def with_air(values: list[float]) -> tuple[float, float]:
    """A range with some air; noise so small that it vanishes is drawn at the lower edge."""
    high = max(values) * 1.15
    return max(min(values), high * 1e-6) / 1.15, high


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers in the range: 1, 2, 5 times powers of ten, fewer if it is long."""
    steps = (1, 2, 5) if high / low < 1e3 else (1,)
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    return [s * 10.0**power for power in powers for s in steps if low <= s * 10.0**power <= high]


def _releases(steps: int) -> list[int]:
    """The first release, the last, and some round numbers between."""
    stride = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if steps / s <= 11)
    inner = [release for release in range(stride, steps, stride) if steps - release > stride / 2]
    return sorted({1, *inner, steps})


def apart(values: list[float], low: float, high: float) -> list[float]:
    """Where to write each line's name: at its end, moved just enough not to overlap."""
    pixel = log(high / low) / HEIGHT
    order = sorted(range(len(values)), key=values.__getitem__)
    places = [log(max(values[i], low) / low) / pixel for i in order]
    for _ in range(200):
        for lower in range(len(places) - 1):
            missing = LABEL_GAP - (places[lower + 1] - places[lower])
            if missing > 0:
                places[lower] -= missing / 2
                places[lower + 1] += missing / 2
    found = dict(zip(order, places, strict=True))
    return [low * exp(found[i] * pixel) for i in range(len(values))]


# The plot of budgets: the error of each series against the ε of all of them together.


BORDERS = ((SMALL, "useful below"), (DROWNING, "drowned above"))
GREY = "#767676"  # dark enough to be read on white


def write_budgets(path: Path, found: Budgets) -> None:
    """Draw the curves into a file, whole or not at all; needs no network."""
    content = RENDERERS[path.suffix.lower()](budget_chart(found).to_dict())
    write_whole(path, lambda file: file.write(content), parameter="plot")


def budget_chart(found: Budgets) -> altair.LayerChart:
    """Error against ε, one line per series with its name at its end.

    Errors are parts of the expected sizes where all are known, with the borders of what is useful
    and what is too noisy, and counts otherwise.
    """
    import altair as alt

    lines = _budget_lines(found)
    low, high = with_air([point["error"] for line in lines.values() for point in line])
    ends = apart([line[-1]["error"] for line in lines.values()], low, high)
    labels = [
        {**line[-1], "error": place} for line, place in zip(lines.values(), ends, strict=True)
    ]
    layers = [
        *(_borders(found, low, high) if found.sized else []),
        _budget_layer([point for line in lines.values() for point in line], alt.MarkDef("line")),
        _budget_layer(labels, alt.MarkDef("text", align="left", dx=7, fontSize=12, clip=False)),
    ]
    budgets = [float(each.total) for each in found.budgets]
    encoded = alt.LayerChart(layer=layers).encode(
        x=_budget_axis(budgets[0], budgets[-1]), y=_budget_error_axis(found, low, high)
    )
    return dressed(encoded, f"Predicted error by budget: {found.title}", found.how)


def _budget_lines(budgets: Budgets) -> dict[str, list[dict[str, Any]]]:
    """The points of each series."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for budget in budgets.budgets:
        for each in budget.series:
            error = each.judgement.share if each.judgement and budgets.sized else each.std
            point = {"total": float(budget.total), "series": each.name, "error": error}
            lines.setdefault(each.name, []).append(point)
    return lines


def _budget_layer(values: list[dict[str, Any]], mark: altair.MarkDef) -> altair.Chart:
    import altair as alt

    names = list(dict.fromkeys(each["series"] for each in values))
    shades = [COLOURS[place % len(COLOURS)] for place in range(len(names))]
    colour = alt.Color("series:N", scale=alt.Scale(domain=names, range=shades), legend=None)
    layer = alt.Chart(alt.InlineData(values=values), mark=mark).encode(color=colour)
    return layer.encode(text="series:N") if mark["type"] == "text" else layer


def _borders(budgets: Budgets, low: float, high: float) -> list[altair.Chart]:
    """Where useful ends and drowning begins, as far as they are in the picture."""
    import altair as alt

    last = float(budgets.budgets[-1].total)  # where errors are small, so that no line is in the way
    values = [
        {"total": last, "error": part, "says": f"{words} {part:.0%}"}
        for part, words in BORDERS
        if low < part < high
    ]
    data = alt.InlineData(values=values)
    text = alt.MarkDef("text", align="right", dx=-4, dy=-6, fontSize=11, color=GREY)
    return [
        alt.Chart(data, mark=alt.MarkDef("rule", strokeDash=[4, 4], color=GREY)).encode(
            x=alt.value(0), x2=alt.value(WIDTH)
        ),
        alt.Chart(data, mark=text).encode(text="says:N"),
    ]


def _budget_axis(low: float, high: float) -> altair.X:
    import altair as alt

    return alt.X(
        "total:Q",
        title="ε of all series together",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(format="~g", values=round_ticks(low, high), grid=False),
    )


def _budget_error_axis(budgets: Budgets, low: float, high: float) -> altair.Y:
    import altair as alt

    title = "noise at the last release"
    return alt.Y(
        "error:Q",
        title=f"{title}, in percent of what is expected" if budgets.sized else f"{title} (std)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(
            format="~%" if budgets.sized else ",~g",
            values=round_ticks(low, high),
            gridColor="#e6e6e6",
        ),
    )


# The plot of tried promises: noise, what is missed, and both together, bound by bound.


LINES = ("error", "noise", "missed")


def write_promises(path: Path, found: TriedPromises) -> None:
    """Draw the errors into a file, whole or not at all; needs no network."""
    content = RENDERERS[path.suffix.lower()](promise_chart(found).to_dict())
    write_whole(path, lambda file: file.write(content), parameter="plot")


def promise_chart(found: TriedPromises) -> altair.LayerChart:
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
    points = [point for each in shown for point in _promise_points(each)]
    best = [point for point in _promise_points(found.best) if point["what"] == "error"]
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


def _shown(tried: TriedPromises) -> list[TriedPromise]:
    """One promise for each bound on the axis: where there are two bounds, the better one."""
    by_bound: dict[int, TriedPromise] = {}
    for each in sorted(tried.tried, key=lambda each: -each.score):
        by_bound[each.bound.within.limits[-1]] = each
    return [by_bound[bound] for bound in sorted(by_bound)]


def _axis(tried: TriedPromises) -> str:
    return "out-bound, with its best in-bound" if tried.best.bound.directed else "bound"


def _promise_points(each: TriedPromise) -> list[dict[str, Any]]:
    parts = {
        "error": each.score,
        "noise": _mean([one.noise / max(one.size, 1) for one in each.series.values()]),
        "missed": _mean([one.missed / max(one.size, 1) for one in each.series.values()]),
    }
    bound = each.bound.within.limits[-1]
    return [{"bound": bound, "part": part, "what": what} for what, part in parts.items()]


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)
