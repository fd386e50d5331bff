"""The smooth trend: a history whose growth changes little from step to step, for those who ask.

How much growth changes is estimated from the published numbers alone, beside noise that is known
(`docs/revisions.md#the-smooth-trend`). It is an assumption about the truth, not a fact, so it
stands beside first values and revisions under its own name, and never in their place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, eigh

from graphveil.planning.covariance import Floats, Part, Precision
from graphveil.planning.plan import Plan
from graphveil.series.postprocessing import clipped, monotone_in_degree
from graphveil.series.revising import Rising, nearest_news
from graphveil.statistics.statistic import Statistic

STRETCHES = 256  # of constant growth, where there are more steps
FREE = 1e-9  # directions whose part of the roughness is below this have none
RATIOS = np.geomspace(1e-6, 1e9, 301)  # of the variance of growth to roughness that are tried


def smooth_trend(statistic: Statistic, raw_history: ArrayLike, plan: Plan) -> Floats:
    """The history as a smooth curve, (releases,) or (releases, degrees).

    Guarantees: as of `revised`, whatever holds of the truth holds of it.

    Args:
        statistic: decides what is known about the truth.
        raw_history: the raw values of all releases so far.
        plan: how they were published.
    """
    raw = np.asarray(raw_history, dtype=np.float64)
    if len(raw):
        model = Wandering.of(plan, len(raw))
        columns = raw.T if statistic.vector else raw[np.newaxis]
        fitted = np.array([model.trend(column, rises=statistic.monotone) for column in columns])
        raw = fitted.T if statistic.vector else fitted[0]
    if statistic.cumulative and len(raw):
        raw = np.minimum.accumulate(monotone_in_degree(raw), axis=1)
    return clipped(raw)


@dataclass(frozen=True, eq=False)
class Wandering:
    """Growth that wanders: the first number is anything, and growth a random walk after it.

    Attributes:
        noise: of the history.
        stretches: which stretch of growth each step is in, (steps, stretches), 0 or 1.
        information: what raw values of that noise say about each of them.
        roughness: the sum of squared changes of growth, as a matrix.
        ways: directions in which noise has the variance 1, independently, one per column.
        rough: how rough each of them is; 0 for an even growth.
    """

    noise: Rising
    stretches: Floats
    information: Floats
    roughness: Floats
    ways: Floats
    rough: Floats

    @classmethod
    def of(cls, plan: Plan, steps: int) -> Wandering:
        """For so many releases of a plan."""
        noise, later = Rising(plan, steps), np.arange(steps - 1)
        count = min(steps - 1, STRETCHES)
        stretches = np.zeros((steps, count + 1))
        stretches[0, 0] = 1
        stretches[later + 1, 1 + later * count // max(steps - 1, 1)] = 1
        told = np.column_stack([noise.weighed(column) for column in stretches.T])
        changes = np.diff(np.eye(count + 1)[1:], axis=0)
        information, roughness = stretches.T @ told, changes.T @ changes
        rough, ways = eigh(roughness, information)
        rough = np.where(rough > FREE * max(rough[-1], FREE), rough, 0.0)
        return cls(noise, stretches, information, roughness, ways, rough)

    def trend(self, raw: Floats, *, rises: bool) -> Floats:
        """The trend of one number; where it cannot fall, the nearest that does not."""
        told = self.stretches.T @ self.noise.weighed(np.diff(raw, prepend=0))
        seen = self.ways.T @ told
        variance = _likeliest(self.rough, seen)
        growth = self.ways @ (seen * variance / (variance + self.rough))
        if rises and growth.min() < 0:
            root = cholesky(self.information + self.roughness / variance)
            precision = Precision(np.zeros(len(root)), (Part(0, root),))
            growth = nearest_news(precision, growth)
        return np.asarray(np.cumsum(self.stretches @ growth))


def _likeliest(rough: Floats, seen: Floats) -> float:
    """The variance of growth under which what was seen is most likely.

    In these coordinates noise has the variance 1 and growth `variance`/rough, independently.
    """
    walks = rough > 0
    if not walks.any():
        return 1.0
    tried = RATIOS * float(np.median(rough[walks]))
    spread = 1 + tried[:, None] / rough[walks]
    unlikely = (np.log(spread) + seen[walks] ** 2 / spread).sum(axis=1)
    return float(tried[unlikely.argmin()])
