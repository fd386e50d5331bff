"""Ours under a promise: about degrees, as the paper's, or about hubs."""

from __future__ import annotations

from functools import partial

from graphveil.experiments.contenders.trial import Attempt, Trial
from graphveil.experiments.contenders.tuning import Option, tuned
from graphveil.mechanisms.moves import Returning
from graphveil.planning.plan import Plan
from graphveil.statistics.changes.hubs import sensitivity_under


def tight(trial: Trial) -> Attempt | None:
    """SensDiff with our Γ."""
    return _published(trial, trial.plan("sensdiff"))


def law(trial: Trial) -> Attempt | None:
    """The noise that fits the shape of the change: returning where it moves, else SensDiff's."""
    returning, plain = trial.plan("moves"), trial.plan("sensdiff")
    if returning is not None:
        request = returning.request
        if request.cost(Returning()) < 2 * request.sensitivity.l1:
            return _published(trial, returning)
    return _published(trial, plain)


def auto(trial: Trial) -> Attempt | None:
    """The planner's choice."""
    return _published(trial, trial.plan())


def auto_relative(trial: Trial) -> Attempt | None:
    """The planner's choice if relative errors are to be small and totals grow evenly."""
    return _published(trial, trial.plan(minimise="relative"))


def hubs(trial: Trial) -> Attempt | None:
    """The planner's choice under a promise with hubs, by the rule of the protocol.

    D is a percentile of the degrees, and H is what is true of the data for it: both are read off
    the data, as the paper reads off its bound, but no error is looked at.
    """
    wanted = trial.subject.hub_threshold
    by_rule = (each for each in _promises(trial) if each.threshold.counted == wanted)
    option = next(by_rule, None)
    return None if option is None else option.attempt(trial)


def tuned_hubs(trial: Trial) -> Attempt | None:
    """The same with the D whose true error is least, and the H that is true for it."""
    return tuned(trial, _promises(trial))


def _published(trial: Trial, plan: Plan | None) -> Attempt | None:
    return None if plan is None else trial.attempt(plan)


def _promises(trial: Trial) -> list[Option]:
    """Every promise with hubs that was counted, the loosest first."""
    statistic = trial.subject.statistic
    return [
        Option(
            promise,
            totals,
            sensitivity_under(statistic, promise).l1,
            partial(trial.plan, bound=promise),
        )
        for promise, totals in reversed(trial.truth.first_links)
    ]
