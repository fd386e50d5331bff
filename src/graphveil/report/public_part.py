"""The public part of a study, read back: what was promised, and what was published since.

Nothing but `study.toml` and `ledger.jsonl` is read, so that a report cannot know more than
its readers do. Both are checked: the chain of the ledger, each fact in it, and that the two
files tell the same story.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from graphveil.errors import IntegrityError, StorageError, StudyError
from graphveil.report.facts import (
    LEDGER,
    Released,
    SealedStep,
    SeriesFacts,
    Software,
    StudyOpened,
    fact,
    place,
    require,
)
from graphveil.study import chain
from graphveil.study.chain import PublicRow
from graphveil.study.study_file import StudyFile, parse, study_file

STUDY = "study.toml"
_MISSING = {
    STUDY: "Give the public folder of a study, or make one with `graphveil new`.",
    LEDGER: "A draft has none, and so nothing to report: add records, and publish a step.",
}


@dataclass(frozen=True)
class Head:
    """The end of the chain: who holds this hash can prove what was published until then."""

    hash: str
    rows: int
    at: str


@dataclass(frozen=True)
class PublicPart:
    """A study as the public sees it.

    Attributes:
        study: what is promised.
        opened_at: when the promise was entered into the ledger, in UTC.
        software: the versions that the ledger names, each with the library of its noise.
        series: in the order in which they were opened.
        steps: what is published so far.
        head: the end of the chain.
    """

    study: StudyFile
    opened_at: str
    software: tuple[str, ...]
    series: tuple[SeriesFacts, ...]
    steps: tuple[SealedStep, ...]
    head: Head

    @classmethod
    def read(cls, public: Path) -> PublicPart:
        """The study in a `public` folder, checked."""
        study = parse(_text(public / STUDY), STUDY)
        return cls.of(study, chain.read_rows(_text(public / LEDGER), LEDGER))

    @classmethod
    def of(cls, study: StudyFile, rows: Sequence[PublicRow]) -> PublicPart:
        """The same from what the two files say; the rows are known to be chained."""
        if not rows or rows[0].event != "study opened":
            raise IntegrityError(f"{LEDGER}, row 0: has to say that the study was opened.")
        series, steps = _told(rows[1:])
        _require_agreement(study, _opened_study(rows[0]), series)
        head = Head(rows[-1].hash, len(rows), rows[-1].at)
        return cls(study, rows[0].at, _software(rows), series, steps, head)

    @property
    def total(self) -> tuple[Fraction, Fraction]:
        """ε and δ that the study will never exceed."""
        return Fraction(self.study.budget.epsilon), Fraction(self.study.budget.delta or 0)

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """ε and δ of all series that were opened."""
        losses = sum((each.epsilon for each in self.series), Fraction())
        return losses, sum((each.delta or Fraction() for each in self.series), Fraction())

    @property
    def left(self) -> tuple[Fraction, Fraction]:
        """ε and δ for series that may still be opened."""
        (epsilon, delta), (loss, risk) = self.total, self.spent
        return epsilon - loss, delta - risk


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError as error:
        raise StudyError(f"{path.name} is missing. {_MISSING[path.name]}") from error
    except UnicodeDecodeError as error:
        raise IntegrityError(f"{path.name} is not a text in UTF-8.") from error
    except OSError as error:
        raise StorageError(f"{path.name} cannot be read: {error.strerror}.") from error


def _told(rows: Iterable[PublicRow]) -> tuple[tuple[SeriesFacts, ...], tuple[SealedStep, ...]]:
    """Series with their releases, and the sealed steps, from the rows after the first."""
    series: dict[str, SeriesFacts] = {}
    steps: list[SealedStep] = []
    for row in rows:
        if row.event == "series opened":
            opened = fact(SeriesFacts, row)
            require(opened.series not in series, row, "this series was opened before")
            series[opened.series] = replace(opened, releases=())
        elif row.event == "step sealed":
            steps.append(fact(SealedStep, row))
            require(steps[-1].step == len(steps) - 1, row, "a step is out of order")
        elif row.event == "release made":
            _take_release(series, row)
        else:
            raise StudyError(
                f"{place(row)}: this version of graphveil does not know such an event. "
                "Install the version that wrote it."
            )
    _require_sealed(series.values(), steps)
    return tuple(series.values()), tuple(steps)


def _take_release(series: dict[str, SeriesFacts], row: PublicRow) -> None:
    made = fact(Released, row)
    require(made.series in series, row, "a release of a series that was not opened")
    known = series[made.series]
    require(made.step == known.first_step + len(known.releases), row, "a step is out of order")
    lists = (made.raw, made.processed, made.low, made.high)
    require(all(len(each) == known.numbers for each in lists), row, "has too few or many numbers")
    series[made.series] = replace(known, releases=(*known.releases, made))


def _require_sealed(series: Iterable[SeriesFacts], steps: Sequence[SealedStep]) -> None:
    """Every release belongs to a sealed step of the same name."""
    for each in series:
        for made in each.releases:
            if made.step >= len(steps) or steps[made.step].label != made.label:
                raise IntegrityError(
                    f"{LEDGER}: a release of '{each.series}' is of a step that was never sealed."
                )


def _opened_study(row: PublicRow) -> StudyFile:
    try:
        return study_file(fact(StudyOpened, row).study, place(row))
    except StudyError as error:
        raise IntegrityError(str(error)) from error


def _software(rows: Iterable[PublicRow]) -> tuple[str, ...]:
    """Each version once, in the order in which the ledger first names it."""
    named = (fact(Software, row) for row in rows if "software" in row.fact)
    return tuple(dict.fromkeys(f"{each.software}, noise by {each.noise}" for each in named))


def _require_agreement(study: StudyFile, opened: StudyFile, series: Sequence[SeriesFacts]) -> None:
    """Refuse a study file that says anything else than the ledger."""
    clashes = [
        name
        for name in type(study).model_fields
        if name not in ("series", "calendar") and getattr(study, name) != getattr(opened, name)
    ]
    clashes += ["calendar"] * (study.steps() != opened.steps())
    said = {each.name: each for each in study.series}
    held = {each.series: each.promise for each in series}
    clashes += [f"series '{name}'" for name in {**said, **held} if said.get(name) != held.get(name)]
    if clashes:
        raise StudyError(
            f"{STUDY} and {LEDGER} do not agree about: {', '.join(clashes)}. What the ledger says "
            f"was promised and stays so: put {STUDY} back as it was."
        )
