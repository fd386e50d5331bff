"""GraphML and GEXF: one graph in XML, whose nodes, and perhaps edges, have a date as an attribute.

GEXF is what Gephi writes. Its attributes are declared; `start` of nodes or edges can be their date:
`--time start`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphveil.records.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.records.graphs import (
    ELEMENT_BYTES,
    TEXT_BYTES,
    Key,
    XmlWalk,
    claimed_by_root,
    read_graph,
)
from graphveil.records.options import ReadingOptions
from graphveil.records.source_file import SourceFile

_NOT_READ = {
    "hyperedge": "hyperedges are not supported",
    "graph": "several graphs, or graphs within graphs, are not supported",
}
_OWN = ("start", "label", "weight")  # attributes that elements have without declaring them
_DIRECTED = {"directed": "true", "undirected": "false"}


def _claims_graphml(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    return claimed_by_root(file, insisted, "graphml")


def _read_graphml(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [
        read_graph(each, GRAPHML.name, _GraphMl.document(each.file, options), options)
        for each in files
    ]


@dataclass
class _GraphMl(XmlWalk):
    """Keys are declared, and nodes and edges have data under them."""

    data_key: str = ""
    key_given: dict[str, str] = field(default_factory=dict)

    kind = "GraphML"

    def require_read(self, tag: str) -> None:
        """One graph, without hyperedges."""
        if tag in _NOT_READ and (tag != "graph" or self.graphs):
            self.refuse(_NOT_READ[tag])

    def begun(self, tag: str, given: dict[str, str]) -> None:
        """An element begins."""
        if tag == "graph":
            self.graphs, self.edge_default = 1, given.get("edgedefault")
        elif tag in ("node", "edge"):
            self.add(tag, given, {})
        elif tag == "data":
            self.data_key = given.get("key", "")
        elif tag == "key":
            if given.get("id", "") in self.keys:
                self.refuse("two keys have one id")
            self.key_given = given
            self.declare(None)

    def ended(self, tag: str, owner: str, text: str) -> None:
        """Data and defaults are texts."""
        if tag == "data" and owner in ("node", "edge"):
            data = self.listed(owner)[-1].data
            if self.data_key in data:
                self.mark_last(owner, "the element has two data of one key")
            self.ceiling.take(TEXT_BYTES + len(text), self.name)
            data[self.data_key] = text
        elif tag == "default" and owner == "key":
            self.declare(text)

    def declare(self, default: str | None) -> None:
        """Note a key, under the name that people know it by."""
        self.ceiling.take(ELEMENT_BYTES, self.name)
        given = self.key_given
        name = given.get("attr.name", given.get("id", ""))
        self.keys[given.get("id", "")] = Key(name, given.get("for", "all"), default)


GRAPHML = register(
    Format(
        name="graphml",
        summary="GraphML",
        looks="XML with one graph; nodes have a date attribute, called time or named by you",
        claims=_claims_graphml,
        read=_read_graphml,
    )
)


def _claims_gexf(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    return claimed_by_root(file, insisted, "gexf")


def _read_gexf(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [
        read_graph(each, GEXF.name, _Gexf.document(each.file, options), options) for each in files
    ]


def _own_keys() -> dict[str, Key]:
    return {f"{kind}.{name}": Key(name, kind, None) for kind in ("node", "edge") for name in _OWN}


@dataclass
class _Gexf(XmlWalk):
    """Attributes are declared by class, and have values within nodes and edges."""

    keys: dict[str, Key] = field(default_factory=_own_keys)
    domain: str = ""
    key: str = ""

    kind = "GEXF"

    def require_read(self, tag: str) -> None:
        """One graph, and nothing within itself."""
        if tag in ("graph", "node", "edge") and tag in self.open_tags:
            self.refuse("graphs or nodes within others are not supported")

    def begun(self, tag: str, given: dict[str, str]) -> None:
        """An element begins."""
        begun = {
            "graph": self.graph, "attributes": self.attributes, "attribute": self.attribute,
            "node": self.element, "edge": self.element, "attvalue": self.value,
        }.get(tag)  # fmt: skip
        if begun is not None:
            begun(given)

    def ended(self, tag: str, owner: str, text: str) -> None:
        """The default of an attribute is its text."""
        if tag == "default" and self.key in self.keys:
            declared = self.keys[self.key]
            self.keys[self.key] = Key(declared.name, declared.domain, text)

    def graph(self, given: dict[str, str]) -> None:
        """The graph begins; there may be one."""
        if self.graphs:
            self.refuse("several graphs are not supported")
        self.graphs, self.edge_default = 1, given.get("defaultedgetype", "undirected")

    def attributes(self, given: dict[str, str]) -> None:
        """Attributes of nodes or of edges follow."""
        self.domain = given.get("class", "node")

    def attribute(self, given: dict[str, str]) -> None:
        """An attribute is declared, under the name that people know it by."""
        self.key = f"{self.domain}.id.{given.get('id', '')}"
        if self.key in self.keys:
            self.refuse("two attributes have one id")
        self.ceiling.take(ELEMENT_BYTES, self.name)
        self.keys[self.key] = Key(given.get("title", given.get("id", "")), self.domain, None)

    def element(self, given: dict[str, str]) -> None:
        """A node or an edge begins."""
        tag = self.open_tags[-1]
        kind = _DIRECTED.get(given.get("type", "").lower(), "")
        attributes = {**given, "directed": kind} if tag == "edge" else given
        self.add(tag, attributes, {f"{tag}.{name}": given[name] for name in _OWN if name in given})

    def value(self, given: dict[str, str]) -> None:
        """What an element says under an attribute."""
        owner = next((tag for tag in reversed(self.open_tags) if tag in ("node", "edge")), None)
        if owner is None:
            return
        element = self.listed(owner)[-1]
        key = f"{owner}.id.{given.get('for', given.get('id', ''))}"
        if key in element.data:
            self.mark_last(owner, "the element has two values of one attribute")
        element.data[key] = given.get("value", "")
        self.ceiling.take(TEXT_BYTES + len(element.data[key]), self.name)


GEXF = register(
    Format(
        name="gexf",
        summary="GEXF, as Gephi writes it",
        looks="XML with one graph; nodes have a date attribute that you name, or start",
        claims=_claims_gexf,
        read=_read_gexf,
    )
)
