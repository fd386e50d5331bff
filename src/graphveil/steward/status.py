"""Status: the state of a study, what is due, what is spent and left; one part of it is private.

What records say shows in the private part alone: the rest is the same for every set of records,
as long as the same commands succeed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import StudyError
from graphveil.noise.exact_numbers import as_text
from graphveil.steward.publishing import steps_due
from graphveil.steward.reporting import report_is_current

if TYPE_CHECKING:
    from graphveil.study import Promise, StoredStudy
    from graphveil.study.committed import Committed
    from graphveil.study.ledger import Ledger
    from graphveil.study.witness import WitnessVerdict


@dataclass(frozen=True)
class PoolStatus:
    """What several series have together, and which share of it is left; exact numbers, as text."""

    epsilon: str
    delta: str
    left: str

    @classmethod
    def of(cls, promise: Promise) -> PoolStatus | None:
        """The pool of a study, if it has one."""
        pool = promise.budget.pool
        if pool is None:
            return None
        return cls(pool.epsilon, pool.delta, as_text(promise.pool_left()))

    def __str__(self) -> str:
        left = "all of it is shared out" if self.left == "0" else f"{self.left} of it is left"
        return f"ε = {self.epsilon} and δ = {self.delta} are a pool for several series: {left}"


@dataclass(frozen=True)
class BudgetStatus:
    """What may be spent, and what is left of it; exact numbers, as text.

    Attributes:
        pool: what several series share, if they do.
    """

    epsilon: str
    epsilon_left: str
    delta: str | None
    delta_left: str | None
    pool: PoolStatus | None = None

    @classmethod
    def of(cls, promise: Promise) -> BudgetStatus:
        """The budget of a study with these series."""
        (epsilon, delta), total = promise.budget_left(), promise.budget
        left = None if total.delta is None else as_text(delta)
        pool = PoolStatus.of(promise)
        return cls(total.epsilon, as_text(epsilon), total.delta, left, pool)

    def __str__(self) -> str:
        words = f"ε = {self.epsilon}, of which {self.epsilon_left} is left"
        if self.delta is None:
            return words
        words = f"{words}; δ = {self.delta}, of which {self.delta_left} is left"
        return f"{words}. Of these, {self.pool}" if self.pool else words


@dataclass(frozen=True)
class SeriesStatus:
    """What a series costs, from which step on, and how often it was published.

    Attributes:
        epsilon: None if it shares a pool.
        pool: its share of it.
        expected: the size that the steward expects; None if they have not said it.
        usefulness: what the noise that was announced leaves of it; None of a draft.
    """

    name: str
    statistic: str
    epsilon: str | None
    delta: str | None
    mechanism: str
    first: str
    releases: int
    expected: int | None = None
    usefulness: str | None = None
    pool: str | None = None

    @property
    def share(self) -> str:
        """What it gets of the budget."""
        return self.epsilon or f"{self.pool} of the pool"

    @property
    def price(self) -> str:
        """The same in symbols."""
        return f"ε = {self.epsilon}" if self.epsilon else self.share

    @property
    def expectation(self) -> str:
        """Size and usefulness in words; nothing where nobody has said a size."""
        size = "" if self.expected is None else f"about {self.expected:,}"
        if not self.usefulness:
            return size
        from graphveil.mechanisms.planning.usefulness import Usefulness

        return f"{size}: {Usefulness(self.usefulness).in_words}"

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {"from" if key == "first" else key: value for key, value in asdict(self).items()}


@dataclass(frozen=True)
class SeriesList:
    """The series of a study, and what is left for more."""

    title: str
    series: tuple[SeriesStatus, ...]
    budget: BudgetStatus

    @classmethod
    def of(cls, promise: Promise, ledger: Ledger) -> SeriesList:
        """The series of a promise; those of a draft begin with the first step."""
        begins = {each.series: each.first_step for each in ledger.series}
        made = {each.series: len(each.releases) for each in ledger.series}
        judgements = {each.series: each.judgement for each in ledger.series}
        judged = {name: str(found.word) for name, found in judgements.items() if found}
        series = tuple(
            SeriesStatus(
                name=each.name,
                statistic=each.counted_in_symbols(),
                epsilon=each.epsilon,
                delta=each.delta,
                mechanism=each.mechanism,
                first=promise.calendar.label(begins.get(each.name, 0)),
                releases=made.get(each.name, 0),
                expected=each.expected,
                usefulness=judged.get(each.name),
                pool=each.pool,
            )
            for each in promise.series
        )
        return cls(promise.title, series, BudgetStatus.of(promise))

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {"series": [each.as_data() for each in self.series], "budget": asdict(self.budget)}


@dataclass(frozen=True)
class Steps:
    """What is sealed, what comes next, and how many have ended and are due."""

    steps_sealed: int
    last_sealed: str | None
    next_step: str | None
    steps_due: int | None

    @classmethod
    def of(cls, promise: Promise, sealed: int) -> Steps:
        """The steps of a study of which some are sealed."""
        calendar = promise.calendar
        over = calendar.last_step is not None and sealed > calendar.last_step
        return cls(
            steps_sealed=sealed,
            last_sealed=calendar.label(sealed - 1) if sealed else None,
            next_step=None if over else calendar.label(sealed),
            steps_due=steps_due(promise, sealed),
        )


@dataclass(frozen=True)
class PrivateStatus:
    """What depends on the records, and is for the data holder only.

    Attributes:
        batches_waiting: batches with records of steps that are not sealed. A single person may
            decide whether a batch has one.
        withdrawable: the number of the batch that can be withdrawn, if one can.
        unsettled: the newest `add` that was refused or did not end, in words; nothing if none.
    """

    batches_waiting: int
    withdrawable: int | None = None
    unsettled: str = ""

    @classmethod
    def of(cls, study: StoredStudy, ledger: Ledger) -> PrivateStatus:
        """What depends on the records of a study."""
        from graphveil.study.records.attempts import unsettled

        waiting = sum(each.last_step >= len(ledger.sealed) for each in ledger.batches)
        missing = [f"Adding {each.files}" for each in unsettled(study.folder, ledger)]
        return cls(waiting, _withdrawable(ledger), missing[-1] if missing else "")


def _withdrawable(ledger: Ledger) -> int | None:
    if not ledger.batches:
        return None
    try:
        return ledger.withdrawable(ledger.batches[-1].number).number
    except StudyError:
        return None


@dataclass(frozen=True, repr=False)
class Status:
    """The state of a study; shown without its private part.

    Attributes:
        is_open: whether it is more than a draft.
        calendar: in words.
        promised: about links, in words.
        steps: sealed, next and due.
        private: what depends on the records; nothing else does.
        listed: series and budget.
        is_current: whether the public part shows all that was sealed.
        page: the report, if there is one.
        verdict: how the study compares with what this machine has seen of it.
        groups: the public lists of labels that its people have, by name.
    """

    is_open: bool
    calendar: str
    promised: str
    steps: Steps
    private: PrivateStatus
    listed: SeriesList
    is_current: bool
    page: Path | None
    verdict: WitnessVerdict
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """In one word."""
        return "open" if self.is_open else "draft"

    def __repr__(self) -> str:
        steps, listed = self.steps, self.listed
        last = f", the last {steps.last_sealed}" if steps.last_sealed else ""
        lines = [
            f"{listed.title}: {self.state}",
            f"Steps: {steps.steps_sealed} sealed{last}; next: {steps.next_step or 'none'}",
            f"Budget: {listed.budget}",
            *(f"{each.name}: {each.statistic}, {each.price}" for each in listed.series),
        ]
        return "\n  ".join(lines)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        listed = self.listed.as_data()
        return {
            "title": self.listed.title,
            "state": self.state,
            "calendar": self.calendar,
            "promised": self.promised,
            **({"groups": dict(self.groups)} if self.groups else {}),
            **asdict(self.steps),
            "budget": listed["budget"],
            "series": listed["series"],
            "public_part_is_current": self.is_current,
            "report": None if self.page is None else str(self.page),
            "this_machine": self.verdict.value,
            "private": asdict(self.private),
        }


def status(folder: Path) -> Status:
    """The state of the study in a folder."""
    from graphveil.study import StoredStudy

    study = StoredStudy.at(folder)
    committed = study.committed()
    ledger = committed.ledger
    promise, sealed = study.promise(ledger), len(ledger.sealed)
    page = study.folder.public / "report.html"
    return Status(
        is_open=ledger.is_open,
        calendar=promise.calendar.describe(),
        promised=promise.bound_sentence,
        steps=Steps.of(promise, sealed),
        private=PrivateStatus.of(study, ledger),
        listed=SeriesList.of(promise, ledger),
        is_current=_is_current(study, committed),
        page=page if page.is_file() else None,
        verdict=study.verdict(),
        groups={each.name: each.cells for each in promise.groups.members},
    )


def _is_current(study: StoredStudy, committed: Committed) -> bool:
    ledger = committed.ledger
    return not committed.is_behind and (
        not ledger.sealed or report_is_current(study.folder, ledger)
    )
