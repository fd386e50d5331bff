"""The checkpoint on the workers: files of graph and counts, and how they are checked.

private/kept/spark/edges-….parquet, degrees-…, forest-…    written once, and named as long as used
private/kept/spark/0007-spark-….kept                       as of step 7: which of them, and integers

Their names are as they were in the workspace of the command that made them.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphveil.backends.backend import Answer, ExactCounts, Extent
from graphveil.backends.local.counters import packed_tally, same_tally, unpacked_tally
from graphveil.backends.spark.batches import file_sum, write_new
from graphveil.backends.spark.blocks import read_edges
from graphveil.backends.spark.engine import divided
from graphveil.backends.spark.graph import NodePart, Part, SparkGraph, Workspace
from graphveil.backends.spark.jobs import Cluster
from graphveil.posix import sync_folder
from graphveil.series.counting import SeriesCounts, ViewCounts, by_view
from graphveil.statistics.change import tally_under
from graphveil.statistics.tallies import DegreeTally
from graphveil.study.backends import CacheCheck, Stored
from graphveil.study.chain import canonical
from graphveil.study.facts import Event
from graphveil.study.folder import Folder, make_private_folder
from graphveil.study.ledger import Ledger, StoredFile
from graphveil.study.reading import UNREADABLE
from graphveil.study.records.arena import UnusableError, read_packed, write_packed
from graphveil.study.records.checkpoint import view_key
from graphveil.study.records.segments import checksum

if TYPE_CHECKING:
    from graphveil.series.counting import SeriesTerms
    from graphveil.statistics.tallies import Tally


ENGINE = "spark"  # under which it is named beside the rows
FORM = "spark 1"  # to be changed whenever anything has another meaning
CHECKED = 1 << 30  # bytes of files whose checksums one command looks at; they take turns


@dataclass(frozen=True)
class Entry:
    """What the database names: the file that lists all others, as of a step."""

    step: int
    listed: StoredFile


@dataclass(frozen=True, eq=False)
class CheckpointState:
    """The graph as of a sealed step, and what its series had counted; a secret.

    Attributes:
        graph: whose files have their whole paths.
        files: the checksums of all files, by name.
        data: what is listed about counts.
    """

    graph: SparkGraph = field(repr=False)
    files: Mapping[str, str] = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)

    def counts(self, home: Path, series: Collection[SeriesTerms]) -> SeriesCounts:
        """The cached counts of the series; those that were not counted then are missing."""
        views = {}
        for view, members in by_view(series).items():
            view_data = self.data.get(view_key(view))
            if view_data is None:
                continue
            wanted = {
                terms.statistic: tally_under(terms.statistic, terms.bound) for terms in members
            }
            known = {s: tally for s, tally in wanted.items() if repr(tally) in view_data["answers"]}
            answers = {
                tally: _answer(home, tally, view_data["answers"][repr(tally)])
                for tally in known.values()
            }
            counts = ExactCounts(
                tuple(known), Extent(*view_data["extent"]), answers, view[1].counted
            )
            views[view] = ViewCounts(self.graph, counts)  # type: ignore[arg-type]
        return SeriesCounts(self.graph.steps, views)


def home_of(folder: Folder) -> Path:
    """Where the files lie."""
    return folder.kept / ENGINE


def newest(ledger: Ledger) -> Entry | None:
    """The newest checkpoint, if it belongs to these rows."""
    try:
        data = json.loads(ledger.beside[ENGINE])
        step, rows = int(data["step"]), ledger.of(Event.STEP_SEALED)
        if data["form"] != FORM or rows[step].hash != data["row"]:
            return None
        return Entry(step, StoredFile(**data["listed"]))
    except UNREADABLE:
        return None


def load(
    cluster: Cluster, stored: Stored, empty: SparkGraph, *, check_all: bool = False
) -> CheckpointState | None:
    """The content of the newest checkpoint; None if it is missing, damaged or of another form."""
    entry, home = newest(stored.ledger), home_of(stored.folder)
    if entry is None:
        return None
    try:
        data = read_packed(home, entry.listed)
        state = _state(data, home, stored.folder.segments, empty)
        names = _turn(home, list(state.files), None if check_all else entry.step)
    except (UnusableError, OSError, *UNREADABLE):
        return None
    checksums = cluster.run(file_sum, [str(home / name) for name in names])
    same = all(state.files[name] == each for name, each in zip(names, checksums, strict=True))
    return state if same else None


def _turn(home: Path, names: Sequence[str], turn: int | None) -> list[str]:
    """The files to look at: all, or a share that other commands continue; all must be there."""
    sizes = [(home / name).stat().st_size for name in names]
    shares = 1 if turn is None else max(1, -(-sum(sizes) // CHECKED))
    return [name for place, name in enumerate(names) if place % shares == (turn or 0) % shares]


def _state(
    data: Mapping[str, Any], home: Path, segments: Path, empty: SparkGraph
) -> CheckpointState:
    numbers = {each: data[each].copy() for each in ("node_offsets", "prompt", "late", "edges")}
    parts = tuple(Part(*each) for each in data["parts"])
    people = (NodePart(*each) for each in data["people"])
    graph = replace(
        empty,
        colours=data["colours"],
        parts=tuple(replace(part, name=str(home / part.name)) for part in parts),
        people=tuple(replace(each, name=str(segments / each.name)) for each in people),
        **numbers,
    )
    return CheckpointState(graph, data["files"], data["counts"])


def _answer(home: Path, tally: Tally, data: Mapping[str, Any]) -> Answer:
    names = [str(home / name) for name in data["files"]]
    state: Any = None
    if _by_degrees(tally):
        state = data["width"], names
    elif names:
        [state] = names
    return Answer(unpacked_tally(data), state)


def _by_degrees(tally: Tally) -> bool:
    """Whether the state of a tally's answer is the degrees of all nodes."""
    return isinstance(divided(tally), DegreeTally)


def _files_of(tally: Tally, answer: Answer) -> tuple[list[str], dict[str, Any]]:
    """The files of the state of an answer, and the rest of the state."""
    if _by_degrees(tally):
        width, names = answer.state
        return list(names), {"width": width}
    return ([] if answer.state is None else [answer.state]), {}


@dataclass(frozen=True, eq=False)
class SparkCheckpoint:
    """The graph and the counts after some steps, ready to be stored; a secret.

    Attributes:
        cluster: whose workers copy files.
        stored: the study.
        graph: up to the last of them.
        counts: of every series.
        before: the previous checkpoint, if it could be used.
    """

    cluster: Cluster
    stored: Stored
    graph: SparkGraph = field(repr=False)
    counts: SeriesCounts = field(repr=False)
    before: CheckpointState | None = field(repr=False)

    def keep(self, row: str, people: Sequence[NodePart]) -> dict[str, str]:
        """Write the files; returns what to store beside the row of the last step.

        Files that the database does not name now are removed; those it names stay until the next
        time.

        Args:
            row: the hash of the row.
            people: the tables of all nodes, in the folder of segments.
        """
        home, step = home_of(self.stored.folder), self.graph.steps - 1
        make_private_folder(home.parent)
        make_private_folder(home)
        entry = newest(self.stored.ledger)
        clear(home, {*self.before.files, entry.listed.name} if self.before and entry else set())
        counts, used = self._counts()
        files = self._moved([*(part.name for part in self.graph.parts), *used])
        graph = self.graph
        listed = {
            "colours": graph.colours,
            **{each: getattr(graph, each) for each in ("node_offsets", "prompt", "late", "edges")},
            "parts": [
                list(vars(replace(part, name=_base(part.name))).values()) for part in graph.parts
            ],
            "people": [[_base(each.name), each.first, each.rows, each.text] for each in people],
            "files": files,
            "counts": counts,
        }
        stored = write_packed(home, f"{step:04}-{ENGINE}", listed)
        entry_data = {"form": FORM, "row": row, "step": step, "listed": vars(stored)}
        return {ENGINE: canonical(entry_data)}

    def _counts(self) -> tuple[dict[str, Any], list[str]]:
        """What is listed about counts, and the files that they go on from."""
        views, used = {}, []
        for view, each in self.counts.views.items():
            answers = {}
            for tally, answer in each.counts.answers.items():
                names, more = _files_of(tally, answer)
                used += names
                packed = packed_tally(answer.tallied)
                answers[repr(tally)] = {**packed, **more, "files": [_base(n) for n in names]}
            extent = list(vars(each.counts.extent).values())
            views[view_key(view)] = {"extent": extent, "answers": answers}
        return views, used

    def _moved(self, names: Sequence[str]) -> dict[str, str]:
        """Copy files that are not there yet; the checksums of all, by name."""
        home = home_of(self.stored.folder)
        known = self.before.files if self.before else {}
        new = [name for name in dict.fromkeys(names) if _base(name) not in known]
        tasks = [CopyTask(self.graph.workspace, name, str(home)) for name in new]
        sums = dict(zip(map(_base, new), self.cluster.run(copy, tasks), strict=True))
        sync_folder(home)
        return {_base(name): sums.get(_base(name)) or known[_base(name)] for name in names}


class CopyTask(NamedTuple):
    """A file of a workspace, and where a copy of it goes."""

    workspace: Workspace
    name: str
    home: str


def copy(task: CopyTask) -> str:
    """Copy a file, for its owner alone, and find its checksum; runs on a worker."""
    home, content = Path(task.home), task.workspace.content(task.name)
    hub_adjacency = home / f".graphveil-{uuid.uuid4().hex}.part"
    write_new(hub_adjacency, content)
    hub_adjacency.replace(home / _base(task.name))  # a task that runs twice puts the same there
    return checksum(content)


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def clear(home: Path, named: set[str]) -> None:
    """Remove what the database does not name (any more); here is the one writer."""
    for path in home.iterdir():
        if path.name not in named:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def same_graph(one: SparkGraph, other: SparkGraph) -> bool:
    """Whether the integers of two graphs are the same at every step."""
    names = ("node_offsets", "prompt", "late", "edges")
    return all(np.array_equal(getattr(one, each), getattr(other, each)) for each in names)


# Checking what the workers keep: byte by byte, and against counting everything from scratch.


def compared(
    cluster: Cluster,
    stored: Stored,
    kept: CheckpointState | None,
    graph: SparkGraph,
    counts: SeriesCounts,
    series: Collection[SeriesTerms],
) -> CacheCheck:
    """Compare the checkpoint with the sealed graph, in as many colours, and with its counts."""
    entry = newest(stored.ledger)
    if entry is None:
        return CacheCheck.NOTHING
    home = home_of(stored.folder)
    if not (home / entry.listed.name).exists():
        return CacheCheck.OTHERWISE
    if kept is None:
        return CacheCheck.CHANGED
    if kept.graph.steps < graph.steps:  # another engine has sealed steps since
        return (
            CacheCheck.SAME
            if same_graph(kept.graph, graph.until(kept.graph.steps))
            else CacheCheck.ANOTHER
        )
    before = kept.counts(home, series)
    agree = all(_agree(cluster, each, counts.views[view]) for view, each in before.views.items())
    return (
        CacheCheck.SAME if agree and _same_edges(cluster, kept.graph, graph) else CacheCheck.ANOTHER
    )


def _agree(cluster: Cluster, one: ViewCounts, other: ViewCounts) -> bool:
    """Whether all answers are the same, and all degrees that they go on from."""
    answers = one.counts.answers.items()
    pairs = [(tally, answer, other.counts.answers[tally]) for tally, answer in answers]
    degrees = [
        FileTask(one.seen, *names)  # type: ignore[arg-type]
        for tally, a, b in pairs
        if _by_degrees(tally)
        for names in zip(a.state[1], b.state[1], strict=True)
    ]
    tallied = all(same_tally(a.tallied, b.tallied) for _, a, b in pairs)
    return tallied and all(cluster.run(same_degrees, degrees))


class FileTask(NamedTuple):
    """Two files of degrees."""

    graph: SparkGraph
    one: str
    other: str


def same_degrees(task: FileTask) -> bool:
    """Whether two files hold the same degrees; runs on a worker."""
    read = task.graph.workspace.read
    return bool(read(task.one)["degree"].equals(read(task.other)["degree"]))


class EdgesTask(NamedTuple):
    """The files of one class in two graphs."""

    one: SparkGraph
    other: SparkGraph


def _same_edges(cluster: Cluster, one: SparkGraph, other: SparkGraph) -> bool:
    if not same_graph(one, other) or one.colours != other.colours:
        return False
    colours = range(one.colours)
    tasks = [EdgesTask(one.only([(a, b)]), other.only([(a, b)])) for a in colours for b in colours]
    return all(cluster.run(same_edges, tasks))


def same_edges(task: EdgesTask) -> bool:
    """Whether a class has the same edges in both graphs; runs on a worker."""
    tables = []
    for graph in (task.one, task.other):
        edges = [read_edges(graph, part) for part in graph.parts]
        columns = [
            np.concatenate([np.empty(0, np.int32), *each])
            for each in (
                [e.newer for e in edges],
                [e.entries for e in edges],
                [e.steps() for e in edges],
            )
        ]
        order = np.lexsort(columns[::-1])
        tables.append([column[order] for column in columns])
    return all(np.array_equal(a, b) for a, b in zip(*tables, strict=True))
