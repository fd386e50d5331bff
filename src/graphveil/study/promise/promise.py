"""The promise of a study, in its public file `study.toml`, as people can read and check it.

Everything in it is public. It may be edited by hand as long as the study is a draft; once the
study is open, the ledger holds what it said, and the file has to agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ValidationError, WrapValidator, model_validator

from graphveil.calendar.calendar import Calendar
from graphveil.deferred import Deferred
from graphveil.errors import NEWEST, ParameterError, StudyError, require_known_format
from graphveil.graph.intake.rules import RecordRules
from graphveil.graph.promises.bound import Bound
from graphveil.graph.promises.no_bound import NoBound
from graphveil.planning import AUTO
from graphveil.statistics.changes.hubs import sensitivity_under
from graphveil.study.promise.bound import NO_BOUND, PromisedBound, stated_bound
from graphveil.study.promise.budget import Budget, Pool
from graphveil.study.promise.calendar import WrittenCalendar
from graphveil.study.promise.entries import Level, Part, Text, located
from graphveil.study.promise.series import SeriesPromise

if TYPE_CHECKING:
    from graphveil.mechanisms import mechanism as mechanisms
else:  # most series leave the choice open
    mechanisms = Deferred("graphveil.mechanisms.mechanism")

FORMAT: Final = 1
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

    format: Literal[1] = FORMAT
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
    series: tuple[Annotated[SeriesPromise, WrapValidator(located)], ...]

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
        if threshold is not None and threshold.directed != self.directed:
            kind = "two numbers, of in- and out-links" if self.directed else "one number"
            raise ParameterError("projection", f"must be {kind} for this kind of network")
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
    def from_data(
        cls, data: dict[str, Any], source: str = "study.toml", writer: str = NEWEST
    ) -> Promise:
        """The promise that plain data describe; says which entry is wrong, and why.

        Args:
            data: what `to_data` gave; without a format it is of the first.
            source: where it stands, for messages.
            writer: the version that can read it, if this one cannot.
        """
        require_known_format(source, data.get("format"), FORMAT, writer)
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
