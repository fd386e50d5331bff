"""Adding: records are checked against all earlier ones, reported on, and stored as a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.errors import InputError, Place, UnconfirmedError
from graphveil.hints import Hint
from graphveil.study.ledger import NOTHING_SAID, Ledger, ReadAs
from graphveil.study.public.facts import Event

if TYPE_CHECKING:
    from graphveil.graph.intake.records import Records
    from graphveil.study.records.attempts import Attempt
    from graphveil.study.records.findings import Findings
    from graphveil.study.records.record_store import ValidatedBatch
    from graphveil.study.storage.transaction import Transaction


def require_listed(records: Records) -> None:
    """Refuse people who are there only because of their links.

    Removing one person would also remove the people who are linked to nobody else, or move them
    to another step: the change by one person would exceed every sensitivity used here.
    """
    if records.by_links:
        raise InputError(
            "people stand here only through their links: without one person, others would vanish",
            place=Place(", ".join(records.by_links)),
            hint=Hint("all-listed"),
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


def require_confirmed(findings: Findings) -> None:
    """Refuse records if too many rows would be set aside, before anything is opened."""
    if findings.doubt:
        rule = max(findings.skipped, key=len).rule if findings.skipped else ""
        problem = Hint.joined(findings.doubt, "Nothing was changed.")
        raise UnconfirmedError(problem, rule, hint=Hint("confirm"))
