"""The ledger: every event of a study in order, hash-chained, and what follows from them.

The private chain covers everything. The public chain covers what was announced: records that
were added or withdrawn and refusals depend on the data, so they leave no trace in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter

from graphveil.errors import IntegrityError, StudyError, require_known_format
from graphveil.study.chain import GENESIS, Line, PublicRow, canonical, digest
from graphveil.study.facts import Announcement, Event, Fact, FactType
from graphveil.study.history import History, PublishedSeries
from graphveil.study.promise import Promise

TABLE_FORMAT: Final = 1  # of private tables; a file whose row states none is of the first
_OBJECT: Final = TypeAdapter(dict[str, Any])  # reads JSON several times faster than `json`


@dataclass(frozen=True)
class LedgerRow:
    """One event.

    Attributes:
        number: from 0 on, without a gap.
        at: when the command that entered it began, in UTC.
        event: what kind of thing happened.
        public: the published part, as JSON; None if nothing is published.
        private: the unpublished part, as JSON; a secret.
        salt: random, so that the seal of the row in the public chain hides the rest; a secret.
        hash: of everything above and of the row before.
    """

    number: int
    at: str
    event: str
    public: str | None
    private: str = field(repr=False)
    salt: str = field(repr=False)
    hash: str

    @classmethod
    def after(
        cls,
        last: LedgerRow | None,
        event: Event,
        *,
        at: str,
        public: Fact | None,
        private: dict[str, Any],
        salt: str,
    ) -> LedgerRow:
        """The row that follows the last one."""
        number = 0 if last is None else last.number + 1
        published = None if public is None else canonical(public.to_data())
        row = cls(number, at, event.value, published, canonical(private), salt, "")
        return cls(*_content(row), hash=row.computed_hash(GENESIS if last is None else last.hash))

    @classmethod
    def stored(cls, number: object, *texts: object) -> LedgerRow:
        """A row from the columns of a database, which may contain anything."""
        kinds = tuple(map(type, texts))
        if type(number) is int and kinds in _TEXTS:
            return cls(number, *texts)  # type: ignore[arg-type]
        raise IntegrityError(
            "the ledger has a row with something else than texts in it. Restore the newest backup "
            "of the private folder."
        )

    def computed_hash(self, previous: str) -> str:
        """What the hash of this row has to be, after a row with the hash `previous`."""
        return digest(canonical([previous, *_content(self)]))

    @property
    def fact(self) -> dict[str, Any]:
        """The published part."""
        return self._read(self.public or "{}")

    @cached_property
    def secret(self) -> dict[str, Any]:
        """The unpublished part."""
        return self._read(self.private)

    def _read(self, text: str) -> dict[str, Any]:
        """An object in JSON; a forger may have put anything else there."""
        try:
            return _OBJECT.validate_json(text)
        except ValueError as error:
            raise IntegrityError(f"{self.place}: cannot be read.") from error

    def stored_table(self, part: str) -> StoredTable:
        """The private table that the row states."""
        try:
            return StoredTable.of(self.secret[part])
        except (TypeError, ValueError, KeyError) as error:
            raise IntegrityError(f"{self.place}: does not name its table.") from error

    def kept_mapping(self, part: str) -> dict[str, Any]:
        """Unpublished objects, by name; none if nothing was stored under `part`."""
        mapping = self.secret.get(part, {})
        if isinstance(mapping, dict) and all(isinstance(each, dict) for each in mapping.values()):
            return mapping
        raise IntegrityError(f"{self.place}: '{part}' cannot be read.")

    def whole_number(self, part: str) -> int:
        """An unpublished whole number."""
        number = self.secret.get(part)
        if type(number) is int:
            return number
        raise IntegrityError(f"{self.place}: '{part}' is not a whole number.")

    @property
    def announcement(self) -> Announcement:
        """The published part, with its place in the ledger."""
        return Announcement(self.place, self.event, self.public or "{}", self.at)

    @property
    def place(self) -> str:
        """The position of the row, for messages."""
        return f"the ledger, row {self.number} ({self.event}, {self.at})"

    @property
    def seal(self) -> str:
        """A commitment to this row and all before it, which hides them."""
        return digest(self.salt + self.hash)


# The types of the columns of a row: all are texts; the public part may be missing.
_TEXTS = ((str,) * 6, (str, str, type(None), str, str, str))


def _content(row: LedgerRow) -> tuple[int, str, str, str | None, str, str]:
    return row.number, row.at, row.event, row.public, row.private, row.salt


@dataclass(frozen=True)
class StoredFile:
    """A private file, and what it has to contain; who knows the hash can check a guess."""

    name: str
    sha256: str = field(repr=False)


@dataclass(frozen=True)
class StoredTable:
    """A private table: one file, or several whose rows follow each other."""

    files: tuple[StoredFile, ...]

    @classmethod
    def of(cls, data: Any) -> StoredTable:
        """What a row states."""
        several = [dict(each) for each in (data if isinstance(data, list) else [data])]
        for each in several:
            require_known_format("a private table", each.pop("format", None), TABLE_FORMAT)
        return cls(tuple(StoredFile(**each) for each in several))

    def to_data(self) -> dict[str, str] | list[dict[str, str]]:
        """For the private part of a row."""
        several = [dict(vars(each)) for each in self.files]
        return several[0] if len(several) == 1 else several


ReadAs: TypeAlias = Mapping[str, Mapping[str, Any]]  # by format, then by option
NOTHING_SAID: Final[ReadAs] = MappingProxyType({})


@dataclass(frozen=True)
class BatchEntry:
    """Records that were added together; the last of them arrives at `last_step`.

    What was left out of them is listed in `skipped`, if anything was. `awaiting` has the links of
    all batches so far that name somebody who is not known yet. `read_as` has, by format, how their
    files were read; the first versions did not keep that. `row` is where the ledger enters them.
    """

    number: int
    row: int
    last_step: int = field(repr=False)
    nodes: StoredTable
    edges: StoredTable
    skipped: StoredTable | None = None
    awaiting: StoredTable | None = None
    read_as: ReadAs = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class SealedTables:
    """The private tables of a step that is closed permanently."""

    nodes: StoredTable
    edges: StoredTable


@dataclass(frozen=True)
class Ledger:
    """All rows, and the state of the study that follows from them.

    Attributes:
        rows: in order, known to be chained.
        beside: the checkpoint of each engine, as JSON. It follows from what is sealed, so the chain
            does not cover it.
        before: a ledger with the first of these rows; what follows from them is not computed again.
    """

    rows: tuple[LedgerRow, ...]
    beside: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    before: Ledger | None = field(default=None, repr=False, compare=False)

    def followed_by(self, rows: Sequence[LedgerRow]) -> Ledger:
        """The ledger once more rows were entered."""
        if not rows:
            return self
        return Ledger((*self.rows, *rows), self.beside, self if self.is_open else None)

    @property
    def _later(self) -> tuple[LedgerRow, ...]:
        """The published rows, without those of `before`."""
        begin = 0 if self.before is None else len(self.before.rows)
        return tuple(row for row in self.rows[begin:] if row.public is not None)

    @property
    def is_open(self) -> bool:
        """Whether the study was opened."""
        return bool(self.rows)

    @property
    def last(self) -> LedgerRow | None:
        """The newest row."""
        return self.rows[-1] if self.rows else None

    def of(self, event: Event) -> list[LedgerRow]:
        """The rows of one kind."""
        return [row for row in self.rows if row.event == event]

    def facts_of(self, kind: type[FactType]) -> list[tuple[LedgerRow, FactType]]:
        """The rows that state one kind of fact, each with the fact."""
        return [(row, kind.read(row.announcement)) for row in self.of(kind.event)]

    @cached_property
    def history(self) -> History:
        """The published history, row by row; refuses rows that contradict each other."""
        announcements = [row.announcement for row in self._later]
        if self.before is None:
            return History.of(announcements, "the ledger")
        return self.before.history.followed_by(announcements)

    @cached_property
    def versions(self) -> tuple[Promise, ...]:
        """The versions of the study file: the first, and one per later series; none of a draft."""
        return self.history.versions if self.rows else ()

    @property
    def series(self) -> tuple[PublishedSeries, ...]:
        """Every series, in the order in which they were opened."""
        return self.history.series if self.rows else ()

    @cached_property
    def sealed(self) -> tuple[SealedTables, ...]:
        """The steps that are closed, each with its private tables."""
        return tuple(
            SealedTables(row.stored_table("nodes"), row.stored_table("edges"))
            for row in self.of(Event.STEP_SEALED)
        )

    @cached_property
    def batches(self) -> tuple[BatchEntry, ...]:
        """Records that were added and not withdrawn."""
        gone = {row.whole_number("batch") for row in self.of(Event.RECORDS_WITHDRAWN)}
        return tuple(
            BatchEntry(
                number=row.whole_number("batch"),
                row=row.number,
                last_step=row.whole_number("last_step"),
                nodes=row.stored_table("nodes"),
                edges=row.stored_table("edges"),
                skipped=row.stored_table("skipped") if "skipped" in row.secret else None,
                awaiting=row.stored_table("awaiting") if "awaiting" in row.secret else None,
                read_as=row.kept_mapping("read_as"),
            )
            for row in self.of(Event.RECORDS_ADDED)
            if row.whole_number("batch") not in gone
        )

    @cached_property
    def attempts(self) -> frozenset[str]:
        """The commands that have added records, withdrawn or not, as far as that was stored."""
        added = (row.secret.get("attempt") for row in self.of(Event.RECORDS_ADDED))
        return frozenset(each for each in added if isinstance(each, str))

    def withdrawable(self, number: int) -> BatchEntry:
        """The batch of this number, if it is the latest and nothing was sealed since it came.

        What its records say does not matter: one person's would decide about others'.
        """
        if not self.batches:
            raise StudyError("there is no batch of records to withdraw.")
        latest = self.batches[-1]
        if latest.number != number:
            raise StudyError(
                f"batch {number} cannot be withdrawn: the latest is batch {latest.number}."
            )
        sealed = self.of(Event.STEP_SEALED)
        if sealed and sealed[-1].number > latest.row:
            raise StudyError(
                f"batch {number} was added before the last step was sealed, and stays. Correct "
                "what is wrong in the files and add them again: what has changed is reported."
            )
        return latest

    @property
    def read_as(self) -> ReadAs:
        """How files of each format were read last, as far as that was stored."""
        return {
            name: settings for batch in self.batches for name, settings in batch.read_as.items()
        }

    @property
    def next_batch(self) -> int:
        """The number of the batch that comes next; attempts that failed use up numbers, too."""
        return (
            max((int(row.secret["batch"]) for row in self.of(Event.RECORDS_ADDED)), default=0) + 1
        )

    @cached_property
    def public_rows(self) -> tuple[PublicRow, ...]:
        """The public chain."""
        rows: list[PublicRow] = []
        for row in self.rows:
            if row.public is not None:
                last = rows[-1] if rows else None
                rows.append(
                    PublicRow.after(last, at=row.at, event=row.event, fact=row.fact, seal=row.seal)
                )
        return tuple(rows)

    @cached_property
    def public_lines(self) -> tuple[Line, ...]:
        """The public chain as it is written, which is far quicker to make than its rows."""
        lines = [] if self.before is None else list(self.before.public_lines)
        for row in self._later:
            last = lines[-1] if lines else None
            fact = row.public or ""
            lines.append(Line.after(last, at=row.at, event=row.event, fact=fact, seal=row.seal))
        return tuple(lines)

    @cached_property
    def public_text(self) -> str:
        """The content of `ledger.jsonl`."""
        return "".join(line.text for line in self.public_lines)


def require_chain(rows: Sequence[LedgerRow]) -> None:
    """Refuse rows that are not chained, naming the first."""
    previous = GENESIS
    for number, row in enumerate(rows):
        if row.number != number or row.hash != row.computed_hash(previous):
            raise IntegrityError(
                f"the ledger, row {number} ({row.event}, {row.at}): the hash does not match; this "
                "row, or one before it, was changed."
            )
        previous = row.hash
