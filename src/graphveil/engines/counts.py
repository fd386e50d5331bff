"""What an engine found: exact integers for every step so far, and how to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError
from graphveil.graph.promises.bound import Bound
from graphveil.statistics.statistic import Statistic
from graphveil.statistics.tallies import Counts, DegreeReach, Tally, totals

if TYPE_CHECKING:
    from graphveil.graph.sequence import GraphSequence


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
        answer = self.answers[statistic.tally()]
        width = None if self.bound is None else statistic.width(self.bound)
        return statistic.differences(answer.tallied, width)

    def totals(self, statistic: Statistic) -> Counts:
        """The value at each step, or a refusal if it is beyond 64 bits."""
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
