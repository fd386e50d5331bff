"""Plots on two scales: lines with their names at their ends or in a legend, one panel or many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from math import ceil, floor, log, log10

from graphveil.drawing import svg
from graphveil.drawing.svg import (
    GRID,
    INK,
    MUTED,
    PAPER,
    SMALL,
    TITLE,
    Drawing,
    Point,
    titles,
    width_of,
    words,
)

EDGE = 14  # pixels of paper around everything
ROW = 20  # height of a line below the title, of a row of the legend, and of an axis title
SAMPLE, GAP = 26, 6  # how long a sample of the legend is, and how far its name is away
NAME_GAP = 15  # pixels between the names of two lines
MARK = 3.2  # half the size of a mark at a point
# Dark enough to be read as text on white, and distinct for colour-blind readers together
# with the names at the lines' ends.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#B5508A", "#A67C00", "#6A51A3", "#5B5B5B", "#8C2D04")
# Outlines of marks, in halves of their size.
SHAPES: dict[str, tuple[Point, ...]] = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "triangle-up": ((0, -1.2), (1.2, 1), (-1.2, 1)),
    "triangle-down": ((0, 1.2), (1.2, -1), (-1.2, -1)),
    "triangle-right": ((1.2, 0), (-1, 1.2), (-1, -1.2)),
    "cross": (
        (-0.4, -1.3), (0.4, -1.3), (0.4, -0.4), (1.3, -0.4), (1.3, 0.4), (0.4, 0.4),
        (0.4, 1.3), (-0.4, 1.3), (-0.4, 0.4), (-1.3, 0.4), (-1.3, -0.4), (-0.4, -0.4),
    ),
}  # fmt: skip


def plain(number: float) -> str:
    """A number along an axis."""
    return f"{number:,.12g}"


def in_percent(part: float) -> str:
    """A part along an axis."""
    return f"{100 * part:,.12g}%"


def with_air(values: Sequence[float]) -> tuple[float, float]:
    """A range with some air; what is so small that it vanishes is drawn at the lower edge."""
    high = max(values) * 1.15
    return max(min(values), high * 1e-6) / 1.15, high


def round_ticks(low: float, high: float, long: float = 1e3) -> tuple[float, ...]:
    """Round numbers in the range: 1, 2, 5 times powers of ten; the powers alone if it is long."""
    steps = (1, 2, 5) if high / low < long else (1,)
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    return tuple(
        s * 10.0**power for power in powers for s in steps if low <= s * 10.0**power <= high
    )


def even_ticks(high: float) -> tuple[float, ...]:
    """Some multiples of a round number, from 0 to the first that is not below `high`."""
    wanted = high / 5
    power = 10.0 ** floor(log10(wanted))
    stride = next(step * power for step in (1, 2, 5, 10) if step * power >= wanted)
    return tuple(stride * number for number in range(ceil(high / stride - 1e-9) + 1))


@dataclass(frozen=True)
class Axis:
    """A scale, and what is written along it.

    Attributes:
        low: where it begins.
        high: where it ends.
        ticks: the numbers that are written.
        title: what they are; nothing if that is said elsewhere.
        written: how a number is written.
        linear: whether equal distances are equal differences; else they are equal ratios.
        lines: whether a line goes through the plot at each tick.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    title: str = ""
    written: Callable[[float], str] = plain
    linear: bool = False
    lines: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value is: 0 where it begins, 1 where it ends."""
        if self.linear:
            return (value - self.low) / (self.high - self.low)
        return log(max(value, self.low * 1e-9) / self.low) / log(self.high / self.low)

    @property
    def widest(self) -> float:
        """The room that its numbers take beside each other."""
        return max((width_of(self.written(tick), SMALL) for tick in self.ticks), default=0)


@dataclass(frozen=True)
class Curve:
    """A line through points, with its name.

    Attributes:
        name: nothing if it needs none.
        points: where it goes, in the numbers of the axes.
        colour: of the line, its name and its marks.
        width: of the line; 0 if there are marks alone.
        dash: lengths of dashes and gaps.
        mark: the shape at each point: "circle" or one of `SHAPES`; nothing without.
        size: how large marks are, as a multiple of the usual size.
        bars: at each point the ends of an upright bar.
    """

    name: str
    points: tuple[Point, ...]
    colour: str
    width: float = 2
    dash: str | None = None
    mark: str = ""
    size: float = 1
    bars: tuple[Point, ...] = ()

    def marks(self, places: Sequence[Point]) -> str:
        """Its marks at some pixels."""
        if self.mark == "circle":
            return svg.dots(places, self.colour, MARK * self.size)
        if not self.mark:
            return ""
        half, outline = MARK * self.size, SHAPES[self.mark]
        return "".join(
            svg.shape([(x + half * dx, y + half * dy) for dx, dy in outline], self.colour)
            for x, y in places
        )

    @property
    def sample_width(self) -> float:
        """The room that it takes in a legend."""
        return SAMPLE + GAP + width_of(self.name, SMALL) + 16

    def sample(self, x: float, y: float) -> str:
        """What a legend shows of it."""
        drawn = svg.line([(x, y), (x + SAMPLE, y)], self.colour, self.width, self.dash)
        named = words(self.name, (x + SAMPLE + GAP, y + 4), SMALL, MUTED)
        return drawn + self.marks([(x + SAMPLE / 2, y)]) + named


@dataclass(frozen=True)
class Border:
    """A dashed line at a height, with words above its right end."""

    height: float
    says: str


@dataclass(frozen=True)
class Panel:
    """Curves within a pair of axes.

    Attributes:
        width: of the plot, in pixels.
        height: of the plot, in pixels.
        x: the lower axis.
        y: the upright one.
        curves: in the order in which they are drawn; the last lies above all others.
        title: above the plot.
        named: whether each curve has its name at its right end.
        borders: heights that mean something.
    """

    width: float
    height: float
    x: Axis
    y: Axis
    curves: tuple[Curve, ...]
    title: str = ""
    named: bool = False
    borders: tuple[Border, ...] = ()

    @cached_property
    def left(self) -> float:
        """The room that the upright axis takes."""
        return self.y.widest + 10 + (ROW if self.y.title else 0)

    @cached_property
    def right(self) -> float:
        """The room that names take, or half of the last number below."""
        names = [width_of(each.name, SMALL) + 7 for each in self.curves] if self.named else []
        return max([*names, 12.0])

    @property
    def top(self) -> float:
        """The room that the title takes."""
        return ROW if self.title else 6

    @property
    def bottom(self) -> float:
        """The room that the lower axis takes."""
        return 24 + (ROW if self.x.title else 0)

    def at(self, point: Point) -> Point:
        """Where a point is, from the plot's upper left corner."""
        return self.x.share(point[0]) * self.width, self.height * (1 - self.y.share(point[1]))

    def drawn(self, left: float, top: float) -> str:
        """All of it, with the plot's upper left corner at this place."""
        parts = [self._grid(), self._lower(), self._titles(), self._inside(), self._above()]
        return svg.element("g", "".join(parts), transform=f"translate({left:.1f} {top:.1f})")

    def _inside(self) -> str:
        """What must not reach beyond the plot; a drawing within a drawing is cut at its edges."""
        drawn = []
        for curve in self.curves:
            for (x, _), (low, high) in zip(curve.points, curve.bars, strict=False):
                drawn.append(svg.line([self.at((x, low)), self.at((x, high))], curve.colour, 1))
            if curve.width and curve.points:
                places = [self.at(point) for point in curve.points]
                drawn.append(svg.line(places, curve.colour, curve.width, curve.dash))
        return svg.element("svg", "".join(drawn), width=self.width, height=self.height)

    def _above(self) -> str:
        """Marks, names and borders, of which nothing is cut."""
        marks = [each.marks([self.at(point) for point in each.points]) for each in self.curves]
        return "".join([*map(self._border, self.borders), *marks, self._names()])

    def _names(self) -> str:
        if not self.named:
            return ""
        ends = [self.at(each.points[-1]) for each in self.curves]
        heights = apart([y for _, y in ends])
        return "".join(
            words(each.name, (x + 7, y + 4), SMALL, each.colour)
            for each, (x, _), y in zip(self.curves, ends, heights, strict=True)
        )

    def _border(self, border: Border) -> str:
        y = self.at((self.x.low, border.height))[1]
        drawn = svg.line([(0, y), (self.width, y)], MUTED, 1, "4,4")
        return drawn + words(border.says, (self.width - 4, y - 6), SMALL, MUTED, "end")

    def _grid(self) -> str:
        drawn = []
        for tick in self.y.ticks:
            y = self.at((self.x.low, tick))[1]
            if self.y.lines:
                drawn.append(svg.line([(0, y), (self.width, y)], GRID, 1))
            drawn.append(words(self.y.written(tick), (-8, y + 4), SMALL, MUTED, "end"))
        return "".join(drawn)

    def _lower(self) -> str:
        drawn = [svg.line([(0, self.height), (self.width, self.height)], MUTED, 1)]
        before = -self.width
        for tick in self.x.ticks:
            x, text = self.at((tick, self.y.low))[0], self.x.written(tick)
            drawn.append(svg.line([(x, self.height), (x, self.height + 4)], MUTED, 1))
            if x - width_of(text, SMALL) / 2 > before + 4:
                drawn.append(words(text, (x, self.height + 18), SMALL, MUTED, "middle"))
                before = x + width_of(text, SMALL) / 2
        return "".join(drawn)

    def _titles(self) -> str:
        middle = self.width / 2
        drawn = [words(self.title, (middle, -8), SMALL, INK, "middle")] if self.title else []
        if self.x.title:
            drawn.append(words(self.x.title, (middle, self.height + 40), SMALL, MUTED, "middle"))
        if self.y.title:
            beside = (-self.y.widest - 18, self.height / 2)
            drawn.append(svg.upright(self.y.title, beside, SMALL, MUTED))
        return "".join(drawn)


def apart(heights: Sequence[float]) -> list[float]:
    """Where to write each line's name: at its end, moved just enough not to overlap."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    places = [heights[i] for i in order]
    for _ in range(200):
        for upper in range(len(places) - 1):
            missing = NAME_GAP - (places[upper + 1] - places[upper])
            if missing > 0:
                places[upper] -= missing / 2
                places[upper + 1] += missing / 2
    moved = dict(zip(order, places, strict=True))
    return [moved[i] for i in range(len(heights))]


@dataclass(frozen=True)
class Figure:
    """Panels in rows, below a title and a legend.

    Attributes:
        head: the title, and lines below it.
        rows: the panels.
        legend: what it shows; nothing where the curves have their names.
        sides: what each row shows, written at its left; nothing where there is one.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Panel, ...], ...]
    legend: tuple[Curve, ...] = ()
    sides: tuple[str, ...] = ()

    def drawing(self, label: str) -> Drawing:
        """The whole picture; `label` says it in words."""
        drawn = [titles(self.head, (EDGE, EDGE + TITLE), ROW), self._legend()]
        top = self._panels_at
        for row, side in zip(self.rows, self.sides or ("",) * len(self.rows), strict=True):
            drawn.append(self._row(row, side, top))
            top += _height(row)
        height = top + EDGE
        paper = svg.element("rect", width=self._width, height=height, fill=PAPER)
        return Drawing(label, svg.document(paper + "".join(drawn), self._width, height, label))

    def _row(self, row: tuple[Panel, ...], side: str, top: float) -> str:
        above = max(panel.top for panel in row)
        middle = top + above + max(panel.height for panel in row) / 2
        drawn = [svg.upright(side, (EDGE + SMALL, middle), SMALL + 1, INK)] if side else []
        x = EDGE + self._side
        for panel, (left, rest) in zip(row, self._columns, strict=False):
            drawn.append(panel.drawn(x + left, top + above))
            x += left + rest
        return "".join(drawn)

    @property
    def _side(self) -> float:
        return ROW if any(self.sides) else 0

    @cached_property
    def _columns(self) -> list[Point]:
        """The room of each column: for the upright axes, and for the rest."""
        columns = list(zip_longest(*self.rows))
        shown = [[panel for panel in column if panel] for column in columns]
        return [
            (max(p.left for p in column), max(p.width + p.right for p in column))
            for column in shown
        ]

    @cached_property
    def _width(self) -> float:
        heads = [
            width_of(text, SMALL if number else TITLE) for number, text in enumerate(self.head)
        ]
        return max(self._side + sum(map(sum, self._columns)), *heads) + 2 * EDGE

    @cached_property
    def _samples(self) -> list[list[Curve]]:
        """The legend, broken into rows that fit."""
        rows: list[list[Curve]] = [[]]
        for curve in self.legend:
            taken = sum(each.sample_width for each in rows[-1])
            if rows[-1] and taken + curve.sample_width > self._width - 2 * EDGE:
                rows.append([])
            rows[-1].append(curve)
        return rows if self.legend else []

    @property
    def _legend_at(self) -> float:
        return EDGE + TITLE + ROW * (len(self.head) - 1) + 12

    @property
    def _panels_at(self) -> float:
        return self._legend_at + ROW * len(self._samples) + 6

    def _legend(self) -> str:
        drawn = []
        for number, row in enumerate(self._samples):
            x = float(EDGE)
            for curve in row:
                drawn.append(curve.sample(x, self._legend_at + ROW * number + ROW / 2))
                x += curve.sample_width
        return "".join(drawn)


def _height(row: tuple[Panel, ...]) -> float:
    return max(panel.top + panel.height + panel.bottom for panel in row)
