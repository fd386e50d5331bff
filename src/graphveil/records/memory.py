"""Records that are already in memory: rows, arrays, frames and NetworkX graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from graphveil.calendar.columns import as_series
from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.groups import column_of
from graphveil.graph.intake.records import Records, Table, Violation
from graphveil.records.columns import EDGES, NODES, Wanted, match_columns, refuse_repeated

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
Frame: TypeAlias = "pl.DataFrame | pl.LazyFrame | pd.DataFrame"
_USUAL: Mapping[str, str] = MappingProxyType({})
_INT64 = range(-(2**63), 2**63)


def from_rows(
    nodes: Iterable[Sequence[Any] | Mapping[str, Any]],
    edges: Iterable[Sequence[Any] | Mapping[str, Any]] = (),
) -> Records:
    """Records from Python rows: (node, time) and (source, target[, time]), or mappings.

    Ids may be of any type; two ids are one person if their texts are equal.

    Examples:
        >>> records = from_rows([("ann", 2021), ("bob", 2022)], [("ann", "bob")])
        >>> records.nodes.frame.rows()
        [('ann', '2021'), ('bob', '2022')]
    """
    return Records(
        nodes=_rows_table(nodes, NODES, "the nodes"), edges=_rows_table(edges, EDGES, "the edges")
    )


def _rows_table(rows: Iterable[Any], wanted: Wanted, source: str) -> Table:
    names = wanted.required + wanted.optional
    columns: dict[str, list[Any]] = {name: [] for name in names}
    bad = []
    for number, row in enumerate(rows):
        values = _values(row, names, len(wanted.required))
        if values is None:
            bad.append(number)
        for name, value in zip(names, values or [None] * len(names), strict=True):
            columns[name].append(value)
    for name in wanted.optional:
        if all(value is None for value in columns[name]):
            del columns[name]
    rule = f"the row does not have the values {', '.join(wanted.required)}"
    hint = "Rows are counted from 0; add the values, or remove the row."
    table = _table(columns, source)
    return table.marked(Violation(np.array(bad, np.int64), names[0], rule, hint)) if bad else table


def _values(row: Any, names: tuple[str, ...], least: int) -> list[Any] | None:
    if isinstance(row, Mapping):
        values = [row.get(name) for name in names]
        return None if any(name not in row for name in names[:least]) else values
    if isinstance(row, str) or not isinstance(row, Sequence):
        return None
    if not least <= len(row) <= len(names):
        return None
    return [*row, *[None] * (len(names) - len(row))]


def _table(columns: Mapping[str, Any], source: str) -> Table:
    series = {
        name: as_series(values) if name == "time" else id_column_of(values)
        for name, values in columns.items()
    }
    return Table(pl.DataFrame(series), source, first_row=0)


def id_column_of(values: Sequence[Any]) -> pl.Series:
    """A column of ids of any type: whole numbers, or else the text of each."""
    if all(type(value) is int and value in _INT64 for value in values):
        return pl.Series(values, dtype=pl.Int64)
    return pl.Series([_text(value) for value in values], dtype=pl.String)


def is_missing(value: Any) -> bool:
    """Whether a value says that there is none: None, NaN, NaT, pandas.NA or a masked one."""
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    unlike_itself = value != value
    return isinstance(unlike_itself, bool | np.bool_) and bool(unlike_itself)


def _text(value: Any) -> str | None:
    if is_missing(value):
        return None
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def from_arrays(
    node: ArrayLike,
    time: ArrayLike,
    source: ArrayLike,
    target: ArrayLike,
    edge_time: ArrayLike | None = None,
) -> Records:
    """Records from NumPy arrays: one entry per node, one per edge.

    Examples:
        >>> records = from_arrays(node=[1, 2], time=[2021, 2022], source=[1], target=[2])
        >>> records.nodes.frame.shape, records.edges.frame.shape
        ((2, 2), (1, 2))
    """
    nodes = {"node": _array(node), "time": _array(time)}
    edges = {"source": _array(source), "target": _array(target)}
    if edge_time is not None:
        edges["time"] = _array(edge_time)
    return Records(
        nodes=_array_table(nodes, "the node arrays"), edges=_array_table(edges, "the edge arrays")
    )


def _array(values: ArrayLike) -> np.ndarray[Any, Any]:
    """An array; of a list, which may mix kinds, the very objects, not what NumPy makes of all."""
    return np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)


def _array_table(arrays: dict[str, np.ndarray[Any, Any]], source: str) -> Table:
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1 or any(array.ndim != 1 for array in arrays.values()):
        raise InputError(
            f"the arrays {', '.join(arrays)} must be one-dimensional and equally long",
            place=Place(source),
        )
    columns = {name: _column(array, name) for name, array in arrays.items()}
    return Table(pl.DataFrame(columns), source, first_row=0)


def _column(array: np.ndarray[Any, Any], name: str) -> pl.Series:
    if array.dtype == object:
        return as_series(array.tolist()) if name == "time" else id_column_of(array.tolist())
    return pl.Series(array)


def from_frames(
    nodes: Frame | None = None,
    edges: Frame | None = None,
    *,
    node_names: Mapping[str, str] = _USUAL,
    edge_names: Mapping[str, str] = _USUAL,
    groups: Mapping[str, str] = _USUAL,
) -> Records:
    """Records from polars or pandas frames with the columns of the native pair.

    Args:
        nodes: `node` and `time`; None if everybody is known already.
        edges: `source`, `target` and perhaps `time`; None if there are no new ones.
        node_names: what some of these columns are called in the first.
        edge_names: what they are called in the second.
        groups: which column of the first has the label of a person in a group of the study.

    Examples:
        >>> seen = pl.DataFrame({"person": ["ann", "bob"], "time": [2021, 2022]})
        >>> from_frames(seen, node_names={"node": "person"}).nodes.frame.columns
        ['node', 'time']
    """
    return Records(
        nodes=_frame_table(nodes, *_labelled(NODES, groups, node_names)),
        edges=_frame_table(edges, EDGES, "the edges frame", edge_names),
    )


def _labelled(
    wanted: Wanted, groups: Mapping[str, str], called: Mapping[str, str]
) -> tuple[Wanted, str, Mapping[str, str]]:
    """The columns of people with those of their groups, which must be there, too."""
    columns = {column_of(group): column for group, column in groups.items()}
    return Wanted((*wanted.required, *columns)), "the nodes frame", {**called, **columns}


def _frame_table(
    frame: Frame | None, wanted: Wanted, source: str, called: Mapping[str, str]
) -> Table:
    if frame is None:
        return _table({name: [] for name in wanted.required}, source)
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    found = [str(name) for name in frame.columns]
    names = match_columns(found, wanted, source, called)
    refuse_repeated(found, names.values(), Place(source))
    if isinstance(frame, pl.DataFrame):
        chosen = frame.select(pl.col(theirs).alias(name) for name, theirs in names.items())
        return Table(chosen, source, first_row=0, names=names)
    columns = {name: _pandas_column(frame[theirs], name) for name, theirs in names.items()}
    return Table(pl.DataFrame(columns), source, first_row=0, names=names)


def _pandas_column(series: pd.Series[Any], name: str) -> pl.Series:
    if series.dtype == object:
        values = [None if is_missing(value) else value for value in series]
        return as_series(values) if name == "time" else id_column_of(values)
    return pl.from_pandas(series)


def from_networkx(
    graph: nx.Graph[Any],
    *,
    time: str = "time",
    edge_time: str | None = None,
    groups: Mapping[str, str] = _USUAL,
) -> Records:
    """Records from a graph; begin the sequence with ``directed=graph.is_directed()``.

    Parallel edges of a multigraph become one edge, as repeated edges always do.

    Args:
        graph: any kind of NetworkX graph; every node needs the attribute.
        time: the attribute's name; edges may carry it too.
        edge_time: what it is called on edges, if it is something else there.
        groups: which attribute has the label of a person in a group of the study.

    Examples:
        >>> graph = nx.Graph()
        >>> graph.add_nodes_from(["ann", "bob"], time=2021)
        >>> graph.add_edge("ann", "bob")
        >>> from_networkx(graph).edges.frame.rows()
        [('ann', 'bob')]
    """
    on_edges = edge_time or time
    nodes = [(node, given.get(time)) for node, given in graph.nodes(data=True)]
    edges = [(u, v, given.get(on_edges)) for u, v, given in graph.edges(data=True)]
    records = from_rows(nodes, edges)
    labels = {
        column_of(group): id_column_of([given.get(name) for _, given in graph.nodes(data=True)])
        for group, name in groups.items()
    }
    frame = records.nodes.frame.with_columns(**labels)
    return replace(records, nodes=replace(records.nodes, frame=frame))
