"""Graphs as documents (GraphML, GEXF, Pajek): their attributes date and judge elements."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NoReturn
from xml.parsers import expat

import numpy as np

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Table, Violation
from graphveil.records.columns import names_by_text, no_such, plain, unnamed_date
from graphveil.records.dates import look_like_dates, undated
from graphveil.records.format import Claim, Claimed, Note, ParsedFile, file_report
from graphveil.records.options import ReadingOptions
from graphveil.records.selection import OWN_TIME, Selection, named_columns
from graphveil.records.source_file import Ceiling, SourceFile

# Graphs as documents describe them: declared attributes, nodes and edges, each with its line.


ELEMENT_BYTES, TEXT_BYTES = 400, 100  # of memory for a node or an edge, and for each of its texts


@dataclass(frozen=True)
class Key:
    """An attribute that the document declares."""

    name: str
    domain: str
    default: str | None


@dataclass(frozen=True)
class Element:
    """A node or an edge: its line, its own attributes, its data by key, and what is wrong."""

    line: int
    given: dict[str, str]
    data: dict[str, str]
    flaw: str = ""


@dataclass(frozen=True)
class Document:
    """What a file holds.

    Attributes:
        keys: the declared attributes, by their id.
        edge_default: "directed" or "undirected", or whatever else the graph says.
        nodes: in the order of the file; each has an `id`.
        edges: in the order of the file; each has a `source` and a `target`.
    """

    keys: dict[str, Key]
    edge_default: str | None
    nodes: list[Element]
    edges: list[Element]


# Attributes of graphs: which declared ones date and judge elements, and what these say.


Domain = Literal["node", "edge"]
Columns = dict[str, Sequence[str | None]]


def node_selection(
    document: Document, file: SourceFile, options: ReadingOptions
) -> tuple[Selection, InputError | None]:
    """What nodes are dated and judged by, and the refusal of a date that is not there."""
    times, missing = _times(document, "node", options.time or OWN_TIME, file)
    names = _names(document, "node")
    refusal = None if missing is None else _no_time(document, file, options.time, missing)
    return Selection.of(names, "nodes", options, file.name, times), refusal


def edge_selection(
    document: Document, file: SourceFile, options: ReadingOptions
) -> tuple[Selection, InputError | None]:
    """The same for edges."""
    times, missing = _times(document, "edge", options.edge_time or OWN_TIME, file)
    names = _names(document, "edge")
    refusal = None
    if missing is not None and options.edge_time is not None:
        likely = _date_keys(document, "edge", document.edges)
        found = list(names_by_text([key.name for key in document.keys.values()]))
        refusal = no_such("attribute", Place(file.name, column=missing), found, likely)
    return Selection.of(names, "edges", options, file.name, times), refusal


def chosen_values(
    document: Document, domain: Domain, file: SourceFile, chosen: Selection
) -> Columns:
    """What each node or edge says under the attributes that were chosen."""
    by_name = names_by_key(document, domain)
    elements = document.nodes if domain == "node" else document.edges
    defaults = (document.keys[by_name[theirs]].default for theirs in chosen.columns.values())
    file.ceiling.take(len(elements) * sum(len(text or "") for text in defaults), file.name)
    return {
        ours: _values_of(document, elements, by_name[theirs])
        for ours, theirs in chosen.columns.items()
    }


def names_by_key(document: Document, domain: Domain) -> dict[str, str]:
    """The id of each key of nodes or edges, by its name; of two equal names the first."""
    roles: dict[str, str] = {}
    for at, key in document.keys.items():
        if key.domain in (domain, "all"):
            roles.setdefault(key.name, at)
    return roles


def _names(document: Document, domain: Domain) -> list[str]:
    return list(names_by_key(document, domain))


def _times(
    document: Document, domain: Domain, named: str, file: SourceFile
) -> tuple[tuple[str, ...], str | None]:
    """The names of the attributes that are dates, and the first that is not there."""
    wanted = named_columns(named, lambda name: _key(document, domain, name, file) is not None)
    keys = {name: _key(document, domain, name, file) for name in wanted}
    missing = [name for name, key in keys.items() if key is None]
    if missing:
        return (), missing[0]
    return tuple(document.keys[key].name for key in keys.values() if key is not None), None


def _key(document: Document, domain: Domain, name: str, file: SourceFile) -> str | None:
    """The id of the key that people know by this name, for nodes or for edges."""
    keys = {at: key for at, key in document.keys.items() if key.domain in (domain, "all")}
    called = [at for at, key in keys.items() if plain(key.name) == plain(name)]
    matching = called or [at for at in keys if plain(at) == plain(name)]
    if len(matching) > 1:
        raise InputError(
            "two attributes have this name; case and surrounding blanks do not count",
            place=Place(file.name, column=name),
            hint="Rename or remove one of them.",
        )
    return matching[0] if matching else None


def _values_of(document: Document, elements: Sequence[Element], key: str) -> Sequence[str | None]:
    """What each element says under a key, or the default of the key."""
    default = document.keys[key].default
    return [element.data.get(key, default) for element in elements]


def _date_keys(document: Document, domain: Domain, elements: Sequence[Element]) -> list[str]:
    return [
        name
        for name, key in names_by_key(document, domain).items()
        if look_like_dates(_values_of(document, elements, key))
    ]


def _no_time(document: Document, file: SourceFile, named: str | None, missing: str) -> InputError:
    """The refusal of a graph without the date attribute."""
    likely = _date_keys(document, "node", document.nodes)
    if named is not None:
        names = [key.name for key in document.keys.values()]
        return no_such("attribute", Place(file.name, column=missing), names, likely)
    return unnamed_date("attribute", "node", Place(file.name), likely)


_DIRECTIONS = {"directed": True, "undirected": False}
OTHER_DIRECTION = "the edge has another direction than edgedefault says of all"
_CORRECT = "Correct the element, or export the graph again."
_SAID = {"true": True, "false": False, "1": True, "0": False}


def read_graph(
    claimed: Claimed, format_name: str, document: Document, options: ReadingOptions
) -> ParsedFile:
    """What a document of a format gives: dated nodes, and edges that count."""
    file = claimed.file
    people, refusal = node_selection(document, file, options)
    linked, edge_refusal = edge_selection(document, file, options)
    nodes = people.applied(_nodes(document, file, people), options)
    edges = linked.applied(_edges(document, file, linked), options)
    table = nodes.table if people.times else undated(nodes.table)
    dated = [Note(f"dated by the attribute '{', '.join(people.times)}'")] if people.times else []
    notes = [*dated, *nodes.notes, *edges.notes]
    return ParsedFile(
        file_report(claimed, format_name, nodes=[table], edges=[edges.table], notes=notes),
        nodes=(table,),
        edges=(edges.table,),
        directed=_direction(document),
        without_time=refusal,
        without_edge_time=edge_refusal,
        left_out=() if nodes.left_out is None else (nodes.left_out,),
        conditions=people.used | linked.used,
        threshold=linked.threshold,
    )


def _nodes(document: Document, file: SourceFile, chosen: Selection) -> Table:
    ids, violations = _required(document.nodes, "id", "node")
    columns: Columns = {"node": ids} | chosen_values(document, "node", file, chosen)
    table = _table(columns, document.nodes, file, {"node": "id", **chosen.columns})
    return table.marked(*violations, *_flaws([each.flaw for each in document.nodes], ""))


def _edges(document: Document, file: SourceFile, chosen: Selection) -> Table:
    found = {end: _required(document.edges, end, end) for end in ("source", "target")}
    columns: Columns = {end: ids for end, (ids, _) in found.items()}
    columns |= chosen_values(document, "edge", file, chosen)
    violations = [violation for _, violations in found.values() for violation in violations]
    table = _table(columns, document.edges, file, chosen.columns)
    default = _direction(document)
    turned = [_says(each, default) != default for each in document.edges]
    flaws = [OTHER_DIRECTION if other else "" for other in turned]
    return table.marked(
        *violations,
        *_flaws([each.flaw for each in document.edges], ""),
        *_flaws(flaws, "directed"),
    )


def _flaws(rules: Sequence[str], column: str) -> list[Violation]:
    """The elements with which something is wrong, as faults of our column."""
    found = {
        rule: np.array([row for row, each in enumerate(rules) if each == rule], np.int64)
        for rule in dict.fromkeys(rules)
        if rule
    }
    return [Violation(rows, column, rule, _CORRECT) for rule, rows in found.items()]


def _required(
    elements: Sequence[Element], name: str, column: str
) -> tuple[list[str | None], list[Violation]]:
    """An attribute of every element, and those that lack it, as a fault of our column."""
    given = [element.given.get(name) for element in elements]
    lacking = np.array([row for row, value in enumerate(given) if value is None], np.int64)
    rule, hint = f"the element has no {name}", "Every node needs an id, every edge two ends."
    return given, [Violation(lacking, column, rule, hint)] if len(lacking) else []


def _table(
    columns: Columns,
    elements: Sequence[Element],
    file: SourceFile,
    names: dict[str, str],
) -> Table:
    series = {name: pl.Series(values, dtype=pl.String) for name, values in columns.items()}
    lines = np.array([element.line for element in elements], dtype=np.int64)
    return Table(pl.DataFrame(series), file.name, names=names, numbers=lines)


def _direction(document: Document) -> bool | None:
    """What the graph says about all its edges."""
    return _DIRECTIONS.get(plain(document.edge_default or ""))


def _says(edge: Element, default: bool | None) -> bool | None:
    """What an edge says about itself, or else the graph about all."""
    return _SAID.get(plain(edge.given.get("directed", "")), default)


# Walking through XML with one graph: what GraphML and GEXF have in common.
#
# The parser is the one of the standard library. A document type is refused before it is read,
# and with it every entity, so that nothing is expanded and nothing is fetched.


_COSTS = {b"<node": ELEMENT_BYTES, b"<edge": ELEMENT_BYTES}


def claimed_by_root(file: SourceFile, insisted: bool, root: str) -> Claim | None:
    """The claim on a file of XML whose outermost element has a name."""
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):  # XML may be UTF-16
        head = head.replace(b"\0", b"")[2:]
    begins = rf"\s*<(\?xml|!--|!DOCTYPE|[\w:]*{root})".encode()
    outermost = rf"<([\w.-]+:)?{root}[\s/>]".encode()
    match = re.match(begins, head, re.IGNORECASE) and re.search(outermost, head)
    return Claim("network", f"XML whose outermost element is {root}") if insisted or match else None


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
            file.bytes_expected(options.document_bytes, _COSTS)
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
        """Refuse an element that cannot be read where it occurs."""

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
