"""A promise that is not checked: nothing stops, nothing shows, and the card says what it costs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from commands import graphveil
from graphveil.errors import StudyError
from graphveil.graph.promises import DegreeBound, HubBound
from graphveil.records import from_rows
from graphveil.report import statement, wording
from graphveil.report.card import card
from graphveil.series.planner import FURTHER
from graphveil.steward.reporting import write_report
from graphveil.study import Promise, SeriesPromise, StoredStudy
from graphveil.study.public_part import PublicPart
from plain_rules import DEGREES, EDGES, numbered, totals
from test_degree_bound import PROJECTED
from test_neighbours import masked, shape

BOUND: dict[str, Any] = {"degree": 2, "if_broken": "continue", "justification": "an example"}
SERIES = [series | {"epsilon": "1/8"} for series in (EDGES, DEGREES)]
PEOPLE = [("hub", 0), ("a", 0), ("b", 0), ("c", 1), ("d", 2)]
STAR = [("hub", end) for end in "abcd"]


def opened(root: Path, gone: str = "", **changed: Any) -> StoredStudy:
    """A hub with four links, of which two are promised; perhaps without one person."""
    settings: dict[str, Any] = {"bound": BOUND, "series": SERIES} | changed
    study = StoredStudy.create(root, numbered(3, **settings))
    links = [link for link in STAR if gone not in link]
    study.add(from_rows([person for person in PEOPLE if person[0] != gone], links))
    return study


def test_publishing_goes_on_with_first_links(root: Path) -> None:
    study = opened(root)
    study.publish()
    study.publish(2)
    assert totals(study, "edges") == [[2], [2], [2]]
    assert totals(study, "degrees") == [[3, 3, 1], [4, 3, 1], [5, 3, 1]]
    assert [row.event for row in study.ledger().rows].count("refusal") == 0


def test_who_keeps_the_promise_changes_nothing(root: Path, tmp_path: Path) -> None:
    few = [("a", "b"), ("c", "d")]
    studies = [
        StoredStudy.create(root, numbered(3, bound=BOUND, series=SERIES)),
        StoredStudy.create(tmp_path / "old", numbered(3, bound=BOUND | {"if_broken": None})),
    ]
    for study in studies:
        study.add(from_rows(PEOPLE, few))
        study.publish(2)
    assert totals(studies[0], "edges") == totals(studies[1], "edges") == [[1], [1], [2]]


def test_a_later_series_is_opened_all_the_same(root: Path) -> None:
    study = opened(root)
    study.publish()
    study.open_series(SeriesPromise(name="nodes", statistic="nodes", epsilon="1/4"))
    assert study.publish(2).steps == [1, 2]
    assert totals(study, "nodes") == [[4], [5]]


def test_the_operator_alone_is_told_how_many_are_concerned(root: Path) -> None:
    study = StoredStudy.create(root, numbered(3, bound=BOUND, series=SERIES))
    warned = study.add(from_rows(PEOPLE, STAR)).findings
    assert (warned.keeps_bound, warned.people_beyond) == (False, 4)
    assert "promises: 4; the study goes on" in warned.lines()[-1]
    assert "refused" not in " ".join(warned.lines())
    assert "4" not in repr(warned)
    kept = StoredStudy.create(root.parent / "kept", numbered(3, bound=BOUND, series=SERIES))
    calm = kept.add(from_rows(PEOPLE, STAR[:2])).findings
    assert (calm.keeps_bound, calm.people_beyond) == (True, 0)
    assert "WARNING" not in " ".join(calm.lines())


@pytest.mark.parametrize("gone", ["hub", "a", "d"])
def test_nothing_public_tells_that_the_promise_is_broken(
    root: Path, tmp_path: Path, gone: str
) -> None:
    """With a person who breaks it, or makes others break it, and without."""
    seen = []
    for place, without in ((root, ""), (tmp_path / "less", gone)):
        study = opened(place, without)
        finished = graphveil("publish", str(place), "--through", "2", "--early")
        status = graphveil("status", str(place)).out.splitlines()[:-1]  # the last one is private
        public = study.folder.public
        files = {path.relative_to(public).as_posix() for path in public.rglob("*")}
        rows = [(row.event, shape(row.fact)) for row in study.ledger().public_rows]
        words = [bare(each, place) for each in (finished.out, finished.err, *status)]
        seen.append((finished.code, words, files, rows))
    assert seen[0] == seen[1]
    assert seen[0][0] == 0


def bare(text: str, place: Path) -> str:
    """Words without numbers, and without how a noisy interval is told."""
    return re.sub("at most #|# to #", "#", masked(text.replace(str(place), "")))


def test_the_card_says_what_it_costs_before_anything_is_published(root: Path) -> None:
    study = opened(root)
    part = PublicPart.read(study.folder.public)
    assert part.steps == ()
    edges, degrees = part.series
    # edges: (2 + h)/2 times ε; CCDF: 2D² + 1 + 2Dh = 9 + 4h against 9
    assert [(each.further, each.epsilon) for each in edges.beyond] == [
        (h, Fraction(2 + h, 2) / 8) for h in FURTHER
    ]
    assert degrees.beyond[1].epsilon == Fraction(17, 9) / 8
    assert wording.exposures(part)[0].epsilon == Fraction(3, 16) + Fraction(13, 72)
    told = card(part)
    assert told["unit_of_privacy"]["beyond_the_promise"][0]["further_hubs"] == 1
    assert told["series"][0]["beyond_the_promise"][0] == {
        "further_hubs": 1, "epsilon": "0.1875",
    }  # fmt: skip
    worst = told["unit_of_privacy"]["beyond_the_promise"][-1]
    # Both cost 1/8; of 100 hubs: 102/2 and 409/9 times as much, in the mean
    assert (worst["further_hubs"], worst["times"]) == (100, "48.23")
    words = told["unit_of_privacy"]["assumption"]
    assert "loses more, with 100 more up to 48.23 times as much." in words
    assert "holds for everybody who has links to nobody with more than 2 links" in words
    assert "Links of a person beyond the first 2 are not counted." in words
    assert "would not be published" not in words
    public = {each["quantity"]: each["value"] for each in told["not_protected"]}
    assert public["degree bound"] == "at most 2 links per person"
    assert "nobody with more than 2 links in G'" in told["unit_of_privacy"]["neighbours_formally"]


def test_the_page_has_a_table_of_it(root: Path) -> None:
    study = opened(root)
    study.publish()
    write_report(study.folder.public)
    page = (study.folder.public / "report.html").read_text()
    assert "linked to people with more than 2 links" in page
    assert "at most 0.37" in page  # 3/16 + 13/72, rounded up
    assert '<th scope="row">0</th><td>at most 0.25</td><td>1</td>' in page
    assert '<th scope="row">100</th><td>at most 12.06</td><td>up to 48.23</td>' in page


def test_with_hubs_promised_the_table_begins_beyond_them(root: Path) -> None:
    study = opened(root, bound=BOUND | {"hubs": 2})
    (edges, _) = PublicPart.read(study.folder.public).series
    assert [(each.further, each.epsilon) for each in edges.beyond] == [
        (more, Fraction(4 + more, 4) / 8) for more in FURTHER
    ]


def test_series_that_project_lose_nothing_beyond(root: Path) -> None:
    study = opened(root, series=[PROJECTED])
    part = PublicPart.read(study.folder.public)
    assert part.series[0].beyond == ()
    assert wording.exposures(part) == ()
    assert "beyond_the_promise" not in json.dumps(card(part))
    more = study.add(from_rows([("e", 2)], [("hub", "e")])).findings
    assert (more.keeps_bound, more.people_beyond) == (True, 0)


def test_a_promise_that_is_checked_says_nothing_of_it(root: Path) -> None:
    for word in (None, "refuse"):
        study = StoredStudy.create(root / str(word), numbered(bound=BOUND | {"if_broken": word}))
        study.add(from_rows(PEOPLE, STAR[:2]))
        part = PublicPart.read(study.folder.public)
        assert part.promise.degree_bound == DegreeBound(2)
        assert part.series[0].beyond == ()
        assert "would not be published" in statement.assumption(part)


def test_the_file_says_it_and_old_files_do_not() -> None:
    going_on, old = numbered(bound=BOUND), numbered(bound=BOUND | {"if_broken": None})
    assert 'if_broken = "continue"\n' in going_on.to_toml()
    assert Promise.from_toml(going_on.to_toml()) == going_on
    assert going_on.degree_bound == HubBound(DegreeBound(2), (0,), checked=False)
    assert "if_broken" not in old.to_toml()
    assert old.degree_bound == DegreeBound(2)
    with pytest.raises(StudyError, match="continue"):
        numbered(bound=BOUND | {"if_broken": "shrug"})


def test_a_series_of_an_older_version_is_not_taken_to_lose_nothing(root: Path) -> None:
    """It was told of fewer hubs; of others nothing is stated, and never its promised ε."""
    part = PublicPart.read(opened(root).folder.public)
    older, newer = part.series
    fewer = older.model_copy(update={"beyond": older.beyond[:4]})
    found = wording.exposures(replace(part, series=(fewer, newer)))
    assert [each.further for each in found] == [1, 2, 5, 10]
    assert found == wording.exposures(part)[:4]
