"""Opening: a draft becomes a promise, and a series gets its share of the budget permanently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from graphveil.errors import BudgetError, ParameterError, StudyError, nearest_name
from graphveil.graph.promises import HubBound
from graphveil.hints import Hint
from graphveil.mechanisms import mechanism as mechanisms
from graphveil.mechanisms.factorisations.objectives import PLAIN
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.exact_numbers import as_text
from graphveil.noise.release_noise import measurement
from graphveil.series import state as states
from graphveil.series.planner import losses_beyond, plan, rhos_beyond
from graphveil.statistics import statistic as statistics
from graphveil.statistics.sensitivity import PROOFS
from graphveil.statistics.statistic import STEPS, registered
from graphveil.study.chain import canonical, digest
from graphveil.study.committed import Prices, label_of
from graphveil.study.facts import (
    AFTER_PROJECTION,
    DIGITS,
    EVERY_NETWORK,
    FOLLOWING,
    FORESTS,
    LossFact,
    NoiseFact,
    RatioPromised,
    SensitivityFact,
    SeriesOpened,
    Software,
    StudyOpened,
)
from graphveil.study.ledger import Ledger
from graphveil.study.promise import Promise, require_limits, require_series_limits
from graphveil.study.promise_entries import RatioPromise, SeriesPromise
from graphveil.study.reading import VERSION, StoredSeries

if TYPE_CHECKING:
    from graphveil.noise.laws import NoiseLaw
    from graphveil.study.sql import Transaction


def open_study(transaction: Transaction, promise: Promise) -> None:
    """Enter the study and its series, each with its price."""
    require_draft(promise)
    require_affordable(promise)
    opened = StudyOpened(study=promise.to_data(), **Software.now())
    transaction.append(opened, private={"version": VERSION})
    for series in promise.series:
        open_series(transaction, promise, series, first_step=0)


def open_series(
    transaction: Transaction, promise: Promise, series: SeriesPromise, *, first_step: int
) -> None:
    """Enter a series; its plan is stored as it is now, whatever later versions would choose."""
    chosen = series_plan(promise, series, first_step)
    stored = canonical(chosen.to_dict())
    fact = _announcement(promise, series, chosen, first_step)
    transaction.append(fact, private={"plan": digest(stored)})
    state = canonical(states.start(chosen).to_dict())
    transaction.open_series(series.name, StoredSeries(stored, state))


def series_plan(promise: Promise, series: SeriesPromise, first_step: int) -> Plan:
    """How a series will be published; from public parameters only.

    Refuses noise that could not be drawn, now rather than when the first step is published.
    """
    left = _steps_left(promise, first_step)
    if left is not None and (series.horizon or left) < left:
        raise ParameterError(
            "horizon",
            f"series '{series.name}' is published at each of the {left} steps of the calendar",
            hint="Leave the horizon out.",
        )
    epsilon, delta, share = promise.price_of(series)
    chosen = plan(
        series.counted(),
        promise.degree_bound,
        epsilon=epsilon,
        delta=delta,
        pool_share=share,
        horizon=series.horizon or left,
        mechanism=series.mechanism,
        projection=series.threshold(),
        minimise=series.minimise or PLAIN,
    )
    for law in {law for law, _ in chosen.following(0)}:
        measurement(law)
    return chosen


def _steps_left(promise: Promise, first_step: int) -> int | None:
    last = promise.calendar.last_step
    if last is None:
        return None
    if first_step > last:
        raise StudyError("every step of the calendar is sealed: a new series would have none.")
    return last + 1 - first_step


def require_affordable(promise: Promise) -> None:
    """Refuse series that cost more than the budget, and say what is left without the last."""
    _require_room_in_pool(promise)
    epsilon, delta = promise.budget_left()
    if epsilon >= 0 and delta >= 0:
        return
    newest = promise.series[-1]
    what, over, total, price = (
        ("ε", epsilon, promise.budget.epsilon, newest.price[0])
        if epsilon < 0
        else ("δ", delta, promise.budget.delta or "0", newest.price[1])
    )
    if promise.budget.pool is not None and not price:  # it shares the pool, or is pure
        raise BudgetError(
            f"the series and the pool cost {as_text(-over)} more than the study's {what} = "
            f"{total}. Make the pool or a share smaller."
        )
    left = max(over + price, Fraction())
    raise BudgetError(
        f"the series cost more than the study's {what} = {total}: series '{newest.name}' asks "
        f"for {as_text(price)}, and {as_text(left)} is left. Give it a smaller share."
    )


def _require_room_in_pool(promise: Promise) -> None:
    """Refuse shares of the pool that sum to more than all of it."""
    over, newest = promise.pool_left(), promise.series[-1]
    if over >= 0:
        return
    left = max(over + Fraction(newest.pool or 0), Fraction())
    raise BudgetError(
        f"the series share more than all of the pool: series '{newest.name}' asks for "
        f"{newest.pool or 0} of it, and {as_text(left)} is left. Give it a smaller share, or an ε "
        "of its own."
    )


def require_payable(promise: Promise, prices: Prices, offered: Prices) -> None:
    """Refuse prices of going on that are more than is left, or that nothing was asked for.

    Args:
        promise: of the study so far.
        prices: what each series that goes on costs.
        offered: what may be paid for some.
    """
    known = [each.name for each in promise.series]
    for name in offered.keys() - prices.keys():
        if name in known:
            raise ParameterError("price", f"series '{name}' needs none", hint="Leave it out.")
        near = nearest_name(name, known)
        raise ParameterError("price", f"there is no series '{name[:64]}'", hint=near)
    total, left = sum(prices.values(), Fraction()), promise.budget_left()[0]
    if total <= left:
        return
    dear = max(prices, key=lambda name: prices[name])
    raise BudgetError(
        f"going on costs ε = {as_text(total)} more, most of it for series '{dear}' "
        f"({as_text(prices[dear])}), and {as_text(left)} is left.",
        hint=Hint("price", series=dear),
    )


def require_draft(promise: Promise) -> None:
    """Refuse a draft with a series that claims to have been opened, or what makes no sense."""
    require_limits(promise, "study.toml")
    if isinstance(promise.degree_bound, HubBound):
        promise.degree_bound.require_sense()
    begun = [(each.name, each.opened) for each in promise.series]
    for name, opened in [*begun, *((each.name, each.opened) for each in promise.ratios)]:
        if opened is not None:
            raise StudyError(
                f"'{name}': 'opened' is set when something is promised later. Leave it out: "
                "all of a draft begins with the first step."
            )


def require_room(ledger: Ledger, step: int) -> None:
    """Refuse a step for which a series has no release left."""
    for each in ledger.series:
        horizon = each.promise.horizon
        if horizon is not None and step >= each.first_step + horizon:
            raise StudyError(
                f"series '{each.series}' was planned for {horizon} releases, so the study ends "
                "with the last of them.",
                hint=Hint("extend"),
            )


def require_new_name(promise: Promise, name: str) -> None:
    """Refuse a series whose name is taken."""
    if any(each.name == name for each in promise.series):
        raise ParameterError("name", f"a series '{name}' is already open", hint="Choose another.")


def _announcement(
    promise: Promise, series: SeriesPromise, chosen: Plan, first_step: int
) -> SeriesOpened:
    """What is published about a series before its first release."""
    counted, request = series.counted(), chosen.request
    parameters = {**registered()[series.statistic].defaults(), **series.parameters}
    spans = {
        name: promise.calendar.last_steps(int(parameters[name]))
        for name in STEPS
        if name in parameters
    }
    defined_by = _defined_by(series, chosen)
    return SeriesOpened(
        promise=series,
        series=series.name,
        statistic=series.statistic,
        parameters=parameters,
        summary=counted.summary,
        monotone=counted.monotone,
        epsilon=request.epsilon,
        delta=request.delta,
        mechanism=chosen.mechanism.name,
        mechanism_summary=chosen.mechanism.summary,
        projection=series.projection,
        horizon=request.horizon,
        first_step=first_step,
        first_label=promise.calendar.label(first_step),
        width=request.width,
        sensitivity=_sensitivity_fact(chosen),
        beyond=loss_facts(promise, series, chosen),
        noise=noise_facts(chosen.following(0)),
        predicted_std=tuple(round(value, DIGITS) for value in chosen.predicted),
        spans=spans,
        plan=chosen.to_dict(),
        defined_by=defined_by,
        cumulative="statistic" in defined_by and counted.cumulative,
    )


def _defined_by(series: SeriesPromise, chosen: Plan) -> dict[str, str]:
    """Whose the definitions are, and the proofs, where they are not ours."""
    owners = {
        "statistic": statistics.plug_in(series.statistic),
        "mechanism": mechanisms.plug_in(chosen.mechanism.name),
    }
    return {what: str(owner) for what, owner in owners.items() if owner is not None}


def loss_facts(promise: Promise, series: SeriesPromise, plan: Plan) -> tuple[LossFact, ...]:
    """What breaking the promise costs the person who breaks it."""
    counted, bound = series.counted(), promise.degree_bound
    beyond, rhos = losses_beyond(plan, counted, bound), rhos_beyond(plan, counted, bound)
    return tuple(
        LossFact(further=more, epsilon=loss, rho=rhos.get(more)) for more, loss in beyond.items()
    )


def _sensitivity_fact(chosen: Plan) -> SensitivityFact:
    """What one person can change: of a projected graph one release, and of others all of them."""
    sensitivity, after = chosen.request.sensitivity, chosen.request.projected_l1
    if chosen.mechanism.projects and after is not None:
        own = sensitivity.proof.endswith((f"#{FORESTS}", f"#{FOLLOWING}"))
        proof = sensitivity.proof if own else f"{PROOFS}#{AFTER_PROJECTION}"
        return SensitivityFact(l1=after, exact=False, assumption=EVERY_NETWORK, proof=proof)
    return SensitivityFact(
        l1=sensitivity.l1,
        exact=sensitivity.exact,
        assumption=sensitivity.assumption,
        proof=sensitivity.proof,
    )


def noise_facts(laws: Iterable[tuple[NoiseLaw, int]]) -> tuple[NoiseFact, ...]:
    """The laws of steps that are known in advance; equal ones that follow are listed once."""
    facts = []
    for law, equal in groupby(laws, key=itemgetter(0)):
        size = {law.size_name: str(law.size)}
        facts.append(NoiseFact(law=law.name, steps=sum(steps for _, steps in equal), **size))
    return tuple(facts)


# One more series: what a study then promises, the same for a try and for the real thing.


def with_ratio(ledger: Ledger, name: str, formula: str) -> Promise:
    """An open study with one more ratio; changes nothing. Refuses one that cannot be computed."""
    before = ledger.versions[-1]
    next_step = (
        len(ledger.sealed)
        if before.calendar.last_step is None
        else min(len(ledger.sealed), before.calendar.last_step)
    )
    opened = before.calendar.label(next_step)
    if not name.strip() or name in [each.name for each in before.ratios]:
        raise ParameterError("ratio", "needs a name that no other has")
    ratio = RatioPromise(name=name.strip(), formula=formula, opened=opened)
    ratio.require_series({each.name: each for each in before.series}, before.degree_bound)
    after = before.with_ratio(ratio, "the ratio")
    require_limits(after, "the ratio")
    return after


def promise_ratio(transaction: Transaction, ledger: Ledger, name: str, formula: str) -> Promise:
    """Enter a ratio into both chains."""
    after, made = with_ratio(ledger, name, formula), len(ledger.sealed)
    label = label_of(after, made - 1) if made else None
    fact = RatioPromised(step=made, label=label, ratio=after.ratios[-1], **Software.now())
    transaction.append(fact, private={})
    return after


@dataclass(frozen=True)
class WiderStudy:
    """A study with a series more.

    Attributes:
        promise: what it says, the new series last.
        first_step: the step with which the series begins.
    """

    promise: Promise
    first_step: int

    @property
    def series(self) -> SeriesPromise:
        """The new one."""
        return self.promise.series[-1]


def with_series(ledger: Ledger, entry: dict[str, Any], source: str = "study.toml") -> WiderStudy:
    """An open study with one more series from its next step on; changes nothing.

    Refuses a name that is taken, a calendar that is over, and more than is left of the budget.

    Args:
        ledger: of the study.
        entry: the series as a study file has it.
        source: what to call it where its entry is refused.
    """
    before, step = ledger.versions[-1], len(ledger.sealed)
    require_new_name(before, entry["name"])
    data, opened = before.to_data(), {"opened": label_of(before, step)}
    after = Promise.from_data(data | {"series": [*data["series"], entry | opened]}, source)
    require_series_limits(after.series[-1], source)
    require_affordable(after)
    return WiderStudy(after, step)
