"""The witness: a study goes on only from the newest state that this machine has seen of it.

A *lineage* of a study is named by the row of its ledger that began it: the row that opened the
study, adopted it, or handed it over. Of every lineage the machine remembers the newest row.
Whatever goes on has to contain that row, and is remembered before it is announced. So all that
is ever announced of a lineage lies on one chain (`docs/durability.md#one-chain`): no two copies
publish with the same noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from graphveil.errors import IntegrityError
from graphveil.hints import Hint
from graphveil.study.facts import Event
from graphveil.study.ledger import LedgerRow
from graphveil.study.machine import Machine, Mark, SeenRow
from graphveil.study.reading import Reading
from graphveil.study.store import Store

if TYPE_CHECKING:
    from graphveil.study.sql import Transaction

Admission: TypeAlias = "Callable[[Machine, Transaction, Lineage], object]"
BEGINNINGS = (Event.STUDY_OPENED, Event.STUDY_ADOPTED, Event.STUDY_HANDED_OVER)


class WitnessVerdict(Enum):
    """How a study compares with what a machine has seen of it, in words."""

    IN_STEP = "in step"
    NEW = "not seen yet, and may go on"
    BEHIND = "behind what this machine has seen"
    FORKED = "another copy went on"
    UNKNOWN = "unknown to this machine"
    ELSEWHERE = "handed over to another machine"
    MOVED = "its database is a copy"
    RESTORED = "known from a copied or restored state folder only"
    HANDING = "handing it over was interrupted"

    @property
    def may_go_on(self) -> bool:
        """Whether the study may be written to."""
        return self in (WitnessVerdict.IN_STEP, WitnessVerdict.NEW)


_REFUSALS = {
    WitnessVerdict.BEHIND: (
        (
            "this study is older than what this machine saw last of it: an old copy or a backup. "
            "Nothing was published."
        ),
        "behind",
    ),
    WitnessVerdict.FORKED: (
        (
            "another copy of this study went on, with the noise that this one holds: both must not "
            "publish. Nothing was published."
        ),
        "forked",
    ),
    WitnessVerdict.UNKNOWN: (
        (
            "this machine does not know this study: it is a copy, and the original may go on with "
            "the same noise."
        ),
        "copy",
    ),
    WitnessVerdict.ELSEWHERE: (
        "this study was handed over to the machine {to} and goes on there; this machine is {code}.",
        "handed-over",
    ),
    WitnessVerdict.MOVED: (
        (
            "the ledger is not in the database where it was opened: this is a clone or a restored "
            "dump."
        ),
        "clone",
    ),
    WitnessVerdict.RESTORED: (
        (
            "what this machine remembers of this study was copied or restored itself, perhaps with "
            "the home directory: another copy may go on with the same noise. Nothing was published."
        ),
        "restored",
    ),
    WitnessVerdict.HANDING: (
        "handing this study over was interrupted. Nothing was published.",
        "handing",
    ),
}  # what is wrong, and the code of what helps


class Lineage(NamedTuple):
    """The current lineage of a ledger.

    Attributes:
        study: the hash of the row that opened the study.
        begun: the row that began the lineage.
        mark: what a machine that sees it now has to remember.
    """

    study: str
    begun: LedgerRow
    mark: Mark

    @classmethod
    def of(cls, reading: Reading) -> Lineage | None:
        """That of a study; None of a draft."""
        opened, begun = reading.hash_of(0), reading.newest(*BEGINNINGS)
        if opened is None or begun is None:
            return None
        rows = (reading.newest(), reading.newest_told())
        return cls(opened, begun, Mark(*(SeenRow(row.number, row.hash) for row in rows if row)))

    @property
    def taker(self) -> str | None:
        """The machine to which the study was handed over last, if it was."""
        handed = self.begun.event == Event.STUDY_HANDED_OVER
        return str(self.begun.secret["to"]) if handed else None

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has gone on since the lineage began."""
        return self.begun.hash == self.mark.newest.hash

    def is_offered_to(self, machine: Machine) -> bool:
        """Whether it was handed over to this machine, and nobody has gone on since."""
        return self.is_untouched and self.taker is not None and self.taker == machine.known_code()


def verdict_of(machine: Machine, reading: Reading) -> WitnessVerdict:
    """Compares a study with what a machine has seen of it; changes nothing."""
    lineage = Lineage.of(reading)
    if lineage is None:
        return WitnessVerdict.NEW
    memory, begun = machine.memory(lineage.study), lineage.begun.hash
    if begun not in memory.marks:
        return _first_sight(machine, reading, lineage)
    at_home = reading.is_at_home()
    if at_home is False and _is_witnessed(reading, lineage):
        return WitnessVerdict.MOVED
    if at_home is None and begun in memory.copied:  # a server needs no memory to know its home
        return WitnessVerdict.RESTORED
    verdict = _compared(reading, memory.marks[begun].newest)
    unfinished = verdict is WitnessVerdict.BEHIND and interrupted(machine, reading) is not None
    return WitnessVerdict.HANDING if unfinished else verdict


def _compared(reading: Reading, seen: SeenRow) -> WitnessVerdict:
    own_hash = reading.hash_of(seen.number)
    if own_hash is None:
        return WitnessVerdict.BEHIND
    return WitnessVerdict.IN_STEP if own_hash == seen.hash else WitnessVerdict.FORKED


def _is_witnessed(reading: Reading, lineage: Lineage) -> bool:
    """Whether a graphveil with a witness has written it; none else adopts or hands over."""
    return reading.is_witnessed() or lineage.begun.event != Event.STUDY_OPENED


def _first_sight(machine: Machine, reading: Reading, lineage: Lineage) -> WitnessVerdict:
    """Of a lineage that this machine has never seen.

    It may go on where the study was handed over to this machine, where the database itself
    vouches for being the one it was (a team works from several machines), and, once, where it
    was written by a graphveil that had no witness yet.
    """
    at_home = reading.is_at_home()
    if lineage.is_offered_to(machine) or not _is_witnessed(reading, lineage) or at_home:
        return WitnessVerdict.NEW
    if lineage.taker is not None:
        return WitnessVerdict.ELSEWHERE
    return WitnessVerdict.UNKNOWN if at_home is None else WitnessVerdict.MOVED


def interrupted(machine: Machine, reading: Reading) -> LedgerRow | None:
    """The row of a hand-over that this machine was about to commit, if it comes next here.

    It is the same row whenever it is entered, so that the lineage which it begins is one.
    """
    lineage = Lineage.of(reading)
    if lineage is None:
        return None
    row, newest = machine.memory(lineage.study).handing.get(lineage.begun.hash), lineage.mark.newest
    comes_next = row is not None and row.number == newest.number + 1
    return row if comes_next and row and row.hash == row.computed_hash(newest.hash) else None


def is_handed_to(code: str, reading: Reading) -> bool:
    """Whether the study was handed over to a machine, and nobody has gone on since."""
    lineage = Lineage.of(reading)
    return lineage is not None and lineage.taker == code and lineage.is_untouched


def require(machine: Machine, reading: Reading) -> None:
    """Refuse to go on with a study from a state that is not the newest."""
    verdict = verdict_of(machine, reading)
    if not verdict.may_go_on:
        lineage, unfinished = Lineage.of(reading), interrupted(machine, reading)
        taker = unfinished.secret["to"] if unfinished else lineage and lineage.taker
        details = {"code": machine.code(), "to": taker}
        problem, code = _REFUSALS[verdict]
        raise IntegrityError(problem.format(**details), hint=Hint(code, **details))


@contextmanager
def writing(
    machine: Machine,
    store: Store,
    at: str | None = None,
    admit: Admission | None = None,
) -> Iterator[Transaction]:
    """The one writer, of a study that may go on here; remembers what was committed.

    The study is held from before the check until it is remembered, so that of two copies on
    one machine the second finds itself behind the first.

    Args:
        machine: which remembers.
        store: of the study.
        at: the time that rows carry.
        admit: refuses what may not go on; by default all that is not the newest state.
    """
    with ExitStack() as held:
        with store.transaction(at) as transaction:
            before = Lineage.of(transaction)
            if before is not None:
                held.enter_context(machine.holding(before.study))
                (admit or _admit)(machine, transaction, before)
            yield transaction
            after = Lineage.of(transaction)
            if after is not None and after.begun != (before and before.begun):
                _turn(machine, before, after)
                after = None
        if after is not None and after != before:
            _remember(machine, after.study, after.begun, after.mark)


def advance(machine: Machine, reading: Reading) -> None:
    """Remember what was committed, before it is announced; the caller must hold the study."""
    require(machine, reading)
    lineage = Lineage.of(reading)
    if lineage is not None:
        _remember(machine, lineage.study, lineage.begun, lineage.mark)


def _admit(machine: Machine, transaction: Transaction, lineage: Lineage) -> None:
    """Let the newest state go on; at first sight it is remembered before anything is entered."""
    require(machine, transaction)
    known = lineage.begun.hash in machine.memory(lineage.study).marks
    if not known:
        _remember(machine, lineage.study, lineage.begun, lineage.mark)
    if not known or not transaction.is_witnessed():
        transaction.settle()


def admit_handing(machine: Machine, transaction: Transaction, lineage: Lineage) -> None:
    """Admit the newest state to a hand-over, and a state whose hand-over was interrupted."""
    if verdict_of(machine, transaction) is not WitnessVerdict.HANDING:
        _admit(machine, transaction, lineage)


def _turn(machine: Machine, before: Lineage | None, after: Lineage) -> None:
    """A lineage begins or ends: that is remembered *before* it is committed.

    One that ends here, because the study is handed over, is closed by its last row: whatever
    lacks that row is behind. If the process is killed before the commit, so is the study itself,
    until the same row is entered again.
    """
    ended = before if after.taker is not None else None
    handing = {ended.begun.hash: after.begun} if ended else None
    _remember(machine, after.study, (ended or after).begun, after.mark, handing)


def _remember(
    machine: Machine,
    study: str,
    begun: LedgerRow,
    mark: Mark,
    handing: Mapping[str, LedgerRow] | None = None,
) -> None:
    known = machine.memory(study).marks
    if known.get(begun.hash) != mark:
        machine.remember(study, {**known, begun.hash: mark}, handing)
