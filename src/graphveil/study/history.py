"""The public history of a study: its rows read in order, and refused where they contradict.

Both chains are read here, the public one by anybody and the private one by the steward, so
that there is one order of events, one sum of the budget and one width of a release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from graphveil.calendar.calendar import Calendar
from graphveil.errors import NEWEST, IntegrityError, NewerFormatError, StudyError
from graphveil.graph.promises import Bound, HubBound
from graphveil.study.facts import (
    Announcement,
    Event,
    ExtendedSeries,
    NoiseFact,
    RatioPromised,
    ReleaseMade,
    RenewedSeries,
    SeriesOpened,
    Software,
    StepSealed,
    StudyAdopted,
    StudyExtended,
    StudyOpened,
)
from graphveil.study.promise import Promise

NODES = "nodes"  # the statistic that counts people, whatever their links
_VERSION = re.compile(r"graphveil \d[\w.+-]{0,30}", re.ASCII)  # a public file may contain anything


class PublishedSeries(SeriesOpened):
    """A series as it was opened, and its releases so far, in the order of steps.

    Attributes:
        counted_links: how many links of a person are counted at most, incoming and outgoing ones
            where they have a direction; None where the promise says that nobody has more.
    """

    releases: tuple[ReleaseMade, ...] = ()
    counted_links: tuple[int, ...] | None = None


@dataclass(frozen=True)
class History:
    """Everything that was published, row by row.

    Attributes:
        versions: the study file as it was when the study was opened, and after each later series
            or ratio, each extension, and each adoption that had a price.
        series: in the order in which they were opened.
        steps: what is sealed so far.
        software: the versions that were at work, in the order in which they are named.
        adoptions: how often a copy of the study went on by itself, and why.
        extensions: how often the study went on past its last step, each with its time.
    """

    versions: tuple[Promise, ...]
    series: tuple[PublishedSeries, ...]
    steps: tuple[StepSealed, ...]
    software: tuple[str, ...]
    adoptions: tuple[StudyAdopted, ...] = ()
    extensions: tuple[tuple[str, StudyExtended], ...] = ()

    @classmethod
    def of(cls, rows: Sequence[Announcement], source: str) -> History:
        """Read rows that are known to be chained.

        Args:
            rows: every published row, from the first on.
            source: what the chain is called, for messages.
        """
        if not rows or rows[0].event != Event.STUDY_OPENED:
            raise IntegrityError(f"{source}, row 0: must say that the study was opened.")
        begun = cls((_opened(rows[0]),), (), (), (str(Software.read(rows[0])),))
        return begun.followed_by(rows[1:])

    def followed_by(self, rows: Sequence[Announcement]) -> History:
        """The history with more rows; only the new rows are read."""
        reader = _Reader(self)
        for row in rows:
            reader.take(row)
        return replace(
            self,
            versions=tuple(reader.versions),
            series=reader.series(),
            steps=tuple(reader.steps),
            software=tuple(reader.software),
            adoptions=tuple(reader.adoptions),
            extensions=tuple(reader.extensions),
        )

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """ε and δ of the pool, if there is one, and of all series that were opened."""
        return _spent(self.versions[0], self.series)


def _opened(row: Announcement) -> Promise:
    try:
        opened = StudyOpened.read(row).study
        return Promise.from_data(opened, row.place, _writer(row), committed=True)
    except NewerFormatError:
        raise
    except StudyError as error:
        raise IntegrityError(str(error)) from error


def _writer(row: Announcement) -> str:
    """The version that wrote a row, if the row names one: that one can read it."""
    try:
        named = Software.read(row).software
    except IntegrityError:
        return NEWEST
    return f"{named} or newer" if _VERSION.fullmatch(named) else NEWEST


def _counted_links(series: SeriesOpened, bound: Bound) -> tuple[int, ...] | None:
    """How many links of a person a series counts at most, where people may have more."""
    if isinstance(series.projection, int):
        return (series.projection,)
    if isinstance(series.projection, str):  # forests count all; or each release states its own
        return None
    if series.projection is not None or not (isinstance(bound, HubBound) and any(bound.hubs)):
        return series.projection
    return None if series.statistic == NODES else bound.within.limits


def _text(number: Fraction | None) -> str | None:
    """A number as plans have it."""
    return None if number is None else str(number)


def _first(noise: Iterable[NoiseFact], steps: int) -> Iterator[NoiseFact]:
    """The laws of the first steps."""
    for each in noise:
        if steps > 0:
            yield each.model_copy(update={"steps": min(each.steps, steps)})
        steps -= each.steps


def _spent(promise: Promise, series: Iterable[SeriesOpened]) -> tuple[Fraction, Fraction]:
    """ε and δ of what is open: the pool as a whole, and what each other series costs.

    Guarantees: all of it together is (ε, δ)-DP (`docs/mechanisms.md#a-pool-of-several-series`), if
        the shares of the pool sum to at most 1.
    """
    pool = promise.budget.pool
    epsilon, delta = pool.price if pool else (Fraction(), Fraction())
    for loss, risk in (each.price for each in series):
        epsilon, delta = epsilon + loss, delta + risk
    return epsilon, delta


class _Reader:
    """Takes one row after the other, and refuses the first that does not fit its position."""

    def __init__(self, before: History) -> None:
        self._total = before.versions[0].budget_total()
        self.versions = list(before.versions)
        self._series: dict[str, SeriesOpened] = {each.series: each for each in before.series}
        self._releases = {each.series: list(each.releases) for each in before.series}
        self.steps = list(before.steps)
        self._due: list[str] = []  # series that have yet to speak at the newest step
        self._last: Announcement | None = None
        self.adoptions = list(before.adoptions)
        self.extensions = list(before.extensions)
        self.software = dict.fromkeys(before.software)  # in the order in which it is first named

    def take(self, row: Announcement) -> None:
        """Read a row."""
        self._last = row
        if row.event == Event.SERIES_OPENED:
            self._open(SeriesOpened.read(row), row)
        elif row.event == Event.STEP_SEALED:
            self._seal(StepSealed.read(row), row)
        elif row.event == Event.RELEASE_MADE:
            self._release(ReleaseMade.read(row), row)
        elif row.event == Event.STUDY_ADOPTED:
            self._adopt(StudyAdopted.read(row), row)
        elif row.event == Event.STUDY_EXTENDED:
            self._extend(StudyExtended.read(row), row)
        elif row.event == Event.RATIO_PROMISED:
            self._promise_ratio(RatioPromised.read(row), row)
        else:
            raise StudyError(
                f"{row.place}: this version of graphveil does not know this event. "
                f"Install {_writer(row)}."
            )

    def _open(self, opened: SeriesOpened, row: Announcement) -> None:
        row.require(opened.series not in self._series, "this series was opened before")
        in_order = not self._due and opened.first_step == len(self.steps)
        row.require(in_order, "a series begins out of order")
        self._require_price(opened, row)
        self._series[opened.series] = self._within_study(opened)
        self._releases[opened.series] = []
        if opened.promise.opened is not None:
            self.versions.append(self.versions[-1].with_series(opened.promise))
        self._require_within_budget(row)

    def _within_study(self, opened: SeriesOpened) -> SeriesOpened:
        """A series that knows the groups of its study."""
        study = self.versions[0]
        if not study.groups:
            return opened
        within = opened.promise.within(study.groups, directed=study.directed)
        return opened.model_copy(update={"promise": within})

    def _require_within_budget(self, row: Announcement) -> None:
        opened = self._series.values()
        spent = _spent(self.versions[0], opened)
        within = all(part <= whole for part, whole in zip(spent, self._total, strict=True))
        row.require(within, "the series opened so far cost more than the study's budget")
        shares = sum((each.pool_share or 0 for each in opened), Fraction())
        row.require(shares <= 1, "the series opened so far share more than all of the pool")

    def _require_price(self, opened: SeriesOpened, row: Announcement) -> None:
        """Refuse a series whose price is not that of its plan, or not that of the study's pool."""
        pool, share = self.versions[0].budget.pool, opened.pool_share
        planned = (opened.plan or {}).get("request")
        if share is not None:
            same = pool is not None and pool.price == (opened.epsilon, opened.delta)
            row.require(same, "a series shares a pool that is not the study's")
            row.require(isinstance(planned, dict), "the plan of a series in the pool is not told")
        if isinstance(planned, dict):
            stated = {"epsilon": opened.epsilon, "delta": opened.delta, "pool_share": share}
            same = all(planned.get(key) == _text(value) for key, value in stated.items())
            row.require(same, "a series has another price than its plan")

    def _seal(self, sealed: StepSealed, row: Announcement) -> None:
        in_order = not self._due and sealed.step == len(self.steps)
        row.require(in_order, "a step is out of order")
        self.steps.append(sealed)
        self.software[str(sealed)] = None
        self._due = list(self._series)

    def _release(self, made: ReleaseMade, row: Announcement) -> None:
        row.require(made.series in self._series, "a release of a series that was not opened")
        newest = len(self.steps) - 1
        in_order = made.series in self._due and made.step == newest
        row.require(in_order, "a release is out of order, or made twice")
        sealed = self.steps[-1].label == made.label
        row.require(sealed, "a release of a step that was never sealed")
        width = self._series[made.series].width
        row.require(made.has_numbers(width), "has too few or too many numbers")
        farthest = max((each.over * (1 + each.against) for each in made.changes), default=0)
        row.require(farthest <= len(self._releases[made.series]), "compares what was never said")
        self._due.remove(made.series)
        self._releases[made.series].append(made)

    def _adopt(self, adopted: StudyAdopted, row: Announcement) -> None:
        in_order = not self._due and adopted.step == len(self.steps)
        row.require(in_order, "an adoption is out of order")
        named = [each.series for each in adopted.series]
        row.require(named == list(self._series), "an adoption names other series than are open")
        paid = {each.series: None for each in adopted.series if each.price}
        self._go_on(adopted.series, row)
        if paid:
            self.versions.append(self.versions[-1].going_on(self._shares(paid)))
        self.adoptions.append(adopted)
        self.software[str(adopted)] = None

    def _extend(self, extended: StudyExtended, row: Announcement) -> None:
        in_order = not self._due and extended.step == len(self.steps)
        row.require(in_order, "an extension is out of order")
        named = [each.series for each in extended.series]
        known = set(named) <= self._series.keys() and len(set(named)) == len(named)
        row.require(known, "an extension names a series that is not open, or one twice")
        self._go_on(extended.series, row)
        calendar = self._longer_calendar(extended, row)
        self.versions.append(self.versions[-1].going_on(self._shares(named), calendar))
        self.extensions.append((row.at, extended))
        self.software[str(extended)] = None

    def _promise_ratio(self, promised: RatioPromised, row: Announcement) -> None:
        in_order = not self._due and promised.step == len(self.steps)
        row.require(in_order and promised.ratio.opened is not None, "a ratio is out of order")
        before = self.versions[-1]
        try:
            self.versions.append(before.with_ratio(promised.ratio, row.place, committed=True))
        except StudyError as error:
            raise IntegrityError(str(error)) from error
        self.software[str(promised)] = None

    def _longer_calendar(self, extended: StudyExtended, row: Announcement) -> Calendar:
        """The calendar that an extension states, once it has all steps of the one before."""
        before = self.versions[-1].calendar
        try:
            after = Promise.from_data(
                self.versions[-1].to_data() | {"calendar": extended.calendar},
                row.place,
                committed=True,
            ).calendar
        except StudyError as error:
            raise IntegrityError(str(error)) from error
        longer = (after.last_step or 0) >= (before.last_step or 0)
        same = after.without_end() == before.without_end()
        row.require(longer and same, "an extension changes steps of the calendar, or takes some")
        return after

    def _go_on(self, series: Sequence[RenewedSeries | ExtendedSeries], row: Announcement) -> None:
        for each in series:
            row.require(each.price >= 0, "a price is negative")
            paid = self._series[each.series].pool_share is not None and each.price
            row.require(not paid, "a series of the pool has a price: its pool is paid")
            self._series[each.series] = self._renewed(each)
        self._require_within_budget(row)
        for each in series:
            self._require_price(self._series[each.series], row)

    def _shares(self, names: Iterable[str]) -> dict[str, tuple[Fraction, int | None]]:
        """ε and horizon of some series, as they are known now."""
        return {name: (self._series[name].epsilon, self._series[name].horizon) for name in names}

    def _renewed(self, after: RenewedSeries | ExtendedSeries) -> SeriesOpened:
        """A series as it is known from then on: what was made, then what will be."""
        opened, made = self._series[after.series], self._releases[after.series]
        longer = after.horizon if isinstance(after, ExtendedSeries) else opened.horizon
        epsilon = opened.epsilon + after.price
        return opened.model_copy(
            update={
                "promise": opened.promise.costing(epsilon, longer),
                "epsilon": epsilon,
                "horizon": longer,
                "beyond": after.beyond or opened.beyond,
                "noise": (*_first(opened.noise, len(made)), *after.noise),
                "predicted_std": (*(each.noise_std for each in made), *after.predicted_std),
                "plan": after.plan,
            }
        )

    def series(self) -> tuple[PublishedSeries, ...]:
        """The series with their releases, once none is missing."""
        if self._due and self._last is not None:
            self._last.require(False, f"series '{self._due[0]}' has no release of the last step")
        bound = self.versions[0].degree_bound
        return tuple(
            PublishedSeries(
                **dict(each)
                | {
                    "releases": tuple(self._releases[name]),
                    "counted_links": _counted_links(each, bound),
                }
            )
            for name, each in self._series.items()
        )
