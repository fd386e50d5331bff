"""The study against its rules in plain Python, on random histories and in any order of rows."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import networkx as nx
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from graphveil.errors import StudyError
from graphveil.records import from_rows
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from plain_rules import DEGREES, EDGES, Link, Node, PlainStudy, numbered, sealed_steps, totals
from studies import freeze_noise
from tries import tries

STEPS = 4
PEOPLE = "abcdef"
PERSONS = st.sampled_from(PEOPLE)
TIMES = st.none() | st.integers(0, STEPS - 1)
TRIANGLES = EDGES | {"name": "triangles", "statistic": "triangles"}

# A life takes half a second, so a failing one is shown as it was found: shrinking takes minutes.
LIVES = [Phase.explicit, Phase.reuse, Phase.generate]

Batch = tuple[list[Node], list[Link]]


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Records with no order to them; a person is dated once in a batch, but not over batches."""
    people = draw(st.dictionaries(PERSONS, TIMES, max_size=5))
    edges = draw(st.lists(st.tuples(PERSONS, PERSONS, TIMES), max_size=6))
    return list(people.items()), edges


HISTORIES = st.lists(st.sampled_from(["publish", "withdraw"]) | batches(), max_size=7)


def play(study: StoredStudy, book: PlainStudy, event: str | Batch) -> None:
    """The same event in both."""
    if event == "publish":
        if len(book.sealed) < STEPS:
            study.publish()
            book.publish()
    elif event == "withdraw":
        latest = study.ledger().batches[-1:]
        if book.withdraw():
            study.withdraw(latest[0].number)
        else:
            with pytest.raises(StudyError):
                study.withdraw(latest[0].number if latest else 1)
    elif not isinstance(event, str):
        nodes, edges = event
        study.add(from_rows(nodes, edges), AddOptions(yes=True))
        book.add(nodes, edges)


@tries(5, phases=LIVES)
@given(HISTORIES)
def test_every_history_goes_by_the_book(history: list[Any]) -> None:
    book = PlainStudy()
    with TemporaryDirectory() as folder:
        series = [EDGES, DEGREES, TRIANGLES]
        study = StoredStudy.create(Path(folder) / "study", numbered(series=series))
        for event in history:
            play(study, book, event)
        while len(book.sealed) < STEPS:
            book.publish()
        study.publish(STEPS - 1)
        assert sealed_steps(study) == book.sealed
        require_counts(study, book)


def require_counts(study: StoredStudy, book: PlainStudy) -> None:
    """Every exact count is what NetworkX finds in the graph of the book."""
    found = {name: totals(study, name) for name in ("edges", "degrees", "triangles")}
    for step in range(STEPS):
        graph = book.graph(step)
        degrees = [degree for _, degree in graph.degree()]
        assert found["edges"][step] == [graph.number_of_edges()]
        cliques = [len(clique) for clique in nx.enumerate_all_cliques(graph)]
        assert found["triangles"][step] == [cliques.count(3)]
        assert found["degrees"][step] == [sum(d >= k for d in degrees) for k in range(13)]


@tries(3, phases=LIVES)
@given(HISTORIES)
def test_every_history_of_a_directed_study_goes_by_the_book(history: list[Any]) -> None:
    book = PlainStudy(directed=True)
    bound = {"inward": 12, "outward": 12, "justification": "more than there are people"}
    with TemporaryDirectory() as folder:
        study = StoredStudy.create(Path(folder) / "study", numbered(directed=True, bound=bound))
        for event in history:
            play(study, book, event)
        while len(book.sealed) < STEPS:
            book.publish()
        study.publish(STEPS - 1)
        assert sealed_steps(study) == book.sealed
        counts = [book.graph(step).number_of_edges() for step in range(STEPS)]
        assert [found for (found,) in totals(study, "edges")] == counts


@st.composite
def consistent_records(draw: st.DrawFn) -> Batch:
    """Each person with one date, each edge with one time."""
    people = draw(st.dictionaries(PERSONS, TIMES, min_size=2))
    ends = st.sampled_from(sorted(people))
    edges = draw(st.dictionaries(st.frozensets(ends, min_size=2, max_size=2), TIMES, max_size=9))
    links: list[Link] = [(min(pair), max(pair), own) for pair, own in edges.items()]
    return list(people.items()), links


def told_otherwise(records: Batch, random: Random) -> list[Batch]:
    """The same records as several files: shuffled, repeated, turned round, split anyhow."""
    nodes, edges = records
    files: list[Batch] = [([], []) for _ in range(random.randint(1, 3))]
    for node in nodes * 2:
        random.choice(files)[0].append(node)
    for source, target, own in edges * 2:
        ends = random.sample([source, target], 2)
        random.choice(files)[1].append((ends[0], ends[1], own))
    for file_nodes, file_edges in files:
        needed = {end for edge in file_edges for end in edge[:2]}
        file_nodes += [node for node in nodes if node[0] in needed]
        random.shuffle(file_nodes)
        random.shuffle(file_edges)
    return files


def life(root: Path, files: list[Batch], stops: list[int]) -> dict[str, Any]:
    """Everything that must not depend on order: segments to the byte, counts, releases."""
    study = StoredStudy.create(root, numbered(series=[EDGES, DEGREES]))
    for nodes, edges in files:
        study.add(from_rows(nodes, edges), AddOptions(yes=True))
    for stop in stops:
        study.publish(stop)
    tables = study.folder.segments.iterdir()
    segments = {path.name.rsplit("-", 1)[0]: path.read_bytes() for path in tables}
    facts = [row.fact for row in study.ledger().public_rows]
    return {"segments": segments, "totals": totals(study, "edges"), "facts": facts}


@tries(5, phases=LIVES)
@given(consistent_records(), st.randoms(use_true_random=False))
def test_order_never_matters(records: Batch, random: Random) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        freeze_noise(patch)
        stops = [random.randrange(STEPS), STEPS - 1]
        plain = life(Path(folder) / "plain", [records], stops)
        files = told_otherwise(records, random)
        assert life(Path(folder) / "other", files, stops) == plain


@tries(2, phases=LIVES)
@given(consistent_records())
def test_a_backfill_is_the_same_as_step_by_step(records: Batch) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        freeze_noise(patch)
        at_once = life(Path(folder) / "at-once", [records], [STEPS - 1])
        stepwise = life(Path(folder) / "stepwise", [records], list(range(STEPS)))
        assert {**stepwise, "segments": {}} == {**at_once, "segments": {}}
        assert sealed_steps(StoredStudy.at(Path(folder) / "stepwise")) == sealed_steps(
            StoredStudy.at(Path(folder) / "at-once")
        )
