"""Custody: the studies that this machine knows, handing one over, adopting a copy, backups."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.deferred import Deferred
from graphveil.errors import GraphveilError, StudyError
from graphveil.noise.exact_numbers import Exact, as_text
from graphveil.steward.status import BudgetStatus
from graphveil.study.committed import NO_PRICES, exact_prices
from graphveil.study.folder import Folder

if TYPE_CHECKING:
    from graphveil.study import machine, stored_study
    from graphveil.study.adoption import Renewal
    from graphveil.study.witness import WitnessVerdict
else:  # who only reads what was published needs neither
    machine = Deferred("graphveil.study.machine")
    stored_study = Deferred("graphveil.study.stored_study")


@dataclass(frozen=True)
class NoiseChange:
    """The predicted standard deviation of a series without an adoption and with it.

    Attributes:
        series: its name.
        next_before: of the next release, as it was planned.
        next_after: of the next release, once adopted.
        last_before: of the last release that is foreseen, as it was planned.
        last_after: likewise, once adopted.
        price: the ε that its fresh noise costs, out of what is left of the budget.
    """

    series: str
    next_before: float
    next_after: float
    last_before: float
    last_after: float
    price: str

    @classmethod
    def of(cls, renewal: Renewal) -> NoiseChange | None:
        """Of a series; None if all its releases were made."""
        before = renewal.before.outlook(renewal.releases)
        after = renewal.after.outlook(renewal.releases)
        price = as_text(renewal.price)
        if not before:
            return None
        return cls(renewal.series, before[0], after[0], before[-1], after[-1], price)


@dataclass(frozen=True)
class Adoption:
    """What adopting a study changes, or has changed.

    Attributes:
        changes: of every series that has releases left.
        epsilon: what each further copy that goes on can cost a person more.
        delta: likewise; None for pure ε.
        price: the ε that all fresh noise costs, out of what is left of the budget.
        budget: what is left of it then.
        adopted: whether it was done.
    """

    changes: tuple[NoiseChange, ...]
    epsilon: str
    delta: str | None
    price: str
    budget: BudgetStatus
    adopted: bool

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def adoption(
    folder: Path, reason: str | None = None, prices: Mapping[str, Exact] = NO_PRICES
) -> Adoption:
    """Adopt the study in a folder; without a reason, only say what that would change.

    Args:
        folder: of the study.
        reason: why; it is published.
        prices: what may be paid for fresh noise, by series.
    """
    from graphveil.steward.reporting import write_report
    from graphveil.study.adoption import pool_again

    study, exact = stored_study.StoredStudy.at(folder), exact_prices(prices)
    renewed = study.renewals(exact) if reason is None else study.adopt(reason, exact)
    ledger = study.ledger()
    if reason is not None and ledger.sealed:
        write_report(study.folder.public)
    again = sum((each.again for each in renewed), pool_again(renewed))
    delta = ledger.history.spent[1]
    changes = (NoiseChange.of(each) for each in renewed)
    promise, price = ledger.versions[-1], sum((each.price for each in renewed), Fraction())
    shares = {each.series: (each.after.request.epsilon, None) for each in renewed if each.price}
    return Adoption(
        changes=tuple(each for each in changes if each is not None),
        epsilon=as_text(again),
        delta=as_text(delta) if delta else None,
        price=as_text(price),
        budget=BudgetStatus.of(promise.going_on(shares)),
        adopted=reason is not None,
    )


def hand_over(folder: Path, code: str) -> None:
    """Let the machine that has this code go on with a study, and nobody else."""
    stored_study.StoredStudy.at(folder).hand_over(code)


def machine_code() -> str:
    """The code of this machine, to which studies can be handed over."""
    return machine.Machine.here().code()


# Safekeeping: how a study compares with what this machine has seen, and its last backup.


@dataclass(frozen=True)
class Safekeeping:
    """What a keeper of backups has to know.

    Attributes:
        verdict: whether the study may continue here, and if not, why.
        entries: rows of the ledger; nothing has happened in a draft.
        since_backup: how many of them came after the last backup that was noted; None if
            none was, or what was backed up is no longer in the ledger.
        machine: the code of this machine, to which a study can be handed over.
    """

    verdict: WitnessVerdict
    entries: int
    since_backup: int | None
    machine: str

    @property
    def is_backed_up(self) -> bool:
        """Whether the last backup holds all there is."""
        return not self.entries or self.since_backup == 0


def safekeeping(folder: Path) -> Safekeeping:
    """How safe the study in a folder is; changes nothing in it."""
    study = stored_study.StoredStudy.at(folder)
    place, rows = folder.resolve(), [row.hash for row in study.ledger().rows]
    backups = (each.backup for each in machine.known(study.machine) if each.folder == place)
    newest = next(backups, "")
    since = len(rows) - 1 - rows.index(newest) if newest in rows else None
    return Safekeeping(study.verdict(), len(rows), since, study.machine.code())


def shared_backup(folder: Path) -> str | None:
    """What to say where one backup may restore a study and what tells its copies; else None.

    A study on a server is not restored with the home directory, and knows its place by itself.
    """
    study = stored_study.StoredStudy.at(folder)
    common = study.machine.backed_up_with(study.folder.root)
    if common is None or not study.folder.database_url.startswith("sqlite"):
        return None
    moved = "and move the study there: `graphveil hand-over`"
    when = moved if study.ledger().is_open else "before records are added"
    return (
        f"the study and this machine's memory of it both lie in {common}: a restored backup of "
        "both may go on unnoticed, with noise that is used already. Set "
        f"{machine.VARIABLE} to a folder that is not restored with it, {when}."
    )


def note_backup(folder: Path) -> None:
    """Keep in mind that all there is now was backed up; the keeper says so, nobody checks."""
    study = stored_study.StoredStudy.at(folder)
    rows = study.ledger().rows
    machine.remember(study.machine, folder, rows[-1].hash if rows else "")


# Exposure: whether others than its owner can read the private part of a study.


@dataclass(frozen=True)
class Exposure:
    """What others can open, and what closes it.

    Attributes:
        private: the private folder.
        paths: of the files and folders in it that are open to others; itself perhaps included.
    """

    private: Path
    paths: tuple[Path, ...]

    @property
    def remedy(self) -> str:
        """The command that mends it."""
        return f"chmod -R go-rwx {shlex.quote(str(self.private))}"

    def __str__(self) -> str:
        what = "the private folder" if self.private in self.paths else "a file in private/"
        return (
            f"{what} is open to other users of this machine; whoever reads it can undo the privacy "
            f"of every release. Close it: {self.remedy}"
        )


def exposure(folder: Path) -> Exposure | None:
    """What others can read of the study in a folder; None if nothing, or if there is no study."""
    place = Folder(folder.resolve())
    if not place.private.is_dir() or place.private.is_symlink():
        return None
    paths = place.exposed()
    return Exposure(place.private, paths) if paths else None


# Known studies: those that this machine knows of, and those that lie in a folder of studies.


MOST_BESIDE = 200  # folders that are looked into


@dataclass(frozen=True)
class KnownStudy:
    """A study of this machine, as a list shows it.

    Attributes:
        key: a random name for its folder.
        folder: where it is.
        title: as its study file has it; nothing where that cannot be read.
        is_open: whether it is more than a draft.
    """

    key: str
    folder: Path
    title: str
    is_open: bool


def known_studies(beside: Path | None = None) -> tuple[KnownStudy, ...]:
    """Every study that is known and still there, the newest first.

    Args:
        beside: a folder whose studies are taken up, too.
    """
    here = machine.Machine.here()
    listed = {each.folder for each in machine.known(here)}
    for folder in () if beside is None else _studies_in(beside):
        if folder not in listed:
            machine.remember(here, folder)
    folders = (e for e in machine.known(here) if e.is_there and not e.hidden)
    return tuple(_study(each.key, each.folder) for each in folders)


def opened(folder: Path) -> KnownStudy:
    """The study in a folder, which is remembered; refuses a folder that holds none."""
    stored_study.StoredStudy.at(folder)  # refuses
    known = machine.remember(machine.Machine.here(), folder)
    return _study(known.key, known.folder)


def known_study(key: str) -> KnownStudy:
    """The study that has a key."""
    for each in machine.known(machine.Machine.here()):
        if each.key == key and each.is_there:
            return _study(key, each.folder)
    raise StudyError("this study is not known here, or its folder is gone.")


def forget(key: str) -> None:
    """Leave a study out of the list; it stays as it is."""
    machine.forget(machine.Machine.here(), key)


def keep_in_mind(folder: Path) -> None:
    """Note where a study is; does nothing where that cannot be written."""
    with suppress(GraphveilError):
        opened(folder)


def _studies_in(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        for place, each in enumerate(sorted(folder.resolve().iterdir())):
            if place < MOST_BESIDE and not each.is_symlink() and Folder(each).study_file.is_file():
                yield each


def _study(key: str, folder: Path) -> KnownStudy:
    place = Folder(folder)
    return KnownStudy(key, folder, _title(place.study_file), place.public_ledger.exists())


def _title(study_file: Path) -> str:
    import tomllib

    with suppress(OSError, ValueError, RecursionError):
        title = tomllib.loads(study_file.read_bytes().decode()).get("title")
        return title if isinstance(title, str) else ""
    return ""
