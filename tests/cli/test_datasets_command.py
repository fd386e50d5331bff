"""`graphveil datasets` and `graphveil generate`, as a researcher types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from commands import ROOT, graphveil
from graphveil.lab.dataset_files import PAPER
from graphveil.lab.datasets import names

CLINIC = "examples/clinic"


def test_the_list_names_everything_and_says_what_is_missing() -> None:
    finished = graphveil("datasets")
    assert finished.code == 0
    assert finished.err == ""
    for name in names():
        assert f"\n  {name} " in finished.out
    assert "decay=1.0" in finished.out
    assert "not bundled" in finished.out
    assert "private" in finished.out
    for figures in PAPER.values():
        assert f"{figures.nodes:,}" in finished.out


def test_a_path_gets_a_line_of_its_own_and_a_warning() -> None:
    finished = graphveil("datasets", CLINIC)
    assert finished.code == 0
    assert "20 (2005–2024)" in finished.out
    assert finished.err.startswith("PRIVATE: exact counts")


def test_json_has_the_agreed_fields() -> None:
    found = json.loads(graphveil("datasets", CLINIC, "--seed", "3", "--json").out)
    assert [each["name"] for each in found["datasets"]] == names()
    assert found["paper"]["patents"]["edges"] == 475427
    measured = {each["name"]: each for each in found["measured"]}
    assert list(measured) == ["synthetic-1", "synthetic-2", "clinic"]
    assert measured["clinic"]["nodes"] == 1200
    assert measured["clinic"]["counterpart"] is None
    assert measured["synthetic-1"]["counterpart"] == "synthetic-1"
    assert measured["synthetic-1"]["source"].startswith("drawn with seed 3: ")
    assert found["private"].startswith("PRIVATE")


def test_an_unknown_name_offers_the_nearest_and_ends_with_two() -> None:
    finished = graphveil("datasets", "synthetik-1")
    assert finished.code == 2
    assert "Did you mean 'synthetic-1'?" in finished.err
    assert finished.out == ""


def test_a_missing_file_ends_with_three() -> None:
    finished = graphveil("datasets", "patents")
    assert finished.code == 3
    assert "cite75_99.txt" in finished.err


def test_generate_writes_a_pair_that_datasets_reads(tmp_path: Path) -> None:
    folder = tmp_path / "drawn"
    finished = graphveil("generate", "synthetic-1", str(folder), "--seed", "0")
    assert finished.code == 0
    assert "1,900 nodes and 698 edges" in finished.out
    assert (folder / "nodes.csv").read_text().startswith("node,time\n0,0\n")
    assert (folder / "edges.csv").read_text().startswith("source,target\n")
    found = json.loads(graphveil("datasets", str(folder), "--json").out)["measured"][-1]
    assert (found["name"], found["nodes"], found["edges"]) == ("drawn", 1900, 698)


def test_generate_repeats_itself(tmp_path: Path) -> None:
    texts = []
    for name, seed in (("a", "4"), ("b", "4"), ("c", "5")):
        assert graphveil("generate", "synthetic-2", str(tmp_path / name), "--seed", seed).code == 0
        texts.append((tmp_path / name / "edges.csv").read_text())
    assert texts[0] == texts[1] != texts[2]


def test_generate_takes_parameters(tmp_path: Path) -> None:
    name = "synthetic-1:m0=2,yearly=3,years=4,isolated=0"
    finished = graphveil("generate", name, str(tmp_path / "small"), "--seed", "1")
    assert finished.out.startswith("14 nodes and 12 edges")


def test_generate_does_not_overwrite(tmp_path: Path) -> None:
    kept = tmp_path / "nodes.csv"
    kept.write_text("mine")
    finished = graphveil("generate", "synthetic-1", str(tmp_path), "--seed", "1")
    assert finished.code == 3
    assert "not overwritten" in finished.err
    assert kept.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("synthetic-1", "there"), 2, "--seed"),
        (("synthetic1", "there", "--seed", "1"), 2, "Did you mean 'synthetic-1'?"),
        (("hiv-trace", "there", "--seed", "1"), 2, "not a model to draw from"),
        (("synthetic-1", "there", "--seed", "-1"), 2, "seed: must be a whole number"),
        (("synthetic-1:m0=0", "there", "--seed", "1"), 2, "m0: must be a whole number"),
    ],
)
def test_generate_refuses_before_anything_is_written(
    arguments: tuple[str, ...], code: int, message: str, tmp_path: Path
) -> None:
    places = [str(tmp_path / "there") if each == "there" else each for each in arguments]
    finished = graphveil("generate", *places)
    assert finished.code == code
    assert message in finished.err
    assert list(tmp_path.iterdir()) == []


def test_help_needs_no_heavy_library() -> None:
    heavy = "numba polars networkx pandas scipy"
    program = (
        "import sys; from graphveil.cli import program\n"
        "try: program()(['generate', '--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in '{heavy}'.split() if name in sys.modules])"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert finished.stdout.splitlines()[-1] == "[]"
