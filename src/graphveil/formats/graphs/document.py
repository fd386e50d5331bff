"""Graphs as documents describe them: declared attributes, nodes and edges, each with its line."""

from __future__ import annotations

from dataclasses import dataclass

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
