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
    """Out- and in-degree of every node; an undirected sequence has its degrees in both."""

    outward: Int32s
    inward: Int32s


def degrees(sequence: GraphSequence) -> FinalDegrees:
    """The degrees of every node after the last step (private)."""
    from graphveil.graph.degree_kernels import final_degrees

    late = sequence.late
    outward, inward = final_degrees(sequence.offsets, sequence.entries, late.newer, late.entries)
    return FinalDegrees(outward, inward)


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


def keeps_bound(sequence: GraphSequence, bound: Bound) -> bool:
    """Whether nobody has more links, or links to more hubs, than promised; a private fact.

    Degrees never fall, so a sequence keeps its bound at every step if it does at the last.
    """
    require_fit(sequence, bound)
    found = degrees(sequence)
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


def people_beyond(sequence: GraphSequence, bound: Bound) -> int:
    """How many people are linked to more hubs than promised; a private fact."""
    require_fit(sequence, bound)
    if not isinstance(bound, HubBound):
        return 0
    beside = _hubs_beside(sequence, bound.within, degrees(sequence))
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
