"""graphveil: statistics of a growing network of people under node differential privacy.

The public names below are imported on first use, so that ``import graphveil`` and the
command line's help stay instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    from graphveil._version import __version__ as __version__  # written when it is built
except ImportError:  # from files that nobody has installed
    __version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from graphveil.backends import ExactCounts, LocalEngine
    from graphveil.calendar.calendar import Calendar
    from graphveil.graph.degrees import require_bound
    from graphveil.graph.intake.appending import Intake
    from graphveil.graph.intake.records import IntakeReport
    from graphveil.graph.projection import greedy_projection, time_aware_projection
    from graphveil.graph.promises import DegreeBound, HubBound, InOutBound, NoBound
    from graphveil.graph.sequence import GraphSequence
    from graphveil.mechanisms.planning.intervals import change_interval, interval
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.mechanisms.planning.shares import best_plans, best_shares
    from graphveil.records import (
        ReadingOptions,
        from_arrays,
        from_frames,
        from_networkx,
        from_rows,
        read_pair,
        read_records,
    )
    from graphveil.series.planner import compare, plan
    from graphveil.series.release import Release, Series
    from graphveil.statistics.pattern_shape import Pattern
    from graphveil.statistics.sensitivity import Sensitivity
    from graphveil.statistics.statistic import Statistic, registered, statistic
    from graphveil.steward.study import Study
    from graphveil.study.promise import Promise
    from graphveil.study.promise_entries import SeriesPromise

_HOMES = {
    "graphveil.backends": ("ExactCounts", "LocalEngine"),
    "graphveil.records": (
        "ReadingOptions",
        "from_arrays",
        "from_frames",
        "from_networkx",
        "from_rows",
        "read_pair",
        "read_records",
    ),
    "graphveil.graph.promises": ("DegreeBound", "HubBound", "InOutBound", "NoBound"),
    "graphveil.calendar.calendar": ("Calendar",),
    "graphveil.graph.degrees": ("require_bound",),
    "graphveil.graph.intake.appending": ("Intake",),
    "graphveil.graph.projection": ("greedy_projection", "time_aware_projection"),
    "graphveil.graph.intake.records": ("IntakeReport",),
    "graphveil.graph.sequence": ("GraphSequence",),
    "graphveil.mechanisms.planning.intervals": ("change_interval", "interval"),
    "graphveil.mechanisms.planning.plan": ("Plan",),
    "graphveil.series.planner": ("compare", "plan"),
    "graphveil.mechanisms.planning.shares": ("best_plans", "best_shares"),
    "graphveil.series.release": ("Release", "Series"),
    "graphveil.statistics.pattern_shape": ("Pattern",),
    "graphveil.statistics.sensitivity": ("Sensitivity",),
    "graphveil.statistics.statistic": ("Statistic", "registered", "statistic"),
    "graphveil.study.promise": ("Promise",),
    "graphveil.study.promise_entries": ("SeriesPromise",),
    "graphveil.steward.study": ("Study",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Calendar",
    "DegreeBound",
    "ExactCounts",
    "GraphSequence",
    "HubBound",
    "InOutBound",
    "Intake",
    "IntakeReport",
    "LocalEngine",
    "NoBound",
    "Pattern",
    "Plan",
    "Promise",
    "ReadingOptions",
    "Release",
    "Sensitivity",
    "Series",
    "SeriesPromise",
    "Statistic",
    "Study",
    "best_plans",
    "best_shares",
    "change_interval",
    "compare",
    "from_arrays",
    "from_frames",
    "from_networkx",
    "from_rows",
    "greedy_projection",
    "interval",
    "plan",
    "read_pair",
    "read_records",
    "registered",
    "require_bound",
    "statistic",
    "time_aware_projection",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'graphveil' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
