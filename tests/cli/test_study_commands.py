"""The steward's commands on a small study, from the first record to the last check."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from commands import graphveil
from steward import NODES, contents, drafted, opened, people, run, run_json


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of which two steps are published, with its report; tests only look at it."""
    root = opened(tmp_path_factory.mktemp("published") / "study")
    run("publish", root, "--through", "2002")
    return root


# --- plan -------------------------------------------------------------------------------------


def test_plan_of_a_study_spends_nothing_and_warns(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study")
    before = contents(root)
    finished = run("plan", root, "--expected", "edges=10", "--expected", "degrees=1000000")
    assert "Nothing is spent" in finished.out
    assert "Warning, edges: The noise will drown the signal" in finished.err
    assert "Warning, degrees" not in finished.err
    found = run_json("plan", root)
    edges = found["series"][0]
    assert (edges["epsilon"], edges["horizon"], edges["from"]) == ("0.25", 4, "2001")
    assert edges["mean_std"] == pytest.approx(sum(edges["std"]) / 4)
    assert all(edges["mean_std"] <= 1.001 * other["mean_std"] for other in edges["others"])
    assert contents(root) == before


def test_a_folder_without_a_study_does_not_hide_a_statistic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graphveil.cli.commands.plan import is_study

    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges").mkdir()
    assert not is_study("edges")
    drafted(tmp_path / "edges")
    assert is_study("edges")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--epsilon", "1"), "takes only --expected and"),
        (("--oriented",), "takes only --expected and"),
        (("--expected", "5"), "not of the form SERIES=N"),
        (("--expected", "nodes=5"), "Series: edges, degrees"),
    ],
)
def test_options_of_statistics_do_not_plan_a_study(
    published: Path, more: tuple[str, ...], message: str
) -> None:
    finished = graphveil("plan", str(published), *more)
    assert finished.code == 2
    assert message in finished.err


# --- add --------------------------------------------------------------------------------------


def test_a_dry_run_tells_and_changes_nothing(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study")
    before = contents(root)
    finished = run("add", root, *people(tmp_path / "files"), "--dry-run")
    assert finished.err.startswith("PRIVATE")
    assert "8 nodes added" in finished.err
    assert finished.out == "A dry run: nothing was changed.\n"
    assert contents(root) == before


def test_adding_opens_the_study_and_keeps_a_batch(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study")
    found = run_json("add", root, *people(tmp_path / "files"))
    assert (found["batch"], found["nodes_added"], found["edges_added"]) == (1, 8, 6)
    assert found["private"].startswith("PRIVATE")
    assert [each["format"] for each in found["files"]] == ["pair", "pair"]
    status = run_json("status", root)
    assert (status["state"], status["private"]["batches_waiting"]) == ("open", 1)


def test_vanished_and_redated_records_are_told_and_listed(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    newer = people(tmp_path / "newer", NODES.replace("P7,2004\n", "").replace("P5,2003", "P5,2004"))
    listed = tmp_path / "look.csv"
    finished = run("add", root, *newer, "--complete", "--list", listed)
    assert "1 known node no longer listed" in finished.err
    assert "1 known node with another step" in finished.err
    rows = list(csv.DictReader(io.StringIO(listed.read_text())))
    assert {(row["finding"], row["node"]) for row in rows} == {
        ("no longer listed", "P7"), ("re-dated", "P5"),
    }  # fmt: skip
    assert listed.stat().st_mode & 0o777 == 0o600


def test_the_latest_batch_can_be_taken_back(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    assert "Batch 1 was withdrawn" in run("add", root, "--withdraw", "1").out
    assert run_json("status", root)["private"]["batches_waiting"] == 0
    finished = graphveil("add", str(root), "--withdraw", "1")
    assert (finished.code, "no batch" in finished.err) == (7, True)


def test_other_formats_and_options_reach_the_readers(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study")
    text = "ID,Diagnosed\nann,7/8/2001\nben,1/2/2002\n"
    (tmp_path / "who.csv").write_text(text)
    (tmp_path / "links.csv").write_text("source,target\nann,ben\n")
    files = (tmp_path / "who.csv", tmp_path / "links.csv")
    found = run_json(
        "add", root, *files, "--format", "microbetrace", "--time", "Diagnosed", "--month-first"
    )
    assert (found["nodes_added"], found["files"][0]["format"]) == (2, "microbetrace")
    again = run("add", root, *files, "--format", "microbetrace", "--dry-run").err
    assert "dated by the column 'Diagnosed'" in again  # as before
    otherwise = ("add", root, *files, "--format", "microbetrace", "--day-first", "--dry-run")
    refused = graphveil(*map(str, otherwise))
    assert (refused.code, refused.out) == (2, "")
    assert "--change-reading" in refused.err
    said = run(*otherwise, "--change-reading", "--time", "Diagnosed").err
    assert "7/8/2021 is 7 August" in said


# --- publish ----------------------------------------------------------------------------------


def test_publish_goes_step_by_step_and_shows_public_numbers(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    first = run("publish", root, "--no-report").out
    assert "Published: 2001" in first
    assert "degrees, degree 4" in first
    found = run_json("publish", root, "--no-report")
    assert found["sealed"] == ["2002"]
    assert {row["label"] for row in found["releases"]} == {"2002"}
    assert not (root / "public" / "report.html").exists()
    assert "report.html" not in first


def test_publishing_a_step_again_writes_the_same_bytes(published: Path) -> None:
    before = contents(published)
    for label in ("2002", "2001"):
        assert "with the same numbers" in run("publish", published, "--step", label).out
    assert contents(published) == before


def test_an_interrupted_report_is_finished_and_nothing_more_is_sealed(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    run("publish", root, "--no-report")
    assert not run_json("status", root)["public_part_is_current"]
    finished = run("publish", root).out
    assert "What an earlier run had sealed" in finished
    assert (root / "public" / "report.html").exists()
    status = run_json("status", root)
    assert (status["steps_sealed"], status["public_part_is_current"]) == (1, True)


def test_an_interrupted_announcement_is_finished(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    ledger = root / "public" / "ledger.jsonl"
    before = ledger.read_bytes()
    run("publish", root, "--no-report")
    after = ledger.read_bytes()
    ledger.write_bytes(before)
    found = run_json("publish", root, "--no-report")
    assert (found["sealed"], found["finished_an_earlier_run"]) == ([], True)
    assert ledger.read_bytes() == after


def test_all_seals_every_step_that_has_ended(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    assert "4 steps were sealed, 2001 to 2004" in run("publish", root, "--all", "--no-report").out
    assert run_json("publish", root, "--all", "--no-report")["sealed"] == []
    finished = graphveil("publish", str(root), "--no-report")
    assert finished.code == 7
    assert "every step of the calendar" in finished.err


def test_a_broken_bound_is_for_the_operator_alone(tmp_path: Path) -> None:
    """Somebody's fifth link comes with P5 in 2003: no step is published, not even those before."""
    root = drafted(tmp_path / "study", "--if-broken", "refuse")
    star = "source,target\n" + "".join(f"P0,P{number}\n" for number in range(1, 6))
    said = run("add", root, *people(tmp_path / "files", edges=star)).err
    assert "more links than the study promises" in said
    refused = graphveil("publish", str(root), "--all")
    assert refused.code == 4
    assert "2003 cannot be sealed" in refused.err
    assert "P0" not in refused.err
    status = run_json("status", root)
    assert (status["steps_sealed"], status["public_part_is_current"]) == (0, True)
    public, batches = contents(root / "public"), contents(root / "private" / "batches")
    assert graphveil("publish", str(root), "--through", "2003").code == 4
    assert contents(root / "public") == public
    assert contents(root / "private" / "batches") == batches


# --- status, releases, series, report, verify -------------------------------------------------


def test_status_says_what_is_due_and_left(published: Path) -> None:
    found = run_json("status", published)
    assert (found["steps_sealed"], found["last_sealed"], found["next_step"]) == (2, "2002", "2003")
    assert found["steps_due"] == 2
    assert found["budget"]["epsilon_left"] == "0.5"
    assert [each["releases"] for each in found["series"]] == [2, 2]
    said = run("status", published).out
    assert "2 have ended and are due" in said
    assert "ε = 1, of which 0.5 is left" in said
    assert found["report"] in said


def test_releases_in_every_form(published: Path, tmp_path: Path) -> None:
    import polars as pl

    rows = list(csv.DictReader(io.StringIO(run("releases", published, "--csv").out)))
    data = run_json("releases", published)
    assert len(rows) == len(data) == 2 * (1 + 5)
    assert [row["raw"] for row in rows] == [str(row["raw"]) for row in data]
    run("releases", published, "--parquet", tmp_path / "r.parquet")
    assert pl.read_parquet(tmp_path / "r.parquet")["raw"].to_list() == [row["raw"] for row in data]
    table = run("releases", published, "--series", "edges").out
    assert "true, 95% sure" in table
    assert "degrees" not in table
    assert (published / "public" / "releases.csv").read_text() == run(
        "releases", published, "--csv"
    ).out


def test_releases_of_a_public_part_alone(published: Path, tmp_path: Path) -> None:
    alone = tmp_path / "downloaded"
    shutil.copytree(published / "public", alone)
    assert run_json("releases", alone) == run_json("releases", published)
    assert run_json("verify", alone)["verified"]
    before = contents(alone)
    assert len(run_json("report", alone)) == 12
    assert contents(alone) == before


def test_series_are_listed(published: Path) -> None:
    found = run_json("series", published)
    assert [each["name"] for each in found["series"]] == ["edges", "degrees"]
    assert "of which 0.5 is left" in run("series", published).out


def test_a_series_is_opened_from_the_next_step_on(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    run("publish", root, "--through", "2002", "--no-report")
    before = contents(root)
    wish = ("--open", "high-degree", "--tau", "2", "--epsilon", "1/4", "--name", "hubs")
    assert "Nothing is spent" in run("series", root, *wish, "--dry-run").out
    assert contents(root) == before
    found = run_json("series", root, *wish)
    assert (found["from"], found["horizon"], found["opened"]) == ("2003", 2, True)
    assert run_json("status", root)["public_part_is_current"]
    run("publish", root, "--no-report")
    made = [row for row in run_json("releases", root) if row["series"] == "hubs"]
    assert [row["label"] for row in made] == ["2003"]


def test_a_series_can_be_written_on_one_line(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    found = run_json("series", root, "--open", "stars:k=2@1/8=v", "--dry-run")
    assert (found["series"], found["epsilon"], found["opened"]) == ("v", "0.125", False)


def test_the_report_is_written_again(published: Path) -> None:
    before = contents(published)
    written = run("report", published).out.split()
    assert Path(written[-1]).name == "report.html"
    assert contents(published) == before


def test_everything_is_verified(published: Path) -> None:
    assert "All checks passed." in run("verify", published).out
    names = [each["name"] for each in run_json("verify", published)["checks"]]
    assert {"the budget", "the public files"} <= set(names)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("ledger.jsonl", b'"label":"2002"', b'"label":"2020"', "row 6"),
        ("releases.csv", b"edges,edges,1,2002", b"edges,edges,1,2003", "releases.csv, row 3"),
        ("card.json", b"made-up people", b"real people", "card.json is not what"),
        ("report.html", b"made-up people", b"real people", "report.html is not what"),
    ],
)
def test_what_was_tampered_with_is_named(
    published: Path, tmp_path: Path, name: str, old: bytes, new: bytes, message: str
) -> None:
    copy = tmp_path / "study"
    shutil.copytree(published, copy)
    path = copy / "public" / name
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new))
    finished = graphveil("verify", str(copy))
    assert finished.code == 9, finished.err
    assert message in finished.err
    assert "All checks passed" not in finished.out
    failed = graphveil("verify", str(copy), "--json")
    assert (failed.code, json.loads(failed.out)["verified"]) == (9, False)


def test_a_missing_artefact_is_named(published: Path, tmp_path: Path) -> None:
    copy = tmp_path / "study"
    shutil.copytree(published, copy)
    (copy / "public" / "charts" / "edges.svg").unlink()
    finished = graphveil("verify", str(copy))
    assert finished.code == 9
    assert "charts/edges.svg is missing" in finished.err


def test_a_draft_verifies(tmp_path: Path) -> None:
    assert run_json("verify", drafted(tmp_path / "study"))["verified"]
