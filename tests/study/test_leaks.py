"""Canaries: odd ids and unmistakable counts, looked for wherever they must not be."""

from __future__ import annotations

import logging
import os
import re
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa

from commands import graphveil
from graphveil.errors import BoundError, GraphveilError
from graphveil.graph.intake.records import Records
from graphveil.graph.intake.resolving import resolve
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.records import from_rows
from graphveil.report.artefacts import write
from graphveil.study import StoredStudy, publishing
from graphveil.study.backends import AddOptions
from graphveil.study.records import batches, segments
from plain_rules import DEGREES, EDGES, numbered, totals

CANARY = "Kanarienvogel-xq"
NODES_STEP, EDGES_STEP = (3079, 3132), (7919, 7968)
COUNTS = (3079, 3132, 6211, 7919, 7968, 15887)
SERIES = [EDGES, DEGREES, EDGES | {"name": "nodes", "statistic": "nodes"}]
# A whole number by itself, also as people write it: 7919, 7,919 or 7 919, but not 0.7919 or a hash.
WRITTEN = "|".join(rf"{count // 1000}[,'\s\u202f]?{count % 1000:03}" for count in COUNTS)
NUMBERS = re.compile(rf"(?<![\w.,])(?:{WRITTEN})(?!\w|[.,]\d*[1-9])")


def ring(step: int) -> tuple[list[tuple[str, int]], list[tuple[str, str]]]:
    """A cluster with a chosen number of people and of links, six each at most."""
    size, links = NODES_STEP[step], EDGES_STEP[step]
    people = [f"{CANARY}-{step}-{number}" for number in range(size)]
    pairs = [(a, people[(n + gap) % size]) for gap in (1, 2, 3) for n, a in enumerate(people)]
    return [(person, step) for person in people], pairs[:links]


def canaries() -> Records:
    first, second = ring(0), ring(1)
    return from_rows(first[0] + second[0], first[1] + second[1])


def strangers(text: str) -> list[str]:
    """Canaries in a text."""
    found = [CANARY] if CANARY.lower() in text.lower() else []
    return found + NUMBERS.findall(text)


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that never cancels, so that a true count that is found anywhere is a leak."""
    draw = lambda self, law, count: [100_003 + 7 * place for place in range(count)]  # noqa: E731
    monkeypatch.setattr(ReleaseNoise, "draw", draw)


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """As in a pipeline that logs whatever there is to log."""
    for name in (None, "sqlalchemy", "sqlalchemy.engine", "sqlalchemy.engine.Engine", "polars"):
        caplog.set_level(logging.DEBUG, name)
    return caplog


def published(root: Path, database: str | None = None) -> StoredStudy:
    study = StoredStudy.create(root, numbered(series=SERIES), database=database)
    study.add(canaries())
    study.publish(1)
    return study


def files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def test_canaries_can_be_found() -> None:
    assert strangers(f"x {CANARY}-1") == [CANARY]
    for text in ("[7919]", "7,919 edges", '"raw":[15887]', "of 7919.", "7919.0"):
        assert len(strangers(text)) == 1, text
    for text in ("0.7919", "a7919f", "79190", "107,919", "7919.25"):
        assert strangers(text) == [], text


@pytest.mark.usefixtures("noise")
def test_the_canaries_are_counted(root: Path) -> None:
    study = published(root)
    assert totals(study, "edges") == [[7919], [15887]]
    assert totals(study, "nodes") == [[3079], [6211]]
    (first, *_) = sorted(study.folder.segments.glob("0000-nodes-*"))
    assert pl.read_parquet(first)["node"].str.starts_with(CANARY).all()


@pytest.mark.usefixtures("noise")
def test_no_public_file_holds_a_canary(root: Path) -> None:
    study = published(root)
    write(study.folder.public)
    found = files(study.folder.public)
    assert {"ledger.jsonl", "report.html", "card.json", "releases.csv"} < {
        path.name for path in found
    }
    for path in found:
        assert strangers(path.read_bytes().decode("latin-1")) == [], path.name
    for path in [root, *root.rglob("*")]:
        assert strangers(str(path.relative_to(root.parent))) == []
        assert os.listxattr(path) == []


def rows(study: StoredStudy) -> Iterator[str]:
    """Every value in the database, as text."""
    tables = sa.MetaData()
    with study.store.engine.connect() as connection:
        tables.reflect(connection)
        for table in tables.sorted_tables:
            yield from (str(tuple(row)) for row in connection.execute(sa.select(table)))


@pytest.mark.usefixtures("noise")
def test_ids_are_nowhere_but_in_batches_segments_and_what_is_kept(
    root: Path, database: str | None
) -> None:
    study = published(root, database)
    study.add(from_rows([(f"{CANARY}-late", 0)], [(f"{CANARY}-late", f"{CANARY}-0-1")]))
    study.withdraw(study.ledger().batches[-1].number)
    told = list(rows(study))
    assert any("7919" in row for row in told)  # true counts are there, and there only
    assert not any(CANARY in row for row in told)
    for path in files(root):
        if path.parent not in (study.folder.batches, study.folder.segments, study.folder.kept):
            assert CANARY.encode() not in path.read_bytes(), path.name


@pytest.mark.usefixtures("noise")
def test_a_whole_life_logs_and_prints_nothing_of_it(
    root: Path,
    everything_logged: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        study = published(root)
        study.add(from_rows([(f"{CANARY}-0-1", 1)]), AddOptions(complete=True))
        study.withdraw(study.ledger().batches[-1].number)
        write(study.folder.public)
    assert strangers(everything_logged.text) == []
    assert strangers("\n".join(str(each.message) for each in warned)) == []
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


PUBLIC_COMMANDS = (["publish", "--step", "1"], ["releases"], ["report"], ["releases", "--json"])


@pytest.mark.usefixtures("noise")
def test_public_commands_print_no_canary(root: Path) -> None:
    published(root)
    for name, *options in PUBLIC_COMMANDS:
        finished = graphveil(name, str(root), *options)
        assert finished.code == 0, finished.err
        assert strangers(finished.out + finished.err) == [], name


def bad_records() -> dict[str, Records]:
    known, other = f"{CANARY}-0-1", f"{CANARY}-0-2"
    return {
        "nobody": from_rows([], [(known, f"{CANARY}-nobody")]),
        "two times": from_rows([(f"{CANARY}-new", 1), (f"{CANARY}-new", 2)]),
        "unreadable": from_rows([(f"{CANARY}-new", "the 31st of never")]),
        "no id": from_rows([(f"{CANARY}-new", 2), (" ", 2)]),
        "no end": from_rows([], [(known, other, 2), (known, None, 2)]),
        "after the end": from_rows([(f"{CANARY}-new", 99)]),
    }


def told_by(error: BaseException) -> str:
    """All that a log would show of an exception, and of those behind it."""
    return "".join(traceback.format_exception(error)) + repr(error) + str(vars(error))


@pytest.mark.usefixtures("noise")
def test_refusals_tell_no_canary(root: Path, everything_logged: pytest.LogCaptureFixture) -> None:
    study = published(root)
    for case, records in bad_records().items():
        with pytest.raises(GraphveilError) as refused:
            study.add(records)
        assert strangers(told_by(refused.value)) == [], case
    star = [(f"{CANARY}-0-0", f"{CANARY}-1-{number}") for number in range(12)]
    study.add(from_rows([], star))
    before = {path: path.read_bytes() for path in files(study.folder.public)}
    with pytest.raises(BoundError) as broken:
        study.publish()
    assert strangers(told_by(broken.value)) == []
    assert {path: path.read_bytes() for path in files(study.folder.public)} == before
    finished = graphveil("publish", str(root), "--no-report")
    assert finished.code == 4
    assert strangers(finished.out + finished.err) == []
    damaged = next(study.folder.segments.iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.raises(GraphveilError) as changed:
        study.publish()
    assert strangers(told_by(changed.value)) == []
    assert strangers(everything_logged.text) == []


def things(study: StoredStudy) -> Iterator[Any]:
    """Everything that a debugger or a careless log line may show."""
    ledger, promise = study.ledger(), study.promise()
    with study.store.reading() as reading:
        kept = reading.series()
    records = from_rows([(f"{CANARY}-new", 2)], [(f"{CANARY}-new", f"{CANARY}-0-1")])
    sealed = segments.load(study.folder.segments, ledger.sealed, promise)
    stored, backend = study.stored(ledger), study.backend
    found: Any = backend.candidate(stored, records, AddOptions(complete=True))
    prepared = publishing.prepare(stored, kept, 2, backend)
    grown, terms = backend.grown(stored, 2), publishing.terms_of(ledger, kept)
    yield from (study, study.folder, study.store, ledger, *ledger.rows, *ledger.public_rows)
    yield from (*ledger.batches, *ledger.sealed, *ledger.series, promise, kept)
    yield from (records, records.nodes, resolve(records, promise.calendar, promise.records), sealed)
    yield from (found, found.findings, found.pending, segments.segment(sealed, range(1)))
    yield from (prepared, prepared.counted, grown, backend.recounted(stored, terms.values()))
    yield study.add(records)
    yield batches.load(study.folder.batches, study.ledger().batches, sealed)


@pytest.mark.usefixtures("noise")
def test_no_repr_tells_a_secret(root: Path) -> None:
    study = published(root)
    salts = {row.salt for row in study.ledger().rows}
    with study.store.reading() as reading:
        states = {kept.state for kept in reading.series().values()}
    for thing in things(study):
        shown = repr(thing)
        assert strangers(shown) == [], type(thing)
        assert not any(secret in shown for secret in salts | states), type(thing)
