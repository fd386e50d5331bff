"""A series that has one number per degree: the newest curve, and how it grew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.report.drawings import svg
from graphveil.report.drawings.counts import Counts
from graphveil.report.drawings.frame import BAND, EARLIER, PROCESSED, Frame, Sample, Size
from graphveil.report.drawings.over_steps import raw_marks, raw_sample
from graphveil.report.drawings.step_ticks import ROUND, Tick
from graphveil.report.wording import degrees, percent

if TYPE_CHECKING:
    from graphveil.study.public.facts import ReleaseMade
    from graphveil.study.public.history import PublishedSeries


def over_degrees(series: PublishedSeries, size: Size, head: tuple[str, ...], label: str) -> str:
    """The newest release over the degrees, above thin lines of a few earlier ones."""
    last, earlier = series.releases[-1], _earlier(series)
    low, high = ([float(max(end, 0)) for end in ends] for ends in (last.low, last.high))
    shown = [value for _, made in earlier for value in made.processed]
    counts = Counts.of([*last.raw, *last.processed, *low, *high, *shown])
    legend = _legend(last, earlier)
    frame = Frame(size, head, legend, counts, series.width, degrees(series))
    marks = [svg.band(frame.through(low), frame.through(high), BAND)]
    marks += [svg.line(frame.through(made.processed), colour, 1.5) for colour, made in earlier]
    marks.append(raw_marks(frame, last.raw))
    marks.append(svg.line(frame.through(last.processed), PROCESSED, 2.5))
    return frame.drawing("".join(marks), _ticks(frame), label)


def _earlier(series: PublishedSeries) -> list[tuple[str, ReleaseMade]]:
    """A few releases before the last one, evenly spread, the first among them, with colours."""
    before = series.releases[:-1]
    wanted = min(len(EARLIER), len(before))
    spread = [before[place * len(before) // wanted] for place in range(wanted)]
    return list(zip(EARLIER[len(EARLIER) - wanted :], spread, strict=True))


def _ticks(frame: Frame) -> list[Tick]:
    """Degrees at round distances."""
    every = ([Tick(d, str(d)) for d in range(0, frame.places, stride)] for stride in ROUND)
    return next(ticks for ticks in every if frame.fits(ticks))


def _legend(last: ReleaseMade, earlier: list[tuple[str, ReleaseMade]]) -> tuple[Sample, ...]:
    """The newest in full; of the earlier ones the line alone."""
    return (
        Sample(f"{last.label}, processed", PROCESSED),
        raw_sample(len(last.raw)),
        Sample(f"{percent(last.level)} interval", BAND, "band"),
        *(Sample(made.label, colour, stroke=1.5) for colour, made in earlier),
    )
