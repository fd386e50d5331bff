"""Moving a study: handing it over with its noise, or adopting a copy with fresh noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.noise.exact_numbers import as_text
from graphveil.steward.prices import NO_PRICES, exact_prices
from graphveil.steward.status import BudgetStatus

if TYPE_CHECKING:
    from graphveil.study.course.adoption import Renewal


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
    folder: Path, reason: str | None = None, prices: Mapping[str, str] = NO_PRICES
) -> Adoption:
    """Adopt the study in a folder; without a reason, only say what that would change.

    Args:
        folder: of the study.
        reason: why; the public is told.
        prices: what may be paid for fresh noise, by series.
    """
    from graphveil.steward.reporting import write_report
    from graphveil.study import Study
    from graphveil.study.course.adoption import pool_again

    study, exact = Study.at(folder), exact_prices(prices)
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
    from graphveil.study import Study

    Study.at(folder).hand_over(code)


def machine_code() -> str:
    """The code of this machine, to which studies can be handed over."""
    from graphveil.study.place.machine import Machine

    return Machine.here().code()
