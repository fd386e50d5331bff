"""Announced plans and their prices, read with care: the file may have been made up."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil
from typing import Any

from graphveil.errors import IntegrityError
from graphveil.mechanisms.gaussian import GaussianMechanism
from graphveil.mechanisms.mechanism import registered
from graphveil.mechanisms.planning.plan import FORMATS, Plan
from graphveil.noise.exact_numbers import as_text
from graphveil.noise.zcdp import epsilon_of
from graphveil.study.history import PublishedSeries
from graphveil.study.promise import Promise
from graphveil.study.reading import UNREADABLE

LONGER = 16  # than all releases so far is no epoch by this factor, as every next one is begun late


def announced_plan(series: PublishedSeries) -> Plan | None:
    """The published plan of a series, if there is one; refuses what is not a plan of it.

    None, too, for a plan of a newer version, which this one cannot read.
    """
    if series.plan is None or not _is_known(series.plan):
        return None
    try:
        return _fitting(series, series.plan)
    except UNREADABLE as error:
        raise IntegrityError(
            f"ledger.jsonl: the plan of series '{series.series}' cannot be read. Put the file back "
            "that the publisher wrote."
        ) from error


def _is_known(plan: dict[str, Any]) -> bool:
    return plan.get("format") in FORMATS and plan.get("mechanism") in registered()


def _fitting(series: PublishedSeries, data: dict[str, Any]) -> Plan:
    """A plan of as many numbers and releases as the series has; others were made up."""
    longest = LONGER * (max(series.horizon or 0, len(series.releases)) + LONGER)
    if sum(int(entry["times"]) for entry in data["epochs"]) > longest:
        raise ValueError("epochs are repeated more often than there are releases")
    plan = Plan.from_dict(data)
    if plan.request.width != series.width or plan.request.horizon != series.horizon:
        raise ValueError("is the plan of another series")
    if any(epoch.factorisation.steps > longest for epoch in plan.epochs):
        raise ValueError("an epoch is longer than the series will ever be")
    plan.place_of(len(series.releases))  # refuses more releases than are planned
    return plan


# Prices of Gaussian noise, computed again from public plans: the ρ of each series, and the sum.
#
# The ledger states the share of each series; its plan, which is public, states matrices and
# laws. From both, anybody can compute whether the noise is enough (`docs/mechanisms.md#a-pool-of-
# several-series`).


MILLION = 10**6


def require_enough_noise(promise: Promise, series: Iterable[PublishedSeries]) -> Fraction:
    """Refuse Gaussian noise that costs more than its price; returns what the pool costs, in ε.

    Args:
        promise: of the study.
        series: those that are open. Series without Gaussian noise or without a published plan
            are not checked.
    """
    pool, spent = promise.budget.pool, Fraction()
    for each in series:
        rho = _rho(each)
        if rho is not None and each.pool_share is not None:
            spent += rho
    if pool is None or not spent:
        return Fraction()
    loss = epsilon_of(spent, pool.price[1])
    if loss > pool.price[0]:
        raise IntegrityError("the noise of the series in the pool costs more than the pool.")
    return loss


def pool_sentence(loss: Fraction) -> str:
    """The cost of the pool in words, rounded up."""
    rounded = Fraction(ceil(loss * MILLION), MILLION)
    return f"the noise of the pool costs ε = {as_text(rounded)} together"


def _rho(series: PublishedSeries) -> Fraction | None:
    """What the noise of a series costs, once it is certain that it is not more than its price."""
    plan = announced_plan(series)
    if plan is None or not isinstance(plan.mechanism, GaussianMechanism):
        return None
    epochs = plan.epochs or (plan.epoch(0),)  # of unknown length: all have the same ρ
    rho = plan.mechanism.rho_of_noise(plan.request, epochs)
    if rho > plan.request.rho:
        raise IntegrityError(f"series '{series.series}' has less noise than its price allows.")
    return rho
