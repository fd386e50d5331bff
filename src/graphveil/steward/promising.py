"""Promising: which bound and how many hubs to promise, tried on a public or simulated network.

The promise of a study must not follow from its own records. A network of the same kind that
anybody may see shows what each promise would leave out, and how much noise it would need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError, ParameterError
from graphveil.graph.degrees import degrees, fewest_hubs
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound, NoBound

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from graphveil.backends import Engine, ExactCounts
    from graphveil.backends.spark.intake import Taken
    from graphveil.backends.spark.intake.tables import SparkTable
    from graphveil.graph.intake.appending import Intake
    from graphveil.graph.intake.records import IntakeReport, Records
    from graphveil.graph.sequence import GraphSequence
    from graphveil.graph.thresholds import FollowingBound, ForestBound
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.records import ReadingOptions
    from graphveil.records.options import Undated
    from graphveil.statistics.statistic import Statistic


WARNING = (
    "Use a public or simulated network of the same kind, never the records to be published: a "
    "promise that follows from them tells about the people in them."
)
FINE = 12  # every bound up to here is tried, then each about a fifth larger than the last
COARSE = 5 / 4
FORESTS = (1, 2, 3, 4, 5, 6)  # links per person in the forests that are tried
FEW = 2  # of these, those that are tried in networks of any size
MOST_LINKS = 10_000  # of a public network in which more are tried: their program may take hours
COARSE_BOTH_WAYS = 8 / 5  # where in- and out-bounds are tried together


@dataclass(frozen=True)
class Wanted:
    """A series to be published: what is counted, and its share of the budget."""

    name: str
    statistic: Statistic
    epsilon: Fraction


@dataclass(frozen=True)
class SeriesError:
    """How far a series would be off under a promise, all root mean squares over releases.

    Attributes:
        l1: Γ, what one person can change.
        mechanism: which would be chosen.
        noise: its predicted standard deviation.
        missed: by how much too few, or too many, the counted links make the number.
        size: of the true number.
    """

    l1: int
    mechanism: str
    noise: float
    missed: float
    size: float

    @property
    def error(self) -> float:
        """The distance from the true number: noise and what is missed together."""
        return hypot(self.noise, self.missed)

    @property
    def relative(self) -> float:
        """The error as a part of the true number."""
        return self.error / max(self.size, 1.0)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        names = ("l1", "mechanism", "noise", "missed", "error", "relative")
        return {name: getattr(self, name) for name in names}


def _mean_relative(series: Mapping[str, SeriesError]) -> float:
    return sum(each.relative for each in series.values()) / len(series)


@dataclass(frozen=True)
class TriedPromise:
    """One promise: a bound, the fewest hubs with which the network keeps it, and what follows.

    Attributes:
        bound: as a study file would have it.
        dropped: the part of all links that is not counted.
        series: by name.
    """

    bound: HubBound
    dropped: float
    series: dict[str, SeriesError]

    @property
    def score(self) -> float:
        """The relative error, averaged over the series."""
        return _mean_relative(self.series)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        within = self.bound.within.limits
        return {
            "bound": within[0] if len(within) == 1 else list(within),
            "hubs": self.bound.hubs[0] if len(within) == 1 else list(self.bound.hubs),
            "dropped": self.dropped,
            "mean_relative_error": self.score,
            "series": {name: each.as_data() for name, each in self.series.items()},
        }


@dataclass(frozen=True)
class TriedForests:
    """Forests with so many links per person: no promise, and what follows for what they count.

    Attributes:
        branches: how many links of a person may hold groups together.
        series: those that forests count, by name.
    """

    branches: int
    series: dict[str, SeriesError]

    @property
    def score(self) -> float:
        """The relative error, averaged over the series."""
        return _mean_relative(self.series)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "projection": f"forest:{self.branches}",
            "mean_relative_error": self.score,
            "series": {name: each.as_data() for name, each in self.series.items()},
        }


@dataclass(frozen=True)
class TriedFollowing:
    """Thresholds that follow, with the guess that fits this network: no promise, for links.

    Attributes:
        guess: of the links and of the threshold at the end.
        error: noise, and what the stated thresholds leave out after half the mean noise is added
            for it, which is how a release is processed.
    """

    guess: FollowingBound
    error: SeriesError

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {"projection": self.guess.brief} | self.error.as_data()


@dataclass(frozen=True)
class TriedPromises:
    """Promises from the smallest bound to the largest degree, which leaves nothing out.

    Attributes:
        steps: of the network.
        horizon: for how many releases noise is predicted.
        tried: in order of their bounds.
        forests: what needs no promise, where a series can be counted so; in order of branches.
        following: the same for links, by the name of the series.
    """

    steps: int
    horizon: int
    tried: tuple[TriedPromise, ...]
    forests: tuple[TriedForests, ...] = ()
    following: Mapping[str, TriedFollowing] = field(default_factory=dict)

    @property
    def best(self) -> TriedPromise:
        """The one with the smallest error; of equals, that with the smallest bound."""
        return min(self.tried, key=lambda each: each.score)

    @property
    def best_forests(self) -> TriedForests | None:
        """Those with the smallest error; of equals, those with the fewest branches."""
        return min(self.forests, key=lambda each: each.score, default=None)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "warning": WARNING,
            "steps": self.steps,
            "releases": self.horizon,
            "best": self.best.as_data(),
            "tried": [each.as_data() for each in self.tried],
            "forests": [each.as_data() for each in self.forests],
            "following": {name: each.as_data() for name, each in self.following.items()},
        }


def tried_promises(
    sequence: GraphSequence, series: Sequence[Wanted], *, horizon: int | None = None
) -> TriedPromises:
    """Try every promise on a network that anybody may see.

    Args:
        sequence: the network.
        series: what is to be published.
        horizon: how many releases there will be; None takes the steps of the network.
    """
    from graphveil.backends import LocalEngine

    bench = _Bench(sequence, tuple(series), horizon or sequence.steps, LocalEngine())
    tried = tuple(filter(None, map(bench.tried, _bounds(sequence))))
    if not tried:
        raise ParameterError(
            "series", "no bound admits all of these in this network", hint="Try them one by one."
        )
    tried_forests = FORESTS if sequence.edges <= MOST_LINKS else FORESTS[:FEW]
    forests = tuple(filter(None, map(bench.by_forests, tried_forests)))
    return TriedPromises(sequence.steps, bench.horizon, tried, forests, bench.by_following())


@dataclass(frozen=True)
class _Bench:
    """A network, what is wanted of it, and where it is counted."""

    sequence: GraphSequence
    series: tuple[Wanted, ...]
    horizon: int
    engine: Engine

    def __post_init__(self) -> None:
        if not self.sequence.edges:
            raise InputError("this network has no links, so that every promise is kept")
        for each in self.series:
            each.statistic.require_domain(directed=self.sequence.directed)
            if each.statistic.vector:
                raise ParameterError(
                    "series",
                    f"'{each.name}' has one number per degree, and how many depends on the bound",
                    hint="Compare promises by series of one number, such as edges.",
                )

    def tried(self, within: DegreeBound | InOutBound) -> TriedPromise | None:
        """One promise; None where a series has no meaning under it, such as τ above the bound."""
        bound = HubBound(within, fewest_hubs(self.sequence, within), checked=False)
        counted = self.engine.counted_part(self.sequence, bound)
        truth, projected = self._totals(self.sequence), self._totals(counted)
        try:
            errors = {
                each.name: self._error(each, bound, truth[place], projected[place])
                for place, each in enumerate(self.series)
            }
        except ParameterError:
            return None
        return TriedPromise(bound, 1 - counted.edges / self.sequence.edges, errors)

    def by_forests(self, branches: int) -> TriedForests | None:
        """What forests count of the series; None where they count none of them."""
        from graphveil.graph.thresholds import ForestBound

        bound, series = ForestBound(branches), self.series
        wanted = [each for each in series if each.statistic.forest_shape(branches) is not None]
        if not wanted:
            return None
        statistics = list(dict.fromkeys(each.statistic for each in wanted))
        truth = self.engine.count(self.sequence, statistics)
        counts = self.engine.count(self.sequence, statistics, bound=bound)
        pairs = [(truth.totals(each.statistic), counts.totals(each.statistic)) for each in wanted]
        errors = [self._error(each, bound, *both) for each, both in zip(wanted, pairs, strict=True)]
        names = [each.name for each in wanted]
        return TriedForests(branches, dict(zip(names, errors, strict=True)))

    def by_following(self) -> dict[str, TriedFollowing]:
        """What thresholds that follow do for each series of links."""
        from graphveil.statistics.edges import Edges

        return {
            each.name: self._following(each)
            for each in self.series
            if isinstance(each.statistic, Edges)
        }

    def _following(self, wanted: Wanted) -> TriedFollowing:
        """The guess by rule, and the thresholds that it leads to if sizes are known."""
        from graphveil.graph.thresholds import FollowingBound
        from graphveil.mechanisms.following import Rule
        from graphveil.series.counting import ThresholdCounts
        from graphveil.series.planner import plan

        (truth,) = self._totals(self.sequence, [wanted])
        guess = FollowingBound(int(truth[-1]), self._best_threshold(wanted.epsilon))
        chosen = plan(
            wanted.statistic,
            NoBound(),
            epsilon=wanted.epsilon,
            horizon=self.horizon,
            projection=guess,
        )
        rule = Rule.of(chosen.request, chosen.epoch(0))
        counts = ThresholdCounts(self.engine, self.sequence, wanted.statistic, guess)
        stated = [rule.threshold(Fraction(int(size))) for size in truth]
        added = [float(each * rule.noise / 2) for each in stated]
        left = [counts.total(step, each) for step, each in enumerate(stated)]
        missed = truth - np.array(left) - np.array(added)
        return TriedFollowing(guess, _series_error(stated[-1], chosen, missed, truth))

    def _best_threshold(self, epsilon: Fraction) -> int:
        """The links of the person at the rank of the rule, in and out together."""
        from graphveil.mechanisms.following import rank_of_guess

        found = degrees(self.sequence)
        total = found.outward + found.inward if self.sequence.directed else found.outward
        rank = min(rank_of_guess(self.horizon, epsilon), len(total) - 1)
        return max(1, int(np.sort(total)[::-1][rank]))

    def _totals(
        self, sequence: GraphSequence, series: Sequence[Wanted] | None = None
    ) -> list[NDArray[np.int64]]:
        statistics = [each.statistic for each in series or self.series]
        counts = self.engine.count(sequence, list(dict.fromkeys(statistics)))
        return [counts.totals(each) for each in statistics]

    def _error(
        self,
        wanted: Wanted,
        bound: HubBound | ForestBound,
        truth: NDArray[np.int64],
        projected: NDArray[np.int64],
    ) -> SeriesError:
        from graphveil.series.planner import plan

        forests = None if isinstance(bound, HubBound) else bound
        chosen = plan(
            wanted.statistic,
            bound,
            epsilon=wanted.epsilon,
            horizon=self.horizon,
            projection=forests,
        )
        return _series_error(chosen.request.sensitivity.l1, chosen, truth - projected, truth)


def _series_error(
    l1: int,
    chosen: Plan,
    missed: NDArray[np.int64] | NDArray[np.float64],
    truth: NDArray[np.int64],
) -> SeriesError:
    return SeriesError(
        l1=l1,
        mechanism=chosen.mechanism.name,
        noise=_root_mean_square(np.array(chosen.predicted)),
        missed=_root_mean_square(missed),
        size=_root_mean_square(truth),
    )


def _root_mean_square(values: NDArray[np.int64] | NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(np.square(values.astype(np.float64)))))


def _bounds(sequence: GraphSequence) -> Iterator[DegreeBound | InOutBound]:
    """The bounds to try, up to the largest degrees."""
    final = degrees(sequence)
    outward = int(final.outward.max(initial=1))
    if not sequence.directed:
        yield from map(DegreeBound, _levels(outward, FINE, COARSE))
        return
    for inward in _levels(int(final.inward.max(initial=1)), 2, COARSE_BOTH_WAYS):
        for most in _levels(outward, 2, COARSE_BOTH_WAYS):
            yield InOutBound(inward, most, sequence.oriented)


def _levels(largest: int, fine: int, factor: float) -> list[int]:
    """1, 2, 3, … and then in growing strides, the largest included."""
    levels, level = [], 1
    while level < largest:
        levels.append(level)
        level = level + 1 if level < fine else max(level + 1, round(level * factor))
    return [*levels, largest]


# Networks to look at: records become a growing graph whose calendar follows from themselves.


def taken(
    records: Records, every: str | None, *, directed: bool, oriented: bool, undated: Undated
) -> Intake:
    """The growing graph of some records, from their earliest time on.

    Fine for looking at one's own data, or at public ones; a calendar to publish by must be chosen
    without looking.

    Args:
        records: nodes and edges.
        every: the length of a step; None takes one unit of numbers, or a year.
        directed: whether edges go from source to target.
        oriented: whether reciprocal edges are refused.
        undated: whether nodes without a time are refused, in the first step, or left out.
    """
    from graphveil.calendar.calendar import Calendar
    from graphveil.graph.intake.appending import append
    from graphveil.graph.intake.resolving import dated_only, resolve
    from graphveil.graph.intake.rules import RecordRules
    from graphveil.graph.sequence import GraphSequence

    times = records.nodes.frame["time"]
    rhythm = every or ("1" if times.dtype.is_integer() else "year")
    calendar = Calendar.spanning(times, int(rhythm) if rhythm.isdigit() else rhythm)
    sequence = GraphSequence.begin(calendar, directed=directed, oriented=oriented)
    if undated != "drop":
        return sequence.extend(records, undated=undated)
    resolved = resolve(records, calendar, RecordRules(undated="first"))
    return append(
        sequence, dated_only(resolved, lambda ids: np.zeros(len(ids), np.bool_)), late="refuse"
    )


# Networks to look at that no machine holds: tables that Spark reads, counted on its workers.


@dataclass(frozen=True, eq=False)
class CountedTables:
    """What was counted; a secret.

    Attributes:
        labels: the names of the steps.
        counts: of every step.
        report: what became of the records.
    """

    labels: list[str]
    counts: ExactCounts = field(repr=False)
    report: IntakeReport = field(repr=False)


def count_tables(
    tables: Sequence[str],
    statistic: Statistic,
    every: str | None,
    *,
    directed: bool,
    oriented: bool,
    options: ReadingOptions,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> CountedTables:
    """Count a statistic on Spark, from the earliest time in the tables on.

    Args:
        tables: Parquet files or folders, or names of tables, of nodes and of edges.
        statistic: what to count.
        every: the length of a step; None takes one unit of numbers, or a year.
        directed: whether edges go from source to target.
        oriented: whether reciprocal edges are refused.
        options: how columns are called, and what becomes of nodes without a time.
        master: of Spark; None takes every core of this machine.
        settings: of Spark.
    """
    from graphveil.backends.spark import SparkCluster, SparkEngine, opened
    from graphveil.backends.spark.engine import require_counted
    from graphveil.backends.spark.intake.tables import require_understood, told_apart

    require_counted([statistic.tally()], statistic.name)
    require_understood(options)
    session = opened(master, settings)
    nodes, edges = told_apart(session, tables, options)
    graph, report = _taken(session, nodes, edges, every, directed, oriented, options)
    try:
        counts = SparkEngine(SparkCluster(session)).count(graph, [statistic])
    finally:
        graph.workspace.remove()
    return CountedTables(graph.labels, counts, report)


def _taken(
    session: SparkSession,
    nodes: SparkTable,
    edges: SparkTable | None,
    every: str | None,
    directed: bool,
    oriented: bool,
    options: ReadingOptions,
) -> Taken:
    from graphveil.backends.spark.intake import begin, extend
    from graphveil.backends.spark.intake.resolving import spanning

    text = not (nodes.whole_ids and (edges is None or edges.whole_ids))
    empty = begin(
        session,
        spanning(nodes, every, options.day_first),
        directed=directed,
        oriented=oriented,
        expected_edges=0 if edges is None else edges.rows,
        text_ids=text,
    )
    try:
        return extend(
            session,
            empty,
            nodes,
            edges,
            undated=options.undated or "refuse",
            day_first=options.day_first,
        )
    except BaseException:
        empty.workspace.remove()
        raise
