"""The promise of a study, in its public file `study.toml`, as people can read and check it.

Everything in it is public. It may be edited by hand as long as the study is a draft; once the
study is open, the ledger holds what it said, and the file has to agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from graphveil.calendar.calendar import Calendar
from graphveil.errors import ParameterError, StudyError
from graphveil.factorisations.objectives import objective
from graphveil.graph.intake.rules import RecordRules
from graphveil.graph.promises.bound import Bound, DegreeBound, InOutBound
from graphveil.graph.promises.hub_bound import HubBound
from graphveil.graph.promises.no_bound import NoBound
from graphveil.mechanisms.mechanism import mechanism
from graphveil.noise.exact_numbers import as_text, exact_delta, exact_epsilon, exact_share
from graphveil.planning.planner import AUTO
from graphveil.planning.usefulness import LARGEST
from graphveil.statistics.changes.hubs import sensitivity_under
from graphveil.statistics.statistic import Statistic, statistic

FORMAT: Final = 1
UNIT: Final = "one person with all their links"
HEADING = """\
# The promise of a graphveil study. Everything in this file is public.
# As long as the study is a draft you may edit it; from the first `graphveil add` on, the
# ledger holds what it says, and a file that says something else is refused.
"""


def _epsilon(value: object) -> str:
    return as_text(exact_epsilon(value))  # type: ignore[arg-type]


def _delta(value: object) -> str:
    return as_text(exact_delta(value))  # type: ignore[arg-type]


def _level(value: object) -> str:
    from graphveil.noise.exact_numbers import exact
    from graphveil.planning.intervals import HIGHEST_LEVEL

    level = exact("the level", value)  # type: ignore[arg-type]
    if not 0 < level <= HIGHEST_LEVEL:
        raise ValueError("must be above 0 and at most 0.999999")
    return as_text(level)


def _located(value: object, validated: ValidatorFunctionWrapHandler) -> Any:
    """Report a refused parameter with the entry in which it stands."""
    try:
        return validated(value)
    except ParameterError as error:
        raise ValueError(str(error)) from error


def _pool_share(value: object) -> str:
    return as_text(exact_share(value))  # type: ignore[arg-type]


Epsilon = Annotated[str, BeforeValidator(_epsilon)]
PoolShare = Annotated[str, BeforeValidator(_pool_share)]
Delta = Annotated[str, BeforeValidator(_delta)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _numbers(given: object) -> object:
    """One number may stand without brackets."""
    return (given,) if isinstance(given, int) else given


def _told_numbers(numbers: tuple[int, ...] | None) -> int | list[int] | None:
    """One number stands without brackets."""
    if numbers is None:
        return None
    return numbers[0] if len(numbers) == 1 else list(numbers)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PromisedBound(_Part):
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
        tuple[int, ...] | None, BeforeValidator(_numbers), PlainSerializer(_told_numbers)
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


class Pool(_Part):
    """What several series with Gaussian noise cost together, of which each has a share.

    It is a part of the budget, taken whole when the study is opened
    (`docs/mechanisms.md#a-pool-of-several-series`).
    """

    epsilon: Epsilon
    delta: Delta

    @property
    def price(self) -> tuple[Fraction, Fraction]:
        """ε and δ that it takes out of the budget."""
        return Fraction(self.epsilon), Fraction(self.delta)


class Budget(_Part):
    """What all series of the study may cost one person together."""

    epsilon: Epsilon
    delta: Delta | None = None
    justification: Text
    pool: Pool | None = None


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", value):
        raise ValueError("must consist of lower-case letters, digits and single hyphens")
    return value


def _objective(value: str) -> str:
    return str(objective(value))


class SeriesPromise(_Part):
    """One statistic, published at every step from `opened` on, for its share of the budget.

    Attributes:
        name: what the series is called in files and commands.
        statistic: what is counted.
        parameters: of the statistic.
        epsilon: the share of the budget, for the whole life of the series; None in a pool.
        pool: its share of the budget's pool, instead of an ε of its own.
        mechanism: its name, or "auto".
        horizon: how many releases there will be; None if unknown.
        projection: the threshold of a projecting mechanism.
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

    name: Annotated[str, AfterValidator(_name)]
    statistic: str
    parameters: dict[str, int | str] = {}
    epsilon: Epsilon | None = None
    delta: Delta | None = None
    pool: PoolShare | None = None
    mechanism: str = AUTO
    horizon: int | None = Field(default=None, ge=1)
    projection: int | tuple[int, int] | None = None
    minimise: Annotated[str, AfterValidator(_objective)] | None = None
    expected: int | None = Field(default=None, ge=1, le=LARGEST)
    opened: str | None = None
    justification: Text | None = None

    @model_validator(mode="after")
    def _one_price(self) -> SeriesPromise:
        if (self.epsilon is None) == (self.pool is None):
            raise ValueError("give either 'epsilon', or 'pool' for a share of the budget's pool")
        if self.pool is not None and self.delta is not None:
            raise ValueError("'delta' is that of the pool: leave it out")
        return self

    def counted(self) -> Statistic:
        """The statistic with its parameters."""
        return statistic(self.statistic, **self.parameters)

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
        if self.projection is None or isinstance(self.projection, int):
            return None if self.projection is None else DegreeBound(self.projection)
        return InOutBound(*self.projection)


NO_BOUND: Final = "none"  # as a study file says it


def _bound(given: object) -> object:
    """That nothing is promised has to be said: a bound that was forgotten is refused."""
    if given == NO_BOUND:
        return None
    if given is None or isinstance(given, str):
        raise ValueError(f'must be a table [bound], or bound = "{NO_BOUND}" to promise nothing')
    return given


def _calendar(given: object) -> Calendar:
    """A calendar as the file writes it; also dates that TOML knows as such."""
    if isinstance(given, Calendar):
        return given
    if not isinstance(given, dict):
        raise ValueError("must be a table of entries")
    return _calendar_of(json.dumps(given, default=str))


@lru_cache
def _calendar_of(text: str) -> Calendar:
    """Reading dates takes 20 ms, and the same calendar comes again and again."""
    given = json.loads(text)
    open_end = {"end" if "cuts" in given else "last": None}  # TOML has no null
    return Calendar.from_dict(open_end | given)


def _told_calendar(calendar: Calendar) -> dict[str, Any]:
    """The one way to write a calendar."""
    return {key: value for key, value in calendar.to_dict().items() if value is not None}


class Promise(_Part):
    """What a study promises the public, as its file states it.

    Examples:
        >>> promise = Promise.from_data(
        ...     {
        ...         "title": "An example",
        ...         "population": "made-up people",
        ...         "publisher": "nobody",
        ...         "bound": {"degree": 15, "justification": "nobody made up more"},
        ...         "calendar": {"every": 1, "unit": "year", "first": "2021", "last": "2030"},
        ...         "budget": {"epsilon": "1", "justification": "an example"},
        ...         "series": [{"name": "links", "statistic": "edges", "epsilon": "1/2"}],
        ...     }
        ... )
        >>> promise.bound_sentence
        'Promised: everybody has at most 15 links; a step that breaks this is refused.'
    """

    format: Literal[1] = FORMAT
    title: Text
    population: Text
    publisher: Text
    unit: Literal["one person with all their links"] = UNIT
    directed: bool = False
    confidence: Annotated[str, BeforeValidator(_level), WrapValidator(_located)] = "0.95"
    bound: Annotated[PromisedBound | None, BeforeValidator(_bound)]
    calendar: Annotated[
        Calendar,
        BeforeValidator(_calendar),
        PlainSerializer(_told_calendar),
        WrapValidator(_located),
    ]
    budget: Annotated[Budget, WrapValidator(_located)]
    records: RecordRules = RecordRules()
    series: tuple[Annotated[SeriesPromise, WrapValidator(_located)], ...]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Promise:
        if not self.series:
            raise ValueError("'series' must have at least one")
        names = [each.name for each in self.series]
        if len(set(names)) < len(names):
            raise ValueError("two series have the same name")
        if self.budget.pool is not None and self.budget.delta is None:
            raise ValueError("the budget has a pool with a δ, but no 'delta' itself")
        if self.bound is not None and self.directed != (self.bound.degree is None):
            kind = "'inward' and 'outward'" if self.directed else "'degree'"
            raise ValueError(f"the bound of this kind of graph is given by {kind}")
        for each in self.series:
            try:
                self._admits(each)
            except ParameterError as error:
                raise ValueError(f"series '{each.name}': {error}") from error
        return self

    def _admits(self, series: SeriesPromise) -> None:
        counted = series.counted()
        counted.require_domain(directed=self.directed)
        sensitivity_under(counted, series.threshold() or self.degree_bound)
        self._require_window(counted.counted_for)
        self._require_threshold(series)
        if series.delta is not None and self.budget.delta is None:
            raise ValueError(f"series '{series.name}' has a δ, but the budget has none")
        self._require_pool(series)

    def _require_pool(self, series: SeriesPromise) -> None:
        """Only Gaussian noise shares a pool, and only one that the budget states."""
        if series.pool is None:
            return
        if self.budget.pool is None:
            raise ParameterError(
                "pool", "the budget has none", hint="Give it a table [budget.pool]."
            )
        if series.mechanism != AUTO and mechanism(series.mechanism).pure:
            raise ParameterError(
                "pool",
                f"{series.mechanism} has pure noise, which has an ε of its own",
                hint="Give 'epsilon' instead, or leave the mechanism out.",
            )

    def _require_window(self, window: int | None) -> None:
        """Nobody would ever leave a network of more steps than there are."""
        last = self.calendar.last_step
        if window is not None and last is not None and window > last + 1:
            raise ParameterError(
                "window",
                f"of {window} steps is longer than the calendar, which has {last + 1}",
                hint="Leave it out to count everybody.",
            )

    def _require_threshold(self, series: SeriesPromise) -> None:
        """A threshold without a projecting mechanism would count another graph than is promised."""
        threshold = series.threshold()
        if threshold is not None and threshold.directed != self.directed:
            kind = "two numbers, of in- and out-links" if self.directed else "one number"
            raise ParameterError("projection", f"must be {kind} for this kind of network")
        if series.mechanism == AUTO:  # which follows the threshold
            return
        if mechanism(series.mechanism).projects != (threshold is not None):
            raise ValueError(
                f"series '{series.name}': 'projection' is required for projecting mechanisms, and "
                "not allowed for others"
            )

    @property
    def degree_bound(self) -> Bound:
        """The promised bound, as the statistics take it; without one, what says so."""
        if self.bound is None:
            return NoBound("directed" if self.directed else "undirected")
        return self.bound.limits()

    @property
    def bound_sentence(self) -> str:
        """What is promised about links, and what follows where it is broken, for the steward."""
        if self.bound is None:
            return "Nothing is promised about links: the guarantee holds for every network."
        bound = self.degree_bound
        broken = (
            "a step that breaks this is refused"
            if bound.checked
            else "if that is broken, the study goes on"
        )
        return f"Promised: everybody has {bound.in_words}; {broken}."

    def budget_total(self) -> tuple[Fraction, Fraction]:
        """ε and δ that all series together may cost."""
        return Fraction(self.budget.epsilon), Fraction(self.budget.delta or 0)

    def budget_left(self) -> tuple[Fraction, Fraction]:
        """ε and δ that no series has taken; negative where the series overspend."""
        epsilon, delta = self.budget_total()
        prices = [each.price for each in self.series]
        for loss, risk in [*prices, self.budget.pool.price] if self.budget.pool else prices:
            epsilon, delta = epsilon - loss, delta - risk
        return epsilon, delta

    def pool_left(self) -> Fraction:
        """The share of the pool that no series has taken; negative where they overspend."""
        return 1 - sum((Fraction(each.pool or 0) for each in self.series), Fraction())

    def price_of(self, series: SeriesPromise) -> tuple[Fraction, Fraction | None, Fraction | None]:
        """ε, δ and share of the pool, as a series is planned: ε and δ may be those of the pool."""
        if series.pool is None or self.budget.pool is None:
            risk = None if series.delta is None else Fraction(series.delta)
            return Fraction(series.epsilon or 0), risk, None
        return *self.budget.pool.price, Fraction(series.pool)

    def with_series(self, series: SeriesPromise) -> Promise:
        """The study with one more series."""
        return self.model_copy(update={"series": (*self.series, series)})

    def with_pool(self, pool: Pool | None) -> Promise:
        """The study with another pool."""
        budget = self.budget.model_copy(update={"pool": pool})
        return self.model_copy(update={"budget": budget})

    def with_shares(self, shares: Mapping[str, Mapping[str, str | None]]) -> Promise:
        """The study with other prices of some series, by name: entries of the study file."""
        series = (each.model_copy(update=shares.get(each.name, {})) for each in self.series)
        return self.model_copy(update={"series": tuple(series)})

    def going_on(
        self, changed: Mapping[str, tuple[Fraction, int | None]], calendar: Calendar | None = None
    ) -> Promise:
        """The study when it goes on: the ε and the horizon of some series, and its calendar."""
        series = tuple(
            each.costing(*changed[each.name]) if each.name in changed else each
            for each in self.series
        )
        return self.model_copy(update={"calendar": calendar or self.calendar, "series": series})

    def clashes(self, promised: Promise) -> list[str]:
        """The entries in which this study differs from what was promised."""
        found = [
            name
            for name in type(self).model_fields
            if name != "series" and getattr(self, name) != getattr(promised, name)
        ]
        said = {each.name: each for each in self.series}
        held = {each.name: each for each in promised.series}
        differing = [name for name in {**held, **said} if said.get(name) != held.get(name)]
        return found + [f"series '{name}'" for name in differing]

    @classmethod
    def from_data(cls, data: dict[str, Any], source: str = "study.toml") -> Promise:
        """The promise that plain data describe; says which entry is wrong, and why."""
        if data.get("format", FORMAT) != FORMAT:
            raise StudyError(
                f"{source} has format {data['format']}, but this graphveil reads format {FORMAT}. "
                "Install the version of graphveil that wrote it."
            )
        try:
            return cls.model_validate(data)
        except ParameterError as error:
            raise StudyError(f"{source}: {error}") from error
        except ValidationError as error:
            raise StudyError("\n".join(_complaints(error, source))) from error

    @classmethod
    def from_toml(cls, text: str, source: str = "study.toml") -> Promise:
        """The promise in the text of a study file."""
        import tomllib

        try:
            return cls.from_data(tomllib.loads(text), source)
        except RecursionError as error:
            raise StudyError(f"{source} is not readable as TOML: it is nested too deep.") from error
        except ValueError as error:  # TOMLDecodeError, and numbers of thousands of digits
            raise StudyError(f"{source} is not readable as TOML: {error}.") from error

    def to_toml(self) -> str:
        """The text of a study file; the same promise is always the same text."""
        import tomli_w

        return HEADING + "\n" + tomli_w.dumps(self.to_data(), multiline_strings=False)

    def to_data(self) -> dict[str, Any]:
        """Plain data, without what is not set."""
        data = self.model_dump(mode="json", exclude_none=True)
        if self.bound is None:
            data["bound"] = NO_BOUND
        data["series"] = [
            {key: value for key, value in each.items() if value != {}} for each in data["series"]
        ]
        return data


# The rules for records are a plain dataclass, of which pydantic speaks in other words.
_TOLD_AS = {"unexpected_keyword_argument": "Extra inputs are not permitted"}


def _complaints(error: ValidationError, source: str) -> list[str]:
    """One line per wrong entry, named as in the file."""
    lines = []
    for flaw in error.errors():
        where = ".".join(str(part) for part in flaw["loc"]) or "the file as a whole"
        what = _TOLD_AS.get(flaw["type"], flaw["msg"]).removeprefix("Value error, ")
        lines.append(f"{source}, {where}: {what}{'' if what[-1] in '.?' else '.'}")
    return lines
