"""Opening: a draft becomes a promise, and a series gets its share of the budget for ever."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING

from graphveil.errors import BudgetError, ParameterError, StudyError
from graphveil.noise.exact_numbers import as_text
from graphveil.noise.release_noise import measurement
from graphveil.planning.plan import Plan
from graphveil.planning.planner import plan
from graphveil.series import state as states
from graphveil.study.chain import canonical, digest
from graphveil.study.facts import (
    DIGITS,
    NoiseFact,
    SensitivityFact,
    SeriesOpened,
    Software,
    StudyOpened,
)
from graphveil.study.ledger import Ledger
from graphveil.study.store import StoredSeries, Transaction
from graphveil.study.study_file import SeriesPromise, StudyFile

if TYPE_CHECKING:
    from graphveil.mechanisms.request import Epoch


def open_study(transaction: Transaction, study: StudyFile) -> None:
    """Enter the study and its series, each with its price."""
    require_draft(study)
    require_affordable(study)
    transaction.append(StudyOpened(study=study.to_data(), **Software.now()), private={})
    for promise in study.series:
        open_series(transaction, study, promise, first_step=0)


def open_series(
    transaction: Transaction, study: StudyFile, promise: SeriesPromise, *, first_step: int
) -> None:
    """Enter a series; its plan is kept as it is now, whatever later versions would choose."""
    chosen = series_plan(study, promise, first_step)
    stored = canonical(chosen.to_dict())
    fact = _announcement(study, promise, chosen, first_step)
    transaction.append(fact, private={"plan": digest(stored)})
    state = canonical(states.start(chosen).to_dict())
    transaction.open_series(promise.name, StoredSeries(stored, state))


def series_plan(study: StudyFile, promise: SeriesPromise, first_step: int) -> Plan:
    """How a series will be published; from public parameters only.

    Refuses noise that could not be drawn, now rather than when the first step is published.
    """
    left = _steps_left(study, first_step)
    if left is not None and (promise.horizon or left) < left:
        raise ParameterError(
            "horizon",
            f"series '{promise.name}' is published at each of the {left} steps of the calendar",
            hint="Leave the horizon out.",
        )
    chosen = plan(
        promise.counted(),
        study.bound.bound(),
        epsilon=promise.epsilon,
        delta=promise.delta,
        horizon=promise.horizon or left,
        mechanism=promise.mechanism,
        projection=promise.threshold(),
    )
    for law in {epoch.law for epoch in _known_epochs(chosen)}:
        measurement(law)
    return chosen


def _known_epochs(chosen: Plan) -> tuple[Epoch, ...]:
    """All of a known horizon, else the first."""
    return chosen.epochs or (chosen.epoch(0),)


def _steps_left(study: StudyFile, first_step: int) -> int | None:
    last = study.steps().last_step
    if last is None:
        return None
    if first_step > last:
        raise StudyError("every step of the calendar is sealed: a new series would have none.")
    return last + 1 - first_step


def require_affordable(study: StudyFile) -> None:
    """Refuse series that cost more than the budget, and say what is left without the last."""
    epsilon, delta = study.budget_left()
    if epsilon >= 0 and delta >= 0:
        return
    newest = study.series[-1]
    what, over, total, price = (
        ("ε", epsilon, study.budget.epsilon, newest.epsilon)
        if epsilon < 0
        else ("δ", delta, study.budget.delta or "0", newest.delta or "0")
    )
    left = max(over + Fraction(price), Fraction())
    raise BudgetError(
        f"the series cost more than the study's {what} = {total}: series '{newest.name}' asks "
        f"for {price}, and {as_text(left)} is left. Give it a smaller share."
    )


def require_draft(study: StudyFile) -> None:
    """Refuse a draft with a series that claims to have been opened."""
    for each in study.series:
        if each.opened is not None:
            raise StudyError(
                f"series '{each.name}': 'opened' is set when a series is opened later. Leave it "
                "out: the series of a draft begin with the first step."
            )


def require_room(ledger: Ledger, step: int) -> None:
    """Refuse a step for which a series has no release left."""
    for each in ledger.series:
        horizon = each.promise.horizon
        if horizon is not None and step >= each.first_step + horizon:
            raise StudyError(
                f"series '{each.series}' was planned for {horizon} releases, so the study "
                "ends with the last of them. To go on, open a new study; the people in it are the "
                "same, so its ε adds to this one's."
            )


def require_new_name(study: StudyFile, name: str) -> None:
    """Refuse a series whose name is taken."""
    if any(each.name == name for each in study.series):
        raise ParameterError("name", f"a series '{name}' is open already", hint="Choose another.")


def _announcement(
    study: StudyFile, promise: SeriesPromise, chosen: Plan, first_step: int
) -> SeriesOpened:
    """What the public is told about a series before its first release."""
    counted, request = promise.counted(), chosen.request
    sensitivity = request.sensitivity
    return SeriesOpened(
        promise=promise,
        series=promise.name,
        statistic=promise.statistic,
        parameters=promise.parameters,
        summary=counted.summary,
        monotone=counted.monotone,
        epsilon=request.epsilon,
        delta=request.delta,
        mechanism=chosen.mechanism.name,
        mechanism_summary=chosen.mechanism.summary,
        projection=promise.projection,
        horizon=request.horizon,
        first_step=first_step,
        first_label=study.steps().label(first_step),
        width=request.width,
        sensitivity=SensitivityFact(
            l1=sensitivity.l1,
            exact=sensitivity.exact,
            assumption=sensitivity.assumption,
            proof=sensitivity.proof,
        ),
        noise=_noise(chosen),
        predicted_std=tuple(round(value, DIGITS) for value in chosen.predicted),
    )


def _noise(chosen: Plan) -> tuple[NoiseFact, ...]:
    """The law of each epoch that is known beforehand; equal ones are told once."""
    told = []
    for law, equal in groupby(_known_epochs(chosen), key=lambda epoch: epoch.law):
        size = {law.size_name: str(law.size)}
        steps = sum(epoch.steps for epoch in equal)
        told.append(NoiseFact(law=law.name, steps=steps, **size))
    return tuple(told)
