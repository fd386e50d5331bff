"""Extension: a study goes on past the last step that it was planned for.

Every series gets more releases. Most go on for nothing; those whose noise was made for a whole
horizon, or that measure totals, have a price, which is taken out of what is left of the budget
before anything changes (`docs/mechanisms.md#the-price-of-going-on`). No noise is drawn here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from graphveil.calendar.calendar import Calendar
from graphveil.errors import ParameterError, StudyError
from graphveil.mechanisms.planning import continuation
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.release_noise import measurement
from graphveil.study.chain import canonical, digest
from graphveil.study.committed import Committed, Prices, label_of
from graphveil.study.facts import DIGITS, ExtendedSeries, LossFact, Software, StudyExtended
from graphveil.study.ledger import Ledger
from graphveil.study.opening import loss_facts, noise_facts, require_payable
from graphveil.study.promise import Promise
from graphveil.study.reading import StoredSeries, plan_of
from graphveil.study.sql import Transaction

# A series whose plan is changed under way, because the study is adopted or extended.


@dataclass(frozen=True)
class Replanned:
    """A series before and after; public, all of it.

    Attributes:
        series: its name.
        releases: how many were made.
        before: its plan until then.
        after: its plan from then on.
    """

    series: str
    releases: int
    before: Plan
    after: Plan

    @property
    def price(self) -> Fraction:
        """What the releases to come cost, beyond what was paid."""
        return self.after.request.epsilon - self.before.request.epsilon

    def told(self, promise: Promise) -> dict[str, Any]:
        """What is published about the releases to come."""
        return {
            "series": self.series,
            "price": self.price,
            "noise": noise_facts(self.after.following(self.releases)),
            "predicted_std": tuple(round(std, DIGITS) for std in self.after.outlook(self.releases)),
            "beyond": self._beyond(promise),
            "plan": self.after.to_dict(),
        }

    def _beyond(self, promise: Promise) -> tuple[LossFact, ...]:
        """What it costs from then on to break the promise; nothing where that has not changed.

        It can change at no price: what is planned anew before its first release has other noise.
        """
        (series,) = (each for each in promise.series if each.name == self.series)
        before, after = (loss_facts(promise, series, each) for each in (self.before, self.after))
        return after if after != before else ()


@dataclass(frozen=True)
class Further:
    """How far a study is extended: to the step that contains a time, or by a number of steps.

    Attributes:
        last: a time in the new last step, as the calendar writes it.
        steps: how many steps more.
    """

    last: str | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        if (self.last is None) == (self.steps is None):
            raise ParameterError("last", "either the new last step or a number of steps is needed")
        if self.steps is not None and self.steps < 1:
            raise ParameterError("steps", "must be a whole number of at least 1")

    def after(self, calendar: Calendar, end: int) -> int:
        """The new last step of a study that ended with `end`."""
        if self.steps is not None:
            return end + self.steps
        last = calendar.without_end().step_of(self.last)
        if last <= end:
            raise StudyError(
                f"the study goes on to {calendar.label(end)} already: nothing is left out. Name a "
                "later step."
            )
        return last


class Longer(Replanned):
    """A series before and after an extension."""

    def announcement(self, promise: Promise) -> ExtendedSeries:
        """What is published about it."""
        assert self.after.request.horizon is not None, "it was extended to one"
        return ExtendedSeries(horizon=self.after.request.horizon, **self.told(promise))


@dataclass(frozen=True)
class Extension:
    """What an extension does to a study; public, all of it.

    Attributes:
        before: the study file before the extension.
        after: the study file after it.
        end: the last step before the extension.
        last: the last step after it.
        series: those that get more releases; all others have no end, or one that is later.
    """

    before: Promise
    after: Promise
    end: int
    last: int
    series: tuple[Longer, ...]

    @property
    def labels(self) -> tuple[str, str]:
        """What the last step was called, and what it is called then."""
        return self.after.calendar.label(self.end), self.after.calendar.label(self.last)

    @property
    def price(self) -> Fraction:
        """What all of it costs, beyond what was paid."""
        return sum((each.price for each in self.series), Fraction())


def extension(
    ledger: Ledger, stored_series: Mapping[str, StoredSeries], further: Further, prices: Prices
) -> Extension:
    """What an extension would do to every series; changes nothing.

    Refuses one that goes back or nowhere, and one that costs more than is left.

    Args:
        ledger: of an open study.
        stored_series: the stored plan of every series.
        further: how far it shall go on.
        prices: what may be paid for a series, by name; by default, the price at which its noise
            stays as large as it is.
    """
    before = ledger.versions[-1]
    end = _end(ledger)
    last = further.after(before.calendar, end)
    calendar = before.calendar.lengthened(last)
    calendar.label(last)  # refuses what no calendar can write
    series = tuple(_longer(ledger, stored_series, last, prices))
    require_payable(before, {each.series: each.price for each in series}, prices)
    requests = {each.series: each.after.request for each in series}
    after = before.going_on({n: (r.epsilon, r.horizon) for n, r in requests.items()}, calendar)
    return Extension(before, after, end, last, series)


def _end(ledger: Ledger) -> int:
    """The last step of a study: that of its calendar, or of the first series that ends."""
    calendar = ledger.versions[-1].calendar
    if calendar.width is None:
        raise StudyError(
            "the calendar lists its steps one by one, so it cannot be lengthened. Open a new "
            "study; the people in it are the same, so its ε adds to this one's."
        )
    ends = [each.first_step + each.horizon - 1 for each in ledger.series if each.horizon]
    if calendar.last_step is not None:
        return calendar.last_step
    if not ends:
        raise StudyError("the study has no end: its calendar is open, and so is every series.")
    return min(ends)


def _longer(
    ledger: Ledger, stored_series: Mapping[str, StoredSeries], last: int, prices: Prices
) -> Iterator[Longer]:
    """Every series that ends too early, with the plan it has then."""
    for each in ledger.series:
        before = plan_of(each.series, stored_series[each.series])
        horizon, steps = before.request.horizon, last + 1 - each.first_step
        if horizon is None or horizon >= steps:
            continue
        made, price = len(each.releases), prices.get(each.series)
        try:
            after = continuation.extended(before, made, steps - horizon, price)
            for law, _ in after.following(made):
                measurement(law)  # refuses now what could not be drawn later
        except ParameterError as error:
            raise StudyError(f"series '{each.series}' cannot go on: {error}") from error
        yield Longer(each.series, made, before, after)


def enter(transaction: Transaction, found: Committed, planned: Extension) -> None:
    """Keep the longer plans, and enter the extension into both chains."""
    plans = {each.series: canonical(each.after.to_dict()) for each in planned.series}
    private = {"plans": {name: digest(plan) for name, plan in plans.items()}}
    transaction.append(_announcement(found.ledger, planned), private=private)
    for name, plan in plans.items():
        transaction.renew_series(name, StoredSeries(plan, found.stored_series[name].state))


def _announcement(ledger: Ledger, planned: Extension) -> StudyExtended:
    made, (end, last) = len(ledger.sealed), planned.labels
    return StudyExtended(
        step=made,
        label=label_of(planned.after, made - 1) if made else None,
        end=end,
        last=last,
        calendar=planned.after.to_data()["calendar"],
        series=tuple(each.announcement(planned.after) for each in planned.series),
        **Software.now(),
    )
