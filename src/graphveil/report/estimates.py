"""What is known now of every published number: the joint estimate of all series, and its interval.

First values stay as they were published; this is what page, tables and frames lead with. A function
of the public part alone, at no cost in privacy (`docs/revisions.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from math import ceil, floor, log
from typing import TYPE_CHECKING

import numpy as np

from graphveil.errors import MissingPlugInError
from graphveil.graph.promises import NoBound
from graphveil.mechanisms.planning.change import Change
from graphveil.report.releases import (
    AGAINST,
    NEW,
    PublishedChange,
    cell_columns,
    changes,
    described,
    divided,
)
from graphveil.series.joint import DECIMALS, KnownBest, Member, joint
from graphveil.series.postprocessing import (
    AnnouncedFacts,
    StatisticFacts,
    revised,
    revised_at_thresholds,
)
from graphveil.study.announced_plans import announced_plan
from graphveil.study.facts import DIGITS
from graphveil.study.history import PublishedSeries

if TYPE_CHECKING:
    from graphveil.graph.promises import Bound
    from graphveil.mechanisms.planning.covariance import Floats
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.study.facts import ReleaseMade
    from graphveil.study.public_part import PublicPart


TENTH = 10  # how much less likely it is that what limits an interval from outside is wrong


@dataclass(frozen=True, eq=False)
class Estimate:
    """What is known of a number now.

    Attributes:
        value: the best guess.
        low: the lower end of an interval of the true count.
        high: the upper end.
        known_by: the series and the place of the number of the same fact whose interval it has.
        changing: how it changed, up to its step; found where it is asked for.
    """

    value: float
    low: int
    high: int
    known_by: tuple[str, int]
    changing: Callable[[], Iterable[PublishedChange]] = tuple

    @cached_property
    def changes(self) -> tuple[PublishedChange, ...]:
        """How it changed, up to its step."""
        return tuple(self.changing())

    @property
    def too_noisy(self) -> bool:
        """Whether the interval is wider than the value that it belongs to."""
        return self.high - self.low > self.value

    @property
    def new(self) -> PublishedChange | None:
        """What is new in its own step, if that can be told."""
        return next((each for each in self.changes if each.kind == NEW and each.over == 1), None)


class EstimatedSeries(PublishedSeries):
    """A series with what is known now of each of its numbers, release by release."""

    estimates: tuple[tuple[Estimate, ...], ...]


def now(series: PublishedSeries, made: ReleaseMade, place: int = 0) -> Estimate:
    """What is known of a number; where nothing more can be said, the first value."""
    if isinstance(series, EstimatedSeries):
        return series.estimates[made.step - series.first_step][place]
    change = partial(changes, series, made, slice(place, place + 1))
    low, high = made.low[place], made.high[place]
    return Estimate(made.processed[place], low, high, (series.series, place), change)


def named(series: PublishedSeries) -> str:
    """What the number that leads is called."""
    return "estimate" if isinstance(series, EstimatedSeries) else "processed value"


def with_estimates(part: PublicPart) -> PublicPart:
    """The same part, with estimates of all series of the study whose plan is published."""
    if any(isinstance(each, EstimatedSeries) for each in part.series):
        return part
    found = estimated_series(part)
    return replace(part, series=tuple(found.get(each.series, each) for each in part.series))


class SamePart:
    """A public part as a key: by the end of its chain, from which all of it follows."""

    def __init__(self, part: PublicPart) -> None:
        self.part = part

    def __hash__(self) -> int:
        return hash(self.part.head.hash)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SamePart) and other.part.head == self.part.head


def estimated_series(part: PublicPart) -> Mapping[str, EstimatedSeries]:
    """All series whose plan is published, by name; page and tables ask for the same."""
    return _estimated_series(SamePart(part))


@lru_cache(maxsize=2)
def _estimated_series(same: SamePart) -> Mapping[str, EstimatedSeries]:
    part = same.part
    own = {each.series: estimated(each, revised) for each in part.history.series}
    released = [each for each in part.history.series if len(own[each.series])]
    values, known_best = _together(part, released, own)
    named = {each.series: each for each in released}
    return {
        each.series: EstimatedSeries.model_construct(
            **dict(each), estimates=tuple(_estimates(each, values, known_best, named))
        )
        for each in released
    }


Names = Sequence[str]
Known = Mapping[
    str, tuple[Names, Sequence[Sequence[KnownBest]]]
]  # series by number, then what it knows


def _together(
    part: PublicPart, released: Sequence[PublishedSeries], own: Mapping[str, Floats]
) -> tuple[dict[str, Floats], Known]:
    """Values, and by which number each is known best, of every series."""
    members = {
        each.series: member
        for each in released
        if (member := _member(part, each, own[each.series]))
    }
    names, picture = list(members), joint(tuple(members.values()))
    alone = {name: np.round(each, DECIMALS) for name, each in own.items()}
    values = alone | dict(zip(names, picture.values, strict=True))
    best: dict[str, tuple[Names, Sequence[Sequence[KnownBest]]]] = {
        each.series: ([each.series], [_by_itself(each)] * len(each.releases)) for each in released
    }
    for name, rows in zip(names, picture.known_best, strict=True):
        best[name] = names, rows
    return values, best


def _by_itself(series: PublishedSeries) -> list[KnownBest]:
    return [KnownBest((0, place), None, None) for place in range(series.width)]


def _member(part: PublicPart, series: PublishedSeries, values: Floats) -> Member | None:
    """A series as one of several; None if it is about a network of its own."""
    plan = announced_plan(series)
    if plan is None or isinstance(series.projection, str):  # forests, and thresholds that follow
        return None
    try:
        counted = series.promise.counted()
    except MissingPlugInError:
        return None
    spread = np.square(plan.standard_deviations(len(series.releases)))
    bound = series.promise.threshold() or part.promise.degree_bound
    raw = np.array([made.raw for made in series.releases], dtype=np.float64)
    first = series.first_step
    return Member(counted, series.projection, _limiting(bound), first, values, spread, raw)


def _limiting(bound: Bound) -> Bound | None:
    return None if isinstance(bound, NoBound) else bound


def _estimates(
    series: PublishedSeries,
    values: Mapping[str, Floats],
    known_best: Known,
    named: Mapping[str, PublishedSeries],
) -> Iterator[tuple[Estimate, ...]]:
    history = values[series.series].T.tolist()
    names, rows = known_best[series.series]
    others = [named[each] for each in names]
    for at, made in enumerate(series.releases):
        found = []
        for place, best in enumerate(rows[at]):
            other, there = others[best.same[0]], best.same[1]
            low, high = around(*_ends(best, others, made.step), history[place][at])
            changing = partial(_changed, other, there, series, place, history[place], at)
            found.append(Estimate(history[place][at], low, high, (other.series, there), changing))
        yield tuple(found)


def _at(series: PublishedSeries, step: int) -> ReleaseMade:
    return series.releases[step - series.first_step]


def _ends(best: KnownBest, series: Sequence[PublishedSeries], step: int) -> tuple[int, int]:
    """The interval of what is known best, within those of what is above and below it.

    Guarantees: if tails of noise fall at least geometrically, each of the two excludes the truth
        with a twentieth of the probability of the interval (`docs/revisions.md#intervals`).
    """
    made, place = _at(series[best.same[0]], step), best.same[1]
    low, high = made.low[place], made.high[place]
    if best.above is not None:
        other, there = _at(series[best.above[0]], step), best.above[1]
        high = min(high, wider(other.high[there], other.low[there], other.level))
    if best.below is not None:
        other, there = _at(series[best.below[0]], step), best.below[1]
        low = max(low, wider(other.low[there], other.high[there], other.level))
    return min(low, high), max(low, high)


def wider(end: int, other: int, level: str) -> int:
    """The end of a wider interval, beyond which the truth is a tenth as likely.

    Of log-concave noise P(|noise| > λw) ≤ P(|noise| > w)^λ, for every λ ≥ 1.
    """
    return end + round(log(1 / TENTH) / log(1 - float(level)) * (end - other) / 2)


def _changed(
    best: PublishedSeries,
    there: int,
    series: PublishedSeries,
    place: int,
    history: list[float],
    at: int,
) -> Iterator[PublishedChange]:
    """Changes of estimates, each with the interval of the change that is known best."""
    made = _at(best, series.releases[at].step)
    for each in changes(best, made, slice(there, there + 1)):
        weights = Change(each.over, each.kind == AGAINST).weights
        if max(weights) <= at:
            value = sum(weight * history[at - ago] for ago, weight in weights.items())
            yield replace(
                each,
                series=series.series,
                degree=series.degree_at(place),
                value=round(value),
                low=min(each.low, floor(value)),
                high=max(each.high, ceil(value)),
            )


def around(low: int, high: int, value: float) -> tuple[int, int]:
    """The interval of an estimate: the first one without what no count can be, and the estimate.

    Guarantees: it has all of the first interval that can be true, so it holds the truth whenever
        that does. No shorter one does so for every history (`docs/revisions.md#intervals`).
    """
    return max(0, min(low, floor(value))), max(high, ceil(value))


def estimated(
    series: PublishedSeries, estimate: Callable[[StatisticFacts, Floats, Plan], Floats]
) -> Floats:
    """What an estimate says of each release by itself, (releases, numbers); none without a plan."""
    plan = announced_plan(series)
    if plan is None or not series.releases:
        return np.zeros((0, series.width))
    if plan.mechanism.follows:
        answers = [made.asked for made in series.releases]
        return revised_at_thresholds(plan, answers)[:, np.newaxis]
    raw = np.array([made.raw for made in series.releases], dtype=np.float64)
    history = raw if series.vector else raw[:, 0]
    return estimate(_facts_of(series), history, plan).reshape(raw.shape)


def _facts_of(series: PublishedSeries) -> StatisticFacts:
    """What is public of the statistic, also where its package is not installed here."""
    try:
        return series.promise.counted()
    except MissingPlugInError:
        return AnnouncedFacts(series.statistic, series.monotone, series.vector, series.cumulative)


# Revised histories, as a table.
#
# First values stay as they were; a revision is shown beside them, with the release after which it
# was made, as statistical offices do. Series of studies whose plan was never published have none.


@dataclass(frozen=True)
class Revision:
    """One number as it was first published, and as it is estimated now."""

    series: str = described("the name of the series")
    step: int = described("the number of the step, from 0 on")
    label: str = described("the public name of the step, such as 2020 or 2020-03")
    degree: int | None = described(
        "which degree (number of links) the number is about",
        empty="if a release of the series is a single number",
    )
    raw: int = described("the count plus noise, as first published; it never changes")
    processed: float = described("the same, adjusted by public facts when it was published")
    revised: float = described(
        "what all numbers of all series published so far say of it: true of some network; a better "
        "guess, but not unbiased"
    )
    noise_std: float = described("the standard deviation of the noise in raw")
    level: str = described("the probability with which low and high enclose the truth")
    low: int = described("the lower end of an interval of the true count; not below 0")
    high: int = described("the upper end of that interval")
    revised_at: str = described("the last step whose numbers were used; it names the edition")
    known_by: str | None = described(
        "the series that has the same number with less noise; low and high are from its interval",
        empty="if there is none",
    )


def revisions(part: PublicPart) -> tuple[Revision, ...]:
    """Every number of the series that have a revised history: by series, step, and degree."""
    return tuple(row for series in with_estimates(part).series for row in of_series(series))


def of_series(series: PublishedSeries) -> Iterator[Revision]:
    """The same of one series; nothing if its plan or its releases were never published."""
    if not isinstance(series, EstimatedSeries):
        return
    last, groups = series.releases[-1].label, series.promise.group_names
    row = divided(Revision, groups)
    for made, estimates in zip(series.releases, series.estimates, strict=True):
        for place, (estimate, (cell, degree)) in enumerate(
            zip(estimates, series.places, strict=True)
        ):
            yield row(
                series=series.series,
                step=made.step,
                label=made.label,
                degree=degree,
                **cell_columns(groups, cell),
                raw=made.raw[place],
                processed=made.processed[place],
                revised=round(estimate.value, DIGITS),
                noise_std=made.noise_std,
                level=made.level,
                low=estimate.low,
                high=estimate.high,
                revised_at=last,
                known_by=None if estimate.known_by[0] == series.series else estimate.known_by[0],
            )
