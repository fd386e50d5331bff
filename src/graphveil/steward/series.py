"""Series: those that a study has, and one more, charged to what is left of the budget."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import StudyError
from graphveil.steward.beforehand.drafting import refused_as, settled_series, with_objective
from graphveil.steward.beforehand.drowning import require_useful
from graphveil.steward.beforehand.outlook import Outlook
from graphveil.steward.beforehand.sharing import require_purpose
from graphveil.steward.reporting import write_report
from graphveil.steward.status import BudgetStatus, SeriesList

if TYPE_CHECKING:
    from graphveil.steward.beforehand.wishes import SeriesWish
    from graphveil.study.ledger import Ledger


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
    from graphveil.study import Study

    study = Study.at(folder)
    ledger = study.ledger()
    return SeriesList.of(study.promise(ledger), ledger)


def open_series(
    folder: Path, wish: SeriesWish, *, dry_run: bool = False, drowned_too: bool = False
) -> Opening:
    """Open a series from the next step on; a dry run shows what it would be like.

    Refuses one that noise would drown, unless it is wanted so.
    """
    from graphveil.study import Study

    study = Study.at(folder)
    outlook = _outlook(study.ledger(), wish)
    if not dry_run:
        if not drowned_too:
            require_useful([outlook])
        opened = study.open_series(outlook.series)
        if opened.opened != outlook.promise.calendar.label(0):  # before, there is no report
            write_report(study.folder.public)
    return Opening(outlook, opened=not dry_run)


def _outlook(ledger: Ledger, wish: SeriesWish) -> Outlook:
    """The series as it would be opened now."""
    from graphveil.study.course.one_more_series import with_series

    if not ledger.is_open:
        raise StudyError(
            "this study is a draft, and nothing is promised yet: add the series to "
            "public/study.toml."
        )
    require_purpose([wish])
    with refused_as("the new series"):
        wider = with_series(ledger, with_objective(wish).as_entry(), "the new series")
    series = settled_series(wider.promise, wider.series, wider.first_step)
    return Outlook(wider.promise, series, wider.first_step)
