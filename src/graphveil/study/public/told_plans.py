"""Plans that the public was told, read with care: whoever wrote the file may have made them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphveil.errors import IntegrityError
from graphveil.mechanisms.mechanism import registered
from graphveil.planning.plan import FORMATS, Plan
from graphveil.study.storage.keeping import UNREADABLE

if TYPE_CHECKING:
    from graphveil.study.public.history import PublishedSeries

LONGER = 16  # than all releases so far is no epoch by this factor, as every next one is begun late


def told_plan(series: PublishedSeries) -> Plan | None:
    """How a series is published, if the public was told; refuses what is no plan of it.

    What a newer version planned is left to that version.
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


def _is_known(told: dict[str, Any]) -> bool:
    return told.get("format") in FORMATS and told.get("mechanism") in registered()


def _fitting(series: PublishedSeries, told: dict[str, Any]) -> Plan:
    """A plan of as many numbers and releases as the series has; others were made up."""
    longest = LONGER * (max(series.horizon or 0, len(series.releases)) + LONGER)
    if sum(int(entry["times"]) for entry in told["epochs"]) > longest:
        raise ValueError("epochs are repeated more often than there are releases")
    plan = Plan.from_dict(told)
    if plan.request.width != series.width or plan.request.horizon != series.horizon:
        raise ValueError("is the plan of another series")
    if any(epoch.factorisation.steps > longest for epoch in plan.epochs):
        raise ValueError("an epoch is longer than the series will ever be")
    plan.place_of(len(series.releases))  # refuses more releases than are planned
    return plan
