"""Ours without a promise: projected totals with noise shaped like what one person can do."""

from __future__ import annotations

from functools import partial

from graphveil.experiments.contenders.trial import Attempt, Trial
from graphveil.experiments.contenders.tuning import Option, tuned


def shaped(trial: Trial) -> Attempt | None:
    """Range or box noise after projection to the threshold that the protocol's rule gives.

    The threshold of a high-degree count is its τ, which is public in a release; that of all
    else is the D of the promise with hubs.
    """
    wanted = trial.subject.projection_threshold
    by_rule = (option for option in _projections(trial) if option.threshold == wanted)
    option = next(by_rule, None)
    return None if option is None else option.attempt(trial)


def tuned_shaped(trial: Trial) -> Attempt | None:
    """The same with the threshold whose true error is least."""
    return tuned(trial, _projections(trial))


def _projections(trial: Trial) -> list[Option]:
    """Every projection that was counted, the loosest first."""
    statistic = trial.subject.statistic
    mechanism = "range-projection" if statistic.projection_rises else "box-projection"
    return [
        Option(threshold, totals, after, partial(trial.plan, mechanism, projection=threshold))
        for threshold, totals in reversed(trial.truth.projected)
        if (after := statistic.projected_l1(threshold)) is not None
    ]
