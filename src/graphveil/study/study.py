"""A study at work: create it, add records, publish steps, open series.

study = Study.create(Path("county"), promise)
study.add(read_records(["network.json"]).records)
study.publish()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import BoundError, ParameterError, StudyError
from graphveil.study import adding, growing, opening, publishing, study_file
from graphveil.study.announcing import (
    Told,
    announce,
    is_behind,
    require_agreement,
    require_newest,
    told,
)
from graphveil.study.clock import label_of, steps_ended
from graphveil.study.folder import Folder, make_folder
from graphveil.study.ledger import Event, Ledger
from graphveil.study.publishing import Prepared
from graphveil.study.store import Store, StoredSeries, Transaction
from graphveil.study.study_file import SeriesPromise, StudyFile
from graphveil.whole_files import write_bytes

if TYPE_CHECKING:
    from graphveil.graph.records import Records


@dataclass(frozen=True)
class Added:
    """What became of records; private.

    Attributes:
        batch: its number; None where it was only tried.
        findings: what the steward learns about the records.
    """

    batch: int | None
    findings: adding.Findings


@dataclass(frozen=True)
class Study:
    """One population, one budget, many series, in one folder."""

    folder: Folder

    @classmethod
    def create(cls, root: Path, promise: StudyFile, *, database: str | None = None) -> Study:
        """A new study, which is a draft until records are added; nothing is spent yet.

        Args:
            root: a folder that holds no study yet.
            promise: what the study file will say.
            database: the URL of a PostgreSQL database; without one, SQLite in the folder.
        """
        opening.require_draft(promise)
        opening.require_affordable(promise)
        for series in promise.series:
            opening.series_plan(promise, series, first_step=0)
        if database is not None and database.startswith("sqlite"):
            raise ParameterError("database", "SQLite is used where no URL is given")
        folder = Folder(root.resolve())
        folder.require_free()
        if database is not None:  # a server that does not answer leaves no folder behind
            Store.create(database)
        make_folder(folder, database)
        if database is None:
            Store.create(folder.database_url)
        # The study file comes last: without it, a half-made study is none.
        write_bytes(folder.study_file, study_file.written(promise).encode())
        return cls(folder)

    @classmethod
    def at(cls, root: Path) -> Study:
        """The study in a folder."""
        folder = Folder(root.resolve())
        folder.require()
        return cls(folder)

    @cached_property
    def store(self) -> Store:
        """Where the ledger is kept."""
        return Store.connect(self.folder.database_url)

    def ledger(self) -> Ledger:
        """All that happened, once it agrees with the study file and with what was announced."""
        return self._committed()[0]

    def promise(self, ledger: Ledger | None = None) -> StudyFile:
        """What the study says of itself: its file while it is a draft, then its ledger."""
        ledger = self.ledger() if ledger is None else ledger
        return ledger.versions[-1] if ledger.is_open else self._draft()

    def add(self, records: Records, *, complete: bool = False, dry_run: bool = False) -> Added:
        """Keep records until their step is sealed; the first ones open the study.

        Args:
            records: as a reader found them.
            complete: whether they are all there is to know, so that what they lack is told.
            dry_run: only tell; change nothing.
        """
        if dry_run:
            ledger = self.ledger()
            promise = ledger.versions[-1] if ledger.is_open else self._draft()
            found = adding.candidate(self.folder, ledger, promise, records, complete=complete)
            return Added(None, found.findings)
        with self._writing() as (transaction, ledger):
            found = adding.candidate(
                self.folder, ledger, ledger.versions[-1], records, complete=complete
            )
            number = adding.keep(transaction, self.folder, ledger, found)
        self.announce()
        return Added(number, found.findings)

    def withdraw(self) -> int:
        """Take the latest batch back, as far as it is not sealed; its number."""
        with self._writing() as (transaction, ledger):
            if not ledger.batches:
                raise StudyError("there is no batch of records to take back.")
            latest = ledger.batches[-1]
            if latest.last_step < len(ledger.sealed):
                raise StudyError(
                    f"batch {latest.number} is sealed already: what was published stays."
                )
            transaction.append(
                Event.RECORDS_WITHDRAWN, public=None, private={"batch": latest.number}
            )
        return latest.number

    def open_series(self, promise: SeriesPromise) -> SeriesPromise:
        """Open a series from the next step on, for a share of what is left of the budget."""
        with self._writing() as (transaction, ledger):
            growth = growing.grown(ledger, promise.model_dump())
            opened, step = growth.series, growth.first_step
            if opened.projection is None:
                publishing.require_kept_so_far(self.folder, ledger)
            opening.open_series(transaction, ledger.versions[-1], opened, first_step=step)
        self.announce()
        return opened

    def is_behind(self, ledger: Ledger | None = None) -> bool:
        """Whether a step was sealed and not yet announced."""
        return is_behind(self.folder, self.ledger() if ledger is None else ledger)

    def publish(
        self,
        through: int | None = None,
        *,
        early: bool = False,
        sealed: Callable[[int], object] = lambda step: None,
    ) -> list[int]:
        """Seal the next step, or every step up to `through`; the steps that are now new.

        What a killed process has sealed is announced, too; then, without `through`, nothing
        more is sealed. A step that is sealed already is announced again, in the same bytes.

        Args:
            through: the last step to seal; None seals one.
            early: seal a step although it has not ended by the clock.
            sealed: is told each step, once it is committed.
        """
        ledger = self._opened()
        first = len(ledger.sealed)
        finishing = through is None and is_behind(self.folder, ledger)
        last = first - finishing if through is None else through
        prepared = None
        try:
            if last >= first:
                self._require_due(ledger.versions[-1], last, early=early)
                opening.require_room(ledger, last)
            for step in range(first, last + 1):
                prepared = self._seal(step, last, prepared)
                sealed(step)
        finally:
            self.announce()
        return list(range(first, last + 1))

    def announce(self) -> None:
        """Bring the public part to what was committed."""
        with self.folder.lock():
            announce(self.folder, self.ledger())

    def _seal(self, step: int, last: int, prepared: Prepared | None) -> Prepared | None:
        """Seal one step in one transaction; another process may have been faster."""
        while True:
            if prepared is None:
                ledger, kept = self._committed()
                if len(ledger.sealed) > step:
                    return None
                prepared = publishing.prepare(self.folder, ledger, kept, last)
            self._require_kept(prepared, step)
            with self.store.transaction() as transaction:
                newest = prepared.ledger.last
                if newest is not None and transaction.last_hash() == newest.hash:
                    return publishing.seal(transaction, self.folder, prepared, step)
            prepared = None

    def _require_kept(self, prepared: Prepared, step: int) -> None:
        """Enter a refusal, privately, before it is raised."""
        try:
            publishing.require_kept(prepared, step)
        except BoundError:
            with self.store.transaction() as transaction:
                transaction.append(
                    Event.REFUSAL, public=None, private={"step": step, "reason": "degree bound"}
                )
            raise

    def _opened(self) -> Ledger:
        """The ledger of the study, which is opened if it was a draft."""
        ledger = self.ledger()
        if ledger.is_open:
            return ledger
        with self._writing() as (_, ledger):
            return ledger

    @contextmanager
    def _writing(self) -> Iterator[tuple[Transaction, Ledger]]:
        """The one writer, in a study that is open."""
        with self.store.transaction() as transaction:
            public = told(self.folder)
            ledger = _checked(transaction.ledger(), public)
            if not ledger.is_open:
                opening.open_study(transaction, self._draft())
                ledger = transaction.ledger()
            yield transaction, ledger

    def _draft(self) -> StudyFile:
        text = self.folder.study_file.read_text(encoding="utf-8")
        return study_file.parse(text, "public/study.toml")

    def _committed(self) -> tuple[Ledger, dict[str, StoredSeries]]:
        """What was committed, once it agrees with what was told before."""
        public = told(self.folder)
        with self.store.reading() as committed:
            return _checked(committed.ledger(), public), committed.series()

    def _require_due(self, study: StudyFile, step: int, *, early: bool) -> None:
        """Refuse a step that the calendar does not have, or that has not ended yet."""
        label = label_of(study, step)
        if early or step < steps_ended(study):
            return
        raise StudyError(
            f"{label} has not ended yet, so records of it may still come; once a step is sealed, "
            "they would join the next one. Wait, or seal it now with --early."
        )


def _checked(ledger: Ledger, public: Told) -> Ledger:
    require_newest(public, ledger)
    if ledger.is_open:
        require_agreement(public, ledger)
    return ledger
