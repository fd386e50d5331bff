"""Recent networks: each is counted by itself, at the cost of its own people and links."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from graphveil.backends.backend import Answer
from graphveil.backends.local.components import Forest, count_clusters
from graphveil.backends.local.degrees import no_degrees
from graphveil.backends.local.work import Work
from graphveil.graph.sequence import GraphSequence, at_once, recent_part
from graphveil.statistics.tallies import Counts, DegreeReach, DegreeTally, GrowthTally, RecentTally


def count_recent(
    tally: RecentTally,
    count: Callable[[Work, int, Any], Answer],
    work: Work,
    from_step: int,
    state: Any,
) -> Answer:
    """The values of a tally in the recent network of each step from `from_step` on.

    Args:
        tally: what is counted, and for how many steps people are in the network.
        count: counts it in one sequence, from a step and a state on.
        work: the whole sequence.
        from_step: the first step.
        state: with which counting begins in every network; computed here at the first step.
    """
    sequence = work.sequence
    state = state or _beginning(tally, sequence)
    # The count of no step at all comes first: it gives the result its form if no step is new.
    rows = [count(Work(sequence.until(0), work.threads), 0, state).tallied]
    first = min(max(from_step, work.since), sequence.steps)
    rows.append(_zeros(rows[0], first - from_step))
    for step in range(first, sequence.steps):
        part = recent_part(sequence, step, tally.window)
        if not isinstance(tally.tally, GrowthTally):  # which asks who is new
            part = at_once(part)
        rows.append(_settled(count(Work(part, work.threads), 0, state).tallied, step))
    return Answer(joined(rows), state)


def count_growing(sequence: GraphSequence, tally: GrowthTally) -> Counts:
    """Components of enough new nodes: clusters in which only these have a size."""
    new = np.zeros(sequence.nodes, dtype=np.int32)
    first = sequence.node_offsets[max(0, sequence.steps - tally.recent)]
    new[first:] = 1
    alone = Forest(np.arange(sequence.nodes, dtype=np.int32), new)
    changes, _ = count_clusters(at_once(sequence), tally.least, 0, alone)
    return changes[:, 0]


def _beginning(tally: RecentTally, sequence: GraphSequence) -> Any:
    """Tables of degrees are as wide in short sequences as in the whole one, to be put together."""
    return no_degrees(sequence) if isinstance(tally.tally, DegreeTally) else None


def _settled(tallied: Counts | DegreeReach, step: int) -> Counts | DegreeReach:
    """The one row of a recent network, as of the step of the whole sequence."""
    if isinstance(tallied, DegreeReach):
        tallied.runs[:, 0] = step
    return tallied


def _zeros(form: Counts | DegreeReach, steps: int) -> Counts | DegreeReach:
    """Rows of steps that nobody asks for."""
    if isinstance(form, DegreeReach):
        return DegreeReach(np.zeros((steps, form.low.shape[1]), dtype=np.int64), form.runs)
    return np.zeros((steps, *form.shape[1:]), dtype=np.int64)


def joined(parts: Iterable[Any]) -> Counts | DegreeReach:
    """Rows of several steps as one table."""
    parts = list(parts)
    if isinstance(parts[0], DegreeReach):
        low, runs = zip(*((part.low, part.runs) for part in parts), strict=True)
        return DegreeReach(np.concatenate(low), np.concatenate(runs))
    widest = max(part.shape[-1] for part in parts)
    return np.concatenate([_widened(part, widest) for part in parts])


def _widened(part: Counts, width: int) -> Counts:
    """Degrees by groups end at the highest that was reached, or somewhat later."""
    if part.ndim < 3 or part.shape[-1] == width:
        return part
    return np.pad(part, ((0, 0), (0, 0), (0, width - part.shape[-1])))
