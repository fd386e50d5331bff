"""Due: which steps can be published now, what that spends, and how noisy they will be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.steward.beforehand.outlook import Outlook, StudyOutlook
    from graphveil.steward.status import Status
    from graphveil.study import Promise

MOST_OFFERED = 400  # steps that are offered to be published together
NOT_DATED = 24  # the same where steps are numbers, and no clock says which of them are over


@dataclass(frozen=True)
class NextStep:
    """A step that can be published, with all before it.

    Attributes:
        label: its public name.
        ended: whether it is over by the clock.
    """

    label: str
    ended: bool


@dataclass(frozen=True)
class NextRelease:
    """What a series will say at the next step, as far as anybody can know before.

    Attributes:
        series: its name.
        std: the predicted standard deviation of the noise.
        last_std: the same at the last release.
        expected: the size that is expected at the last release.
        word: what the noise leaves of that; nothing where no size is expected.
    """

    series: str
    std: float
    last_std: float
    expected: int | None
    word: str


@dataclass(frozen=True)
class Due:
    """What publishing would do.

    Attributes:
        status: where the study stands.
        steps: those that can be published, in order; of one that has not ended, only the next.
        spends: the ε that is spent by it: that of all series where the study is still a draft,
            else nothing, since a series is paid for when it is opened.
        releases: the next release of every series that has one.
    """

    status: Status
    steps: tuple[NextStep, ...]
    spends: str
    releases: tuple[NextRelease, ...]

    @property
    def ended(self) -> tuple[NextStep, ...]:
        """The steps that are over."""
        return tuple(each for each in self.steps if each.ended)


def due(folder: Path) -> Due:
    """What can be published of the study in a folder; reads no records."""
    from graphveil.steward.beforehand.outlook import study_outlook
    from graphveil.steward.status import status

    now, found = status(folder), study_outlook(folder)
    sealed = now.steps.steps_sealed
    spends = "0" if now.is_open else _price(found.promise)
    releases = (_next_release(each, sealed) for each in found.series)
    return Due(now, _steps(found, now), spends, tuple(each for each in releases if each))


def _steps(found: StudyOutlook, now: Status) -> tuple[NextStep, ...]:
    calendar, sealed = found.promise.calendar, now.steps.steps_sealed
    left = MOST_OFFERED if calendar.last_step is None else calendar.last_step + 1 - sealed
    over = now.steps.steps_due
    ended = min(NOT_DATED if over is None else over, left, MOST_OFFERED)
    offered = ended if over is None else min(max(ended, 1), left)
    return tuple(
        NextStep(calendar.label(sealed + place), ended=place < ended) for place in range(offered)
    )


def _price(promise: Promise) -> str:
    """ε of all series, and of the pool that some may share."""
    from graphveil.noise.exact_numbers import as_text

    return as_text(promise.budget_total()[0] - promise.budget_left()[0])


def _next_release(outlook: Outlook, sealed: int) -> NextRelease | None:
    place, horizon = sealed - outlook.first_step, outlook.plan.request.horizon
    if place < 0 or (horizon is not None and place >= horizon):
        return None
    found = outlook.judgement
    return NextRelease(
        series=outlook.series.name,
        std=outlook.plan.standard_deviation(place),
        last_std=outlook.plan.last_std,
        expected=outlook.series.expected,
        word=str(found.word) if found else "",
    )
