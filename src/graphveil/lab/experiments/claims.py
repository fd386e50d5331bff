"""The paper's claims held against results, and every number that a text may cite.

Two mean errors count as different if they are more than two standard errors of their
difference apart; otherwise they are level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import exp, hypot, log
from typing import TypeAlias

from graphveil.lab.experiments.comparison import (
    COMPOSE,
    FOLLOWING,
    GUESSED,
    OURS,
    POST,
    PROJECTION,
    SENSDIFF,
    SHAPED,
    TUNED,
    WRONG_BY_TWO,
)
from graphveil.lab.experiments.protocol import CHOSEN_ON
from graphveil.lab.experiments.results import Row, competing

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
    panels: dict[Place, dict[tuple[float, int], Point]] = {}
    for row in rows:
        if row.figure == figure:
            panel = panels.setdefault(row.place, {})
            at = row.epsilon, row.releases
            panel.setdefault(at, Point(*at, {})).rows[row.mechanism] = row
    return {place: [panel[at] for at in sorted(panel)] for place, panel in panels.items()}


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
    useful: float | None = None
    for point in reversed(panel):
        row = point.rows.get(mechanism)
        if row is None or row.error >= row.zero_error:
            break
        useful = point.epsilon
    return useful


def _drawn(panel: Sequence[Point], mechanism: str) -> list[Point]:
    """The points that have a place on a logarithmic axis: all, unless noise vanishes."""
    return [p for p in panel if mechanism in p.rows and p.rows[mechanism].error > 0]


# A table of results, as Markdown and as HTML.


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


# The summary: each candidate at ε = 1, over all networks of a kind, statistic by statistic.


ONE = 1.0  # the ε at which budgets are usually compared
# What a study without a promise publishes, processed, of each statistic.
WITHOUT_PROMISE = (
    ("high-degree", SHAPED + POST),
    ("edges", FOLLOWING + POST),
    ("edges", GUESSED + POST),
    ("components", SHAPED + POST),
    ("clusters", SHAPED + POST),
)


def is_model(place: Place) -> bool:
    """Whether a panel shows a network that was drawn from a model."""
    return "synthetic" in place[0]


def is_known(place: Place) -> bool:
    """Whether constants were chosen on a network; otherwise it is held out."""
    return place[0] in CHOSEN_ON


def summaries(at_one: Mapping[Place, Point], names: Sequence[str]) -> dict[str, ResultTable]:
    """Ratios to SensDiff's errors: known networks, held-out ones, and parameters wrong by two."""
    known = {place: point for place, point in at_one.items() if is_known(place)} or at_one
    held_out = {place: point for place, point in at_one.items() if not is_known(place)}
    plain = [name for name in names if name not in WRONG_BY_TWO]
    note = "Errors as ratios to SensDiff's, geometric means over all cases. "
    found = {
        "summary": _means("In short: ε = 1", note, known, plain),
        "wrong": _means(
            "Parameters that are wrong by two: ε = 1",
            f"{note}Worst loss: of the most exposed person, in multiples of ε. ",
            known,
            [name for name in names if name in WRONG_BY_TWO],
            losses=True,
        ),
        "networks": _by_network(at_one),
    }
    if held_out and known is not at_one:
        title = "Networks on which no constant was chosen: ε = 1"
        found["held-out"] = _means(title, note, held_out, plain)
    return found


def _means(
    title: str,
    note: str,
    points: Mapping[Place, Point],
    names: Sequence[str],
    *,
    losses: bool = False,
) -> ResultTable:
    """Geometric means in both measures, ours after post-processing."""
    statistics = list(dict.fromkeys(place[2] for place in points))
    shown = [name for name in names if name != SENSDIFF and not name.endswith(POST)]

    def cells(name: str) -> Iterable[str]:
        for statistic in statistics:
            here = [point for place, point in points.items() if place[2] == statistic]
            for absolute in (False, True):
                means = (ratios(here, each, absolute=absolute) for each in _variants(name))
                yield _last([number(geometric_mean(each)) for each in means])
        if losses:
            yield span(point.rows[name].worst_loss for point in _with(points.values(), name))

    columns = [f"{each}: {measure}" for each in statistics for measure in ("relative", "absolute")]
    return ResultTable(
        title,
        f"{note}Ours after post-processing.",
        ("contender", *columns, *(("worst loss",) if losses else ())),
        tuple((name, *cells(name)) for name in shown),
    )


def _by_network(at_one: Mapping[Place, Point]) -> ResultTable:
    """What a study without a promise does, network by network."""

    def cell(dataset: str, statistic: str, name: str) -> str:
        here = [at for place, at in at_one.items() if (place[0], place[2]) == (dataset, statistic)]
        means = (geometric_mean(ratios(here, name, absolute=each)) for each in (False, True))
        return _both(map(number, means))

    offered = {place[2] for place in at_one}
    columns = [each for each in WITHOUT_PROMISE if each[0] in offered]
    return ResultTable(
        "Without a promise, network by network: ε = 1",
        "Relative / absolute error as ratios to SensDiff's, post-processed; the mean of both "
        "versions where there are two.",
        ("dataset", *(f"{statistic}: {name.removesuffix(POST)}" for statistic, name in columns)),
        tuple(
            (dataset, *(cell(dataset, *column) for column in columns))
            for dataset in dict.fromkeys(place[0] for place in at_one)
        ),
    )


def _with(points: Iterable[Point], name: str) -> list[Point]:
    return [point for point in points if name in point.rows]


def number(value: float | None) -> str:
    """A ratio as a reader wants it."""
    return NONE if value is None else f"{value:.2f}"


def share(holds: Iterable[bool]) -> str:
    """In how many cases something holds, of how many."""
    listed = list(holds)
    return f"{sum(listed)} of {len(listed)}"


def beaten(here: Iterable[Point], name: str) -> str:
    """In how many cases a candidate's relative error is below tuned Compose-projection's."""
    both = [point for point in here if name in point.rows and PROJECTION in point.rows]
    if not both or name == PROJECTION:
        return NONE
    return share(point.ratio(name, PROJECTION) < 1 for point in both)


def _variants(name: str) -> tuple[str, str]:
    return name, name + POST


def _last(texts: Sequence[str]) -> str:
    """The post-processed one; the other where there is none."""
    return next((text for text in reversed(texts) if text != NONE), NONE)


def _both(texts: Iterable[str]) -> str:
    """Raw and post-processed; one alone where there is no other."""
    return " / ".join(text for text in texts if text != NONE) or NONE


# Quotes: every number that a text about results may cite, by name, as the reader sees it.


BASELINES = (COMPOSE, PROJECTION)
UNTUNED = tuple(
    name + post for name in OURS if name not in (*TUNED, *WRONG_BY_TWO) for post in ("", POST)
)


def quotes(rows: Sequence[Row]) -> dict[str, str]:
    """All numbers: of all panels, of the models, of known networks and of those held out."""
    by_epsilon, by_time = points(rows, "epsilon"), points(rows, "time")
    names = competing(rows)
    drawn = {place: panel for place, panel in by_epsilon.items() if is_model(place)}
    real = {place: panel for place, panel in by_epsilon.items() if is_known(place)}
    held_out = {place: panel for place, panel in by_epsilon.items() if place not in real}
    values = {"runs": str(rows[0].runs) if rows else "no"}
    groups = {"": by_epsilon, " synthetic": drawn, " real": real, " held-out": held_out}
    for where, panels in groups.items():
        named = _on_epsilon(panels, names) | _at_one(panels, names)
        values |= {f"{name}{where}": text for name, text in named.items()}
    for dataset in dict.fromkeys(place[0] for place in by_epsilon):
        here = {place: panel for place, panel in by_epsilon.items() if place[0] == dataset}
        values |= {f"{name} {dataset}": text for name, text in _at_one(here, names).items()}
    return values | _on_time(by_time, names)


def _on_epsilon(panels: Panels, names: Iterable[str]) -> dict[str, str]:
    """Where SensDiff is below the baselines, all ratios to it, and whether it is of use."""
    values = {
        f"below {other}": share(
            verdict(panel, other, "epsilon") == "yes" for panel in _competing(panels, other)
        )
        for other in BASELINES
    }
    for mechanism in names:
        for word, absolute in (("relative", False), ("absolute", True)):
            mean = (mean_ratio(panel, mechanism, absolute=absolute) for panel in panels.values())
            values[f"{word} {mechanism}"] = span(mean)
        useful = (useful_from(panel, mechanism) for panel in panels.values())
        values[f"useless {mechanism}"] = share(each is None for each in useful)
    values["worst epsilon"] = share(worst(panel, "epsilon") == "yes" for panel in panels.values())
    return values


def _at_one(panels: Panels, names: Iterable[str]) -> dict[str, str]:
    """At ε = 1, statistic by statistic: what each candidate gains, and the best untuned of ours."""
    at_one = at_epsilon(panels, ONE)
    values = {
        "luck": _percent(
            point.luck(PROJECTION) for point in at_one.values() if PROJECTION in point.rows
        )
    }
    for statistic in dict.fromkeys(place[2] for place in at_one):
        here = [point for place, point in at_one.items() if place[2] == statistic]
        for mechanism in names:
            values |= {
                f"{word} {mechanism} {statistic}": text
                for word, text in _of_points(here, mechanism).items()
            }
        best = [min(_untuned_ratios(point)) for point in here]
        values[f"mean best untuned {statistic}"] = number(geometric_mean(best))
        values[f"span best untuned {statistic}"] = span(best)
    return values


def _of_points(here: Sequence[Point], mechanism: str) -> dict[str, str]:
    relative, absolute = (ratios(here, mechanism, absolute=each) for each in (False, True))
    rows = [point.rows[mechanism] for point in _with(here, mechanism)]
    rivals = [point for point in _with(here, mechanism) if PROJECTION in point.rows]
    return {
        "early": _percent(row.early for row in rows),
        "worst loss": span(row.worst_loss for row in rows),
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
    values = {
        f"growth {mechanism}": span(growth(panel, mechanism) for panel in panels.values())
        for mechanism in names
    }
    for other in BASELINES:
        values[f"slower {other}"] = share(
            slower(panel, other) for panel in _competing(panels, other)
        )
        for few in (2, 3):
            values[f"at {few} {other}"] = span(_few_releases(panels, few, other))
    values["worst releases"] = share(worst(panel, "releases") == "yes" for panel in panels.values())
    return values


def _competing(panels: Panels, name: str) -> list[list[Point]]:
    """The panels in which a candidate takes part: not every statistic can be projected."""
    return [panel for panel in panels.values() if _with(panel, name)]


def _few_releases(panels: Panels, releases: int, other: str) -> Iterable[float]:
    """A baseline's error on high degrees as a ratio to SensDiff's, at a number of releases."""
    for (_, _, statistic), panel in panels.items():
        for point in panel:
            if statistic == "high-degree" and point.releases == releases and other in point.rows:
                yield point.ratio(other)
