"""Files outside a study that commands read: damaged in any way, they are read or refused in words.

What a study consists of is damaged in `tests/study/test_hostile_inputs.py`, and files of records
in `tests/records/test_reader_fuzz.py`; here is the rest: data of experiments, results of earlier
runs, a page to fill in, and what the machine remembers of studies.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree

import polars as pl
import pytest

from commands import Finished, graphveil
from damage import damaged_bytes, forged
from experiment_data import write_pair
from fault_runs import let_memory_move
from format_examples import HIVTRACE
from graphveil.study.machine import VARIABLE
from steward import opened, people, run

REFUSALS = {2, 3, 4, 5, 7, 8, 9, 10, 11}
MANY = int(os.environ.get("GRAPHVEIL_CASES", "1000"))
SNIPPETS = [
    b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n\n", b",", b'"', b"'", b"9" * 25, b"-1",
    b"1.5", b"NaN", b"year", b"2020-02-30", b"\xed\xa0\x80", b"PAR1", b"\x1f\x8b",
    b"<!-- table x -->", b"<!-- end -->",
]  # fmt: skip


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Bytes, words or values of a file are others; JSON may also stay JSON."""
    kind = chance.random()
    if content.lstrip().startswith(b"{") and kind < 0.4:
        data = json.loads(content)
        forged(data, chance)
        return json.dumps(data).encode()
    if kind < 0.7:
        at, length = chance.randrange(len(content) + 1), chance.choice([0, 1, 4, 30])
        return content[:at] + chance.choice(SNIPPETS) + content[at + length :]
    return damaged_bytes(content, chance)[1]


def damage_one(folder: Path, chance: random.Random) -> str:
    """Damage one of the files in a folder, or remove it, or put a folder in its place."""
    path = chance.choice(sorted(each for each in folder.rglob("*") if each.is_file()))
    content, kind = path.read_bytes(), chance.random()
    path.unlink()
    if kind < 0.03:
        path.mkdir()
    elif kind > 0.06:
        path.write_bytes(damaged(content, chance))
    return str(path.relative_to(folder))


def require_words(ended: Finished, what: str) -> None:
    assert ended.code in REFUSALS | {0}, f"{what}: {ended}"
    assert "Traceback" not in ended.err
    longest = max((len(line) for line in ended.err.splitlines()), default=0)
    assert longest < 1000, f"{what}: {ended.err}"


def made_native(folder: Path) -> tuple[str, ...]:
    return "count", "edges", str(folder / "nodes.csv"), str(folder / "edges.csv")


def made_experiment(folder: Path) -> tuple[str, ...]:
    return "datasets", str(folder)


def made_patents(folder: Path) -> tuple[str, ...]:
    rows = "".join(f"{n},{1985 + n % 9},22\n" for n in range(24))
    (folder / "apat63_99.txt").write_text('"PATENT","GYEAR","SUBCAT"\n' + rows)
    pairs = "".join(f"{n},{n - 1}\n" for n in range(1, 40))
    (folder / "cite75_99.txt").write_text('"CITING","CITED"\n' + pairs)
    return "datasets", f"patents:{folder}"


def made_citations(folder: Path) -> tuple[str, ...]:
    rows = "".join(f"p{n},{1990 + n % 9}\n" for n in range(30))
    (folder / "papers.csv").write_text("paper,year\n" + rows)
    signs = "".join(f"p{n},p{n - 1},{n % 3 - 1}\n" for n in range(1, 30))
    (folder / "citations.csv").write_text("source,target,sign\n" + signs)
    return "datasets", f"acl-signed:{folder}"


def made_hivtrace(folder: Path) -> tuple[str, ...]:
    (folder / "results.json").write_bytes(HIVTRACE.paths[0].read_bytes())
    return "datasets", f"hiv-trace:{folder / 'results.json'},diagnosis"


DATA: dict[str, Callable[[Path], tuple[str, ...]]] = {
    "count": made_native,
    "native": made_experiment,
    "patents": made_patents,
    "citations": made_citations,
    "hiv-trace": made_hivtrace,
}


def damaged_data(kind: str, place: Path, numbers: range) -> Counter[int]:
    """A command on data of which one file is damaged."""
    tally: Counter[int] = Counter()
    for number in numbers:
        rmtree(place, ignore_errors=True)
        write_pair(place) if kind in ("count", "native") else place.mkdir()
        command = DATA[kind](place)
        done = damage_one(place, random.Random(number))
        ended = graphveil(*command)
        require_words(ended, f"{kind}, case {number}, {done}")
        tally[ended.code] += 1
    return tally


@pytest.fixture(autouse=True)
def quick_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """`datasets` also draws two models each time, which says nothing here."""
    monkeypatch.setattr("graphveil.cli.commands.experiments.DRAWN", ())


@pytest.mark.parametrize("kind", DATA)
def test_damaged_data_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    tally = damaged_data(kind, tmp_path / "data", range(9))
    assert sum(code != 0 for code in tally.elements()) > 1, tally


@pytest.mark.slow
@pytest.mark.parametrize("kind", DATA)
def test_much_damaged_data_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    print(kind, damaged_data(kind, tmp_path / "data", range(1_000_000, 1_000_000 + MANY)))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, results of an earlier run, and a page."""
    folder = tmp_path_factory.mktemp("results")
    data = write_pair(folder / "data")
    (folder / "page.md").write_text("Settings: <!-- table settings -->\n\n<!-- end -->\n")
    run(*reproduction(data, folder / "out"))
    return folder


def reproduction(data: Path, out: Path) -> tuple[str, ...]:
    return (
        "reproduce", "--out", str(out), "--dataset", str(data), "--statistic", "edges",
        "--version", "undirected", "--figure", "epsilon", "--runs", "2", "--workers", "1",
    )  # fmt: skip


def damaged_results(results: Path, place: Path, numbers: range) -> Counter[int]:
    """A run that goes on from damaged results, with a damaged page."""
    tally: Counter[int] = Counter()
    for number in numbers:
        rmtree(place, ignore_errors=True)
        copytree(results / "out" / "cells", place / "out" / "cells")
        copytree(results / "data", place / "data")
        page, chance = place / "page.md", random.Random(number)
        page.write_bytes((results / "page.md").read_bytes())
        done = damage_one(place / "out" / "cells", chance)
        if number % 2:
            page.write_bytes(damaged(page.read_bytes(), chance))
        ended = graphveil(*reproduction(place / "data", place / "out"), "--page", str(page))
        require_words(ended, f"case {number}, {done}")
        tally[ended.code] += 1
    return tally


def test_damaged_results_are_computed_again(results: Path, tmp_path: Path) -> None:
    tally = damaged_results(results, tmp_path / "copy", range(5))
    assert tally[0] > 1, tally


@pytest.mark.slow
def test_many_damaged_results_are_computed_again(results: Path, tmp_path: Path) -> None:
    print(damaged_results(results, tmp_path / "copy", range(1_000_000, 1_000_000 + MANY // 10)))


def test_a_page_that_is_no_text_is_refused_before_anything_is_computed(tmp_path: Path) -> None:
    page, data = tmp_path / "page.md", write_pair(tmp_path / "data")
    page.write_bytes(b"caf\xe9")
    ended = graphveil(*reproduction(data, tmp_path / "out"), "--page", str(page))
    assert (ended.code, "page: cannot be read as UTF-8 text" in ended.err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_results_of_another_cell_are_not_taken_for_these(results: Path, tmp_path: Path) -> None:
    """Nor are those with other columns."""
    copytree(results, tmp_path / "copy")
    out, data = tmp_path / "copy" / "out", tmp_path / "copy" / "data"
    before = (out / "results.csv").read_bytes()
    first, second, third, *_ = sorted((out / "cells").iterdir())
    first.write_bytes(second.read_bytes())
    pl.read_parquet(third).with_columns(runs=pl.lit("2")).write_parquet(third)
    run(*reproduction(data, out))
    assert (out / "results.csv").read_bytes() == before


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",), ("verify",), ("publish", "--no-report"), ("add", "NODES", "EDGES"), ("hand-over",),
    ("hand-over", "--to", "0123456789abcdef"), ("adopt", "--reason", "x"),
    ("series", "--open", "nodes", "--epsilon", "1/8"),
)  # fmt: skip


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a step that is published, and the machine that remembers it."""
    folder = tmp_path_factory.mktemp("remembered")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "machine"))
        root = opened(folder / "study")
        run("publish", root, "--no-report")
        run("hand-over")
    let_memory_move(folder / "machine")  # else nothing would go on from any copy
    people(folder / "files")
    return folder


def damaged_memories(remembered: Path, place: Path, numbers: range) -> Counter[int]:
    """Commands where the machine remembers nonsense."""
    tally: Counter[int] = Counter()
    for number in numbers:
        rmtree(place, ignore_errors=True)
        copytree(remembered, place)
        done = damage_one(place / "machine", random.Random(number))
        command, *more = COMMANDS[number % len(COMMANDS)]
        files = {"NODES": place / "files" / "nodes.csv", "EDGES": place / "files" / "edges.csv"}
        given = [str(files.get(each, each)) for each in more]
        ended = graphveil(command, str(place / "study"), *given)
        require_words(ended, f"case {number}, {command}, {done}")
        tally[ended.code] += 1
    return tally


def test_a_damaged_memory_is_told(
    remembered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "copy" / "machine"))
    tally = damaged_memories(remembered, tmp_path / "copy", range(2 * len(COMMANDS)))
    assert sum(code != 0 for code in tally.elements()) > 4, tally


NOT_REMEMBERED = [
    b"", b"\xff", b"[" * 100_000, b"null", b'{"lineages": []}', b'{"lineages": {"a": [[1, "b"]]}}',
    b'{"lineages": {"a": [[1e999, "b"], [1, "b"]]}}', b'{"lineages": {"a": [[-1, "b"], [1, "b"]]}}',
    b'{"lineages": {"a": [[99999999999999999999, "b"], [1, "b"]]}}',
]  # fmt: skip


@pytest.mark.parametrize("content", NOT_REMEMBERED, ids=range(len(NOT_REMEMBERED)))
def test_what_cannot_be_remembered_is_not_taken_for_nothing(
    remembered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """A file that is there and says nothing is no reason to go on."""
    copytree(remembered, tmp_path / "copy")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "copy" / "machine"))
    (seen,) = (tmp_path / "copy" / "machine").rglob("seen.json")
    seen.write_bytes(content)
    ended = graphveil("publish", str(tmp_path / "copy" / "study"), "--no-report")
    assert (ended.code, "cannot be read" in ended.err) == (10, True), ended


@pytest.mark.slow
def test_many_damaged_memories_are_told(
    remembered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "copy" / "machine"))
    print(damaged_memories(remembered, tmp_path / "copy", range(1_000_000, 1_000_000 + MANY)))
