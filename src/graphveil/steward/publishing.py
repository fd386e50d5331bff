"""Publishing: which steps are asked for, sealing them, and bringing the public part up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import Interruption, ParameterError, StudyError
from graphveil.steward import releases
from graphveil.steward.engine_choice import HERE, EngineChoice
from graphveil.steward.public_folder import report_is_current
from graphveil.steward.reporting import Report, write_report
from graphveil.steward.steps import last_ended, step_called
from graphveil.study.committed import Announced

if TYPE_CHECKING:
    from graphveil.report.tables.releases import Measurement
    from graphveil.study import Promise, Study
    from graphveil.study.committed import Committed
    from graphveil.study.public.public_part import PublicPart


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
class Asked:
    """What to publish: nothing is the next step, else one of the first three.

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
            raise ParameterError("publish", "give one of --step, --through and --all")


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
    return f"  {row.series}: {row.raw:,}, between {row.low:,} and {row.high:,}"


def publish(
    folder: Path,
    asked: Asked,
    progress: Callable[[Progress], object] = lambda _: None,
    engine: EngineChoice = HERE,
) -> Publication:
    """Seal what is asked for and announce it; a plain wish first finishes an interrupted run."""
    from graphveil.study import Study

    with engine.running() as counting:
        return _publish(Study.at(folder, engine=counting), folder, asked, progress)


def _publish(
    study: Study, folder: Path, asked: Asked, progress: Callable[[Progress], object]
) -> Publication:
    found = study.committed()
    promise, made = study.promise(found.ledger), len(found.ledger.sealed)
    last = _last(promise, made, asked)
    _require_opened(found, folder)
    finished = last is None and _is_behind(study, found, reported=asked.report)
    work = _Work(study, asked, found, 1 if last is None else max(0, last + 1 - made), progress)
    with _told_what_stands(study, folder, made):
        announced = work.finish() if finished else work.seal(last)
        part = announced.public_part
        page = work.report(part).page if asked.report else None
    return Publication(
        steps=tuple(announced.steps),
        labels=tuple(promise.calendar.label(step) for step in announced.steps),
        finished=finished,
        releases=releases.of_steps(part, announced.steps),
        page=page,
    )


def _require_opened(found: Committed, folder: Path) -> None:
    """Refuse a draft: whose records were refused would otherwise publish that there is nobody."""
    if not found.ledger.is_open:
        raise StudyError(
            "no records were added yet, and a sealed step cannot be taken back. First: graphveil "
            f"add {folder} FILES (of a network that is still empty, files that list nobody)."
        )


@contextmanager
def _told_what_stands(study: Study, folder: Path, made: int) -> Iterator[None]:
    """Who interrupts is told which steps were sealed by then: the ledger knows, whatever we do."""
    try:
        yield
    except KeyboardInterrupt as stop:
        ledger = study.ledger()
        labels = [
            ledger.versions[-1].calendar.label(step) for step in range(made, len(ledger.sealed))
        ]
        raise Interruption(_what_stands(folder, labels)) from stop


def _what_stands(folder: Path, labels: Sequence[str]) -> str:
    if not labels:
        return "interrupted before a step was sealed: nothing was changed. Run the command again."
    span = labels[0] if len(labels) == 1 else f"{labels[0]} to {labels[-1]}, {len(labels)} steps"
    return (
        f"interrupted. Sealed for good by then: {span}. Nothing is half done: `graphveil publish "
        f"{folder}` first brings the public part up to date, then the same command goes on."
    )


@dataclass(frozen=True)
class _Work:
    """The parts of a publication, each of which reports its progress."""

    study: Study
    asked: Asked
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


def _is_behind(study: Study, found: Committed, *, reported: bool) -> bool:
    """Whether something was sealed that the public part does not show yet."""
    ledger = found.ledger
    stale = reported and bool(ledger.sealed) and not report_is_current(study.folder, ledger)
    return found.is_behind or stale


def _last(promise: Promise, made: int, asked: Asked) -> int | None:
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
            f"{asked.step} is out of order: the next step is {calendar.label(made)}. Steps are "
            f"sealed one after the other; to seal all up to {asked.step}, use --through "
            f"{asked.step}."
        )
    return number
