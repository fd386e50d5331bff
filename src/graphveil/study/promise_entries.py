"""Entries of a study file: bounds, series and the values that each accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    SkipValidation,
    StringConstraints,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from graphveil.errors import MissingPlugInError, ParameterError
from graphveil.graph.groups import BY, NO_GROUPS, Group, Groups
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.graph.thresholds import FOLLOW, ProjectionEntry, projection_of, threshold_of
from graphveil.mechanisms.planning import AUTO
from graphveil.mechanisms.planning.usefulness import LARGEST
from graphveil.noise.exact_numbers import (
    HIGHEST_LEVEL,
    as_text,
    exact,
    exact_delta,
    exact_epsilon,
    exact_share,
)

if TYPE_CHECKING:
    from graphveil.series.ratios import Place, Ratio
    from graphveil.statistics.breakdown import Breakdown
    from graphveil.statistics.statistic import Statistic


COMMITTED: Final = {"committed": True}  # where a promise was checked, and then entered


class Part(BaseModel):
    """A table of the file: it never changes, and entries that nobody knows are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _epsilon(value: object) -> str:
    return as_text(exact_epsilon(value))  # type: ignore[arg-type]


def _delta(value: object) -> str:
    return as_text(exact_delta(value))  # type: ignore[arg-type]


def _pool_share(value: object) -> str:
    return as_text(exact_share(value))  # type: ignore[arg-type]


def _level(value: object) -> str:
    level = exact("the level", value)  # type: ignore[arg-type]
    if not 0 < level <= HIGHEST_LEVEL:
        raise ValueError("must be above 0 and at most 0.999999")
    return as_text(level)


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", value):
        raise ValueError("must consist of lower-case letters, digits and single hyphens")
    return value


def _objective(value: str, info: ValidationInfo) -> str:
    if info.context == COMMITTED:  # it was checked, and is spelled as it should be
        return value
    from graphveil.mechanisms.factorisations.objectives import objective

    return str(objective(value))


def _projection(entry: ProjectionEntry) -> ProjectionEntry:
    return projection_of(entry) if isinstance(entry, str) else entry


Epsilon = Annotated[str, BeforeValidator(_epsilon)]
PoolShare = Annotated[str, BeforeValidator(_pool_share)]
Delta = Annotated[str, BeforeValidator(_delta)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Name = Annotated[str, AfterValidator(_name)]
Objective = Annotated[str, AfterValidator(_objective)]
Level = Annotated[str, BeforeValidator(_level)]
Projection = Annotated[int | tuple[int, int] | str, AfterValidator(_projection)]


def located(value: object, validated: ValidatorFunctionWrapHandler) -> Any:
    """Report a refused parameter together with the entry that has it."""
    try:
        return validated(value)
    except ParameterError as error:
        raise ValueError(str(error)) from error


# Groups: public lists of labels, as a study file has them.


class ListedGroup(Part):
    """One group: its labels, or the cut points of a number; what files write for a label.

    Attributes:
        labels: the public list; files may have others, which count as `other`.
        cuts: where the labels of a number begin, instead of a list.
        same: what files write for a label, such as N = "North".
        weights: how many people of each label are expected, against the others; a guess.
    """

    labels: tuple[str, ...] | None = None
    cuts: tuple[int, ...] | None = None
    same: dict[str, str] = Field(default_factory=dict)
    weights: tuple[int, ...] | None = None

    def named(self, name: str) -> Group:
        """The group under its name; refuses a list that nobody could use."""
        more: dict[str, Any] = {
            "same": tuple(self.same.items()), "weights": self.weights or ()
        }  # fmt: skip
        if (self.labels is None) == (self.cuts is None):
            raise ParameterError("group", f"'{name}' needs either 'labels' or 'cuts'")
        if self.cuts is not None:
            return Group.cut(name, self.cuts, **more)
        return Group(name, tuple(each.strip() for each in self.labels or ()), **more)


def _listed_groups(given: object) -> object:
    if isinstance(given, Groups):
        return given
    if not isinstance(given, dict):
        raise ValueError("must be tables, one for each group, such as [groups.region]")
    return Groups(
        tuple(ListedGroup.model_validate(each).named(name) for name, each in given.items())
    )


def _groups_as_data(groups: Groups) -> dict[str, Any]:
    return {each.name: _group_as_data(each) for each in groups.members}


def _group_as_data(group: Group) -> dict[str, Any]:
    listed = {"cuts": list(group.cuts)} if group.cuts else {"labels": list(group.labels)}
    more: dict[str, Any] = {"same": dict(group.same), "weights": list(group.weights)}
    return listed | {key: value for key, value in more.items() if value}


ListedGroups = Annotated[
    SkipValidation[Groups],
    BeforeValidator(_listed_groups),
    PlainSerializer(_groups_as_data),
    WrapValidator(located),
]


# The promised bound: how many links a person has at most, as a study file says it.


NO_BOUND: Final = "none"  # as a study file says it


def _numbers(given: object) -> object:
    """One number may be written without brackets."""
    return (given,) if isinstance(given, int) else given


def _numbers_as_data(numbers: tuple[int, ...] | None) -> int | list[int] | None:
    """One number is written without brackets."""
    if numbers is None:
        return None
    return numbers[0] if len(numbers) == 1 else list(numbers)


class PromisedBound(Part):
    """How many links a person has at most, and why the public may believe it.

    With `hubs` the limits hold for nearly everybody: who has more is a hub, and nobody is linked to
    more hubs than that (one number, or two for in- and out-hubs; see `graph.hub_bound.HubBound`).

    Where somebody breaks the promise, a study goes on ("continue": only first links are counted,
    and who keeps the promise is protected by it, whatever others do) or publishes nothing more
    ("refuse"). Files from before there was a choice do not say it, and mean that they refuse.
    """

    degree: int | None = Field(default=None, ge=1)
    inward: int | None = Field(default=None, ge=1)
    outward: int | None = Field(default=None, ge=1)
    oriented: bool = False
    hubs: Annotated[
        tuple[int, ...] | None, BeforeValidator(_numbers), PlainSerializer(_numbers_as_data)
    ] = None
    if_broken: Literal["continue", "refuse"] | None = None
    justification: Text

    @model_validator(mode="after")
    def _one_kind(self) -> PromisedBound:
        both = self.inward is not None and self.outward is not None
        neither = self.inward is None and self.outward is None
        if not (
            (self.degree is not None and neither and not self.oriented)
            or (self.degree is None and both)
        ):
            raise ValueError("give either 'degree', or 'inward' and 'outward'")
        if self.hubs is not None and not any(self.hubs):
            raise ValueError("hubs: 0 is the degree bound without hubs. Leave it out")
        try:
            self.limits()
        except ParameterError as error:
            raise ValueError(str(error)) from error
        return self

    def limits(self) -> Bound:
        """The bound as the statistics take it."""
        within: DegreeBound | InOutBound
        if self.degree is not None:
            within = DegreeBound(self.degree)
        else:
            within = InOutBound(self.inward or 0, self.outward or 0, self.oriented)
        if self.if_broken == "continue":
            return HubBound(within, self.hubs or (0,) * len(within.limits), checked=False)
        return within if self.hubs is None else HubBound(within, self.hubs)


def stated_bound(given: object) -> object:
    """Having no bound has to be stated: a missing entry is refused."""
    if given == NO_BOUND:
        return None
    if given is None or isinstance(given, str):
        raise ValueError(f'must be a table [bound], or bound = "{NO_BOUND}" to promise nothing')
    return given


# A promised series: one statistic, what it may cost, and how its noise is made.


class SeriesPromise(Part):
    """One statistic, published at every step from `opened` on, for its share of the budget.

    Attributes:
        name: what the series is called in files and commands.
        statistic: what is counted.
        parameters: of the statistic.
        epsilon: the share of the budget, for the whole life of the series; None in a pool.
        pool: its share of the budget's pool, instead of an ε of its own.
        mechanism: its name, or "auto".
        horizon: how many releases there will be; None if unknown.
        projection: what a projecting mechanism retains: links, in- and out-links, or "forest:C".
        minimise: which error the noise is to keep small; None is the plain mean, as in studies
            that were begun before it could be said.
        expected: how large the number will be at the last release, as the steward guesses from
            public knowledge; never measured. None if nobody has said it.
        opened: the label of its first step; None is the first of the study.
        justification: why this statistic, with these parameters; the card states it.

    Examples:
        >>> hubs = {"statistic": "high-degree", "parameters": {"tau": 3}}
        >>> print(SeriesPromise(name="hubs", epsilon="1/2", **hubs).counted())
        high-degree (tau=3)
    """

    name: Name
    statistic: str
    parameters: dict[str, int | str] = Field(default_factory=dict)
    epsilon: Epsilon | None = None
    delta: Delta | None = None
    pool: PoolShare | None = None
    mechanism: str = AUTO
    horizon: int | None = Field(default=None, ge=1)
    projection: Projection | None = None
    minimise: Objective | None = None
    expected: int | None = Field(default=None, ge=1, le=LARGEST)
    opened: str | None = None
    justification: Text | None = None
    _groups: Groups = PrivateAttr(default=NO_GROUPS)
    _directed: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _one_price(self) -> SeriesPromise:
        if (self.epsilon is None) == (self.pool is None):
            raise ValueError("give either 'epsilon', or 'pool' for a share of the budget's pool")
        if self.pool is not None and self.delta is not None:
            raise ValueError("'delta' is that of the pool: leave it out")
        return self

    def counted(self) -> Statistic:
        """The statistic with its parameters."""
        from graphveil.statistics.statistic import statistic

        return statistic(self.statistic, groups=self._groups, **self.parameters)

    def breakdown(self) -> Breakdown | None:
        """How its numbers are divided by groups; None if they are not."""
        if BY not in self.parameters:
            return None
        from graphveil.statistics.breakdown import breakdown_in

        return breakdown_in(self.counted())

    def expected_cells(self) -> dict[str, float]:
        """By cell in words, the size that is expected of it; nothing without labels or a size.

        Cells of which nobody expects anything, such as `other`, are left out.
        """
        divided = self.breakdown()
        if divided is None or self.expected is None:
            return {}
        from graphveil.statistics.breakdown import cell_words

        cells = divided.names(directed=self._directed)
        shares = divided.shares(directed=self._directed)
        pairs = zip(cells, shares, strict=True)
        return {cell_words(cell): self.expected * share for cell, share in pairs if share}

    @property
    def judged_size(self) -> int | None:
        """The size beside which its noise is judged: of several cells, that of the largest."""
        cells = self.expected_cells()
        return max(1, round(max(cells.values()))) if cells else self.expected

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups of its study."""
        return tuple(each.name for each in self._groups.members)

    def within(self, groups: Groups, *, directed: bool) -> SeriesPromise:
        """The same series in a study with these groups, by which it may be divided."""
        if (groups, directed) == (self._groups, self._directed):
            return self
        series = self.model_copy()
        series._groups, series._directed = groups, directed
        return series

    def counted_in_symbols(self) -> str:
        """The statistic as people write it, also where its package is not installed."""
        try:
            return str(self.counted())
        except MissingPlugInError:
            given = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
            return f"{self.statistic} ({given})" if given else self.statistic

    @property
    def price(self) -> tuple[Fraction, Fraction]:
        """ε and δ that it takes out of the budget; in a pool, they are paid already."""
        return Fraction(self.epsilon or 0), Fraction(self.delta or 0)

    @property
    def share(self) -> str:
        """What it gets of the budget, in symbols."""
        return self.epsilon or f"{self.pool} of the pool"

    @property
    def price_in_words(self) -> str:
        """The same as people write it: "ε = 0.5", or "0.25 of the pool"."""
        return self.share if self.epsilon is None else f"ε = {self.epsilon}"

    def costing(self, epsilon: Fraction, horizon: int | None) -> SeriesPromise:
        """The same series for another share; its horizon is stated only if it was before.

        A share of a pool stays as it is.
        """
        stated = None if self.horizon is None else horizon
        price = None if self.pool else as_text(epsilon)
        return self.model_copy(update={"epsilon": price, "horizon": stated})

    def pooled(self, share: Fraction) -> SeriesPromise:
        """The same series with a share of the pool, instead of an ε of its own."""
        price = {"epsilon": None, "delta": None, "pool": as_text(share)}
        return self.model_copy(update=price)

    def threshold(self) -> Bound | None:
        """The threshold of the projection as a bound."""
        return threshold_of(self.projection)


# A promised ratio: what is divided by what; it follows from published numbers, and costs nothing.


class RatioPromise(Part):
    """A ratio of series of the study, published with its interval at every step.

    Attributes:
        name: what it is called, such as "links per person".
        formula: one sum of series over another, such as "2*links/people".
        opened: the step before which it was promised, if the study was open by then.

    Examples:
        >>> RatioPromise(name="links per person", formula="2*links/people").ratio.numbers[0].series
        'links'
    """

    name: Text
    formula: Text
    opened: Text | None = None

    @property
    def ratio(self) -> Ratio:
        """What is divided by what."""
        from graphveil.series.ratios import Ratio

        return Ratio.of(self.formula)

    def require_series(self, series: Mapping[str, SeriesPromise], bound: Bound) -> None:
        """Refuse a ratio of series that do not exist, or that count different networks."""
        from graphveil.series.ratios import named_places

        windows, projections = set(), set()
        for number in self.ratio.numbers:
            found = series.get(number.series)
            if found is None:
                known = ", ".join(series)
                problem = f"there is no series '{number.series}'"
                raise ParameterError("ratio", problem, hint=f"There are: {known}.")
            counted, within = found.counted(), found.threshold() or bound
            places = places_of(counted, within)
            named_places(number, places)
            if isinstance(found.projection, str) and found.projection.startswith(FOLLOW):
                problem = f"'{number.series}' counts up to another threshold at each release"
                hint = "Take a series of the same with a fixed projection, or leave the ratio out."
                raise ParameterError("ratio", problem, hint=hint)
            windows.add(counted.counted_for)
            if any(fact.of_links for each in counted.facts(len(places)) for fact in each):
                projections.add(found.projection)
        if len(windows) > 1:
            raise ParameterError("ratio", "its series count people of different windows")
        if len(projections) > 1:
            raise ParameterError("ratio", "its series count links after different projections")


def places_of(counted: Statistic, bound: Bound) -> Sequence[Place]:
    """What each number of a release is about: its cell, and its degree if it has one."""
    from graphveil.statistics.breakdown import breakdown_in

    divided = breakdown_in(counted)
    if divided is not None:
        return divided.places(counted.width(bound.counted))
    return (
        [({}, degree) for degree in counted.degrees(bound.counted)]
        if counted.vector
        else [({}, None)]
    )


def ratio_entry(text: str) -> dict[str, str]:
    """A ratio as users write it: NAME = FORMULA."""
    name, equals, formula = text.partition("=")
    if not equals or not name.strip() or not formula.strip():
        raise ParameterError(
            "ratio",
            "must be written as NAME = FORMULA",
            hint="As in: links per person = 2*links/people.",
        )
    return {"name": name.strip(), "formula": formula.strip()}
