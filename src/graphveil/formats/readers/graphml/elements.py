"""The elements of a GraphML document: keys, nodes and edges, each with its line.

The parser is the one of the standard library. A document type is refused before it is read,
and with it every entity, so that nothing is expanded and nothing is fetched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from graphveil.errors import InputError, Place
from graphveil.formats.graphs.document import MOST_ELEMENTS, Document, Element, Key

_NOT_READ = {
    "hyperedge": "hyperedges are not supported",
    "graph": "several graphs, or graphs within graphs, are not supported",
}


def read_elements(raw: bytes, name: str, most_nesting: int) -> Document:
    """All elements of a document, or a refusal with its line."""
    collector = _Collector(name, most_nesting)
    try:
        collector.parser.Parse(raw, True)
    except expat.ExpatError as error:
        collector.refuse("the file is not well-formed XML", line=error.lineno)
    except (ValueError, LookupError, UnicodeError):
        collector.refuse("the file names an encoding that is not known", line=1)
    if not collector.graphs:
        collector.refuse("there is no graph in the file", line=1)
    return Document(collector.keys, collector.edge_default, collector.nodes, collector.edges)


@dataclass
class _Collector:
    """Gathers elements while the parser walks through the document."""

    name: str
    most_nesting: int
    keys: dict[str, Key] = field(default_factory=dict)
    edge_default: str | None = None
    nodes: list[Element] = field(default_factory=list)
    edges: list[Element] = field(default_factory=list)
    graphs: int = 0
    open_tags: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    data_key: str = ""
    key_given: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.document_type
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.texts.append

    def document_type(self, *_: object) -> None:
        """Refuse document types: entities would come with them."""
        self.refuse("the file declares a document type (DOCTYPE), which is refused for safety")

    def start(self, tag: str, given: dict[str, str]) -> None:
        """An element begins."""
        tag = tag.rpartition(" ")[2]
        if len(self.open_tags) >= self.most_nesting:
            self.refuse(f"elements are nested more than {self.most_nesting} deep")
        if tag in _NOT_READ and (tag != "graph" or self.graphs):
            self.refuse(_NOT_READ[tag])
        self.open_tags.append(tag)
        self.texts.clear()
        if tag == "graph":
            self.graphs, self.edge_default = 1, given.get("edgedefault")
        elif tag in ("node", "edge"):
            listed = self.nodes if tag == "node" else self.edges
            if len(self.nodes) + len(self.edges) >= MOST_ELEMENTS:
                self.refuse(f"there are more than {MOST_ELEMENTS:,} nodes and edges")
            listed.append(Element(self.parser.CurrentLineNumber, given, {}))
        elif tag == "data":
            self.data_key = given.get("key", "")
        elif tag == "key":
            if given.get("id", "") in self.keys:
                self.refuse("two keys have one id")
            self.key_given = given
            self.declare(None)

    def end(self, _: str) -> None:
        """An element ends; its text is complete."""
        tag = self.open_tags.pop()
        text, owner = "".join(self.texts), self.open_tags[-1] if self.open_tags else ""
        self.texts.clear()
        if tag == "data" and owner in ("node", "edge"):
            listed = self.nodes if owner == "node" else self.edges
            if self.data_key in listed[-1].data:
                self.refuse("the element has two data of one key")
            listed[-1].data[self.data_key] = text
        elif tag == "default" and owner == "key":
            self.declare(text)

    def declare(self, default: str | None) -> None:
        """Note a key, under the name that people know it by."""
        given = self.key_given
        name = given.get("attr.name", given.get("id", ""))
        self.keys[given.get("id", "")] = Key(name, given.get("for", "all"), default)

    def refuse(self, what: str, *, line: int | None = None) -> NoReturn:
        """Refuse the document at a line, by default the current one."""
        at = self.parser.CurrentLineNumber if line is None else line
        raise InputError(
            what,
            place=Place(self.name, at),
            hint="Export it again as plain GraphML: one graph, without a document type.",
        )
