"""The public names are pinned: users' programs rest on them."""

from __future__ import annotations

import graphveil


def test_every_public_name_can_be_had() -> None:
    for name in graphveil.__all__:
        assert getattr(graphveil, name) is not None
    assert set(graphveil.__all__) <= set(dir(graphveil))


def test_the_public_names_are_these() -> None:
    assert graphveil.__all__ == [
        "Calendar", "DegreeBound", "ExactCounts", "GraphSequence", "HubBound", "InOutBound",
        "Intake",
        "IntakeReport", "LocalEngine", "NoBound", "Pattern", "Plan", "Promise", "ReadingOptions",
        "Release", "Sensitivity", "Series", "SeriesPromise", "Statistic", "Study",
        "best_plans", "best_shares", "change_interval", "compare", "from_arrays", "from_frames",
        "from_networkx",
        "from_rows", "greedy_projection", "interval", "plan", "read_pair", "read_records",
        "registered", "require_bound", "statistic", "time_aware_projection",
    ]  # fmt: skip
