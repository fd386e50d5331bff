"""Walking through XML with one graph: what GraphML and GEXF have in common.

The parser is the one of the standard library. A document type is refused before it is read,
and with it every entity, so that nothing is expanded and nothing is fetched.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, NoReturn
from xml.parsers import expat

from graphveil.errors import InputError, Place
from graphveil.formats.format import Claim
from graphveil.formats.graphs.document import ELEMENT_BYTES, TEXT_BYTES, Document, Element, Key
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import Ceiling, SourceFile

_COSTS = {b"<node": ELEMENT_BYTES, b"<edge": ELEMENT_BYTES}


def claimed_by_root(file: SourceFile, insisted: bool, root: str) -> Claim | None:
    """The claim on a file of XML whose outermost element has a name."""
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):  # XML may be UTF-16
        head = head.replace(b"\0", b"")[2:]
    begins = rf"\s*<(\?xml|!--|!DOCTYPE|[\w:]*{root})".encode()
    outermost = rf"<([\w.-]+:)?{root}[\s/>]".encode()
    found = re.match(begins, head, re.IGNORECASE) and re.search(outermost, head)
    return Claim("network", f"XML whose outermost element is {root}") if insisted or found else None


@dataclass
class XmlWalk(ABC):
    """Gathers elements while the parser walks through a document.

    Attributes:
        name: of the file.
        ceiling: on the memory that elements and texts may take.
        most_nesting: how deep elements may lie in each other.
    """

    name: str
    ceiling: Ceiling
    most_nesting: int
    keys: dict[str, Key] = field(default_factory=dict)
    edge_default: str | None = None
    nodes: list[Element] = field(default_factory=list)
    edges: list[Element] = field(default_factory=list)
    graphs: int = 0
    open_tags: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    kind: ClassVar[str]

    @classmethod
    def document(cls, file: SourceFile, options: ReadingOptions) -> Document:
        """All elements of a file, or a refusal with its line."""
        walk = cls(file.name, file.ceiling, options.most_nesting)
        try:
            file.foreseen(options.document_bytes, _COSTS)
            for block in file.blocks(options.document_bytes):
                walk.parser.Parse(block, False)
            walk.parser.Parse(b"", True)
        except expat.ExpatError as error:
            walk.refuse("the file is not well-formed XML", line=error.lineno)
        except (ValueError, LookupError, UnicodeError):
            walk.refuse("the file names an encoding that is not known", line=1)
        if not walk.graphs:
            walk.refuse("there is no graph in the file", line=1)
        return Document(walk.keys, walk.edge_default, walk.nodes, walk.edges)

    def __post_init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._document_type
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self.texts.append

    @abstractmethod
    def require_read(self, tag: str) -> None:
        """Refuse an element that cannot be read where it stands."""

    @abstractmethod
    def begun(self, tag: str, given: dict[str, str]) -> None:
        """An element begins."""

    @abstractmethod
    def ended(self, tag: str, owner: str, text: str) -> None:
        """An element within another ends, with its own text."""

    def add(self, tag: str, given: dict[str, str], data: dict[str, str]) -> None:
        """A node or an edge begins."""
        texts = sum(TEXT_BYTES + len(text) for text in given.values())
        self.ceiling.take(ELEMENT_BYTES + texts, self.name)
        self.listed(tag).append(Element(self.parser.CurrentLineNumber, given, data))

    def mark_last(self, tag: str, flaw: str) -> None:
        """The node or edge that began last breaks a rule."""
        elements = self.listed(tag)
        elements[-1] = replace(elements[-1], flaw=flaw)

    def listed(self, tag: str) -> list[Element]:
        """The nodes, or the edges."""
        return self.nodes if tag == "node" else self.edges

    def refuse(self, what: str, *, line: int | None = None) -> NoReturn:
        """Refuse the document at a line, by default the current one."""
        at = self.parser.CurrentLineNumber if line is None else line
        hint = f"Export it again as plain {self.kind}: one graph, without a document type."
        raise InputError(what, place=Place(self.name, at), hint=hint)

    def _document_type(self, *_: object) -> None:
        self.refuse("the file declares a document type (DOCTYPE), which is refused for safety")

    def _start(self, tag: str, given: dict[str, str]) -> None:
        tag = tag.rpartition(" ")[2]
        if len(self.open_tags) >= self.most_nesting:
            self.refuse(f"elements are nested more than {self.most_nesting} deep")
        self.require_read(tag)
        self.open_tags.append(tag)
        self.texts.clear()
        self.begun(tag, given)

    def _end(self, _: str) -> None:
        tag, text = self.open_tags.pop(), "".join(self.texts)
        self.texts.clear()
        self.ended(tag, self.open_tags[-1] if self.open_tags else "", text)
