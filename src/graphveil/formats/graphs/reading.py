"""A graph that was parsed becomes tables: attributes date and judge its elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphveil.formats.columns.dates import undated
from graphveil.formats.columns.names import plain
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claimed, ParsedFile
from graphveil.formats.graphs.attributes import (
    Columns,
    chosen_values,
    edge_selection,
    node_selection,
)
from graphveil.formats.graphs.document import Document, Element
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.selection import Selection
from graphveil.graph.intake.faults import Fault
from graphveil.graph.intake.records import Table

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
    ids, faults = _required(document.nodes, "id", "node")
    columns: Columns = {"node": ids} | chosen_values(document, "node", file, chosen)
    table = _table(columns, document.nodes, file, {"node": "id", **chosen.columns})
    return table.marked(*faults, *_flaws([each.flaw for each in document.nodes], ""))


def _edges(document: Document, file: SourceFile, chosen: Selection) -> Table:
    found = {end: _required(document.edges, end, end) for end in ("source", "target")}
    columns: Columns = {end: ids for end, (ids, _) in found.items()}
    columns |= chosen_values(document, "edge", file, chosen)
    faults = [fault for _, faults in found.values() for fault in faults]
    table = _table(columns, document.edges, file, chosen.columns)
    default = _direction(document)
    turned = [_says(each, default) != default for each in document.edges]
    flaws = [OTHER_DIRECTION if other else "" for other in turned]
    return table.marked(
        *faults,
        *_flaws([each.flaw for each in document.edges], ""),
        *_flaws(flaws, "directed"),
    )


def _flaws(said: Sequence[str], column: str) -> list[Fault]:
    """The elements with which something is wrong, as faults of our column."""
    found = {
        rule: np.array([row for row, each in enumerate(said) if each == rule], np.int64)
        for rule in dict.fromkeys(said)
        if rule
    }
    return [Fault(rows, column, rule, _CORRECT) for rule, rows in found.items()]


def _required(
    elements: Sequence[Element], name: str, column: str
) -> tuple[list[str | None], list[Fault]]:
    """An attribute of every element, and those that lack it, as a fault of our column."""
    given = [element.given.get(name) for element in elements]
    lacking = np.array([row for row, value in enumerate(given) if value is None], np.int64)
    rule, hint = f"the element has no {name}", "Every node needs an id, every edge two ends."
    return given, [Fault(lacking, column, rule, hint)] if len(lacking) else []


def _table(
    columns: Columns,
    elements: Sequence[Element],
    file: SourceFile,
    names: dict[str, str],
) -> Table:
    import polars as pl

    series = {name: pl.Series(values, dtype=pl.String) for name, values in columns.items()}
    lines = np.array([element.line for element in elements], dtype=np.int64)
    return Table(pl.DataFrame(series), file.name, names=names, numbers=lines)


def _direction(document: Document) -> bool | None:
    """What the graph says about all its edges."""
    return _DIRECTIONS.get(plain(document.edge_default or ""))


def _says(edge: Element, default: bool | None) -> bool | None:
    """What an edge says about itself, or else the graph about all."""
    return _SAID.get(plain(edge.given.get("directed", "")), default)
