"""Degrees at the end of a sequence, and whether it keeps its promised bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import BoundError, ParameterError
from graphveil.graph.promises.bound import Bound, DegreeBound, InOutBound
from graphveil.graph.promises.hub_bound import HubBound
from graphveil.graph.sequence import GraphSequence

Int32s = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class FinalDegrees:
    """Out- and in-degree of every node; an undirected sequence has its degrees in both.

    Attributes:
        outward: (nodes,) the links from each node.
        inward: (nodes,) those to it.
        steps: up to how many steps links are counted.
    """

    outward: Int32s
    inward: Int32s
    steps: int = 0


def degrees(sequence: GraphSequence, after: FinalDegrees | None = None) -> FinalDegrees:
    """The degrees of every node after the last step (private).

    Args:
        sequence: the growing graph.
        after: the degrees at an earlier state of it, so that only what is new is counted.
    """
    from graphveil.graph.degree_kernels import add_degrees

    before = after or FinalDegrees(np.empty(0, np.int32), np.empty(0, np.int32))
    if before.steps > sequence.steps:
        raise ParameterError("after", "has more steps than the sequence")
    outward, inward = np.zeros((2, sequence.nodes), np.int32)
    known, late = len(before.outward), sequence.late
    outward[:known], inward[:known] = before.outward, before.inward
    begin = int(late.offsets[before.steps])
    lists = known, sequence.offsets, sequence.entries
    add_degrees(*lists, late.newer[begin:], late.entries[begin:], outward, inward)
    return FinalDegrees(outward, inward, sequence.steps)


class Linking(Protocol):
    """What links can mean in a graph, wherever it is kept."""

    @property
    def directed(self) -> bool:
        """Whether u→v differs from v→u."""

    @property
    def oriented(self) -> bool:
        """Whether reciprocal edges are refused."""


def require_fit(sequence: Linking, bound: Bound) -> None:
    """Refuse a bound of the wrong kind for the sequence."""
    if sequence.directed != bound.directed:
        kind = "an in- and an out-degree bound" if sequence.directed else "one degree bound"
        graph = "a directed" if sequence.directed else "an undirected"
        raise ParameterError("bound", f"{graph} sequence needs {kind}")
    if bound.kind == "oriented" and not sequence.oriented:
        raise ParameterError(
            "oriented",
            "the bound assumes that there are no reciprocal edges, but the sequence was not "
            "declared oriented and would admit them",
            hint="Declare the sequence oriented, or use the bound without it.",
        )


def keeps_bound(sequence: GraphSequence, bound: Bound, after: FinalDegrees | None = None) -> bool:
    """Whether nobody has more links, or links to more hubs, than promised; a private fact.

    Degrees never fall, so a sequence keeps its bound at every step if it does at the last.
    """
    require_fit(sequence, bound)
    found = degrees(sequence, after)
    if bound.kept_by(found.outward, found.inward):
        return True
    if not isinstance(bound, HubBound):
        return False
    beside = _hubs_beside(sequence, bound.within, found)
    return all(_most(hubs) <= allowed for hubs, allowed in zip(beside, bound.hubs, strict=False))


def fewest_hubs(sequence: GraphSequence, within: DegreeBound | InOutBound) -> tuple[int, ...]:
    """The smallest numbers of hubs that a network can promise, given what makes a hub.

    It looks at the data: only for public or simulated networks, never for the one to publish.
    """
    require_fit(sequence, within)
    beside = _hubs_beside(sequence, within, degrees(sequence))
    return tuple(_most(hubs) for hubs in beside[: len(within.limits)])


def people_beyond(sequence: GraphSequence, bound: Bound, after: FinalDegrees | None = None) -> int:
    """How many people are linked to more hubs than promised; a private fact."""
    require_fit(sequence, bound)
    if not isinstance(bound, HubBound):
        return 0
    found = degrees(sequence, after)
    if bound.within.kept_by(found.outward, found.inward):
        return 0  # where nobody is a hub
    beside = _hubs_beside(sequence, bound.within, found)
    beyond = [hubs > allowed for hubs, allowed in zip(beside, bound.hubs, strict=False)]
    return int(np.any(beyond, axis=0).sum())


def _hubs_beside(
    sequence: GraphSequence, within: DegreeBound | InOutBound, found: FinalDegrees
) -> tuple[Int32s, Int32s]:
    """To how many in-hubs each node links, and how many out-hubs link to it."""
    from graphveil.graph.degree_kernels import hubs_beside

    late = sequence.late
    return hubs_beside(
        sequence.offsets, sequence.entries, late.newer, late.entries,
        found.inward > within.limit("in"), found.outward > within.limit("out"),
    )  # fmt: skip


def _most(numbers: Int32s) -> int:
    return int(numbers.max(initial=0))


def require_bound(sequence: GraphSequence, bound: Bound) -> None:
    """Refuse a sequence that breaks its promise; the refusal is itself private.

    Examples:
        >>> records = from_rows([("ann", 2021), ("bob", 2021)], [("ann", "bob")])
        >>> sequence, _ = GraphSequence.begin(Calendar.yearly(2021)).extend(records)
        >>> require_bound(sequence, DegreeBound(1))  # says nothing, since nobody has more links
    """
    if not keeps_bound(sequence, bound):
        raise broken_promise(bound)


def broken_promise(bound: Bound) -> BoundError:
    """The refusal of a sequence that breaks its promise, for the operator alone."""
    return BoundError(
        f"The sequence breaks its promised bound ({bound}). For the operator only: do not "
        "publish this message or the fact that it appeared, since it depends on the data. "
        "Correct the records, or open a new study with a larger bound that is justified "
        "without looking at the data."
    )
