"""A series before it is published: the expected curve, and the noise around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from graphveil.report.drawings import svg
from graphveil.report.drawings.counts import Counts
from graphveil.report.drawings.frame import BAND, PROCESSED, Frame, Sample, Size
from graphveil.report.drawings.step_ticks import step_ticks

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar

DROWNED, DROWNED_BAND = "#b42318", "#fbd5d0"
LOWEST = -0.35  # how far below 0 noise is drawn, as a part of the largest value expected


def over_expected(
    curve: Sequence[float],
    noise: Sequence[float],
    drowned: Sequence[bool],
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
        drowned: where the noise drowns what is expected.
        calendar: of the study.
        first_step: the step of the first release.
        size: of the drawing.
        label: what it shows, in words.
    """
    floor, ceiling = LOWEST * max(curve), 2.5 * max(curve)
    low = [max(size - std, floor) for size, std in zip(curve, noise, strict=True)]
    high = [min(size + std, ceiling) for size, std in zip(curve, noise, strict=True)]
    frame = Frame(size, (), _legend(drowned), Counts.of([0, *low, *high]), len(curve))
    marks = [
        _band(frame, places, low, high, DROWNED_BAND if bad else BAND)
        for bad, places in _stretches(drowned)
    ]
    marks += [
        _line(frame, places, curve, DROWNED if bad else PROCESSED)
        for bad, places in _stretches(drowned)
    ]
    ticks = step_ticks(calendar, first_step, len(curve), frame.fits)
    return frame.drawing("".join(marks), ticks, label)


def _stretches(drowned: Sequence[bool]) -> Iterator[tuple[bool, list[int]]]:
    """Neighbouring releases that are alike; each stretch reaches to where the next begins."""
    for bad, places in groupby(range(len(drowned)), key=lambda place: drowned[place]):
        own = list(places)
        yield bad, [*own, own[-1] + 1] if own[-1] + 1 < len(drowned) else own


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


def _legend(drowned: Sequence[bool]) -> tuple[Sample, ...]:
    """Only what is drawn."""
    clear = (Sample("expected", PROCESSED), Sample("± noise", BAND, "band"))
    deep = (Sample("drowned in noise", DROWNED_BAND, "band"),)
    return (*(clear if not all(drowned) else ()), *(deep if any(drowned) else ()))
