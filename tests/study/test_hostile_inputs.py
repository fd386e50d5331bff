"""Every file and every cell of a study is damaged: it is found, or does not matter; no traceback.

The numbers in `docs/durability.md` come from `GRAPHVEIL_CASES=5000 pytest -m slow` of this file.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Finished, graphveil
from damage import (
    content_of,
    copy_of,
    damage_cell,
    damage_file,
    forge_private,
    forge_public,
)
from graphveil.report import charts
from steward import opened, people, run

REFUSALS = {2, 3, 4, 5, 7, 8, 9, 10, 11}
MANY = int(os.environ.get("GRAPHVEIL_CASES", "1000"))
# Damage that passes, with the reason why it does not matter.
HARMLESS = {
    "public/README.txt": "says nothing about the study",
    "private/README.txt": "says nothing about the study",
    "private/lock": "has no content; the system locks it, not its bytes",
    "private/ledger.sqlite-journal": "is empty between commands, and none without a header",
    "private/store.toml": "is not there: the database is SQLite",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with two steps, a series that was opened later and has no release, and a report."""
    with pytest.MonkeyPatch.context() as patch:
        _draw_nothing(patch)
        root = opened(tmp_path_factory.mktemp("template") / "study")
        run("publish", root, "--through", "2002")
        run("series", root, "--open", "nodes", "--epsilon", "1/4")
        run("verify", root)
    return root


@pytest.fixture(autouse=True)
def plain_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    _draw_nothing(monkeypatch)


def _draw_nothing(patch: pytest.MonkeyPatch) -> None:
    """Charts take a second each, and say nothing of their own."""
    patch.setattr(
        charts, "drawing", lambda series, *_, **__: f"<svg>{len(series.releases)}</svg>".encode()
    )


def require_words(ended: Finished, what: str) -> None:
    """A refusal in plain words, with a code of its own."""
    assert ended.code in REFUSALS | {0}, f"{what}: {ended}"
    assert "Traceback" not in ended.err


def files_of(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def damaged_study(template: Path, place: Path, number: int) -> tuple[Path, str, str]:
    """A copy with one thing wrong: the copy, the file, and what was done."""
    chance, root = random.Random(number), copy_of(template, place)
    database = root / "private" / "ledger.sqlite"
    if number % 3 == 0:
        return root, "private/ledger.sqlite", damage_cell(database, chance)
    names = files_of(root)
    name = names[number // 3 % len(names)]
    return root, name, damage_file(root / name, chance)


def is_harmless(template: Path, root: Path, name: str) -> bool:
    """Whether damage that passed is damage at all: unused bytes of a database are none."""
    if name == "private/ledger.sqlite":
        ours = content_of(template / name)
        found = content_of(root / name)
        return found is not None and _without_notes(found) == _without_notes(ours or [])
    if name.startswith("private/kept/"):
        return True  # `verify` holds all that is used of it against counting from scratch
    return name in HARMLESS or (root / name).read_bytes() == (template / name).read_bytes()


def _without_notes(content: list[object]) -> list[object]:
    """Further notes in `about`, which nobody reads, do not matter."""
    schema, about, *rest = content
    assert isinstance(about, list)
    return [schema, [row for row in about if row[0] == "version"], *rest]


def sweep(template: Path, place: Path, numbers: range) -> Counter[str]:
    tally: Counter[str] = Counter()
    for number in numbers:
        root, name, done = damaged_study(template, place, number)
        ended = graphveil("verify", str(root))
        require_words(ended, f"case {number}, {done}")
        if ended.code == 0 and done:
            assert is_harmless(template, root, name), f"case {number}: {done} in {name} passes"
        tally["does not matter" if ended.code == 0 else f"exit {ended.code}"] += 1
    return tally


def test_what_is_damaged_is_found_or_does_not_matter(template: Path, tmp_path: Path) -> None:
    tally = sweep(template, tmp_path / "copy", range(45))
    assert tally["does not matter"] < 20
    assert sum(tally.values()) == 45


@pytest.mark.slow
def test_many_kinds_of_damage(template: Path, tmp_path: Path) -> None:
    print(sweep(template, tmp_path / "copy", range(1_000_000, 1_000_000 + MANY)))


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",), ("status", "--json"), ("series",), ("releases",), ("releases", "--csv"),
    ("report",), ("plan",), ("verify",), ("publish",), ("publish", "--no-report"),
    ("series", "--open", "triangles", "--epsilon", "1/8"), ("add", "NODES", "EDGES"),
    ("add", "--withdraw", "1"),
)  # fmt: skip
Damage = Callable[[Path, random.Random], str]


def _any_file(root: Path, chance: random.Random) -> str:
    return damage_file(root / chance.choice(files_of(root)), chance)


def _store_file(root: Path, chance: random.Random) -> str:
    said = b'url = "postgresql://nobody@127.0.0.1:1/none"\n'
    path = root / "private" / "store.toml"
    path.write_bytes(said)
    return damage_file(path, chance) if chance.random() < 0.9 else "a store that is away"


def _bare_public_part(root: Path, chance: random.Random) -> str:
    shutil.rmtree(root / "private")
    return forge_public(root / "public", chance)


DAMAGES: tuple[Damage, ...] = (
    _any_file,
    lambda root, chance: damage_file(root / "public" / "study.toml", chance),
    lambda root, chance: damage_file(root / "public" / "ledger.jsonl", chance),
    lambda root, chance: damage_cell(root / "private" / "ledger.sqlite", chance),
    lambda root, chance: forge_private(root / "private" / "ledger.sqlite", chance),
    lambda root, chance: forge_public(root / "public", chance),
    _bare_public_part,
    _store_file,
)


def fuzz(template: Path, place: Path, numbers: range) -> Counter[int]:
    """Commands on damaged and forged studies."""
    tally: Counter[int] = Counter()
    nodes, edges = people(place.parent / "files")
    paths = {"NODES": str(nodes), "EDGES": str(edges)}
    for number in numbers:
        chance, root = random.Random(number), copy_of(template, place)
        done = DAMAGES[number % len(DAMAGES)](root, chance)
        command, *more = COMMANDS[number // len(DAMAGES) % len(COMMANDS)]
        ended = graphveil(command, str(root), *(paths.get(each, each) for each in more))
        require_words(ended, f"case {number}, {command} after {done}")
        tally[ended.code] += 1
    return tally


def test_no_file_of_a_study_gives_a_traceback(template: Path, tmp_path: Path) -> None:
    tally = fuzz(template, tmp_path / "copy", range(150))
    assert sum(tally.values()) == 150
    assert sum(code != 0 for code in tally.elements()) > 60


@pytest.mark.slow
def test_no_file_of_many_gives_a_traceback(template: Path, tmp_path: Path) -> None:
    print(fuzz(template, tmp_path / "copy", range(2_000_000, 2_000_000 + MANY)))
