"""The interface of a statistic, and the registry in which each one enters itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.graph.groups import NO_GROUPS
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.graph.thresholds import ForestBound, ProjectionEntry, WholeNetwork
from graphveil.registry import PlugIn, Registry
from graphveil.statistics.relations import Combination, Fact, Known, Relation
from graphveil.statistics.sensitivity import (
    EVERY_STATIC,
    Cells,
    Mass,
    Moves,
    Sensitivity,
    Shape,
    StaticChange,
    TotalsShape,
)
from graphveil.statistics.tallies import Counts, Tally

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The parameters of a statistic: how users give them, and what is refused.


@dataclass(frozen=True)
class Parameter:
    """What a statistic needs to know, and how users specify it.

    Attributes:
        name: the statistic's field.
        flags: what it is called on the command line.
        metavar: the placeholder of its value in a usage line.
        help: what it means, in one sentence.
        parse: its value, from what a user typed or a study file holds. What is not such a value
            is handed through: the statistic refuses it in its own words.
        default: its value where users say nothing; None if there is none.
        needed: whether users must say it.
    """

    name: str
    flags: tuple[str, ...]
    metavar: str
    help: str
    parse: Callable[[str | int], Any]
    default: int | None = None
    needed: bool = True


def whole_number(given: str | int) -> str | int:
    """A whole number from its text; anything else is returned unchanged, to be refused later."""
    try:
        return int(given) if isinstance(given, str) else given
    except ValueError:
        return given


def described(
    *flags: str,
    meaning: str,
    metavar: str = "N",
    parse: Callable[[str | int], Any] = whole_number,
) -> dict[str, Any]:
    """How users specify a parameter; the metadata of its field. See `Parameter`."""
    return {"flags": flags, "metavar": metavar, "help": meaning, "parse": parse}


WINDOW = "window"  # what every statistic takes
NEWEST = "newest"
DIVIDED = ("by", "cells")  # what nearly every statistic takes
STEPS = (WINDOW, NEWEST)  # numbers of steps, which reports give in the words of the calendar
_WINDOW_HELP = (
    "Count only people who arrived in the last N steps, and links among them. Every statistic "
    "takes it."
)


def window_field() -> dict[str, Any]:
    """How users give the number of steps for which people are counted."""
    return described(f"--{WINDOW}", meaning=_WINDOW_HELP)


def parameter_of(given: Field[Any]) -> Parameter:
    """The parameter of a field; without metadata it is a whole number."""
    plain = described(f"--{given.name}", meaning="")
    default = None if given.default is MISSING else given.default
    needed = given.default is MISSING
    return Parameter(given.name, default=default, needed=needed, **(plain | dict(given.metadata)))


def require_at_least(parameter: str, value: int, least: int, hint: str) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(
            parameter, f"must be a whole number of at least {least}, not {value!r}", hint=hint
        )


__all__ = [
    "Domain",
    "Parameter",
    "Statistic",
    "as_statistic",
    "known_parameters",
    "register",
    "registered",
    "statistic",
]


class Domain(Enum):
    """The graphs on which a statistic is defined."""

    UNDIRECTED = "undirected"
    DIRECTED = "directed"
    BOTH = "undirected or directed"

    def admits(self, *, directed: bool) -> bool:
        """Whether sequences of this kind belong to the domain."""
        return self is Domain.BOTH or (self is Domain.DIRECTED) == directed


@dataclass(frozen=True)
class Statistic(ABC):
    """What is counted: its meaning, its sensitivity and how its differences arise.

    A member is a frozen dataclass whose fields are its parameters; `described` says how users
    specify them. It lives in one file of this package, is decorated with `register`, and is
    then available to the command line, to every engine and to every check suite.

    Attributes:
        name: what users call it.
        summary: one line that says what is counted.
        formulas: Γ in words of the bound, by kind of graph, for listings.
        domain: the graphs on which it is defined.
        monotone: whether its totals can never fall.
        only_adds: whether a person, or an edge, can only add to its differences.
        vector: whether a release has one number per degree instead of one number.
        cumulative: whether each number of a vector counts "at least d links", and so
            can never exceed the one before it.
        projection_rises: whether a person can only raise totals of the projected graph, where
            `projected_l1` is known.
        forest_column: where a `ForestTally` has it; None if forests do not count it.
        needs_bound: whether one person could change it without end if nothing were promised.
        by_groups: whether it is a sum over objects that belong to cells of people's labels.
        undivided: why it is not.
        advice: what to use instead, on graphs outside the domain.

    Examples:
        >>> stars = statistic("stars", k=3)
        >>> stars.name, stars.summary
        ('stars', 'number of k-stars: a node and k of its links')
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    formulas: ClassVar[dict[str, str]]
    domain: ClassVar[Domain]
    monotone: ClassVar[bool] = True
    only_adds: ClassVar[bool] = False
    vector: ClassVar[bool] = False
    cumulative: ClassVar[bool] = False
    projection_rises: ClassVar[bool] = False
    forest_column: ClassVar[int | None] = None
    needs_bound: ClassVar[bool] = True
    by_groups: ClassVar[bool] = False
    undivided: ClassVar[str] = "what one person changes is not proved object by object"
    advice: ClassVar[str] = ""

    @property
    def counted_for(self) -> int | None:
        """For how many steps a person is counted; None if permanently."""
        return None

    def recent(self, window: int) -> Statistic:
        """The same among those alone who arrived in the last `window` steps."""
        from graphveil.statistics.recent import Recent

        return Recent(self, window)

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """What users specify; they may leave out what has a default."""
        return tuple(parameter_of(each) for each in fields(cls))

    @classmethod
    def defaults(cls) -> dict[str, int]:
        """The values of the parameters that users may leave out."""
        return {each.name: each.default for each in cls.parameters() if each.default is not None}

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """Members with small parameters, for the check suites; itself, if it has none."""
        return (cls(),)

    @abstractmethod
    def tally(self) -> Tally:
        """What an engine must count for this statistic."""

    def differences(self, tallied: Any, width: int | None = None) -> Counts:
        """The exact difference per step, from the answer to `tally`: that answer, as a rule.

        Scalar statistics give an array (steps,). Vector statistics give (steps, width),
        one column per degree 0..width-1; a `width` of None takes the highest degree seen.
        """
        counts: Counts = tallied
        return counts

    def facts(self, width: int) -> tuple[Combination, ...]:
        """What each number of a release is, in facts that other statistics may know, too.

        Facts of its own, unless a statistic knows better (`docs/revisions.md`).
        """
        return tuple({Fact(str(self), at, rises=self.monotone): 1} for at in range(width))

    def relations(self, known: Known) -> Iterable[Relation]:
        """What holds between its facts and others; those that name an unknown fact are ignored."""
        return ()

    def values(self, tallied: Any, width: int | None = None) -> Counts:
        """The value in each recent network, from the tally of each.

        What is linear in the tally makes the same of it as of the tally of a step.
        """
        return self.differences(tallied, width)

    @abstractmethod
    def sensitivity(self, bound: Bound) -> Sensitivity:
        """What one person can change under `bound`; refuses a bound that does not fit."""

    def static_change(self, bound: Bound) -> StaticChange:
        """What one person can change in one release: all that counts in a recent network.

        What is known of the whole sequence, which may be one release long, unless a statistic
        knows better. Proofs: docs/sensitivities.md#recent-networks.
        """
        whole = self.sensitivity(bound)
        squared = min(whole.static_l1**2, whole.l2_squared)
        exact = whole.exact_for >= {"static_l1", "edge_l1"} and self.only_adds and not self.vector
        reached = EVERY_STATIC if exact else frozenset()
        ways = 1 if self.only_adds else 2
        return StaticChange(
            l1=whole.static_l1,
            l2_squared=squared,
            edge_l1=whole.edge_l1,
            span=ways * whole.static_l1,
            edge_span=ways * whole.edge_l1,
            exact_for=reached,
            one_way=self.only_adds,
        )

    def shape(self, bound: Bound) -> Shape:
        """What the change of one person can look like over time, under `bound`.

        Γ in any way, unless a statistic knows better. Proofs: docs/sensitivities.md#shapes.
        """
        return Mass(self.sensitivity(bound).l1)

    def edge_moves(self, bound: Bound) -> Moves | None:
        """Rises and falls that one edge more makes; None where only their sum is known.

        Proofs: the part on edges of each section of docs/sensitivities.md.
        """
        return Moves(self.sensitivity(bound).edge_l1, 0) if self.only_adds else None

    def hub_moves(self, bound: HubBound) -> Moves | None:
        """Rises and falls under a promise with hubs; None where only their sum is known.

        Guarantees:
            Those of the person's own links, and those of one lost link for each hub, which
            are the other way round. Proof: docs/sensitivities.md#hubs.
        """
        own, edge, hubs = self.shape(bound.within), self.edge_moves(bound.within), sum(bound.hubs)
        if self.only_adds:
            own = Moves(self.sensitivity(bound.within).l1, 0)
        if edge is None or not isinstance(own, Moves):
            return None
        return Moves(own.rises + hubs * edge.falls, own.falls + hubs * edge.rises)

    def hub_shape(self, bound: HubBound) -> Shape:
        """What the change of one person can look like under a promise with hubs."""
        return self.hub_moves(bound) or Mass(self.hub_l1(bound))

    def hub_l1(self, bound: HubBound) -> int:
        """Γ under a promise with hubs, counted on first links only.

        Guarantees:
            The person's own links, and one lost link of somebody else for each hub.
            Proof: docs/sensitivities.md#hubs.
        """
        moves = self.hub_moves(bound)
        if moves is not None:
            return moves.rises + moves.falls
        within = self.sensitivity(bound.within)
        return within.l1 + sum(bound.hubs) * within.edge_l1

    def cell_shape(self, bound: Bound) -> Cells:
        """What the change can look like in a table by groups, where there is one.

        Guarantees:
            Objects are added and stay where they are. Proof: docs/sensitivities.md#breakdowns.
        """
        assert self.by_groups, "others are refused before"
        return Cells(0, self.sensitivity(bound).l1)

    def hub_cell_shape(self, bound: HubBound) -> Cells:
        """The same under a promise with hubs: one lost link for each, whose objects are its own.

        Guarantees:
            Proof: docs/sensitivities.md#breakdowns.
        """
        own, within = self.cell_shape(bound.within), self.sensitivity(bound.within)
        return Cells(own.moves, own.alone + sum(bound.hubs) * within.edge_l1)

    def width(self, bound: Bound) -> int:
        """How many numbers a release has under `bound`: one, unless a vector says otherwise."""
        if self.vector:
            raise ParameterError("statistic", f"{self.name} has no width under a degree bound")
        return 1

    def narrower(self, bound: Bound) -> dict[str, str] | None:
        """Parameters with which it has fewer numbers and less noise; None if it has no such."""
        return None

    def degrees(self, bound: Bound) -> tuple[int, ...]:
        """Which degree each number of a vector is about: all from 0 on, or some."""
        return tuple(range(self.width(bound)))

    def projected_l1(self, threshold: Bound) -> int | None:
        """What one person can change in one release after greedy projection to `threshold`.

        None where it is not known. It holds for every two neighbouring graphs, whatever their
        degrees: a projection needs no promise. Where it is known, a threshold that does not
        fit is refused as a bound would be.
        """
        return None

    def projected_shape(self, threshold: Bound) -> TotalsShape | None:
        """What one person can do to all totals after projection; None if not known."""
        if isinstance(threshold, ForestBound):
            return self.forest_shape(threshold.branches)
        if isinstance(threshold, WholeNetwork):
            return self.whole_shape()
        height = self.projected_l1(threshold)
        return None if height is None else TotalsShape(height, rising=self.projection_rises)

    def without_promise(self, expected: int | None) -> ProjectionEntry | None:
        """The projection on which it is counted where nothing is promised and nobody names one.

        A rule that needs public numbers alone. None if it needs no projection, or none is known.

        Args:
            expected: how large the number will be at the last release, as somebody guesses.
        """
        return None

    def forest_shape(self, branches: int) -> TotalsShape | None:
        """What one person can do to all totals that are counted by forests; None if not known.

        As `projected_l1`, it holds for every two neighbouring graphs.
        """
        return None

    def whole_shape(self) -> TotalsShape | None:
        """What one person can do to all totals of the whole network; None if that has no end.

        As `projected_l1`, it holds for every two neighbouring graphs.
        """
        return None

    @staticmethod
    @abstractmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Evaluate the statistic on one small graph, slowly and plainly, into `out`.

        This is the statistic's meaning, against which fast counting and sensitivities are
        checked. It must be compilable by numba: loops over arrays and nothing else.

        Args:
            links: links[u, v] is 1 where the edge u→v exists (both ways if undirected),
                and 0 wherever an endpoint is not present.
            present: present[v] is 0 where node v has not arrived; else 1 or, in a recent
                network, for how many steps it has been there, that of its arrival included.
            given: the numbers from `definition_arguments`.
            out: zeroed, one place per degree 0..n for vectors, else only out[0] is used.
        """

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """The parameters as whole numbers, handed to `definition`.

        A matrix of links does not tell a directed graph whose edges all go both ways from
        an undirected one, so a statistic that differs on them learns here which it is.
        """
        return tuple(int(getattr(self, each.name)) for each in fields(self))

    def require_domain(self, *, directed: bool) -> None:
        """Refuse graphs on which this statistic is not defined."""
        if not self.domain.admits(directed=directed):
            kind = "directed" if directed else "undirected"
            raise ParameterError(
                self.name,
                f"is defined on {self.domain.value} graphs only, not on {kind} ones",
                hint=self.advice,
            )

    def require_undirected(self, bound: Bound) -> DegreeBound:
        """The bound as the plain degree bound for which a formula is proved, or a refusal.

        It asks for the very kind: what holds under one promise need not hold under another
        of undirected graphs.
        """
        if not isinstance(bound, DegreeBound):
            raise ParameterError(self.name, "needs one degree bound D", hint=self.advice)
        return bound

    def require_directed(self, bound: Bound) -> InOutBound:
        """The bound as the in- and out-degree bound for which a formula is proved."""
        if not isinstance(bound, InOutBound):
            raise ParameterError(
                self.name, "needs an in-degree and an out-degree bound", hint=self.advice
            )
        return bound

    def written(self) -> dict[str, Any]:
        """Its parameters, by name; those that say nothing are left out."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: _written(value) for name, value in values.items() if value is not None}

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.written().items())
        return f"{self.name} ({given})" if given else self.name


def _written(value: object) -> str:
    """A parameter as users write it."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


Member = TypeVar("Member", bound=type[Statistic])
_REGISTRY: Registry[type[Statistic]] = Registry(
    "statistic", "graphveil.statistics", group="graphveil.statistics"
)


def register(member: Member) -> Member:
    """Enter a statistic under its name."""
    _REGISTRY.enter(member.name, member)
    return member


def registered() -> dict[str, type[Statistic]]:
    """Every statistic by name; each module of this package is one place to look.

    Examples:
        >>> {"nodes", "edges", "triangles"} <= registered().keys()
        True
    """
    return _REGISTRY.members()


def plug_in(name: str) -> PlugIn | None:
    """The distribution that defines a statistic; None if this package does."""
    return _REGISTRY.plug_in(name)


def known_parameters() -> dict[str, Parameter]:
    """Every parameter of every statistic, by name; what it means to each of several."""
    parameters: dict[str, Parameter] = {}
    for _, member in sorted(registered().items()):  # not as they happened to be imported
        for each in member.parameters():
            known = parameters.setdefault(each.name, each)
            if each.help not in known.help:
                parameters[each.name] = replace(known, help=f"{known.help} {each.help}")
    return parameters


def statistic(name: str, **given: Any) -> Statistic:
    """The statistic called `name` with its parameters, e.g. ``statistic("stars", k=3)``.

    A parameter may be given as users write it: ``statistic("pattern", pattern="a-b,b-c")``.
    Every statistic takes a `window`: then only those who arrived in the last so many steps count.
    Most take `by`: then each of their numbers is a table, with a number for every cell of `groups`.

    Examples:
        >>> print(statistic("high-degree", tau=3))
        high-degree (tau=3)
        >>> from graphveil.graph.groups import Groups
        >>> print(statistic("edges", by="region", groups=Groups.of(["region=North|South"])))
        edges (by=region)
        >>> statistic("edges", window=5).counted_for
        5
    """
    member, groups = _REGISTRY.named(name), given.pop("groups", NO_GROUPS)
    expected = {each.name: each for each in member.parameters()}
    window = None if WINDOW in expected else given.pop(WINDOW, None)
    if window is not None:
        whole = statistic(name, groups=groups, **given)
        return whole.recent(whole_number(window))  # type: ignore[arg-type]
    by, cells = (None if each in expected else given.pop(each, None) for each in DIVIDED)
    if by is not None:
        from graphveil.statistics.breakdown import Breakdown

        return Breakdown.of(statistic(name, **given), str(by), groups, cells)
    if cells is not None:
        raise ParameterError("cells", "has a meaning only with groups: by=…")
    for missing in (each for each in expected.values() if each.needed and each.name not in given):
        raise ParameterError(missing.name, f"is needed by '{name}'")
    for unknown in given.keys() - expected.keys():
        raise ParameterError(unknown, f"has no meaning for '{name}'", hint="Leave it out.")
    return member(**{each: expected[each].parse(value) for each, value in given.items()})


def as_statistic(given: Statistic | str, parameters: Mapping[str, Any]) -> Statistic:
    """A statistic, or the one of this name with its parameters."""
    if isinstance(given, str):
        return statistic(given, **parameters)
    for name in parameters:
        raise ParameterError(name, "belongs to a name, and this statistic has what it needs")
    return given
