"""Every command that reads files reads all of them, and says what is still to be said."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import ROOT, graphveil
from format_examples import COMPACT, EXAMPLES, Example
from graphveil.errors import InputError
from graphveil.records import ReadingOptions
from graphveil.records.format import registered
from graphveil.steward.adding import add
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from steward import run, run_json
from studies import promise

LONGEST_MESSAGE = 300


def said(example: Example) -> list[str]:
    """The options of an example, as the shell takes them."""
    options, words = example.options, []
    for name in ("time", "time_from_id", "edge_time", "max_distance"):
        if getattr(options, name) is not None:
            words += [f"--{name.replace('_', '-')}", getattr(options, name)]
    words += [word for each in options.where for word in ("--where", each)]
    words += ["--month-first"] if options.day_first is False else []
    return words


def test_formats_are_listed_and_files_explained(tmp_path: Path) -> None:
    listed = run("formats").out
    assert all(name in listed for name in registered())
    assert [each["name"] for each in run_json("formats")] == list(registered())
    folder = ROOT / "examples" / "formats" / "microbetrace"
    files = [folder / "nodes.csv", folder / "links.csv"]
    found = run_json("formats", *files, "--month-first")
    assert found["refusal"].startswith("links.csv, column 'tn93': these are distances")
    assert found["command"].endswith("--month-first --time Collection_Date --max-distance 0.015")
    words = found["command"].split()[3:]
    told = run("formats", *words)
    assert told.err.startswith("PRIVATE")
    assert "They would be read:" in told.out
    (tmp_path / "odd.csv").write_text("vom,bis\n1,2\n")
    assert "not in a known format" in run("formats", tmp_path / "odd.csv").out


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_counting_reads_every_format(example: Example) -> None:
    more = ["--undated", "first", "--every", "year"]
    more += ["--directed"] if example.directed else []
    found = run_json("count", "nodes", *example.paths, *said(example), *more)
    assert found["totals"][-1] == len({row[0] for row in example.nodes})


def test_counting_takes_options_for_nodes_and_edges_as_before(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("node,time\na,2001\nb,\nc,2002\n")
    (tmp_path / "e.csv").write_text("source,target\na,b\na,c\n")
    words = ("count", "edges", "--nodes", tmp_path / "n.csv", "--edges", tmp_path / "e.csv")
    assert run_json(*words, "--undated", "first")["totals"] == [1, 2]
    assert run_json(*words, "--undated", "drop")["totals"] == [0, 1]
    assert graphveil(*map(str, words)).code != 0


def test_experiments_read_files_of_any_format(tmp_path: Path) -> None:
    rows = [f"case{n},{2001 + n % 8},{f'case{n // 2}' if n else ''}" for n in range(40)]
    (tmp_path / "cases.csv").write_text("\n".join(["case_id,onset,infected_by", *rows]))
    words = ["reproduce", "--dataset", tmp_path / "cases.csv", "--time", "onset", "--runs", "2"]
    words += ["--statistic", "edges", "--figure", "epsilon", "--out", tmp_path / "out"]
    words += ["--version", "undirected", "--workers", "1"]
    run(*words)
    assert (tmp_path / "out" / "results.csv").exists()


def test_a_count_of_people_who_are_not_listed_is_a_warning_to_series_of_people(
    tmp_path: Path,
) -> None:
    text = COMPACT.paths[0].read_text()
    for now, then in (("2019-", "2001-"), ("2020-", "2002-"), ("2021-", "2003-")):
        text = text.replace(now, then)
    (tmp_path / "results.json").write_text(text)
    root = tmp_path / "study"
    StoredStudy.create(root, promise())
    with pytest.raises(InputError, match="list"):
        add(root, [tmp_path / "results.json"], options=COMPACT.options)
    options = ReadingOptions(time=COMPACT.options.time, all_listed=True)
    lines = add(
        root, [tmp_path / "results.json"], options=options, how=AddOptions(dry_run=True)
    ).lines()
    assert any("7 people without links" in line and "WARNING" in line for line in lines)


@pytest.mark.parametrize(("node", "end"), [("001", "1"), ("1", "1.0"), ("12", "0012")])
def test_ids_that_differ_in_zeros_are_pointed_out(tmp_path: Path, node: str, end: str) -> None:
    root = tmp_path / "study"
    StoredStudy.create(root, promise())
    (tmp_path / "nodes.csv").write_text(f"node,time\n{node},2001\nb,2001\n")
    (tmp_path / "edges.csv").write_text(f"source,target\nb,{end}\n")
    with pytest.raises(InputError, match="Ids differ in zeros only") as told:
        add(root, [tmp_path / "nodes.csv", tmp_path / "edges.csv"], how=AddOptions(strict=True))
    assert len(str(told.value)) < LONGEST_MESSAGE
    (tmp_path / "edges.csv").write_text("source,target\nb,stranger\n")
    with pytest.raises(InputError, match="strict=False"):
        add(root, [tmp_path / "nodes.csv", tmp_path / "edges.csv"], how=AddOptions(strict=True))
