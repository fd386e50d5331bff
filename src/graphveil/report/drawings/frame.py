"""What surrounds a drawing: its title, its legend, its axes and its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from graphveil.report.drawings import svg
from graphveil.report.drawings.counts import Counts
from graphveil.report.drawings.step_ticks import Tick
from graphveil.report.drawings.svg import Point

# Colour-blind readers can distinguish blue and vermilion, and the shapes differ anyway. The
# page's style sheet names these colours to exchange them in the dark.
INK, MUTED, GRID, PAPER = "#1f2937", "#5b6472", "#e5e7eb", "#ffffff"
PROCESSED, RAW, BAND = "#1d5fa8", "#c2410c", "#cfe0f3"
EARLIER = ("#b9a3d0", "#9277b5", "#6b4b93")  # from the oldest to the newest

TITLE, SMALL = 16, 12  # sizes of letters
SAMPLE, GAP = 22, 6  # how long a sample of the legend is, and how far its name is away
APART = 10  # pixels between two ticks' texts
ROW = 20  # height of a row of the legend, and of a line below the title


@dataclass(frozen=True)
class Size:
    """The outer width of a drawing, and the height of what is plotted, in pixels."""

    width: int
    plot: int
    edge: int = 16


WIDE = Size(712, 260)
NARROW = Size(350, 230, edge=6)  # for phones, and for two columns on paper


@dataclass(frozen=True)
class Sample:
    """An entry of the legend: a name beside a piece of a mark."""

    name: str
    colour: str
    kind: str = "line"
    stroke: float = 2.5

    def drawn(self, x: float, y: float) -> str:
        """With its name to the right; `y` is the middle."""
        mark = self._mark(x, y)
        return mark + svg.words(self.name, (x + SAMPLE + GAP, y + 4), SMALL, MUTED)

    def _mark(self, x: float, y: float) -> str:
        if self.kind == "dot":
            return svg.dots([(x + SAMPLE / 2, y)], self.colour, 3.5)
        if self.kind == "band":
            return svg.element("rect", x=x, y=y - 5, width=SAMPLE, height=10, fill=self.colour)
        return svg.line([(x, y), (x + SAMPLE, y)], self.colour, self.stroke)

    @property
    def width(self) -> float:
        """The room that it takes."""
        return SAMPLE + GAP + svg.width_of(self.name, SMALL) + 14


@dataclass(frozen=True)
class Frame:
    """Where everything stands; the plot's left, right, top and bottom are in pixels.

    Attributes:
        size: of the drawing.
        head: title and the lines below it; nothing on a page, which says them above.
        legend: entries, in order.
        counts: the upright axis.
        places: how many values stand side by side.
        axis: what is counted along the lower axis; empty if its ticks say so.
    """

    size: Size
    head: tuple[str, ...]
    legend: tuple[Sample, ...]
    counts: Counts
    places: int
    axis: str = ""

    @cached_property
    def left(self) -> float:
        """After the widest count."""
        texts = [self.counts.written(count) for count in self.counts.lines]
        return self.size.edge + max(svg.width_of(text, SMALL) for text in texts) + 8

    @cached_property
    def right(self) -> float:
        """Where the plot ends; a label below its end may reach a little further."""
        return self.size.width - self.size.edge - 10

    @cached_property
    def top(self) -> float:
        """Below title and legend."""
        head = TITLE + ROW * (len(self.head) - 1) + 14 if self.head else 0
        return self.size.edge + head + ROW * len(self._rows()) + 8

    @cached_property
    def bottom(self) -> float:
        """Where the lower axis is."""
        return self.top + self.size.plot

    @property
    def height(self) -> float:
        """Of the whole drawing."""
        return self.bottom + 24 + (ROW if self.axis else 0) + self.size.edge

    def at(self, place: int, value: float) -> Point:
        """Where a value stands."""
        share = (place + 0.5) / self.places
        return (
            self.left + share * (self.right - self.left),
            self.bottom - self.counts.share(value) * (self.bottom - self.top),
        )

    def through(self, values: Sequence[float]) -> list[Point]:
        """Where all values of a line stand."""
        return [self.at(place, value) for place, value in enumerate(values)]

    def fits(self, ticks: list[Tick]) -> bool:
        """Whether ticks leave room between each other."""
        ends = [
            (self._middle(tick) - _half(tick), self._middle(tick) + _half(tick)) for tick in ticks
        ]
        return all(after[0] - before[1] >= APART for before, after in pairwise(ends))

    def drawing(self, marks: str, ticks: list[Tick], label: str) -> str:
        """The whole picture; `label` says it in words."""
        paper = svg.element("rect", width=self.size.width, height=self.height, fill=PAPER)
        parts = (paper, self._titles(), self._legend(), self._grid(), marks, self._steps(ticks))
        return svg.document("".join(parts), self.size.width, self.height, label)

    def _middle(self, tick: Tick) -> float:
        """Where a tick's text stands: below its place, but on the paper."""
        x, half = self._x(tick), _half(tick)
        return max(half, min(x, self.size.width - half))

    def _x(self, tick: Tick) -> float:
        return self.at(tick.place, self.counts.low)[0]

    def _titles(self) -> str:
        lines = []
        for number, text in enumerate(self.head):
            y = self.size.edge + TITLE + ROW * number
            style = (SMALL, MUTED) if number else (TITLE, INK)
            drawn = svg.words(text, (self.size.edge, y), *style)
            lines.append(drawn if number else svg.element("g", drawn, font_weight="bold"))
        return "".join(lines)

    def _rows(self) -> list[list[Sample]]:
        """The legend, broken into rows that fit."""
        rows: list[list[Sample]] = [[]]
        for sample in self.legend:
            taken = sum(each.width for each in rows[-1])
            if rows[-1] and taken + sample.width > self.size.width - 2 * self.size.edge:
                rows.append([])
            rows[-1].append(sample)
        return rows

    def _legend(self) -> str:
        drawn, rows = [], self._rows()
        for number, row in enumerate(rows):
            x = float(self.size.edge)
            for sample in row:
                drawn.append(sample.drawn(x, self.top - 8 - ROW * (len(rows) - number) + ROW / 2))
                x += sample.width
        return "".join(drawn)

    def _grid(self) -> str:
        lines = []
        for count in self.counts.lines:
            y = self.at(0, count)[1]
            lines.append(svg.line([(self.left, y), (self.right, y)], GRID, 1))
            text = self.counts.written(count)
            lines.append(svg.words(text, (self.left - 8, y + 4), SMALL, MUTED, "end"))
        return "".join(lines)

    def _steps(self, ticks: list[Tick]) -> str:
        base = svg.line([(self.left, self.bottom), (self.right, self.bottom)], MUTED, 1)
        drawn = [base]
        for tick in ticks:
            x, below = self._x(tick), (self._middle(tick), self.bottom + 18)
            drawn.append(svg.line([(x, self.bottom), (x, self.bottom + 4)], MUTED, 1))
            drawn.append(svg.words(tick.text, below, SMALL, MUTED, "middle"))
        if self.axis:
            middle = (self.left + self.right) / 2
            drawn.append(svg.words(self.axis, (middle, self.bottom + 40), SMALL, MUTED, "middle"))
        return "".join(drawn)


def _half(tick: Tick) -> float:
    return svg.width_of(tick.text, SMALL) / 2
