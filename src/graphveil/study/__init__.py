"""The study: the durable life of a continual release, from the first record to the last year."""

from graphveil.study.promise.promise import Promise
from graphveil.study.promise.series import SeriesPromise
from graphveil.study.study import Added, Study

__all__ = ["Added", "Promise", "SeriesPromise", "Study"]
