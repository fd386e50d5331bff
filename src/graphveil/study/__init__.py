"""The study: the durable life of a continual release, from the first record to the last year.

The names below are imported on first use: who reads what was published needs no study at work.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphveil.study.promise import Promise
    from graphveil.study.promise_entries import SeriesPromise
    from graphveil.study.stored_study import Added, StoredStudy

_HOMES = {
    "Added": "graphveil.study.stored_study",
    "Promise": "graphveil.study.promise",
    "SeriesPromise": "graphveil.study.promise_entries",
    "StoredStudy": "graphveil.study.stored_study",
}

__all__ = ["Added", "Promise", "SeriesPromise", "StoredStudy"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
