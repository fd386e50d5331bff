"""A process is killed at every effect it has: a step has one value, and one command resumes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from shutil import rmtree
from signal import SIGKILL

import pytest

from fault_benches import Bench, benches, every_fault, sources, troubles
from fault_runs import (
    Processes,
    Values,
    at,
    counted,
    look,
    memory,
    require_whole,
    steps_told,
    strangers,
    twice,
)
from faults import TAKER, Fault
from graphveil.errors import GraphveilError
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.facts import Event
from graphveil.study.machine import Machine
from studies import opened, people, people_and_bad_rows, promise, released
from study_databases import new_database

PUBLIC = {"README.txt", "study.toml", "ledger.jsonl"}
REPORTED = PUBLIC | {"releases.csv", "changes.csv", "revised.csv", "dictionary.csv", "card.json",
    "datapackage.json", "dataset.jsonld",
    "report.html", "charts/edges.csv", "charts/degrees.csv", "charts/edges.svg",
    "charts/degrees.svg"}  # fmt: skip
EDGES = [1, 2, 2, 1]  # how many edges each year adds

# One whole file is six effects: open, permissions, write, sync, replace, sync of the folder.
FAIL_POINTS = {
    ("create", "sqlite"): 41,
    ("add", "sqlite"): 35,
    ("publish", "sqlite"): 60,
    ("backfill", "sqlite"): 70,
    ("series", "sqlite"): 22,
    ("withdraw", "sqlite"): 9,
    ("adopt", "sqlite"): 20,
    ("extend", "sqlite"): 23,
    ("hand-over", "sqlite"): 16,
    ("graphveil publish", "sqlite"): 134,
    ("create", "postgresql"): 46,
    ("add", "postgresql"): 35,
    ("publish", "postgresql"): 60,
    ("backfill", "postgresql"): 70,
    ("series", "postgresql"): 22,
    ("withdraw", "postgresql"): 9,
    ("adopt", "postgresql"): 21,
    ("extend", "postgresql"): 23,
    ("hand-over", "postgresql"): 16,
    ("graphveil publish", "postgresql"): 134,
}

STARTED = (
    "publish", "backfill", "series", "withdraw", "extend", "adopt", "hand-over",
    "graphveil publish",
)  # fmt: skip

Setting = Callable[[str, str], list[Bench]]


@pytest.fixture(scope="module")
def fresh() -> Iterator[list[Processes]]:
    """Sources of fresh processes."""
    with sources() as made:
        yield made


@pytest.fixture
def setting(
    request: pytest.FixtureRequest, fresh: list[Processes], tmp_path: Path
) -> Iterator[Setting]:
    """Benches with a study that is about to run a command; `-s` shows how often it was killed."""
    before = _kills(fresh)

    def set_up(kind: str, command: str) -> list[Bench]:
        def study(root: Path) -> StoredStudy:
            server = None if kind == "sqlite" else request.getfixturevalue("postgresql")
            database = server and new_database(server)
            if command == "add":
                return StoredStudy.create(root, promise(), database=database)
            study = opened(root, database, memory(root))
            if command == "go on":
                study.publish()
            return study

        room = tmp_path / f"{kind}-{command}"
        room.mkdir()
        return benches(fresh, room, study)

    yield set_up
    print(f"\n{request.node.name}: killed {_kills(fresh) - before} times")


def _kills(fresh: list[Processes]) -> int:
    return sum(each.kills.total() for each in fresh)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_fail_points_are_all_known(
    setting: Setting, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    draft, started = setting(kind, "add")[0], setting(kind, "publish")[0]
    found = {"add": effects_of(draft, "add")}
    for command in STARTED:
        found[command] = effects_of(started, command)
    server = None if kind == "sqlite" else new_database(request.getfixturevalue("postgresql"))
    created = draft.processes.run(tmp_path / "created", "create", database=server)
    found["create"] = created.effects
    expected = {command: many for (command, on), many in FAIL_POINTS.items() if on == kind}
    assert {command: len(names) for command, names in found.items()} == expected, found


def effects_of(bench: Bench, command: str) -> list[str]:
    """What a command does to the study of a bench."""
    with bench.copy() as root:
        ended = bench.processes.run(root, command)
    assert (ended.killed_by, ended.kind) == (0, None), ended
    return ended.effects


def killed_publish(bench: Bench, *faults: Fault) -> str | None:
    """Kill one publish after the other; then publish once more; what is wrong with that."""
    seen: Values = {}
    with bench.copy() as root:
        for fault in faults:
            ended = bench.processes.run(root, "publish", fault)
            if ended.killed_by != SIGKILL:
                return f"was not killed: {ended}"
            look(root, seen)
        told = steps_told(root)
        at(root).publish()
        look(root, seen)
        return _trouble(root, seen, told + 1, PUBLIC)


def _trouble(root: Path, seen: Values, steps: int, files: set[str]) -> str | None:
    """What is wrong with a study that was resumed, if anything is."""
    try:
        require_whole(root)
    except GraphveilError as error:
        return f"is not whole: {error}"
    found = {
        "values seen twice": twice(seen),
        "steps told": steps_told(root) - steps,
        "strangers": strangers(root, files),
        "edges": counted(root, "edges") != [*EDGES, 0, 0][:steps],
    }
    wrong = {what: value for what, value in found.items() if value}
    return str(wrong) if wrong else None


def test_publish_is_killed(setting: Setting) -> None:
    """Around the commit, and at a fifth of all else that it does."""
    places = setting("sqlite", "publish")
    effects = effects_of(places[0], "publish")
    commit, cases = effects.index("COMMIT"), list(every_fault(effects))
    assert len(cases) == 132
    chosen = [each for n, each in enumerate(cases) if n % 5 == 0 or abs(each.point - commit) < 2]
    assert len(chosen) == 32
    assert troubles(places, chosen, killed_publish) == []


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_a_publish_that_goes_on_from_what_is_kept_is_killed_while_it_keeps(
    setting: Setting, kind: str
) -> None:
    places = setting(kind, "go on")
    effects = effects_of(places[0], "publish")
    assert sum(name.startswith("ftruncate") for name in effects) == 0  # it goes on in the file
    kept = [point for point, name in enumerate(effects) if "private/kept" in name]
    cases = [each for each in every_fault(effects) if each.point in kept]
    assert (len(kept), len(cases)) == (22, 52)
    assert troubles(places, cases if kind == "postgresql" else cases[::5], killed_publish) == []


def killed_backfill(bench: Bench, fault: Fault) -> str | None:
    """Kill three steps that share a transaction: all are sealed, or none; then ask again."""
    seen: Values = {}
    with bench.copy() as root:
        ended = bench.processes.run(root, "backfill", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        look(root, seen)
        if {step for _, step in seen} not in (set(), {0, 1, 2}):
            return f"some of the steps are sealed: {sorted(seen)}"
        at(root).publish(2)
        look(root, seen)
        return _trouble(root, seen, 3, PUBLIC)


def test_a_backfill_is_killed_within_its_transaction(setting: Setting) -> None:
    """Around the commit, and at some of all else that it does."""
    places = setting("sqlite", "publish")
    effects = effects_of(places[0], "backfill")
    assert effects.count("COMMIT") == 1  # one for all three
    commit, cases = effects.index("COMMIT"), list(every_fault(effects))
    chosen = [each for n, each in enumerate(cases) if n % 17 == 0 or each.point == commit]
    assert len(chosen) >= 10
    assert troubles(places, chosen, killed_backfill) == []


def test_publish_is_killed_at_every_statement_of_postgresql(setting: Setting) -> None:
    places = setting("postgresql", "publish")
    effects = effects_of(places[0], "publish")
    cases = [each for each in every_fault(effects) if effects[each.point][0].isupper()]
    assert len(cases) == 22
    assert troubles(places, cases[1::2], killed_publish) == []  # after each of them


def test_the_resuming_publish_is_killed_too(setting: Setting) -> None:
    """Once before and once after the commit, at every few effects of what is left to do."""
    places = setting("sqlite", "publish")
    commit = effects_of(places[0], "publish").index("COMMIT")
    pairs = [(Fault(commit, "before"), Fault(point, "before")) for point in range(0, 60, 11)]
    pairs += [(Fault(commit, "after"), Fault(point, "before")) for point in range(0, 6, 2)]
    assert troubles(places, pairs, lambda bench, pair: killed_publish(bench, *pair)) == []


def killed_command_line(bench: Bench, fault: Fault) -> str | None:
    """Kill the whole `graphveil publish`, report and all; then run it again."""
    seen: Values = {}
    with bench.copy() as root:
        ended = bench.processes.run(root, "graphveil publish", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        look(root, seen)
        steps = 2 if _shows_everything(root) else 1
        again = bench.processes.run(root, "graphveil publish")
        if again.kind is not None:
            return f"did not resume: {again}"
        look(root, seen)
        return _trouble(root, seen, steps, REPORTED)


def _shows_everything(root: Path) -> bool:
    """Whether the page, which is written last, covers the newest row: then nothing is left."""
    page, rows = root / "public" / "report.html", root / "public" / "ledger.jsonl"
    if not page.exists():
        return False
    return json.loads(rows.read_text().splitlines()[-1])["hash"] in page.read_text()


def test_publish_is_killed_between_artefacts(setting: Setting) -> None:
    places = setting("sqlite", "graphveil publish")
    effects = effects_of(places[0], "graphveil publish")
    artefacts = [p for p, name in enumerate(effects) if name.startswith("replace public/")]
    assert len(artefacts) == 13
    cases = [Fault(point, "after") for point in artefacts[::4]]
    assert troubles(places, cases, killed_command_line) == []


def killed_add(bench: Bench, fault: Fault) -> str | None:
    """Kill the first `add` of a draft; then add the same records again, and publish."""
    with bench.copy() as root:
        ended = bench.processes.run(root, "add", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        at(root).add(people())
        at(root).publish(1)
        return _trouble(root, {}, 2, PUBLIC)


def test_add_is_killed(setting: Setting) -> None:
    places = setting("sqlite", "add")
    cases = list(every_fault(effects_of(places[0], "add")))
    assert len(cases) == 74
    assert troubles(places, cases[::7], killed_add) == []


def killed_skipping(bench: Bench, fault: Fault) -> str | None:
    """Kill an `add` that leaves rows out: the batch and its list are there, or neither is."""
    with bench.copy() as root:
        ended = bench.processes.run(root, "add --yes", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        at(root).add(people_and_bad_rows(), AddOptions(yes=True))
        if any(batch.skipped is None for batch in at(root).ledger().batches):
            return "a batch has lost the list of what was left out"
        at(root).publish(1)
        return _trouble(root, {}, 2, PUBLIC)


def test_an_add_that_skips_is_killed(setting: Setting) -> None:
    places = setting("sqlite", "add")
    effects = effects_of(places[0], "add --yes")
    kept = [
        point for point, name in enumerate(effects) if "0001-skipped" in name or "-awaiting" in name
    ]
    assert len(effects) == FAIL_POINTS["add", "sqlite"] + 12  # two more whole files
    cases = [case for case in every_fault(effects) if case.point in (*kept, len(effects) - 1)]
    assert troubles(places, cases[::5], killed_skipping) == []


def killed_create(bench: Bench, fault: Fault) -> str | None:
    """Kill the making of a study; then make it again, unless it is there, and use it."""
    root = bench.room / "new"
    try:
        ended = bench.processes.run(root, "create", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        whole = (root / "public" / "study.toml").exists()
        study = at(root) if whole else StoredStudy.create(root, promise(), machine=memory(root))
        study.add(people())
        study.publish()
        return _trouble(root, {}, 1, PUBLIC)
    finally:
        rmtree(root, ignore_errors=True)


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_create_is_killed(setting: Setting, every: int, tmp_path: Path) -> None:
    places = setting("sqlite", "add")
    effects = places[0].processes.run(tmp_path / "created", "create").effects
    cases = list(every_fault(effects))
    assert len(cases) == 85
    assert troubles(places, cases[::every], killed_create) == []


def killed_series(bench: Bench, fault: Fault) -> str | None:
    """Kill the opening of a series: it is open or it is not, and the next step tells which."""
    with bench.copy() as root:
        ended = bench.processes.run(root, "series", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        with at(root).store.reading() as committed:
            is_open = "nodes" in committed.series()
        at(root).publish()
        if (("nodes", 0) in released(at(root))) != is_open:
            return "the series was lost, or came from nowhere"
        return _trouble(root, {}, 1, PUBLIC)


def killed_withdraw(bench: Bench, fault: Fault) -> str | None:
    """Kill a withdrawal: the batch is there as a whole, or it is gone."""
    with bench.copy() as root:
        ended = bench.processes.run(root, "withdraw", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        is_there = bool(at(root).ledger().batches)
        at(root).publish(1)
        require_whole(root)
        right = counted(root, "edges") == (EDGES[:2] if is_there else [0, 0])
        return None if right else "some of the batch is there"


def killed_extension(bench: Bench, fault: Fault) -> str | None:
    """Kill an extension: the study has its old end or its new one, everywhere; and goes on."""
    with bench.copy() as root:
        ended = bench.processes.run(root, "extend", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        last = at(root).ledger().versions[-1].calendar.last_step
        if last not in (3, 5):
            return "half an extension"
        at(root).publish(last)
        return _trouble(root, {}, last + 1, PUBLIC)


def killed_adoption(bench: Bench, fault: Fault) -> str | None:
    """Kill an adoption: the study goes on, with the noise it had or with fresh noise."""
    with bench.copy() as root:
        ended = bench.processes.run(root, "adopt", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        at(root).publish(2)
        return _trouble(root, {}, 3, PUBLIC)


def killed_hand_over(bench: Bench, fault: Fault) -> str | None:
    """Kill a hand-over: never may both machines go on, and the same command finishes it."""
    with bench.copy() as root:
        ended = bench.processes.run(root, "hand-over", fault)
        if ended.killed_by != SIGKILL:
            return f"was not killed: {ended}"
        taker = Machine(root / "taker")
        taker.folder.mkdir()
        (taker.folder / "machine").write_text(TAKER)
        taken, here = StoredStudy.at(root, machine=taker), at(root).verdict().may_go_on
        is_team = at(root).store.engine.dialect.name == "postgresql" and not _handed_over(root)
        # A team shares one database, and so one chain.
        both = here and taken.verdict().may_go_on and not is_team
        again = bench.processes.run(root, "hand-over")
        if both or again.kind is not None or not _handed_over(root):
            return "both go on" if both else f"cannot be finished: {again}"
        if at(root).verdict().may_go_on:
            return "goes on where it was"
        taken.publish(2)
        return _trouble(root, {}, 3, PUBLIC)


def _handed_over(root: Path) -> bool:
    return at(root).ledger().rows[-1].event == Event.STUDY_HANDED_OVER


@pytest.mark.parametrize(
    ("command", "trial", "every"),
    [
        ("series", killed_series, 7),
        ("withdraw", killed_withdraw, 3),
        ("extend", killed_extension, 7),
        ("adopt", killed_adoption, 7),
        ("hand-over", killed_hand_over, 5),
    ],
)
def test_smaller_commands_are_killed(
    setting: Setting, command: str, trial: Callable[[Bench, Fault], str | None], every: int
) -> None:
    places = setting("sqlite", command)
    cases = list(every_fault(effects_of(places[0], command)))[::every]
    assert troubles(places, cases, trial) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize(
    ("command", "trial"),
    [
        ("publish", killed_publish),
        ("backfill", killed_backfill),
        ("graphveil publish", killed_command_line),
        ("add", killed_add),
        ("series", killed_series),
        ("withdraw", killed_withdraw),
        ("extend", killed_extension),
        ("adopt", killed_adoption),
        ("hand-over", killed_hand_over),
    ],
)
def test_every_command_is_killed_everywhere(
    setting: Setting, kind: str, command: str, trial: Callable[[Bench, Fault], str | None]
) -> None:
    places = setting(kind, command)
    cases = list(every_fault(effects_of(places[0], command)))
    assert len(cases) >= 2 * FAIL_POINTS[command, kind]
    assert troubles(places, cases, trial) == []


def killed_again_everywhere(bench: Bench, first: Fault) -> str | None:
    """Kill a publish; then, on one copy after the other, each effect of the one that resumes."""
    for point in count():
        trouble = killed_publish(bench, first, Fault(point, "before"))
        if trouble is not None:
            done = trouble.startswith("was not killed") and point >= 6  # it announced, at least
            return None if done else trouble
    raise AssertionError


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_every_resuming_publish_is_killed_everywhere(setting: Setting, kind: str) -> None:
    places = setting(kind, "publish")
    effects = effects_of(places[0], "publish")
    first = [  # on PostgreSQL, where files are written as on SQLite, only statements and commit
        Fault(point, "after")
        for point, name in enumerate(effects[:-1])
        if kind == "sqlite" or name[0].isupper()
    ]
    assert troubles(places, first, killed_again_everywhere) == []
