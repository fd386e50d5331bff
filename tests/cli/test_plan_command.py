"""`graphveil plan`, as a steward types it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from commands import graphveil
from graphveil.drawing.plots import round_ticks
from graphveil.graph.promises import DegreeBound
from graphveil.series.planner import best, compare
from graphveil.statistics.statistic import statistic
from graphveil.steward.comparison import _lines, _releases, plan_chart
from steward import PROMISE, SERIES, drafted

SVG = "{http://www.w3.org/2000/svg}"
EDGES = ("plan", "edges", "--bound", "15", "--epsilon", "1", "--horizon", "20")


def as_json(*arguments: str) -> Any:
    finished = graphveil(*arguments, "--json")
    assert finished.code == 0, finished.err
    return json.loads(finished.out)


def test_json_has_the_agreed_fields() -> None:
    found = as_json(*EDGES)
    by_name = {each["name"]: each for each in found["mechanisms"]}
    assert found["choice"] in by_name
    assert {"sensdiff", "compose-d-bounded", "tree", "bridged", "optimised"} <= by_name.keys()
    for each in by_name.values():
        assert len(each["std"]) == 20
        assert each["mean_std"] == pytest.approx(sum(each["std"]) / 20)
        assert each["last_std"] == each["std"][-1]
        assert each["errors"]["mean:equal"] == pytest.approx(each["mean_std"])
        assert each["errors"]["last"] == pytest.approx(each["last_std"])
        assert each["errors"]["worst"] == pytest.approx(max(each["std"]))
        assert by_name[found["choice"]]["errors"]["mean"] <= 1.001 * each["errors"]["mean"]
    assert {each["name"] for each in found["not_admissible"]} >= {"compose-projection", "gaussian"}
    assert by_name["compose-d-bounded"]["mean_std"] == pytest.approx(424.26, abs=0.01)


def test_epsilon_is_the_decimal_that_was_typed() -> None:
    found = as_json("plan", "nodes", "--bound", "3", "--epsilon", "0.1", "--horizon", "4")
    assert found["epsilon"] == "0.1"
    third = as_json("plan", "nodes", "--bound", "3", "--epsilon", "1/3", "--horizon", "4")
    assert third["epsilon"] == "1/3"


def test_an_unknown_horizon_is_judged_on_a_hundred_releases() -> None:
    found = as_json("plan", "nodes", "--bound", "3", "--epsilon", "1", "--horizon", "unknown")
    assert found["horizon"] is None
    assert found["choice"] == "epochs"
    assert all(len(each["std"]) == 100 for each in found["mechanisms"])
    assert found == as_json("plan", "nodes", "--bound", "3", "--epsilon", "1")


def test_the_table_marks_the_choice_and_gives_reasons() -> None:
    finished = graphveil(*EDGES)
    chosen = [line for line in finished.out.splitlines() if "◀" in line]
    assert len(chosen) == 1
    assert f"Choice: {chosen[0].split()[0]}, ε = 1 for the whole series." in finished.out
    assert "11 others are not possible here: --all says why." in finished.out
    assert finished.err == ""
    everything = graphveil(*EDGES, "--all").out
    assert "Not possible: gaussian (needs a δ)." in everything
    assert "sensdiff: the paper's SensDiff" in everything


def test_the_table_fits_a_terminal_of_80_columns() -> None:
    for more in ([], ["--minimise", "relative"], ["--delta", "1e-6"]):
        rows = graphveil(*EDGES, *more).out.split("Choice:")[0].splitlines()
        assert max(map(len, rows)) <= 80, more


def test_vectors_and_directions() -> None:
    found = as_json(
        "plan", "out-degree-ccdf", "--in-bound", "4", "--out-bound", "9",
        "--epsilon", "1", "--delta", "1e-6", "--horizon", "5",
    )  # fmt: skip
    assert found["numbers_per_release"] == 10
    assert "gaussian" in {each["name"] for each in found["mechanisms"]}


def test_a_mechanism_can_be_named() -> None:
    assert as_json(*EDGES, "--mechanism", "sensdiff")["choice"] == "sensdiff"


def test_expected_sizes_warn_but_do_not_stop() -> None:
    finished = graphveil(*EDGES, "--expected", "100")
    assert finished.code == 0
    assert "drown the signal" in finished.err
    assert graphveil(*EDGES, "--expected", "1000000").err == ""
    assert "drown" in as_json(*EDGES, "--expected", "100")["warning"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--epsilon": "0"}, "epsilon: must be greater than 0"),
        ({"--epsilon": "-2"}, "epsilon: must be greater than 0"),
        ({"--epsilon": "much"}, "epsilon: must be a number"),
        ({"--epsilon": "inf"}, "epsilon: must be a number"),
        ({"--delta": "0"}, "delta: must lie strictly between 0 and 1"),
        ({"--delta": "1.5"}, "delta: must lie strictly between 0 and 1"),
        ({"--horizon": "0"}, "horizon: must be at least 1"),
        ({"--horizon": "-4"}, "horizon: must be at least 1"),
        ({"--horizon": "soon"}, "horizon: must be at least 1"),
        ({"--bound": "0"}, "bound: must be a whole number of at least 1"),
        ({"--tau": "3"}, "tau: has no meaning"),
        ({"--mechanism": "trees"}, "Did you mean 'tree'?"),
        ({"--mechanism": "gaussian"}, "needs a δ"),
        ({"--expected": "0"}, "expected: must be"),
        ({"--plot": "errors.pdf"}, "plot: must end in .svg, .png, .html"),
        ({"--plot": "no/such/folder/errors.svg"}, "plot: must be in a folder that exists"),
    ],
)
def test_refusals_name_the_parameter(changes: dict[str, str], message: str) -> None:
    options = {"--bound": "15", "--epsilon": "1", "--horizon": "20"} | changes
    finished = graphveil("plan", "edges", *(part for pair in options.items() for part in pair))
    assert finished.code == 2
    assert message in finished.err
    assert finished.out == ""


def test_a_threshold_over_the_bound_is_refused() -> None:
    finished = graphveil("plan", "high-degree", "--tau", "9", "--bound", "8", "--epsilon", "1")
    assert finished.code == 2
    assert "Choose a threshold from 1 to 8" in finished.err


def test_help_shows_an_example() -> None:
    assert "Example: graphveil plan" in graphveil("plan", "--help").out


@pytest.mark.parametrize("ending", ["svg", "png", "html", "SVG"])
def test_plots_are_written_whole(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"errors.{ending}"
    file.write_text("old")
    assert graphveil(*EDGES, "--plot", str(file)).code == 0
    assert list(tmp_path.iterdir()) == [file], "nothing else is left behind"
    content = file.read_bytes()
    if ending == "png":
        assert content.startswith(b"\x89PNG")
        return
    text = content.decode()
    for part in ("sensdiff", "optimised", "standard deviation of the noise", "release"):
        assert part in text
    if ending == "html":
        assert not re.search(r"<(script|link)[^>]*(src|href)=", text), "needs no network"
    else:
        assert ElementTree.fromstring(text).tag.endswith("svg")


def test_a_refused_plot_leaves_the_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "errors.txt"
    file.write_text("old")
    assert graphveil(*EDGES, "--plot", str(file)).code == 2
    assert file.read_text() == "old"


def test_a_plot_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "errors.svg").mkdir()
    finished = graphveil(*EDGES, "--plot", str(tmp_path / "errors.svg"))
    assert finished.code == 2
    assert "plot: cannot be written" in finished.err
    assert len(list(tmp_path.iterdir())) == 1


def test_the_chart_has_a_line_for_every_mechanism_and_the_choice_on_top() -> None:
    prospects = compare(statistic("edges"), DegreeBound(4), epsilon=1, horizon=20)
    chosen = best(prospects)
    lines = dict(_lines(prospects, chosen))
    assert next(iter(lines)) == chosen.mechanism.name
    assert "compose-d-bounded, sensseq-d-bounded" in lines, "equal lines share one name"
    drawn = ElementTree.fromstring(plan_chart(prospects, chosen).svg)
    assert set(lines) <= {each.text for each in drawn.iter(f"{SVG}text")}
    widths = [float(each.get("stroke-width", 0)) for each in drawn.findall(f".//{SVG}svg/*")]
    assert len(widths) == len(lines)
    assert widths[-1] == max(widths), "the choice is drawn last"


def test_axes_have_round_numbers() -> None:
    assert round_ticks(0.9, 60) == (1, 2, 5, 10, 20, 50)
    assert round_ticks(1, 2000) == (1, 10, 100, 1000)
    assert _releases(5) == [1, 2, 3, 4, 5]
    assert _releases(20) == [1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert _releases(1) == [1]
    assert _releases(365)[-1] == 365
    assert len(_releases(10_000)) < 25


BEYOND = "Times ε for a person who is linked to more hubs than promised"


def losses(text: str) -> list[str]:
    """The lines of the table of multiples."""
    return text[text.index(BEYOND) :].splitlines()


def test_the_worst_multiple_is_shown_where_a_promise_is_chosen(tmp_path: Path) -> None:
    """In a table that fits a terminal of 80 columns, by `plan` and `new`."""
    hubs = ("plan", "edges", "--bound", "10", "--hubs", "2", "--epsilon", "1", "--horizon", "20")
    shown = losses(graphveil(*hubs).out)
    # links: (D + H + more)/(D + H)
    told = ["1.09", "1.17", "1.42", "1.84", "5.17", "9.34"]
    assert next(line.split() for line in shown if "this series" in line)[2:] == told
    assert all(len(line.rstrip()) <= 80 for line in shown)
    found = as_json(*hubs)["times_beyond_the_promise"]
    assert found["100"] == pytest.approx(112 / 12)
    folder = tmp_path / "study"
    made = graphveil("new", str(folder), *PROMISE, *SERIES)
    assert made.code == 0, made.err
    planned = graphveil("plan", str(folder))
    for text in (made.out, planned.out):
        rows = {line.split()[0]: line.split()[1:] for line in losses(text)[2:6] if line.split()}
        assert rows["edges"] == ["1.25", "1.50", "2.25", "3.50", "13.50", "26.00"]


def test_a_promise_that_stops_the_study_has_no_multiples(tmp_path: Path) -> None:
    refused = ("--hubs", "2", "--if-broken", "refuse", "--epsilon", "1", "--horizon", "4")
    assert BEYOND not in graphveil("plan", "edges", "--bound", "10", *refused).out
    made = graphveil("new", str(tmp_path / "s"), *PROMISE, *SERIES, "--if-broken", "refuse")
    assert made.code == 0, made.err
    assert BEYOND not in made.out
    assert BEYOND not in graphveil("plan", "edges", "--projection", "5", *refused[4:]).out


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        ((), True),
        (("--all",), True),
        (("--expected", "edges=5", "--json"), True),
        (("--plot", "{}/drawn.svg"), False),
        (("--epsilon", "1"), False),
        (("--horizon", "unknown"), False),
        (("--no-bound",), False),
        (("--tau", "3"), False),
    ],
)
def test_a_study_takes_only_what_its_file_does_not_say(
    tmp_path: Path, options: tuple[str, ...], taken: bool
) -> None:
    study = drafted(tmp_path / "study")
    finished = graphveil("plan", str(study), *(each.format(tmp_path) for each in options))
    assert (finished.code == 0) is taken, finished.err
    assert ("plan: of a study takes only" in finished.err) is not taken
