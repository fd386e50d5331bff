"""Spans: the predicted error of what is new over the last steps, from a plan's own laws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from graphveil.deferred import np
from graphveil.mechanisms.factorisations.objectives import Aim, Objective
from graphveil.mechanisms.mechanism import Epoch
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import JointLaw
from graphveil.noise.noise_sum import ROUNDING_VARIANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"


def achieved(plan: Plan, objective: Objective | None = None) -> float:
    """The value of an objective for a plan; by default, of the plan's own objective.

    Where the horizon is unknown, over the first steps on which plans are judged.
    """
    aim = (objective or plan.request.minimise).aim(len(plan.predicted))
    # Between thresholds that differ, what is new has no error of its own: totals stand for it.
    totals = aim.totals or plan.mechanism.follows
    return aim.value(plan.predicted if totals else span_deviations(plan, aim))


def span_deviations(plan: Plan, aim: Aim) -> Floats:
    """The standard deviation of the change over the last `reach` steps, at each step.

    Rounding is taken to add 1/12 to the variance of each release that is rounded.
    """
    placed = list(_placed(plan, aim.steps))
    variances = [
        _span_variance(
            plan, step, None if step.place < aim.reach else placed[step.place - aim.reach]
        )
        for step in placed
    ]
    return np.asarray(np.sqrt(np.array(variances)), dtype=np.float64)


@dataclass(frozen=True)
class _Step:
    """A release within its epoch.

    Attributes:
        place: of the release, from 0 on.
        inside: its place in the epoch.
        epoch: in which it is.
        carried: the variance that finished epochs left in it.
        rounding: the variance of its rounding.
    """

    place: int
    inside: int
    epoch: Epoch
    carried: float
    rounding: float

    @property
    def epoch_start(self) -> int:
        """The place of its epoch's first release."""
        return self.place - self.inside

    def row(self) -> Floats:
        """The weights of the epoch's noises in it."""
        return self.epoch.factorisation.single_row(self.inside)

    def span_row(self, reach: int) -> Floats:
        """The same for what is new over some steps of the epoch."""
        return self.epoch.factorisation.span_row(self.inside, reach)

    def last_row(self) -> Floats:
        """The weights with which they stay in later epochs."""
        return self.epoch.factorisation.single_row(self.epoch.steps - 1)

    def variance(self, row: Floats) -> float:
        """Of a combination of the epoch's noises."""
        law = self.epoch.law
        if isinstance(law, JointLaw):
            return law.variance(np.rint(row).astype(np.int64))
        return self.epoch.single_law.variance() * float((row**2).sum())


def _placed(plan: Plan, steps: int) -> Iterator[_Step]:
    """Every release with its epoch."""
    place, carried = 0, 0.0
    for number in count():
        epoch = plan.epoch(number)
        whole = epoch.factorisation.integral_steps()
        for inside in range(min(epoch.steps, steps - place)):
            rounding = 0.0 if whole[inside] else ROUNDING_VARIANCE
            newest = _Step(place + inside, inside, epoch, carried, rounding)
            yield newest
        place += epoch.steps
        if place >= steps:
            return
        if plan.mechanism.adds_up:
            carried += newest.variance(newest.last_row())


def _span_variance(plan: Plan, later: _Step, earlier: _Step | None) -> float:
    """Of the difference of two releases; the earlier one may be before the first."""
    if earlier is None:
        return later.carried + later.variance(later.row()) + later.rounding
    rounding = later.rounding + earlier.rounding
    if later.epoch_start == earlier.epoch_start:
        return later.variance(later.span_row(later.place - earlier.place)) + rounding
    if not plan.mechanism.adds_up:
        return later.variance(later.row()) + earlier.variance(earlier.row()) + rounding
    left = earlier.variance(earlier.last_row())
    between = later.carried - earlier.carried - left
    since = earlier.variance(earlier.last_row() - earlier.row())
    return later.variance(later.row()) + between + since + rounding
