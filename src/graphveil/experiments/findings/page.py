"""The page: tables of results, as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from graphveil.experiments.findings.claims import (
    NONE,
    Panels,
    Place,
    Point,
    dropped,
    growth,
    mean_ratio,
    points,
    slower,
    span,
    useful_from,
    verdict,
    worst,
)
from graphveil.experiments.protocol.contenders import (
    AUTO,
    COMPOSE,
    MECHANISMS,
    PAPERS,
    POST,
    PROJECTION,
    SENSDIFF,
    TIGHT,
)
from graphveil.experiments.protocol.results import Row

WHERE = ("dataset", "version", "statistic")


@dataclass(frozen=True)
class ResultTable:
    """A table for readers; every cell is text.

    Attributes:
        title: what it shows.
        note: how to read it.
        header: the columns.
        rows: the cells.
    """

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table alone, in Markdown."""
        lines = [self.header, ("---",) * len(self.header), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def html(self) -> str:
        """The table alone, in HTML."""

        def line(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "\n".join(line(cells, "td") for cells in self.rows)
        head = line(self.header, "th")
        return f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def tables(rows: Sequence[Row]) -> dict[str, ResultTable]:
    """Every table that the results give, by name."""
    by_epsilon, by_time = points(rows, "epsilon"), points(rows, "time")
    found = {"settings": _settings(by_epsilon or by_time)}
    if by_epsilon:
        found["claims-epsilon"] = _claims_on_epsilon(by_epsilon)
        found["gains"] = _gains(by_epsilon)
        found["errors-epsilon"] = _errors(by_epsilon, "epsilon", "ε")
    if by_time:
        found["claims-time"] = _claims_on_time(by_time)
        found["errors-time"] = _errors(by_time, "releases", "T")
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
        paper, tight = last[SENSDIFF], last[TIGHT]
        return (
            *place, str(max(point.releases for point in panel)), paper.bound,
            NONE if paper.tau is None else str(paper.tau),
            str(paper.sensitivity), str(tight.sensitivity), str(last[COMPOSE].sensitivity),
            _thresholds(panel),
        )  # fmt: skip

    return ResultTable(
        "What was measured",
        "D: the largest degree (or in- and out-degree), rounded up to a multiple of 5. τ: the "
        "90th percentile of the degrees. D̃: the projection's thresholds that came out best. "
        "All three are read off the data, which is the paper's protocol and not private.",
        (*WHERE, "steps", "D", "τ", "Γ of the paper", "Γ", "Γ of one release", "D̃"),
        tuple(cells(place, panel) for place, panel in panels.items()),
    )


def _thresholds(panel: list[Point]) -> str:
    tuned = [point.rows[PROJECTION].threshold for point in panel if PROJECTION in point.rows]
    distinct = [each for each in dict.fromkeys(tuned) if each is not None]
    if not distinct:
        return NONE
    return distinct[0] if len(distinct) == 1 else f"{distinct[0]} … {distinct[-1]}"


def _claims_on_epsilon(panels: Panels) -> ResultTable:
    def cells(place: Place, panel: list[Point]) -> tuple[str, ...]:
        useful = (useful_from(panel, mechanism) for mechanism in (SENSDIFF, POST))
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
         f"{POST} useful from ε"),
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


def _gains(panels: Panels) -> ResultTable:
    shown = (COMPOSE, PROJECTION, TIGHT, AUTO, POST)

    def cells(place: Place, panel: list[Point]) -> tuple[str, ...]:
        relative = (mean_ratio(panel, mechanism) for mechanism in shown)
        absolute = (mean_ratio(panel, mechanism, absolute=True) for mechanism in (AUTO, POST))
        return *place, *(NONE if v is None else f"{v:.2f}" for v in (*relative, *absolute))

    return ResultTable(
        "Errors as ratios to SensDiff, at equal ε",
        "Geometric means over the grid of ε, a release every step; below 1 is better than the "
        "paper's SensDiff. The last two columns compare mean absolute errors instead.",
        (*WHERE, *shown, f"{AUTO}, absolute", f"{POST}, absolute"),
        tuple(cells(place, panel) for place, panel in panels.items()),
    )


def _errors(panels: Panels, axis: str, sign: str) -> ResultTable:
    def cell(point: Point, mechanism: str) -> str:
        row = point.rows.get(mechanism)
        return NONE if row is None else f"{row.error:.3g} ± {row.standard_error:.1g}"

    return ResultTable(
        f"Relative error by {sign}",
        "The mean over the runs, and its standard error.",
        (*WHERE, sign, *MECHANISMS),
        tuple(
            (*place, f"{getattr(point, axis):g}", *(cell(point, name) for name in MECHANISMS))
            for place, panel in panels.items()
            for point in panel
        ),
    )


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
