"""The public part of a study: what was promised, and what was published since.

Nothing but `study.toml` and `ledger.jsonl` is in it, so that a report cannot know more than
its readers do. Both are checked: the chain of the ledger, each fact in it, and that the two
files agree with each other.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from graphveil.errors import IntegrityError, StorageError, StudyError
from graphveil.hints import Hint
from graphveil.study import chain
from graphveil.study.chain import PublicRow, read_rows
from graphveil.study.facts import StepSealed
from graphveil.study.folder import Folder
from graphveil.study.history import History, PublishedSeries
from graphveil.study.ledger import Ledger
from graphveil.study.promise import Promise
from graphveil.whole_files import write_bytes

# What the files beside the public ledger show: enough to notice that the ledger is older.
#
# Page, card and tables are made from the chain. If somebody restores an old ledger, private and
# public, but not one of these files, then that file shows more than the ledger knows.


_HEADS = {
    "card.json": re.compile(rb'^    "head": "([0-9a-f]{64})",?$', re.MULTILINE),
    "report.html": re.compile(rb'<code class="hash">([0-9a-f]{64})</code>'),
}
_TABLES = ("releases.csv", "changes.csv", "revised.csv", "ratios.csv")
DIGITS = 10  # of a step; longer ones are none


@dataclass(frozen=True)
class Shown:
    """What page, card and tables show.

    Attributes:
        heads: the hash of the newest row that a file was made from, by the name of the file.
        steps: how many steps a table has, by the name of the table.
    """

    heads: tuple[tuple[str, str], ...] = ()
    steps: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, public: Path) -> Shown:
        """In a public folder; a file that is not there, or not ours, shows nothing."""
        return cls(tuple(_heads(public)), tuple((name, _steps(public / name)) for name in _TABLES))

    def newer_than(self, hashes: set[str], steps: int) -> str | None:
        """The first file that shows a row or a step which a ledger lacks; None if none does."""
        unknown = (name for name, head in self.heads if head not in hashes)
        longer = (name for name, shown in self.steps if shown > steps)
        return next(itertools.chain(unknown, longer), None)


def _heads(public: Path) -> Iterator[tuple[str, str]]:
    for name, pattern in _HEADS.items():
        path = public / name
        hashes = pattern.findall(path.read_bytes()) if path.is_file() else []
        if hashes:
            yield name, hashes[-1].decode()


def _steps(table: Path) -> int:
    if not table.is_file():
        return 0
    with (
        suppress(csv.Error),  # then the table is not ours
        table.open(newline="", encoding="utf-8", errors="replace") as file,
    ):
        shown = (row.get("step") or "" for row in csv.DictReader(file))
        numbers = (int(step) for step in shown if step.isdecimal() and len(step) < DIGITS)
        return max((number + 1 for number in numbers), default=0)
    return 0


STUDY = "study.toml"
LEDGER = "ledger.jsonl"
_MISSING = {
    STUDY: Hint("public-folder"),
    LEDGER: "A draft has none, and so nothing to report: add records, and publish a step.",
}


@dataclass(frozen=True)
class Head:
    """The end of the chain: its hash proves what was published until then."""

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
        """The same, before page, card and table are replaced: refused if one of these is newer."""
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
        part, text = cls.of(rows), text_of(public / STUDY)
        promise = Promise.from_toml(text, STUDY, committed=True)
        # A process may have been killed before it wrote the newest series into the study file.
        require_agreement(promise, part.history.versions, STUDY, LEDGER)
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
        found: the promise in the file.
        versions: what the ledger says that it may say; the newest is last.
        file: what the file is called, for messages.
        ledger: what the ledger is called.
    """
    if found in versions:
        return
    entries = ", ".join(found.clashes(versions[-1]))
    raise StudyError(
        f"{file} disagrees with {ledger} about: {entries}. The promise of an open study cannot "
        "change.",
        hint=Hint("undo-change"),
    )


def text_of(path: Path) -> str:
    """The text of a file of the public part, byte by byte: line ends stay as they are."""
    try:
        return text_in(path.read_bytes(), path.name)
    except FileNotFoundError as error:
        raise StudyError(f"{path.name} is missing.", hint=_MISSING.get(path.name, "")) from error
    except OSError as error:
        raise StorageError(f"{path.name} cannot be read: {error.strerror}.") from error


def text_in(content: bytes, name: str) -> str:
    """The text of a file with that name."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise IntegrityError(f"{name} is not UTF-8 text.") from error


# Announcing: the public part is written from what was committed, never the other way round.


@dataclass(frozen=True)
class PublishedText:
    """The text of the public part, at one moment.

    It is read before the ledger, never after: everything announced was committed before, so a
    ledger that is read later contains all of it, whatever other processes do meanwhile.
    """

    text: str
    study_file: str
    shown: Shown = field(default_factory=Shown)

    @cached_property
    def rows(self) -> tuple[PublicRow, ...]:
        """The public chain, read row by row; refuses one that is not whole."""
        return read_rows(self.text, "public/ledger.jsonl")

    def is_told_by(self, ledger: Ledger) -> bool:
        """Whether it equals the public text of the ledger, or its beginning, byte by byte.

        Then its chain is whole: it is the one that was made from the ledger.
        """
        whole_lines = not self.text or self.text.endswith("\n")
        return whole_lines and ledger.public_text.startswith(self.text)


def published_text(folder: Folder) -> PublishedText:
    """The current text of the public part."""
    ledger = text_of(folder.public_ledger) if folder.public_ledger.exists() else ""
    return PublishedText(ledger, text_of(folder.study_file), Shown.of(folder.public))


def announce(folder: Folder, ledger: Ledger) -> None:
    """Write the study file and the public chain, where they are not yet as committed."""
    # The chain comes first: a study file that lacks the newest series is an earlier one, but a
    # chain that lacks a series of the study file contradicts it.
    texts = {
        folder.public_ledger: ledger.public_text,
        folder.study_file: ledger.versions[-1].to_toml(),
    }
    for path, text in texts.items():
        if not path.exists() or path.read_bytes() != text.encode():
            write_bytes(path, text.encode())


def require_agreeing_file(public: PublishedText, ledger: Ledger) -> None:
    """Refuse a study file that disagrees with the ledger."""
    if not ledger.is_open or public.study_file == ledger.versions[-1].to_toml():
        return
    promise = Promise.from_toml(public.study_file, "public/study.toml", committed=True)
    # A version from before the newest series is fine: a process was killed before it wrote.
    require_agreement(promise, ledger.versions, "public/study.toml", "the ledger")


def require_newest(public: PublishedText, ledger: Ledger) -> None:
    """Refuse a database that lacks something published: it is an older copy.

    Continuing from it would publish different numbers for steps that are already published.
    """
    newer = public.shown.newer_than({row.hash for row in ledger.public_lines}, len(ledger.sealed))
    if newer is not None:
        raise IntegrityError(
            f"public/{newer} shows more than the ledger database knows; most likely an older copy "
            "was restored. Nothing was published: published steps must not be drawn again. Restore "
            "the newest private folder; only if that file is wrong itself, remove it."
        )
    if public.is_told_by(ledger):
        return
    rows, known = public.rows, ledger.public_rows
    if rows == known[: len(rows)]:
        return
    number = next(
        (n for n, (a, b) in enumerate(zip(rows, known, strict=False)) if a != b), len(known)
    )
    raise IntegrityError(
        f"the ledger database lacks row {number} of public/ledger.jsonl ({rows[number].event}, "
        f"{rows[number].at}); most likely an older copy was restored. Nothing was published: "
        "published steps must not get new noise. Restore the newest private folder; if it is "
        "lost, open a new study, whose ε adds to this one's."
    )


# What verifying finds, here and in the private part.


class Unfinished(str):
    """A finding about something that is not wrong, but still to be written (again)."""

    __slots__ = ()


@dataclass(frozen=True)
class Check:
    """One check that passed, and its result; perhaps that something is unfinished."""

    name: str
    found: str

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to be done."""
        return not isinstance(self.found, Unfinished)
