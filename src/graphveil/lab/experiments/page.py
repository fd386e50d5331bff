"""The page: tables of results, as Markdown and as HTML, and the figures.

Figures are laid out like the paper's: a row per dataset, a column per version and statistic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from html import escape
from pathlib import Path

from graphveil.drawing.plots import Axis, Curve, Figure, Panel, round_ticks
from graphveil.drawing.svg import Drawing
from graphveil.errors import ParameterError
from graphveil.lab.experiments.claims import (
    NONE,
    ONE,
    WHERE,
    Panels,
    Place,
    Point,
    ResultTable,
    at_epsilon,
    dropped,
    growth,
    mean_ratio,
    points,
    quotes,
    slower,
    span,
    summaries,
    useful_from,
    verdict,
    worst,
)
from graphveil.lab.experiments.comparison import (
    AUTO,
    COMPOSE,
    CONTENDERS,
    FOLLOWING,
    HUBS,
    PAPERS,
    POST,
    PROJECTION,
    SENSDIFF,
    SHAPED,
    TIGHT,
)
from graphveil.lab.experiments.results import Row, competing, write_content, write_rows

_HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; }
figure { margin: 1.5rem 0; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: 13px; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .7rem; text-align: left; }
th { border-bottom: 2px solid #888; vertical-align: bottom; }
</style>
</head>
<body>
BODY
</body>
</html>
"""
PICTURES, RESULTS = Path("images", "experiments"), Path("data", "findings.csv")
_MARKED = re.compile(r"<!-- (table|value) ([^>]*?) -->.*?<!-- end -->", re.DOTALL)
WIDTH, HEIGHT = 190, 132
AXES = {
    "epsilon": ("ε of the whole series", "Relative error against ε, a release every step"),
    "time": ("number of releases T", "Relative error against the number of releases, ε = 5"),
}


def tables(rows: Sequence[Row]) -> dict[str, ResultTable]:
    """Every table that the results give, by name."""
    by_epsilon, by_time = points(rows, "epsilon"), points(rows, "time")
    names = competing(rows)
    found = {"settings": _settings(by_epsilon or by_time)}
    if by_epsilon:
        found["claims-epsilon"] = _claims_on_epsilon(by_epsilon)
        found |= _ratio_tables(by_epsilon, names)
        found["errors-epsilon"] = _errors(by_epsilon, names, "epsilon", "ε")
    if by_time:
        found["claims-time"] = _claims_on_time(by_time)
        found["errors-time"] = _errors(by_time, names, "releases", "T")
    return found


def markdown(title: str, found: Iterable[ResultTable], pictures: Sequence[str]) -> str:
    """A page of tables and pictures in Markdown."""
    parts = [f"# {title}", *(f"![{name}]({name})" for name in pictures)]
    for table in found:
        parts += [f"## {table.title}", table.note, table.markdown()]
    return "\n\n".join(parts) + "\n"


def html(title: str, found: Iterable[ResultTable], drawings: Sequence[str]) -> str:
    """The same page as one HTML file that needs nothing else; drawings are SVG."""
    parts = [f"<h1>{escape(title)}</h1>", *(f"<figure>{svg}</figure>" for svg in drawings)]
    for table in found:
        parts += [f"<h2>{escape(table.title)}</h2>", f"<p>{escape(table.note)}</p>", table.html()]
    return _HTML.replace("TITLE", escape(title)).replace("BODY", "\n".join(parts))


def _settings(panels: Panels) -> ResultTable:
    def cells(place: Place, panel: list[Point]) -> tuple[str, ...]:
        last = panel[-1].rows
        paper, with_hubs = last[SENSDIFF], last.get(HUBS)
        return (
            *place, str(max(point.releases for point in panel)), paper.bound, _text(paper.tau),
            _text(paper.sensitivity), *(_text(last[name].sensitivity) for name in (TIGHT, COMPOSE)),
            _thresholds(panel),
            _text(with_hubs and with_hubs.threshold), _text(with_hubs and with_hubs.sensitivity),
        )  # fmt: skip

    return ResultTable(
        "What was measured",
        "D: the largest degree (or in- and out-degree), rounded up to a multiple of 5. τ: the "
        "90th percentile of the degrees. D̃: the thresholds of Compose-projection that came out "
        "best. The promise with hubs: the 99th percentile of the degrees, and the most hubs that "
        "anybody is linked to. All are read off the data, which is the paper's protocol and not "
        "private.",
        (*WHERE, "steps", "D", "τ", "Γ of the paper", "Γ", "Γ of one release", "D̃",
         "with hubs", "Γ with hubs"),
        tuple(cells(place, panel) for place, panel in panels.items()),
    )  # fmt: skip


def _text(value: object) -> str:
    return NONE if value is None else str(value)


def _thresholds(panel: list[Point]) -> str:
    tuned = [point.rows[PROJECTION].threshold for point in panel if PROJECTION in point.rows]
    distinct = [each for each in dict.fromkeys(tuned) if each is not None]
    if not distinct:
        return NONE
    return distinct[0] if len(distinct) == 1 else f"{distinct[0]} … {distinct[-1]}"


def _claims_on_epsilon(panels: Panels) -> ResultTable:
    published = tuple(name + POST for name in (AUTO, HUBS, SHAPED))

    def cells(place: Place, panel: list[Point]) -> tuple[str, ...]:
        useful = (useful_from(panel, mechanism) for mechanism in (SENSDIFF, *published))
        return (
            *place,
            verdict(panel, COMPOSE, "epsilon"),
            verdict(panel, PROJECTION, "epsilon"),
            span(dropped(panel)),
            worst(panel, "epsilon"),
            *(NONE if value is None else f"{value:g}" for value in useful),
        )

    return ResultTable(
        "The paper's claims, a release every step",
        "Errors are called level if they are within two standard errors of their difference. "
        "Dropped: the part of Compose-projection's error that it would have without noise. "
        "Useful: the error is below that of always publishing 0, from this ε on.",
        (*WHERE, f"SensDiff below {COMPOSE} at every ε", f"below {PROJECTION} at every ε",
         "dropped", f"{COMPOSE} the worst of the three", "SensDiff useful from ε",
         *(f"{name} useful from ε" for name in published)),
        tuple(cells(place, panel) for place, panel in panels.items()),
    )  # fmt: skip


def _claims_on_time(panels: Panels) -> ResultTable:
    def cells(place: Place, panel: list[Point]) -> tuple[str, ...]:
        exponents = (growth(panel, mechanism) for mechanism in PAPERS)
        slows = [slower(panel, other) for other in (COMPOSE, PROJECTION)]
        return (
            *place,
            *(NONE if value is None else f"{value:.2f}" for value in exponents),
            *("yes" if value else "no" for value in slows),
            verdict(panel, COMPOSE, "releases"),
            verdict(panel, PROJECTION, "releases"),
        )

    return ResultTable(
        "The paper's claims, ε = 5, with more and more releases",
        "g: the error grows like T to the power of g.",
        (*WHERE, *(f"g of {name}" for name in PAPERS), f"SensDiff slower than {COMPOSE}",
         f"than {PROJECTION}", f"SensDiff below {COMPOSE} at every T",
         f"below {PROJECTION} at every T"),
        tuple(cells(place, panel) for place, panel in panels.items()),
    )  # fmt: skip


def _ratio_tables(panels: Panels, names: Sequence[str]) -> dict[str, ResultTable]:
    """Ratios to SensDiff: over the grid of ε, and at ε = 1 in either measure."""
    whole = _ratios(
        "Errors as ratios to SensDiff, at equal ε",
        "Geometric means over the grid of ε, a release every step; below 1 is better than the "
        "paper's SensDiff. Behind the stroke, ours after post-processing.",
        panels,
        names,
    )
    at_one = {place: [point] for place, point in at_epsilon(panels, ONE).items()}
    if not at_one:
        return {"gains": whole}
    note = "A release every step; behind the stroke, ours after post-processing."
    relative = _ratios("Relative errors as ratios to SensDiff's at ε = 1", note, at_one, names)
    absolute = _ratios(
        "Mean absolute errors as ratios to SensDiff's at ε = 1", note, at_one, names, absolute=True
    )
    short = summaries(at_epsilon(panels, ONE), names)
    return short | {"at-one": relative, "at-one-absolute": absolute, "gains": whole}


def _ratios(
    title: str, note: str, panels: Panels, names: Sequence[str], *, absolute: bool = False
) -> ResultTable:
    shown = [name for name in names if name != SENSDIFF and not name.endswith(POST)]

    def cell(panel: list[Point], name: str) -> str:
        both = (mean_ratio(panel, each, absolute=absolute) for each in (name, name + POST))
        return " / ".join(f"{value:.2f}" for value in both if value is not None) or NONE

    return ResultTable(
        title,
        note,
        (*WHERE, *shown),
        tuple((*place, *(cell(panel, name) for name in shown)) for place, panel in panels.items()),
    )


def _errors(panels: Panels, names: Sequence[str], axis: str, sign: str) -> ResultTable:
    def cell(point: Point, mechanism: str) -> str:
        row = point.rows.get(mechanism)
        return NONE if row is None else f"{row.error:.3g} ± {row.standard_error:.1g}"

    return ResultTable(
        f"Relative error by {sign}",
        "The mean over the runs, and its standard error.",
        (*WHERE, sign, *names),
        tuple(
            (*place, f"{getattr(point, axis):g}", *(cell(point, name) for name in names))
            for place, panel in panels.items()
            for point in panel
        ),
    )


def require_page(path: Path) -> None:
    """Refuse a page that is not there, or is no text, before anything is computed."""
    if not path.is_file():
        raise ParameterError("page", "there is no such file", hint="Write its prose first.")
    try:
        path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError("page", "cannot be read as UTF-8 text") from error


def write_findings(path: Path, rows: Sequence[Row]) -> None:
    """Fill a page in, and put its figures (SVG) and results beside it."""
    fill_page(path, rows)
    for figure in dict.fromkeys(row.figure for row in rows):
        write_figure(path.parent / PICTURES, rows, figure)
    write_rows(path.parent / RESULTS, rows)


def fill_page(path: Path, rows: Sequence[Row]) -> None:
    """Fill in a page that only quotes results."""
    write_content(path, filled_in(path.read_text(encoding="utf-8"), rows).encode())


def filled_in(text: str, rows: Sequence[Row]) -> str:
    """A page with the tables and numbers that these results give."""
    found = {
        "table": {name: f"\n{table.markdown()}\n" for name, table in tables(rows).items()},
        "value": quotes(rows),
    }

    def fill(mark: re.Match[str]) -> str:
        kind, name = mark[1], mark[2]
        if name not in found[kind]:
            near = get_close_matches(name, found[kind], n=1)
            hint = f"Did you mean '{near[0]}'?" if near else ""
            raise ParameterError("page", f"these results give no {kind} '{name}'", hint=hint)
        return f"<!-- {kind} {name} -->{found[kind][name]}<!-- end -->"

    return _MARKED.sub(fill, text)


@dataclass(frozen=True)
class Look:
    """How a mechanism's line is drawn; lines that coincide must all be seen."""

    colour: str
    dash: str | None
    shape: str
    width: float


# The paper's three are broad and lie below; ours are thin and lie above. Of ours those are drawn
# that a steward could publish, post-processed where a promise is as the paper's; the tables
# have all.
LOOKS = {
    COMPOSE: Look("#8A8A8A", None, "square", 2.6),
    PROJECTION: Look("#E08A1E", None, "triangle-up", 2.6),
    SENSDIFF: Look("#8CC4EC", None, "circle", 5.0),
    AUTO: Look("#B3123C", "6,3", "cross", 1.6),
    AUTO + POST: Look("#B3123C", None, "triangle-down", 1.6),
    HUBS + POST: Look("#0A7D4F", None, "diamond", 1.6),
    SHAPED + POST: Look("#5B2A86", None, "triangle-right", 1.6),
    FOLLOWING + POST: Look("#0B5FA5", None, "square", 1.6),
}
OWN_LOOKS = tuple(  # of the user's candidates, which are black
    Look("#000000", dash, shape, 1.6)
    for dash, shape in ((None, "circle"), ("6,3", "square"), ("2,3", "diamond"))
)


def write_figure(folder: Path, rows: Sequence[Row], figure: str) -> Path:
    """Draw one figure into a file."""
    path = folder / f"error-against-{figure}.svg"
    write_content(path, chart(rows, figure).content(".svg"))
    return path


def looks_of(rows: Sequence[Row]) -> dict[str, Look]:
    """How everything is drawn that is drawn: a part of the comparison, and all of the user's."""
    own = (name for name in competing(rows) if name not in CONTENDERS)
    return LOOKS | {name: OWN_LOOKS[place % len(OWN_LOOKS)] for place, name in enumerate(own)}


def chart(rows: Sequence[Row], figure: str) -> Drawing:
    """All panels of one figure."""
    looks = looks_of(rows)
    here = [row for row in rows if row.figure == figure and row.mechanism in looks if row.error > 0]
    datasets = list(dict.fromkeys(row.dataset for row in here))
    columns = list(dict.fromkeys((row.version, row.statistic) for row in here))
    panels = tuple(
        tuple(
            _panel(_rows_of(here, dataset, column), figure, looks, column, dataset, datasets)
            for column in columns
        )
        for dataset in datasets
    )
    runs = here[0].runs if here else 0
    said = f"Mean of {runs} runs, with bars of two standard errors; lower is better. Dotted: "
    head = (AXES[figure][1], f"{said}the error of always publishing 0.")
    legend = tuple(_curve([], name, look, figure) for name, look in looks.items())
    return Figure(head, panels, legend, tuple(datasets)).drawing(head[0])


def _rows_of(rows: Sequence[Row], dataset: str, column: tuple[str, str]) -> list[Row]:
    return [row for row in rows if (row.dataset, row.version, row.statistic) == (dataset, *column)]


def _panel(
    rows: list[Row],
    figure: str,
    looks: dict[str, Look],
    column: tuple[str, str],
    dataset: str,
    datasets: list[str],
) -> Panel:
    """One panel: a line per mechanism, with bars of two standard errors."""
    drawn = [
        _curve([row for row in rows if row.mechanism == name], name, look, figure)
        for name, look in looks.items()
    ]
    return Panel(
        WIDTH,
        HEIGHT,
        _x(rows, figure, last=dataset == datasets[-1]),
        _y(rows),
        (_nothing(rows, figure), *drawn),
        title=", ".join(column) if dataset == datasets[0] else "",
    )


def _curve(rows: list[Row], name: str, look: Look, figure: str) -> Curve:
    ordered = sorted(rows, key=lambda row: _abscissa(row, figure))
    return Curve(
        name,
        tuple((_abscissa(row, figure), row.error) for row in ordered),
        look.colour,
        look.width,
        look.dash,
        mark=look.shape,
        bars=tuple(_bar(row) for row in ordered),
    )


def _bar(row: Row) -> tuple[float, float]:
    margin = 2 * row.standard_error
    return max(row.error - margin, row.error / 10), row.error + margin


def _nothing(rows: list[Row], figure: str) -> Curve:
    """The error of always publishing 0: whatever lies above it is worse than no release."""
    points = sorted(
        (_abscissa(row, figure), row.zero_error)
        for row in rows
        if row.mechanism == SENSDIFF and row.zero_error > 0
    )
    return Curve("", tuple(points), "#000000", 1.2, "1,3")


def _abscissa(row: Row, figure: str) -> float:
    return float(row.epsilon if figure == "epsilon" else row.releases)


def _x(rows: list[Row], figure: str, *, last: bool) -> Axis:
    shown = sorted({_abscissa(row, figure) for row in rows}) or [1.0]
    low, high = shown[0] / 1.1, shown[-1] * 1.1
    return Axis(low, high, tuple(shown), AXES[figure][0] if last else "")


def _y(rows: list[Row]) -> Axis:
    """From the least to the largest error, with some air."""
    errors = [row.error for row in rows] or [1.0]
    low, high = min(errors) / 1.3, max(errors) * 1.3
    return Axis(low, high, round_ticks(low, high, long=500), lines=True)
