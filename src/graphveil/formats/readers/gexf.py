"""GEXF, as Gephi writes it: one graph whose nodes, and optionally edges, have declared attributes.

An attribute `start` of nodes or edges can be their date: `--time start`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from graphveil.errors import InputError, Place
from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.graphs.document import MOST_ELEMENTS, Document, Element, Key
from graphveil.formats.graphs.reading import read_graph
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import SourceFile

_BEGINS = re.compile(rb"\s*<(\?xml|!--|!DOCTYPE|[\w:]*gexf)", re.IGNORECASE)
_ROOT = re.compile(rb"<([\w.-]+:)?gexf[\s/>]")
_OWN = ("start", "label", "weight")  # attributes that elements have without declaring them
_DIRECTED = {"directed": "true", "undirected": "false"}


def _claims(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):  # XML may be UTF-16
        head = head.replace(b"\0", b"")[2:]
    if not insisted and not (_BEGINS.match(head) and _ROOT.search(head)):
        return None
    return Claim("network", "XML whose outermost element is gexf")


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [read_graph(each, GEXF.name, _document(each.file, options), options) for each in files]


def _document(file: SourceFile, options: ReadingOptions) -> Document:
    """All elements, or a refusal with its line."""
    collector = _Collector(file.name, options.most_nesting)
    try:
        collector.parser.Parse(file.whole(options.document_bytes), True)
    except expat.ExpatError as error:
        collector.refuse("the file is not well-formed XML", line=error.lineno)
    except (ValueError, LookupError, UnicodeError):
        collector.refuse("the file names an encoding that is not known", line=1)
    if not collector.graphs:
        collector.refuse("there is no graph in the file", line=1)
    return Document(collector.keys, collector.edge_default, collector.nodes, collector.edges)


def _own_keys() -> dict[str, Key]:
    return {f"{kind}.{name}": Key(name, kind, None) for kind in ("node", "edge") for name in _OWN}


@dataclass
class _Collector:
    """Gathers elements while the parser walks through the document."""

    name: str
    most_nesting: int
    keys: dict[str, Key] = field(default_factory=_own_keys)
    edge_default: str | None = None
    nodes: list[Element] = field(default_factory=list)
    edges: list[Element] = field(default_factory=list)
    graphs: int = 0
    open_tags: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    domain: str = ""
    key: str = ""

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
        if tag in ("graph", "node", "edge") and tag in self.open_tags:
            self.refuse("graphs or nodes within others are not supported")
        self.open_tags.append(tag)
        self.texts.clear()
        begun = {
            "graph": self.graph, "attributes": self.attributes, "attribute": self.attribute,
            "node": self.element, "edge": self.element, "attvalue": self.value,
        }.get(tag)  # fmt: skip
        if begun is not None:
            begun(given)

    def end(self, _: str) -> None:
        """An element ends; its text is complete."""
        tag = self.open_tags.pop()
        if tag == "default" and self.key in self.keys:
            declared = self.keys[self.key]
            self.keys[self.key] = Key(declared.name, declared.domain, "".join(self.texts))
        self.texts.clear()

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
        self.keys[self.key] = Key(given.get("title", given.get("id", "")), self.domain, None)

    def element(self, given: dict[str, str]) -> None:
        """A node or an edge begins."""
        tag = self.open_tags[-1]
        if len(self.nodes) + len(self.edges) >= MOST_ELEMENTS:
            self.refuse(f"there are more than {MOST_ELEMENTS:,} nodes and edges")
        kind = _DIRECTED.get(given.get("type", "").lower(), "")
        told = {**given, "directed": kind} if tag == "edge" else given
        data = {f"{tag}.{name}": given[name] for name in _OWN if name in given}
        listed = self.nodes if tag == "node" else self.edges
        listed.append(Element(self.parser.CurrentLineNumber, told, data))

    def value(self, given: dict[str, str]) -> None:
        """What an element says under an attribute."""
        owner = next((tag for tag in reversed(self.open_tags) if tag in ("node", "edge")), None)
        if owner is None:
            return
        element = (self.nodes if owner == "node" else self.edges)[-1]
        key = f"{owner}.id.{given.get('for', given.get('id', ''))}"
        if key in element.data:
            self.refuse("the element has two values of one attribute")
        element.data[key] = given.get("value", "")

    def refuse(self, what: str, *, line: int | None = None) -> NoReturn:
        """Refuse the document at a line, by default the current one."""
        at = self.parser.CurrentLineNumber if line is None else line
        hint = "Export it again as plain GEXF: one graph, without a document type."
        raise InputError(what, place=Place(self.name, at), hint=hint)


GEXF = register(
    Format(
        name="gexf",
        summary="GEXF, as Gephi writes it",
        looks="XML with one graph; nodes have a date attribute that you name, or start",
        claims=_claims,
        read=_read,
    )
)
