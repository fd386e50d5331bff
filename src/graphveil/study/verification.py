"""Verification: everything that a study claims about itself, checked, row by row.

The first thing that is not as it should be is named, with its row of the ledger. Nothing is
changed, and nothing is published.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import IntegrityError
from graphveil.noise.exact_numbers import as_text
from graphveil.series.state import SeriesState
from graphveil.study import publishing, segments
from graphveil.study.announcing import Told, require_agreement, require_newest, told
from graphveil.study.chain import digest
from graphveil.study.ledger import Event, Ledger, LedgerRow, OpenSeries, StoredFile
from graphveil.study.private_tables import checked
from graphveil.study.store import StoredSeries
from graphveil.study.study import Study


@dataclass(frozen=True)
class Check:
    """One thing that was found to be as it should be."""

    name: str
    found: str


@dataclass(frozen=True, eq=False)
class _Subject:
    study: Study
    public: Told
    ledger: Ledger
    kept: Mapping[str, StoredSeries]


def verify(study: Study) -> Iterator[Check]:
    """Check after check; raises where one fails, and names the row."""
    public = told(study.folder)
    with study.store.reading() as committed:
        ledger = committed.ledger()  # which checks the private chain
        subject = _Subject(study, public, ledger, committed.series())
    yield Check("the ledger's chain", f"{len(ledger.rows)} rows, each bound to those before")
    if not ledger.is_open:
        return
    for name, check in _CHECKS.items():
        yield Check(name, check(subject))


def _public_chain(subject: _Subject) -> str:
    require_newest(subject.public, subject.ledger)
    rows, known = subject.public.rows, subject.ledger.public_rows
    if len(rows) < len(known):
        return f"{len(known) - len(rows)} rows wait to be announced by `graphveil publish`"
    return f"{len(rows)} rows, the same as in the ledger; head {rows[-1].hash[:16]}…"


def _study_file(subject: _Subject) -> str:
    require_agreement(subject.public, subject.ledger)
    return "says what the ledger says"


def _budget(subject: _Subject) -> str:
    """Add up the prices in the order in which they were paid."""
    budget = subject.ledger.versions[0].budget
    epsilon, delta = Fraction(), Fraction()
    for row in subject.ledger.of(Event.SERIES_OPENED):
        epsilon += Fraction(row.fact["epsilon"])
        delta += Fraction(row.fact["promise"].get("delta", 0))
        if epsilon > Fraction(budget.epsilon) or delta > Fraction(budget.delta or 0):
            raise _at(row, "the series opened so far cost more than the study's budget")
    spent = f"ε = {as_text(epsilon)} of {budget.epsilon}"
    return spent if budget.delta is None else f"{spent}, δ = {as_text(delta)} of {budget.delta}"


def _order(subject: _Subject) -> str:
    """Steps in order, and in each of them one release of every series that is open."""
    ledger = subject.ledger
    due: list[tuple[str, int]] = []
    steps = 0
    for row in ledger.rows:
        if row.event == Event.STEP_SEALED:
            _require(row, not due and row.fact["step"] == steps, "a step is out of order")
            due = [(each.promise.name, steps) for each in _open_at(ledger, row)]
            steps += 1
        elif row.event == Event.RELEASE_MADE:
            made = row.fact["series"], row.fact["step"]
            _require(row, made in due, "a release is out of order, or made twice")
            due.remove(made)
    if due:
        raise _at(ledger.rows[-1], f"series '{due[0][0]}' has no release of the last step")
    return f"{steps} steps, {len(ledger.of(Event.RELEASE_MADE))} releases, each made once"


def _open_at(ledger: Ledger, row: LedgerRow) -> list[OpenSeries]:
    return [each for each in ledger.series if each.first_step <= row.fact["step"]]


def _files(subject: _Subject) -> str:
    """Every private table has the checksum that its row tells."""
    folder, files = subject.study.folder, 0
    homes = {Event.RECORDS_ADDED: folder.batches, Event.STEP_SEALED: folder.segments}
    entries = {each.number: each for each in subject.ledger.batches}
    for row in subject.ledger.rows:
        home = homes.get(Event(row.event))
        if home is None or (home is folder.batches and row.secret["batch"] not in entries):
            continue
        for part in ("nodes", "edges"):
            try:
                checked(home, StoredFile(**row.secret[part]))
            except IntegrityError as error:
                raise _at(row, str(error).removesuffix(".")) from error
            files += 1
    return f"{files} private tables, as they were written"


def _plans_and_states(subject: _Subject) -> str:
    """The stored plans and states are those that the ledger's rows were made with."""
    made = {row.fact["series"]: row for row in subject.ledger.of(Event.RELEASE_MADE)}
    for row in subject.ledger.of(Event.SERIES_OPENED):
        kept = subject.kept.get(row.fact["series"])
        if kept is None or digest(kept.plan) != row.secret["plan"]:
            raise _at(row, "the stored plan of the series is not the one it was opened with")
        last = made.get(row.fact["series"])
        if last is not None and digest(kept.state) != last.secret["state"]:
            raise _at(last, "the stored state of the series is not the one after its last release")
    return f"{len(subject.kept)} series, as they were left"


def _counts(subject: _Subject) -> str:
    """The sealed graph still counts to what was counted when its steps were sealed."""
    ledger, folder = subject.ledger, subject.study.folder
    if not ledger.sealed:
        return "nothing is sealed yet"
    study = ledger.versions[-1]
    graph = segments.load(folder.segments, ledger.sealed, study)
    differences = publishing.count_all(graph, study, ledger.series)
    first = {each.promise.name: each.first_step for each in ledger.series}
    rows = ledger.of(Event.RELEASE_MADE)
    for row in rows:
        expected = _difference(differences[row.fact["series"]], row, first[row.fact["series"]])
        _require(row, row.secret["differences"] == expected, "the sealed graph counts otherwise")
    return f"{len(rows)} releases, counted again"


def _difference(counted: NDArray[np.int64], row: LedgerRow, first_step: int) -> list[int]:
    step = row.fact["step"]
    since = 0 if step == first_step else step
    return [int(number) for number in counted[since : step + 1].sum(axis=0)]


def _noise(subject: _Subject) -> str:
    """What was published is the exact values plus the noise that was kept."""
    ledger, made = subject.ledger, subject.ledger.of(Event.RELEASE_MADE)
    for each in ledger.series:
        rows = [row for row in made if row.fact["series"] == each.promise.name]
        state = SeriesState.from_dict(json.loads(subject.kept[each.promise.name].state))
        totals = np.cumsum([row.secret["differences"] for row in rows], axis=0)
        for place, row in enumerate(rows):
            noise = row.secret["noise"]
            if place >= state.epoch_start:  # the noise of this epoch is in the state as well
                drawn = [numbers[place - state.epoch_start] for numbers in state.noise]
                _require(row, noise == drawn, "the noise is not the one that was kept")
            sums = (totals[place] + np.array(noise)).tolist()
            _require(row, row.fact["raw"] == sums, "the raw value is not the exact one plus noise")
    return f"{len(made)} releases are their exact values plus the noise that was drawn once"


_CHECKS: dict[str, Callable[[_Subject], str]] = {
    "the public chain": _public_chain,
    "the study file": _study_file,
    "the budget": _budget,
    "steps and releases": _order,
    "the private tables": _files,
    "plans and states": _plans_and_states,
    "the exact counts": _counts,
    "the noise": _noise,
}


def _require(row: LedgerRow, holds: bool, problem: str) -> None:
    if not holds:
        raise _at(row, problem)


def _at(row: LedgerRow, problem: str) -> IntegrityError:
    return IntegrityError(f"the ledger, row {row.number} ({row.event}, {row.at}): {problem}.")
