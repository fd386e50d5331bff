"""Adoption: a copy of a study goes on by itself, with fresh noise for all later releases.

What a copied folder holds of the noise of the future is thrown away. New epochs, each with the
full ε, follow from the number that was published last, or the rest of an epoch is drawn anew
from its law: the guarantee of what this copy ever publishes stays as it was
(`docs/mechanisms.md#adoption`). Noise that was made for all releases together, and has no such
law, goes on for a price out of what is left of the budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from graphveil.errors import IntegrityError, ParameterError
from graphveil.mechanisms.planning import continuation
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.series import state as states
from graphveil.study.chain import canonical, digest
from graphveil.study.committed import NO_PRICES, Committed, Prices, label_of
from graphveil.study.extension import Replanned
from graphveil.study.facts import RenewedSeries, Software, StudyAdopted
from graphveil.study.ledger import Ledger
from graphveil.study.machine import Machine
from graphveil.study.opening import require_payable
from graphveil.study.promise import Promise
from graphveil.study.reading import StoredSeries, plan_of, state_of
from graphveil.study.sql import Transaction
from graphveil.study.witness import Lineage

LONGEST_REASON = 1000  # characters


class Renewal(Replanned):
    """A series before and after an adoption."""

    @property
    def again(self) -> Fraction:
        """What another copy that goes on can cost a person: ε more, or 2ε where noise is resumed.

        Nothing by itself in a pool, whose ε is for all its series: see `pool_again`.

        Guarantees: docs/mechanisms.md#adoption.
        """
        if self.before.request.pool_share is not None:
            return Fraction()
        number, made = self.before.place_of(self.releases)
        resumed = made and self.before.epoch(number).resumes
        return self.before.request.epsilon * (2 if resumed else 1)

    def announcement(self, promise: Promise) -> RenewedSeries:
        """What is published about it."""
        return RenewedSeries(again=self.again, **self.told(promise))


def pool_again(renewed: Iterable[Renewal]) -> Fraction:
    """What another copy can cost a person by all series of the pool: its ε once more.

    Guarantees: docs/mechanisms.md#a-pool-of-several-series.
    """
    requests = [each.before.request for each in renewed]
    shared = [each.epsilon for each in requests if each.pool_share is not None]
    return max(shared, default=Fraction())


def renewals(
    ledger: Ledger, stored_series: Mapping[str, StoredSeries], prices: Prices = NO_PRICES
) -> tuple[Renewal, ...]:
    """What an adoption would do to every series; changes nothing.

    Refuses what costs more than is left.

    Args:
        ledger: of an open study.
        stored_series: the stored plan of every series.
        prices: what may be paid for a series, by name; by default, the price at which its noise
            stays as large as it is.
    """
    made = {each.series: len(each.releases) for each in ledger.series}
    before = {name: plan_of(name, stored_series[name]) for name in made}
    renewed = tuple(
        Renewal(name, made[name], plan, continuation.renewed(plan, made[name], prices.get(name)))
        for name, plan in before.items()
    )
    paid = {each.series: each.price for each in renewed}
    require_payable(ledger.versions[-1], paid, prices)
    return renewed


def require_reason(reason: str) -> str:
    """Refuse an adoption without a reason; the reason is published."""
    text = " ".join(reason.split())
    if not 0 < len(text) <= LONGEST_REASON:
        raise ParameterError("reason", f"must have 1 to {LONGEST_REASON} characters")
    return text


def admit(machine: Machine, transaction: Transaction, _: Lineage) -> None:
    """Let a copy be adopted from which nothing is missing that this machine saw published.

    Of steps that have their value already, it would publish another.
    """
    for mark in machine.memory(str(transaction.hash_of(0))).marks.values():
        if transaction.hash_of(mark.announced.number) != mark.announced.hash:
            raise IntegrityError(
                "this machine has seen releases of this study that this copy lacks: it would "
                "publish steps a second time. Go on with the newest copy; if that is lost, open "
                "a new study, whose ε adds to this one's."
            )


def enter(
    transaction: Transaction, found: Committed, reason: str, prices: Prices = NO_PRICES
) -> tuple[Renewal, ...]:
    """Throw away the noise of the future, and enter the adoption into both chains."""
    _require_all_announced(found)
    renewed = renewals(found.ledger, found.stored_series, prices)
    stored = {each.series: _stored(each, found.stored_series[each.series]) for each in renewed}
    private = {
        "plans": {name: digest(each.plan) for name, each in stored.items()},
        "states": {name: digest(each.state) for name, each in stored.items()},
    }
    transaction.append(_announcement(found.ledger, renewed, reason), private=private)
    for name, each in stored.items():
        transaction.renew_series(name, each)
    transaction.settle()
    return renewed


def _require_all_announced(committed: Committed) -> None:
    """Refuse a copy with a sealed step that was never announced; another copy may have gone on.

    That step holds noise with which the other copy may have published something else.
    """
    if committed.is_behind:
        raise IntegrityError(
            "this copy has sealed a step that was never announced, and another copy may have "
            "published that step with the same noise. It cannot be adopted. Go on with the other "
            "copy, or adopt a backup from before that step."
        )


def _stored(renewal: Renewal, stored_series: StoredSeries) -> StoredSeries:
    state = states.renewed(renewal.before, state_of(renewal.series, stored_series), ReleaseNoise())
    return StoredSeries(canonical(renewal.after.to_dict()), canonical(state.to_dict()))


def _announcement(ledger: Ledger, renewed: tuple[Renewal, ...], reason: str) -> StudyAdopted:
    made = len(ledger.sealed)
    return StudyAdopted(
        step=made,
        label=label_of(ledger.versions[-1], made - 1) if made else None,
        reason=reason,
        series=tuple(each.announcement(ledger.versions[-1]) for each in renewed),
        pool_again=pool_again(renewed),
        **Software.now(),
    )
