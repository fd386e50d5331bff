"""Comparison: the error of every mechanism for one statistic; plots of what is known beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.drawing.plots import (
    COLOURS,
    Axis,
    Curve,
    Figure,
    Panel,
    even_ticks,
    in_percent,
    round_ticks,
    with_air,
)
from graphveil.errors import ParameterError
from graphveil.steward.outlook import plain_times

if TYPE_CHECKING:
    from graphveil.drawing.svg import Drawing, Point
    from graphveil.graph.promises import Bound
    from graphveil.mechanisms.factorisations.objectives import Objective
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.mechanisms.planning.usefulness import Judgement
    from graphveil.series.planner import Prospect
    from graphveil.statistics.statistic import Statistic
    from graphveil.steward.promising import TriedPromise, TriedPromises

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


WIDTH, HEIGHT = 560, 340


def plan_chart(prospects: Sequence[Prospect], chosen: Plan) -> Drawing:
    """Error against release, one line per mechanism, each with its name at its end."""
    lines = _lines(prospects, chosen)
    low, high = with_air([value for _, deviations in lines for value in deviations])
    curves = [
        Curve(name, _releases_of(deviations), _colour(place), 1.6 if place else 3.6)
        for place, (name, deviations) in enumerate(lines)
    ]
    steps = len(chosen.predicted)
    error = Axis(low, high, round_ticks(low, high), "standard deviation of the noise", lines=True)
    release = Axis(1, max(steps, 2), tuple(_releases(steps)), "release", linear=True)
    # The choice is drawn last, above the others.
    panel = Panel(WIDTH, HEIGHT, release, error, (*curves[1:], curves[0]), named=True)
    head = (
        f"Predicted error: {chosen.subject}",
        f"{chosen.budget} for the whole series; the thick line is the choice",
    )
    return Figure(head, ((panel,),)).drawing(chosen.describe())


def _lines(prospects: Sequence[Prospect], chosen: Plan) -> list[tuple[str, tuple[float, ...]]]:
    """Each line with its name, the chosen one first; equal lines share one name."""
    shared: dict[tuple[float, ...], list[str]] = {}
    for each in sorted(prospects, key=lambda each: each.name != chosen.mechanism.name):
        if each.plan:
            key = tuple(round(value, 6) for value in each.std)
            shared.setdefault(key, []).append(each.name)
    return [(", ".join(names), deviations) for deviations, names in shared.items()]


def _releases_of(deviations: Sequence[float]) -> tuple[Point, ...]:
    """The points of a line; a series of one release is drawn as a short level line."""
    drawn = deviations if len(deviations) > 1 else (*deviations, *deviations)
    return tuple((float(release), error) for release, error in enumerate(drawn, start=1))


def _releases(steps: int) -> list[int]:
    """The first release, the last, and some round numbers between."""
    stride = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if steps / s <= 11)
    inner = [release for release in range(stride, steps, stride) if steps - release > stride / 2]
    return sorted({1, *inner, steps})


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


# The plot of tried promises: noise, what is missed, and both together, bound by bound.


LINES = ("error", "noise", "missed")


def promise_chart(found: TriedPromises) -> Drawing:
    """Parts of the true number against the bound, averaged over the series; the best is marked."""
    shown = _shown(found)
    curves = tuple(
        Curve(what, tuple((_bound(each), _parts(each)[what]) for each in shown), COLOURS[place])
        for place, what in enumerate(LINES)
    )
    best = Curve(
        "", ((_bound(found.best), found.best.score),), COLOURS[0], width=0, mark="circle", size=1.7
    )
    ticks = even_ticks(max(part for each in shown for part in _parts(each).values()))
    height = Axis(0, ticks[-1], ticks, "part of the true number", in_percent, True, True)
    panel = Panel(WIDTH, HEIGHT, _bound_axis(found, shown), height, (*curves, best))
    title = f"Promises tried on a public network, {found.horizon} releases"
    said = f"smallest error: {found.best.bound}"
    return Figure((title, said), ((panel,),), curves).drawing(f"{title}; {said}")


def _shown(tried: TriedPromises) -> list[TriedPromise]:
    """One promise for each bound on the axis: where there are two bounds, the better one."""
    by_bound: dict[int, TriedPromise] = {}
    for each in sorted(tried.tried, key=lambda each: -each.score):
        by_bound[each.bound.within.limits[-1]] = each
    return [by_bound[bound] for bound in sorted(by_bound)]


def _bound(tried: TriedPromise) -> float:
    return float(tried.bound.within.limits[-1])


def _bound_axis(tried: TriedPromises, shown: Sequence[TriedPromise]) -> Axis:
    title = "out-bound, with its best in-bound" if tried.best.bound.directed else "bound"
    bounds = [max(_bound(each), 0.5) for each in shown]
    low, high = bounds[0], max(bounds[-1], 2 * bounds[0])
    return Axis(low, high, round_ticks(low, high), title)


def _parts(each: TriedPromise) -> dict[str, float]:
    return {
        "error": each.score,
        "noise": _mean([one.noise / max(one.size, 1) for one in each.series.values()]),
        "missed": _mean([one.missed / max(one.size, 1) for one in each.series.values()]),
    }


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)
