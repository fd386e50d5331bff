"""A researcher's own mechanism beside ours: found by name, checked, and treated like all others."""

from __future__ import annotations

import pickle
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from commands import ROOT, graphveil
from documents import blocks
from experiment_data import small_dataset, write_pair
from graphveil.backends import LocalEngine
from graphveil.errors import ParameterError
from graphveil.lab.experiments.comparison import POST, TIGHT, OwnContender, outcomes, own_contenders
from graphveil.lab.experiments.page import looks_of, tables
from graphveil.lab.experiments.protocol import Protocol
from graphveil.lab.experiments.results import Row, read_rows
from graphveil.lab.experiments.runs import Agenda, ReproduceRequest, reproduce
from graphveil.lab.experiments.subjects import DatasetVersion, RequestedStatistic, true_values
from graphveil.lab.experiments.trial import Trial

PAGE = ROOT / "docs" / "your-own-contender.md"
MODULE = """
import numpy as np
from graphveil.mechanisms.laplace import SensDiff

Same = SensDiff
instance = SensDiff()
number = 5

def same(trial):
    return trial.totals + trial.noise(trial.plan("sensdiff"))

def nothing(trial):
    return None

def undirected_only(trial):
    return None if trial.subject.directed else same(trial)

def transposed(trial):
    return same(trial).T

def missing(trial):
    return np.full((trial.runs, trial.releases), np.nan)

def words(trial):
    return [["many"] * trial.releases] * trial.runs

def broken(trial):
    raise ValueError("out of ideas " * 100)
"""


@pytest.fixture(scope="module", autouse=True)
def module(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Two modules that can be imported: one that works, one that does not."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "owned.py").write_text(MODULE)
    (folder / "owned_and_broken.py").write_text("import nowhere_to_be_found")
    sys.path.append(str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def trial() -> Trial:
    version = DatasetVersion.of(small_dataset(hubs=1), directed=False)
    subject = version.subject(RequestedStatistic("edges"))
    (truth,) = true_values(version, [subject], LocalEngine())
    return Trial(subject, truth, Fraction(1), 6, (1, 2))


@pytest.mark.parametrize("name", ["same", "Same", "instance"])
def test_what_is_the_same_as_ours_has_the_same_error(name: str, trial: Trial) -> None:
    ours = {each.mechanism: each for each in outcomes(trial)}
    raw, post = outcomes(trial, OwnContender.at(f"owned:{name}"))
    assert (raw.mechanism, post.mechanism) == (name, name + POST)
    assert (raw.error, post.error) == (ours[TIGHT].error, ours[TIGHT + POST].error)


def test_a_contender_may_pass(trial: Trial) -> None:
    assert outcomes(trial, OwnContender.at("owned:nothing")) == []


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("owned", "must be written as module:object"),
        (":same", "must be written as module:object"),
        ("owned:", "must be written as module:object"),
        ("nowhere:same", "there is no module 'nowhere'. Run the command where nowhere is"),
        ("owned.part:same", "there is no module 'owned.part'"),
        ("owned_and_broken:same", "cannot be imported: ModuleNotFoundError"),
        ("owned:sam", "'owned' has no 'sam'. Did you mean 'same'"),
        ("owned:number", "is neither a function nor a mechanism"),
        ("not a name:same", "there is no module|cannot be imported"),
    ],
)
def test_what_cannot_compete_is_refused_before_anything_is_computed(
    address: str, message: str
) -> None:
    with pytest.raises(ParameterError, match=message) as refusal:
        Agenda.of(ReproduceRequest(("synthetic-1",), contenders=(address,)))
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("transposed", r"array of shape \(6, 12\), not \(12, 6\)"),
        ("missing", "must return finite numbers"),
        ("words", "must return numbers"),
        ("broken", "failed on small, undirected, edges: ValueError: out of ideas"),
    ],
)
def test_what_it_does_wrong_is_told_as_its_own_fault(name: str, message: str, trial: Trial) -> None:
    with pytest.raises(ParameterError, match=message) as refusal:
        outcomes(trial, OwnContender.at(f"owned:{name}"))
    assert f"'owned:{name}'" in str(refusal.value)
    elsewhere = pickle.loads(pickle.dumps(refusal.value))  # as it comes from a worker
    assert (str(elsewhere), type(elsewhere)) == (str(refusal.value), ParameterError)
    assert len(str(refusal.value)) < 300


def test_a_name_that_is_taken_is_refused(module: Path) -> None:
    (module / "again.py").write_text("def auto(trial): ...\ndef same(trial): ...\n")
    with pytest.raises(ParameterError, match="another one called 'auto'"):
        own_contenders(("again:auto",))
    with pytest.raises(ParameterError, match="another one called 'same'"):
        own_contenders(("owned:same", "again:same"))
    assert len(own_contenders(("owned:same", "owned:same"))) == 1


def test_another_version_of_a_module_is_never_taken_for_the_first(module: Path) -> None:
    file = module / "changing.py"
    file.write_text("def mine(trial): return None\n")
    first = OwnContender.at("changing:mine")
    file.write_text("def mine(trial): return trial.totals\n")
    assert OwnContender.at("changing:mine") != first


def run(folder: Path, out: Path, *contenders: str, workers: int = 1) -> list[Row]:
    protocol = Protocol(runs=4, epsilons=("1", "5"))
    wish = ReproduceRequest((str(folder),), ("edges",), protocol=protocol, contenders=contenders)
    return reproduce(Agenda.of(wish), out, workers)


def test_others_are_neither_changed_nor_computed_again(tmp_path: Path) -> None:
    data = write_pair(tmp_path / "small", hubs=1)
    alone = run(data, tmp_path / "out")
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").iterdir()}
    together = run(data, tmp_path / "out", "owned:undirected_only", "owned:same")
    assert [row for row in together if row.mechanism not in OWN] == alone
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert {row.mechanism for row in together} - {row.mechanism for row in alone} == OWN
    assert {row.version for row in together if row.mechanism == "undirected_only"} == {"undirected"}
    assert set(looks_of(together)) - set(looks_of(alone)) == OWN
    assert {"undirected_only", "same"} < set(tables(together)["gains"].header)
    assert "–" in tables(together)["gains"].rows[0]
    assert read_rows(tmp_path / "out" / "results.csv") == together
    assert (
        run(data, tmp_path / "many", "owned:undirected_only", "owned:same", workers=2) == together
    )


OWN = {name + post for name in ("undirected_only", "same") for post in ("", POST)}


def test_the_documents_example_works_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("\n".join(blocks(PAGE, "python")))
    write_pair(tmp_path / "network")
    finished = graphveil(
        "reproduce", "--contender", "mine:rounded_laplace", "--contender", "mine:BlocksOfFour",
        "--dataset", "./network", "--figure", "epsilon", "--statistic", "edges", "--runs", "100",
        "--version", "undirected", "--workers", "1", "--out", "results", folder=tmp_path,
    )  # fmt: skip
    assert finished.code == 0, finished.err
    rows = read_rows(tmp_path / "results" / "results.csv")
    for epsilon in (0.1, 1.0):
        found = {row.mechanism: row for row in rows if row.epsilon == epsilon}
        assert 0.8 < found["rounded_laplace"].error / found["sensdiff"].error < 1.25
        assert found["BlocksOfFour"].noise == "blocks-of-four"
    assert "BlocksOfFour" in (tmp_path / "results" / "report.html").read_text()


def test_a_bad_contender_is_an_error_of_the_command(tmp_path: Path) -> None:
    out = tmp_path / "out"
    finished = graphveil("reproduce", "--contender", "owned:sam", "--out", str(out))
    assert finished.code == 2
    assert "contender: 'owned' has no 'sam'. Did you mean 'same'?" in finished.err
    assert not (out / "cells").exists()
