"""Predictions: what a series will be like, as its page and the sliders show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from graphveil.steward.beforehand.forecasts import forecast
from graphveil.web.wording import figure

if TYPE_CHECKING:
    from graphveil.steward.beforehand.forecasts import Forecast
    from graphveil.steward.beforehand.outlook import Outlook


@dataclass(frozen=True)
class Prediction:
    """A series in the words and pictures of the page.

    Attributes:
        series: its name.
        counted: what is counted.
        price: its share of the budget.
        mechanism: which adds the noise.
        first: the predicted error of the first release.
        last: that of the last one.
        expected: the size that is expected there; nothing if nobody said it.
        share: the error as a part of it.
        word: what that leaves of the number.
        note: from when on the number can be read.
        beyond: what it costs to be linked to more hubs than promised, if anybody can be.
        drawing: the curve with its band, wide and narrow.
    """

    series: str
    counted: str
    price: str
    mechanism: str
    first: str
    last: str
    expected: str
    share: str
    word: str
    note: str
    beyond: str
    drawing: tuple[Markup, ...]


def prediction(outlook: Outlook) -> Prediction:
    """What the planner says of a series; every number is its own."""
    from graphveil.planning.usefulness import percent

    plan, found, drawn = outlook.plan, outlook.judgement, forecast(outlook)
    return Prediction(
        series=outlook.series.name,
        counted=outlook.series.counted().summary,
        price=outlook.series.price_in_words,
        mechanism=plan.mechanism.name,
        first=figure(plan.predicted[0]),
        last=figure(plan.last_std),
        expected="" if found is None else f"{found.expected:,}",
        share="" if found is None else percent(found.share),
        word="" if found is None else str(found.word),
        note="" if drawn is None else _note(outlook, drawn),
        beyond=_beyond(outlook),
        drawing=() if drawn is None else _drawings(outlook, drawn),
    )


def _note(outlook: Outlook, drawn: Forecast) -> str:
    clear = drawn.first_clear
    if clear is None:
        return "The noise drowns every release."
    if clear == 0:
        return "No release is drowned, if the number grows evenly."
    label = outlook.promise.calendar.label(outlook.first_step + clear)
    return f"Releases before {label} are drowned, if the number grows evenly."


def _beyond(outlook: Outlook) -> str:
    """The multiples of ε that the commands show as a table."""
    from graphveil.report.exposed import rounded_up

    told = [f"{n:,} more: {rounded_up(each)}" for n, each in outlook.times_beyond.items()]
    if not told:
        return ""
    return (
        "Times ε for a person who is linked to more hubs (people with more links than the bound) "
        f"than promised, {'; '.join(told)}."
    )


def _drawings(outlook: Outlook, drawn: Forecast) -> tuple[Markup, ...]:
    from graphveil.report.drawings.forecasts import over_expected
    from graphveil.report.drawings.frame import Size

    label = f"{outlook.series.name}: expected sizes and predicted noise. {_note(outlook, drawn)}"
    # Drawn from numbers and our own words, every text escaped: safe as it stands.
    return tuple(
        Markup(
            over_expected(
                drawn.curve,
                drawn.noise,
                drawn.drowned,
                calendar=outlook.promise.calendar,
                first_step=outlook.first_step,
                size=size,
                label=label,
            )
        )
        for size in (Size(520, 150), Size(340, 150, edge=6))
    )
