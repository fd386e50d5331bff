"""`graphveil new`: flags, shares, and a draft that spends nothing."""

from __future__ import annotations

import io
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands import graphveil
from graphveil.steward.requests import series_data
from steward import PROMISE, SERIES, contents, drafted, run


def study_of(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "public" / "study.toml").read_text())


def test_a_new_study_is_a_draft_with_its_predicted_errors(tmp_path: Path) -> None:
    root = tmp_path / "study"
    finished = run("new", root, *PROMISE, *SERIES)
    assert "Nothing is spent yet" in finished.out
    assert "0.5 is left" in finished.out
    assert re.search(r"edges +0\.25 +sensdiff +[\d.]+ +[\d.]+ +[\d.]+", finished.out)
    assert sorted(path.name for path in root.iterdir()) == ["private", "public"]
    assert sorted(path.name for path in (root / "public").iterdir()) == ["README.txt", "study.toml"]
    assert (root / "private").stat().st_mode & 0o777 == 0o700


def test_mechanisms_are_settled_and_shares_add_up(tmp_path: Path) -> None:
    root = tmp_path / "study"
    run(
        "new", root, *PROMISE, "--series", "nodes", "--series", "edges@1/4", "--series", "stars:k=2"
    )
    series = {each["name"]: each for each in study_of(root)["series"]}
    assert {name: each["epsilon"] for name, each in series.items()} == {
        "nodes": "0.375", "edges": "0.25", "stars-2": "0.375",
    }  # fmt: skip
    assert all(each["mechanism"] != "auto" for each in series.values())


def test_every_entry_of_the_study_file_has_an_option(tmp_path: Path) -> None:
    root = tmp_path / "study"
    run(
        "new", root, "--title", "T", "--population", "P", "--publisher", "X", "--directed",
        "--in-bound", "3", "--out-bound", "4", "--oriented", "--hubs", "0x2", "--bound-reason", "B",
        "--if-broken", "refuse",
        "--cuts", "2001-01-01,2003-01-01", "--end", "2006-01-01",
        "--epsilon", "3", "--delta", "1e-6", "--epsilon-reason", "E", "--confidence", "0.9",
        "--series", "edges:mechanism=compose-projection,projection=2x3@1=cut",
        "--series", "out-degree-ccdf:mechanism=gaussian@1=out", "--series", "nodes@1/2",
        "--series-reason", "cut=why not", "--person-separator", "|", "--fold-case",
        "--undated", "first",
    )  # fmt: skip
    study = study_of(root)
    assert study["calendar"] == {"cuts": ["2001-01-01", "2003-01-01"], "end": "2006-01-01"}
    assert study["bound"] == {
        "inward": 3, "outward": 4, "oriented": True, "hubs": [0, 2], "if_broken": "refuse",
        "justification": "B",
    }  # fmt: skip
    assert study["records"] == {"person_separator": "|", "case": "fold", "undated": "first"}
    assert (study["directed"], study["confidence"]) == (True, "0.9")
    cut, out, nodes = study["series"]
    assert (cut["projection"], cut["justification"]) == ([2, 3], "why not")
    assert out["delta"] == "1/3000000"
    assert "delta" not in nodes, "a pure mechanism takes nothing of δ"


@pytest.mark.parametrize(
    ("every", "first", "calendar"),
    [
        ("month", "2001-03", {"every": 1, "unit": "month", "first": "2001-03"}),
        ("quarter", "2001-04", {"every": 3, "unit": "month", "first": "2001-04"}),
        ("day", "2001-03-05", {"every": 1, "unit": "day", "first": "2001-03-05"}),
        ("week", "2001-03-05", {"every": 7, "unit": "day", "first": "2001-03-05"}),
        ("5", "2000", {"every": 5, "unit": "year", "first": "2000"}),
        ("90", "2001-03-05", {"every": 90, "unit": "day", "first": "2001-03-05"}),
        ("10", "0", {"every": 10, "unit": "number", "first": 0}),
    ],
)
def test_calendars(tmp_path: Path, every: str, first: str, calendar: dict[str, Any]) -> None:
    options = list(PROMISE)
    options[options.index("year")] = every
    options[options.index("2001")] = first
    last = options.index("--last")
    run("new", tmp_path / "study", *options[:last], *options[last + 2 :], "--series", "nodes")
    assert study_of(tmp_path / "study")["calendar"] == calendar


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ((), "title population publisher every first epsilon epsilon-reason series"),
        (("--in-bound", "3", "--title", "T"), "out-bound bound-reason"),
        (("--bound-reason", "surveys"), "bound"),
        (("--oriented",), "in-bound out-bound bound-reason"),
        (("--bound", "3"), "bound-reason"),
        (("--cuts", "2001,2002"), "epsilon"),
    ],
)
def test_what_is_missing_is_listed(tmp_path: Path, given: tuple[str, ...], missing: str) -> None:
    finished = graphveil("new", str(tmp_path / "study"), *given)
    assert finished.code == 2
    named = set(re.findall(r"--([a-z-]+)", finished.err))
    assert named >= set(missing.split())
    assert not named & {each.removeprefix("--") for each in given}
    assert ("every" in named) is ("--cuts" not in given)
    assert "graphveil serve" in finished.err
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--series", "edgs"), 2, "Did you mean 'edges'?"),
        (("--series", "high-degree"), 2, "tau: is needed"),
        (("--series", "edges@1=A B"), 2, "lower-case letters"),
        (("--series", "edges@@1"), 2, "cannot be read. Write edges"),
        (("--series", "edges", "--series", "edges"), 2, "same name"),
        (("--series", "edges:mechanism=magic"), 2, "there is none called 'magic'"),
        (("--series", "edges@3/4", "--series", "nodes@1/2"), 8, "0.25 is left"),
        (("--series", "edges@1", "--series", "nodes"), 8, "leave nothing of ε = 1 for nodes"),
        (("--series", "edges", "--series-reason", "nodes=x"), 2, "no series 'nodes'"),
        (("--series", "edges", "--cuts", "2001,2002"), 2, "either --cuts"),
        (("--series", "edges", "--end", "2002"), 2, "can only be used with --cuts"),
        (("--series", "edges", "--in-bound", "3"), 2, "give either --bound D"),
        (("--series", "edges", "--directed"), 2, "inward"),
        (("--series", "edges", "--hubs", "some"), 2, "hubs: must be a number"),
        (("--series", "edges", "--hubs", "1x2"), 2, "hubs: needs one number"),
        (("--series", "edges", "--hubs", "0"), 2, "Leave it out"),
        (("--series", "edges", "--epsilon", "0"), 2, "greater than 0"),
        (("--series", "edges", "--confidence", "2"), 2, "confidence"),
        (("--series", "edges", "--database", "sqlite:///x"), 2, "SQLite is used"),
        (("--series", "edges", "--database", "cards://x"), 10, "use PostgreSQL"),
    ],
)
def test_refusals_leave_no_study(
    tmp_path: Path, more: tuple[str, ...], code: int, message: str
) -> None:
    finished = graphveil("new", str(tmp_path / "study"), *PROMISE, *more)
    assert finished.code == code, finished.err
    assert message in finished.err
    assert not (tmp_path / "study" / "public" / "study.toml").exists()


def test_a_second_study_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study")
    before = contents(root)
    finished = graphveil("new", str(root), *PROMISE, *SERIES)
    assert finished.code == 7
    assert "already holds a study" in finished.err
    assert contents(root) == before


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("edges", {"statistic": "edges", "parameters": {}}),
        ("edges@0.5", {"statistic": "edges", "parameters": {}, "epsilon": "0.5"}),
        ("edges=links", {"statistic": "edges", "parameters": {}, "name": "links"}),
        ("stars:k=2", {"statistic": "stars", "parameters": {"k": 2}}),
        ("stars:k=2=v", {"statistic": "stars", "parameters": {"k": 2}, "name": "v"}),
        (
            "pattern:pattern=a-b,b-c@1/4=paths",
            {
                "statistic": "pattern", "parameters": {"pattern": "a-b,b-c"},
                "epsilon": "1/4", "name": "paths",
            },
        ),
        (
            "stars:k=3,mechanism=sensdiff,horizon=4,delta=1e-6,projection=5",
            {
                "statistic": "stars", "parameters": {"k": 3}, "mechanism": "sensdiff",
                "horizon": 4, "delta": "1e-6", "projection": 5,
            },
        ),
    ],
)  # fmt: skip
def test_a_series_on_one_line(text: str, data: dict[str, Any]) -> None:
    assert series_data(text) == data


def test_the_best_split_is_proposed_with_what_another_share_would_do(tmp_path: Path) -> None:
    finished = run(
        "new", tmp_path / "study", *PROMISE, "--series", "nodes", "--series", "edges=links",
        "--expected", "nodes=900", "--expected", "links=800", "--weight", "links=4",
    )  # fmt: skip
    assert "The best split of ε = 1 for these sizes" in finished.out
    assert re.search(r"share, ε .* of what is expected .* with a fifth more", finished.out)
    series = study_of(tmp_path / "study")["series"]
    assert sum(float(each["epsilon"]) for each in series) == 1
    assert float(series[1]["epsilon"]) > 0.7


def test_equal_shares_are_named_as_such(tmp_path: Path) -> None:
    finished = run("new", tmp_path / "study", *PROMISE, "--series", "nodes", "--series", "edges")
    assert "Equal shares of ε = 1, since no size is expected of nodes, edges" in finished.out


def test_a_study_from_a_file_promises_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    run("new", first, *PROMISE, *SERIES)
    file = first / "public" / "study.toml"
    assert "Nothing is spent yet" in run("new", second, "--from", file).out
    assert study_of(second) == study_of(first)
    later = '[[ratios]]\nname = "x"\nformula = "edges/edges"\nopened = "2002"\n'
    file.write_text(f'{file.read_text()}opened = "2002"\n\n{later}')  # of a series that came later
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    run("new", third, "--from", "-")
    found = study_of(third)
    assert found.pop("ratios") == [{"name": "x", "formula": "edges/edges"}]
    assert found | {"format": 1} == study_of(second)


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("", (), "missing"),
        ("= no toml", (), r"draft\.toml is not readable as TOML"),
        ("title = 1", (), r"draft\.toml, title"),
        ("kept", ("--title", "Another"), "Leave the other options out"),
        ('epsilon = "1/2"', (), "cost more than"),
    ],
)
def test_a_file_that_is_no_study_begins_none(
    tmp_path: Path, text: str, more: tuple[str, ...], said: str
) -> None:
    run("new", tmp_path / "first", *PROMISE, *SERIES)
    kept = (tmp_path / "first" / "public" / "study.toml").read_text()
    if text:
        dear = re.sub(r'epsilon = "0.25"', 'epsilon = "3"', kept)
        texts = {"kept": kept, 'epsilon = "1/2"': dear}
        (tmp_path / "draft.toml").write_text(texts.get(text, text))
    file = str(tmp_path / "draft.toml")
    finished = graphveil("new", str(tmp_path / "study"), "--from", file, *more)
    assert finished.code not in (0, 70)
    assert re.search(said, finished.err)
    assert not (tmp_path / "study").exists()
