"""The observer of an audit: learns to distinguish neighbouring inputs by their published series.

It knows both inputs, sees whole series, and learns from runs with known answers how to weigh
them. It does not trust what a mechanism says about its own noise, so that it also profits
from faults. Three views of a series are tried, and all of them together:

- *increments*, each cut off at the two values it would have without noise. Weighed rightly
  this is the exact likelihood ratio where fresh Laplace noise falls on every difference;
- *totals*, cut off likewise: the same where fresh noise falls on every total;
- *a line* through all totals, with the weights that separate the sides best under
  correlated noise: the likelihood ratio of Gaussian noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Outputs: TypeAlias = NDArray[np.int64]  # (runs, steps, width)
Table: TypeAlias = NDArray[np.float64]
VIEWS: tuple[tuple[str, ...], ...] = (
    ("line",),
    ("increments",),
    ("totals",),
    ("increments", "totals", "line"),
)
ROUNDS = 2  # of Newton's method: the sides overlap so much that more change little
RIDGE = 1e-6  # against views that are constant or equal to each other


@dataclass(frozen=True)
class Observer:
    """A learnt score: high for the larger of two sequences, low for the smaller.

    Attributes:
        larger: the true totals of the larger sequence, (steps, width).
        smaller: those of the smaller.
        line: the weights of the totals in the view called *line*.
        views: which views are used.
        weights: the weight of each column of those views.
    """

    larger: Outputs
    smaller: Outputs
    line: Table
    views: tuple[str, ...]
    weights: Table

    def scores(self, outputs: Outputs) -> Table:
        """One number per run."""
        return _columns(outputs, self.larger, self.smaller, self.line, self.views) @ self.weights


def learn(
    larger: Outputs, smaller: Outputs, runs_larger: Outputs, runs_smaller: Outputs
) -> list[Observer]:
    """One observer per choice of views, each trained on the same runs of both sides."""
    line = _line(larger, smaller, runs_larger, runs_smaller)

    def trained(views: tuple[str, ...]) -> Observer:
        first, second = (
            _columns(runs, larger, smaller, line, views) for runs in (runs_larger, runs_smaller)
        )
        return Observer(larger, smaller, line, views, _logistic(first, second))

    return [trained(views) for views in VIEWS]


def _columns(
    outputs: Outputs, larger: Outputs, smaller: Outputs, line: Table, views: tuple[str, ...]
) -> Table:
    """The views of each run side by side, around the middle between the two sides."""
    error = outputs - (larger + smaller) / 2
    apart = (larger - smaller).astype(np.float64)
    made = {
        "increments": lambda: _cut(_increments(error, axis=1), _increments(apart, axis=0)),
        "totals": lambda: _cut(error, apart),
        "line": lambda: error.reshape(len(error), -1) @ line[:, None],
    }
    return np.hstack([made[view]() for view in views])


def _increments(totals: Table, axis: int) -> Table:
    return np.diff(totals, axis=axis, prepend=0)


def _cut(error: Table, apart: Table) -> Table:
    """Only the numbers that differ between the sides, cut off at what either side would say."""
    differs = apart != 0
    reach = np.abs(apart[differs]) / 2
    return np.clip(error[:, differs], -reach, reach)


def _line(larger: Outputs, smaller: Outputs, first: Outputs, second: Outputs) -> Table:
    """Fisher's direction: the inverse covariance of the errors times the shift."""
    errors = np.vstack(
        [(first - larger).reshape(len(first), -1), (second - smaller).reshape(len(second), -1)]
    ).astype(np.float64)  # products of whole numbers are slow
    covariance = errors.T @ errors / len(errors)
    ridge = RIDGE * np.trace(covariance) / len(covariance) + RIDGE
    shift = (larger - smaller).astype(np.float64).ravel()
    return np.linalg.solve(covariance + ridge * np.eye(len(covariance)), shift)


def _logistic(first: Table, second: Table) -> Table:
    """Weights of the columns that best predict the side, by Newton's method."""
    columns = np.vstack([first, second])
    scale = columns.std(axis=0) + RIDGE
    columns = np.hstack([columns / scale, np.ones((len(columns), 1))])
    side = np.repeat([1.0, 0.0], [len(first), len(second)])
    weights = np.zeros(columns.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        slope = columns.T @ (side - chance) - RIDGE * weights
        curve = (columns * (chance * (1 - chance))[:, None]).T @ columns
        weights += np.linalg.solve(curve + RIDGE * len(columns) * np.eye(len(weights)), slope)
    return np.asarray(weights[:-1] / scale)
