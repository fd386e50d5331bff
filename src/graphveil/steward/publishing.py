"""Publishing: which steps are asked for, sealing them, and bringing the public part up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.calendar.times import Unit
from graphveil.errors import InputError, Interruption, ParameterError, StudyError
from graphveil.hints import Hint
from graphveil.noise.exact_numbers import as_text
from graphveil.steward import reporting
from graphveil.steward.reporting import Report, report_is_current, write_report
from graphveil.study.backends import HERE, BackendChoice
from graphveil.study.committed import Announced, Committed, steps_ended

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.report.releases import Measurement
    from graphveil.steward.outlook import Outlook, StudyOutlook
    from graphveil.steward.status import Status
    from graphveil.study import Promise, StoredStudy
    from graphveil.study.public_part import PublicPart


# Steps: by their public names, and which of them have ended and are due.


def step_called(calendar: Calendar, label: str, parameter: str) -> int:
    """The step of this name; refuses other times that lie in it."""
    examples = ", ".join(calendar.labels(min(2, (calendar.last_step or 1) + 1)))
    refusal = ParameterError(
        parameter, f"no step is called '{label}'", hint=f"Steps are called {examples} and so on."
    )
    try:
        number = calendar.step_of(label)
    except InputError as error:
        raise refusal from error
    if calendar.label(number) != label:
        raise refusal
    return number


def last_ended(promise: Promise) -> int:
    """The last step that has ended; refuses a calendar that the clock says nothing about."""
    if _is_endless(promise):
        problem = "cannot be used: steps are plain numbers, not dates"
        raise ParameterError("all", problem, hint=Hint("through"))
    return steps_ended(promise) - 1


def steps_due(promise: Promise, sealed: int) -> int | None:
    """How many steps have ended and are not sealed; None if there is no clock for them."""
    return None if _is_endless(promise) else max(0, steps_ended(promise) - sealed)


def _is_endless(promise: Promise) -> bool:
    """Whether nothing says which step is the last that has ended."""
    calendar = promise.calendar
    return calendar.unit == Unit.NUMBER and calendar.last_step is None


class Stage(Enum):
    """What takes its time."""

    SEALING = "sealing"
    REPORTING = "writing the report"


@dataclass(frozen=True)
class Progress:
    """How far a publication is: at which stage, and how many of its steps are sealed."""

    stage: Stage
    sealed: int
    steps: int


@dataclass(frozen=True)
class PublishRequest:
    """What to publish: the next step by default, else one of the first three attributes.

    Attributes:
        step: the label of this step: the next, or one again.
        through: the label of the last of many.
        everything: every step that has ended by the clock.
        early: seal also what has not ended yet.
        report: bring page, charts, card and table up to date, too.
    """

    step: str | None = None
    through: str | None = None
    everything: bool = False
    early: bool = False
    report: bool = True

    def __post_init__(self) -> None:
        if sum((self.step is not None, self.through is not None, self.everything)) > 1:
            raise ParameterError("publish", "give only one of step, through and all")


@dataclass(frozen=True, repr=False)
class Publication:
    """What is public now that was not before.

    Attributes:
        steps: those that were sealed.
        labels: their names.
        finished: whether an earlier run was finished, and nothing more sealed.
        releases: what these steps say.
        page: the report, if it was written.
    """

    steps: tuple[int, ...]
    labels: tuple[str, ...]
    finished: bool
    releases: tuple[Measurement, ...]
    page: Path | None

    @property
    def newest(self) -> tuple[Measurement, ...]:
        """What the last of its steps says."""
        return tuple(row for row in self.releases if row.step == self.steps[-1])

    def __repr__(self) -> str:
        if not self.steps:
            return "<Nothing new was sealed; what is public is written again>"
        ends = " to ".join(dict.fromkeys((self.labels[0], self.labels[-1])))
        return f"<Published: {ends}; {len(self.releases):,} numbers>"

    def __str__(self) -> str:
        newest = self.newest if self.steps else ()
        lines = [_line(row) for row in newest if row.degree is None]
        vectors = dict.fromkeys(row.series for row in newest if row.degree is not None)
        more = [f"  {name}: one number per degree" for name in vectors]
        return "\n".join([repr(self).strip("<>"), *lines, *more])

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "sealed": list(self.labels),
            "finished_an_earlier_run": self.finished,
            "releases": [asdict(row) for row in self.releases],
        }


def _line(row: Measurement) -> str:
    """A published number as text."""
    within = f"between {row.low:,} and" if row.low > 0 else "at most"
    return f"  {row.called}: {row.raw:,}, {within} {max(row.high, 0):,}"


def publish(
    folder: Path,
    asked: PublishRequest,
    progress: Callable[[Progress], object] = lambda _: None,
    engine: BackendChoice = HERE,
) -> Publication:
    """Seal what is asked for and announce it; a plain request first finishes an interrupted run."""
    from graphveil.study import StoredStudy

    with engine.running() as counting:
        return _publish(StoredStudy.at(folder, backend=counting), folder, asked, progress)


def _publish(
    study: StoredStudy, folder: Path, asked: PublishRequest, progress: Callable[[Progress], object]
) -> Publication:
    committed = study.committed()
    promise, made = study.promise(committed.ledger), len(committed.ledger.sealed)
    last = _last(promise, made, asked)
    _require_opened(study, committed)
    finished = last is None and _is_behind(study, committed, reported=asked.report)
    work = _Work(study, asked, committed, 1 if last is None else max(0, last + 1 - made), progress)
    with _reporting_interrupts(study, folder, made):
        announced = work.finish() if finished else work.seal(last)
        part = announced.public_part
        page = work.report(part).page if asked.report else None
    return Publication(
        steps=tuple(announced.steps),
        labels=tuple(promise.calendar.label(step) for step in announced.steps),
        finished=finished,
        releases=reporting.of_steps(part, announced.steps),
        page=page,
    )


def _require_opened(study: StoredStudy, committed: Committed) -> None:
    """Refuse a draft to which nobody added records: it would publish that there is nobody.

    Where records were refused, the study itself says that they are missing.
    """
    from graphveil.study.records.attempts import unsettled

    if not (committed.ledger.is_open or unsettled(study.folder, committed.ledger)):
        raise StudyError(
            "no records were added yet, and a sealed step cannot be taken back. First: graphveil "
            f"add {study.folder.root} FILES (of a network that is still empty, files that list "
            "nobody)."
        )


@contextmanager
def _reporting_interrupts(study: StoredStudy, folder: Path, made: int) -> Iterator[None]:
    """On an interrupt, say which steps were sealed by then: the ledger knows in any case."""
    try:
        yield
    except KeyboardInterrupt as stop:
        ledger = study.ledger()
        labels = [
            ledger.versions[-1].calendar.label(step) for step in range(made, len(ledger.sealed))
        ]
        raise Interruption(_sealed_so_far(folder, labels)) from stop


def _sealed_so_far(folder: Path, labels: Sequence[str]) -> str:
    if not labels:
        return "interrupted before a step was sealed: nothing was changed. Run the command again."
    span = labels[0] if len(labels) == 1 else f"{labels[0]} to {labels[-1]}, {len(labels)} steps"
    done = f"interrupted. Sealed by then: {span}. Nothing is half done:"
    return Hint.joined(done, Hint("publish-again", folder=folder))


@dataclass(frozen=True)
class _Work:
    """The parts of a publication, each of which reports its progress."""

    study: StoredStudy
    asked: PublishRequest
    found: Committed
    steps: int
    progress: Callable[[Progress], object]

    def finish(self) -> Announced:
        """Announce what an earlier run has sealed."""
        return Announced([], self.study.announce(self.found.ledger))

    def seal(self, last: int | None) -> Announced:
        """Seal step after step; a refusal leaves everything as it was."""
        sealed: list[int] = []

        def tell(step: int) -> None:
            sealed.append(step)
            self.progress(Progress(Stage.SEALING, len(sealed), self.steps))

        self.progress(Progress(Stage.SEALING, 0, self.steps))
        return self.study.publish(last, early=self.asked.early, sealed=tell, since=self.found)

    def report(self, part: PublicPart | None = None) -> Report:
        """Write the report of what is announced."""
        self.progress(Progress(Stage.REPORTING, self.steps, self.steps))
        return write_report(self.study.folder.public, part)


def _is_behind(study: StoredStudy, committed: Committed, *, reported: bool) -> bool:
    """Whether something was sealed that the public part does not show yet."""
    ledger = committed.ledger
    stale = reported and bool(ledger.sealed) and not report_is_current(study.folder, ledger)
    return committed.is_behind or stale


def _last(promise: Promise, made: int, asked: PublishRequest) -> int | None:
    """The last step to seal; None for just the next one."""
    calendar = promise.calendar
    if asked.everything:
        return last_ended(promise)
    if asked.through is not None:
        return step_called(calendar, asked.through, "through")
    if asked.step is None:
        return None
    number = step_called(calendar, asked.step, "step")
    if number > made:
        raise StudyError(
            f"{asked.step} is out of order: the next step is {calendar.label(made)}.",
            hint=Hint("through-step", step=asked.step),
        )
    return number


# Due: which steps can be published now, what that spends, and how noisy they will be.


MOST_OFFERED = 400  # steps that are offered to be published together
NOT_DATED = 24  # the same where steps are numbers, and no clock says which of them are over


@dataclass(frozen=True)
class NextStep:
    """A step that can be published, with all before it.

    Attributes:
        label: its public name.
        ended: whether it is over by the clock.
    """

    label: str
    ended: bool


@dataclass(frozen=True)
class NextRelease:
    """What is known in advance of the next release of a series.

    Attributes:
        series: its name.
        std: the predicted standard deviation of the noise.
        last_std: the same at the last release.
        expected: the size that is expected at the last release.
        word: what the noise leaves of that; nothing where no size is expected.
    """

    series: str
    std: float
    last_std: float
    expected: int | None
    word: str


@dataclass(frozen=True)
class Due:
    """What publishing would do.

    Attributes:
        status: the state of the study.
        steps: those that can be published, in order; of one that has not ended, only the next.
        spends: the ε that is spent by it: that of all series where the study is still a draft,
            else nothing, since a series is paid for when it is opened.
        releases: the next release of every series that has one.
    """

    status: Status
    steps: tuple[NextStep, ...]
    spends: str
    releases: tuple[NextRelease, ...]

    @property
    def ended(self) -> tuple[NextStep, ...]:
        """The steps that are over."""
        return tuple(each for each in self.steps if each.ended)


def due(folder: Path) -> Due:
    """What can be published of the study in a folder; reads no records."""
    from graphveil.steward.outlook import study_outlook
    from graphveil.steward.status import status

    now, outlook = status(folder), study_outlook(folder)
    sealed = now.steps.steps_sealed
    spends = "0" if now.is_open else _price(outlook.promise)
    releases = (_next_release(each, sealed) for each in outlook.series)
    return Due(now, _steps(outlook, now), spends, tuple(each for each in releases if each))


def _steps(outlook: StudyOutlook, now: Status) -> tuple[NextStep, ...]:
    calendar, sealed = outlook.promise.calendar, now.steps.steps_sealed
    left = MOST_OFFERED if calendar.last_step is None else calendar.last_step + 1 - sealed
    over = now.steps.steps_due
    ended = min(NOT_DATED if over is None else over, left, MOST_OFFERED)
    offered = ended if over is None else min(max(ended, 1), left)
    return tuple(
        NextStep(calendar.label(sealed + place), ended=place < ended) for place in range(offered)
    )


def _price(promise: Promise) -> str:
    """ε of all series, and of the pool that some may share."""
    return as_text(promise.budget_total()[0] - promise.budget_left()[0])


def _next_release(outlook: Outlook, sealed: int) -> NextRelease | None:
    place, horizon = sealed - outlook.first_step, outlook.plan.request.horizon
    if place < 0 or (horizon is not None and place >= horizon):
        return None
    judgement = outlook.judgement
    return NextRelease(
        series=outlook.series.name,
        std=outlook.plan.standard_deviation(place),
        last_std=outlook.plan.last_std,
        expected=outlook.series.expected,
        word=str(judgement.word) if judgement else "",
    )
