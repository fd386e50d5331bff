"""Promised ratios: what each is at every step, with its interval, from the public part alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from graphveil.report.estimates import EstimatedSeries, SamePart, estimated_series
from graphveil.report.releases import described
from graphveil.series.ratios import Bounds, Measured, Number, Ratio, Source, named_places
from graphveil.study.announced_plans import announced_plan

if TYPE_CHECKING:
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.study.facts import ReleaseMade, StepSealed
    from graphveil.study.promise_entries import RatioPromise
    from graphveil.study.public_part import PublicPart

ANYTHING = "cannot be told: what it is divided by may be 0"
NO_END = "without an upper limit: what it is divided by may be 0"
NOTHING = "cannot be told: noise has taken a count far below 0"


@dataclass(frozen=True)
class PublishedRatio:
    """One ratio at one step."""

    ratio: str = described("the name of the ratio")
    formula: str = described("what is divided by what: series, with whole factors")
    step: int = described("the number of the step, from 0 on")
    label: str = described("the public name of the step, such as 2020 or 2020-03")
    value: float | None = described(
        "the ratio of the revised values, as revised.csv has them",
        empty="if what it is divided by is estimated to be 0",
    )
    level: str = described("the probability with which low and high enclose the true ratio")
    low: float | None = described("the lower end of an interval of the true ratio", empty="if none")
    high: float | None = described(
        "the upper end of that interval", empty="if none: what it is divided by may be 0"
    )
    said: str = described("the same in words")
    revised_at: str = described("the last step whose numbers were used; it names the edition")


def has_ratios(part: PublicPart) -> bool:
    """Whether a ratio is promised, and can be computed."""
    return bool(part.promise.ratios and part.steps)


def all_ratios(part: PublicPart, newest: int | None = None) -> tuple[PublishedRatio, ...]:
    """Every promised ratio at every step at which it has a value: by ratio, then step.

    Args:
        part: the public part.
        newest: how many steps are looked at; all of them if None.
    """
    if not part.promise.ratios:
        return ()
    numbers = _numbers(SamePart(part))
    steps = part.steps if newest is None else part.steps[-newest:]
    found = (numbers.row(each, step) for each in part.promise.ratios for step in steps)
    return tuple(row for row in found if row is not None)


@dataclass(frozen=True)
class _Numbers:
    """Published numbers, by series and step."""

    part: PublicPart
    plans: dict[str, Plan | None] = field(default_factory=dict)
    named: dict[Number, tuple[int, ...]] = field(default_factory=dict)
    rows: dict[tuple[str, int], PublishedRatio | None] = field(default_factory=dict)

    def row(self, promised: RatioPromise, sealed: StepSealed) -> PublishedRatio | None:
        """A ratio at a step; page and tables ask for the same, and each takes milliseconds."""
        place = promised.name, sealed.step
        if place not in self.rows:
            self.rows[place] = _row(promised, self, sealed)
        return self.rows[place]

    @property
    def series(self) -> Mapping[str, EstimatedSeries]:
        """Those that are estimated."""
        return estimated_series(self.part)

    def release(self, name: str, step: int) -> ReleaseMade | None:
        """What a series said at a step; None if nothing."""
        found = self.series.get(name)
        at = -1 if found is None else step - found.first_step
        return found.releases[at] if found is not None and 0 <= at < len(found.releases) else None

    def value(self, number: Number, step: int) -> Fraction:
        """What is known of a number now."""
        series = self.series[number.series]
        known = series.estimates[step - number.ago - series.first_step]
        return sum((Fraction(repr(known[at].value)) for at in self.places(number)), Fraction())

    def best(self, number: Number, step: int) -> Iterator[tuple[str, int, int]]:
        """The numbers of the same facts with the least noise: series, release and place."""
        series, places = self.whole(number, step), self.places(number)
        if series.series != number.series:
            places = (0,)
        known = series.estimates[step - number.ago - series.first_step]
        for at in places:
            name, place = known[at].known_by
            yield name, step - number.ago - self.series[name].first_step, place

    def whole(self, number: Number, step: int) -> EstimatedSeries:
        """The series of a number; of all cells together, that of the total if it is quieter."""
        series = self.series[number.series]
        divided = series.breakdown
        if number.inside or divided is None or divided.cells == "ends":
            return series

        def spread(each: EstimatedSeries) -> float:
            made = each.releases[step - number.ago - each.first_step]
            return each.width * made.noise_std**2

        totals = (
            each
            for each in self.series.values()
            if each.width == 1
            and each.promise.counted_in_symbols() == str(divided.statistic)
            and (each.projection, each.spans) == (series.projection, series.spans)
            and each.first_step <= step - number.ago
        )
        return min((series, *totals), key=spread)

    def places(self, number: Number) -> tuple[int, ...]:
        """Which numbers of a release it is."""
        if number not in self.named:
            self.named[number] = named_places(number, self.series[number.series].places)
        return self.named[number]

    def plan(self, name: str) -> Plan:
        """How a series is published."""
        if name not in self.plans:
            self.plans[name] = announced_plan(self.series[name])
        plan = self.plans[name]
        assert plan is not None, "estimated series have a plan"
        return plan


@lru_cache(maxsize=2)
def _numbers(same: SamePart) -> _Numbers:
    return _Numbers(same.part)


def newest(ratio: Ratio, part: PublicPart) -> str:
    """A ratio at the newest step, in words."""
    numbers, step = _numbers(SamePart(part)), part.steps[-1].step
    name = ratio.numbers[0].series
    return _said(*_known(ratio, numbers, step, numbers.series[name].releases[-1].level))


def _known(
    ratio: Ratio, numbers: _Numbers, step: int, level: str
) -> tuple[Fraction | None, Bounds]:
    """What a ratio is, and between which bounds it lies."""
    value = _value(ratio, numbers, step)
    bounds = _measured(ratio, numbers, step, Fraction(level)).bounds()
    return value, bounds if value is None or bounds.empty else bounds.around(value)


def _row(promised: RatioPromise, numbers: _Numbers, sealed: StepSealed) -> PublishedRatio | None:
    """A ratio at a step; None where one of its numbers was not published."""
    ratio = promised.ratio
    made = [numbers.release(each.series, sealed.step - each.ago) for each in ratio.numbers]
    if made[0] is None or not all(made):
        return None
    value, bounds = _known(ratio, numbers, sealed.step, made[0].level)
    return PublishedRatio(
        ratio=promised.name,
        formula=promised.formula,
        step=sealed.step,
        label=sealed.label,
        value=None if value is None else _rounded(value, bounds),
        level=made[0].level,
        low=None if bounds.empty or bounds.low is None else float(bounds.low),
        high=None if bounds.empty or bounds.high is None else float(bounds.high),
        said=_said(value, bounds),
        revised_at=numbers.part.steps[-1].label,
    )


def _value(ratio: Ratio, numbers: _Numbers, step: int) -> Fraction | None:
    """The ratio of the estimates; None over 0."""
    above, below = (
        sum(
            (factor * numbers.value(each, step) for each, factor in side.items()),
            Fraction(),
        )
        for side in (ratio.above, ratio.below)
    )
    return above / below if below > 0 else None


def _measured(ratio: Ratio, numbers: _Numbers, step: int, level: Fraction) -> Measured:
    """What was measured, each number where it is known best."""
    above, over = _gathered(ratio.above, numbers, step)
    below, under = _gathered(ratio.below, numbers, step)
    sources = tuple(
        Source(numbers.plan(key[0]), over.get(key, {}), under.get(key, {}))
        for key in {**over, **under}
    )
    return Measured(above, below, sources, level, ratio.never_negative)


def _gathered(
    side: Mapping[Number, int], numbers: _Numbers, step: int
) -> tuple[int, dict[tuple[str, int], dict[int, int]]]:
    """The raw value of a sum, and the factor of each release, by series and place."""
    total = 0
    taken: dict[tuple[str, int], dict[int, int]] = {}
    for number, factor in side.items():
        for name, at, place in numbers.best(number, step):
            total += factor * numbers.series[name].releases[at].raw[place]
            column = taken.setdefault((name, place), {})
            column[at] = column.get(at, 0) + factor
    return total, taken


def decimals(bounds: Bounds) -> int:
    """So many that the width of the interval has two digits."""
    width = float((bounds.high or 0) - (bounds.low or 0))
    if bounds.low is None or bounds.high is None or width <= 0:
        return 2
    return min(max(0, 1 - floor(log10(width))), 9)


def _rounded(value: Fraction, bounds: Bounds) -> float:
    """As precise as it is useful, and a digit more."""
    return round(float(value), decimals(bounds) + 1)


def _said(value: Fraction | None, bounds: Bounds) -> str:
    """A ratio in words, such as "1.93, between 1.89 and 1.97"."""
    if bounds.empty:
        return NOTHING
    if bounds.high is None:
        return f"at least {float(bounds.low):.4g}, {NO_END}" if bounds.low else ANYTHING
    digits = decimals(bounds)
    unit = 10**digits
    low, high = floor((bounds.low or 0) * unit) / unit, ceil(bounds.high * unit) / unit
    about = "" if value is None else f"{float(value):,.{digits}f}, "
    return f"{about}between {low:,.{digits}f} and {high:,.{digits}f}"
