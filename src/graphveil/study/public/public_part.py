"""The public part of a study: what was promised, and what was published since.

Nothing but `study.toml` and `ledger.jsonl` is in it, so that a report cannot know more than
its readers do. Both are checked: the chain of the ledger, each fact in it, and that the two
files agree with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from graphveil.errors import IntegrityError, StorageError, StudyError
from graphveil.study.promise.promise import Promise
from graphveil.study.public import chain
from graphveil.study.public.chain import PublicRow
from graphveil.study.public.facts import StepSealed
from graphveil.study.public.history import History, PublishedSeries
from graphveil.study.public.shown import Shown

STUDY = "study.toml"
LEDGER = "ledger.jsonl"
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
        promise: what is promised.
        opened_at: when the promise was entered into the ledger, in UTC.
        history: what was announced since.
        head: the end of the chain.
        series: those that are looked at, in the order in which they were opened.
    """

    promise: Promise
    opened_at: str
    history: History
    head: Head
    series: tuple[PublishedSeries, ...]

    @classmethod
    def read(cls, public: Path) -> PublicPart:
        """The study in a `public` folder, checked."""
        return cls._agreeing(public, _rows_in(public))

    @classmethod
    def read_newest(cls, public: Path) -> PublicPart:
        """The same, for whoever replaces page, card and table: refused if one of these is newer."""
        rows = _rows_in(public)
        part = cls._agreeing(public, rows)
        newer = Shown.of(public).newer_than({row.hash for row in rows}, len(part.steps))
        if newer is None:
            return part
        raise IntegrityError(
            f"{newer} shows more than {LEDGER}: an older copy of the public part was restored. "
            f"Nothing was written. Put the newest {LEDGER} back; only if {newer} is wrong itself, "
            "remove it."
        )

    @classmethod
    def _agreeing(cls, public: Path, rows: Sequence[PublicRow]) -> PublicPart:
        part, found = cls.of(rows), Promise.from_toml(text_of(public / STUDY), STUDY)
        # A process may have been killed before it wrote the newest series into the study file.
        require_agreement(found, part.history.versions, STUDY, LEDGER)
        return part

    @classmethod
    def of(cls, rows: Sequence[PublicRow]) -> PublicPart:
        """The same from rows that are known to be chained; what they say is what was promised."""
        history = History.of([row.announcement(LEDGER) for row in rows], LEDGER)
        head = Head(rows[-1].hash, len(rows), rows[-1].at)
        return cls(history.versions[-1], rows[0].at, history, head, history.series)

    def is_announced(self, public: Path) -> bool:
        """Whether the ledger of a `public` folder still ends where this one does."""
        return f'"hash":"{self.head.hash}"' in text_of(public / LEDGER).rsplit("\n", 2)[-2:][0]

    @property
    def steps(self) -> tuple[StepSealed, ...]:
        """What is published so far."""
        return self.history.steps

    @property
    def software(self) -> tuple[str, ...]:
        """The versions that the ledger names, each with the library of its noise."""
        return self.history.software

    @property
    def total(self) -> tuple[Fraction, Fraction]:
        """ε and δ that the study will never exceed."""
        return self.promise.budget_total()

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """ε and δ of all series that were opened."""
        return self.history.spent

    @property
    def left(self) -> tuple[Fraction, Fraction]:
        """ε and δ for series that may still be opened."""
        return self.promise.budget_left()


def _rows_in(public: Path) -> tuple[PublicRow, ...]:
    rows = chain.read_rows(text_of(public / LEDGER), LEDGER)
    if not rows:
        raise IntegrityError(f"{LEDGER} is empty.")
    return rows


def require_agreement(found: Promise, versions: Sequence[Promise], file: str, ledger: str) -> None:
    """Refuse a study file that disagrees with the ledger.

    Args:
        found: what the file says.
        versions: what the ledger says that it may say; the newest is last.
        file: what the file is called, for messages.
        ledger: what the ledger is called.
    """
    if found in versions:
        return
    entries = ", ".join(found.clashes(versions[-1]))
    raise StudyError(
        f"{file} disagrees with {ledger} about: {entries}. The promise of an open study cannot "
        "change. Undo the change; for a new series use `graphveil series`, for another promise "
        "open a new study."
    )


def text_of(path: Path) -> str:
    """The text of a file of the public part, byte by byte: line ends stay as they are."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError as error:
        raise StudyError(f"{path.name} is missing. {_MISSING[path.name]}") from error
    except UnicodeDecodeError as error:
        raise IntegrityError(f"{path.name} is not UTF-8 text.") from error
    except OSError as error:
        raise StorageError(f"{path.name} cannot be read: {error.strerror}.") from error
