"""Degrees at the end of a sequence, and whether it keeps its promised bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import BoundError, ParameterError
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, GraphSequence
from graphveil.kernels import kernel, prefetch

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
    """What links can mean in a graph, wherever it is stored."""

    @property
    def directed(self) -> bool:
        """Whether u→v differs from v→u."""

    @property
    def oriented(self) -> bool:
        """Whether reciprocal edges are refused."""


def require_fit(sequence: Linking, bound: Bound) -> None:
    """Refuse a bound of the wrong kind for the sequence."""
    if not bound.fits(directed=sequence.directed):
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
    total = degrees(sequence, after)
    if bound.kept_by(total.outward, total.inward):
        return True
    if not isinstance(bound, HubBound):
        return False
    beside = _hubs_beside(sequence, bound.within, total)
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


# Compiled passes over all edges that count degrees: to the end, or against a bound.


Int64s = NDArray[np.int64]
Counters = NDArray[np.uint8] | NDArray[np.int32]
Flags = NDArray[np.bool_]
AHEAD = 32  # how many entries ahead to ask for a neighbour's counter


@kernel
def add_degrees(
    first: int,
    offsets: Int64s,
    entries: Int32s,
    late_newer: Int32s,
    late_entries: Int32s,
    outward: Int32s,
    inward: Int32s,
) -> None:
    """Add the lists from that of node `first` on, and late edges, to degrees in place.

    Both are the degree, where edges have no direction.
    """
    end = np.uint64(max(len(entries) - AHEAD, 0))
    for newer in range(first, len(offsets) - 1):
        place, stop = np.uint64(offsets[newer]), np.uint64(offsets[newer + 1])
        own_out = own_in = 0
        while place < stop:
            if place < end:
                prefetch(outward, entries[place + np.uint64(AHEAD)] >> 2)
                prefetch(inward, entries[place + np.uint64(AHEAD)] >> 2)
            older = np.uint32(entries[place] >> 2)
            forward = np.int32(entries[place] & FORWARD != 0)
            backward = np.int32(entries[place] & BACKWARD != 0)
            outward[older] += forward
            inward[older] += backward
            own_out += int(backward)
            own_in += int(forward)
            place += np.uint64(1)
        outward[newer] += own_out
        inward[newer] += own_in
    for i in range(len(late_newer)):
        newer, older = late_newer[i], np.uint32(late_entries[i] >> 2)
        forward = np.int32(late_entries[i] & FORWARD != 0)
        backward = np.int32(late_entries[i] & BACKWARD != 0)
        outward[older] += forward
        inward[older] += backward
        outward[newer] += backward
        inward[newer] += forward


@kernel
def hubs_beside(
    offsets: Int64s,
    entries: Int32s,
    late_newer: Int32s,
    late_entries: Int32s,
    in_hub: Flags,
    out_hub: Flags,
) -> tuple[Int32s, Int32s]:
    """To how many in-hubs each node links, and how many out-hubs link to it."""
    nodes = len(offsets) - 1
    to_hubs = np.zeros(nodes, dtype=np.int32)
    from_hubs = np.zeros(nodes, dtype=np.int32)
    for newer in range(nodes):
        for i in range(offsets[newer], offsets[newer + 1]):
            _count_hubs(newer, entries[i], in_hub, out_hub, to_hubs, from_hubs)
    for i in range(len(late_newer)):
        _count_hubs(late_newer[i], late_entries[i], in_hub, out_hub, to_hubs, from_hubs)
    return to_hubs, from_hubs


@kernel
def _count_hubs(
    newer: int, entry: int, in_hub: Flags, out_hub: Flags, to_hubs: Int32s, from_hubs: Int32s
) -> None:
    older = entry >> 2
    if entry & FORWARD:
        to_hubs[older] += in_hub[newer]
        from_hubs[newer] += out_hub[older]
    if entry & BACKWARD:
        to_hubs[newer] += in_hub[older]
        from_hubs[older] += out_hub[newer]


@kernel
def project_undirected(
    from_step: int,
    node_offsets: Int64s,
    offsets: Int64s,
    entries: Int32s,
    late_offsets: Int64s,
    late_newer: Int32s,
    late_entries: Int32s,
    bound: int,
    by_kept: bool,
    used: Counters,
    kept_offsets: Int64s,
    kept: Int32s,
    late_kept_offsets: Int64s,
    late_kept: Int32s,
) -> int:
    """Fill retained lists, offsets of retained late edges, and each late edge's direction or 0.

    All of them from those of `from_step` on. `used` counts how much of its bound each node has
    used, up to then. Returns how many entries the retained lists have.
    """
    kept_offsets[0] = late_kept_offsets[0] = late_count = 0
    count, always = np.uint64(0), np.int32(not by_kept)
    first, late_first = node_offsets[from_step], late_offsets[from_step]
    i, safe = np.uint64(offsets[first]), np.uint64(max(len(entries) - AHEAD, 0))
    for step in range(from_step, len(node_offsets) - 1):
        for newer in range(node_offsets[step], node_offsets[step + 1]):
            own = np.int32(0)  # a counter at hand: nobody else lifts a node while it arrives
            end = np.uint64(offsets[newer + 1])
            while i < end:
                if i < safe:
                    prefetch(used, entries[i + np.uint64(AHEAD)] >> 2)
                entry = entries[i]
                older = np.uint32(entry >> 2)
                others = used[older]
                # Not `and`: which edges are retained is hard to predict, and a wrong guess
                # costs the processor more than the second comparison.
                admitted = np.int32((own < bound) & (others < bound))
                own += admitted | always
                used[older] = others + (admitted | always)
                kept[count] = entry
                count += np.uint64(admitted)
                i += np.uint64(1)
            used[newer] = own
            kept_offsets[newer - first + 1] = count
        for edge in range(late_offsets[step], late_offsets[step + 1]):
            one, other = late_newer[edge], late_entries[edge] >> 2
            kept_late = used[one] < bound and used[other] < bound
            used[one] += kept_late or not by_kept
            used[other] += kept_late or not by_kept
            late_kept[edge - late_first] = BOTH * kept_late
            late_count += kept_late
        late_kept_offsets[step - from_step + 1] = late_count
    return int(count)


@kernel
def project_directed(
    from_step: int,
    node_offsets: Int64s,
    offsets: Int64s,
    entries: Int32s,
    late_offsets: Int64s,
    late_newer: Int32s,
    late_entries: Int32s,
    out_bound: int,
    in_bound: int,
    by_kept: bool,
    used_out: Counters,
    used_in: Counters,
    kept_offsets: Int64s,
    kept: Int32s,
    late_kept_offsets: Int64s,
    late_kept: Int32s,
) -> int:
    """As `project_undirected`, with a tail's out-degree and a head's in-degree bounded."""
    kept_offsets[0] = late_kept_offsets[0] = count = late_count = 0
    first, late_first = node_offsets[from_step], late_offsets[from_step]
    for step in range(from_step, len(node_offsets) - 1):
        for newer in range(node_offsets[step], node_offsets[step + 1]):
            for i in range(offsets[newer], offsets[newer + 1]):
                direction = _admit_directed(
                    used_out, used_in, newer, entries[i], out_bound, in_bound, by_kept
                )
                if direction:
                    kept[count] = entries[i] >> 2 << 2 | direction
                    count += 1
            kept_offsets[newer - first + 1] = count
        for i in range(late_offsets[step], late_offsets[step + 1]):
            late_kept[i - late_first] = _admit_directed(
                used_out, used_in, late_newer[i], late_entries[i], out_bound, in_bound, by_kept
            )
            late_count += late_kept[i - late_first] != 0
        late_kept_offsets[step - from_step + 1] = late_count
    return count


@kernel
def _admit_directed(
    used_out: Counters,
    used_in: Counters,
    newer: int,
    entry: int,
    out_bound: int,
    in_bound: int,
    by_kept: bool,
) -> int:
    """The directions of a pair that are retained."""
    older, direction = entry >> 2, 0
    if entry & FORWARD and _admit_arc(
        used_out, used_in, older, newer, out_bound, in_bound, by_kept
    ):
        direction |= FORWARD
    if entry & BACKWARD and _admit_arc(
        used_out, used_in, newer, older, out_bound, in_bound, by_kept
    ):
        direction |= BACKWARD
    return direction


@kernel
def _admit_arc(
    used_out: Counters,
    used_in: Counters,
    tail: int,
    head: int,
    out_bound: int,
    in_bound: int,
    by_kept: bool,
) -> bool:
    admitted: bool = used_out[tail] < out_bound and used_in[head] < in_bound
    if admitted or not by_kept:
        used_out[tail] += 1
        used_in[head] += 1
    return admitted
