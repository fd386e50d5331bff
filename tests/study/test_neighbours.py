"""One person more or less: the public sees the same files, rows and words, and close numbers."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from commands import graphveil
from graphveil.graph.promises import DegreeBound
from graphveil.records import from_rows
from graphveil.steward.outlook import study_outlook
from graphveil.steward.status import status
from graphveil.study import Promise, StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.chain import PublicRow
from graphveil.study.extension import Further
from graphveil.study.facts import Event
from graphveil.study.publishing import predicted, prepare
from plain_rules import DEGREES, EDGES, Link, Node, numbered
from studies import freeze_noise

STEPS = 3
PEOPLE = "abcdefg"
BOUND = {"degree": len(PEOPLE) - 1, "justification": "all there are"}
THRESHOLD = 2
SERIES: list[dict[str, Any]] = [
    series | {"epsilon": "1/8"}
    for series in (
        EDGES,
        DEGREES,
        EDGES | {"name": "triangles", "statistic": "triangles"},
        EDGES | {"name": "hubs", "statistic": "high-degree", "parameters": {"tau": 2}},
        EDGES | {"name": "projected", "mechanism": "sensseq-projection", "projection": THRESHOLD},
    )
]
STUDY: Promise = numbered(STEPS, bound=BOUND, series=SERIES)


@dataclass(frozen=True)
class Population:
    """People and links in two batches; the second comes when the first step is sealed."""

    batches: tuple[tuple[tuple[Node, ...], tuple[Link, ...]], ...]

    def without(self, person: str) -> Population:
        """The neighbour: the person is gone, and all their links."""
        return Population(
            tuple(
                (
                    tuple(node for node in nodes if node[0] != person),
                    tuple(link for link in links if person not in link[:2]),
                )
                for nodes, links in self.batches
            )
        )


@st.composite
def populations(draw: st.DrawFn) -> Population:
    """Late and undated people, repeated ones with other dates, links of any time."""
    times = st.none() | st.integers(0, STEPS - 1)
    first = draw(st.dictionaries(st.sampled_from(PEOPLE), times, max_size=6))
    second = {
        person: draw(times) for person in PEOPLE if person not in first or draw(st.booleans())
    }

    def links(ends: str) -> tuple[Link, ...]:
        some = st.sampled_from(ends or "a")
        found = draw(st.lists(st.tuples(some, some, times), max_size=12))
        return tuple(found) if ends else ()

    early, late = links("".join(sorted(first))), links(PEOPLE)
    return Population(((tuple(first.items()), early), (tuple(second.items()), late)))


def masked(text: str) -> str:
    """The words without what differs from run to run: numbers, hashes, places, widths."""
    bare = re.sub(r"0x[0-9a-f]+|[0-9a-f]{8,}|[-+]?\d[\d,.]*", "#", text)
    return re.sub(r"[\s━─]+", " ", bare)


@contextmanager
def listening(root: Path) -> Iterator[list[tuple[str, str, str]]]:
    """Everything that is logged, as it looks from afar."""
    heard: list[tuple[str, str, str]] = []
    handler, log = logging.Handler(), logging.getLogger()

    def hear(record: logging.LogRecord) -> None:
        if record.name.startswith("numba"):  # tells of compiling, once per machine, not of data
            return
        words = record.getMessage().replace(str(root), "")
        heard.append((record.name, record.levelname, masked(words)))

    handler.emit = hear  # type: ignore[method-assign]
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield heard
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


@dataclass(frozen=True)
class Seen:
    """What a whole life shows."""

    study: StoredStudy
    logged: list[tuple[str, str, str]]

    def facts(self) -> list[tuple[str, dict[str, Any]]]:
        return [(row.event, row.fact) for row in self.study.ledger().public_rows]

    def files(self) -> set[str]:
        public = self.study.folder.public
        return {str(path.relative_to(public)) for path in public.rglob("*")}

    def raw(self, series: str) -> np.ndarray[Any, Any]:
        made = (fact for event, fact in self.facts() if event == "release made")
        return np.array([fact["raw"] for fact in made if fact["series"] == series])


def life(root: Path, people: Population) -> Seen:
    with listening(root) as logged:
        study = StoredStudy.create(root, STUDY)
        for nodes, links in people.batches:
            study.add(from_rows(nodes, links), AddOptions(yes=True))
            study.publish()
        study.publish(STEPS - 1)
    return Seen(study, logged)


def shape(fact: dict[str, Any]) -> dict[str, Any]:
    """A fact without its noisy numbers: their kind and how many there are."""
    noisy = {"raw", "processed", "low", "high"}
    return {
        key: [type(number) for number in value] if key in noisy else value
        for key, value in fact.items()
    }


def require_alike(one: Seen, other: Seen) -> None:
    assert one.logged == other.logged
    assert one.files() == other.files()
    assert [(event, shape(fact)) for event, fact in one.facts()] == [
        (event, shape(fact)) for event, fact in other.facts()
    ]


def require_close(one: Seen, other: Seen) -> None:
    """With the noise standing still, what differs is the true difference sequence: at most Γ."""
    for series in STUDY.series:
        apart = one.raw(series.name) - other.raw(series.name)
        if series.projection is not None:
            most = series.counted().projected_l1(DegreeBound(THRESHOLD))
            assert most is not None
            assert np.abs(apart).sum(axis=1).max() <= most
            continue
        steps = np.diff(apart, axis=0, prepend=np.zeros_like(apart[:1]))
        gamma = series.counted().sensitivity(STUDY.degree_bound).l1
        assert np.abs(steps).sum() <= gamma, series.name


@settings(max_examples=4, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(populations(), st.sampled_from(PEOPLE))
def test_neighbours_look_alike_and_are_close(people: Population, person: str) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        freeze_noise(patch)
        here = life(Path(folder) / "a", people)
        there = life(Path(folder) / "b", people.without(person))
        require_alike(here, there)
        require_close(here, there)


CROWD = Population(
    (
        (tuple((person, 0) for person in "abcd"), (("a", "b", None), ("a", "c", 1))),
        ((("e", 0), ("f", 2), ("g", None)), tuple(("a", end, None) for end in "defg")),
    )
)


def test_a_person_can_make_a_difference() -> None:
    """So that the test above is not about equal things."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        freeze_noise(patch)
        here = life(Path(folder) / "a", CROWD)
        there = life(Path(folder) / "b", CROWD.without("a"))
        require_alike(here, there)
        require_close(here, there)
        assert (here.raw("edges") - there.raw("edges"))[-1].tolist() == [6]


def commanded(root: Path, people: Population) -> list[tuple[object, ...]]:
    """Codes and words of the public commands over a whole life."""
    study = StoredStudy.create(root, STUDY.model_copy(update={"series": STUDY.series[:2]}))
    done = []
    for nodes, links in people.batches:
        study.add(from_rows(nodes, links), AddOptions(yes=True))
        done.append(graphveil("publish", str(root), "--no-report"))
    done += [graphveil("releases", str(root)), graphveil("report", str(root))]
    return [
        (each.code, *(masked(text.replace(str(root), "")) for text in (each.out, each.err)))
        for each in done
    ]


def test_public_commands_say_the_same_of_neighbours(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        freeze_noise(patch)
        here = commanded(tmp_path / "a", CROWD)
        there = commanded(tmp_path / "b", CROWD.without("a"))
    assert here == there
    assert {code for code, *_ in here} == {0}
    assert files(tmp_path / "a" / "public") == files(tmp_path / "b" / "public")


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def unsalted(row: PublicRow) -> PublicRow:
    return replace(row, seal="", hash="", previous="", at="")


def test_the_same_data_twice_differ_in_salts_only(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        freeze_noise(patch)
        one, other = life(tmp_path / "a", CROWD), life(tmp_path / "b", CROWD)
    pairs = list(zip(one.study.ledger().public_rows, other.study.ledger().public_rows, strict=True))
    for mine, theirs in pairs:
        assert mine.seal != theirs.seal
        assert unsalted(mine) == unsalted(theirs)
    assert len({row.seal for pair in pairs for row in pair}) == 2 * len(pairs)


def foretold(study: StoredStudy) -> object:
    """What is known of the next steps before they are sealed."""
    found = study.committed()
    made = len(found.ledger.sealed)
    ready = prepare(study.stored(found.ledger), found.stored_series, STEPS - 1, study.backend)
    ahead = predicted(ready, range(made, STEPS))
    return ahead.steps, {name: list(widths) for name, widths in ahead.widths.items()}


# Each says of itself, in its docstring or in docs, that it is public or depends on nothing private.
CLAIMS: dict[str, Callable[[StoredStudy], object]] = {
    "graphveil.study.publishing.Predicted": foretold,
    "graphveil.study.adoption.Renewal": StoredStudy.renewals,
    "graphveil.study.extension.Extension": lambda study: study.extension(Further(steps=2)),
    "graphveil.mechanisms.planning.plan.Plan": lambda study: [
        (each.plan, each.plan.predicted) for each in study_outlook(study.folder.root).series
    ],
    "graphveil.study.ledger.Ledger.versions": lambda study: study.ledger().versions,
    "graphveil.study.stored_study.StoredStudy.verdict": StoredStudy.verdict,
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_is_called_public_is_the_same_of_neighbours(tmp_path: Path, claim: str) -> None:
    """Half-way: one step is sealed, and there are more to come."""
    shown, true = [], []
    for name, people in (("with", CROWD), ("without", CROWD.without("a"))):
        study = StoredStudy.create(tmp_path / name, STUDY)
        study.add(from_rows(*people.batches[0]), AddOptions(yes=True))
        study.publish()
        shown.append(CLAIMS[claim](study))
        rows = study.ledger().of(Event.RELEASE_MADE)
        true.append([row.secret["differences"] for row in rows])
    assert shown[0] == shown[1]
    assert true[0] != true[1]


def test_only_the_private_part_of_the_status_tells_neighbours_apart(tmp_path: Path) -> None:
    """One person is all that is left of a batch once the first step is sealed."""
    nodes: tuple[Node, ...] = (("a", 0), ("b", 0), ("c", 2))
    people = Population(((nodes, (("a", "b", None), ("b", "c", None))),))
    shown, told = [], []
    for name, each in (("with", people), ("without", people.without("c"))):
        root = tmp_path / name / "study"
        root.parent.mkdir()
        study = StoredStudy.create(root, STUDY)
        for batch in each.batches:
            study.add(from_rows(*batch), AddOptions(yes=True))
        study.publish()
        shown.append(graphveil("status", str(root)).out.replace(str(root), "study"))
        told.append(status(root).as_data() | {"report": None})
    private = [data.pop("private") for data in told]
    assert private[0] != private[1]
    assert told[0] == told[1]
    lines = [[line for line in text.splitlines() if "PRIVATE" not in line] for text in shown]
    assert lines[0] == lines[1]
    assert shown[0] != shown[1]
