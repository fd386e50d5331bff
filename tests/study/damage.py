"""Damage: a study, and a hundred ways to damage any file of it and any cell of its database."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphveil.study.chain import GENESIS, PublicRow, as_text, canonical
from graphveil.study.ledger import LedgerRow

TABLES = ("about", "ledger", "series", "releases")
VALUES: list[Any] = [
    None, b"\xff\x00", "", "x", "-1", "1e999", "\x1b[2J", 0, -1, 7, 2**63 - 1, 1.5, float("inf"),
    "9" * 5000, "[" * 100_000, "{}", "[]", "null", '{"step":', '"\\ud800"', "NaN",
]  # fmt: skip
JSON_VALUES: list[Any] = [
    None, True, "", "x", "\x1b[2J", "9" * 400, 0, -1, 10**30, 1.5, float("nan"), float("inf"),
    [], [[]], {}, {"a": []}, [1, "x"], [None], "2001", "1/0", ["9" * 50], {"l1": "x"},
]  # fmt: skip
DAMAGED_SCHEMA = [
    "DROP TABLE releases",
    "DROP TABLE about",
    "DROP TABLE series",
    "CREATE TRIGGER t AFTER INSERT ON releases BEGIN DELETE FROM releases; END",
    "CREATE VIEW v AS SELECT * FROM ledger",
    "CREATE TABLE more (a)",
    "CREATE UNIQUE INDEX i ON releases (row)",
    "ALTER TABLE releases ADD COLUMN more TEXT",
    "ALTER TABLE releases RENAME TO other",
    "CREATE TABLE r AS SELECT * FROM about; DROP TABLE about; ALTER TABLE r RENAME TO about",
]  # fmt: skip


def damaged_bytes(content: bytes, chance: random.Random) -> tuple[str, bytes]:
    """A content with one thing wrong."""
    place = chance.randrange(max(1, len(content)))
    length = chance.choice([1, 1, 2, 16, 100])
    kinds: dict[str, Callable[[], bytes]] = {
        "flip": lambda: _flipped(content, place, 1 << chance.randrange(8)),
        "insert": lambda: content[:place] + chance.randbytes(length) + content[place:],
        "remove": lambda: content[:place] + content[place + length :],
        "truncate": lambda: content[:place],
        "twice": lambda: content + content,
        "CRLF": lambda: content.replace(b"\n", b"\r\n"),
        "deep": lambda: content[:place] + b"[" * 100_000 + content[place:],
        "zero": lambda: content[:place] + bytes(length) + content[place + length :],
    }  # fmt: skip
    kind = chance.choice(list(kinds))
    return kind, kinds[kind]()


def _flipped(content: bytes, place: int, bit: int) -> bytes:
    changed = bytearray(content or b"\x00")
    changed[place] ^= bit
    return bytes(changed)


def damage_file(path: Path, chance: random.Random) -> str:
    """Damage a file, or remove it."""
    if chance.random() < 0.06:
        path.unlink()
        return f"removed {path.name}"
    kind, content = damaged_bytes(path.read_bytes(), chance)
    path.write_bytes(content)
    return f"{kind} {path.name}"


def damage_cell(database: Path, chance: random.Random) -> str:
    """Damage a cell, a row or the form of a database; what SQLite refuses leaves it as it was."""
    with closing(sqlite3.connect(database)) as connection, connection:
        if chance.random() < 0.1:
            statement = chance.choice(DAMAGED_SCHEMA)
            connection.executescript(statement)
            return statement
        table = chance.choice(TABLES)
        rows = connection.execute(f"SELECT rowid, * FROM {table}").fetchall()
        columns = [each[1] for each in connection.execute(f"PRAGMA table_info({table})")]
        row, kind = chance.choice(rows), chance.choice(["cell", "cell", "cell", "delete", "twice"])
        try:
            return _damage(connection, table, columns, row, kind, chance)
        except sqlite3.Error:
            return ""


def _damage(
    connection: sqlite3.Connection, table: str, columns: list[str], row: tuple[Any, ...],
    kind: str, chance: random.Random,
) -> str:  # fmt: skip
    if kind == "delete":
        connection.execute(f"DELETE FROM {table} WHERE rowid = ?", row[:1])
        return f"delete from {table}"
    column, value = chance.choice(columns), chance.choice(VALUES)
    if kind == "twice":
        copy = dict(zip(columns, row[1:], strict=True)) | {column: value}
        places = ", ".join("?" for _ in copy)
        connection.execute(f"INSERT INTO {table} VALUES ({places})", list(copy.values()))
        return f"insert into {table}, {column} = {str(value)[:20]!r}"
    connection.execute(f'UPDATE {table} SET "{column}" = ? WHERE rowid = ?', (value, row[0]))
    return f"{table}.{column} = {str(value)[:20]!r}"


def content_of(database: Path) -> list[Any] | None:
    """Everything that a database says; None if it cannot be read."""
    try:
        with closing(sqlite3.connect(database)) as connection:
            schema = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            rows = [connection.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES]
            return [schema, *rows]
    except (sqlite3.Error, UnicodeDecodeError, OverflowError):
        return None


def places_in(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every container and key in plain data."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in list(pairs):
        yield data, key
        if isinstance(value, dict | list):
            yield from places_in(value)


def forged(data: Any, chance: random.Random) -> str:
    """Put something else into one place of plain data."""
    container, key = chance.choice(list(places_in(data)))
    if isinstance(container, dict) and chance.random() < 0.2:
        del container[key]
        return f"no {key}"
    container[key] = chance.choice(JSON_VALUES)
    return f"{key} = {container[key]!r}"


def forge_public(public: Path, chance: random.Random) -> str:
    """Change a fact of the public chain, and mend the chain as someone who knows how would."""
    rows = [json.loads(line) for line in (public / "ledger.jsonl").read_text().splitlines()]
    row = chance.choice(rows)
    said = f"{row['event']}: {forged(row['fact'], chance)}"
    made: list[PublicRow] = []
    for each in rows:
        parts = {key: each[key] for key in ("at", "event", "fact", "seal")}
        made.append(PublicRow.after(made[-1] if made else None, **parts))
    (public / "ledger.jsonl").write_text(as_text(made))
    return said


def forge_private(database: Path, chance: random.Random) -> str:
    """Change a fact or a secret in the ledger, and mend the private chain."""
    with closing(sqlite3.connect(database)) as connection, connection:
        found = connection.execute("SELECT * FROM ledger ORDER BY number").fetchall()
        rows = [LedgerRow(*row) for row in found]
        number = chance.randrange(len(rows))
        part = chance.choice(["public", "private"])
        data = json.loads(getattr(rows[number], part) or "{}") or {"a": 1}
        said = f"{rows[number].event}, {part}: {forged(data, chance)}"
        changed: dict[str, Any] = {part: canonical(data)}
        rows[number] = replace(rows[number], **changed)
        previous = GENESIS
        for row in rows:
            previous, hashed = row.computed_hash(previous), (row.public, row.private)
            connection.execute(
                "UPDATE ledger SET public = ?, private = ?, hash = ? WHERE number = ?",
                (*hashed, previous, row.number),
            )
    return said


def copy_of(template: Path, place: Path) -> Path:
    """A fresh copy in the same place."""
    shutil.rmtree(place, ignore_errors=True)
    return Path(shutil.copytree(template, place))
