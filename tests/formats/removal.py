"""The rule of removal as a property: random files, one person's records deleted, both read.

`python tests/formats/removal.py REMOVALS [SEED]` runs many and shows the tally; a violation is
shown with the seed that repeats it. A case is a set of records, each of which knows the persons
that it names; every way in writes them out, record by record, so that a person is removed by
leaving the records out. The whole way from bytes to steps is gone: reading, the study's refusal of
people by links, resolving, intake.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

if __name__ == "__main__":  # one process among others: small tables need no threads
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import pandas as pd

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError, Place
from graphveil.formats import ReadingOptions, from_arrays, from_frames, from_rows, read_records
from graphveil.formats.tables import delimited, spaced
from graphveil.graph.intake import append
from graphveil.graph.records import Records
from graphveil.graph.resolving import resolve
from graphveil.graph.rules import RecordRules
from graphveil.graph.sequence import GraphSequence
from graphveil.graph.sifting import sifted
from graphveil.study.records.adding import require_listed

YEARS = Calendar.yearly(2001, 2006)
PLAIN_IDS = ["1", "2", "3", "10", "7", "07", "-5", "a1", "b2", "B2", "c3", "p 4", "q5|S1", "q5|S2"]
ODD_IDS = [
    "9" * 19, "-" + "8" * 20, "Zo\u00eb1", "Zoe\u03081", "a\u200b1", "\ufeffa1", " a1 ", "x,6",
    "x;6", 'h"7', "NA", "none", "2001-05", "node", "source", "#8", "t\tb9", "e\u2028z1", "id1",
    "1.0", "\u00e92",
]  # fmt: skip
DATES = ["2001", "2002-03", "2003-04-05", "2004-05-06T07:08:09Z"]
ODD_DATES = ["", "NA", "7/8/2005", "spring", "2002.0", " 2003 ", "31/12/2004", "9999", "1999"]
NODE_STYLES = [
    "quoted", "stray", "open", "close", "loose", "wide", "twice", "DX", "edi", "own", "extra",
]  # fmt: skip
LINK_STYLES = ["quoted", "stray", "loose", "wide", "directed", "removed"]
FORMATS_OF = {  # each way, and the registered formats that it goes through
    "pair": ("pair",),
    "hivtrace": ("hivtrace",),
    "hivtrace compact": ("hivtrace",),
    "hivtrace and nodes": ("hivtrace", "pair"),
    "microbetrace": ("microbetrace",),
    "linelist": ("linelist",),
    "linelist and nodes": ("linelist", "pair"),
    "snap": ("snap",),
    "snap-temporal": ("snap-temporal",),
    "snap-temporal and nodes": ("snap-temporal", "pair"),
    "graphml": ("graphml",),
    "rows": (),
    "arrays": (),
    "frames": (),
}


@dataclass(frozen=True)
class Node:
    """A record of a person; nobody's if it is only a blank line."""

    name: str
    time: str
    style: str = "plain"  # or one of NODE_STYLES, or blank


@dataclass(frozen=True)
class Link:
    """A record of two persons."""

    source: str
    target: str
    time: str
    style: str = "plain"  # or one of LINK_STYLES


@dataclass(frozen=True)
class Case:
    """Records, how they are written, and under which rules they are read."""

    way: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    options: ReadingOptions
    rules: RecordRules
    fast: bool = False  # take the way of large files
    insisted: bool = False
    commented: bool = True
    listed: bool = True  # HIV-TRACE: isolated people are listed
    separator: str = ","
    skip: bool = False

    def person(self, name: str) -> str:
        """Whom an id means, by the book."""
        shown = "".join(c for c in name if unicodedata.category(c) != "Cf")
        person = unicodedata.normalize("NFC", shown).strip()
        if self.rules.person_separator:
            person = person.partition(self.rules.person_separator)[0].strip()
        return unicodedata.normalize("NFC", person.lower()) if self.rules.case == "fold" else person

    def persons(self) -> list[str]:
        """Everybody who is named."""
        names = [node.name for node in self.nodes if node.style != "blank"]
        names += [end for link in self.links for end in (link.source, link.target)]
        return sorted({self.person(name) for name in names})

    def without(self, person: str) -> Case:
        """The case without any record that names a person."""
        nodes = (n for n in self.nodes if n.style == "blank" or self.person(n.name) != person)
        links = (
            each
            for each in self.links
            if person not in (self.person(each.source), self.person(each.target))
        )
        return replace(self, nodes=tuple(nodes), links=tuple(links))


Owners = dict[tuple[str, int], set[str]]  # names in a row of a file


@dataclass
class Written:
    """Files, and whom each row of them names."""

    files: dict[str, str] = field(default_factory=dict)
    owners: Owners = field(default_factory=dict)

    def lines(self, name: str, lines: Sequence[tuple[str, Sequence[str]]]) -> None:
        """One more file, line by line."""
        self.files[name] = "".join(f"{line}\n" for line, _ in lines)
        for number, (_, names) in enumerate(lines, start=1):
            self.own(name, number, names)

    def own(self, name: str, row: int, names: Sequence[str]) -> None:
        """Note whom a row names."""
        self.owners.setdefault((name, row), set()).update(names)


# ---------------------------------------------------------------- how each way writes records


def _row(cells: Sequence[str], style: str, separator: str) -> str:
    if style == "stray":
        return separator.join(['"' + cells[0], *cells[1:]])
    if style in ("open", "close"):
        last = '"' + cells[-1] if style == "open" else cells[-1] + '"'
        return separator.join([*cells[:-1], last])
    if style == "loose":
        first = f'{cells[0][:1]}"{cells[0][1:]}'
        return separator.join([first, *cells[1:]]) + '"'
    if style == "wide":
        cells = [*cells, "more"]
    room = io.StringIO()
    quoting: Any = csv.QUOTE_ALL if style == "quoted" else csv.QUOTE_MINIMAL
    csv.writer(room, delimiter=separator, quoting=quoting, lineterminator="").writerow(cells)
    return room.getvalue()


def _node_list(written: Written, case: Case, name: str, header: str) -> None:
    lines: list[tuple[str, Sequence[str]]] = [(header.replace(",", case.separator), ())]
    for node in case.nodes:
        if node.style == "blank":
            lines.append((node.name, ()))
        else:
            row = _row([node.name, node.time, "note"], node.style, case.separator)
            lines.append((row, (node.name,)))
    written.lines(name, lines)


def _link_list(written: Written, case: Case, name: str, header: str) -> None:
    lines: list[tuple[str, Sequence[str]]] = [(header.replace(",", case.separator), ())]
    for each in case.links:
        row = _row([each.source, each.target, each.time], each.style, case.separator)
        lines.append((row, (each.source, each.target)))
    written.lines(name, lines)


def _pair(case: Case) -> Written:
    written = Written()
    _node_list(written, case, "nodes.csv", "node,time,more")
    _link_list(written, case, "edges.csv", "source,target,time")
    return written


def _microbetrace(case: Case) -> Written:
    written = Written()
    _node_list(written, case, "nodes.csv", "ID,when,more")
    _link_list(written, case, "links.csv", "Source,Target,time")
    return written


def _nodes_beside(case: Case, written: Written) -> Written:
    plain = replace(case, separator=",")
    _node_list(written, plain, "nodes.csv", "node,time,more")
    return written


def _linelist(case: Case) -> Written:
    written = Written()
    lines: list[tuple[str, Sequence[str]]] = [("case_id,when,infected_by", ())]
    used: set[int] = set()
    for node in case.nodes:
        if node.style == "blank":
            lines.append((node.name, ()))
            continue
        own = [
            (number, each)
            for number, each in enumerate(case.links)
            if number not in used and each.target == node.name
        ]
        used.update(number for number, _ in own)
        infectors = [each.source for _, each in own]
        row = _row([node.name, node.time, "; ".join(infectors)], node.style, ",")
        lines.append((row, [node.name, *infectors]))
    written.lines("cases.csv", lines)
    return written


def _entry(node: Node) -> dict[str, Any]:
    years = [int(node.time[:4]), 1, 1] if node.time[:4].isdigit() else None
    entry: dict[str, Any] = {"id": node.name}
    if node.style == "DX":
        return {**entry, "patient_attributes": {"DX ": node.time}}
    if node.style == "edi":
        return {**entry, "edi": years, "baseline": years}
    if node.style == "own":
        return {**entry, "dx": node.time, "patient_attributes": {"other": "2001"}}
    if node.style == "extra":
        return {**entry, "edi": years, "Dx": None, "patient_attributes": {"dx": years or "NA"}}
    return {**entry, "patient_attributes": {"dx": node.time, "seen": "2002"}}


def _json_line(node: Node) -> str:
    text = json.dumps(_entry(node))
    return text[:-1] + ', "id": 5}' if node.style == "twice" else text


def _hivtrace(case: Case) -> Written:
    people = [node for node in case.nodes if node.style != "blank"]
    at: dict[str, int] = {}
    for number, node in enumerate(people):
        at.setdefault(node.name, number)
    known = [each for each in case.links if each.source in at and each.target in at]
    written = Written()
    lines: list[tuple[str, Sequence[str]]] = [('{"Settings": {}, "Nodes": [', ())]
    for number, node in enumerate(people):
        comma = "," if number < len(people) - 1 else ""
        lines.append((_json_line(node) + comma, (node.name,)))
        written.own("results.json", number, (node.name,))
    lines.append(('], "Edges": [', ()))
    for number, each in enumerate(known):
        entry = {
            "source": at[each.source], "target": at[each.target], "met": each.time or None,
            "directed": each.style == "directed", "removed": each.style == "removed",
        }  # fmt: skip
        comma = "," if number < len(known) - 1 else ""
        lines.append((json.dumps(entry) + comma, (each.source, each.target)))
        written.own("results.json", number, (each.source, each.target))
    lines.append(('], "Singletons": []}' if case.listed else '], "Singletons": 4}', ()))
    written.lines("results.json", lines)
    return written


def _compact(case: Case) -> Written:
    written = _hivtrace(replace(case, nodes=_once_keyed(case.nodes)))
    plain = json.loads(written.files["results.json"])
    for section in ("Nodes", "Edges"):
        fields = dict.fromkeys(field for entry in plain[section] for field in entry)
        plain[section] = {
            field: [entry.get(field) for entry in plain[section]]
            for field in dict.fromkeys((*fields, "id"))
        }
    return Written({"results.json": json.dumps(plain)}, written.owners)


def _once_keyed(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(replace(n, style="plain") if n.style == "twice" else n for n in nodes)


def _snap(case: Case) -> Written:
    written = Written()
    above = [("# Undirected graph", ())] if case.commented else []
    edges = [(f"{e.source}\t{e.target}", (e.source, e.target)) for e in case.links]
    written.lines("edges.txt", [*above, *edges])
    says = [("# NodeId Date", ())] if case.commented else []
    # An id with a blank and no date is, in this format, another id with a date.
    listed = [n for n in case.nodes if n.style != "blank" and (n.time or " " not in n.name)]
    dates = [(f"{n.name} {n.time}", (n.name,)) for n in listed]
    written.lines("dates.txt", [*says, *dates])
    return written


def _temporal(case: Case) -> Written:
    written = Written()
    seconds = {"": 1_000_000_000, "2003": 1_050_000_000, "2005": 1_110_000_000}
    above = [("# messages", ())] if case.commented else []
    lines = [
        (f"{e.source} {e.target} {seconds.get(e.time, 1_020_000_000)}", (e.source, e.target))
        for e in case.links
    ]
    written.lines("messages.txt", [*above, *lines])
    return written


def _graphml(case: Case) -> Written:
    keys = '<key id="d0" for="node" attr.name="when"/><key id="d1" for="edge" attr.name="time"/>'
    lines: list[tuple[str, Sequence[str]]] = [
        (f"<graphml>{keys}", ()),
        ('<graph edgedefault="undirected">', ()),
    ]
    for node in case.nodes:
        if node.style == "blank":
            lines.append(("", ()))
            continue
        again = '<data key="d0">2001</data>' if node.style == "twice" else ""
        data = f'<data key="d0">{node.time}</data>{again}'
        data = "" if node.style == "edi" else data
        lines.append((f"<node id={quoteattr(node.name)}>{data}</node>", (node.name,)))
    for each in case.links:
        mark = ' directed="true"' if each.style == "directed" else ""
        ends = f"source={quoteattr(each.source)} target={quoteattr(each.target)}"
        data = f'<data key="d1">{each.time}</data>' if each.time else ""
        lines.append((f"<edge {ends}{mark}>{data}</edge>", (each.source, each.target)))
    lines.append(("</graph></graphml>", ()))
    written = Written()
    written.lines("graph.graphml", lines)
    return written


WRITERS: dict[str, Callable[[Case], Written]] = {
    "pair": _pair,
    "hivtrace": _hivtrace,
    "hivtrace compact": _compact,
    "hivtrace and nodes": lambda case: _nodes_beside(case, _hivtrace(case)),
    "microbetrace": _microbetrace,
    "linelist": _linelist,
    "linelist and nodes": lambda case: _nodes_beside(case, _linelist(case)),
    "snap": _snap,
    "snap-temporal": _temporal,
    "snap-temporal and nodes": lambda case: _nodes_beside(case, _temporal(case)),
    "graphml": _graphml,
}
ONE_FORMAT = {"pair": "pair", "snap": "snap", "snap-temporal": "snap-temporal"}


# ---------------------------------------------------------------- reading both


@contextmanager
def _as_if_large(fast: bool) -> Iterator[None]:
    before = delimited._WORTH_THE_TRY, spaced._WORTH_THE_TRY
    if fast:
        delimited._WORTH_THE_TRY = spaced._WORTH_THE_TRY = 0
    try:
        yield
    finally:
        delimited._WORTH_THE_TRY, spaced._WORTH_THE_TRY = before


def _object(name: str, style: str) -> Any:
    """An id as Python people have it: numbers are numbers, now and then floats."""
    if name.isdecimal() and str(int(name)) == name and len(name) < 16:
        return float(name) if style == "quoted" else int(name)
    return name


def _column(rows: Sequence[tuple[Any, ...]], place: int) -> list[Any]:
    return [row[place] for row in rows]


def _in_memory(case: Case) -> Records:
    nodes = [(_object(n.name, n.style), n.time or None) for n in case.nodes if n.style != "blank"]
    links = [
        (_object(e.source, e.style), _object(e.target, e.style), e.time or None) for e in case.links
    ]
    if case.way == "rows":
        return from_rows(nodes, links)
    node, time = (_column(nodes, place) for place in range(2))
    source, target, own = (_column(links, place) for place in range(3))
    if case.way == "arrays":
        return from_arrays(node, time, source, target, own)
    return from_frames(
        pd.DataFrame({"node": node, "time": np.array(time, dtype=object)}),
        pd.DataFrame({"source": source, "target": target, "time": np.array(own, dtype=object)}),
    )


def _records(case: Case, folder: Path) -> Records:
    if case.way not in WRITERS:
        return _in_memory(case)
    paths = []
    for name, text in WRITERS[case.way](case).files.items():
        paths.append(folder / name)
        paths[-1].write_text(text, encoding="utf-8", newline="")
    options = replace(case.options, mark_bad=case.skip)
    with _as_if_large(case.fast):
        insisted = ONE_FORMAT.get(case.way) if case.insisted else None
        return read_records(paths, format=insisted, options=options).records


Taken = tuple[list[tuple[str, int]], list[tuple[str, str, int]]]


def taken(case: Case, folder: Path) -> Taken | InputError:
    """Everybody in the order of labels with their step, and links as they are taken; or why not."""
    try:
        records = _records(case, folder)
        require_listed(records)

        def take(some: Records) -> GraphSequence:
            empty = GraphSequence.begin(YEARS)
            return append(empty, resolve(some, YEARS, case.rules), late="join").sequence

        return _told(sifted(records, take).taken if case.skip else take(records))
    except InputError as refused:
        return refused


def _told(sequence: GraphSequence) -> Taken:
    ids = [str(name) for name in sequence.ids.to_list()]
    steps = np.searchsorted(sequence.node_offsets, np.arange(len(ids)), side="right") - 1
    people = list(zip(ids, steps.tolist(), strict=True))
    links = [
        (ids[int(entry) >> 2], ids[newer], int(steps[newer]))
        for newer in range(len(ids))
        for entry in sequence.entries[sequence.offsets[newer] : sequence.offsets[newer + 1]]
    ]
    late = sequence.late
    at = np.searchsorted(late.offsets, np.arange(len(late)), side="right") - 1
    links += [
        (ids[int(entry) >> 2], ids[int(newer)], int(step))
        for entry, newer, step in zip(late.entries, late.newer, at, strict=True)
    ]
    return people, links


def violations(case: Case, folder: Path) -> list[str]:
    """What is wrong between the records with each person in turn and those without."""
    whole = taken(case, folder)
    found = []
    for person in case.persons():
        said = _violation(case, person, whole, taken(case.without(person), folder))
        if said:
            found.append(f"without {person!r}: {said}")
    return found


def _violation(
    case: Case, person: str, whole: Taken | InputError, rest: Taken | InputError
) -> str | None:
    if isinstance(whole, InputError):
        if isinstance(rest, InputError) or _is_own(case, person, whole):
            return None
        return f"refused for what is not theirs: {whole}"
    if isinstance(rest, InputError):
        return f"refused without them: {rest}"
    people = [each for each in whole[0] if each[0] != person]
    links = [each for each in whole[1] if person not in each[:2]]
    if people != rest[0]:
        return f"people or their order: {people} and {rest[0]}"
    return None if links == rest[1] else f"links or their order: {links} and {rest[1]}"


def _is_own(case: Case, person: str, refused: InputError) -> bool:
    """Whether a refusal is about a record that names the person."""
    if refused.place is None or case.way not in WRITERS:
        return case.way not in WRITERS
    written = WRITERS[case.way](case)
    names = set(written.owners.get((refused.place.source, refused.place.row or 0), ()))
    if "snap" in case.way:  # without a header the first record says what the others have to be
        names |= written.owners.get((refused.place.source, _first(written, refused.place)), set())
    return person in {case.person(name) for name in names}


def _first(written: Written, place: Place) -> int:
    """The line of the first record of a file."""
    lines = written.files[place.source].split("\n")
    return next((n for n, line in enumerate(lines, 1) if line and line[0] != "#"), 0)


# ---------------------------------------------------------------- random cases


def random_case(chance: random.Random, way: str) -> Case:
    """Some people with records, most of them in order, and now and then something odd."""
    oddity = chance.choice([0.0, 0.05, 0.3])
    names = [_name(chance, oddity) for _ in range(chance.randint(1, 6))]
    nodes = [_node(chance, name, oddity) for name in names]
    nodes += [chance.choice(nodes) for _ in range(chance.choice([0, 0, 1]))]
    if chance.random() < 0.15 and way != "snap":
        nodes.insert(chance.randint(0, len(nodes)), Node(chance.choice(["", ",,"]), "", "blank"))
    hub = chance.choice(names) if chance.random() < 0.3 else None
    links = [_link(chance, names, hub, oddity) for _ in range(chance.randint(0, 6))]
    return Case(
        way,
        tuple(nodes),
        tuple(links),
        _options(chance, way),
        RecordRules(
            person_separator=chance.choice(["", "", "|"]),
            case=chance.choice(["keep", "keep", "fold"]),
            undated=chance.choice(["refuse", "first", "first"]),
        ),
        fast=chance.random() < 0.3,
        insisted="snap" in way or chance.random() < 0.5,
        commented=" and " in way or chance.random() < 0.5,  # a bare file may become nothing
        listed=chance.random() < 0.9,
        separator=chance.choice(",,,;\t"),
        skip=chance.random() < 0.2,
    )


def _name(chance: random.Random, oddity: float) -> str:
    return chance.choice(ODD_IDS if chance.random() < oddity else PLAIN_IDS)


def _node(chance: random.Random, name: str, oddity: float) -> Node:
    time = chance.choice(ODD_DATES if chance.random() < oddity else DATES)
    return Node(name, time, chance.choice(NODE_STYLES) if chance.random() < oddity else "plain")


def _link(chance: random.Random, names: list[str], hub: str | None, oddity: float) -> Link:
    source = hub or chance.choice(names)
    target = _name(chance, 0.5) if chance.random() < oddity / 4 else chance.choice(names)
    style = chance.choice(LINK_STYLES) if chance.random() < oddity else "plain"
    return Link(source, target, chance.choice(["", "", "2003", "2005"]), style)


def _options(chance: random.Random, way: str) -> ReadingOptions:
    time = {"hivtrace": "dx", "microbetrace": "when", "linelist": "when", "graphml": "when"}
    first = way.partition(" ")[0]
    edge_time = "met" if first == "hivtrace" and chance.random() < 0.5 else None
    return ReadingOptions(
        time=time.get(first), edge_time=edge_time, day_first=chance.random() < 0.2
    )


@dataclass
class Tally:
    """How many removals of each way were tried, and which of them broke the rule."""

    tried: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        tried = [f"{way:26} {count:8,}" for way, count in sorted(self.tried.items())]
        total = f"{self.tried.total():,} removals, {len(self.broken)} violations"
        return "\n".join([*tried, *self.broken[:20], total])


def run(
    removals: int,
    seed: int,
    ways: Sequence[str] = tuple(FORMATS_OF),
    watch: Callable[[Tally], object] = lambda tally: None,
) -> Tally:
    """Remove everybody in turn from random files, way after way, until there are so many.

    The same seed gives the same files.
    """
    tally, number = Tally(), 0
    with tempfile.TemporaryDirectory() as room:
        while tally.tried.total() < removals:
            way = ways[number % len(ways)]
            case = random_case(random.Random(f"{seed}/{number}"), way)
            said = violations(case, Path(room))
            tally.tried[way] += len(case.persons())
            tally.broken += [f"seed {seed}, file {number}, {way}, {each}" for each in said]
            number += 1
            if number % 1000 == 0:
                watch(tally)
    return tally


def main() -> None:
    """Run cases and show the tally, at the end and now and then."""
    removals, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tally = run(removals, seed, watch=lambda tally: print(tally, flush=True))
    print(tally)
    sys.exit(bool(tally.broken))


if __name__ == "__main__":
    main()
