"""What is new: how a series changed over some steps, and how that compares, with intervals.

Functions of published numbers alone. How far their noise can reach was announced with each
release; releases of older studies, of which it was not, have no such rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.planning.change import Change
from graphveil.report.tables.columns import described

if TYPE_CHECKING:
    from graphveil.study.public.facts import ReleaseMade
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart

NEW, AGAINST = "new", "against the time before"


@dataclass(frozen=True)
class PublishedChange:
    """One change of one number."""

    series: str = described("the name of the series")
    step: int = described("the number of the last step of the time that is looked at, from 0 on")
    label: str = described("the public name of that step")
    degree: int | None = described(
        "which degree (number of links) the number is about",
        empty="if a release of the series is a single number",
    )
    kind: str = described(
        f"{NEW}: now less then; {AGAINST}: new now less what was new in as many steps before"
    )
    over: int = described("how many steps are taken together")
    value: int = described("the change of the raw values, unbiased")
    noise_std: float = described("the standard deviation of the noise in value, rounding included")
    level: str = described("the probability with which low and high enclose the true change")
    low: int = described("the lower end of the interval; for what never falls it is not below 0")
    high: int = described("the upper end of the interval")

    @property
    def clear(self) -> bool:
        """Whether noise alone cannot explain it."""
        return self.low > 0 or self.high < 0


def all_changes(part: PublicPart) -> Iterator[PublishedChange]:
    """Every change that can be told: by series, then step, then kind, then degree."""
    for series in part.series:
        for made in series.releases:
            yield from changes(series, made)


def changes(series: PublishedSeries, made: ReleaseMade) -> Iterator[PublishedChange]:
    """The changes that end at one release."""
    place = made.step - series.first_step
    for each in made.changes:
        change = Change(each.over, each.against)
        values = change.of(lambda at: series.releases[at].raw, place)
        for degree, value in enumerate(values):
            yield PublishedChange(
                series=series.series,
                step=made.step,
                label=made.label,
                degree=degree if series.vector else None,
                kind=AGAINST if each.against else NEW,
                over=each.over,
                value=value,
                noise_std=each.std,
                level=made.level,
                # What never falls brought nothing below 0.
                low=_least(value - each.width, series, each.against),
                high=_least(value + each.width, series, each.against),
            )


def _least(end: int, series: PublishedSeries, against: bool) -> int:
    return max(end, 0) if series.monotone and not against else end


def new_at(series: PublishedSeries, made: ReleaseMade) -> tuple[PublishedChange, ...]:
    """What is new in a single step, number by number; nothing where that was not announced."""
    single = tuple(each for each in made.changes if each.over == 1 and not each.against)
    return tuple(changes(series, made.model_copy(update={"changes": single}))) if single else ()
