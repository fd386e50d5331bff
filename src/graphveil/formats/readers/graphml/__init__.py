"""GraphML: one graph whose nodes, and optionally edges, have a date as an attribute."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.graphs.document import Document
from graphveil.formats.graphs.reading import read_graph
from graphveil.formats.options import ReadingOptions
from graphveil.formats.readers.graphml.elements import read_elements
from graphveil.formats.source_file import SourceFile

_BEGINS = re.compile(rb"\s*<(\?xml|!--|!DOCTYPE|[\w:]*graphml)", re.IGNORECASE)
_ROOT = re.compile(rb"<([\w.-]+:)?graphml[\s/>]")


def _claims(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):  # XML may be UTF-16
        head = head.replace(b"\0", b"")[2:]
    if not insisted and not (_BEGINS.match(head) and _ROOT.search(head)):
        return None
    return Claim("network", "XML whose outermost element is graphml")


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [
        read_graph(each, GRAPHML.name, _document(each.file, options), options) for each in files
    ]


def _document(file: SourceFile, options: ReadingOptions) -> Document:
    return read_elements(file.whole(options.document_bytes), file.name, options.most_nesting)


GRAPHML = register(
    Format(
        name="graphml",
        summary="GraphML",
        looks="XML with one graph; nodes have a date attribute, called time or named by you",
        claims=_claims,
        read=_read,
    )
)
