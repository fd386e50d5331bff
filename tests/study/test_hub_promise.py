"""Studies that promise something about hubs: what they count, say and refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import BoundError, StudyError
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound
from graphveil.records import from_rows
from graphveil.report import statement
from graphveil.study import Promise, StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.public_part import PublicPart
from plain_rules import DEGREES, EDGES, numbered, totals

BOUND: dict[str, Any] = {"degree": 2, "hubs": 1, "justification": "contact tracing, published"}
# Everybody is linked to the hub, which meets two people at each of three steps.
PEOPLE = [("hub", 0), *((f"p{number}", number // 2) for number in range(6))]
STAR = [("hub", f"p{number}") for number in range(6)]


def opened(root: Path, links: list[tuple[str, str]], **changed: Any) -> StoredStudy:
    study = StoredStudy.create(root, numbered(steps=3, bound=BOUND, **changed))
    study.add(from_rows(PEOPLE, links))
    return study


def test_a_hub_has_any_number_of_links_of_which_the_first_are_counted(root: Path) -> None:
    study = opened(root, [*STAR, ("p4", "p5")], series=[EDGES, DEGREES])
    study.publish(0)
    study.publish(2)
    assert totals(study, "edges") == [[2], [2], [3]]
    assert totals(study, "degrees") == [[3, 3, 1], [5, 3, 1], [7, 5, 1]]


def test_one_hub_too_many_is_refused(root: Path) -> None:
    rivals = [*STAR, ("p0", "p1"), ("p0", "p2"), ("p0", "p3")]  # now p0 is a hub beside another
    study = opened(root, rivals)
    study.publish(0)
    with pytest.raises(BoundError, match="at most 1 neighbours of degree above 2"):
        study.publish(1)


def test_without_hubs_the_same_network_breaks_the_bound(root: Path) -> None:
    study = StoredStudy.create(root, numbered(steps=3, bound=BOUND | {"hubs": None}))
    study.add(from_rows(PEOPLE, STAR))
    with pytest.raises(BoundError, match="degree at most 2"):
        study.publish(2)


def test_readers_are_told(root: Path) -> None:
    study = opened(root, STAR)
    study.publish(0)
    part = PublicPart.read(study.folder.public)
    (series,) = part.series
    assert series.sensitivity.l1 == 3
    assert "neighbours of degree above 2" in series.sensitivity.assumption
    told = statement.assumption(part)
    assert "everybody has links to at most one person with more than 2 links" in told
    assert "Links of a person beyond the first 2 are not counted." in told
    exactly = dict(statement.not_protected(part))
    assert "at most one person with more than 2 links" in exactly["bound on hubs"]


def test_the_file_holds_it_and_old_files_do_not() -> None:
    hubbed, plain = numbered(bound=BOUND), numbered()
    assert hubbed.degree_bound == HubBound(DegreeBound(2), (1,))
    assert Promise.from_toml(hubbed.to_toml()) == hubbed
    assert "hubs = 1\n" in hubbed.to_toml()
    assert "hubs" not in plain.to_toml()
    assert Promise.from_toml(plain.to_toml()).degree_bound == DegreeBound(12)
    both: dict[str, Any] = {"inward": 1, "outward": 3, "hubs": (0, 1), "justification": "a tree"}
    directed = numbered(directed=True, bound=both)
    assert directed.degree_bound == HubBound(InOutBound(1, 3), (0, 1))
    assert Promise.from_toml(directed.to_toml()) == directed


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"hubs": -1}, "at least 0"),
        ({"hubs": 0}, "degree bound without hubs"),
        ({"hubs": [1, 1]}, "needs one number"),
        ({"hubs": "many"}, "hubs"),
        ({"degree": None}, "give either 'degree'"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, Any], complaint: str) -> None:
    with pytest.raises(StudyError, match=complaint):
        numbered(bound=BOUND | changed)


def test_the_steward_is_told_how_many_links_are_not_counted_once_the_study_is_open(
    root: Path,
) -> None:
    """Found from outside: 72 of 98 links were missing from a number, and nobody was told."""
    cut = EDGES | {"name": "cut", "projection": 1, "mechanism": "range-projection"}
    study = StoredStudy.create(root, numbered(steps=3, bound=BOUND, series=[EDGES, cut]))
    records = from_rows(PEOPLE, STAR)
    draft = study.add(records, AddOptions(dry_run=True)).findings
    assert not draft.uncounted, "a limit that is chosen by it would depend on the data"
    found = study.add(records).findings
    assert found.uncounted == {"1": 5, "2": 4}
    assert [each for each in found.lines() if "not be counted" in each] == [
        "NOTE: 5 of 6 links will not be counted (at most 1 per person)",
        "NOTE: 4 of 6 links will not be counted (at most 2 per person)",
    ]
