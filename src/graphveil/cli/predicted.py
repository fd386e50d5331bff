"""The predicted error of the series of a study: for people as a table, for programs as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphveil.planning.plan import Plan
    from graphveil.planning.planner import Prospect
    from graphveil.study import SeriesPromise, StudyFile

UNSPENT = "Nothing is spent by looking: these numbers follow from the study file alone."


@dataclass(frozen=True)
class Outlook:
    """A series, when it begins, and how it would be published."""

    study: StudyFile
    promise: SeriesPromise
    first_step: int

    @cached_property
    def plan(self) -> Plan:
        """With the mechanism that the study names."""
        from graphveil.study.opening import series_plan

        return series_plan(self.study, self.promise, self.first_step)

    @cached_property
    def others(self) -> list[Prospect]:
        """Every other mechanism that could publish the same numbers, the best first."""
        from graphveil.planning.planner import compare

        found = compare(
            self.promise.counted(),
            self.study.bound.bound(),
            epsilon=self.promise.epsilon,
            delta=self.promise.delta,
            horizon=self.plan.request.horizon,
        )
        return [each for each in found if each.plan and each.name != self.plan.mechanism.name]

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        plan = self.plan
        return {
            "series": self.promise.name,
            "statistic": str(self.promise.counted()),
            "epsilon": self.promise.epsilon,
            "delta": self.promise.delta,
            "mechanism": plan.mechanism.name,
            "from": self.study.steps().label(self.first_step),
            "horizon": plan.request.horizon,
            "numbers_per_release": plan.request.width,
            "first_std": plan.predicted[0],
            "mean_std": plan.mean_std,
            "last_std": plan.last_std,
            "std": list(plan.predicted),
            "others": [
                {"name": each.name, "mean_std": each.plan.mean_std}
                for each in self.others
                if each.plan
            ],
        }


def print_outlooks(title: str, outlooks: Sequence[Outlook]) -> None:
    """One row a series: what it costs, and the standard deviation of its noise."""
    from graphveil.cli.output import print_table, three_digits

    print_table(
        title,
        ("series", "ε", "mechanism", "first", "mean", "last", "next best, mean"),
        (
            (
                each.promise.name,
                each.promise.epsilon,
                each.plan.mechanism.name,
                three_digits(each.plan.predicted[0]),
                three_digits(each.plan.mean_std),
                three_digits(each.plan.last_std),
                _next_best(each),
            )
            for each in outlooks
        ),
        text_columns=3,
    )


def _next_best(outlook: Outlook) -> str | None:
    from graphveil.cli.output import three_digits

    if not outlook.others or outlook.others[0].plan is None:
        return None
    return f"{outlook.others[0].name}, {three_digits(outlook.others[0].plan.mean_std)}"
