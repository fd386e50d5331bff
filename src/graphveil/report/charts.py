"""Charts of a series: over steps, over degrees, and before it is published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING

from graphveil.drawing import svg
from graphveil.drawing.svg import MUTED, Drawing, Point
from graphveil.report import breakdowns
from graphveil.report.estimates import named, now
from graphveil.report.frame import (
    BAND,
    EARLIER,
    PROCESSED,
    RAW,
    ROUND,
    WIDE,
    Counts,
    Frame,
    Sample,
    Size,
    Tick,
    step_ticks,
)
from graphveil.report.news import reading
from graphveil.report.wording import counted_things, degrees, heading, percent, price, whole

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.study.facts import ReleaseMade
    from graphveil.study.history import PublishedSeries


Truth = Sequence[Sequence[int]]  # the true numbers of each step, which only a rehearsal shows
TRUE = "#111827"
MANY = 60  # releases from which on dots would hide the line that they belong to
LONG = 750  # releases up to which every one is drawn
PARTS = 250  # of a longer drawing: a few pixels each
THINNED = (
    "Thinned: of every {steps} steps a line shows the lowest and the highest; the CSV has all."
)


def drawing(
    series: PublishedSeries,
    calendar: Calendar,
    size: Size = WIDE,
    *,
    titled: bool = True,
    truth: Truth | None = None,
) -> bytes:
    """The chart as SVG with a text alternative; the same series is always the same bytes.

    Args:
        series: it has at least one release.
        calendar: of its study.
        size: of the drawing.
        titled: whether it says what it shows; on a page the heading above it does.
        truth: the true numbers, in a rehearsal.
    """
    head = _head(series) if titled else ()
    label = description(series, calendar)
    if series.breakdown is not None:
        return breakdowns.panels(series, calendar, size, head, label, truth).encode()
    if series.vector:
        return over_degrees(series, size, head, label, truth).encode()
    return over_steps(series, calendar, size, head, label, truth).encode()


def chart(series: PublishedSeries, calendar: Calendar) -> Drawing:
    """The same as a value that shows itself in a notebook."""
    return Drawing(description(series, calendar), drawing(series, calendar).decode())


def _head(series: PublishedSeries) -> tuple[str, ...]:
    about = f"Series {series.series} · {price(series)} for all its releases · {series.mechanism}"
    thinned = (note,) if (note := thinning(series)) else ()
    return heading(series), about, *thinned


def description(series: PublishedSeries, calendar: Calendar) -> str:
    """The chart in words, for readers who do not see it."""
    first, last = series.releases[0], series.releases[-1]
    if series.breakdown is not None:
        return f"Charts of {counted_things(series)}. {reading(series, last, calendar)}"
    if series.vector:
        low, high = now(series, last).value, now(series, last, series.width - 1).value
        return (
            f"Chart of {counted_things(series)}, for d from {series.degrees[0]} to "
            f"{series.degrees[-1]}. In {last.label} the {named(series)}s go from {whole(low)} at "
            f"d = {series.degrees[0]} to {whole(high)} at d = {series.degrees[-1]}. The table has "
            "all numbers."
        )
    begin, end = now(series, first).value, now(series, last).value
    return (
        f"Chart of {counted_things(series)}, {first.label} to {last.label}, with "
        f"{percent(last.level)} intervals. The {named(series)} is {whole(begin)} in {first.label} "
        f"and {whole(end)} in {last.label}. {reading(series, last, calendar)}"
    )


def over_steps(
    series: PublishedSeries,
    calendar: Calendar,
    size: Size,
    head: tuple[str, ...],
    label: str,
    truth: Truth | None = None,
) -> str:
    """The interval as a band, raw values as dots, what is known now as a line over both."""
    raw, processed, low, high = _values(series)
    true = [float(truth[each.step][0]) for each in series.releases] if truth else []
    dotted = raw if head else []  # beside a text, the line and its interval are enough
    counts = Counts.of([*dotted, *processed, *low, *high, *true])
    legend = (*_legend(series, raw=bool(head)), *_true_sample(true))
    frame = Frame(size, head, legend, counts, len(raw))
    marks = _interval(frame, low, high)
    marks += raw_marks(frame, dotted) if head else ""
    marks += _processed(frame, processed) + _true_line(frame, true)
    ticks = step_ticks(calendar, series.first_step, len(raw), frame.fits)
    return frame.drawing(marks, ticks, label)


def thinning(series: PublishedSeries) -> str:
    """The note to readers if not every release is drawn; nothing if every one is."""
    steps = len(series.releases)
    return "" if series.vector or steps <= LONG else THINNED.format(steps=ceil(steps / PARTS))


def _points(frame: Frame, values: Sequence[float]) -> list[Point]:
    """Where a line goes."""
    return [frame.at(place, values[place]) for place in _drawn(values)]


def _drawn(values: Sequence[float]) -> Sequence[int]:
    """The places of a line that are drawn: all, or the extremes of each part, and both ends.

    No peak is lost: in every part the drawn line reaches as far up and down as the full one.
    """
    count = len(values)
    if count <= LONG:
        return range(count)
    found = {0, count - 1}
    for part in range(PARTS):
        places = range(count * part // PARTS, count * (part + 1) // PARTS)
        found |= {min(places, key=values.__getitem__), max(places, key=values.__getitem__)}
    return sorted(found)


def _values(series: PublishedSeries) -> tuple[list[float], ...]:
    """Raw, estimate, low, high; a count is never negative, so neither is what is drawn of it."""
    known = [now(series, each) for each in series.releases]
    return (
        [float(each.raw[0]) for each in series.releases],
        [each.value for each in known],
        [float(max(each.low, 0)) for each in known],
        [float(max(each.high, 0)) for each in known],
    )


def _interval(frame: Frame, low: list[float], high: list[float]) -> str:
    if len(low) > 1:
        return svg.band(_points(frame, low), _points(frame, high), BAND)
    return svg.line([frame.at(0, low[0]), frame.at(0, high[0])], BAND, 14)


def _processed(frame: Frame, values: list[float]) -> str:
    if len(values) > 1:
        return svg.line(_points(frame, values), PROCESSED, 2.5)
    x, y = frame.at(0, values[0])
    return svg.line([(x - 14, y), (x + 14, y)], PROCESSED, 2.5)


def raw_marks(frame: Frame, values: Sequence[float]) -> str:
    """Dots, or a thin line where there are so many that dots would hide the other line."""
    if len(values) < MANY:
        return svg.dots(frame.through(values), RAW, 3.5)
    return svg.line(_points(frame, values), RAW, 0.8)


def raw_sample(count: int) -> Sample:
    """What the legend shows of so many raw values."""
    return Sample("raw", RAW, "dot") if count < MANY else Sample("raw", RAW, stroke=0.8)


def _legend(series: PublishedSeries, *, raw: bool) -> tuple[Sample, ...]:
    level = percent(series.releases[-1].level)
    return (
        Sample(named(series), PROCESSED),
        *((raw_sample(len(series.releases)),) if raw else ()),
        Sample(f"{level} interval", BAND, "band"),
    )


def _true_sample(true: Sequence[float]) -> tuple[Sample, ...]:
    return (Sample("true", TRUE, stroke=1.2),) if true else ()


def _true_line(frame: Frame, true: Sequence[float]) -> str:
    return svg.line(_points(frame, true), TRUE, 1.2, dash="5 3") if true else ""


# What is new in each step, as bars with their intervals; and a line in the size of a word.


BARS = 60  # of the newest steps: more would be too thin to be seen
BAR, CAP = 0.62, 3.0  # the part of its room that a bar takes; half the width of an end
SPARK = (240.0, 56.0)


def news_drawing(series: PublishedSeries, calendar: Calendar, size: Size) -> bytes:
    """What is new in each of the newest steps; nothing unless that can be told of two of them."""
    known = [now(series, each).new for each in series.releases[-BARS:]]
    drawn = [(place, each) for place, each in enumerate(known) if each is not None]
    if series.vector or len(drawn) < 2:
        return b""
    first = series.releases[-len(known)].step
    values = [min(max(each.value, each.low), each.high) for _, each in drawn]
    lows, highs = [each.low for _, each in drawn], [each.high for _, each in drawn]
    level = percent(series.releases[-1].level)
    what = "new" if series.monotone else "change"
    legend = (Sample(what, BAND, "band"), Sample(f"{level} interval", PROCESSED, "interval"))
    frame = Frame(size, (), legend, Counts.of([0, *values, *lows, *highs]), len(known))
    marks = []
    for (place, _), value, low, high in zip(drawn, values, lows, highs, strict=True):
        marks.append(_bar(frame, place, value))
        cap = CAP if len(known) <= BARS / 2 else 0
        marks.append(svg.whiskers([(frame.at(place, low), frame.at(place, high))], PROCESSED, cap))
    if min(lows) < 0:
        marks.append(svg.line([(frame.left, frame.at(0, 0)[1]), (frame.right, frame.at(0, 0)[1])],
                              MUTED, 1))  # fmt: skip
    ticks = step_ticks(calendar, first, len(known), frame.fits)
    label = f"Bars: what is {what} in each step, {counted_things(series)}. The table has all."
    return frame.drawing("".join(marks), ticks, label).encode()


def _bar(frame: Frame, place: int, value: float) -> str:
    x, y = frame.at(place, value)
    half = BAR * (frame.right - frame.left) / frame.places / 2
    ground = frame.at(place, 0)[1]
    return svg.shape([(x - half, ground), (x - half, y), (x + half, y), (x + half, ground)], BAND)


def spark(series: PublishedSeries, place: int) -> bytes:
    """One number of a series over all its steps: a line within its interval, and no axes."""
    known = [now(series, each, place) for each in series.releases]
    kept = _drawn([each.value for each in known])
    top = max(1.0, *(float(each.high) for each in known))
    (width, height), edge = SPARK, 4.0

    def at(where: int, value: float) -> Point:
        share = where / max(len(known) - 1, 1)
        return edge + share * (width - 2 * edge), height - edge - max(value, 0) / top * (
            height - 2 * edge
        )

    marks = svg.band(
        [at(each, known[each].low) for each in kept], [at(each, known[each].high) for each in kept],
        BAND,
    )  # fmt: skip
    marks += svg.line([at(each, known[each].value) for each in kept], PROCESSED, 2)
    marks += svg.dots([at(len(known) - 1, known[-1].value)], PROCESSED, 3)
    first, last = series.releases[0].label, series.releases[-1].label
    return svg.document(marks, width, height, f"From {first} to {last}.").encode()


# A series that has one number per degree: the newest curve, and how it grew.


def over_degrees(
    series: PublishedSeries,
    size: Size,
    head: tuple[str, ...],
    label: str,
    truth: Truth | None = None,
) -> str:
    """The newest release as points with their intervals, above thin lines of earlier ones."""
    last, earlier = series.releases[-1], _earlier(series)
    known = [now(series, last, place) for place in range(series.width)]
    low = [float(max(each.low, 0)) for each in known]
    high = [float(max(each.high, 0)) for each in known]
    newest = [each.value for each in known]
    before = [(colour, _over_degrees(series, made)) for colour, made in earlier]
    true = list(map(float, truth[last.step])) if truth else []
    shown = [*true, *(value for _, values in before for value in values)]
    counts = Counts.of([*newest, *low, *high, *shown])
    legend = (*_degree_legend(series, earlier), *_true_sample(true))
    axis = degrees(series).replace(" d ", " so many ").replace("exactly so many ", "")
    frame = Frame(size, head, legend, counts, series.width, axis)
    many = series.width >= MANY
    ends = zip(frame.through(low), frame.through(high), strict=True)
    marks = [svg.line(frame.through(values), colour, 1.5) for colour, values in before]
    marks.append(svg.whiskers(ends, PROCESSED, 0 if many else CAP))
    marks.append(svg.dots(frame.through(newest), PROCESSED, 1.5 if many else 4))
    marks.append(_true_line(frame, true))
    return frame.drawing("".join(marks), _ticks(frame, series.degrees), label)


def _over_degrees(series: PublishedSeries, made: ReleaseMade) -> list[float]:
    return [now(series, made, place).value for place in range(series.width)]


def _earlier(series: PublishedSeries) -> list[tuple[str, ReleaseMade]]:
    """A few releases before the last one, evenly spread, the first among them, with colours."""
    before = series.releases[:-1]
    wanted = min(len(EARLIER), len(before))
    spread = [before[place * len(before) // wanted] for place in range(wanted)]
    return list(zip(EARLIER[len(EARLIER) - wanted :], spread, strict=True))


def _ticks(frame: Frame, shown: Sequence[int]) -> list[Tick]:
    """Degrees at round distances."""
    all_ticks = [Tick(place, str(degree)) for place, degree in enumerate(shown)]
    return next(all_ticks[::stride] for stride in ROUND if frame.fits(all_ticks[::stride]))


def _degree_legend(
    series: PublishedSeries, earlier: list[tuple[str, ReleaseMade]]
) -> tuple[Sample, ...]:
    """The newest in full; of the earlier ones the line alone."""
    last = series.releases[-1]
    return (
        Sample(f"{last.label}, {named(series)}", PROCESSED, "dot"),
        Sample(f"{percent(last.level)} interval", PROCESSED, "interval"),
        *(Sample(made.label, colour, stroke=1.5) for colour, made in earlier),
    )


# A series before it is published: the expected curve, and the noise around it.


TOO_NOISY, TOO_NOISY_BAND = "#b42318", "#fbd5d0"
LOWEST = -0.35  # how far below 0 noise is drawn, as a part of the largest value expected


def over_expected(
    curve: Sequence[float],
    noise: Sequence[float],
    too_noisy: Sequence[bool],
    *,
    calendar: Calendar,
    first_step: int,
    size: Size,
    label: str,
) -> str:
    """The curve within a band of one predicted standard deviation; red where it drowns.

    Args:
        curve: the sizes that are expected.
        noise: the predicted standard deviations.
        too_noisy: where the noise exceeds what is expected.
        calendar: of the study.
        first_step: the step of the first release.
        size: of the drawing.
        label: what it shows, in words.
    """
    floor, ceiling = LOWEST * max(curve), 2.5 * max(curve)
    low = [max(size - std, floor) for size, std in zip(curve, noise, strict=True)]
    high = [min(size + std, ceiling) for size, std in zip(curve, noise, strict=True)]
    frame = Frame(size, (), _forecast_legend(too_noisy), Counts.of([0, *low, *high]), len(curve))
    marks = [
        _band(frame, places, low, high, TOO_NOISY_BAND if bad else BAND)
        for bad, places in _stretches(too_noisy)
    ]
    marks += [
        _line(frame, places, curve, TOO_NOISY if bad else PROCESSED)
        for bad, places in _stretches(too_noisy)
    ]
    ticks = step_ticks(calendar, first_step, len(curve), frame.fits)
    return frame.drawing("".join(marks), ticks, label)


def _stretches(too_noisy: Sequence[bool]) -> Iterator[tuple[bool, list[int]]]:
    """Neighbouring releases that are alike; each stretch reaches to where the next begins."""
    for bad, places in groupby(range(len(too_noisy)), key=lambda place: too_noisy[place]):
        own = list(places)
        yield bad, [*own, own[-1] + 1] if own[-1] + 1 < len(too_noisy) else own


def _band(
    frame: Frame, places: list[int], low: Sequence[float], high: Sequence[float], colour: str
) -> str:
    lower, upper = ([frame.at(place, values[place]) for place in places] for values in (low, high))
    if len(places) == 1:
        return svg.line([*lower, *upper], colour, 14)
    return svg.band(lower, upper, colour)


def _line(frame: Frame, places: list[int], curve: Sequence[float], colour: str) -> str:
    points = [frame.at(place, curve[place]) for place in places]
    if len(points) == 1:
        x, y = points[0]
        points = [(x - 14, y), (x + 14, y)]
    return svg.line(points, colour, 2.5)


def _forecast_legend(too_noisy: Sequence[bool]) -> tuple[Sample, ...]:
    """Only what is drawn."""
    clear = (Sample("expected", PROCESSED), Sample("± noise", BAND, "band"))
    deep = (Sample("too noisy to tell", TOO_NOISY_BAND, "band"),)
    return (*(clear if not all(too_noisy) else ()), *(deep if any(too_noisy) else ()))
