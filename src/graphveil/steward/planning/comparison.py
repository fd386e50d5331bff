"""Comparison: the error of every mechanism for one statistic, and which one is best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError
from graphveil.steward.planning.outlook import plain_times

if TYPE_CHECKING:
    from graphveil.graph.promises import Bound
    from graphveil.mechanisms.factorisations.objectives import Objective
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.mechanisms.planning.usefulness import Judgement
    from graphveil.series.planner import Prospect
    from graphveil.statistics.statistic import Statistic

WIDEST = 12  # letters of a heading


@dataclass(frozen=True)
class Comparison:
    """What each mechanism would do.

    Attributes:
        prospects: all mechanisms, the best first; also those that are not possible, with why.
        chosen: the best, or the one that was named.
        expected: a guess of the number's size, if there is one.
        objectives: the ways to weigh releases under which all are compared.
        times_beyond: how many times ε a person loses with so many more hubs than promised, by the
            chosen one, in a study that goes on where its promise is broken.
    """

    prospects: tuple[Prospect, ...]
    chosen: Plan
    expected: int | None
    objectives: tuple[Objective, ...]
    times_beyond: Mapping[int, Fraction]

    @property
    def warning(self) -> str | None:
        """That the noise is too large for the size that is expected."""
        return None if self.expected is None else self.chosen.warning(self.expected)

    @property
    def judgement(self) -> Judgement | None:
        """The predicted error beside the size that is expected."""
        return None if self.expected is None else self.chosen.judged(self.expected)

    @property
    def headings(self) -> tuple[str, ...]:
        """What each objective is called where there is little room."""
        names = [str(each) for each in self.objectives]
        return tuple(name if len(name) <= WIDEST else f"{name[:WIDEST]}…" for name in names)

    def errors(self, plan: Plan) -> dict[str, float]:
        """The predicted error of a plan under each objective."""
        from graphveil.mechanisms.planning.plan import achieved

        return {str(each): achieved(plan, each) for each in self.objectives}

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        from graphveil.noise.exact_numbers import as_text

        request, judgement = self.chosen.request, self.judgement
        return {
            "statistic": self.chosen.subject,
            "epsilon": as_text(request.epsilon),
            "delta": None if request.delta is None else as_text(request.delta),
            "horizon": request.horizon,
            "numbers_per_release": request.width,
            "minimise": str(request.minimise),
            "choice": self.chosen.mechanism.name,
            "warning": self.warning,
            "usefulness": str(judgement.word) if judgement else None,
            "times_beyond_the_promise": plain_times(self.times_beyond),
            "mechanisms": [
                {
                    "name": each.name,
                    "mean_std": each.plan.mean_std,
                    "last_std": each.plan.last_std,
                    "errors": self.errors(each.plan),
                    "std": list(each.std),
                }
                for each in self.prospects
                if each.plan
            ],
            "not_admissible": [
                {"name": each.name, "reason": each.reason} for each in self.prospects if each.reason
            ],
        }


def compared(
    statistic: Statistic,
    bound: Bound,
    *,
    epsilon: str,
    delta: str | None = None,
    horizon: int | None = None,
    mechanism: str = "auto",
    projection: Bound | None = None,
    expected: int | None = None,
    minimise: str | None = None,
) -> Comparison:
    """Compare mechanisms at equal privacy.

    Args:
        statistic: what is counted.
        bound: what is promised.
        epsilon: the privacy loss of the whole series.
        delta: the probability of more, if there may be one.
        horizon: how many releases there will be; None if that is unknown.
        mechanism: its name; "auto" takes the best.
        projection: the threshold of those that project, among which "auto" then chooses.
        expected: a guess of the number's size, for a warning.
        minimise: which error is to be small; None is the default.
    """
    from graphveil.mechanisms.factorisations.objectives import COMPARED, DEFAULT, objective
    from graphveil.series.planner import compare, require_projectable, times_beyond

    window = statistic.counted_for
    if horizon is not None and window is not None and window > horizon:
        raise ParameterError(
            "window",
            f"of {window} steps is longer than the {horizon} releases that there will be",
            hint="Leave it out to count everybody.",
        )
    own = DEFAULT if minimise is None else objective(minimise)
    prospects = compare(
        statistic,
        bound,
        epsilon=epsilon,
        delta=delta,
        horizon=horizon,
        projection=projection,
        minimise=own,
    )
    if projection is not None:
        require_projectable(statistic, projection, horizon)
    chosen = _chosen(prospects, mechanism, projecting=projection is not None)
    if expected is not None:
        chosen.judged(expected)  # refuses what is no size
    shown = tuple(dict.fromkeys((own, *COMPARED)))
    beyond = times_beyond(chosen, statistic, bound)
    return Comparison(tuple(prospects), chosen, expected, shown, beyond)


def _chosen(prospects: list[Prospect], name: str, *, projecting: bool) -> Plan:
    """The best plan, or the one of the mechanism that was named."""
    from graphveil.mechanisms.mechanism import mechanism
    from graphveil.mechanisms.planning import AUTO
    from graphveil.series.planner import best

    if name == AUTO:
        return best(prospects, projecting=projecting)
    known = mechanism(name).name
    chosen = next(each for each in prospects if each.name == known)
    if chosen.plan is None:
        raise ParameterError("mechanism", f"{chosen.name} {chosen.reason}")
    return chosen.plan
