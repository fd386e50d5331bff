"""GraphML: one graph whose nodes, and optionally edges, have a date as an attribute."""

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


def _claims(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    return claimed_by_root(file, insisted, "graphml")


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [
        read_graph(each, GRAPHML.name, _Walk.document(each.file, options), options)
        for each in files
    ]


@dataclass
class _Walk(XmlWalk):
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
        claims=_claims,
        read=_read,
    )
)
