"""The promise on the page, without scripts: every number is the planner's, and nothing is spent."""

from __future__ import annotations

import re
import tomllib
from fractions import Fraction

import pytest

from graphveil import Study
from graphveil.mechanisms.planning.usefulness import rounded
from graphveil.statistics.statistic import registered
from graphveil.steward.custody import opened
from graphveil.steward.drafting import calendar, draft
from graphveil.steward.requests import SeriesRequest, StudyRequest
from graphveil.steward.status import status
from graphveil.web.promise_form import TEMPLATES
from graphveil.web.site import Site
from sites import Visitor, text_of
from steward import people

FORM: dict[str, str | list[str]] = {
    "title": "HIV in Rivermouth", "population": "people diagnosed since 2021",
    "publisher": "Health office", "every": "year", "first": "2021", "releases": "10",
    "kind": "degree", "degree": "15", "bound_reason": "published surveys", "epsilon": "3",
    "epsilon_reason": "ethics board", "row": ["0", "1"], "statistic-0": "nodes",
    "statistic-1": "edges", "expected-0": "800", "expected-1": "1500", "confidence": "0.95",
}  # fmt: skip

OFFERED = re.compile(r'<option value="([a-z-]+)" data-kind="(\w+)">([^<]+)</option>')


def send(visitor: Visitor, action: str, **other: str | list[str]) -> str:
    return visitor.send("/new", {**FORM, **other, "action": action}).text


def planned(shares: tuple[str | None, str | None] = (None, None), **other: object) -> list[str]:
    """What the planner itself says of the form; the best split, unless shares are given."""
    wish = StudyRequest(
        title="t", population="p", publisher="p", calendar=calendar("year", "2021", "2030"),
        epsilon="3", epsilon_reason="r", bound_reason="b", degree=15, **other,  # type: ignore[arg-type]
        series=(
            SeriesRequest("nodes", epsilon=shares[0], expected=800),
            SeriesRequest("edges", epsilon=shares[1], expected=1500),
        ),
    )  # fmt: skip
    return [f"±{rounded(each.plan.last_std)}" for each in draft(wish).outlooks]


def shown(page: str) -> list[str]:
    return re.findall(r"<strong>(±[\d.,]+)</strong>", page)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_needs_no_promise_and_only_words_and_dates(
    visitor: Visitor, site: Site, name: str
) -> None:
    page = visitor.get(f"/new?template={name}").text
    assert TEMPLATES[name].title in page
    filled = TEMPLATES[name].form()
    first = {"week": "2021-01-04", "month": "2021-01"}.get(filled["every"], "2021")
    words = {key: FORM[key] for key in ("title", "population", "publisher", "epsilon_reason")}
    form: dict[str, str | list[str]] = {
        **{key: filled[key] for key, _ in filled.pairs if key != "row"},
        **words, "row": list(filled.every("row")), "first": first, "releases": "5", "epsilon": "2",
    }  # fmt: skip
    told = text_of(visitor.send("/new", {**form, "action": "make"}).text)
    assert "The study is made" in told
    made = (site.home / "hiv-in-rivermouth" / "public" / "study.toml").read_text()
    assert 'bound = "none"' in made


def test_every_number_is_the_planners_own(visitor: Visitor) -> None:
    page = send(visitor, "predict")
    assert shown(page) == planned()
    assert "beside about 1,500" in text_of(page)
    assert page.count("<svg") == 4
    assert shown(send(visitor, "predict", hubs="5")) == planned(hubs=(5,))
    shares = {"share-0": "10", "share-1": "90%"}
    assert shown(send(visitor, "predict", **shares)) == planned(("3/10", "27/10"))


def test_what_a_broken_promise_costs_is_shown_where_it_is_made(visitor: Visitor) -> None:
    """Links under a bound of 15: (15 + more)/15 times ε; nothing where such a step is refused."""
    told = "1 more: 1.07; 2 more: 1.14; 5 more: 1.34; 10 more: 1.67; 50 more: 4.34; 100 more: 7.67"
    assert told in text_of(send(visitor, "predict"))
    assert "more hubs" not in text_of(send(visitor, "predict", if_broken="refuse"))


def test_the_sliders_are_answered_alike(visitor: Visitor) -> None:
    answer = visitor.send("/new/outlook", FORM, at="/new")
    assert shown(answer.text) == planned()
    assert "<html" not in answer.text


def test_noise_does_not_wait_for_words(visitor: Visitor) -> None:
    blank = dict.fromkeys(
        ("title", "population", "publisher", "bound_reason", "epsilon_reason"), ""
    )
    assert shown(send(visitor, "predict", **blank)) == planned()
    assert "Total ε: enter it first" in text_of(send(visitor, "predict", epsilon=""))


def test_the_best_split_is_the_planners_to_a_tenth_of_a_percent(visitor: Visitor) -> None:
    page = send(visitor, "split")
    parts = [
        Fraction(found)
        for number in "01"
        for found in re.findall(rf'name="share-{number}"[^>]* value="([\d.]+)"', page)
    ]
    assert len(parts) == 2
    assert sum(parts) == 100
    wish = StudyRequest(
        title="t", population="p", publisher="p", calendar=calendar("year", "2021", "2030"),
        epsilon="3", epsilon_reason="r", bound_reason="b", degree=15,
        series=(SeriesRequest("nodes", expected=800), SeriesRequest("edges", expected=1500)),
    )  # fmt: skip
    best = [each.price[0] / 3 * 100 for each in draft(wish).promise.series]
    assert all(abs(a - b) <= Fraction(1, 10) for a, b in zip(parts, best, strict=True))
    assert "needs at least two series" in text_of(send(visitor, "split", **{"expected-1": ""}))


def test_drowned_series_are_red_and_not_begun_by_mistake(visitor: Visitor, site: Site) -> None:
    page = send(visitor, "make", epsilon="0.05")
    assert 'class="prediction drowned"' in page
    assert "“Begin it although a series is too noisy to tell”" in page
    assert list(site.home.glob("hiv*")) == []
    send(visitor, "make", epsilon="0.05", drowned="yes")
    assert (site.home / "hiv-in-rivermouth" / "public" / "study.toml").is_file()


def test_making_the_promise_shows_the_study_file(visitor: Visitor, site: Site) -> None:
    page = text_of(send(visitor, "make", **{"share-0": "10", "share-1": "40"}))
    folder = site.home / "hiv-in-rivermouth"
    text = (folder / "public" / "study.toml").read_text()
    assert " ".join(text.split())[:200] in page
    found = tomllib.loads(text)
    assert found["title"] == FORM["title"]
    assert [each["epsilon"] for each in found["series"]] == ["0.3", "1.2"]
    now = status(folder)
    assert (now.is_open, now.listed.budget.epsilon_left) == (False, "1.5")
    assert "2021 to 2030" in page or "ends with 2030" in page


def test_looking_writes_nothing(visitor: Visitor, site: Site) -> None:
    for action in ("predict", "split", "add", "remove 0"):
        send(visitor, action)
    send(visitor, "make", title="")
    assert list(site.home.iterdir()) == []


def test_a_second_study_does_not_replace_the_first(visitor: Visitor, site: Site) -> None:
    send(visitor, "make")
    file = site.home / "hiv-in-rivermouth" / "public" / "study.toml"
    before = file.read_bytes()
    page = send(visitor, "make", epsilon="2")
    assert "already holds a study" in page
    assert 'value="people diagnosed since 2021"' in page, "what was typed is still there"
    assert file.read_bytes() == before


@pytest.mark.parametrize("folder", ["../outside", "/etc/graphveil", "..", "a/b/c", "~"])
def test_a_study_is_begun_in_its_home_only(visitor: Visitor, site: Site, folder: str) -> None:
    send(visitor, "make", folder=folder)
    [made] = [path for path in site.home.iterdir() if (path / "public").is_dir()]
    assert made.parent == site.home
    assert not (site.home.parent / "outside").exists()


@pytest.mark.parametrize("name", sorted(registered()))
def test_every_statistic_can_be_added(visitor: Visitor, name: str) -> None:
    page = send(visitor, "add", statistic=name)
    assert f'name="statistic-2" value="{name}"' in page
    for each in registered()[name].parameters():
        assert f'name="{each.name}-2"' in page
    assert "internal error" not in page


def test_statistics_are_offered_in_plain_words_with_their_usual_numbers(visitor: Visitor) -> None:
    page = visitor.get("/new").text
    told = {name: (kind, words) for name, kind, words in OFFERED.findall(page)}
    assert told.keys() == registered().keys()
    assert next(iter(told)) == "nodes"
    assert told["high-degree"] == ("undirected", "People with at least τ links (high-degree)")
    assert told["in-stars"][0] == "directed"
    assert told["edges"] == ("both", "Links between people (edges)")
    page = send(visitor, "add", statistic="clusters")
    assert "Clusters: groups of at least k linked people" in page
    assert re.search(r'name="k-2"[^>]* value="2"', page)


def test_a_series_is_removed(visitor: Visitor) -> None:
    page = send(visitor, "remove 0")
    assert 'name="statistic-0"' not in page
    assert 'name="statistic-1" value="edges"' in page


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "directed", "inward": "5", "outward": "3"},
        {"kind": "directed", "inward": "5", "outward": "3", "hubs": "2", "out_hubs": "2"},
        {"kind": "none", "projection-0": "10", "projection-1": "10"},
        {"releases": ""},
        {"every": "week", "first": "2021-03-01"},
        {"delta": "1e-6"},
        {"window-1": "3"},
        {"undated": "first", "fold_case": "yes", "person_separator": "|", "minimise": "last"},
    ],
)
def test_other_promises_are_predicted_and_made(
    visitor: Visitor, site: Site, other: dict[str, str]
) -> None:
    assert len(shown(send(visitor, "predict", **other))) == 2
    send(visitor, "make", drowned="yes", **other)
    assert status(site.home / "hiv-in-rivermouth").is_open is False


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epsilon", "many"), ("epsilon", "-1"), ("epsilon", "1e999"), ("releases", "0"),
        ("releases", "99999999999"), ("degree", "x"), ("degree", ""), ("hubs", "-1"),
        ("first", "soon"), ("every", "fortnight"), ("share-0", "101"), ("share-0", "0"),
        ("share-0", "half"), ("expected-0", "lots"), ("expected-0", "0"), ("window-0", "-3"),
        ("delta", "2"), ("confidence", "200"), ("minimise", "everything"), ("row", "x\0"),
        ("statistic-0", "bananas"), ("name-0", "\x1b[31m"), ("projection-0", "x"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_words(visitor: Visitor, site: Site, field: str, value: str) -> None:
    answer = visitor.send("/new", {**FORM, "action": "predict", field: value})
    assert answer.status_code == 200
    assert "internal error" not in answer.text
    answer = visitor.send("/new", {**FORM, "action": "make", "drowned": "yes", field: value})
    assert answer.status_code in (200, 422)
    assert "internal error" not in answer.text


def test_series_are_divided_by_groups_on_the_page(visitor: Visitor, site: Site) -> None:
    divided = {"groups": "region=A|B|C|D|E|F|G\nage=0,25,50", "by-1": "region", "name-1": "links"}
    page = send(visitor, "predict", **divided)
    assert "cells would be too noisy to tell" in text_of(page)
    assert shown(page) == planned()
    made = send(visitor, "make", drowned="yes", **divided)
    assert "[groups.region]" in text_of(made)
    assert 'by = "region"' in text_of(made)
    assert "is not a group of the study" in text_of(send(visitor, "predict", **{"by-1": "sex"}))


def test_ratios_are_promised_on_the_page(visitor: Visitor, site: Site) -> None:
    said = "links per person = 2*edges/nodes"
    assert "The study is made" in text_of(send(visitor, "make", ratios=said))
    made = (site.home / "hiv-in-rivermouth" / "public" / "study.toml").read_text()
    assert tomllib.loads(made)["ratios"] == [
        {"name": "links per person", "formula": "2*edges/nodes"}
    ]
    refused = text_of(send(visitor, "make", ratios="x = edges/nobody", title="Another"))
    assert "nobody" in refused
    assert not (site.home / "another").exists()


DRAFT = "hiv-in-rivermouth"


def test_a_draft_is_changed_as_text_and_a_fault_changes_nothing(
    visitor: Visitor, site: Site
) -> None:
    send(visitor, "make")
    file = site.home / DRAFT / "public" / "study.toml"
    before = file.read_text()
    here = f"/study/{opened(site.home / DRAFT).key}/promise"
    faulty = before.replace("degree = 15", "degree = -15")
    answer = visitor.send(here, {"action": "change", "text": faulty}).text
    assert "degree" in text_of(answer)
    assert "degree = -15" in answer, "what was typed is still there"
    assert file.read_text() == before
    better = before.replace("Health office", "County health office").replace("\n", "\r\n")
    told = text_of(visitor.send(here, {"action": "change", "text": better}).text)
    assert "Changed. Read it once more." in told
    assert file.read_text() == before.replace("Health office", "County health office")


def test_a_draft_is_deleted_after_a_word_and_an_open_study_never(
    visitor: Visitor, site: Site
) -> None:
    send(visitor, "make")
    folder = site.home / DRAFT
    here = f"/study/{opened(folder).key}/promise"
    (folder / "notes.txt").write_text("mine")
    assert "Type delete" in text_of(visitor.send(here, {"action": "delete", "typed": "no"}).text)
    assert (folder / "public" / "study.toml").exists()
    told = text_of(visitor.send(here, {"action": "delete", "typed": "delete"}).text)
    assert "The draft is deleted" in told
    assert [each.name for each in folder.iterdir()] == ["notes.txt"], "only what graphveil wrote"

    send(visitor, "make", title="Another")
    other = site.home / "another"
    key = opened(other).key
    Study.open(other).add(people(other.parent))
    for sent in ({"action": "delete", "typed": "delete"}, {"action": "change", "text": "x"}):
        assert "the study is open" in visitor.send(f"/study/{key}/promise", sent, at="/new").text
    assert status(other).is_open
