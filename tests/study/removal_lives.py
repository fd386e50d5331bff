"""The rule of removal over commands: whole lives of a study, with and without each person.

`python tests/study/removal_lives.py REMOVALS [SEED]` runs many and shows the tally. A life is a
script that does not look at exit codes: it adds, withdraws, tries, extends and publishes,
whatever became of the command before. What each step seals of everybody else has to be the same,
whoever is missing of a few people, and of any who are left then; a study may stand still where
the other went on, but then it says that records are missing, and nothing that it has sealed is
otherwise.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

if __name__ == "__main__":  # one process among others: small tables need no threads
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("", "study", "records")]

from graphveil.errors import GraphveilError
from graphveil.steward import adding, publishing
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.extension import Further
from plain_rules import Step, sealed_steps
from removal import in_memory, says_what_others_are, written_to
from removal_cases import FORMATS_OF, Case, random_case
from removal_files import ONE_FORMAT, WRITERS
from studies import promise

NODES = {"name": "nodes", "statistic": "nodes", "epsilon": "1/4", "mechanism": "sensdiff"}
WAITS = re.compile("records are missing|batches come in order|no records were added yet")
BOUND = {"degree": 60, "justification": "more than there are people"}
COMMANDS = ("add", "add", "add --yes", "add --yes", "add --yes", "dry-run", "withdraw",
            "publish", "publish", "publish", "extend")  # fmt: skip
FIRST_YEAR = 2001
PEOPLE = 4  # who may be missing from one life: 16 lives, and 32 pairs that differ by a person
Script: TypeAlias = Sequence[tuple[str, int]]  # a command, and which batch or number it is about


@dataclass(frozen=True)
class Life:
    """What became of a study: what each step sealed, and whether publishing had to wait."""

    steps: tuple[Step, ...]
    waits: bool

    def without(self, person: str) -> tuple[Step, ...]:
        """What is sealed of everybody else."""
        return tuple(
            (frozenset(people - {person}), frozenset(e for e in edges if person not in e))
            for people, edges in self.steps
        )


def random_script(chance: random.Random, batches: int) -> Script:
    """Both batches come, in some order, among other commands."""
    more = [
        (chance.choice(COMMANDS), chance.randrange(batches)) for _ in range(chance.randint(2, 5))
    ]
    script = [("add --yes" if chance.random() < 0.7 else "add", n) for n in range(batches)]
    for command in more:
        script.insert(chance.randint(0, len(script)), command)
    return (*script, ("publish", 0), ("publish", 0))


def batches_of(case: Case, chance: random.Random) -> list[Case]:
    """The records of a case in two batches; some come in both."""
    parts: list[Case] = []
    for share in ((0.0, 0.6), (0.4, 1.0)):
        chosen = [chance.random() for _ in (*case.nodes, *case.links)]
        mine = [share[0] <= each <= share[1] for each in chosen]
        nodes, links = mine[: len(case.nodes)], mine[len(case.nodes) :]
        parts.append(
            replace(
                case,
                nodes=tuple(each for each, own in zip(case.nodes, nodes, strict=True) if own),
                links=tuple(each for each, own in zip(case.links, links, strict=True) if own),
            )
        )
    return parts


def lived(batches: Sequence[Case], script: Script, folder: Path) -> Life:
    """A study that a script has worked with, without a look at what the commands say."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    first = batches[0]
    rules = {"person_separator": first.rules.person_separator, "case": first.rules.case,
             "undated": first.rules.undated}  # fmt: skip
    calendar = {"every": 1, "unit": "year", "first": str(FIRST_YEAR), "last": "2006"}
    root = folder / "study"
    StoredStudy.create(root, promise(series=[NODES], records=rules, calendar=calendar, bound=BOUND))
    waits = False
    for command, number in script:
        try:
            _run(root, command, number, batches, folder)
        except GraphveilError as refused:
            waits |= command == "publish" and WAITS.search(str(refused)) is not None
    study = StoredStudy.at(root)
    return Life(tuple(sealed_steps(study)) if study.ledger().is_open else (), waits)


def _run(root: Path, command: str, number: int, batches: Sequence[Case], folder: Path) -> None:
    study = StoredStudy.at(root)
    if command == "publish":
        publishing.publish(root, publishing.PublishRequest(early=True, report=False))
    elif command == "publish through":
        through = str(FIRST_YEAR + number)
        publishing.publish(
            root, publishing.PublishRequest(through=through, early=True, report=False)
        )
    elif command == "withdraw":
        adding.withdraw(root, number + 1)
    elif command == "abandon":
        adding.abandon(root)
    elif command == "extend":
        study.extend(Further(steps=1))
    else:
        _add(root, batches[number], folder / f"batch{number}", command)


def _add(root: Path, case: Case, folder: Path, command: str) -> None:
    folder.mkdir(exist_ok=True)
    strict = not case.skip
    undated: Literal["drop"] | None = "drop" if case.dated_only else None
    how = AddOptions(
        strict=strict,
        yes="--yes" in command,
        ignore_after_end=case.until_end,
        undated=undated,
        dry_run=command == "dry-run",
    )
    if case.way not in WRITERS:
        adding.add_records(root, in_memory(case), how=how)
        return
    adding.add(
        root,
        written_to(case, folder),
        options=replace(case.options, undated="drop") if case.dated_only else case.options,
        format=ONE_FORMAT.get(case.way) if case.insisted else None,
        change_reading=True,
        how=how,
    )


class Compared(NamedTuple):
    """What lives that differ by one person have shown."""

    removals: int
    waited: int  # how many of them let one of the two studies stand still
    broken: list[str]


def violations(
    batches: Sequence[Case], script: Script, folder: Path, among: Sequence[str] = ()
) -> tuple[list[str], int]:
    """What is wrong between a life with each person, or each of some, and one without them.

    And how many studies waited.
    """
    people = among or _persons(batches)
    found = compared(batches, script, folder, [frozenset(), *(frozenset({p}) for p in people)])
    return found.broken, found.waited


def compared(
    batches: Sequence[Case], script: Script, folder: Path, missing: Iterable[frozenset[str]]
) -> Compared:
    """Compare a study's lives without some sets of people, wherever two differ by one person."""
    with_whom = {gone: [_without(each, gone) for each in batches] for gone in missing}
    lives = {gone: lived(left, script, folder) for gone, left in with_whom.items()}
    removals = waited = 0
    broken = []
    for gone, rest in lives.items():
        for person in sorted(gone):
            present = gone - {person}
            if present not in lives or _heads(with_whom[present], person):
                continue
            said, waits = _difference(lives[present], rest, person)
            removals += 1
            waited += waits
            if said:
                broken.append(f"without {sorted(present)}, then {person!r}: {said}; {script}")
    return Compared(removals, waited, broken)


def _persons(batches: Sequence[Case]) -> list[str]:
    return sorted({person for each in batches for person in each.persons()})


def _heads(batches: Sequence[Case], person: str) -> bool:
    """Whether a file without a header may be another one without this person's first line."""
    return any(says_what_others_are(each, person) for each in batches)


def _without(case: Case, people: frozenset[str]) -> Case:
    for person in sorted(people):
        case = case.without(person)
    return case


def all_sets(people: Sequence[str]) -> list[frozenset[str]]:
    """Every set of these people, the empty one first."""
    sizes = range(len(people) + 1)
    return [frozenset(some) for size in sizes for some in combinations(people, size)]


def _difference(whole: Life, rest: Life, person: str) -> tuple[str, bool]:
    """What differs, and whether one of the two stands still for want of records."""
    mine, theirs = whole.without(person), rest.without(person)
    common = min(len(mine), len(theirs))
    if len(mine) != len(theirs):
        behind = whole if len(mine) < len(theirs) else rest
        if not behind.waits:
            return f"{len(mine)} and {len(theirs)} steps", False
    if mine[:common] != theirs[:common]:
        return f"{mine[:common]} and {theirs[:common]}", False
    return "", len(mine) != len(theirs)


@dataclass
class Tally:
    """How many removals were tried, how many studies waited, and which broke the rule."""

    tried: Counter[str] = field(default_factory=Counter)
    waited: int = 0
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        tried = [f"{way:26} {count:8,}" for way, count in sorted(self.tried.items())]
        total = (
            f"{self.tried.total():,} removals, {self.waited:,} of which let one study wait, "
            f"{len(self.broken)} violations"
        )
        return "\n".join([*tried, *self.broken[:20], total])


def run(removals: int, seed: int, ways: Sequence[str] = tuple(FORMATS_OF)) -> Tally:
    """Let some people be missing from random lives; the same seed gives the same ones."""
    tally, number = Tally(), 0
    with tempfile.TemporaryDirectory() as room:
        while tally.tried.total() < removals:
            chance = random.Random(f"life {seed}/{number}")
            case = random_case(chance, ways[number % len(ways)])
            batches = batches_of(case, chance)
            script = random_script(chance, len(batches))
            people = _persons(batches)
            few = sorted(chance.sample(people, min(PEOPLE, len(people))))
            found = compared(batches, script, Path(room) / "life", all_sets(few))
            tally.tried[case.way] += found.removals
            tally.waited += found.waited
            tally.broken += [f"seed {seed}, life {number}, {case.way}, {e}" for e in found.broken]
            number += 1
            if __name__ == "__main__" and number % 20 == 0:
                print(tally, flush=True)
    return tally


def main() -> None:
    """Run lives and show the tally."""
    removals, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    os.fsync = lambda fd: None  # what a power failure leaves is not the question here
    with tempfile.TemporaryDirectory() as state:
        os.environ["GRAPHVEIL_STATE"] = state
        tally = run(removals, seed)
    print(tally)
    sys.exit(bool(tally.broken))


if __name__ == "__main__":
    main()
