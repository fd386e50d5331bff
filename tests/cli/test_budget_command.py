"""`graphveil plan --budget`: errors by total ε, as a table, as data and as a picture."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from commands import graphveil
from graphveil import DegreeBound, plan, statistic
from graphveil.steward.planning.budgets import series_budgets, totals
from graphveil.steward.planning.plots import _budget_lines, budget_chart
from graphveil.steward.planning.requests import SeriesRequest
from steward import contents, drafted, run

SERIES = ("edges", "high-degree:tau=3,expected=150=hubs", "nodes:weight=2")
OPTIONS = ("--bound", "6", "--horizon", "8", "--budget", "0.1:10")
SIZES = ("--expected", "edges=900", "--expected", "nodes=500")


def budgets(*arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("plan", *arguments, "--json").out)["budgets"]
    return found


def test_every_total_is_split_exactly_and_its_errors_are_those_of_the_planner() -> None:
    found = budgets(*SERIES, *OPTIONS, *SIZES)
    assert [each["epsilon"] for each in found][::4] == ["0.1", "0.5", "2", "10"]
    for each in found:
        shares = {series["series"]: Fraction(series["epsilon"]) for series in each["series"]}
        assert sum(shares.values()) == Fraction(each["epsilon"])
        made = plan(statistic("edges"), DegreeBound(6), epsilon=shares["edges"], horizon=8)
        edges = each["series"][0]
        assert edges["last_std"] == pytest.approx(made.last_std)
        assert edges["relative_error"] == pytest.approx(made.last_std / 900)
        assert edges["usefulness"] == str(made.judged(900).word)


def test_more_budget_is_less_error_without_steps_back() -> None:
    found = budgets(*SERIES, *OPTIONS, *SIZES)
    for place in range(len(SERIES)):
        errors = [each["series"][place]["last_std"] for each in found]
        assert errors == sorted(errors, reverse=True)
        assert errors[0] > 50 * errors[-1]


def test_without_a_size_for_each_totals_are_split_equally() -> None:
    found = budgets("edges", "nodes", *OPTIONS, "--expected", "edges=900")
    assert all(len({series["epsilon"] for series in each["series"]}) == 1 for each in found)
    assert "split equally" in run("plan", "edges", "nodes", *OPTIONS).out


def test_one_series_takes_all_and_its_parameters_as_options() -> None:
    found = budgets("high-degree", "--tau", "3", *OPTIONS, "--expected", "100")
    assert all(each["epsilon"] == each["series"][0]["epsilon"] for each in found)
    assert found[0]["series"][0]["usefulness"] == "drowned"


def test_a_study_keeps_the_parts_of_its_series_and_is_left_alone(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study")
    before = contents(root)
    found = budgets(str(root), "--budget", "1/2:4", "--expected", "edges=700")
    assert contents(root) == before
    now = json.loads(run("plan", root, "--json").out)["series"]
    half = next(each for each in found if each["epsilon"] == "0.5")  # as much as the study spends
    assert [each["last_std"] for each in half["series"]] == [each["last_std"] for each in now]
    assert [each["expected"] for each in half["series"]] == [700, None]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_picture_names_every_series(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"curve.{ending}"
    run("plan", *SERIES, *OPTIONS, *SIZES, "--plot", file)
    assert list(tmp_path.iterdir()) == [file]
    if ending == "png":
        assert file.read_bytes().startswith(b"\x89PNG")
        return
    for words in ("edges", "hubs", "nodes", "drowned above 25%", "ε of all series together"):
        assert words in file.read_text()
    assert ElementTree.fromstring(file.read_text()).tag.endswith("svg")


def test_counts_are_drawn_where_sizes_are_unknown() -> None:
    bound = DegreeBound(5)
    wishes = [(SeriesRequest("edges"), bound), (SeriesRequest("nodes", expected=9), bound)]
    found = series_budgets(wishes, Fraction(1), Fraction(2), horizon=3)
    assert "useful below" not in budget_chart(found).svg
    made = plan(statistic("nodes"), bound, epsilon="1/2", horizon=3)
    lines = _budget_lines(found)
    assert list(lines) == ["edges", "nodes"]
    assert lines["nodes"][0] == (1.0, made.last_std)


def test_totals_are_round_and_have_both_ends() -> None:
    found = totals(Fraction(1, 8), Fraction(4))
    texts = [float(each) for each in found]
    assert texts == [0.125, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("edges", "--bound", "5", "--budget", "3"), "budget: must be LOW:HIGH"),
        (("edges", "--bound", "5", "--budget", "3:1"), "budget: must go from above 0"),
        (("edges", "--bound", "5", "--budget", "0:1"), "budget: must go from above 0"),
        (("edges", "--bound", "5", "--budget", "1:1e9"), "at most a millionfold"),
        (("edges", "--bound", "5", "--budget", "a:b"), "budget: must be a number"),
        (("edges", "--bound", "5", "--budget", "1:2", "--epsilon", "1"), "Leave --epsilon out"),
        (("edges@1", "--bound", "5", "--budget", "1:2"), "has a share of its own"),
        (("edges", "nodes", "--bound", "5", "--epsilon", "1"), "give --budget LOW:HIGH"),
        (("edges", "nodes", "--tau", "3", "--bound", "5", "--budget", "1:2"), "NAME:tau=3"),
        (("edges", "edges", "--bound", "5", "--budget", "1:2"), "two have the same name"),
        (("edges", "--bound", "5", "--budget", "1:2", "--expected", "0"), "expected: must be"),
        (("edges", "--bound", "5", "--budget", "1:2", "--expected", "x=4"), "Series: edges"),
        (("edges:weight=0,expected=4", "--bound", "5", "--budget", "1:2"), "weight: must be"),
        (("edges", "--budget", "1:2"), "bound"),
        (("edges", "--bound", "5", "--budget", "1:2", "--plot", "x.pdf"), "plot: must end in"),
    ],
)
def test_refusals(arguments: tuple[str, ...], message: str) -> None:
    finished = graphveil("plan", *arguments)
    assert finished.code == 2, finished.out
    assert message in finished.err
    assert len(finished.err) < 320
    assert finished.out == ""
