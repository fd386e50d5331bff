"""One more series: what a study then promises, the same for a try and for good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphveil.study.clock import label_of
from graphveil.study.course import opening
from graphveil.study.ledger import Ledger
from graphveil.study.limits import require_series_limits
from graphveil.study.promise.promise import Promise
from graphveil.study.promise.series import SeriesPromise


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
    opening.require_new_name(before, entry["name"])
    data, opened = before.to_data(), {"opened": label_of(before, step)}
    after = Promise.from_data(data | {"series": [*data["series"], entry | opened]}, source)
    require_series_limits(after.series[-1], source)
    opening.require_affordable(after)
    return WiderStudy(after, step)
