"""Pajek networks (`.net`): vertices with labels, then arcs and edges between their numbers.

The label is the id: numbers are places in the list, and would change if somebody were removed. What
is in square brackets is a time: of `[2014-2016,2018]`, 2014.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from graphveil.errors import InputError, Place
from graphveil.records.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.records.graphs import ELEMENT_BYTES, TEXT_BYTES, Document, Element, Key, read_graph
from graphveil.records.options import ReadingOptions
from graphveil.records.source_file import Ceiling, SourceFile, decoded

_BEGINS = re.compile(rb"(\xef\xbb\xbf)?(\s*%[^\n]*\n)*\s*\*(network|vertices)\b", re.IGNORECASE)
_SECTION = re.compile(r"\*(\w+)")
_VERTEX = re.compile(r'([0-9]+)(?:\s+(?:"([^"]*)"|([^\s\["]+)))?(.*)')
_LINK = re.compile(r"([0-9]+)\s+([0-9]+)(?:\s+([^\s\[]+))?(.*)")
_TIME = re.compile(r"\[\s*([0-9]+)[^\]]*\]")
_KEYS = {"time": Key("time", "all", None), "value": Key("value", "edge", None)}
_LINKS = {"arcs": "true", "edges": "false", "arcslist": "true", "edgeslist": "false"}
_READ = ("network", "vertices", *_LINKS)
_DEFAULTS = {(True, False): "directed", (False, True): "undirected"}


def _claims(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    if not insisted and not _BEGINS.match(file.head):
        return None
    return Claim("network", "a first line with *Vertices or *Network")


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [read_graph(each, PAJEK.name, _document(each.file, options), options) for each in files]


@dataclass
class _Collector:
    """Gathers vertices and links line by line."""

    name: str
    ceiling: Ceiling
    labels: dict[str, str] = field(default_factory=dict)
    nodes: list[Element] = field(default_factory=list)
    edges: list[Element] = field(default_factory=list)
    sections: set[str] = field(default_factory=set)

    def line(self, number: int, section: str, line: str) -> None:
        """One line of a section."""
        if section == "vertices":
            self.vertex(number, line)
        elif section.endswith("list"):
            first, *others = line.split()
            for other in others:
                self.link(number, section, first, other, {})
        elif section in _LINKS:
            match = _LINK.fullmatch(line)
            if match is None:  # nobody is named, which is a fault of this line
                self.link(number, section, "", "", {})
                return
            attributes = {"value": match[3]} if match[3] else {}
            self.link(number, section, match[1], match[2], attributes | _time(match[4]))

    def vertex(self, number: int, line: str) -> None:
        """A vertex: its place, its label, and perhaps a time."""
        match = _VERTEX.fullmatch(line)
        label = (match[2] or match[3] or "") if match else ""
        if match is None or not label.strip():  # without an id, which is a fault of this line
            self.nodes.append(Element(number, {}, {}))
            return
        if match[1] in self.labels:
            self.refuse("two vertices have one number", number)
        self.ceiling.take(ELEMENT_BYTES + TEXT_BYTES + len(label), self.name)
        self.labels[match[1]] = label
        self.nodes.append(Element(number, {"id": label}, _time(match[4])))

    def link(
        self, number: int, section: str, source: str, target: str, attributes: dict[str, str]
    ) -> None:
        """A link between two vertices, by their numbers; one that is not listed names nobody."""
        self.ceiling.take(ELEMENT_BYTES + TEXT_BYTES * len(attributes), self.name)
        named = {"source": self.labels.get(source), "target": self.labels.get(target)}
        ends = {end: label for end, label in named.items() if label is not None}
        self.edges.append(Element(number, {**ends, "directed": _LINKS[section]}, attributes))

    def refuse(self, what: str, line: int) -> NoReturn:
        """Refuse the file at a line."""
        hint = 'Write *Vertices with lines such as 1 "label", then *Arcs or *Edges.'
        raise InputError(what, place=Place(self.name, line), hint=hint)


def _document(file: SourceFile, options: ReadingOptions) -> Document:
    text = decoded(file.rows(options.table_bytes), file.name)
    collector, section = _Collector(file.name, file.ceiling), ""
    for number, line in _lines(text):
        heading = _SECTION.match(line)
        if heading is None:
            collector.line(number, section, line)
            continue
        section = heading[1].lower()
        collector.sections.add(section)
        if section not in _READ:
            collector.refuse("this section is not read; vertices, arcs and edges are", number)
    if "vertices" not in collector.sections:
        collector.refuse("there is no section *Vertices", 1)
    kinds = tuple(
        any(each.startswith(kind) for each in collector.sections) for kind in ("arc", "edge")
    )
    return Document(
        _KEYS,
        _DEFAULTS.get((kinds[0], kinds[1])),
        collector.nodes,
        _links_of(collector, kinds),
    )


def _links_of(collector: _Collector, kinds: tuple[bool, ...]) -> list[Element]:
    """The links; where both kinds are declared, none says of itself that it has a direction."""
    if not all(kinds):
        return collector.edges
    return [
        Element(each.line, {**each.given, "directed": ""}, each.data) for each in collector.edges
    ]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are neither blank nor comments, with their numbers."""
    for number, line in enumerate(io.StringIO(text, newline="\n"), start=1):
        bare = line.strip()
        if bare and not bare.startswith("%"):
            yield number, bare


def _time(rest: str) -> dict[str, str]:
    match = _TIME.search(rest)
    return {"time": match[1]} if match else {}


PAJEK = register(
    Format(
        name="pajek",
        summary="Pajek network",
        looks="text with *Vertices, a number and a label per line, then *Arcs or *Edges",
        claims=_claims,
        read=_read,
    )
)
