"""A whole reproduction, small: repeatable, resumable, and with the paper's orderings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import pytest

from experiment_data import write_pair
from graphveil.errors import ParameterError
from graphveil.lab.experiments import runs as runs_module
from graphveil.lab.experiments.claims import Point, growth, points, useful_from, verdict, worst
from graphveil.lab.experiments.comparison import (
    AUTO,
    COMPOSE,
    CONTENDERS,
    HUBS,
    PROJECTION,
    SENSDIFF,
    SHAPED,
)
from graphveil.lab.experiments.protocol import Protocol
from graphveil.lab.experiments.results import Row, read_rows
from graphveil.lab.experiments.runs import Agenda, ReproduceRequest, reproduce, write_report
from graphveil.lab.experiments.subjects import DatasetVersion, Truth

FEW = Protocol(runs=8, seed=3, epsilons=("0.5", "5"))


def small_wish(folder: Path, protocol: Protocol = FEW) -> ReproduceRequest:
    return ReproduceRequest((str(folder),), ("edges", "high-degree"), protocol=protocol)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pair(tmp_path_factory.mktemp("data") / "small", hubs=1)


def run(wish: ReproduceRequest, out: Path, workers: int = 1) -> list[Row]:
    return reproduce(Agenda.of(wish), out, workers)


@dataclass(frozen=True)
class Finished:
    """A small run that has ended, made once: its rows, and its folder to copy."""

    rows: list[Row]
    folder: Path

    def copied(self, place: Path) -> list[Row]:
        copytree(self.folder, place, dirs_exist_ok=True)
        return self.rows


@pytest.fixture(scope="module")
def finished(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("finished")
    return Finished(run(small_wish(data), folder), folder)


def test_a_seed_repeats_a_run_and_another_does_not(
    data: Path, finished: Finished, tmp_path: Path
) -> None:
    first, again = finished.copied(tmp_path / "a"), run(small_wish(data), tmp_path / "b")
    other = run(small_wish(data, Protocol(8, 4, FEW.epsilons)), tmp_path / "a")
    assert first == again
    assert [row.error for row in first] != [row.error for row in other]
    assert [row.error for row in run(small_wish(data), tmp_path / "a")] == [r.error for r in first]


def test_results_do_not_depend_on_the_number_of_workers(
    data: Path, finished: Finished, tmp_path: Path
) -> None:
    assert finished.rows == run(small_wish(data), tmp_path, workers=2)
    for name in ("results.csv", "results.parquet"):
        assert (finished.folder / name).read_bytes() == (tmp_path / name).read_bytes()


def test_a_finished_run_computes_nothing_again(
    data: Path, finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = finished.copied(tmp_path)

    def never(*_: object) -> list[Truth]:
        raise AssertionError("nothing is left to compute")

    monkeypatch.setattr(runs_module, "true_values", never)
    monkeypatch.setattr(runs_module, "_simulate_and_store", never)
    told: list[tuple[int, int]] = []
    again = reproduce(Agenda.of(small_wish(data)), tmp_path, 1, lambda *done: told.append(done))
    assert again == first
    assert len(told) == 1
    assert told[0][0] == told[0][1] > 0


def test_only_what_is_missing_or_broken_is_computed(
    data: Path, finished: Finished, tmp_path: Path
) -> None:
    first = finished.copied(tmp_path)
    cells = sorted((tmp_path / "cells").iterdir())
    cells[0].unlink()
    cells[1].write_bytes(cells[1].read_bytes()[:50])
    kept = {path: path.stat().st_mtime_ns for path in cells[2:]}
    told: list[tuple[int, int]] = []
    again = reproduce(Agenda.of(small_wish(data)), tmp_path, 1, lambda *done: told.append(done))
    assert again == first
    assert [done for done, _ in told] == [len(cells) - 2, len(cells) - 1, len(cells)]
    assert kept == {path: path.stat().st_mtime_ns for path in cells[2:]}


def test_other_data_are_never_taken_for_stored_ones(data: Path, tmp_path: Path) -> None:
    changed = write_pair(tmp_path / "elsewhere" / "small", hubs=2)
    keys = [{cell.key for cell in Agenda.of(small_wish(path)).figures} for path in (data, changed)]
    assert keys[0].isdisjoint(keys[1])


KILLED = """
import sys
from pathlib import Path
from graphveil.lab.experiments.protocol import Protocol
from graphveil.lab.experiments.runs import Agenda, ReproduceRequest, reproduce
protocol = Protocol(8, 3, ("0.5", "5"))
asked = ReproduceRequest((sys.argv[1],), ("edges", "high-degree"), protocol=protocol)
reproduce(Agenda.of(asked), Path(sys.argv[2]), 1)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_killed_run_goes_on(data: Path, finished: Finished, tmp_path: Path) -> None:
    whole, out = finished.rows, tmp_path / "killed"
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(data), str(out)])
    deadline = time.monotonic() + 120
    while not list(out.glob("cells/*.parquet")) and child.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    child.send_signal(signal.SIGKILL)
    child.wait()
    done = len(list(out.glob("cells/*.parquet")))
    told: list[tuple[int, int]] = []
    agenda = Agenda.of(small_wish(data))
    assert reproduce(agenda, out, 1, lambda *at: told.append(at)) == whole
    assert told[0][0] == done >= 1


def test_both_figures_share_the_cell_that_they_have_in_common(data: Path) -> None:
    figures = Agenda.of(small_wish(data)).figures
    shared = [cell for cell, names in figures.items() if len(names) == 2]
    assert {(cell.epsilon, cell.every) for cell in shared} == {("5", 1)}


def test_rows_tell_all_parameters_and_come_back_from_files(data: Path, tmp_path: Path) -> None:
    rows = run(small_wish(data), tmp_path)
    assert {row.mechanism for row in rows} == set(CONTENDERS)
    assert {row.figure for row in rows} == {"epsilon", "time"}
    assert {row.version for row in rows} == {"directed", "undirected"}
    dropping = (PROJECTION, HUBS, SHAPED, "following")  # and their variants
    for row in rows:
        assert (row.threshold is not None) == row.mechanism.startswith(dropping)
    assert all((row.tau is None) == (row.statistic == "edges") for row in rows)
    for name in ("results.csv", "results.parquet"):
        assert read_rows(tmp_path / name) == rows


def test_the_report_holds_figures_and_tables_and_needs_nothing_else(
    finished: Finished, tmp_path: Path
) -> None:
    rows = finished.copied(tmp_path)
    names = {path.name for path in write_report(tmp_path, rows)}
    assert {"report.md", "report.html", "error-against-time.svg"} <= names
    page = (tmp_path / "report.html").read_text()
    assert page.count("<svg xmlns=") == 2
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page
    some = next(row for row in rows if row.mechanism == AUTO)
    assert f"{some.error:.3g} ± {some.standard_error:.1g}" in (tmp_path / "report.md").read_text()


def test_releases_can_begin_later_and_hold_what_came_before(data: Path) -> None:
    whole, late = (
        DatasetVersion.of(Agenda.of(small_wish(Path(f"{data}{since}"))).datasets[0], directed=False)
        for since in ("", "@2008")
    )
    assert (whole.sequence.steps, late.sequence.steps) == (12, 4)
    assert late.sequence.node_offsets[1] == whole.sequence.node_offsets[9]


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (ReproduceRequest(("synthetic-11",)), "Did you mean 'synthetic-1'"),
        (ReproduceRequest(("synthetic-1",), ("edge",)), "Did you mean 'edges'"),
        (
            ReproduceRequest(("synthetic-1",), ("triangles",), directed=True),
            "undirected graphs only",
        ),
        (ReproduceRequest(("synthetic-1",), releases=(21,)), "21 cannot be made of 20 steps"),
        (ReproduceRequest(("synthetic-1",), releases=(11,)), "Possible instead: 10, 20"),
        (ReproduceRequest(()), "name at least one"),
    ],
)
def test_bad_wishes_are_refused_before_anything_is_counted(
    wish: ReproduceRequest, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_module, "true_values", lambda *_: pytest.fail("counted"))
    with pytest.raises(ParameterError, match=message):
        Agenda.of(wish)


def test_a_number_of_releases_means_nothing_to_the_figure_of_epsilon() -> None:
    with pytest.raises(ParameterError, match="has no meaning"):
        ReproduceRequest(("synthetic-1",), figures=("epsilon",), releases=(5,))


def test_two_datasets_of_one_name_are_refused(data: Path, tmp_path: Path) -> None:
    other = write_pair(tmp_path / "small")
    with pytest.raises(ParameterError, match="two are called 'small'"):
        Agenda.of(ReproduceRequest((str(data), str(other))))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """The paper's statistics on its first model, large enough to be sure of orderings."""
    protocol = Protocol(runs=150, seed=1, epsilons=("0.5", "5"))
    wish = ReproduceRequest(("synthetic-1",), protocol=protocol)
    return reproduce(Agenda.of(wish), tmp_path_factory.mktemp("models"), 1)


def deviations(point: Point, worse: str, better: str, absolute: bool = False) -> float:
    """How many standard errors of the difference lie between two mechanisms."""
    one, two = point.rows[worse], point.rows[better]
    if absolute:
        part = (one.standard_error / one.error) ** 2 + (two.standard_error / two.error) ** 2
        return (one.absolute_error / two.absolute_error - 1) / float(part**0.5)
    apart = (one.standard_error**2 + two.standard_error**2) ** 0.5
    return float((one.error - two.error) / apart)


def test_sensdiff_is_below_both_baselines_with_a_release_every_step(models: list[Row]) -> None:
    for place, panel in points(models, "epsilon").items():
        for point in panel:
            assert deviations(point, COMPOSE, SENSDIFF) > 3, place
            assert deviations(point, COMPOSE, PROJECTION) > 3, place
        assert deviations(panel[-1], PROJECTION, SENSDIFF) > 3, place


def test_its_error_grows_more_slowly_with_the_number_of_releases(models: list[Row]) -> None:
    for place, panel in points(models, "time").items():
        ours, composed, projected = (
            growth(panel, name) or 0.0 for name in (SENSDIFF, COMPOSE, PROJECTION)
        )
        assert 0 < ours < min(composed, projected) - 0.2, place
        gaps = [point.ratio(COMPOSE) for point in panel]
        assert gaps[-1] > 1.5 * gaps[0], place


def test_composition_is_not_worse_with_two_releases_of_a_high_degree_count(
    models: list[Row],
) -> None:
    for version in ("directed", "undirected"):
        panel = points(models, "time")["synthetic-1", version, "high-degree"]
        assert panel[0].releases == 2
        assert panel[0].rows[AUTO].noise == "moves"  # which is better still
        assert deviations(panel[0], COMPOSE, SENSDIFF) < 0


def test_the_planners_choice_has_the_smaller_absolute_error(models: list[Row]) -> None:
    gaps = [
        deviations(point, SENSDIFF, AUTO, absolute=True)
        for panel in points(models, "epsilon").values()
        for point in panel
    ]
    assert sum(gaps) / len(gaps) ** 0.5 > 3


def row(mechanism: str, error: float, standard_error: float = 0.1, epsilon: float = 1) -> Row:
    return Row(
        "d", "directed", "edges", "edges", "epsilon", mechanism, epsilon, 4, 1, 9, 0, error,
        standard_error, error, 0, 4, "5", None, 5, "sensdiff", None, None, 0.5, 1,
    )  # fmt: skip


def test_verdicts_tell_yes_level_and_no() -> None:
    def panel(*pairs: tuple[float, float]) -> list[Point]:
        return points(
            [
                made
                for epsilon, (one, two) in enumerate(pairs, 1)
                for made in (
                    row(SENSDIFF, one, epsilon=epsilon),
                    row(COMPOSE, two, epsilon=epsilon),
                )
            ],
            "epsilon",
        )["d", "directed", "edges"]

    assert verdict(panel((1, 2), (1, 3)), COMPOSE, "epsilon") == "yes"
    assert verdict(panel((1, 2), (1, 1.2)), COMPOSE, "epsilon") == "nearly: level at ε = 2"
    assert verdict(panel((3, 2), (1, 2)), COMPOSE, "epsilon") == "no: above at ε = 1"
    assert verdict(panel((3, 2)), COMPOSE, "epsilon") == "no, above everywhere"
    assert verdict(panel((3, 2)), PROJECTION, "epsilon") == "–"
    assert worst(panel((1, 2), (3, 2)), "epsilon") == "not at ε = 2"
    assert useful_from(panel((5, 5), (3, 5), (2, 5)), SENSDIFF) == 2
    assert useful_from(panel((1, 5), (5, 5)), SENSDIFF) is None
