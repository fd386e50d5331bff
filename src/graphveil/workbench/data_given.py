"""Data as somebody has it: files, frames, or a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError
from graphveil.graph.intake.records import Records

if TYPE_CHECKING:
    from graphveil.formats import ReadingOptions

_WANTED = "give files, a frame of nodes, of edges or both, a NetworkX graph, or Records"


@dataclass(frozen=True)
class Names:
    """What columns are called; None where they have the usual names."""

    id: str | None
    source: str | None
    target: str | None
    time: str | None
    edge_time: str | None

    @property
    def of_nodes(self) -> dict[str, str]:
        """Those of a table of nodes."""
        return _given(node=self.id, time=self.time)

    @property
    def of_edges(self) -> dict[str, str]:
        """Those of a table of edges."""
        time = self.edge_time or self.time
        return _given(source=self.source, target=self.target, time=time)


def _given(**names: str | None) -> dict[str, str]:
    return {key: name for key, name in names.items() if name is not None}


@dataclass(frozen=True)
class Files:
    """Files of records."""

    paths: list[Path]
    names: Names

    def options(self, more: ReadingOptions | None, undated: str | None) -> ReadingOptions:
        """How to read them."""
        from graphveil.formats import ReadingOptions

        told: dict[str, Any] = _given(**vars(self.names), undated=undated)
        return replace(more or ReadingOptions(), **told)


@dataclass(frozen=True)
class InMemory:
    """Records that are here already, and whether they say that links have a direction."""

    records: Records
    directed: bool | None = None


def recognised(data: tuple[Any, ...], names: Names) -> Files | InMemory:
    """What somebody gave: one thing, several, or a list of several."""
    alone = len(data) == 1 and isinstance(data[0], list | tuple)
    given: Sequence[Any] = data[0] if alone else data
    if given and all(isinstance(each, str | PathLike) for each in given):
        return Files([Path(each) for each in given], names)
    if len(given) == 1 and isinstance(given[0], Records):
        _refuse_names(names, ("id", "source", "target", "time", "edge_time"), "records")
        return InMemory(given[0])
    if len(given) == 1 and hasattr(given[0], "is_directed"):
        return _graph(given[0], names)
    frames = [_collected(each) for each in given]
    if 1 <= len(frames) <= 2 and all(hasattr(each, "columns") for each in frames):
        return InMemory(_frames(frames, names))
    raise ParameterError("data", f"cannot be taken: {_WANTED}")


def _graph(graph: Any, names: Names) -> InMemory:
    from graphveil.formats import from_networkx

    _refuse_names(names, ("id", "source", "target"), "a graph")
    return InMemory(
        from_networkx(graph, time=names.time or "time", edge_time=names.edge_time),
        directed=bool(graph.is_directed()),
    )


def _frames(given: Sequence[Any], names: Names) -> Records:
    from graphveil.formats import from_frames

    if len(given) == 2:
        nodes, edges = given
    else:
        is_edges = {names.source or "source", names.target or "target"} <= set(given[0].columns)
        nodes, edges = (None, given[0]) if is_edges else (given[0], None)
    return from_frames(nodes, edges, node_names=names.of_nodes, edge_names=names.of_edges)


def _collected(given: Any) -> Any:
    """A frame that was lazy, or anything else as it is."""
    import polars as pl

    return given.collect() if isinstance(given, pl.LazyFrame) else given


def _refuse_names(names: Names, useless: tuple[str, ...], kind: str) -> None:
    for name in useless:
        if getattr(names, name) is not None:
            raise ParameterError(name, f"names a column of a frame, and this is {kind}")


def require_for_files(**given: object) -> None:
    """Refuse what only files need."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(name, "is about files, and none was given")
