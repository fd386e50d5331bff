"""Subjects: one statistic of one version of a dataset, with its parameters and true values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from graphveil.backends import Engine
from graphveil.errors import ParameterError
from graphveil.graph.degrees import FinalDegrees, degrees, fewest_hubs
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.graph.sequence import GraphSequence
from graphveil.graph.thresholds import BRANCHES, ForestBound
from graphveil.lab.experiments.protocol import (
    Integers,
    observed_bound,
    observed_hubs,
    observed_tau,
    thresholds,
    times_two,
)
from graphveil.mechanisms.mechanism import Request
from graphveil.statistics.change import sensitivity_under
from graphveil.statistics.degrees import DegreeStatistic
from graphveil.statistics.edges import Edges
from graphveil.statistics.recent import RecentStatistic
from graphveil.statistics.statistic import Parameter, Statistic, registered

if TYPE_CHECKING:
    from graphveil.lab.datasets import Dataset

PAPER = ("high-degree", "edges")
# What a directed version counts, where a statistic looks at undirected degrees.
OUTWARD = {
    "high-degree": "high-out-degree",
    "degree-histogram": "out-degree-histogram",
    "degree-ccdf": "out-degree-ccdf",
    "stars": "out-stars",
}
FORESTS = (2, 3, 4, 6)  # links per person in the forests that are tried
FOREST_LINKS = 20_000  # of a network, up to which they are: they take long where many hubs are
LEAVES = 2  # of stars, unless others are asked for


@dataclass(frozen=True)
class RequestedStatistic:
    """A statistic as it is asked for: ``high-degree``, ``stars:3``, ``pattern:a-b,b-c``.

    The part after the colon is its first parameter, others have their defaults. A high-degree
    count takes τ from the data unless it is given; stars have two leaves.
    """

    text: str

    def __post_init__(self) -> None:
        if self.name not in registered():
            near = get_close_matches(self.name, registered(), n=1)
            hint = f"Did you mean '{near[0]}'?" if near else "See `graphveil statistics`."
            raise ParameterError("statistic", f"there is none called '{self.name}'", hint=hint)
        if issubclass(registered()[self.name], RecentStatistic):
            raise ParameterError(
                "statistic",
                f"'{self.name}' is of a recent network, which people leave again: there is nothing "
                "of the paper's to compare it with",
                hint="Choose one of those who stay.",
            )

    @property
    def name(self) -> str:
        """The name without the parameter."""
        return self.text.partition(":")[0]

    def member(self, *, directed: bool) -> type[Statistic]:
        """What is counted in a version: for undirected degrees, out-degrees if it is directed."""
        return registered()[OUTWARD.get(self.name, self.name) if directed else self.name]

    def statistic(self, found: FinalDegrees | None, *, directed: bool) -> Statistic:
        """The statistic with its parameters; refuses versions in which it is not defined."""
        statistic = self._with_parameters(found, directed=directed)
        statistic.require_domain(directed=directed)
        return statistic

    def defined(self, *, directed: bool) -> bool:
        """Whether the version has this statistic."""
        statistic = self._with_parameters(None, directed=directed)
        try:
            statistic.require_domain(directed=directed)
        except ParameterError:
            return False
        return True

    @property
    def directions_matter(self) -> bool:
        """Whether both versions are worth counting; not of what is connected."""
        return registered()[self.name].forest_column is None

    def _with_parameters(self, observed: FinalDegrees | None, *, directed: bool) -> Statistic:
        member = self.member(directed=directed)
        given = self.text.partition(":")[2]
        parameters = {
            each.name: self._value(each, "" if place else given, member, observed)
            for place, each in enumerate(member.parameters())
            if each.needed or each.default is not None or (given and not place)
        }
        if given and not parameters:
            raise ParameterError("statistic", f"'{self.name}' has no parameter, but got '{given}'")
        return member(**parameters)

    def _value(
        self, wanted: Parameter, given: str, member: type[Statistic], observed: FinalDegrees | None
    ) -> Any:
        if wanted.default is not None and not given:
            return wanted.default
        if wanted.name == "k" and not given:
            return LEAVES
        if wanted.name == "tau" and not given:
            return 1 if observed is None else _tau(member, observed)
        value = wanted.parse(given)
        if isinstance(value, str):
            raise ParameterError("statistic", f"'{self.text}' needs a whole number after ':'")
        return value


def _tau(member: type[Statistic], observed: FinalDegrees) -> int:
    assert issubclass(member, DegreeStatistic), "only degrees are compared with τ"
    return observed_tau(observed.inward if member.direction == "in" else observed.outward)


@dataclass(frozen=True, eq=False)
class DatasetVersion:
    """A dataset, directed or undirected, as a growing graph with its observed bound."""

    dataset: Dataset
    sequence: GraphSequence
    found: FinalDegrees
    bound: Bound
    fingerprint: str

    @classmethod
    def of(cls, dataset: Dataset, *, directed: bool) -> DatasetVersion:
        """Build the sequence and read the bound off it."""
        sequence = dataset.sequence(directed)
        found = degrees(sequence)
        bound = observed_bound(found, directed=directed)
        return cls(dataset, sequence, found, bound, fingerprint(dataset))

    @property
    def directed(self) -> bool:
        """Whether u→v differs from v→u."""
        return self.sequence.directed

    def subject(self, asked: RequestedStatistic) -> Subject:
        """A statistic of this version; refuses what has no meaning under its bound."""
        statistic = asked.statistic(self.found, directed=self.directed)
        Request(statistic.sensitivity(self.bound), epsilon=Fraction(1))
        return Subject(
            dataset=self.dataset.name,
            directed=self.directed,
            asked=asked.text,
            statistic=statistic,
            bound=self.bound,
            hub_threshold=observed_hubs(self.found, directed=self.directed),
            steps=self.sequence.steps,
            fingerprint=self.fingerprint,
        )


@dataclass(frozen=True)
class Subject:
    """What is published in an experiment, with the parameters that the protocol gives it.

    Attributes:
        dataset: its name.
        directed: the version.
        asked: the statistic as it was asked for, the same for both versions.
        statistic: the statistic that is counted in this version.
        bound: the degree bound.
        hub_threshold: what makes a hub, where hubs are allowed for.
        steps: how many steps the data has.
        fingerprint: of the data, so that stored results are never taken for other data.
    """

    dataset: str
    directed: bool
    asked: str
    statistic: Statistic
    bound: Bound
    hub_threshold: DegreeBound | InOutBound
    steps: int
    fingerprint: str

    @property
    def version(self) -> str:
        """The version in a word."""
        return "directed" if self.directed else "undirected"

    @property
    def tau(self) -> int | None:
        """The threshold of a high-degree count."""
        return getattr(self.statistic, "tau", None)

    @property
    def projection_threshold(self) -> DegreeBound | InOutBound | ForestBound:
        """What an untuned projection retains: τ links, or those of nodes that are no hubs.

        Components and clusters are counted by the forests that nobody has to choose.
        """
        if self.statistic.forest_shape(BRANCHES) is not None:
            return ForestBound(BRANCHES)
        if self.tau is None:
            return self.hub_threshold
        return InOutBound(self.tau, self.tau) if self.directed else DegreeBound(self.tau)

    @property
    def wrong_thresholds(self) -> tuple[DegreeBound | InOutBound, ...]:
        """What makes a hub, wrong by two: too large, and too small."""
        return times_two(self.hub_threshold), times_two(self.hub_threshold, halved=True)


Counted: TypeAlias = tuple[tuple[Bound, Integers], ...]


@dataclass(frozen=True, eq=False)
class Truth:
    """True values at every step; only experiments may hold them beside noisy ones.

    Attributes:
        totals: (steps,) or (steps, numbers).
        projected: the totals after projection to each threshold of the list, or by forests; none
            where no sensitivity after projection is known.
        first_links: the totals of what is counted under promises with hubs: each threshold of the
            list with the fewest hubs that are true of the data. Where nothing is known of
            projection, the promise of the rule alone.
        network: the graph, where links are counted: thresholds that follow may be any.
        steps: those of the network at which there is a release; None for all.
    """

    totals: Integers
    projected: Counted
    first_links: Counted
    network: GraphSequence | None = None
    steps: Integers | None = None

    def at(self, steps: Integers) -> Truth:
        """The values at some steps only."""
        projected, first_links = (
            tuple((bound, totals[steps]) for bound, totals in counted)
            for counted in (self.projected, self.first_links)
        )
        return Truth(self.totals[steps], projected, first_links, self.network, steps)


def true_values(
    version: DatasetVersion, subjects: Sequence[Subject], engine: Engine
) -> list[Truth]:
    """Count each subject of a version, and count it again wherever links are dropped."""
    counting = _Counting(version, tuple(subjects), engine)
    whole = counting.totals(version.sequence, subjects)
    projected: dict[Subject, list[tuple[Bound, Integers]]] = {each: [] for each in subjects}
    first_links: dict[Subject, list[tuple[Bound, Integers]]] = {each: [] for each in subjects}
    for forests in map(ForestBound, FORESTS):
        for subject, totals in counting.by_forests(forests).items():
            projected[subject].append((forests, totals))
    for threshold in counting.thresholds():
        for subject, totals in counting.projected(threshold).items():
            projected[subject].append((threshold, totals))
        promise = _promise(version.sequence, threshold)
        for subject, totals in counting.first_links(promise).items():
            first_links[subject].append((promise, totals))
    fixed = replace(version.sequence, growth=None)  # goes to other processes, and grows no more
    return [
        Truth(
            whole[each],
            tuple(projected[each]),
            tuple(first_links[each]),
            fixed if isinstance(each.statistic, Edges) else None,
        )
        for each in subjects
    ]


@dataclass(frozen=True, eq=False)
class _Counting:
    """Counting the subjects of a version, on all links and on some."""

    version: DatasetVersion
    subjects: tuple[Subject, ...]
    engine: Engine

    def thresholds(self) -> list[Bound]:
        """Those of the list, and those that the rules give, from the least to the bound itself."""
        by_rule = [
            bound
            for each in self.subjects
            for bound in (each.hub_threshold, each.projection_threshold, *each.wrong_thresholds)
            if not isinstance(bound, ForestBound)
        ]
        listed = {*thresholds(self.version.bound), *by_rule}
        return sorted(listed, key=lambda bound: bound.limits)

    def totals(
        self, sequence: GraphSequence, subjects: Sequence[Subject], bound: Bound | None = None
    ) -> dict[Subject, Integers]:
        """The totals of some subjects, all as wide as the bound of the version says."""
        statistics = [subject.statistic for subject in subjects]
        counts = self.engine.count(sequence, statistics, bound=bound or self.version.bound)
        return {subject: counts.totals(subject.statistic) for subject in subjects}

    def projected(self, threshold: Bound) -> dict[Subject, Integers]:
        """The totals after one projection, of the subjects that admit it."""
        admitted = [each for each in self.subjects if _admits(each.statistic, threshold)]
        if not admitted:
            return {}
        return self.totals(self.engine.project(self.version.sequence, threshold), admitted)

    def by_forests(self, forests: ForestBound) -> dict[Subject, Integers]:
        """The totals by forests, of the subjects that these count."""
        if self.version.sequence.edges > FOREST_LINKS:
            return {}
        admitted = [each for each in self.subjects if each.statistic.forest_shape(forests.branches)]
        return self.totals(self.version.sequence, admitted, forests) if admitted else {}

    def first_links(self, promise: Bound) -> dict[Subject, Integers]:
        """The totals of what is counted under a promise, of the subjects that are tried with it."""
        admitted = [each for each in self.subjects if _is_tried(each, promise)]
        if not admitted:
            return {}
        return self.totals(self.engine.counted_part(self.version.sequence, promise), admitted)


def _promise(sequence: GraphSequence, threshold: Bound) -> Bound:
    """A threshold with the fewest hubs that are true of the data; alone if there are none.

    Not checked, as in a study that states nothing of it: its numbers hold for people who keep it.
    """
    assert isinstance(threshold, DegreeBound | InOutBound), "so are all of the list"
    hubs = fewest_hubs(sequence, threshold)
    return HubBound(threshold, hubs, checked=False) if any(hubs) else threshold


def _is_tried(subject: Subject, promise: Bound) -> bool:
    """Whether a statistic is defined and changes under a promise, and is quick to count."""
    quick = _admits(subject.statistic, promise.counted)
    try:
        changes = sensitivity_under(subject.statistic, promise).l1 > 0
    except ParameterError:
        return False
    by_rule = (subject.hub_threshold, *subject.wrong_thresholds)
    return changes and (quick or promise.counted in by_rule)


def fingerprint(dataset: Dataset) -> str:
    """A digest of the records and of the calendar that cuts them into steps."""
    digest = hashlib.sha256(repr(dataset.calendar).encode())
    for table in (dataset.records.nodes, dataset.records.edges):
        digest.update(table.frame.write_csv().encode())
    return digest.hexdigest()


def _admits(statistic: Statistic, threshold: Bound) -> bool:
    """Whether the sensitivity after projection is known, and anything is left to count."""
    try:
        return bool(statistic.projected_l1(threshold))
    except ParameterError:
        return False
