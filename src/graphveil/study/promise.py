"""The promise of a study, in its public file `study.toml`, as people can read and check it.

Everything in it is public. It may be edited by hand as long as the study is a draft; once the
study is open, the ledger holds its content, and the file has to agree.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import (
    BeforeValidator,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    field_validator,
    model_validator,
)

from graphveil.calendar.calendar import Calendar
from graphveil.deferred import Deferred
from graphveil.errors import (
    NEWEST,
    MissingPlugInError,
    ParameterError,
    StudyError,
    require_known_format,
)
from graphveil.graph.groups import BY, NO_GROUPS
from graphveil.graph.intake.rules import RecordRules
from graphveil.graph.promises import Bound, NoBound
from graphveil.mechanisms.planning import AUTO
from graphveil.study.promise_entries import (
    COMMITTED,
    NO_BOUND,
    Delta,
    Epsilon,
    Level,
    ListedGroups,
    Part,
    PromisedBound,
    RatioPromise,
    SeriesPromise,
    Text,
    located,
    stated_bound,
)

# The budget: what all series may cost one person together, and what some share.


class Pool(Part):
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


class Budget(Part):
    """What all series of the study may cost one person together."""

    epsilon: Epsilon
    delta: Delta | None = None
    justification: Text
    pool: Pool | None = None


# The calendar as a study file writes it: plain entries, and dates that TOML knows as such.


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


def _calendar_as_data(calendar: Calendar) -> dict[str, Any]:
    """The one way to write a calendar."""
    return {key: value for key, value in calendar.to_dict().items() if value is not None}


WrittenCalendar = Annotated[
    Calendar,
    BeforeValidator(_calendar),
    PlainSerializer(_calendar_as_data),
    WrapValidator(located),
]


if TYPE_CHECKING:
    from graphveil.mechanisms import mechanism as mechanisms
else:  # most series leave the choice open
    mechanisms = Deferred("graphveil.mechanisms.mechanism")

FIRST_FORMAT: Final = 1
PROJECTIONS: Final = 2  # the first in which a series may be counted by forests, or follow
RATIOS: Final = 3  # the first that may have ratios
GROUPS: Final = 4  # the first in which people have groups
FORMAT: Final = 5  # the first whose ratios are of cells, or were promised later
UNIT: Final = "one person with all their links"
HEADING = """\
# The promise of a graphveil study. Everything in this file is public.
# As long as the study is a draft you may edit it; from the first `graphveil add` on, the
# ledger holds what it says, and a file that says something else is refused.
"""


class Promise(Part):
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

    format: Literal[1] = FIRST_FORMAT
    title: Text
    population: Text
    publisher: Text
    unit: Literal["one person with all their links"] = UNIT
    directed: bool = False
    confidence: Annotated[Level, WrapValidator(located)] = "0.95"
    bound: Annotated[PromisedBound | None, BeforeValidator(stated_bound)]
    calendar: WrittenCalendar
    budget: Annotated[Budget, WrapValidator(located)]
    records: RecordRules = RecordRules()
    groups: ListedGroups = NO_GROUPS
    series: tuple[Annotated[SeriesPromise, WrapValidator(located)], ...]
    ratios: tuple[Annotated[RatioPromise, WrapValidator(located)], ...] = ()

    @field_validator("series", mode="after")
    @classmethod
    def _divided(
        cls, series: tuple[SeriesPromise, ...], info: ValidationInfo
    ) -> tuple[SeriesPromise, ...]:
        """Every series knows the groups of its study."""
        groups, directed = info.data.get("groups", NO_GROUPS), info.data.get("directed", False)
        if not groups:
            return series
        return tuple(each.within(groups, directed=directed) for each in series)

    @model_validator(mode="after")
    def _agrees_with_itself(self, info: ValidationInfo) -> Promise:
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
        names = [each.name for each in self.ratios]
        if len(set(names)) < len(names):
            raise ValueError("two ratios have the same name")
        if info.context != COMMITTED:  # what was committed was checked when it was
            self._require_series()
        self._require_ratios(committed=info.context == COMMITTED)
        return self

    def _require_series(self) -> None:
        """Each counts what this kind of network has, by a mechanism for it."""
        for each in self.series:
            try:
                self._admits(each)
            except ParameterError as error:
                raise ValueError(f"series '{each.name}': {error}") from error

    def _require_ratios(self, *, committed: bool) -> None:
        """Each divides what can be divided; what the first committed promise has was checked."""
        series = {each.name: each for each in self.series}
        for each in self.ratios:
            if committed and each.opened is None:
                continue
            try:
                each.require_series(series, self.degree_bound)
            except MissingPlugInError:
                if not committed:
                    raise
            except ParameterError as error:
                said = str(error).removeprefix("ratio: ")
                raise ValueError(f"ratio '{each.name[:LONGEST_NAME]}': {said}") from error

    def _admits(self, series: SeriesPromise) -> None:
        from graphveil.statistics.change import sensitivity_under
        from graphveil.statistics.statistic import plug_in

        counted = series.counted()
        plug_in(series.statistic)  # refuses what no other command would find
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
        if series.mechanism != AUTO and mechanisms.mechanism(series.mechanism).pure:
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
        if threshold is not None and not threshold.fits(directed=self.directed):
            kind = "two numbers, of in- and out-links" if self.directed else "one number"
            raise ParameterError("projection", f"must be {kind} for this kind of network")
        if threshold is not None and BY in series.parameters:
            raise ParameterError(
                "by",
                "numbers cannot be divided by groups after a projection: which links it keeps "
                "depends on everybody",
                hint="Promise a bound, and leave the projection out.",
            )
        if series.mechanism == AUTO:  # which follows the threshold
            return
        if mechanisms.mechanism(series.mechanism).projects != (threshold is not None):
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
        own = series.within(self.groups, directed=self.directed) if self.groups else series
        return self.model_copy(update={"series": (*self.series, own)})

    def with_ratio(self, ratio: RatioPromise, source: str, *, committed: bool = False) -> Promise:
        """The study with one more ratio; refuses one that cannot be computed."""
        data, entry = self.to_data(), ratio.model_dump(exclude_none=True)
        wider = data | {"ratios": [*data.get("ratios", ()), entry]}
        return Promise.from_data(wider, source, committed=committed)

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
        own = {each.name: each for each in self.series}
        held = {each.name: each for each in promised.series}
        differing = [name for name in {**held, **own} if own.get(name) != held.get(name)]
        return found + [f"series '{name}'" for name in differing]

    @classmethod
    def from_data(
        cls,
        data: dict[str, Any],
        source: str = "study.toml",
        writer: str = NEWEST,
        *,
        committed: bool = False,
    ) -> Promise:
        """The promise that plain data describe; says which entry is wrong, and why.

        Args:
            data: what `to_data` gave; without a format it is of the first.
            source: where it was read, for messages.
            writer: the version that can read it, if this one cannot.
            committed: whether it comes from a ledger: then a statistic of a package that is not
                installed here is no fault of it.
        """
        require_known_format(source, data.get("format"), FORMAT, writer)
        try:
            context = COMMITTED if committed else None
            return cls.model_validate(_as_first_format(data), context=context)
        except ParameterError as error:
            raise StudyError(f"{source}: {error}") from error
        except ValidationError as error:
            raise StudyError("\n".join(_complaints(error, source))) from error

    @classmethod
    def from_toml(
        cls, text: str, source: str = "study.toml", *, committed: bool = False
    ) -> Promise:
        """The promise in the text of a study file; see `from_data`."""
        import tomllib

        try:
            return cls.from_data(tomllib.loads(text), source, committed=committed)
        except RecursionError as error:
            raise StudyError(f"{source} is not readable as TOML: it is nested too deep.") from error
        except ValueError as error:  # TOMLDecodeError, and numbers of thousands of digits
            raise StudyError(f"{source} is not readable as TOML: {error}.") from error

    def to_toml(self) -> str:
        """The text of a study file; the same promise is always the same text."""
        import tomli_w

        return HEADING + "\n" + tomli_w.dumps(self.to_data(), multiline_strings=False)

    @property
    def _needed_format(self) -> int:
        """The first that has what the study needs."""
        divided = {each.name for each in self.series if BY in each.parameters}
        for each in self.ratios:
            # Most formulas name no such series: these need not be understood.
            likely = any(name in each.formula for name in divided)
            if each.opened or (
                likely and divided & {number.series for number in each.ratio.numbers}
            ):
                return FORMAT
        if self.groups:
            return GROUPS
        if self.ratios:
            return RATIOS
        named = any(isinstance(each.projection, str) for each in self.series)
        return PROJECTIONS if named else FIRST_FORMAT

    def to_data(self) -> dict[str, Any]:
        """Plain data, without what is not set."""
        data = self.model_dump(mode="json", exclude_none=True)
        data["format"] = self._needed_format  # older versions refuse it, with what to install
        for entry in ("ratios", "groups"):
            if not getattr(self, entry):
                del data[entry]
        if self.bound is None:
            data["bound"] = NO_BOUND
        data["series"] = [
            {key: value for key, value in each.items() if value != {}} for each in data["series"]
        ]
        return data


def _as_first_format(data: dict[str, Any]) -> dict[str, Any]:
    """Later formats have what older versions must not read; nothing else is different."""
    later = data.get("format") in range(PROJECTIONS, FORMAT + 1)
    return data | {"format": FIRST_FORMAT} if later else data


# The rules for records are a plain dataclass, for which pydantic has other messages.
_TOLD_AS = {"unexpected_keyword_argument": "Extra inputs are not permitted"}


def _complaints(error: ValidationError, source: str) -> list[str]:
    """One line per wrong entry, named as in the file."""
    lines = []
    for flaw in error.errors():
        where = ", ".join((source, ".".join(str(part) for part in flaw["loc"]))).removesuffix(", ")
        what = _TOLD_AS.get(flaw["type"], flaw["msg"]).removeprefix("Value error, ")
        lines.append(f"{where}: {what}{'' if what[-1] in '.?' else '.'}")
    return lines


# Limits of names and texts, checked before anything is promised or spent.
#
# A name that no file system takes would seal a step and then fail in every report. Studies that
# were opened before there were limits stay as they are: only what is new is refused.


LONGEST_NAME = 64  # of a series: files are called after it, with endings
LONGEST_LINE = 200  # of a title, a population, a publisher
LONGEST_REASON = 2000
LONGEST_SEPARATOR = 16
# What Windows takes for a device, whatever ending it has.
_DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")
_UNWRITTEN = {"Cc", "Cs", "Cf", "Zl", "Zp"}  # kinds of characters that nobody can see
_JOINERS = "\u200c\u200d"  # which some scripts need


def require_limits(promise: Promise, source: str) -> None:
    """Refuse a study with a text that is too long, or that cannot be printed on a line.

    Args:
        promise: a study that is not open yet.
        source: what to call it where an entry is refused.
    """
    for entry, text, longest in _texts(promise):
        _require_text(f"{source}, {entry}", text, longest)
    for series in promise.series:
        require_series_limits(series, source)
    for ratio in promise.ratios:
        place = f"{source}, ratio '{ratio.name[:LONGEST_NAME]}'"
        _require_text(place, ratio.name, LONGEST_NAME)
        _require_text(place, ratio.formula, LONGEST_LINE)


def require_series_limits(series: SeriesPromise, source: str) -> None:
    """The same for a series that is not open yet."""
    place = f"{source}, series '{series.name[:LONGEST_NAME]}'"
    if len(series.name) > LONGEST_NAME:
        raise StudyError(f"{place}: {_too_long(series.name, LONGEST_NAME)}")
    if _DEVICES.fullmatch(series.name):
        raise StudyError(
            f"{place}: Windows keeps this name for itself, and charts are files of that name. "
            "Choose another."
        )
    for key, value in series.parameters.items():
        _require_text(f"{place}, {key}", str(value), LONGEST_LINE)
    if series.justification is not None:
        _require_text(f"{place}, justification", series.justification, LONGEST_REASON)


def _texts(promise: Promise) -> Iterator[tuple[str, str, int]]:
    """Every text of a study outside its series, with its name and its limit."""
    for entry in ("title", "population", "publisher"):
        yield entry, getattr(promise, entry), LONGEST_LINE
    if promise.bound is not None:
        yield "bound.justification", promise.bound.justification, LONGEST_REASON
    yield "budget.justification", promise.budget.justification, LONGEST_REASON
    for group in promise.groups.members:
        for label in group.labels:
            yield f"groups.{group.name}", label, LONGEST_LINE
    yield "records.person_separator", promise.records.person_separator, LONGEST_SEPARATOR


def _require_text(place: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise StudyError(f"{place}: {_too_long(text, longest)}")
    if any(unicodedata.category(each) in _UNWRITTEN and each not in _JOINERS for each in text):
        raise StudyError(
            f"{place}: must be one line of visible characters. Remove line breaks, tabs and marks "
            "that cannot be seen."
        )


def _too_long(text: str, longest: int) -> str:
    return f"has {len(text):,} characters, and {longest:,} are allowed. Shorten it."
