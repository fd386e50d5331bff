"""The plot of budgets: the error of each series against the ε of all of them together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.planning.usefulness import DROWNING, SMALL
from graphveil.rendering import RENDERERS
from graphveil.steward.beforehand.plots.plan_plot import (
    COLOURS,
    WIDTH,
    apart,
    dressed,
    round_ticks,
    with_air,
)
from graphveil.whole_files import write_whole

if TYPE_CHECKING:
    import altair

    from graphveil.steward.beforehand.budgets import Budgets

BORDERS = ((SMALL, "useful below"), (DROWNING, "drowned above"))
GREY = "#767676"  # dark enough to be read on white


def write_budgets(path: Path, found: Budgets) -> None:
    """Draw the curves into a file, whole or not at all; needs no network."""
    content = RENDERERS[path.suffix.lower()](chart(found).to_dict())
    write_whole(path, lambda file: file.write(content), parameter="plot")


def chart(found: Budgets) -> altair.LayerChart:
    """Error against ε, one line per series with its name at its end.

    Errors are parts of the expected sizes where all are known, with the borders of what is useful
    and what is drowned, and counts otherwise.
    """
    import altair as alt

    lines = _lines(found)
    low, high = with_air([point["error"] for line in lines.values() for point in line])
    ends = apart([line[-1]["error"] for line in lines.values()], low, high)
    labels = [
        {**line[-1], "error": place} for line, place in zip(lines.values(), ends, strict=True)
    ]
    layers = [
        *(_borders(found, low, high) if found.sized else []),
        _layer([point for line in lines.values() for point in line], alt.MarkDef("line")),
        _layer(labels, alt.MarkDef("text", align="left", dx=7, fontSize=12, clip=False)),
    ]
    budgets = [float(each.total) for each in found.budgets]
    encoded = alt.LayerChart(layer=layers).encode(
        x=_budget_axis(budgets[0], budgets[-1]), y=_error_axis(found, low, high)
    )
    return dressed(encoded, f"Predicted error by budget: {found.title}", found.how)


def _lines(found: Budgets) -> dict[str, list[dict[str, Any]]]:
    """The points of each series."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for budget in found.budgets:
        for each in budget.series:
            error = each.judgement.share if each.judgement and found.sized else each.std
            point = {"total": float(budget.total), "series": each.name, "error": error}
            lines.setdefault(each.name, []).append(point)
    return lines


def _layer(values: list[dict[str, Any]], mark: altair.MarkDef) -> altair.Chart:
    import altair as alt

    names = list(dict.fromkeys(each["series"] for each in values))
    shades = [COLOURS[place % len(COLOURS)] for place in range(len(names))]
    colour = alt.Color("series:N", scale=alt.Scale(domain=names, range=shades), legend=None)
    layer = alt.Chart(alt.InlineData(values=values), mark=mark).encode(color=colour)
    return layer.encode(text="series:N") if mark["type"] == "text" else layer


def _borders(found: Budgets, low: float, high: float) -> list[altair.Chart]:
    """Where useful ends and drowning begins, as far as they are in the picture."""
    import altair as alt

    last = float(found.budgets[-1].total)  # where errors are small, so that no line is in the way
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


def _error_axis(found: Budgets, low: float, high: float) -> altair.Y:
    import altair as alt

    title = "noise at the last release"
    return alt.Y(
        "error:Q",
        title=f"{title}, in percent of what is expected" if found.sized else f"{title} (std)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(
            format="~%" if found.sized else ",~g",
            values=round_ticks(low, high),
            gridColor="#e6e6e6",
        ),
    )
