"""Random records with awkward people among them, each of which knows the persons that it names.

A person is removed from a case by leaving out the records that name them.
"""

from __future__ import annotations

import random
import unicodedata
from dataclasses import dataclass, replace

from graphveil.graph.intake.rules import RecordRules
from graphveil.records import ReadingOptions

PLAIN_IDS = ["1", "2", "3", "10", "7", "07", "-5", "a1", "b2", "B2", "c3", "p 4", "q5|S1", "q5|S2"]
PLAIN_IDS += ["r6|2003", "r6|2004-05|x"]
ODD_IDS = [
    "9" * 19, "-" + "8" * 20, "Zo\u00eb1", "Zoe\u03081", "a\u200b1", "\ufeffa1", " a1 ", "x,6",
    "x;6", 'h"7', "NA", "none", "2001-05", "node", "source", "#8", "t\tb9", "e\u2028z1", "id1",
    "1.0", "\u00e92",
]  # fmt: skip
DATES = ["2001", "2002-03", "2003-04-05", "2004-05-06T07:08:09Z"]
ODD_DATES = ["", "NA", "7/8/2005", "spring", "2002.0", " 2003 ", "31/12/2004", "9999", "1999"]
ODD_DATES += ["03/2004", "2003-Q2", "2004-W11", "3/14/04", "14-Mar-2003", "20040314", "38000"]
MARKS = ["note", "note", "5", "17", "", "facility"]
DISTANCES, ODD_DISTANCES = ["0.01", "0.0150", "0.02", "0"], ["", "far", "-1", "1e-3", "inf", "NaN"]
CONDITIONS = ["more=note|5|17", "more!=facility", "more>=5", "nodes:more=note"]
NODE_STYLES = [
    "quoted", "stray", "open", "close", "loose", "wide", "twice", "DX", "edi", "own", "extra",
]  # fmt: skip
LINK_STYLES = ["quoted", "stray", "loose", "wide", "directed", "removed"]
TIMES = dict.fromkeys(["microbetrace", "linelist", "graphml", "contacts", "gexf"], "when")
HELD = ("workbook", "database", "duckdb", "r", "parquet")
TIMES |= dict.fromkeys(["microbetrace-session", *HELD], "when")
TIMES |= {"hivtrace": "dx", "godata": "when"}
MEASURED = ("contacts", "microbetrace-session", "matrix", *HELD)
TEXTS = ("pair", "microbetrace", "contacts", "linelist")  # may be UTF-16
FORMATS_OF = {  # each way, and the registered formats that it goes through
    "pair": ("pair",),
    "hivtrace": ("hivtrace",),
    "hivtrace compact": ("hivtrace",),
    "hivtrace and nodes": ("hivtrace", "pair"),
    "microbetrace": ("microbetrace",),
    "contacts": ("contacts",),
    "linelist": ("linelist",),
    "linelist and nodes": ("linelist", "pair"),
    "snap": ("snap",),
    "snap-temporal": ("snap-temporal",),
    "snap-temporal and nodes": ("snap-temporal", "pair"),
    "graphml": ("graphml",),
    "gexf": ("gexf",),
    "pajek": ("pajek",),
    "microbetrace-session": ("microbetrace-session",),
    "godata": ("godata",),
    "matrix and nodes": ("matrix", "pair"),
    "matrix in a workbook": ("matrix", "contacts"),
    **dict.fromkeys(HELD, ("contacts",)),
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
    mark: str = "note"  # what conditions look at


@dataclass(frozen=True)
class Link:
    """A record of two persons."""

    source: str
    target: str
    time: str
    style: str = "plain"  # or one of LINK_STYLES
    distance: str = "0.01"


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
    dated_only: bool = False  # leave out people without a date
    until_end: bool = False  # leave out records dated after the last step
    encoding: str = "utf-8"

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
    case = Case(
        way,
        tuple(nodes),
        tuple(links),
        reading_options(chance, way),
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
        skip=chance.random() < 0.8,
        dated_only=chance.random() < 0.2,
        until_end=chance.random() < 0.3,
        encoding="utf-16" if way in TEXTS and chance.random() < 0.2 else "utf-8",
    )
    return _with_second_thoughts(chance, case) if case.skip else case


def _with_second_thoughts(chance: random.Random, case: Case) -> Case:
    """More rows of the same people, of other times: where bad rows are left out, not refused."""
    nodes = list(case.nodes)
    for again in chance.choices([node for node in nodes if node.style != "blank"], k=3):
        other = replace(again, time=chance.choice([*DATES, "2009", "", "soon"]))
        nodes.insert(chance.randint(0, len(nodes)), other)
    return replace(case, nodes=tuple(nodes))


def _name(chance: random.Random, oddity: float) -> str:
    return chance.choice(ODD_IDS if chance.random() < oddity else PLAIN_IDS)


def _node(chance: random.Random, name: str, oddity: float) -> Node:
    time = chance.choice(ODD_DATES if chance.random() < oddity else DATES)
    style = chance.choice(NODE_STYLES) if chance.random() < oddity else "plain"
    return Node(name, time, style, chance.choice(MARKS))


def _link(chance: random.Random, names: list[str], hub: str | None, oddity: float) -> Link:
    source = hub or chance.choice(names)
    target = _name(chance, 0.5) if chance.random() < oddity / 4 else chance.choice(names)
    style = chance.choice(LINK_STYLES) if chance.random() < oddity else "plain"
    distance = chance.choice(ODD_DISTANCES if chance.random() < oddity else DISTANCES)
    return Link(source, target, chance.choice(["", "", "2003", "2005"]), style, distance)


def reading_options(chance: random.Random, way: str) -> ReadingOptions:
    first = way.partition(" ")[0]
    edge_time = "met" if first == "hivtrace" and chance.random() < 0.5 else None
    named = TIMES.get(first)
    in_ids = chance.random() < 0.1
    return ReadingOptions(
        time=chance.choice([named, f"{named},more"]) if named and not in_ids else None,
        time_from_id=chance.choice(["|2", "|-1"]) if in_ids else None,
        edge_time=edge_time,
        max_distance="0.015" if first in MEASURED else None,
        where=(chance.choice(CONDITIONS),) if named and chance.random() < 0.3 else (),
        day_first=chance.choice([None, None, True, False]),
        excel_dates=chance.random() < 0.1,
    )
