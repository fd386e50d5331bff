"""A trial: one subject published again and again under one ε, and one attempt at it.

All candidates draw from the same seed, so that those which coincide have the same error to the
last digit, and differences between others are not blurred by luck.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound
from graphveil.lab.experiments.protocol import Floats, Integers, relative_errors
from graphveil.lab.experiments.subjects import Subject, Truth
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.factorisations.objectives import DEFAULT, Objective
from graphveil.mechanisms.mechanism import Measured
from graphveil.mechanisms.planning import AUTO
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series import planner
from graphveil.series.postprocessing import processed
from graphveil.statistics.sensitivity import Sensitivity


@dataclass(frozen=True, eq=False)
class Attempt:
    """What a candidate publishes in every run of a trial.

    Attributes:
        estimates: what is published: (runs, *shape of the truth).
        counted: what it would publish without noise; this is not the truth where links are
            dropped.
        noise: the mechanism that drew the noise, which tells the planner's choice.
        sensitivity: what the noise was calibrated to: Γ, or the static sensitivity; None if that
            is not known.
        threshold: what links were dropped by: a projection's threshold, or a promise with hubs.
        processed: what is published beside the estimates, where that is not the usual.
        by_absolute: of what is tuned, the one whose absolute error is least; its relative error is
            not looked at.
        worst_loss: the largest loss of anybody in the data, in multiples of ε; 1 where the promise
            is true, or nothing is promised.
    """

    estimates: NDArray[np.number]
    counted: Integers
    noise: str
    sensitivity: int | None = None
    threshold: Bound | None = None
    processed: Floats | None = None
    by_absolute: Attempt | None = None
    worst_loss: float = 1.0


@dataclass(frozen=True, eq=False)
class Trial:
    """A subject published at some steps under one ε, again and again.

    Attributes:
        subject: what is published, with its statistic, its degree bound and its τ.
        truth: its true values at the releases.
        epsilon: the privacy loss of the whole series.
        runs: how often it is published.
        entropy: the seed of the noise.
    """

    subject: Subject
    truth: Truth
    epsilon: Fraction
    runs: int
    entropy: Sequence[int]

    @property
    def totals(self) -> Integers:
        """The true values: (releases,), or (releases, numbers) of a vector."""
        return self.truth.totals

    @property
    def releases(self) -> int:
        """How many releases a series has."""
        return len(self.totals)

    @property
    def sensitivity(self) -> Sensitivity:
        """What one person can change, by our proofs, under the subject's degree bound."""
        return self.subject.statistic.sensitivity(self.subject.bound)

    def generator(self) -> np.random.Generator:
        """A source of noise that is repeatable, and hence for experiments only."""
        return np.random.default_rng(np.random.SeedSequence(self.entropy))

    def plan(
        self,
        mechanism: str = AUTO,
        bound: Bound | None = None,
        projection: Bound | None = None,
        minimise: str | Objective = DEFAULT,
    ) -> Plan | None:
        """How a mechanism would publish the subject; None if it does not admit it.

        Args:
            mechanism: a name, or the planner's choice.
            bound: the promise; left out, the subject's degree bound.
            projection: the threshold of a mechanism that projects.
            minimise: which error the planner's choice keeps small.
        """
        try:
            return planner.plan(
                self.subject.statistic,
                bound or self.subject.bound,
                epsilon=self.epsilon,
                horizon=self.releases,
                mechanism=mechanism,
                projection=projection,
                minimise=minimise,
            )
        except ParameterError:
            return None

    def noise(self, plan: Plan) -> Integers:
        """What each release adds to what was counted: (runs, *shape of the truth)."""
        width = plan.request.width
        drawn = simulate(plan, self.runs * width, self.generator())
        if not self.subject.statistic.vector:
            return drawn
        apart = drawn.reshape(self.runs, width, self.releases).transpose(0, 2, 1)
        # Under a promise with hubs nobody has more links than it counts: the rest is 0 for sure.
        beyond = self.totals.shape[1] - width
        return np.pad(apart, ((0, 0), (0, 0), (0, beyond)))

    def attempt(
        self, plan: Plan, counted: Integers | None = None, threshold: Bound | None = None
    ) -> Attempt:
        """Publish by a plan: the true values, or what was counted after links were dropped."""
        base = self.totals if counted is None else counted
        estimates = base + self.noise(plan)
        return Attempt(estimates, base, plan.mechanism.name, calibrated_to(plan), threshold)

    def processed(self, attempt: Attempt) -> Attempt:
        """The same values after post-processing, online."""
        other = attempt.by_absolute and self.processed(attempt.by_absolute)
        better = attempt.processed
        if better is None:
            statistic = self.subject.statistic
            better = np.stack([processed(statistic, run).values for run in attempt.estimates])
        return replace(attempt, estimates=better, by_absolute=other)

    def errors(self, estimates: NDArray[np.number]) -> Floats:
        """The relative error of each run."""
        return relative_errors(estimates, self.totals)

    def error(self, attempt: Attempt) -> float:
        """The mean relative error over the runs."""
        return float(self.errors(attempt.estimates).mean())

    def absolute_error(self, attempt: Attempt) -> float:
        """The mean of |A − f|, over runs and releases."""
        wrong = np.abs(attempt.estimates - self.totals).sum()
        return float(wrong / (self.runs * self.releases))

    @property
    def zero_error(self) -> float:
        """The error of always publishing 0, which costs no privacy and says nothing."""
        return float(self.errors(np.zeros((1, *self.totals.shape)))[0])


def calibrated_to(plan: Plan) -> int:
    """Γ for noise on differences, the static sensitivity for noise on totals."""
    request = plan.request
    if request.projected_l1 is not None:
        return request.projected_l1
    if plan.mechanism.measured is Measured.TOTALS:
        return request.sensitivity.static_l1
    return request.sensitivity.l1


# Tuning: of many ways to drop links, the one whose true error is least.
#
# As the paper tunes Compose-projection, and just as optimistic: nobody may look at the true
# error in a release. Each measure of error is tuned by itself.


LOOKED_AT = 10  # options that are simulated in full


@dataclass(frozen=True, eq=False)
class Option:
    """One way to drop links.

    Attributes:
        threshold: a projection's threshold, or a promise with hubs.
        counted: what is left at each release.
        size: what one person can change in it, to which the noise is about in proportion.
        plan: how it would be published; None if that is refused.
    """

    threshold: Bound
    counted: Integers
    size: int
    plan: Callable[[], Plan | None]

    def attempt(self, trial: Trial) -> Attempt | None:
        """Publish it."""
        plan = self.plan()
        return None if plan is None else trial.attempt(plan, self.counted, self.threshold)


def tuned(trial: Trial, options: Sequence[Option]) -> Attempt | None:
    """The option of least true error, among those that are best by a rough estimate.

    The estimate takes the noise of one option for all, in proportion to their sizes: a plan for
    each of hundreds would take minutes.
    """
    first, plan = next(
        ((option, plan) for option in options if (plan := option.plan()) is not None),
        (None, None),
    )
    if first is None or plan is None:
        return None
    unit = trial.noise(plan) / first.size

    def least(error: Callable[[Attempt], float]) -> list[Attempt]:
        def roughly(option: Option) -> float:
            return error(Attempt(option.counted + unit * option.size, option.counted, ""))

        likely = sorted(options, key=roughly)[:LOOKED_AT]
        return [each for option in likely if (each := option.attempt(trial)) is not None]

    return best_of(trial, [*least(trial.error), *least(trial.absolute_error)])


def best_of(trial: Trial, attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt of least relative error, with that of least absolute error beside it."""
    if not attempts:
        return None
    best = min(attempts, key=trial.error)
    return replace(best, by_absolute=min(attempts, key=trial.absolute_error))
