"""A study as it is stored: create it, add records, publish steps, open series.

`graphveil.Study` is what people use; it is made of the functions of `steward`, which use this one.

study = StoredStudy.create(Path("county"), promise)
study.add(read_records(["network.json"]).records)
study.publish()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.deferred import Deferred
from graphveil.errors import BoundError, ParameterError, StudyError
from graphveil.hints import Hint
from graphveil.study import committed, witness
from graphveil.study.backends import AS_USUAL, AddOptions, Stored
from graphveil.study.committed import NO_PRICES, Announced, Committed, Prices, label_of, steps_ended
from graphveil.study.facts import Event
from graphveil.study.folder import Folder, make_folder, write_notes
from graphveil.study.ledger import NOTHING_SAID, Ledger, LedgerRow, ReadAs
from graphveil.study.machine import Machine, require_code, require_same_taker
from graphveil.study.promise import Promise
from graphveil.study.promise_entries import SeriesPromise
from graphveil.study.public_part import announce, published_text, text_of
from graphveil.study.store import Store, now
from graphveil.whole_files import write_bytes

if TYPE_CHECKING:
    from graphveil.graph.intake.records import Records
    from graphveil.study import adoption, agreement, backends, extension, opening, publishing
    from graphveil.study.adoption import Renewal
    from graphveil.study.backends import Backend, ValidatedBatch
    from graphveil.study.extension import Extension, Further
    from graphveil.study.publishing import Prepared
    from graphveil.study.records import attempts, findings
    from graphveil.study.records.attempts import Attempt
    from graphveil.study.sql import Transaction
else:  # who only looks at a study plans, counts and draws nothing
    adoption = Deferred("graphveil.study.adoption")
    extension = Deferred("graphveil.study.extension")
    opening = Deferred("graphveil.study.opening")
    backends = Deferred("graphveil.study.backends")
    publishing = Deferred("graphveil.study.publishing")
    attempts = Deferred("graphveil.study.records.attempts")
    findings = Deferred("graphveil.study.records.findings")
    agreement = Deferred("graphveil.study.agreement")


TOGETHER = 64  # steps that are sealed in one transaction; a kill loses at most that much work


@dataclass(frozen=True)
class Added:
    """What became of records; private, so `repr` shows nothing of it, and `print` says so.

    Attributes:
        batch: its number; None where it was only tried.
        findings: what the steward learns about the records.
        skipped_list: the file in the private folder that lists what was set aside, if there is one.
    """

    batch: int | None
    findings: findings.Findings = field(repr=False)
    skipped_list: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return "\n  ".join([findings.PRIVATE, *self.findings.lines()])


@dataclass(frozen=True)
class StoredStudy:
    """One population, one budget, many series, in one folder.

    Attributes:
        folder: where its parts lie.
        chosen: where records lie and counting runs, if not here; a matter of the machine, not of
            the promise.
        machine: what is remembered outside the folder, so that no copy of it goes on as well.
    """

    folder: Folder
    chosen: Backend | None = None
    machine: Machine = field(default_factory=Machine.here)

    @cached_property
    def backend(self) -> Backend:
        """Where its records lie while a command works with them, and counting runs."""
        return self.chosen or backends.here()

    @classmethod
    def create(
        cls,
        root: Path,
        promise: Promise,
        *,
        database: str | None = None,
        backend: Backend | None = None,
        machine: Machine | None = None,
    ) -> StoredStudy:
        """A new study, which is a draft until records are added; nothing is spent yet.

        Args:
            root: a folder that holds no study yet.
            promise: what the study file will say.
            database: the URL of a PostgreSQL database; without one, SQLite in the folder.
            backend: where records lie and counting runs; by default on this machine.
            machine: which remembers it; by default this one.
        """
        opening.require_draft(promise)
        opening.require_affordable(promise)
        for series in promise.series:
            opening.series_plan(promise, series, first_step=0)
        if database is not None and database.startswith("sqlite"):
            raise ParameterError("database", "SQLite is used where no URL is given")
        folder = Folder(root.resolve())
        folder.require_free()
        machine = machine or Machine.beside(folder.root)
        if database is not None:  # a server that does not answer leaves no folder behind
            Store.create(database)
        make_folder(folder)
        with folder.lock():
            folder.require_free()  # somebody may have been faster
            write_notes(folder, database)
            if database is None:
                Store.create(folder.database_url)
            # The study file comes last: without it, a half-made study is none.
            write_bytes(folder.study_file, promise.to_toml().encode())
        return cls(folder, backend, machine)

    @classmethod
    def at(
        cls, root: Path, *, backend: Backend | None = None, machine: Machine | None = None
    ) -> StoredStudy:
        """The study in a folder."""
        folder = Folder(root.resolve())
        folder.require()
        return cls(folder, backend, machine or Machine.beside(folder.root))

    @cached_property
    def store(self) -> Store:
        """Where the ledger is stored."""
        return Store.connect(self.folder.database_url)

    def committed(self) -> Committed:
        """What was committed, once it agrees with the study file and with what was announced."""
        return committed.read(self.folder, self.store)

    def ledger(self) -> Ledger:
        """All that happened."""
        return self.committed().ledger

    def promise(self, ledger: Ledger | None = None) -> Promise:
        """The promise of the study: from its file while it is a draft, then from its ledger."""
        ledger = self.ledger() if ledger is None else ledger
        return ledger.versions[-1] if ledger.is_open else self._draft()

    def add(
        self,
        records: Records,
        options: AddOptions = AS_USUAL,
        *,
        read_as: ReadAs = NOTHING_SAID,
        attempt: Attempt | None = None,
        since: Committed | None = None,
    ) -> Added:
        """Store records until their step is sealed; the first ones open the study.

        A row that breaks a rule is set aside, and the others go in.

        Args:
            records: as a reader returned them.
            options: what the steward states about them.
            read_as: how files of each format were read, to be stored with the records.
            attempt: by which command, so that it counts as finished.
            since: what was committed when the caller looked; it is read again if there is more.
        """
        findings.require_listed(records)
        if options.dry_run:
            known = (since or self.committed()).ledger
            return Added(
                None, self.backend.candidate(self.stored(known), records, options).findings
            )
        with self._writing(known=since.ledger if since else None) as (transaction, opened):
            ledger = opened.ledger
            batch = self.backend.candidate(self.stored(ledger), records, options)
            if not options.yes:
                findings.require_confirmed(batch.findings)
            number = store_batch(transaction, ledger, batch, read_as, attempt)
        ledger = transaction.ledger()
        self.announce(ledger)
        listed = ledger.batches[-1].skipped
        place = None if listed is None else f"batches/{listed.files[0].name}"
        return Added(number, batch.findings, place)

    def stored(self, ledger: Ledger) -> Stored:
        """Its records on the disk."""
        return Stored(self.folder, ledger, self.promise(ledger))

    def withdraw(self, batch: int) -> None:
        """Withdraw the batch of this number: the latest, unless a step was sealed since.

        One that was refused or did not end is given up.
        """
        before = self.ledger()
        if attempts.given_up(self.folder, before, batch):
            return
        if not before.is_open:
            raise StudyError("there is no batch of records to withdraw.")
        with self._writing() as (transaction, opened):
            opened.ledger.withdrawable(batch)
            attempts.withdrawn(self.folder, batch)
            transaction.append(Event.RECORDS_WITHDRAWN, private={"batch": batch})

    def open_series(self, series: SeriesPromise) -> SeriesPromise:
        """Open a series from the next step on, for a share of what is left of the budget."""
        with self._writing() as (transaction, opened):
            ledger = opened.ledger
            wider = opening.with_series(ledger, series.model_dump())
            if wider.series.projection is None:
                publishing.require_bound_so_far(self.stored(ledger), self.backend)
            opening.open_series(
                transaction, ledger.versions[-1], wider.series, first_step=wider.first_step
            )
        self.announce(transaction.ledger())
        return wider.series

    def promise_ratio(self, name: str, formula: str) -> Promise:
        """Promise a ratio of series that are open; it costs nothing. What is promised then."""
        with self._writing() as (transaction, opened):
            wider = opening.promise_ratio(transaction, opened.ledger, name, formula)
        self.announce(transaction.ledger())
        return wider

    def publish(
        self,
        through: int | None = None,
        *,
        early: bool = False,
        sealed: Callable[[int], object] = lambda step: None,
        since: Committed | None = None,
    ) -> Announced:
        """Seal the next step, or every step up to `through`, and announce it.

        All of them are checked before the first is sealed: if one breaks the promise, none is.
        Steps are sealed some at a time, each whole: a killed process leaves no half of one.
        What it has sealed is announced by the next; then, without `through`, nothing more is
        sealed. A step that is already sealed is announced again, in the same bytes.

        Args:
            through: the last step to seal; None seals one.
            early: seal a step although it has not ended by the clock.
            sealed: called with each step once it is committed.
            since: what was committed when the caller looked; by default it is looked at now.
        """
        at = now()
        state = since or self.committed()
        first = len(state.ledger.sealed)
        finishing = through is None and state.is_behind
        last = first - finishing if through is None else through
        if last >= first and attempts.unsettled(self.folder, state.ledger):
            self._require_due(self.promise(state.ledger), last, early=early)
            opening.require_room(state.ledger, last)
            attempts.require_settled(self.folder, state.ledger, last)
        state = self._opened(state, at)
        run = _Run(self, state, last, at)
        try:
            if last >= first:
                self._require_due(state.ledger.versions[-1], last, early=early)
                opening.require_room(state.ledger, last)
            run.seal(sealed)
        finally:
            ledger = self.announce(run.ledger)
        return Announced(list(range(first, last + 1)), ledger)

    def verdict(self) -> witness.WitnessVerdict:
        """Compares the study with what this machine has seen of it."""
        with self.store.reading() as reading:
            return witness.verdict_of(self.machine, reading)

    def extension(self, further: Further, prices: Prices = NO_PRICES) -> Extension:
        """What extending the study would do to every series; changes nothing."""
        state = self.committed()
        _require_promised(state)
        return extension.extension(state.ledger, state.stored_series, further, prices)

    def extend(self, further: Further, prices: Prices = NO_PRICES) -> Extension:
        """Go on past the last step that was planned.

        Args:
            further: how far.
            prices: what may be paid for a series, by name; by default, where something has to
                be paid, what keeps its noise at its size.
        """
        _require_promised(self.committed())
        with self._writing() as (transaction, state):
            planned = extension.extension(state.ledger, state.stored_series, further, prices)
            extension.enter(transaction, state, planned)
        self.announce(transaction.ledger())
        return planned

    def renewals(self, prices: Prices = NO_PRICES) -> tuple[Renewal, ...]:
        """What adopting the study would do to every series; changes nothing."""
        state = self.committed()
        return adoption.renewals(state.ledger, state.stored_series, prices)

    def adopt(self, reason: str, prices: Prices = NO_PRICES) -> tuple[Renewal, ...]:
        """Go on with a study that was copied, moved or restored, with fresh noise from now on.

        Args:
            reason: why; it is published.
            prices: what may be paid for a series, by name; by default, where something has to
                be paid, what keeps its noise at its size.
        """
        stated_reason = adoption.require_reason(reason)
        self._require_open("adopted")
        if self.verdict().may_go_on:
            self.announce()
        with self._writing(admit=adoption.admit) as (transaction, state):
            renewed = adoption.enter(transaction, state, stated_reason, prices)
        self.announce(transaction.ledger())
        return renewed

    def hand_over(self, code: str) -> None:
        """Let another machine go on with the study, with its noise; this one never will.

        Where it was interrupted, the same command finishes it.

        Args:
            code: of the other machine, as `graphveil hand-over` shows it there.
        """
        require_code(code, self.machine)
        self._require_open("handed over")
        with self.store.reading() as reading:
            if witness.is_handed_to(code, reading):
                return
        if self.verdict() is not witness.WitnessVerdict.HANDING:
            self.announce()
        with self._writing(admit=witness.admit_handing) as (transaction, _):
            begun = witness.interrupted(self.machine, transaction)
            if begun is None:
                transaction.append(Event.STUDY_HANDED_OVER, private={"to": code})
            else:
                require_same_taker(begun.secret["to"], code)
                transaction.enter(begun)
            transaction.leave()

    def _require_open(self, what: str) -> None:
        if not self.committed().ledger.is_open:
            raise StudyError(
                f"a draft has no noise and need not be {what}: every copy of it is a study of its "
                "own."
            )

    def announce(self, known: Ledger | None = None) -> Ledger:
        """Bring the public part up to what was committed; returns the committed ledger.

        Refuses where another copy of the study went on: what was sealed here, and not announced
        yet, must then never be announced.

        Args:
            known: what was committed when the caller looked; if that is still all there is,
                it is not read again.
        """
        known = self.ledger() if known is None else known
        with self.folder.lock(), self.machine.holding(known.rows[0].hash):
            with self.store.reading() as reading:
                witness.advance(self.machine, reading)
                is_all = reading.last_hash() == known.rows[-1].hash
            known = known if is_all else self.ledger()
            announce(self.folder, known)
        return known

    def _opened(self, state: Committed, at: str) -> Committed:
        """The study as it is, opened if it was a draft."""
        if state.ledger.is_open:
            return state
        with self._writing(at) as (_, opened):
            return opened

    @contextmanager
    def writing(
        self,
        at: str | None = None,
        admit: witness.Admission | None = None,
        known: Ledger | None = None,
    ) -> Iterator[Transaction]:
        """The one writer, of a state that this machine lets go on and that the ledger commits to.

        Args:
            at: the time that rows carry.
            admit: refuses what may not go on; by default all that is not the newest state.
            known: what was read and checked before; only if there is more, all is read again.
        """
        with witness.writing(self.machine, self.store, at, admit) as transaction:
            if known is not None:
                transaction.resume(known)
            agreement.require_agreement(transaction)
            yield transaction

    @contextmanager
    def _writing(
        self,
        at: str | None = None,
        admit: witness.Admission | None = None,
        known: Ledger | None = None,
    ) -> Iterator[tuple[Transaction, Committed]]:
        """The one writer, in a study that is open."""
        with self.writing(at, admit, known) as transaction:
            public = published_text(self.folder)
            state = committed.checked(transaction, public)
            if not state.ledger.is_open:
                opening.open_study(transaction, self._draft())
                state = committed.checked(transaction, public)
            yield transaction, state

    def _draft(self) -> Promise:
        return Promise.from_toml(text_of(self.folder.study_file), "public/study.toml")

    def _require_due(self, promise: Promise, step: int, *, early: bool) -> None:
        """Refuse a step that the calendar does not have, or that has not ended yet."""
        label = label_of(promise, step)
        if early or step < steps_ended(promise):
            return
        raise StudyError(
            f"{label} has not ended yet: records for it may still come, and once it is sealed "
            "they would be counted in the next step.",
            hint=Hint("early"),
        )


def store_batch(
    transaction: Transaction,
    ledger: Ledger,
    batch: ValidatedBatch,
    read_as: ReadAs = NOTHING_SAID,
    attempt: Attempt | None = None,
) -> int:
    """Write a batch and enter it; its number."""
    number = ledger.next_batch if attempt is None else max(ledger.next_batch, attempt.batch)
    files = batch.write(number)
    entry = {"batch": number, "last_step": batch.last_step, "read_as": dict(read_as), **files}
    if attempt is not None:
        entry["attempt"] = attempt.number
    transaction.append(Event.RECORDS_ADDED, private=entry)
    return number


def _require_promised(state: Committed) -> None:
    if not state.ledger.is_open:
        raise StudyError(
            "this study is a draft, and nothing is promised yet: change the calendar in "
            "public/study.toml."
        )


class _Run:
    """One run of publishing: what was read once, prepared once, and sealed since."""

    def __init__(self, study: StoredStudy, found: Committed, last: int, at: str) -> None:
        self._study, self._found, self._last, self._at = study, found, last, at
        self._prepared: Prepared | None = None
        self._new: list[LedgerRow] = []
        self._first = self._made = len(found.ledger.sealed)

    @property
    def ledger(self) -> Ledger:
        """All that is known to be committed."""
        return self._found.ledger.followed_by(self._new)

    def seal(self, tell: Callable[[int], object]) -> None:
        """Seal step after step; another process may be faster."""
        while self._made <= self._last:
            first = self._made
            if self._prepared is None:
                self._prepared = self._prepare()
            steps = range(first, min(first + TOGETHER, self._last + 1))
            if not self._sealed(self._prepared, steps):
                self._look_again()
            for step in range(first, min(self._made, self._last + 1)):
                tell(step)

    def _sealed(self, prepared: Prepared, steps: range) -> bool:
        """Seal steps in one transaction, unless something was committed since the preparation."""
        ahead = publishing.predicted(prepared, steps)
        with self._study.writing(self._at, known=self.ledger) as transaction:
            if transaction.last_hash() != prepared.last_hash:
                return False
            done = publishing.seal(transaction, prepared, ahead)
        self._prepared, self._made = done.prepared, steps.stop
        self._new += done.rows
        return True

    def _look_again(self) -> None:
        self._found, self._new, self._prepared = self._study.committed(), [], None
        self._made = len(self._found.ledger.sealed)

    def _prepare(self) -> Prepared:
        """Prepare all steps; where the bound is broken, enter that privately and refuse."""
        study, found = self._study, self._found
        agreement.require_series(found.ledger, found.stored_series)  # before it is counted with
        stored = study.stored(found.ledger)
        prepared = publishing.prepare(stored, found.stored_series, self._last, study.backend)
        try:
            publishing.require_bound(prepared, begun=self._made > self._first)
        except BoundError:
            refused = {"step": prepared.breaks_at, "reason": "degree bound"}
            with study.writing(self._at, known=found.ledger) as transaction:
                transaction.append(Event.REFUSAL, private=refused)
            raise
        return prepared
