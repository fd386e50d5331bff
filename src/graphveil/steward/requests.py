"""Requests: what a steward wants of a study, in plain values, before anything is promised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from graphveil.errors import ParameterError
from graphveil.graph.groups import NO_GROUPS, Groups
from graphveil.graph.thresholds import ProjectionEntry, projection_of

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar


@dataclass(frozen=True)
class SeriesRequest:
    """One series; what is None is left to the study, or to graphveil.

    Attributes:
        statistic: what is counted.
        parameters: of the statistic, as a study file has them.
        name: what it is called; None makes one of the statistic and its numbers.
        epsilon: its share of the budget; None takes part in what the others leave.
        delta: its share of the study's δ.
        pool: its share of the study's pool, instead of an ε of its own.
        mechanism: its name; None takes the best.
        horizon: how many releases there will be; None if the calendar says it, or it is unknown.
        projection: what a projecting mechanism retains: links, in- and out-links, or "forest:C".
        minimise: which error is to be small; None takes what the study says.
        expected: a public guess of how large the number will be at the last release.
        weight: how much it matters against the others where shares are split; no part of the study.
        justification: why it is published; the card states it.
    """

    statistic: str
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    name: str | None = None
    epsilon: str | None = None
    delta: str | None = None
    pool: str | None = None
    mechanism: str | None = None
    horizon: int | None = None
    projection: ProjectionEntry | None = None
    minimise: str | None = None
    expected: int | None = None
    weight: int | str | None = None
    justification: str | None = None

    @property
    def called(self) -> str:
        """Its name; if it has none, its statistic with its numbers: high-degree-3-last-5."""
        numbers = [
            f"last-{value}" if name == "window" else str(value)
            for name, value in self.parameters.items()
            if isinstance(value, int)
        ]
        by = str(self.parameters.get("by", "")).replace("_", "-").replace(",", "-")
        return self.name or "-".join([self.statistic, *numbers, *(["by", by] if by else [])])

    @property
    def names_no_share(self) -> bool:
        """Whether it leaves to the study what it gets of the budget."""
        return self.epsilon is None and self.pool is None

    def as_entry(self) -> dict[str, Any]:
        """The series as a study file has it, without what is left open."""
        every = {each.name: getattr(self, each.name) for each in fields(self)}
        given = {
            key: value for key, value in every.items() if value is not None and key != "weight"
        }
        return given | {"name": self.called, "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class StudyRequest:
    """A study; see `Promise`, which it becomes.

    Attributes:
        title: of the public report.
        population: whose network it is, in public words.
        publisher: who is responsible for it.
        calendar: the public steps.
        epsilon: what all series may cost together, permanently.
        epsilon_reason: why this much.
        series: what is published.
        bound_reason: why the public may believe the bound.
        degree: the bound of an undirected network.
        inward: the bound of links to a person, in a directed one.
        outward: the bound of links from a person, in a directed one.
        oriented: whether two people are never linked both ways.
        hubs: to how many people beyond the bound a person may be linked; in a directed network two
            numbers, for in- and out-hubs; None if the bound holds for everybody.
        no_bound: whether nothing is promised about links, so that every series has to do without.
        if_broken: what happens where somebody breaks the promise: the study goes on, and only
            those concerned lose more than ε, or the step is refused.
        directed: whether links have a direction.
        delta: the probability of a loss above ε, if there may be one.
        pool: the part of ε that series with a share of the pool have together; None lets graphveil
            find out whether a pool is worth having.
        minimise: which error is to be small, for series that do not say it; None takes the default.
        confidence: the level of published intervals.
        person_separator: what ends the person in an id; "" if an id is a person.
        fold_case: whether Ann and ann are one person.
        undated: what becomes of nodes without a time.
        ratios: ratios of series to publish as well, each as NAME = FORMULA.
        groups: public lists of labels, by which series are divided.
    """

    title: str
    population: str
    publisher: str
    calendar: Calendar
    epsilon: str
    epsilon_reason: str
    series: tuple[SeriesRequest, ...]
    bound_reason: str | None = None
    degree: int | None = None
    inward: int | None = None
    outward: int | None = None
    oriented: bool = False
    hubs: tuple[int, ...] | None = None
    no_bound: bool = False
    if_broken: Literal["continue", "refuse"] = "continue"
    directed: bool = False
    delta: str | None = None
    pool: str | None = None
    minimise: str | None = None
    confidence: str = "0.95"
    person_separator: str = ""
    fold_case: bool = False
    undated: Literal["refuse", "first"] = "refuse"
    ratios: tuple[str, ...] = ()
    groups: Groups = NO_GROUPS


# A series on one line: statistic[:parameter=value,…][@ε][=name].


EXAMPLES = "edges, high-degree:tau=3, clusters:k=3,window=5, triangles@1/4 or edges@0.5=links"
_SHAPE = re.compile(
    r"(?P<statistic>[^:@=]+)"
    r"(?::(?P<given>[a-z]+=[^=@]+?(?:,[a-z]+=[^=@]+?)*))?"
    r"(?:@(?P<epsilon>[^@=]+))?"
    r"(?:=(?P<name>[^:@=]+))?"
)
_NEXT_PAIR = re.compile(r",(?=[a-z]+=)")  # a pattern has commas of its own
# Given among the parameters, but of the series and not of its statistic.
OF_THE_SERIES = (
    *("mechanism", "horizon", "projection", "delta", "pool", "minimise", "expected", "weight"),
)
_TEXTS = ("delta", "pool")


def series_data(text: str) -> dict[str, Any]:
    """What a line says about a series, as the study file has it; only what is there."""
    match = _SHAPE.fullmatch(text.strip())
    if match is None:
        raise ParameterError("series", f"'{text}' cannot be read", hint=f"Write {EXAMPLES}.")
    pairs = _NEXT_PAIR.split(match["given"]) if match["given"] else []
    given = dict(pair.split("=") for pair in pairs)
    own = {key: entry_value(key, given.pop(key)) for key in OF_THE_SERIES if key in given}
    parameters = {key: entry_value(key, value) for key, value in given.items()}
    named = {key: match[key] for key in ("name", "epsilon") if match[key]}
    return {"statistic": match["statistic"], "parameters": parameters, **named, **own}


def entry_value(key: str, text: str) -> Any:
    """The value of an entry of the study file, from its text."""
    if key == "projection":
        return projection_of(text)
    return int(text) if text.isascii() and text.isdigit() and key not in _TEXTS else text


def expected_size(text: str, parameter: str = "expected") -> int:
    """A size that somebody expects, from its text, such as 6000 or 6,000."""
    if re.fullmatch(r"[0-9]{1,19}|[0-9]{1,3}(,[0-9]{3}){1,5}", text) is None:
        raise ParameterError(parameter, f"must be a whole number, not '{text[:40]}'")
    return int(text.replace(",", ""))
