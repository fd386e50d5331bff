"""A series whose plan is changed under way, because the study is adopted or extended."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from graphveil.planning.plan import Plan
from graphveil.study.course.opening import loss_facts, noise_facts
from graphveil.study.promise.promise import Promise
from graphveil.study.public.facts import DIGITS, LossFact


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
        """What the public is told of the releases to come."""
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
