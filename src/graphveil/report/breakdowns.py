"""Breakdowns for readers: tables by group, a matrix of links, small charts on one scale.

No cell is left out, however small: the noise hides a single person in small numbers as well as in
large ones, so nothing has to be suppressed. A cell that the noise drowns is said to be too noisy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphveil.drawing import svg
from graphveil.drawing.svg import GRID, INK, MUTED, PAPER, SMALL, TITLE
from graphveil.report import wording
from graphveil.report.estimates import Estimate, named, now
from graphveil.report.frame import BAND, PROCESSED, RAW, ROW, Counts, Sample, Size
from graphveil.report.wording import TOO_NOISY
from graphveil.statistics.breakdown import Breakdown, cell_words

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.study.facts import ReleaseMade
    from graphveil.study.history import PublishedSeries

Rows = tuple[tuple[str, ...], ...]
Cell = tuple[str, tuple[str, ...], Rows]  # title, header, rows

Curve = tuple[str, tuple[list[float], ...]]  # of a cell: low, high, processed, raw, true

NAMED = 3  # cells that the sentence names
NOTHING_HIDDEN = "none is left out: the noise hides a person in small numbers, too"


# In words.


def reading(series: PublishedSeries, made: ReleaseMade, when: str) -> str:
    """The largest cells of a release as a sentence, and how many are too noisy to tell."""
    sure = wording.percent(made.level)
    known = [now(series, made, place) for place in range(series.width)]
    clear = [place for place, each in enumerate(known) if not each.too_noisy]
    largest = sorted(clear, key=lambda place: -known[place].value)[:NAMED]
    named = "; ".join(_cell_sentence(series, made, place) for place in largest)
    noisy = series.width - len(clear)
    share = f"{noisy:,} of {series.width:,} numbers {'is' if noisy == 1 else 'are'}"
    rest = f" {share} {TOO_NOISY}; {NOTHING_HIDDEN}." if noisy else ""
    if not named:
        return f"{when}, the added noise is larger than each of the {series.width:,} numbers.{rest}"
    return f"{when}: {named}; each with {sure} confidence.{rest}"


def _cell_sentence(series: PublishedSeries, made: ReleaseMade, place: int) -> str:
    """Such as "between 310 and 390 are between North and South"."""
    known = now(series, made, place)
    low, high = wording.figure(max(known.low, 0)), wording.figure(known.high)
    (cell, degree), divided = series.places[place], series.breakdown
    of_links = divided is not None and divided.cells == "pairs"
    where = f"are between {cell_words(cell)}" if of_links else f"with {wording.labels(cell)}"
    at = "" if degree is None else f" (d = {degree})"
    return f"between {low} and {high} {where}{at}"


def place_words(series: PublishedSeries) -> list[str]:
    """What each number of a release is about, for the head of a table."""
    return [_head(cell, degree) for cell, degree in series.places]


def _head(cell: dict[str, str], degree: int | None) -> str:
    words = [cell_words(cell)] if cell else []
    return ", ".join([*words, *([] if degree is None else [str(degree)])])


# Tables: every number with its interval, and of links a matrix of those within and between.


def tables(series: PublishedSeries, made: ReleaseMade) -> list[Cell]:
    """The tables of one release."""
    divided = series.breakdown
    assert divided is not None, "others have no cells"
    of_links = [_matrix(series, divided, made)] if divided.cells == "pairs" else []
    return [*of_links, _listed(series, divided, made)]


def _listed(series: PublishedSeries, divided: Breakdown, made: ReleaseMade) -> Cell:
    """One row for each number."""
    places = series.places
    names = list(places[0][0])
    degrees = ("d",) if places[0][1] is not None else ()
    level = wording.percent(made.level)
    header = (*map(_column, names), *degrees, named(series), f"{level} interval", "raw")
    rows = tuple(
        (
            *cell.values(),
            *(() if degree is None else (str(degree),)),
            *_known(now(series, made, place)),
            wording.figure(made.raw[place]),
        )
        for place, (cell, degree) in enumerate(places)
    )
    groups = " and ".join(wording.groups_of(series))
    return f"{made.label}, by {groups}: every number with its interval", header, rows


def _column(name: str) -> str:
    from graphveil.graph.groups import SECOND

    plain = name.removesuffix(SECOND).replace("_", " ")
    return f"{plain} (other end)" if name.endswith(SECOND) else plain


def _known(known: Estimate) -> tuple[str, str]:
    """A number and its interval."""
    return wording.whole(known.value) + _doubt(known), wording.count_range(known.low, known.high)


def _doubt(known: Estimate) -> str:
    return f" ({TOO_NOISY})" if known.too_noisy else ""


def _matrix(series: PublishedSeries, divided: Breakdown, made: ReleaseMade) -> Cell:
    """Links within groups on the diagonal, between them beside it; undirected ones stand twice."""
    kinds = [cell_words(dict(cell)) for cell in _people(divided)]
    directed = series.width == len(kinds) ** 2
    at = {_ends(cell, divided): place for place, (cell, _) in enumerate(series.places)}

    def shown(one: str, other: str) -> str:
        place = at[one, other] if (one, other) in at else at[other, one]
        known = now(series, made, place)
        return f"{wording.count_range(known.low, known.high)}{_doubt(known)}"

    rows = tuple((one, *(shown(one, other) for other in kinds)) for one in kinds)
    title = (
        f"{made.label}: links within and between groups, {wording.percent(made.level)} intervals"
    )
    corner = "from ↓ to →" if directed else "and"
    return title, (corner, *kinds), rows


def _people(divided: Breakdown) -> Iterator[dict[str, str]]:
    from itertools import product

    names = [each.name for each in divided.axes]
    for labels in product(*(each.cells for each in divided.axes)):
        yield dict(zip(names, labels, strict=True))


def _ends(cell: dict[str, str], divided: Breakdown) -> tuple[str, str]:
    """Both ends of a pair, in words."""
    half = len(divided.axes)
    values = list(cell.values())
    return ", ".join(values[:half]), ", ".join(values[half:])


# Small multiples: one panel a cell, all on one scale.

PANELS = 24  # that are drawn; the table has every cell
HEIGHT, ACROSS, GAP, HEAD = 96, 130, 18, 18


def panels(
    series: PublishedSeries,
    calendar: Calendar,
    size: Size,
    head: tuple[str, ...],
    label: str,
    truth: Sequence[Sequence[int]] | None = None,
) -> str:
    """A small chart for each cell: over steps or, where cells have degrees, over degrees.

    In a rehearsal, the truth is drawn as well.
    """
    curves = _curves(series, truth)[:PANELS]
    counts = Counts.of([0.0, *(value for _, rows in curves for row in rows for value in row)])
    left = size.edge + max(svg.width_of(counts.written(each), SMALL) for each in counts.lines) + 8
    columns = max(1, int((size.width - left - size.edge + GAP) // (ACROSS + GAP)))
    across = (size.width - left - size.edge - GAP * (columns - 1)) / columns
    top = size.edge + (TITLE + ROW * (len(head) - 1) + 14 if head else 0) + ROW
    parts = [
        svg.titles(head, (size.edge, size.edge + TITLE), ROW),
        _legend(series, size, top, true=bool(truth)),
    ]
    for number, (name, rows) in enumerate(curves):
        row, column = divmod(number, columns)
        x = left + column * (across + GAP)
        y = top + HEAD + row * (HEIGHT + HEAD + GAP)
        parts.append(_panel(name, rows, counts, (x, y), across, axis=column == 0, left=left))
    rows_of_panels = -(-len(curves) // columns)
    bottom = top + rows_of_panels * (HEIGHT + HEAD + GAP) + GAP
    parts.append(svg.words(_note(series, calendar, len(curves)), (left, bottom), SMALL, MUTED))
    height = bottom + size.edge
    paper = svg.element("rect", width=size.width, height=height, fill=PAPER)
    return svg.document(paper + "".join(parts), size.width, height, label)


def _curves(series: PublishedSeries, truth: Sequence[Sequence[int]] | None) -> list[Curve]:
    """By cell, what is drawn: low, high, processed and raw; a count is never negative."""
    last = series.releases[-1]
    curves: list[Curve] = []
    places = series.places
    cells = list(dict.fromkeys(cell_words(cell) for cell, _ in places))
    per_cell = series.width // len(cells)
    for number, name in enumerate(cells):
        own = range(number * per_cell, (number + 1) * per_cell)
        made = [(last, place) for place in own]
        if per_cell == 1:
            made = [(each, own[0]) for each in series.releases]
        drawn = (
            [float(max(now(series, each, place).low, 0)) for each, place in made],
            [float(max(now(series, each, place).high, 0)) for each, place in made],
            [now(series, each, place).value for each, place in made],
            [float(max(each.raw[place], 0)) for each, place in made],
            [float(truth[each.step][place]) for each, place in made] if truth else [],
        )
        curves.append((name, drawn))
    return curves


def _panel(
    name: str,
    rows: tuple[list[float], ...],
    counts: Counts,
    at: svg.Point,
    across: float,
    *,
    axis: bool,
    left: float,
) -> str:
    x, y = at
    low, high, processed, raw, true = rows

    def points(values: Sequence[float]) -> list[svg.Point]:
        return [
            (x + (place + 0.5) / len(values) * across, y + HEIGHT * (1 - counts.share(value)))
            for place, value in enumerate(values)
        ]

    grid = [_grid(count, counts, at, across, left if axis else None) for count in counts.lines]
    title = svg.words(_short(name, across), (x, y - 5), SMALL, INK)
    if len(low) == 1:
        ends = [*points(low), *points(high)]
        (dot,) = points(processed)
        value = svg.line([(dot[0] - 12, dot[1]), (dot[0] + 12, dot[1])], PROCESSED, 2.5)
        return "".join([*grid, title, svg.line(ends, BAND, 14), value])
    band = svg.band(points(low), points(high), BAND)
    dots = svg.dots(points(raw), RAW, 1.8) if len(raw) < 40 else ""
    drawn = [*grid, title, band, dots, svg.line(points(processed), PROCESSED, 2)]
    return "".join([*drawn, *([svg.line(points(true), INK, 1.2, "4 3")] if true else [])])


def _short(name: str, across: float) -> str:
    room = int(across / (SMALL * svg.LETTER))
    return name if len(name) <= room else f"{name[: room - 1]}…"


def _grid(count: int, counts: Counts, at: svg.Point, across: float, left: float | None) -> str:
    y = at[1] + HEIGHT * (1 - counts.share(count))
    drawn = svg.line([(at[0], y), (at[0] + across, y)], GRID, 1)
    if left is None:
        return drawn
    return drawn + svg.words(counts.written(count), (left - 8, y + 4), SMALL, MUTED, "end")


def _legend(series: PublishedSeries, size: Size, top: float, *, true: bool) -> str:
    level = wording.percent(series.releases[-1].level)
    samples = (
        Sample(named(series), PROCESSED),
        Sample("raw", RAW, "dot"),
        Sample(f"{level} interval", BAND, "band"),
        *((Sample("true", INK, stroke=1.2),) if true else ()),
    )
    drawn, x = [], float(size.edge)
    for sample in samples:
        drawn.append(sample.drawn(x, top - ROW / 2))
        x += sample.width
    return "".join(drawn)


def _note(series: PublishedSeries, calendar: Calendar, shown: int) -> str:
    """What runs along each panel, and how many are drawn."""
    first, last = series.releases[0].label, series.releases[-1].label
    cells = len({cell_words(cell) for cell, _ in series.places})
    per_cell = series.width // cells
    along = f"d from 0 to {per_cell - 1}, in {last}" if per_cell > 1 else f"{first} to {last}"
    if first == last and per_cell == 1:
        along = last
    more = f"; {shown} of {cells} cells are drawn, the table has all" if shown < cells else ""
    return f"All on one scale; along each: {along}{more}."
