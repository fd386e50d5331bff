"""Datasets by name or path: the paper's two models, its real sources, and any native pair.

A dataset is named as ``synthetic-1``, with other parameters as ``synthetic-1:years=10,k=2``;
sources of which the user supplies the files as ``patents:FOLDER``; a native pair by its folder
or as ``NODES,EDGES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError, ParameterError, nearest_name
from graphveil.graph.intake.records import Records
from graphveil.graph.sequence import GraphSequence
from graphveil.lab import dataset_files, dataset_sources
from graphveil.lab.dataset_files import require_folder
from graphveil.lab.dataset_sources import STAND_INS
from graphveil.lab.synthetic import SyntheticOne, SyntheticTwo

Model = SyntheticOne | SyntheticTwo
DEFAULT_SEED = 0


@dataclass(frozen=True, eq=False)
class Dataset:
    """A growing graph for experiments.

    Attributes:
        name: its short name; of files, the name of their folder.
        title: what it is, in a few words.
        records: nodes and edges; edges run from earlier to later, or as the files have them.
        directed_by_nature: whether directions mean something in the source.
        calendar: how times become steps.
        stand_in: a sentence if it replaces data that cannot be obtained.
        source: where it comes from.
    """

    name: str
    title: str
    records: Records
    directed_by_nature: bool
    calendar: Calendar
    stand_in: str | None
    source: str

    def sequence(self, directed: bool) -> GraphSequence:
        """The directed or undirected version; nodes without a time are in the first step."""
        empty = GraphSequence.begin(self.calendar, directed=directed)
        return empty.extend(self.records, undated="first").sequence


@dataclass(frozen=True)
class Entry:
    """A dataset that has a name.

    Attributes:
        name: the name.
        title: what it is, in a few words.
        usage: how it is written, with its parameters or files.
        note: what has to be known about it.
        load: the dataset, from the text after the colon and a seed.
    """

    name: str
    title: str
    usage: str
    note: str
    load: Callable[[str, int], Dataset]


def names() -> list[str]:
    """The names that `dataset` knows."""
    return list(_entries())


def entries() -> list[Entry]:
    """Every dataset that has a name."""
    return list(_entries().values())


def dataset(
    name_or_path: str,
    *,
    seed: int | None = None,
    reading: dataset_files.HowToRead = dataset_files.AS_THEY_ARE,
) -> Dataset:
    """A dataset by name or path.

    Args:
        name_or_path: as described at the top of this module.
        seed: what a model is drawn with, 0 if left out; data from files do not depend on it.
        reading: how files are read, which may have any format.
    """
    name, _, rest = name_or_path.partition(":")
    known = _entries()
    if name in known:
        return known[name].load(rest, DEFAULT_SEED if seed is None else seed)
    if dataset_files.looks_like_path(name_or_path):
        return _from_files(name_or_path, reading)
    raise _unknown(name, list(known))


def model(name: str) -> tuple[str, Model]:
    """One of the two models, with parameters as in ``synthetic-1:years=10``."""
    short, _, given = name.partition(":")
    if short not in MODELS:
        if short in _entries():
            raise ParameterError(
                "name",
                f"'{short}' is not a model to draw from",
                hint=f"Models: {', '.join(MODELS)}.",
            )
        raise _unknown(short, list(MODELS))
    return short, _with_parameters(MODELS[short], given)


MODELS: dict[str, Model] = {"synthetic-1": SyntheticOne(), "synthetic-2": SyntheticTwo()}
_TITLES = {
    "synthetic-1": "preferential attachment; cases may be isolated, and grow old",
    "synthetic-2": "an SIR epidemic over a Barabási–Albert network",
    "patents": "US patents for computer hardware and software, cited to citing",
    "acl-signed": "ACL papers, cited to citing, positive citations",
    "hiv-trace": "HIV transmission network, linked by similar viruses",
}
_MODEL_NOTES = {
    "synthetic-1": "the paper's parameters give 1,900 nodes; its table has 1,990",
    "synthetic-2": "the model as described has about 930 edges; the paper's table has 588",
}


def _entries() -> dict[str, Entry]:
    drawn = [
        Entry(name, _TITLES[name], _usage(name), _MODEL_NOTES[name], _loader(name))
        for name in MODELS
    ]
    return {entry.name: entry for entry in [*drawn, *_SUPPLIED]}


def _usage(name: str) -> str:
    given = MODELS[name]
    shown = (f"{field.name}={getattr(given, field.name)}" for field in fields(given))
    return f"{name}:{','.join(shown)}"


def _loader(name: str) -> Callable[[str, int], Dataset]:
    return lambda given, seed: _drawn(name, _with_parameters(MODELS[name], given), seed)


def _drawn(name: str, chosen: Model, seed: int) -> Dataset:
    """A draw of a model; the initial nodes count into the first step."""
    return Dataset(
        name=name,
        title=_TITLES[name],
        records=chosen.draw(seed).records(),
        directed_by_nature=True,
        calendar=Calendar.every(1, 1),
        stand_in=None,
        source=f"drawn with seed {seed}: {chosen}",
    )


def _with_parameters(given: Model, text: str) -> Model:
    """The model with parameters such as "years=10,k=2"."""
    known = {field.name: type(getattr(given, field.name)) for field in fields(given)}
    changed = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise _unknown_parameter(name, list(known))
        try:
            changed[name] = known[name](value)
        except ValueError as error:
            raise ParameterError(name, f"cannot be '{value}'") from error
    return replace(given, **changed)


def _unknown_parameter(name: str, known: list[str]) -> ParameterError:
    offer = nearest_name(name, known)
    return ParameterError("dataset", f"there is no parameter called '{name}'", hint=offer)


def _unknown(name: str, known: list[str]) -> ParameterError:
    offer = nearest_name(name, known, ", or a folder")
    return ParameterError("dataset", f"there is none called '{name}'", hint=offer)


def _patents(place: str, seed: int) -> Dataset:
    folder = require_folder(
        place, (dataset_sources.PATENT_CITATIONS, dataset_sources.PATENTS), "patents:FOLDER"
    )
    return Dataset(
        name="patents",
        title=_TITLES["patents"],
        records=dataset_sources.read_patents(folder),
        directed_by_nature=True,
        calendar=Calendar.yearly(dataset_sources.FIRST_PATENT_YEAR),
        stand_in=None,
        source="NBER patent citation data file, subcategory 22; the user's copy",
    )


def _signed_citations(place: str, seed: int) -> Dataset:
    folder = require_folder(
        place, (dataset_sources.CITATIONS, dataset_sources.PAPERS), "acl-signed:FOLDER"
    )
    return Dataset(
        name="acl-signed",
        title=_TITLES["acl-signed"],
        records=dataset_sources.read_signed_citations(folder),
        directed_by_nature=True,
        calendar=Calendar.yearly(dataset_sources.FIRST_YEAR),
        stand_in=None,
        source="a signed citation list; the user's copy",
    )


def _hiv_trace(place: str, seed: int) -> Dataset:
    path, comma, date = place.rpartition(",")
    if not comma:
        raise InputError(
            "the files of this dataset are not part of graphveil",
            hint="Name a file and the attribute that is the date: hiv-trace:FILE.json,DATE. "
            f"Needed: {dataset_sources.RESULTS.holds}. {dataset_sources.RESULTS.origin}",
        )
    records = dataset_sources.read_hivtrace(Path(path), date)
    return Dataset(
        name="hiv-trace",
        title=_TITLES["hiv-trace"],
        records=records,
        directed_by_nature=False,
        calendar=dataset_files.calendar_for(records.nodes.frame["time"]),
        stand_in="It stands in for the paper's HIV transmission graph: those data are private.",
        source=f"HIV-TRACE results, dated by {date}; the user's copy",
    )


def _from_files(path: str, reading: dataset_files.HowToRead) -> Dataset:
    name, records = dataset_files.read_native(path, reading)
    known = STAND_INS.get(name)
    return Dataset(
        name=name,
        title=known.title if known else "files of nodes and edges",
        records=records,
        directed_by_nature=known.directed_by_nature if known else True,
        calendar=dataset_files.calendar_for(records.nodes.frame["time"]),
        stand_in=known.sentence if known else None,
        source="tables of nodes and edges; the user's copy",
    )


_SUPPLIED = (
    Entry(
        "patents",
        _TITLES["patents"],
        f"patents:FOLDER with {dataset_sources.PATENT_CITATIONS.name} "
        f"and {dataset_sources.PATENTS.name}",
        "not bundled: supply the NBER files as they were published",
        _patents,
    ),
    Entry(
        "acl-signed",
        _TITLES["acl-signed"],
        "acl-signed:FOLDER with papers.csv and citations.csv",
        "not bundled: supply papers(paper, year) and citations(source, target, sign)",
        _signed_citations,
    ),
    Entry(
        "hiv-trace",
        _TITLES["hiv-trace"],
        "hiv-trace:FILE.json,DATE where DATE is a node attribute",
        "the paper's data are private: whatever you supply is a stand-in",
        _hiv_trace,
    ),
)
