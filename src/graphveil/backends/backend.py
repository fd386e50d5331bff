"""The interface of a backend, and what it answers: exact integers for every step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound

if TYPE_CHECKING:
    from graphveil.graph.degrees import FinalDegrees
    from graphveil.graph.sequence import GraphSequence
    from graphveil.statistics.statistic import Statistic
    from graphveil.statistics.tallies import Counts, DegreeReach, Tally


# The result of an engine: exact integers for every step so far, and the state to go on from.


@dataclass(frozen=True)
class Extent:
    """How much of a sequence was counted: enough to notice a wrong one."""

    directed: bool
    steps: int
    nodes: int
    prompt: int
    late: int


def extent(sequence: GraphSequence, steps: int) -> Extent:
    """The extent of the first `steps` steps of a sequence."""
    nodes = int(sequence.node_offsets[steps])
    prompt, late = int(sequence.offsets[nodes]), int(sequence.late.offsets[steps])
    return Extent(sequence.directed, steps, nodes, prompt, late)


@dataclass(frozen=True, eq=False)
class Answer:
    """What one tally came to.

    Attributes:
        tallied: exact integers for every step so far.
        state: what its engine needs to go on from here; means nothing to others.
    """

    tallied: Counts | DegreeReach
    state: Any = None


@dataclass(frozen=True, eq=False)
class ExactCounts:
    """True counts of all steps so far: private, never for publication.

    Attributes:
        statistics: what was counted.
        extent: how much of the sequence was counted.
        answers: what each tally came to.
        bound: the promise that fixes how long vectors are.

    Examples:
        >>> records = from_rows([("ann", 2021), ("bob", 2022)], [("ann", "bob")])
        >>> sequence, _ = GraphSequence.begin(Calendar.yearly(2021)).extend(records)
        >>> edges = statistic("edges")
        >>> counts = LocalEngine().count(sequence, [edges])
        >>> counts.totals(edges).tolist(), counts.differences(edges).tolist()
        ([0, 1], [0, 1])
    """

    statistics: tuple[Statistic, ...]
    extent: Extent
    answers: Mapping[Tally, Answer]
    bound: Bound | None = None

    def differences(self, statistic: Statistic) -> Counts:
        """The change at each step: (steps,), or (steps, degrees) for vectors."""
        if statistic not in self.statistics:
            raise ParameterError(statistic.name, "was not among the statistics counted")
        from graphveil.statistics.change import differences_under, tally_under

        answer = self.answers[tally_under(statistic, self.bound)]
        return differences_under(statistic, self.bound, answer.tallied)

    def totals(self, statistic: Statistic) -> Counts:
        """The value at each step, or a refusal if it is beyond 64 bits."""
        from graphveil.statistics.tallies import totals

        return totals(self.differences(statistic))


def require_earlier(after: ExactCounts, sequence: GraphSequence) -> None:
    """Refuse counts of another sequence, or of more steps than this one has."""
    steps = after.extent.steps
    if steps > sequence.steps or after.extent != extent(sequence, steps):
        raise ParameterError(
            "after",
            "was not counted on an earlier state of this sequence",
            hint="Count from the start instead.",
        )


class CheckpointFormat(Protocol):
    """How what an engine has counted becomes plain data, and is read back by the next command."""

    @property
    def form(self) -> str:
        """What the data is called; another name where anything has another meaning."""
        ...

    def packed(self, answer: Answer) -> dict[str, Any]:
        """An answer as numbers, texts and arrays."""
        ...

    def unpacked(self, tally: Tally, data: Mapping[str, Any]) -> Answer:
        """The answer to a tally that `packed` gave."""
        ...

    def agree(self, tally: Tally, one: Answer, other: Answer) -> bool:
        """Whether two answers to a tally are equal, and lead to equal ones later."""
        ...


class Engine(Protocol):
    """Where counting runs: chosen once, and passed to everything that counts."""

    def count(
        self,
        sequence: GraphSequence,
        statistics: Iterable[Statistic],
        *,
        after: ExactCounts | None = None,
        bound: Bound | None = None,
        since: int = 0,
    ) -> ExactCounts:
        """Count every step, or only those that are new since `after`.

        Args:
            sequence: the growing graph.
            statistics: what to count; each must be defined on this kind of graph.
            after: what this engine counted on an earlier state of the same sequence.
                It stays as it is. Statistics that it lacks are counted from the start.
            bound: the promise that fixes how long vectors are; without one, they end at the
                highest degree in the data, which is private too.
            since: the first step of which values are wanted. Those of recent networks, which
                do not follow from each other, are 0 before it.
        """
        ...

    def project(
        self, sequence: GraphSequence, threshold: Bound, *, after: GraphSequence | None = None
    ) -> GraphSequence:
        """The greedy projection, in which nobody has more links than the threshold.

        Args:
            sequence: the growing graph.
            threshold: how many links of a node are retained.
            after: what this engine made of an earlier state of the same sequence.
        """
        ...

    def counted_part(
        self, sequence: GraphSequence, bound: Bound, *, after: GraphSequence | None = None
    ) -> GraphSequence:
        """What is counted under a promise: all or, if there may be hubs, first links only.

        Args:
            sequence: the growing graph.
            bound: the promise.
            after: what this engine made of an earlier state of the same sequence.
        """
        ...

    def keeps_bound(
        self, sequence: GraphSequence, bound: Bound, *, after: FinalDegrees | None = None
    ) -> bool:
        """Whether nobody has more links than promised, at any step; a private fact.

        Args:
            sequence: the growing graph.
            bound: the promise.
            after: the degrees at an earlier state of the same sequence.
        """
        ...

    def people_beyond(
        self, sequence: GraphSequence, bound: Bound, *, after: FinalDegrees | None = None
    ) -> int:
        """How many people are linked to more hubs than promised, at the end; a private fact.

        Args:
            sequence: the growing graph.
            bound: the promise.
            after: the degrees at an earlier state of the same sequence.
        """
        ...

    @property
    def checkpoint_format(self) -> CheckpointFormat | None:
        """The format of its checkpoints; None if each command counts from scratch."""
        ...
