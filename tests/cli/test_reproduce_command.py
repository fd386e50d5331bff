"""`graphveil reproduce` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import graphveil
from experiment_data import write_pair

SHORT = ("--statistic", "edges", "--runs", "5", "--workers", "1")


def test_one_command_writes_results_figures_and_pages(tmp_path: Path) -> None:
    data, out = write_pair(tmp_path / "mine"), tmp_path / "out"
    finished = graphveil("reproduce", "--dataset", str(data), "--out", str(out), *SHORT)
    assert finished.code == 0, finished.err
    assert finished.err == ""  # no progress bar where there is no terminal
    assert "Errors as ratios to SensDiff" in finished.out
    names = {path.name for path in out.iterdir()}
    for stem, endings in (("results", "parquet csv"), ("report", "md html")):
        assert {f"{stem}.{ending}" for ending in endings.split()} <= names
    for figure in ("epsilon", "time"):
        assert f"error-against-{figure}.svg" in names


def test_a_page_is_filled_in(tmp_path: Path) -> None:
    data, page = write_pair(tmp_path / "mine"), tmp_path / "page.md"
    page.write_text("Of <!-- value runs -->?<!-- end --> runs:\n<!-- table gains --><!-- end -->\n")
    finished = graphveil(
        "reproduce", "--dataset", str(data), "--figure", "epsilon", "--out",
        str(tmp_path / "out"), "--page", str(page), *SHORT,
    )  # fmt: skip
    assert finished.code == 0, finished.err
    assert "<!-- value runs -->5<!-- end -->" in page.read_text()
    assert "| mine | directed | edges |" in page.read_text()
    assert (tmp_path / "data" / "findings.csv").exists()
    assert (tmp_path / "images" / "experiments" / "error-against-epsilon.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dataset", "synthetic-3"), "Did you mean 'synthetic-"),
        (("--statistic", "high-degrees"), "Did you mean 'high-degree'"),
        (("--statistic", "triangles", "--version", "directed"), "undirected graphs only"),
        (("--releases", "99"), "99 cannot be made of 20 steps"),
        (("--figure", "epsilon", "--releases", "5"), "has no meaning for the figure of ε"),
        (("--runs", "1"), "runs: must be a whole number of at least 2"),
        (("--workers", "0"), "workers: must be at least 1"),
        (("--page", "nowhere.md"), "page: there is no such file"),
        (("--dataset", "synthetic-1@1990-05"), "are not written like '1990-05'"),
    ],
)
def test_refusals_come_at_once_and_say_what_to_do(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    finished = graphveil("reproduce", "--out", str(tmp_path / "out"), *arguments)
    assert finished.code == 2, finished.err
    assert message in finished.err
    assert not (tmp_path / "out" / "cells").exists()


def test_a_file_cannot_be_the_folder_of_results(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    finished = graphveil("reproduce", "--out", str(tmp_path / "taken"))
    assert finished.code == 2
    assert "out: cannot be a folder" in finished.err
