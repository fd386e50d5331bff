"""Promises that make no sense are refused by every command that takes them, before anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import graphveil
from steward import PROMISE, SERIES


def _without(*options: str) -> tuple[str, ...]:
    """The promise that tests make, but for some of what it says."""
    pairs = zip(PROMISE[::2], PROMISE[1::2], strict=True)
    return tuple(text for option, said in pairs if option not in options for text in (option, said))


UNBOUND = _without("--bound", "--bound-reason")
CUT = ("--series", "edges:projection=3")
ENDLESS = _without("--bound", "--bound-reason", "--last")
DIRECTED = (*UNBOUND, "--in-bound", "2", "--out-bound", "3", "--bound-reason", "B")
DRAFTS: dict[str, tuple[tuple[str, ...], str]] = {
    "hubs without a bound": ((*UNBOUND, *SERIES, "--bound-reason", "B", "--hubs", "2"), "--bound"),
    "negative hubs": ((*PROMISE, *SERIES, "--hubs=-1"), "hubs: must be a number"),
    "hubs that are none": ((*PROMISE, *SERIES, "--hubs", "0"), "without hubs. Leave it out"),
    "hubs in words": ((*PROMISE, *SERIES, "--hubs", "few"), "hubs: must be a number"),
    "hubs of another kind": ((*PROMISE, *SERIES, "--hubs", "1x2"), "hubs: needs one number"),
    "one number for two kinds of hubs": (
        (*DIRECTED, "--series", "edges", "--hubs", "1"),
        "hubs: needs one number for an undirected",
    ),
    "more hubs than links": (
        (*DIRECTED, "--series", "edges", "--hubs", "0x3"),
        "nobody has more than 2 incoming links",
    ),
    "no bound, and a bound": ((*PROMISE, *CUT, "--no-bound"), "no-bound: cannot be used with"),
    "no bound, and hubs": ((*UNBOUND, *CUT, "--no-bound", "--hubs", "1"), "no-bound: cannot"),
    "no bound to break": (
        (*UNBOUND, *CUT, "--no-bound", "--if-broken", "refuse"),
        "no-bound: cannot",
    ),
    "no bound, and a reason": (
        (*UNBOUND, *CUT, "--no-bound", "--bound-reason", "B"),
        "no-bound: cannot",
    ),
    "a series that needs a bound": (
        (*UNBOUND, "--no-bound", "--series", "triangles"),
        "take nodes, and with projection=D degree-ccdf",
    ),
    "a projection of what cannot be projected": (
        (*UNBOUND, "--no-bound", "--series", "triangles:projection=3"),
        "nothing is known about 'triangles' after a projection",
    ),
    "a projection without an end": ((*ENDLESS, *CUT, "--no-bound"), "horizon: must be known"),
    "noise that needs an end": (
        (*ENDLESS, "--no-bound", "--series", "edges:projection=3,mechanism=range-projection"),
        "needs a known horizon",
    ),
    "a threshold of another kind": (
        (*UNBOUND, "--no-bound", "--series", "edges:projection=3x2"),
        "projection: must be one number",
    ),
    "an ε next to nothing": (
        ("--epsilon", "1e-300", *_without("--epsilon"), *SERIES),
        "epsilon: must lie between 1e-20 and 1e12",
    ),
    "an ε of 400 digits": (
        ("--epsilon", "1e400", *_without("--epsilon"), *SERIES),
        "epsilon: must lie between 1e-20 and 1e12",
    ),
    "a threshold of nothing": (
        (*UNBOUND, "--no-bound", "--series", "edges:projection=0"),
        "at least 1",
    ),
}


@pytest.mark.parametrize("case", DRAFTS)
def test_no_draft_is_made_of_it(tmp_path: Path, case: str) -> None:
    arguments, complaint = DRAFTS[case]
    refused = graphveil("new", str(tmp_path / "study"), *arguments)
    assert refused.code not in (0, 70), refused.err
    assert complaint in refused.err
    assert len(refused.err) < 300 + len("graphveil: \n")
    assert not (tmp_path / "study").exists()


PLANS: dict[str, tuple[tuple[str, ...], str]] = {
    "hubs without a bound": (("edges", "--hubs", "2"), "hubs: are people with more links"),
    "no bound, and hubs": (("edges", "--no-bound", "--hubs", "2"), "no-bound: cannot"),
    "nothing at all": (("edges",), "bound: give either"),
    "what needs a bound": (("components", "--no-bound"), "components needs one"),
    "a projection without an end": (("edges", "--projection", "3"), "horizon: must be known"),
    "a projection of triangles": (
        ("triangles", "--projection", "3", "--horizon", "4"),
        "nothing is known about 'triangles'",
    ),
    "a projection in words": (("edges", "--projection", "few"), "projection: must be a number"),
}


@pytest.mark.parametrize("case", PLANS)
def test_nothing_is_planned_from_it(case: str) -> None:
    arguments, complaint = PLANS[case]
    refused = graphveil("plan", *arguments, "--epsilon", "1")
    assert refused.code not in (0, 70), refused.err
    assert complaint in refused.err
    assert len(refused.err) < 300 + len("graphveil: \n")


def test_without_a_bound_a_study_is_drafted_and_planned(tmp_path: Path) -> None:
    root = tmp_path / "study"
    made = graphveil("new", str(root), *UNBOUND, *CUT, "--no-bound", "--series", "nodes")
    assert made.code == 0, made.err
    assert "holds for every network" in made.out
    assert 'bound = "none"\n' in (root / "public" / "study.toml").read_text()
    planned = graphveil("plan", str(root))
    assert "range-projection" in planned.out
    assert "holds for every network" in planned.out


def test_without_a_bound_mechanisms_that_project_are_compared() -> None:
    told = graphveil("plan", "edges", "--projection", "5", "--epsilon", "1", "--horizon", "8")
    assert told.code == 0, told.err
    assert "Choice: range-projection" in told.out
    assert "others are not possible here: --all says why." in told.out
