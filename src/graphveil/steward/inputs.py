"""Inputs from Python: files, frames, graphs and plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from graphveil.deferred import pl
from graphveil.errors import ParameterError
from graphveil.graph.groups import Group, Groups
from graphveil.graph.intake.records import Records
from graphveil.mechanisms.planning import AUTO
from graphveil.noise.exact_numbers import Exact, as_text, exact
from graphveil.steward.requests import EXAMPLES, SeriesRequest, series_data
from graphveil.study.promise_entries import SeriesPromise

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.graph.promises import BoundLike
    from graphveil.records import ReadingOptions


_WANTED = "give files, tables of nodes, of edges or both, a NetworkX or igraph graph, or Records"


@dataclass(frozen=True)
class Names:
    """What columns are called; None where they have the usual names."""

    id: str | None
    source: str | None
    target: str | None
    time: str | None
    edge_time: str | None
    groups: Mapping[str, str] = field(default_factory=dict)

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
        from graphveil.records import ReadingOptions

        columns = {name: value for name, value in vars(self.names).items() if name != "groups"}
        given: dict[str, Any] = _given(**columns, undated=undated)
        if self.names.groups:
            given["group"] = tuple(f"{name}={at}" for name, at in self.names.groups.items())
        return replace(more or ReadingOptions(), **given)


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
        _refuse_names(names, ("id", "source", "target", "time", "edge_time", "groups"), "records")
        return InMemory(given[0])
    if len(given) == 1 and hasattr(given[0], "is_directed"):
        return _graph(given[0], names)
    frames = [_collected(each) for each in given]
    if 1 <= len(frames) <= 2 and all(hasattr(each, "columns") for each in frames):
        return InMemory(_frames(frames, names))
    raise ParameterError("data", f"cannot be taken: {_WANTED}")


def _graph(graph: Any, names: Names) -> InMemory:
    from graphveil.records import from_networkx

    _refuse_names(names, ("id", "source", "target"), "a graph")
    if hasattr(graph, "to_networkx"):  # igraph, whose vertices may have names
        named = "name" if "name" in graph.vs.attributes() else None
        graph = graph.to_networkx(vertex_attr_hashable=named)
    return InMemory(
        from_networkx(
            graph, time=names.time or "time", edge_time=names.edge_time, groups=names.groups
        ),
        directed=bool(graph.is_directed()),
    )


def _frames(given: Sequence[Any], names: Names) -> Records:
    from graphveil.records import from_frames

    if len(given) == 2:
        nodes, edges = given
    else:
        is_edges = {names.source or "source", names.target or "target"} <= set(given[0].columns)
        nodes, edges = (None, given[0]) if is_edges else (given[0], None)
    return from_frames(
        nodes,
        edges,
        node_names=names.of_nodes,
        edge_names=names.of_edges,
        groups={} if nodes is None else names.groups,
    )


def _collected(given: Any) -> Any:
    """A frame that was lazy, or of another library that speaks Arrow; anything else as it is."""
    if isinstance(given, pl.LazyFrame):
        return given.collect()
    known = isinstance(given, pl.DataFrame) or type(given).__module__.startswith("pandas")
    speaks_arrow = hasattr(given, "__arrow_c_stream__") and not known
    return pl.DataFrame(given) if speaks_arrow else given


def _refuse_names(names: Names, useless: tuple[str, ...], kind: str) -> None:
    for name in useless:
        if getattr(names, name):
            raise ParameterError(name, f"names a column of a frame, and this is {kind}")


def require_for_files(**given: object) -> None:
    """Refuse what only files need."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(name, "is about files, and none was given")


# Plain values: names, numbers and dictionaries become what a steward can request.


SeriesGiven: TypeAlias = (
    "Mapping[str, Mapping[str, Any] | SeriesPromise | Exact | None] | Sequence[str | SeriesPromise]"
)
_OF_THE_SERIES = {each.name for each in fields(SeriesRequest)} - {"parameters", "name"}
_EXACT = ("epsilon", "delta", "pool")


def exact_text(parameter: str, value: Exact) -> str:
    """A number as it would be typed."""
    return as_text(exact(parameter, value))


def calendar_of(
    given: Calendar | None, every: str | int, first: object, last: object, steps: int | None
) -> Calendar:
    """The public steps, as a calendar or as what one is made of."""
    from graphveil.steward.drafting import calendar

    if given is not None:
        if (first, last, steps) != (None, None, None):
            raise ParameterError("calendar", "says already what first, last and steps would")
        return given
    if first is None:
        raise ParameterError("first", "is needed: where the first step begins, such as 2021")
    if last is not None and steps is not None:
        raise ParameterError("steps", "give either last or steps")
    rhythm, start = str(every), str(first)
    if steps is None:
        return calendar(rhythm, start, None if last is None else str(last))
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ParameterError("steps", f"must be a whole number of at least 1, not {steps!r}")
    return calendar(rhythm, start, calendar(rhythm, start).label(steps - 1))


def promised(
    bound: BoundLike | None,
    reason: str | None,
    hubs: int | Sequence[int] | None,
    if_broken: str,
    directed: bool,
) -> dict[str, Any]:
    """What a study promises about links, in the terms of a request."""
    from graphveil.graph.promises import DegreeBound, HubBound, InOutBound, NoBound, as_bound

    if bound is None or isinstance(bound, NoBound):
        if hubs is not None or reason is not None:
            raise ParameterError("bound", "is None, and so nothing can be said about it")
        return {"no_bound": True, "directed": directed or bool(bound and bound.directed)}
    if reason is None:
        hint = "Say why the public may believe the bound, or promise nothing: None."
        raise ParameterError("bound_reason", "is missing", hint=hint)
    within = as_bound(bound)
    if isinstance(within, HubBound):
        if hubs is not None:
            raise ParameterError("hubs", "are in the bound already")
        hubs = within.hubs if any(within.hubs) else None
        if_broken = "refuse" if within.checked else "continue"
        within = within.within
    options: dict[str, Any] = {"bound_reason": reason, "if_broken": if_broken}
    options["hubs"] = (hubs,) if isinstance(hubs, int) else None if hubs is None else tuple(hubs)
    if isinstance(within, DegreeBound):
        return options | {"degree": within.degree, "directed": directed}
    if not isinstance(within, InOutBound):
        raise ParameterError("bound", "is of a kind that a study cannot promise")
    limits = {"inward": within.inward, "outward": within.outward}
    return options | limits | {"oriented": within.oriented, "directed": True}


GroupsGiven: TypeAlias = "Mapping[str, Sequence[str] | Sequence[int]] | Sequence[str]"


def groups_of(given: GroupsGiven) -> Groups:
    """Public lists of labels: by name, labels or cut points; or texts as commands take them."""
    if not isinstance(given, Mapping):
        return Groups.of(given)
    members = []
    for name, listed in given.items():
        if isinstance(listed, str) or not listed:
            raise ParameterError("groups", f"'{name}' must be a list of labels, or of cut points")
        numbers = [each for each in listed if isinstance(each, int)]
        texts = tuple(str(each) for each in listed)
        whole = len(numbers) == len(texts)
        members.append(Group.cut(name, numbers) if whole else Group(name, texts))
    return Groups(tuple(members))


def series_of(given: SeriesGiven) -> tuple[SeriesRequest, ...]:
    """The series that are asked for."""
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise ParameterError(
            "series", f"must be a list such as {EXAMPLES}, or a dictionary by name"
        )
    if isinstance(given, Mapping):
        return tuple(_named(name, options) for name, options in given.items())
    return tuple(_written(each) if isinstance(each, str) else _promised(each) for each in given)


def _written(line: str) -> SeriesRequest:
    """A series on one line, as the commands take it."""
    return SeriesRequest(**series_data(line))


def _named(name: str, options: Mapping[str, Any] | SeriesPromise | Exact | None) -> SeriesRequest:
    if isinstance(options, SeriesPromise):
        return _promised(options)
    entries: dict[str, Any] = {} if options is None else {"epsilon": options}
    if isinstance(options, Mapping):
        entries = dict(options)
    own = {key: value for key, value in entries.items() if key in _OF_THE_SERIES}
    own |= {key: exact_text(key, own[key]) for key in _EXACT if own.get(key) is not None}
    parameters = {key: value for key, value in entries.items() if key not in _OF_THE_SERIES}
    return SeriesRequest(**{"statistic": name, **own}, name=name, parameters=parameters)


def _promised(series: SeriesPromise) -> SeriesRequest:
    """The request for a series that is written out already."""
    entries = series.model_dump()
    own = {key: entries[key] for key in (*_OF_THE_SERIES, "name", "parameters") if key in entries}
    if series.mechanism == AUTO:
        del own["mechanism"]
    return SeriesRequest(**own)
