"""Plain values: names, numbers and dictionaries become what a steward can wish for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

from graphveil.errors import ParameterError
from graphveil.noise.exact_numbers import Exact, as_text, exact
from graphveil.planning import AUTO
from graphveil.steward.beforehand.series_syntax import EXAMPLES, series_data
from graphveil.steward.beforehand.wishes import SeriesWish
from graphveil.study.promise.series import SeriesPromise

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.graph.promises.bound import BoundLike

SeriesGiven: TypeAlias = (
    "Mapping[str, Mapping[str, Any] | SeriesPromise | Exact | None] | Sequence[str | SeriesPromise]"
)
_OF_THE_SERIES = {each.name for each in fields(SeriesWish)} - {"parameters", "name"}
_EXACT = ("epsilon", "delta", "pool")


def exact_text(parameter: str, value: Exact) -> str:
    """A number as it would be typed."""
    return as_text(exact(parameter, value))


def calendar_of(
    given: Calendar | None, every: str | int, first: object, last: object, steps: int | None
) -> Calendar:
    """The public steps, as a calendar or as what one is made of."""
    from graphveil.steward.beforehand.calendars import calendar

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
    """What a study promises about links, in the words of a wish."""
    from graphveil.graph.promises.bound import DegreeBound, InOutBound, as_bound
    from graphveil.graph.promises.hub_bound import HubBound
    from graphveil.graph.promises.no_bound import NoBound

    if bound is None or isinstance(bound, NoBound):
        if hubs is not None or reason is not None:
            raise ParameterError("bound", "is None, and so nothing can be said about it")
        return {"no_bound": True, "directed": directed or bool(bound and bound.directed)}
    within = as_bound(bound)
    if isinstance(within, HubBound):
        if hubs is not None:
            raise ParameterError("hubs", "are in the bound already")
        hubs = within.hubs if any(within.hubs) else None
        if_broken = "refuse" if within.checked else "continue"
        within = within.within
    told: dict[str, Any] = {"bound_reason": reason, "if_broken": if_broken}
    told["hubs"] = (hubs,) if isinstance(hubs, int) else None if hubs is None else tuple(hubs)
    if isinstance(within, DegreeBound):
        return told | {"degree": within.degree, "directed": directed}
    if not isinstance(within, InOutBound):
        raise ParameterError("bound", "is of a kind that a study cannot promise")
    limits = {"inward": within.inward, "outward": within.outward}
    return told | limits | {"oriented": within.oriented, "directed": True}


def series_of(given: SeriesGiven) -> tuple[SeriesWish, ...]:
    """The series that are wished for."""
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise ParameterError(
            "series", f"must be a list such as {EXAMPLES}, or a dictionary by name"
        )
    if isinstance(given, Mapping):
        return tuple(_named(name, said) for name, said in given.items())
    return tuple(_written(each) if isinstance(each, str) else _promised(each) for each in given)


def _written(line: str) -> SeriesWish:
    """A series on one line, as the commands take it."""
    return SeriesWish(**series_data(line))


def _named(name: str, said: Mapping[str, Any] | SeriesPromise | Exact | None) -> SeriesWish:
    if isinstance(said, SeriesPromise):
        return _promised(said)
    entries: dict[str, Any] = {} if said is None else {"epsilon": said}
    if isinstance(said, Mapping):
        entries = dict(said)
    own = {key: value for key, value in entries.items() if key in _OF_THE_SERIES}
    own |= {key: exact_text(key, own[key]) for key in _EXACT if own.get(key) is not None}
    parameters = {key: value for key, value in entries.items() if key not in _OF_THE_SERIES}
    return SeriesWish(**{"statistic": name, **own}, name=name, parameters=parameters)


def _promised(series: SeriesPromise) -> SeriesWish:
    """The wish for a series that is written out already."""
    told = series.model_dump()
    own = {key: told[key] for key in (*_OF_THE_SERIES, "name", "parameters") if key in told}
    if series.mechanism == AUTO:
        del own["mechanism"]
    return SeriesWish(**own)
