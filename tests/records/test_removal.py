"""The rule of removal: one person's absence changes nothing about how anybody else is read."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphveil.graph.intake import arrivals
from graphveil.graph.intake.rules import RecordRules
from graphveil.records import delimited, hivtrace_document
from graphveil.records.format import registered
from graphveil.records.readers import linelist
from graphveil.steward.adding import add
from graphveil.study import StoredStudy
from plain_rules import sealed_steps
from removal import run, violations
from removal_cases import FORMATS_OF, LINK_STYLES, Case, Link, Node, random_case, reading_options
from removal_files import WRITERS
from studies import promise
from tries import sampled

RULES = RecordRules(undated="first")


def test_every_registered_format_takes_part() -> None:
    assert {name for names in FORMATS_OF.values() for name in names} == set(registered())


@pytest.mark.parametrize("way", FORMATS_OF)
def test_whoever_is_removed_changes_nobody_else(way: str) -> None:
    assert run(8, seed=1, ways=[way]).broken == []


@pytest.mark.slow
def test_whoever_is_removed_changes_nobody_else_at_length() -> None:
    tally = run(100_000, seed=2)
    assert tally.broken == [], str(tally)


def awkward(way: str, nodes: list[Node], links: list[Link] | None = None, **more: Any) -> Case:
    options = reading_options(random.Random(0), way)
    return Case(way, tuple(nodes), tuple(links or []), options, RULES, insisted=True, **more)


CROWD = [Node(f"a{n}", f"200{n}") for n in (1, 2, 3, 4)]
STAR = [Link("a1", other, "") for other in ("a2", "a3", "a4")]
AWKWARD: dict[str, list[Node]] = {
    "the only dated one": [Node("v1", "2002"), *(Node(f"a{n}", "") for n in (1, 2, 3))],
    "the only undated one": [*CROWD, Node("v1", "")],
    "the only text id": [Node(str(10**19 + n), "2002") for n in (2, 1, 10)] + [Node("v", "2002")],
    "one with two records": [Node("v1", "2002"), *CROWD, Node("v1", "2002")],
    "one with two dates": [Node("v1", "2002"), *CROWD, Node("v1", "2003")],
    "one with a stray quote": [Node("v1", "2002", "stray"), *CROWD],
    "one with a blank in the id": [Node("v 1", "2002"), *CROWD],
    "one spelled in parts": [Node("Zoe\u0308", "2002"), *CROWD, Node("Zo\u00eb", "2002")],
    "one with a date of the program": [Node("v1", "2001", "edi"), *CROWD],
    "one with another case of the field": [Node("v1", "2001", "DX"), *CROWD],
    "one with an open quote": [Node("v1", "2002", "open"), *CROWD, Node("w1", "2002", "close")],
    "one whose id begins like a comment": [Node("#8", "2001"), *CROWD],
    "one with two loose quotes": [*CROWD, Node("v1", "2002", "loose"), Node("w1", "2002")],
    "one with a value too many": [Node("v1", "2002", "wide"), *CROWD],
    "one with a mark of bytes and loose quotes": [*CROWD, Node("\ufeffv1", "2002", "loose")] * 2,
    "one in quotes": [Node("v1", "2001", "quoted"), *CROWD],
}


EVERYBODY = ("pair", "hivtrace", "linelist")  # have ways of their own with most of these people
OTHERS = [way for way in FORMATS_OF if way not in EVERYBODY]


@pytest.mark.parametrize(
    ("way", "who"), [*product(EVERYBODY, AWKWARD), *sampled(product(OTHERS, AWKWARD), 3)]
)
def test_awkward_people_change_nobody_else(way: str, who: str, tmp_path: Path) -> None:
    assert violations(awkward(way, AWKWARD[who]), tmp_path) == []


@pytest.mark.parametrize(("way", "style"), sampled(product(FORMATS_OF, ["plain", *LINK_STYLES]), 3))
def test_hubs_and_odd_links_change_nobody_else(way: str, style: str, tmp_path: Path) -> None:
    odd, marked = Link("a2", "a3", "2003", style), Link("\ufeffa2", "a4", "", style)
    assert violations(awkward(way, CROWD, [*STAR, odd]), tmp_path) == []
    assert violations(awkward(way, CROWD, [marked, *STAR, marked]), tmp_path) == []


def test_a_link_to_a_stranger_is_refused_in_its_row_below_a_blank_line(tmp_path: Path) -> None:
    people = [Node("", "", "blank"), Node("x,6", "2002"), Node("v1", "2003"), Node("b2", "2001")]
    links = [Link("x,6", "v1", ""), Link("b2", "x,6", "")]  # in a cell, x,6 is two people
    assert violations(awkward("linelist and nodes", people, links), tmp_path) == []


# ------------------------------------------------------- the property notices planted errors


def _by_the_file(section: Any, named: str) -> list[Any]:
    """The old way: the first field that anybody has dates everybody."""
    fields = [field for field in ("edi", "DX", "dx") if any(section.column(field))]
    inner = [given or {} for given in section.column("patient_attributes")]
    if fields:
        return list(section.column(fields[0]))
    spelled = [name for given in inner for name in given if name.strip().lower() == named]
    return [given.get((spelled or [named])[0]) for given in inner]


def _by_blanks(frame: pl.DataFrame) -> pl.Series:
    """The old way: whether blanks cut cells depends on everybody's ids."""
    held = frame["case"].str.contains(r"\s").any()
    return frame["infector"].str.extract_all("[^,;]+" if held else r"[^,;\s]+")


def _by_text(ids: pl.Series, steps: Any) -> Any:
    """The old way: one text id makes numbers sort as text."""
    frame = pl.DataFrame({"step": steps, "id": ids})
    return frame.select(pl.arg_sort_by(["step", "id"])).to_series().to_numpy()


def _no_check(*_: object) -> bool:
    """Nothing is looked at."""
    return False


PLANTED: list[tuple[str, Any, str, Callable[..., Any], Case]] = [
    ("dates", hivtrace_document, "values_named", _by_the_file,
     awkward("hivtrace", AWKWARD["one with a date of the program"])),
    ("case", hivtrace_document, "values_named", _by_the_file,
     awkward("hivtrace", AWKWARD["one with another case of the field"])),
    ("blanks", linelist, "_infectors", _by_blanks,
     awkward("linelist", [*CROWD, Node("v 1", "2001"), Node("b1", "2001")],
             [Link("a1 ", "b1", ""), Link("a2 a3", "b1", "")])),
    ("order", arrivals, "identity_order", _by_text,
     awkward("rows", [Node("10", "2002"), Node("9", "2002"), Node("v", "2002")])),
    ("quotes", delimited, "_has_loose_quotes", _no_check,
     awkward("pair", [Node("v1", "2002", "open"), *CROWD, Node("w1", "2002", "close")])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "where", "what", "wrong", "case"), PLANTED)
def test_the_property_notices_planted_errors(
    name: str, where: Any, what: str, wrong: Callable[..., Any], case: Case,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert violations(case, tmp_path) == [], name
    monkeypatch.setattr(where, what, wrong)
    assert violations(case, tmp_path) != [], name


# ------------------------------------------------------- the whole way, into sealed steps


def sealed(folder: Path, case: Case) -> list[tuple[Any, Any]]:
    """A study of the case, published to its end: who and what is new in each step."""
    folder.mkdir()
    StoredStudy.create(folder / "study", promise(records={"undated": "first"}))
    written, paths = WRITERS[case.way](case), []
    for name, text in written.files.items():
        paths.append(folder / name)
        paths[-1].write_text(text, encoding="utf-8")
    add(folder / "study", paths, options=case.options)
    StoredStudy.at(folder / "study").publish(3, early=True)
    return list(sealed_steps(StoredStudy.at(folder / "study")))


@pytest.mark.parametrize("way", ["pair", "hivtrace", "linelist", "snap-temporal and nodes"])
@pytest.mark.parametrize("person", ["a1", "a3"])
def test_sealed_steps_are_those_without_the_person(way: str, person: str, tmp_path: Path) -> None:
    case = awkward(way, [*CROWD, Node("v1", "2002")], [*STAR, Link("a2", "a3", "2003")])
    whole, rest = sealed(tmp_path / "1", case), sealed(tmp_path / "2", case.without(person))
    assert rest == [
        (
            frozenset(node for node in nodes if node != person),
            frozenset(edge for edge in edges if person not in edge),
        )
        for nodes, edges in whole
    ]


def test_a_comment_about_direction_makes_links_of_ids_that_look_like_dates(tmp_path: Path) -> None:
    """Found by `removal.py 100000 8`: a link of two people was read as the date of one."""
    case = random_case(random.Random("8/35"), "snap")
    assert "2001-05" in case.persons()
    assert violations(case, tmp_path) == []
