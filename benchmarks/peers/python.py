"""Plain Python: the greedy projection as anyone would write it."""

from __future__ import annotations

from collections.abc import Iterable


def project(nodes: int, links: Iterable[tuple[int, int]], bound: int) -> list[int]:
    """Keep a link if both its ends have fewer than `bound` kept links so far.

    Returns the kept links' positions in the given order.
    """
    degree = [0] * nodes
    kept = []
    for position, (newer, older) in enumerate(links):
        if degree[newer] < bound and degree[older] < bound:
            degree[newer] += 1
            degree[older] += 1
            kept.append(position)
    return kept
