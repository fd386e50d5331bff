"""Outlook: the error that the series of a study will have, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.graph.promises import HubBound
from graphveil.graph.thresholds import WHOLE
from graphveil.mechanisms.planning import AUTO
from graphveil.mechanisms.planning.usefulness import MOST_NOISE, Judgement, rounded

if TYPE_CHECKING:
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.series.planner import Prospect
    from graphveil.study import Promise, SeriesPromise


@dataclass(frozen=True)
class Outlook:
    """A series, when it begins, and how it is published, or would be.

    Attributes:
        promise: of the study.
        series: what the study says about it.
        first_step: the step at which it begins.
        open_plan: the plan of a series that is open; None of one that is not.
    """

    promise: Promise
    series: SeriesPromise
    first_step: int
    open_plan: Plan | None = None

    @cached_property
    def plan(self) -> Plan:
        """With the mechanism that the study names; of an open series, as it goes on."""
        from graphveil.study.opening import series_plan

        return self.open_plan or series_plan(self.promise, self.series, self.first_step)

    @cached_property
    def others(self) -> list[Prospect]:
        """Every other mechanism that could publish the same numbers, the best first."""
        from graphveil.series.planner import compare

        epsilon, delta, share = self.promise.price_of(self.series)
        comparison = compare(
            self.series.counted(),
            self.promise.degree_bound,
            epsilon=epsilon,
            delta=delta,
            pool_share=share,
            horizon=self.plan.request.horizon,
            projection=self.series.threshold(),
            minimise=self.plan.request.minimise,
        )
        chosen = self.plan.mechanism
        return [
            each
            for each in comparison
            if each.plan
            and each.name != chosen.name
            and each.plan.mechanism.projects == chosen.projects
        ]

    @cached_property
    def narrower(self) -> tuple[str, Plan] | None:
        """Parameters with which it would have fewer numbers, and the plan for these; if any."""
        from graphveil.study.opening import series_plan

        bound = self.series.threshold() or self.promise.degree_bound.counted
        fewer = self.series.counted().narrower(bound) if self.open_plan is None else None
        if fewer is None:
            return None
        parameters = self.series.parameters | fewer
        entries = {"parameters": parameters, "mechanism": AUTO}
        planned = series_plan(self.promise, self.series.model_copy(update=entries), self.first_step)
        return ", ".join(f"{name}={value}" for name, value in fewer.items()), planned

    @property
    def judgement(self) -> Judgement | None:
        """The error beside the size that the steward expects, if they have said one."""
        size = self.series.judged_size
        return None if size is None else self.plan.judged(size)

    @property
    def cells(self) -> dict[str, Judgement]:
        """The same for each cell of a breakdown, in words; nothing where no size is expected."""
        sizes = self.series.expected_cells()
        return {words: self.plan.judged(max(1, round(size))) for words, size in sizes.items()}

    @property
    def too_noisy_cells(self) -> str:
        """A sentence on the cells that would be too noisy; nothing if there are none."""
        cells = self.cells
        drowned = {words: each for words, each in cells.items() if each.too_noisy}
        if not drowned:
            return ""
        words, worst = max(drowned.items(), key=lambda each: each[1].share)
        return (
            f"Series {self.series.name}: {len(drowned)} of {len(cells)} cells would be too noisy "
            f"to tell, such as {words} (about {worst.expected:,}, noise ±{rounded(worst.std)}). "
            "Fewer, larger groups help: merge labels in the study file."
        )

    def expecting(self, size: int) -> Outlook:
        """The same for another size."""
        self.plan.judged(size)  # refuses what is none
        return replace(self, series=self.series.model_copy(update={"expected": size}))

    @property
    def leaves_out(self) -> bool:
        """Whether links of some people are not counted, which comes on top of the noise."""
        if self.series.projection is not None:
            return self.series.projection != WHOLE
        bound = self.promise.degree_bound
        return isinstance(bound, HubBound) and any(bound.hubs) and self.series.statistic != "nodes"

    @cached_property
    def times_beyond(self) -> dict[int, Fraction]:
        """How many times its ε a person loses with so many more hubs than promised, if any does.

        A study that refuses to go on where its promise is broken has none.
        """
        from graphveil.series.planner import times_beyond

        bound = self.promise.degree_bound
        return {} if bound.checked else times_beyond(self.plan, self.series.counted(), bound)

    @property
    def first_label(self) -> str:
        """The public name of the step at which it begins."""
        return self.promise.calendar.label(self.first_step)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        plan, judgement = self.plan, self.judgement
        cells = [
            {"cell": words, "expected": each.expected, "usefulness": str(each.word)}
            for words, each in self.cells.items()
        ]
        return {
            "series": self.series.name,
            "statistic": str(self.series.counted()),
            "epsilon": self.series.epsilon,
            "delta": self.series.delta,
            "pool": self.series.pool,
            "mechanism": plan.mechanism.name,
            "from": self.first_label,
            "horizon": plan.request.horizon,
            "minimise": str(plan.request.minimise),
            "numbers_per_release": plan.request.width,
            "first_std": plan.predicted[0],
            "mean_std": plan.mean_std,
            "last_std": plan.last_std,
            "std": list(plan.predicted),
            "expected": self.series.expected,
            "relative_error": judgement.share if judgement else None,
            "usefulness": str(judgement.word) if judgement else None,
            **({"cells": cells} if cells else {}),
            "times_beyond_the_promise": plain_times(self.times_beyond),
            "others": [
                {"name": each.name, "mean_std": each.plan.mean_std}
                for each in self.others
                if each.plan
            ],
        }


@dataclass(frozen=True)
class StudyOutlook:
    """A study with the outlooks of its series.

    Attributes:
        folder: where it is, as it was asked for.
        promise: what the study says.
        series: each from the step at which it begins.
    """

    folder: Path
    promise: Promise
    series: tuple[Outlook, ...]

    def expecting(self, sizes: Mapping[str, int]) -> StudyOutlook:
        """The same for series of which somebody guesses another size than the study states."""
        series = (
            each.expecting(sizes[each.series.name]) if each.series.name in sizes else each
            for each in self.series
        )
        return replace(self, series=tuple(series))

    @property
    def warnings(self) -> dict[str, str]:
        """By series, where the noise is too large for the size that is expected."""
        found = {
            each.series.name: each.plan.warning(size)
            for each in self.series
            if (size := each.series.judged_size) is not None
        }
        return {name: warning for name, warning in found.items() if warning is not None}

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        warnings = self.warnings
        series = [
            each.as_data() | {"warning": warnings.get(each.series.name)} for each in self.series
        ]
        return {"study": str(self.folder), "spent": False, "series": series}


def plain_times(times: Mapping[int, Fraction]) -> dict[str, float]:
    """Multiples for programs, by how many hubs more."""
    return {str(more): float(each) for more, each in times.items()}


def study_outlook(folder: Path) -> StudyOutlook:
    """What the study in a folder will publish, and how noisy; reads no records."""
    from graphveil.study import StoredStudy
    from graphveil.study.reading import plan_of

    study = StoredStudy.at(folder)
    committed = study.committed()
    promise = study.promise(committed.ledger)
    begins = {each.series: each.first_step for each in committed.ledger.series}
    plans = {name: plan_of(name, stored) for name, stored in committed.stored_series.items()}
    series = (
        replace(each, open_plan=plans.get(each.series.name)) for each in outlooks(promise, begins)
    )
    return StudyOutlook(folder, promise, tuple(series))


def outlooks(promise: Promise, begins: Mapping[str, int] | None = None) -> tuple[Outlook, ...]:
    """Every series of a promise; those that are not in `begins` start with the first step."""
    steps = begins or {}
    return tuple(Outlook(promise, each, steps.get(each.name, 0)) for each in promise.series)


# Forecasts: the predicted noise of a series around the curve that its steward expects.
#
# Nobody knows the curve. What is drawn is the plainest that leads to the size which was stated:
# as many more with every step, and level once people leave a window as fast as they come.


MOST_DRAWN = 400  # releases: more than a picture has room for


@dataclass(frozen=True)
class Forecast:
    """What the steward expects of a series, release by release.

    Attributes:
        curve: the expected sizes.
        noise: the predicted standard deviations.
        too_noisy: where the noise exceeds what is expected.
    """

    curve: tuple[float, ...]
    noise: tuple[float, ...]
    too_noisy: tuple[bool, ...]

    @property
    def first_clear(self) -> int | None:
        """The release from which on the noise drowns nothing; None if it always does."""
        last = max((place for place, bad in enumerate(self.too_noisy) if bad), default=-1)
        return last + 1 if last + 1 < len(self.too_noisy) else None


def forecast(outlook: Outlook) -> Forecast | None:
    """The forecast of a series; None where no size is expected."""
    size = outlook.series.judged_size
    if size is None:
        return None
    noise = outlook.plan.predicted[:MOST_DRAWN]
    window = outlook.series.counted().counted_for or len(outlook.plan.predicted)
    curve = tuple(size * min(place + 1, window) / window for place in range(len(noise)))
    too_noisy = tuple(std > MOST_NOISE * there for std, there in zip(noise, curve, strict=True))
    return Forecast(curve, noise, too_noisy)
