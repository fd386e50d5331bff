"""Verification: everything that a study claims about itself, checked, row by row.

The first check that fails is named, with its row of the ledger. Nothing is changed,
and nothing is published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphveil.errors import IntegrityError
from graphveil.graph.intake.records import counted
from graphveil.hints import Hint
from graphveil.noise.exact_numbers import as_text
from graphveil.series.counting import ThresholdCounts, difference_at
from graphveil.series.state import Trail
from graphveil.study import agreement, chain, publishing
from graphveil.study.agreement import Releases, require_sound
from graphveil.study.announced_plans import pool_sentence, require_enough_noise
from graphveil.study.backends import CacheCheck, Recounted
from graphveil.study.chain import canonical, digest, require_form
from graphveil.study.facts import Event, ReleaseMade
from graphveil.study.ledger import Ledger, LedgerRow
from graphveil.study.promise import Promise
from graphveil.study.public_part import (
    Check,
    PublishedText,
    Unfinished,
    published_text,
    require_agreeing_file,
    require_newest,
)
from graphveil.study.reading import StoredSeries, state_of
from graphveil.study.records.segments import checked
from graphveil.study.stored_study import StoredStudy
from graphveil.study.witness import WitnessVerdict

if TYPE_CHECKING:
    from graphveil.series.counting import SeriesTerms
    from graphveil.series.state import SeriesState


@dataclass(frozen=True, eq=False)
class _Subject:
    study: StoredStudy
    public: PublishedText
    ledger: Ledger
    stored_series: Mapping[str, StoredSeries]
    releases: Releases

    @cached_property
    def recounted(self) -> Recounted:
        """What was sealed, counted again from its segments."""
        stored = self.study.stored(self.ledger)
        return self.study.backend.recounted(stored, self.terms.values())

    @cached_property
    def terms(self) -> dict[str, SeriesTerms]:
        """Those of every series."""
        return publishing.terms_of(self.ledger, self.stored_series)


def verify(study: StoredStudy) -> Iterator[Check]:
    """Check after check; raises where one fails, and names the row."""
    public = published_text(study.folder)
    with study.store.reading() as committed:
        ledger = committed.ledger()  # which checks the private chain
        sound = study.store.require_sound(require_sound)  # a table may be gone
        subject = _Subject(study, public, ledger, committed.series(), committed.releases())
    yield Check("the ledger's chain", f"{len(ledger.rows)} rows, each chained to those before")
    yield Check("the ledger database", sound)
    if not ledger.is_open:
        return
    for name, check in _CHECKS.items():
        yield Check(name, check(subject))


def _public_chain(subject: _Subject) -> str:
    require_newest(subject.public, subject.ledger)
    rows, known = subject.public.rows, subject.ledger.public_rows
    if len(rows) < len(known):
        return Unfinished(f"{counted(len(known) - len(rows), 'rows')} still to be announced")
    require_form(rows, subject.public.text, "public/ledger.jsonl")
    if chain.as_text(rows) != subject.public.text:
        return Unfinished("the same rows as in the ledger, with other line ends")
    return f"{len(rows)} rows, the same as in the ledger; head {rows[-1].hash[:16]}…"


def _study_file(subject: _Subject) -> str:
    require_agreeing_file(subject.public, subject.ledger)
    newest = subject.ledger.versions[-1]
    if subject.public.study_file == newest.to_toml():
        return "agrees with the ledger"
    if Promise.from_toml(subject.public.study_file, committed=True) != newest:
        return Unfinished("is of before the newest series, extension or adoption")
    return Unfinished("says the same as the ledger, but has a comment or blanks of its own")


def _tables(subject: _Subject) -> str:
    agreement.require_all_releases(subject.ledger, subject.releases)
    return counted(len(subject.releases), "releases, entered once each")


def _budget(subject: _Subject) -> str:
    """The ledger's history adds up prices in the order in which they were paid."""
    budget = subject.ledger.versions[0].budget
    epsilon, delta = subject.ledger.history.spent
    spent = f"ε = {as_text(epsilon)} of {budget.epsilon}"
    if budget.delta is not None:
        spent = f"{spent}, δ = {as_text(delta)} of {budget.delta}"
    loss = require_enough_noise(subject.ledger.versions[0], subject.ledger.series)
    return f"{spent}; {pool_sentence(loss)}" if loss else spent


def _order(subject: _Subject) -> str:
    """The ledger's history has steps in order, and in each one release of every open series."""
    history = subject.ledger.history
    releases = sum(len(each.releases) for each in history.series)
    return (
        f"{counted(len(history.steps), 'steps')}, {counted(releases, 'releases')}, each made once"
    )


def _files(subject: _Subject) -> str:
    """Every private table has the checksum that its row states."""
    folder, found = subject.study.folder, set()
    homes: dict[str, Path] = {
        Event.RECORDS_ADDED: folder.batches,
        Event.STEP_SEALED: folder.segments,
    }
    entries = {each.number: each for each in subject.ledger.batches}
    for row in subject.ledger.rows:
        home = homes.get(row.event)
        if home is None or (home is folder.batches and row.whole_number("batch") not in entries):
            continue
        listed = [part for part in ("skipped", "awaiting") if part in row.secret]
        for part in ("nodes", "edges", *listed):
            for file in row.stored_table(part).files:
                if file in found:  # steps that were sealed together share their tables
                    continue
                try:
                    checked(home, file)
                except IntegrityError as error:
                    raise _at(row, str(error).removesuffix(".")) from error
                found.add(file)
    return f"{len(found)} private tables, unchanged since they were written"


def _plans_and_states(subject: _Subject) -> str:
    """The stored plans and states are those that the ledger's rows were made with."""
    agreement.require_series(subject.ledger, subject.stored_series)
    plans = agreement.committed_plans(subject.ledger)
    for each in subject.ledger.series:
        announced, (row, plan) = each.plan and digest(canonical(each.plan)), plans[each.series]
        _require(row, announced in (None, plan), "the public was told another plan of the series")
    return f"{len(subject.stored_series)} series, unchanged since their last release"


def _witness(subject: _Subject) -> str:
    """The study is no older than what this machine has seen of it."""
    verdict = subject.study.verdict()
    if verdict in (WitnessVerdict.BEHIND, WitnessVerdict.FORKED):
        raise IntegrityError(
            f"this machine: {verdict.value}. This copy must not go on: another one is newer, and "
            "holds the same noise.",
            hint=Hint("adopt"),
        )
    return str(verdict.value)


def _counts(subject: _Subject) -> str:
    """Counting the sealed graph again gives the counts from when its steps were sealed."""
    ledger, terms = subject.ledger, subject.terms
    if not ledger.sealed:
        return "nothing is sealed yet"
    counts, before = subject.recounted.counts, dict.fromkeys(terms, 0)
    counted_now = {name: counts.of(each) for name, each in terms.items()}
    releases = ledger.facts_of(ReleaseMade)
    for row, fact in releases:
        found = counted_now[fact.series]
        if isinstance(found, ThresholdCounts):
            total = found.total(fact.step, fact.threshold or 1)
            expected: tuple[int, ...] = (total - before[fact.series],)
            before[fact.series] = total
        else:
            expected = difference_at(found, terms[fact.series].first_step, fact.step)
        held = row.secret["differences"] == list(expected)
        _require(row, held, "the sealed graph gives a different count")
    return counted(len(releases), "releases, counted again with the same result")


def _standing(subject: _Subject) -> str:
    """The cache for the next command holds what counting from scratch gives."""
    verdict = subject.recounted.compared()
    if verdict in (CacheCheck.CHANGED, CacheCheck.ANOTHER):
        raise IntegrityError(
            f"private/kept {verdict.value}. Remove that folder: the next step makes it anew from "
            "the segments, which are unchanged."
        )
    return str(verdict.value)


def _noise(subject: _Subject) -> str:
    """The published values are the exact values plus the stored noise."""
    made = subject.ledger.facts_of(ReleaseMade)
    for series in subject.ledger.series:
        releases = [(row, fact) for row, fact in made if fact.series == series.series]
        state = state_of(series.series, subject.stored_series[series.series])
        totals = np.cumsum([row.secret["differences"] for row, _ in releases], axis=0)
        if subject.terms[series.series].follows:
            _require_followed(subject, series.series, releases, state, totals.ravel().tolist())
            continue
        for place, (row, fact) in enumerate(releases):
            noise = row.secret["noise"]
            if place >= state.epoch_start:  # the noise of this epoch is in the state as well
                drawn = [numbers[place - state.epoch_start] for numbers in state.noise]
                _require(row, noise == drawn, "the noise is not the one that was kept")
            sums = tuple((totals[place] + np.array(noise)).tolist())
            _require(row, fact.raw == sums, "the raw value is not the exact value plus noise")
        _require_one_draw(subject.ledger, [row for row, _ in releases], state, totals.tolist())
    return f"{len(made)} releases are their exact values plus the noise that was drawn once"


def _require_followed(
    subject: _Subject,
    name: str,
    releases: list[tuple[LedgerRow, ReleaseMade]],
    state: SeriesState,
    totals: list[int],
) -> None:
    """Refuse thresholds that do not follow from what was published, and answers that are not ours.

    The last answer of a release is what is measured of its exact count, plus the stored noise; the
    noise of questions to spare is compared with the state alone.
    """
    trail = Trail.of(subject.terms[name].plan)
    after: list[tuple[LedgerRow, SeriesState]] = []
    for (row, fact), total in zip(releases, totals, strict=True):
        answers, noise, begun = fact.asked, row.secret["noise"], trail.asked * bool(trail.place[1])
        _require(row, trail.is_due(answers), "the threshold does not follow from earlier releases")
        _require(row, len(noise) == len(answers), "the noise is not of as many answers")
        parts, used = trail.rule.parts, begun + len(noise)
        if trail.made >= state.epoch_start:
            drawn = list(state.noise[0][begun:used])
            _require(row, noise == drawn, "the noise is not the one that was kept")
        expected = trail.rule.measured(total, answers[-1].threshold) + noise[-1]
        answered = answers[-1].scaled == expected
        _require(row, answered, "the answer is not the exact value plus noise")
        rounded = fact.raw == (answers[-1].raw(parts),)
        _require(row, rounded, "the raw value is not the last answer")
        trail = trail.after(answers)
        then = replace(state, step=trail.made, totals=(total,), asked=used)
        after.append((row, then))
    adopted = [row.number for row in subject.ledger.of(Event.STUDY_ADOPTED)]
    for row, then in after:
        stated = row.secret.get("state")
        if stated is None or then.step <= state.epoch_start or row.number < max(adopted, default=0):
            continue
        same = digest(canonical(then.to_dict())) == stated
        _require(row, same, "the series had other noise after this release than it has now")


def _require_one_draw(
    ledger: Ledger, releases: list[LedgerRow], state: SeriesState, totals: list[list[int]]
) -> None:
    """Refuse noise that was exchanged between two releases of an epoch.

    A row commits to the state after it, which holds all noise of its epoch. That of now, put
    back to then, has to be the same. An adoption exchanges noise, and says so.
    """
    adopted = [row.number for row in ledger.of(Event.STUDY_ADOPTED)]
    head, key, _ = canonical(state.to_dict()).rpartition('"step":')
    begun = sha256(f"{head}{key}".encode())  # all but `step` and `totals`, which come last
    for made, (row, total) in enumerate(zip(releases, totals, strict=True), start=1):
        stated = row.secret.get("state")
        if stated is None or made <= state.epoch_start or row.number < max(adopted, default=0):
            continue
        then = begun.copy()
        then.update(f'{made},"totals":{canonical(total)}}}'.encode())
        problem = "the series had other noise after this release than it has now"
        _require(row, then.hexdigest() == stated, problem)


_CHECKS: dict[str, Callable[[_Subject], str]] = {
    "the public chain": _public_chain,
    "the study file": _study_file,
    "the tables": _tables,
    "the budget": _budget,
    "steps and releases": _order,
    "the private tables": _files,
    "plans and states": _plans_and_states,
    "the exact counts": _counts,
    "what is kept to go on from": _standing,
    "the noise": _noise,
    "this machine": _witness,
}


def _require(row: LedgerRow, holds: bool, problem: str) -> None:
    if not holds:
        raise _at(row, problem)


def _at(row: LedgerRow, problem: str) -> IntegrityError:
    return IntegrityError(f"{row.place}: {problem}.")
