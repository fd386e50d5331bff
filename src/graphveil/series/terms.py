"""The terms of a series: what is fixed permanently when it is opened, all of it public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.errors import ParameterError
from graphveil.graph.promises import HubBound
from graphveil.graph.thresholds import FollowingBound
from graphveil.mechanisms.mechanism import Measured, Request
from graphveil.mechanisms.planning.plan import Plan
from graphveil.statistics.change import sensitivity_under, shape_under
from graphveil.statistics.sensitivity import Sensitivity
from graphveil.statistics.shape import Mass, Moves, Shape
from graphveil.statistics.statistic import Statistic

if TYPE_CHECKING:
    from graphveil.graph.promises import Bound


@dataclass(frozen=True)
class SeriesTerms:
    """One statistic of one growing graph, and how it is published.

    Attributes:
        statistic: what is counted.
        bound: the promised degree bound, or the threshold of a projecting mechanism.
        plan: the mechanism, the budget and the horizon.
        first_step: the step of the graph at which the series begins.
    """

    statistic: Statistic
    bound: Bound
    plan: Plan
    first_step: int = 0

    @property
    def projects(self) -> bool:
        """Whether the projected graph is counted, on which no promise is needed."""
        return self.plan.mechanism.projects

    @property
    def follows(self) -> bool:
        """Whether links are counted at thresholds that follow what was published."""
        return self.plan.mechanism.follows

    def require_fitting_plan(self) -> None:
        """Refuse a plan that was made for something else."""
        request = self.plan.request
        sensitivity = sensitivity_under(self.statistic, self.bound)
        width = self.statistic.width(self.bound.counted)
        known_by_hubs = isinstance(self.bound, HubBound)
        if not (known_by_hubs and self._is_covered_by(request, sensitivity, width)):
            self._require_same(request, sensitivity, width)
        if (self.statistic.counted_for is None) == (
            self.plan.mechanism.measured is Measured.RECENT
        ):
            raise ParameterError("plan", "was made for people who stay, or for those who leave")
        if self.projects:
            self._require_fitting_projection()

    def _require_same(self, request: Request, sensitivity: Sensitivity, width: int) -> None:
        if (request.sensitivity, request.width) != (sensitivity, width):
            raise ParameterError("plan", "was made for another statistic or another bound")
        if request.shape not in (None, shape_under(self.statistic, self.bound)):
            raise ParameterError("plan", "was made for another shape of what one person changes")

    def _is_covered_by(self, request: Request, needed: Sensitivity, width: int) -> bool:
        """Whether a plan under hubs allows for all that one person can change, or for more.

        Smaller sensitivities were proved over time, but a stored plan stays as it was made.
        """
        held = request.sensitivity
        measures = ("l1", "static_l1", "l2_squared", "variation_squared")
        return (
            (held.assumption, request.width) == (needed.assumption, width)
            and all(getattr(held, each) >= getattr(needed, each) for each in measures)
            and _covers(request.shape, shape_under(self.statistic, self.bound), needed.l1)
        )

    def _require_fitting_projection(self) -> None:
        """An older plan does not know that totals only rise; one that claims it must be right."""
        request, shape = self.plan.request, self.statistic.projected_shape(self.bound)
        known = None if shape is None else shape.height
        wrong = request.projected_rises and not (shape and shape.rising)
        guess = self.bound.guess if isinstance(self.bound, FollowingBound) else None
        if request.projected_l1 != known or wrong or request.guess != guess:
            raise ParameterError("plan", "was made for another threshold of the projection")


def _covers(held: Shape | None, needed: Shape, l1: int) -> bool:
    """Whether every change of one shape is one of another, which None and Γ limit alone."""
    if isinstance(held, Moves) and isinstance(needed, Moves):
        return held.rises >= needed.rises and held.falls >= needed.falls
    if isinstance(held, Mass):
        return held.total >= l1
    return held is None or held == needed
