"""The six mechanisms of the comparison, and the error of each on one subject.

All of them draw from the same seed, so that mechanisms which coincide have the same error to
the last digit, and differences between others are not blurred by luck.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from graphveil.experiments.protocol.protocol import (
    Floats,
    Integers,
    mean_and_standard_error,
    relative_errors,
)
from graphveil.experiments.protocol.subjects import Subject, Truth
from graphveil.graph.bound import Bound
from graphveil.mechanisms.compose import ComposeDBounded, ComposeProjection
from graphveil.mechanisms.mechanism import Measured, Mechanism
from graphveil.mechanisms.request import Request
from graphveil.mechanisms.sensdiff import SensDiff
from graphveil.planning.plan import Plan
from graphveil.planning.planner import plan as planned
from graphveil.series.postprocessing import processed
from graphveil.statistics.sensitivity import Sensitivity
from graphveil.testing.simulation import simulate

SENSDIFF, COMPOSE, PROJECTION = "sensdiff", "compose-d-bounded", "compose-projection"
TIGHT, AUTO, POST = "sensdiff-tight", "auto", "auto+post"
PAPERS = (SENSDIFF, COMPOSE, PROJECTION)
OURS = (TIGHT, AUTO, POST)
MECHANISMS = (*PAPERS, *OURS)


@dataclass(frozen=True)
class Outcome:
    """How one mechanism did.

    Attributes:
        mechanism: its name in the comparison.
        error: the mean relative L1 error over the runs.
        standard_error: of that mean.
        absolute_error: the mean of |A − f|, over runs and releases.
        noiseless_error: the relative error that would be left without noise: what a projection
            drops, and 0 for all others.
        noise: the mechanism that drew the noise, which tells the planner's choice.
        sensitivity: what its noise was calibrated to.
        threshold: of the projection, where there is one.
    """

    mechanism: str
    error: float
    standard_error: float
    absolute_error: float
    noiseless_error: float
    noise: str
    sensitivity: int
    threshold: Bound | None = None


@dataclass(frozen=True, eq=False)
class Trial:
    """A subject published at some steps under one ε, again and again.

    Attributes:
        subject: what is published.
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
    def releases(self) -> int:
        """How many releases a series has."""
        return len(self.truth.totals)

    @property
    def sensitivity(self) -> Sensitivity:
        """What one person can change, by our proofs."""
        return self.subject.statistic.sensitivity(self.subject.bound)

    def plan(self, member: Mechanism, sensitivity: Sensitivity, after: int | None = None) -> Plan:
        """The plan of one mechanism."""
        width = self.subject.statistic.width(self.subject.bound)
        horizon = self.releases
        request = Request(sensitivity, self.epsilon, None, horizon, width, projected_l1=after)
        return Plan.of(member, request)

    def noise(self, plan: Plan) -> Integers:
        """What each release adds to the true values in each run: (runs, *shape of the truth)."""
        rng = np.random.default_rng(np.random.SeedSequence(self.entropy))
        width = plan.request.width
        drawn = simulate(plan, self.runs * width, rng)
        if not self.subject.statistic.vector:
            return drawn
        return drawn.reshape(self.runs, width, self.releases).transpose(0, 2, 1)

    def errors(self, estimates: NDArray[np.number]) -> Floats:
        """The error of each run."""
        return relative_errors(estimates, self.truth.totals)

    @property
    def zero_error(self) -> float:
        """The error of always publishing 0, which costs no privacy and says nothing."""
        return float(self.errors(np.zeros((1, *self.truth.totals.shape)))[0])


def outcomes(trial: Trial) -> list[Outcome]:
    """Every mechanism that admits the subject, in the order of `MECHANISMS`."""
    ours = trial.sensitivity
    papers = ours if ours.paper is None else replace(ours, l1=ours.paper)
    return [
        _unprocessed(trial, SENSDIFF, trial.plan(SensDiff(), papers)),
        _unprocessed(trial, COMPOSE, trial.plan(ComposeDBounded(), ours)),
        *_tuned(trial),
        _unprocessed(trial, TIGHT, trial.plan(SensDiff(), ours)),
        *_auto(trial),
    ]


def _unprocessed(trial: Trial, name: str, plan: Plan) -> Outcome:
    return _outcome(trial, name, plan, trial.truth.totals + trial.noise(plan))


def _auto(trial: Trial) -> Iterator[Outcome]:
    """The planner's choice, then the same values after post-processing, online."""
    subject = trial.subject
    plan = planned(subject.statistic, subject.bound, epsilon=trial.epsilon, horizon=trial.releases)
    raw = trial.truth.totals + trial.noise(plan)
    yield _outcome(trial, AUTO, plan, raw)
    better = np.stack([processed(subject.statistic, run).values for run in raw])
    yield _outcome(trial, POST, plan, better)


def _tuned(trial: Trial) -> Iterator[Outcome]:
    """Compose-projection with the threshold whose true error is lowest, as in the paper.

    This looks at what nobody may look at, at no charge: it is optimistic, and not private.
    """
    tried = list(_projections(trial))
    if tried:
        yield min(tried, key=lambda outcome: outcome.error)


def _projections(trial: Trial) -> Iterator[Outcome]:
    """Compose-projection with every threshold; those of equal sensitivity share their noise."""
    drawn: dict[int, tuple[Plan, Integers]] = {}
    for threshold, totals in trial.truth.projected:
        after = trial.subject.statistic.projected_l1(threshold)
        assert after is not None, "only such thresholds are counted"
        if after not in drawn:
            plan = trial.plan(ComposeProjection(), trial.sensitivity, after)
            drawn[after] = plan, trial.noise(plan)
        plan, noise = drawn[after]
        dropped = float(trial.errors(totals[np.newaxis])[0])
        found = _outcome(trial, PROJECTION, plan, totals + noise)
        yield replace(found, threshold=threshold, noiseless_error=dropped)


def _outcome(trial: Trial, name: str, plan: Plan, estimates: NDArray[np.number]) -> Outcome:
    mean, deviation = mean_and_standard_error(trial.errors(estimates))
    wrong = np.abs(estimates - trial.truth.totals).sum() / (trial.runs * trial.releases)
    drawn = plan.mechanism.name
    return Outcome(name, mean, deviation, float(wrong), 0.0, drawn, _calibrated_to(plan))


def _calibrated_to(plan: Plan) -> int:
    """Γ for noise on differences, the static sensitivity for noise on totals."""
    request = plan.request
    if request.projected_l1 is not None:
        return request.projected_l1
    if plan.mechanism.measured is Measured.TOTALS:
        return request.sensitivity.static_l1
    return request.sensitivity.l1
