"""Series of a study: which there are, one more, and all of them for more steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import StudyError
from graphveil.noise.exact_numbers import Exact, as_text
from graphveil.steward.drafting import (
    refused_as,
    require_useful,
    settled_series,
    with_objective,
    without_promise,
)
from graphveil.steward.outlook import Outlook
from graphveil.steward.reporting import write_report
from graphveil.steward.sharing import require_purpose
from graphveil.steward.status import BudgetStatus, SeriesList
from graphveil.study import StoredStudy
from graphveil.study.committed import NO_PRICES, exact_prices

if TYPE_CHECKING:
    from graphveil.steward.requests import SeriesRequest
    from graphveil.study.extension import Extension, Longer
    from graphveil.study.ledger import Ledger
    from graphveil.study.promise_entries import RatioPromise


@dataclass(frozen=True)
class Opening:
    """A series as it was opened, or would be.

    Attributes:
        outlook: how it is published, and from when on.
        opened: whether this was more than a try.
    """

    outlook: Outlook
    opened: bool

    @property
    def budget(self) -> BudgetStatus:
        """What is left after it."""
        return BudgetStatus.of(self.outlook.promise)

    def __str__(self) -> str:
        begins = "from" if self.opened else "would begin with"
        return f"{self.outlook.series.name}: {begins} {self.outlook.first_label}; {self.budget}"

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return self.outlook.as_data() | {"opened": self.opened}


def series_of(folder: Path) -> SeriesList:
    """The series of the study in a folder."""
    study = StoredStudy.at(folder)
    ledger = study.ledger()
    return SeriesList.of(study.promise(ledger), ledger)


def open_series(
    folder: Path, request: SeriesRequest, *, dry_run: bool = False, even_too_noisy: bool = False
) -> Opening:
    """Open a series from the next step on; a dry run shows what it would be like.

    Refuses one that noise would drown, unless it is wanted so.
    """
    study = StoredStudy.at(folder)
    outlook = _outlook(study.ledger(), request)
    if not dry_run:
        if not even_too_noisy:
            require_useful([outlook])
        opened = study.open_series(outlook.series)
        if opened.opened != outlook.promise.calendar.label(0):  # before, there is no report
            write_report(study.folder.public)
    return Opening(outlook, opened=not dry_run)


def _outlook(ledger: Ledger, request: SeriesRequest) -> Outlook:
    """The series as it would be opened now."""
    from graphveil.study.opening import with_series

    if not ledger.is_open:
        raise StudyError(
            "this study is a draft, and nothing is promised yet: add the series to "
            "public/study.toml."
        )
    require_purpose([request])
    if ledger.versions[-1].bound is None:
        request = without_promise(request)
    with refused_as("the new series"):
        wider = with_series(ledger, with_objective(request).as_entry(), "the new series")
    series = settled_series(wider.promise, wider.series, wider.first_step)
    return Outlook(wider.promise, series, wider.first_step)


def promise_ratio(folder: Path, name: str, formula: str) -> RatioPromise:
    """Promise one more ratio of series that are open; the report has it at once."""
    study = StoredStudy.at(folder)
    if not study.ledger().is_open:
        raise StudyError(
            "this study is a draft, and nothing is promised yet: add the ratio to "
            "public/study.toml."
        )
    wider = study.promise_ratio(name, formula)
    if study.ledger().sealed:  # before, there is no report
        write_report(study.folder.public)
    return wider.ratios[-1]


# Extending a study: more steps than it was planned for, with what they cost shown beforehand.


@dataclass(frozen=True)
class SeriesGoingOn:
    """A series that gets more releases.

    Attributes:
        name: of the series.
        releases: how many it has then, in all.
        price: the ε that they cost, out of what is left of the budget.
        epsilon: what the whole series costs then.
        last_planned: the predicted standard deviation at the release that was to be the last.
        first_new: likewise, at the first of the new ones.
        last_new: likewise, at the last of them.
    """

    name: str
    releases: int
    price: str
    epsilon: str
    last_planned: float
    first_new: float
    last_new: float

    @classmethod
    def of(cls, longer: Longer) -> SeriesGoingOn:
        """What an extension does to a series."""
        before, after = longer.before.predicted, longer.after.predicted
        return cls(
            name=longer.series,
            releases=len(after),
            price=as_text(longer.price),
            epsilon=as_text(longer.after.request.epsilon),
            last_planned=before[-1],
            first_new=after[len(before)],
            last_new=after[-1],
        )


@dataclass(frozen=True)
class StudyGoingOn:
    """What extending a study changes, or has changed; public, all of it.

    Attributes:
        end: the step that was to be the last.
        last: the step that is the last then.
        series: those that get more releases.
        others: those that have no end, or a later one.
        price: the ε that all of it costs.
        budget_before: what is left until then.
        budget_after: what is left then.
        extended: whether it was done.
    """

    end: str
    last: str
    series: tuple[SeriesGoingOn, ...]
    others: tuple[str, ...]
    price: str
    budget_before: BudgetStatus
    budget_after: BudgetStatus
    extended: bool

    @classmethod
    def of(cls, found: Extension, *, extended: bool) -> StudyGoingOn:
        """In words and numbers for people."""
        longer = {each.series for each in found.series}
        end, last = found.labels
        return cls(
            end=end,
            last=last,
            series=tuple(map(SeriesGoingOn.of, found.series)),
            others=tuple(each.name for each in found.after.series if each.name not in longer),
            price=as_text(found.price),
            budget_before=BudgetStatus.of(found.before),
            budget_after=BudgetStatus.of(found.after),
            extended=extended,
        )

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def extend(
    folder: Path,
    *,
    last: str | None = None,
    steps: int | None = None,
    prices: Mapping[str, Exact] = NO_PRICES,
    dry_run: bool = False,
) -> StudyGoingOn:
    """Let a study go on past its last step; a dry run says what that would cost.

    Args:
        folder: of the study.
        last: a time in the new last step, or
        steps: how many steps more.
        prices: what may be paid for a series, by name; by default, where something has to be
            paid, what keeps its noise at its size.
        dry_run: change nothing.
    """
    from graphveil.study.extension import Further

    study, further, exact = StoredStudy.at(folder), Further(last, steps), exact_prices(prices)
    if dry_run:
        return StudyGoingOn.of(study.extension(further, exact), extended=False)
    done = study.extend(further, exact)
    if study.ledger().sealed:  # before, there is no report
        write_report(study.folder.public)
    return StudyGoingOn.of(done, extended=True)
