"""Private files are damaged: what is published is what it would have been, or nothing is.

Looked at are noise and counts of every release, not counts alone. Chance stands still, so that two
copies of a study publish the same numbers unless one of them reads something else. The numbers in
`docs/durability.md` come from `pytest -s -m slow` of this file.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from damage import damage_cell, damage_file, forge_private, places_in
from fault_runs import Template, at, memory
from graphveil.errors import GraphveilError
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.records import from_rows
from graphveil.study import SeriesPromise, StoredStudy, agreement
from graphveil.study.extension import Further
from graphveil.study.ledger import StoredFile
from graphveil.study.records import segments
from studies import promise

LAST = 7
FIRST = 3  # steps that are sealed in the study that is damaged
SERIES: list[dict[str, Any]] = [
    {"name": "edges", "statistic": "edges", "epsilon": "1/20", "mechanism": "bridged"},
    {"name": "nodes", "statistic": "nodes", "epsilon": "1/20", "mechanism": "sensdiff"},
    {"name": "triangles", "statistic": "triangles", "epsilon": "1/20", "mechanism": "epochs"},
    {"name": "moved", "statistic": "components", "epsilon": "1/20", "mechanism": "moves"},
    {"name": "cut", "statistic": "edges", "epsilon": "1/20", "projection": 2},
    {"name": "degrees", "statistic": "degree-ccdf", "epsilon": "1/20"},
]
Outcome = dict[tuple[str, int], tuple[Any, Any, Any]]
Damage = Callable[[Path, random.Random], str]


def people(first: int, stop: int) -> Any:
    """Some people over all years, each linked to the two before."""
    nodes = [(f"P{n}", 2001 + n * (LAST + 1) // 32) for n in range(first, stop)]
    edges = [(f"P{n}", f"P{n - back}") for n in range(first, stop) for back in (1, 2) if n >= back]
    return from_rows(nodes, edges if not first else edges[3:])


def drawn(_: ReleaseNoise, law: Any, count: int) -> list[int]:
    """Noise that depends on what is asked for alone, and on all of it."""
    seed = sha256(f"{law} {count}".encode()).digest()
    chance = random.Random(seed)
    return [chance.randrange(-(10**6), 10**6) for _ in range(count)]


def drawn_rest(source: ReleaseNoise, law: Any, used: Any) -> list[int]:
    return drawn(source, law, law.steps)[len(used) :]


@pytest.fixture(scope="module")
def still() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReleaseNoise, "draw", drawn)
        patch.setattr(ReleaseNoise, "draw_rest", drawn_rest)
        yield


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, still: None) -> Template:
    """Sealed in two parts, with records that wait, a batch more, and a series without a release."""
    root = tmp_path_factory.mktemp("private") / "study"
    calendar = {"every": 1, "unit": "year", "first": "2001", "last": str(2001 + LAST)}
    study = StoredStudy.create(
        root, promise(series=SERIES, calendar=calendar), machine=memory(root)
    )
    study.add(people(0, 24))
    study.publish(0)
    study.publish(FIRST - 1)
    study.add(people(24, 32))
    study.open_series(
        SeriesPromise(name="stars", statistic="stars", parameters={"k": 2}, epsilon="1/20")
    )
    return Template.of(study)


def outcome(root: Path) -> Outcome:
    """Raw value, exact difference and noise of every release that was committed."""
    rows = [row for row in at(root).ledger().rows if row.event == "release made"]
    return {
        (row.fact["series"], row.fact["step"]):
            (row.fact["raw"], row.secret["differences"], row.secret["noise"])
        for row in rows
    }  # fmt: skip


def told(root: Path) -> dict[tuple[str, int], Any]:
    """Every raw value that the public folder shows."""
    lines = (root / "public" / "ledger.jsonl").read_text().splitlines()
    facts = [row["fact"] for row in map(json.loads, lines) if row["event"] == "release made"]
    return {(fact["series"], fact["step"]): fact["raw"] for fact in facts}


def _add(root: Path) -> None:
    at(root).add(from_rows([("late", 2001 + LAST)], [("late", "P0"), ("P31", "P0")]))


def _one_more(root: Path) -> None:
    at(root).open_series(SeriesPromise(name="more", statistic="edges", epsilon="1/20"))


COMMANDS: dict[str, Callable[[Path], object]] = {
    "publish": lambda root: at(root).publish(),
    "backfill": lambda root: at(root).publish(LAST - 1),
    "add": _add,
    "withdraw": lambda root: at(root).withdraw(at(root).ledger().batches[-1].number),
    "series": _one_more,
    "extend": lambda root: at(root).extend(Further(steps=1)),
    "adopt": lambda root: at(root).adopt("to try it"),
}


def lived(root: Path, command: str) -> GraphveilError | None:
    """Run a command, then publish all the rest in two runs; why it went no further."""
    try:
        COMMANDS[command](root)
        at(root).publish()
        at(root).publish(LAST)
    except GraphveilError as error:
        return error
    return None


def swap_cells(database: Path, chance: random.Random) -> str:
    """Exchange two cells of one column; each is sound, and in the wrong place."""
    with closing(sqlite3.connect(database)) as connection, connection:
        table = chance.choice(["about", "ledger", "series", "series", "series", "releases"])
        columns = [each[1] for each in connection.execute(f"PRAGMA table_info({table})")]
        column = chance.choice(columns)
        found = connection.execute(f'SELECT rowid, "{column}" FROM {table}').fetchall()
        (one, first), (other, second) = chance.sample(found, 2)
        change = f'UPDATE {table} SET "{column}" = ? WHERE rowid = ?'
        try:
            for value, row in ((f"-{first}", one), (first, other), (second, one)):
                connection.execute(change, (value, row))
        except sqlite3.Error:
            connection.rollback()
            return ""
    return f"exchanged {table}.{column}"


def change_number(database: Path, chance: random.Random) -> str:
    """Set a number or a text within a stored plan or state to another, or all noise to nothing."""
    with closing(sqlite3.connect(database)) as connection, connection:
        column = chance.choice(["state", "state", "plan"])
        name, text = chance.choice(
            connection.execute(f"SELECT name, {column} FROM series").fetchall()
        )
        data = json.loads(text)
        if column == "state" and chance.random() < 0.3:
            data["noise"] = [[0] * len(each) for each in data["noise"]]
        else:
            container, key = chance.choice(list(places_in(data)))
            container[key] = chance.choice([0, 1, "0", "1/2", container[key]])
        changed = json.dumps(data, sort_keys=True, separators=(",", ":"))
        connection.execute(f"UPDATE series SET {column} = ? WHERE name = ?", (changed, name))
    return "" if changed == text else f"changed {column} of {name}"


def zero_range(path: Path, chance: random.Random) -> str:
    content = bytearray(path.read_bytes())
    begin = chance.randrange(max(1, len(content)))
    length = chance.choice([8, 64, 512, 4096])
    content[begin : begin + length] = bytes(len(content[begin : begin + length]))
    path.write_bytes(content)
    return f"zeros in {path.name}"


def private_file(root: Path, chance: random.Random) -> Path:
    """Any of them; those that hold more than a note, most of the time."""
    found = sorted(path for path in (root / "private").rglob("*") if path.is_file())
    weighty = [
        path for path in found if path.suffix in (".parquet", ".columns", ".kept", ".sqlite")
    ]
    return chance.choice(weighty if chance.random() < 0.9 else found)


DATABASE = Path("private") / "ledger.sqlite"
DAMAGES: tuple[Damage, ...] = (
    lambda root, chance: damage_file(private_file(root, chance), chance),
    lambda root, chance: zero_range(private_file(root, chance), chance),
    lambda root, chance: swap_cells(root / DATABASE, chance),
    lambda root, chance: change_number(root / DATABASE, chance),
    lambda root, chance: damage_cell(root / DATABASE, chance),
    lambda root, chance: damage_file(private_file(root, chance), chance),
    lambda root, chance: change_number(root / DATABASE, chance),
    lambda root, chance: forge_private(root / DATABASE, chance),
)


@dataclass
class Trials:
    """Damaged copies of one study, each compared with what an undamaged one publishes."""

    template: Template
    room: Path
    sound: dict[str, Outcome] = field(default_factory=dict)
    tally: Counter[str] = field(default_factory=Counter)

    def expected(self, command: str) -> Outcome:
        """What the undamaged study has published in the end."""
        if command not in self.sound:
            root = self.template.copy(self.room / f"sound {command}")
            assert lived(root, command) is None
            self.sound[command] = outcome(root)
        return self.sound[command]

    def trouble(self, number: int, damages: tuple[Damage, ...] = DAMAGES) -> str | None:
        """What is wrong after one damage, if anything is."""
        chance = random.Random(number)
        command = list(COMMANDS)[number % len(COMMANDS)]
        expected = self.expected(command)
        root = self.template.copy(self.room / "copy")
        try:
            done = damages[number % len(damages)](root, chance)
            refused = lived(root, command)
            shown = told(root)
            committed = {} if refused else outcome(root)
        finally:
            rmtree(root)
        self.tally["refused" if refused else "the same" if done else "no damage"] += 1
        wrong = {key for key, raw in shown.items() if expected.get(key, [None])[0] != raw}
        wrong |= {key for key in committed if committed[key] != expected.get(key)}
        missing = not refused and shown.keys() != expected.keys()
        if not wrong and not missing:
            return None
        return f"case {number}, {command} after {done}: {sorted(wrong)[:3]}, {refused}"


def swept(trials: Trials, numbers: range) -> list[str]:
    return [found for number in numbers if (found := trials.trouble(number))]


def test_damage_never_changes_what_is_published(template: Template, tmp_path: Path) -> None:
    trials = Trials(template, tmp_path)
    assert swept(trials, range(16)) == []
    assert trials.tally["refused"] > 5


@pytest.mark.slow
def test_much_damage_never_changes_what_is_published(template: Template, tmp_path: Path) -> None:
    trials = Trials(template, tmp_path)
    assert swept(trials, range(1_000_000, 1_000_400)) == []
    print(trials.tally)


def _nothing(*_: object, **__: object) -> None:
    pass


def _unchecked(folder: Path, stored: StoredFile) -> bytes:
    return (folder / stored.name).read_bytes()


def no_noise(root: Path) -> str:
    with closing(sqlite3.connect(root / DATABASE)) as connection, connection:
        for name, text in connection.execute("SELECT name, state FROM series").fetchall():
            data = json.loads(text)
            data["noise"] = [[0] * len(each) for each in data["noise"]]
            changed = json.dumps(data, sort_keys=True, separators=(",", ":"))
            connection.execute("UPDATE series SET state = ? WHERE name = ?", (changed, name))
    return "no noise"


def exchanged(root: Path) -> str:
    """The links of one batch in the place of another's."""
    one, other = sorted((root / "private" / "batches").glob("*edges*.parquet"))
    other.write_bytes(one.read_bytes())
    return "another batch"


PLANTED: dict[str, tuple[Any, str, Any, Callable[[Path], str]]] = {
    "states": (agreement, "require_series", _nothing, no_noise),
    "batches": (segments, "checked", _unchecked, exchanged),
}


@pytest.mark.parametrize("comparison", PLANTED)
def test_a_comparison_that_is_left_out_is_noticed(
    template: Template, tmp_path: Path, comparison: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trials find what they are for: each thing is compared before it is used."""
    place, name, instead, damage = PLANTED[comparison]
    trials = Trials(template, tmp_path)
    assert trials.trouble(0, (lambda root, _: damage(root),)) is None
    monkeypatch.setattr(place, name, instead)
    assert trials.trouble(0, (lambda root, _: damage(root),)) is not None
