"""The covariance of the noise in all releases of a series, from its plan alone.

What is new at each step often has simpler noise than the totals: its precision, the inverse of the
covariance, is a diagonal and a few rows for every factorisation of that form. So it is stored in
that form, in which ten years of days cost only a few products
(`docs/revisions.md#the-noise-of-a-whole-history`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from graphveil.mechanisms.factorisations.bordered import Bordered
from graphveil.mechanisms.mechanism import Epoch
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import JointLaw
from graphveil.noise.noise_sum import ROUNDING_VARIANCE

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
LEAST = (
    1e-9  # the variance of a noise that is hardly ever anything but 0, so that it has an inverse
)


def covariance(plan: Plan, steps: int) -> Floats:
    """The covariance matrix of the noise in the first `steps` releases of each number.

    Rounding to whole numbers adds 1/12 to each variance, where there is any.
    """
    found = np.zeros((steps, steps))
    carried = 0.0
    for first, epoch in _epochs(plan, steps):
        here = slice(first, min(first + epoch.steps, steps))
        made = here.stop - first
        own = own_covariance(epoch)
        rounded = ~epoch.factorisation.integral_steps()[:made]
        found[here, here] = carried + own[:made, :made] + np.diag(ROUNDING_VARIANCE * rounded)
        if plan.mechanism.adds_up:  # what an epoch leaves is in all later releases
            left = carried + own[:made, epoch.steps - 1]
            found[here, here.stop :] = left[:, None]
            found[here.stop :, here] = left
            carried += float(own[epoch.steps - 1, epoch.steps - 1])
    return found


def own_covariance(epoch: Epoch) -> Floats:
    """Of the noise that an epoch adds to its own steps."""
    rows = epoch.factorisation.decoder()[: epoch.steps]
    if not isinstance(epoch.law, JointLaw):
        return np.asarray(_variance(epoch) * (rows @ rows.T))
    single, shared = _spread(epoch.law)
    sums = rows.sum(axis=1)
    return np.asarray((single - shared) * (rows @ rows.T) + shared * np.outer(sums, sums))


def _variance(epoch: Epoch) -> float:
    return max(epoch.single_law.variance(), LEAST)


def _spread(law: JointLaw) -> tuple[float, float]:
    single, shared = law.spread()
    return max(single, LEAST), shared


def has_noise_of_its_own(plan: Plan, steps: int) -> bool:
    """Whether the noise of each release is independent of all others."""
    if plan.mechanism.adds_up:
        return False
    distinct: list[Epoch] = []
    for _, epoch in _epochs(plan, steps):
        if not distinct or epoch != distinct[-1]:
            distinct.append(epoch)
    return not any(np.any(np.tril(own_covariance(each), -1)) for each in distinct)


def _epochs(plan: Plan, steps: int) -> Iterator[tuple[int, Epoch]]:
    """The epochs of the first steps, each with the step at which it begins."""
    first = 0
    for number in count():
        if first >= steps:
            return
        epoch = plan.epoch(number)
        yield first, epoch
        first += epoch.steps


@dataclass(frozen=True, eq=False)
class Part:
    """A matrix GᵀG on some steps in a row.

    Attributes:
        first: the first of them.
        rows: G, (rows, steps).
    """

    first: int
    rows: Floats

    @property
    def place(self) -> slice:
        """The steps that it is about."""
        return slice(self.first, self.first + self.rows.shape[1])


@dataclass(frozen=True, eq=False)
class Precision:
    """A positive definite matrix: a diagonal and, on some stretches, GᵀG more.

    Attributes:
        diagonal: one entry per step; 0 where a part has as many rows as steps.
        parts: on stretches that do not overlap.
    """

    diagonal: Floats
    parts: tuple[Part, ...]

    def times(self, values: Floats) -> Floats:
        """The product with a vector."""
        product = self.diagonal * values
        for part in self.parts:
            product[part.place] += part.rows.T @ (part.rows @ values[part.place])
        return product

    def solved(self, free: Mask, wanted: Floats) -> Floats:
        """The vector that is 0 outside `free`, and whose product is `wanted` inside."""
        with np.errstate(divide="ignore", invalid="ignore"):
            solution = np.where(free, wanted / self.diagonal, 0.0)
        for part in self.parts:
            inside = free[part.place]
            rows, diagonal = part.rows[:, inside], self.diagonal[part.place][inside]
            solution[part.place][inside] = _solved(diagonal, rows, wanted[part.place][inside])
        return solution


def _solved(diagonal: Floats, rows: Floats, wanted: Floats) -> Floats:
    """The solution of (diagonal + GᵀG)·x = wanted, by whichever way is shorter."""
    if rows.shape[0] >= rows.shape[1]:
        return np.asarray(np.linalg.solve(np.diag(diagonal) + rows.T @ rows, wanted))
    scaled = rows / diagonal
    small = np.eye(len(rows)) + scaled @ rows.T
    plain = wanted / diagonal
    return np.asarray(plain - scaled.T @ np.linalg.solve(small, rows @ plain))


def news_precision(plan: Plan, steps: int) -> Precision:
    """The precision of the noise in what is new at each of the first steps.

    At the first of them, everything is new. Rounding is left out.
    """
    diagonal, parts = np.zeros(steps), []
    known: tuple[Epoch, int] | None = None  # there may be thousands of a single step
    for first, epoch in _stretches(plan, steps):
        made = min(epoch.steps, steps - first)
        if known != (epoch, made):
            known, (own, rows) = (epoch, made), _of_news(epoch, made)
        diagonal[first : first + made] = own
        if len(rows):
            parts.append(Part(first, rows))
    return Precision(diagonal, tuple(parts))


def _stretches(plan: Plan, steps: int) -> Iterator[tuple[int, Epoch]]:
    """Epochs whose news have independent noise: all, where it adds up."""
    assert plan.mechanism.adds_up, "the noise of totals is not simpler in what is new"
    return _epochs(plan, steps)


def _of_news(epoch: Epoch, made: int) -> tuple[Floats, Floats]:
    """Diagonal and rows of the precision of an epoch's first news."""
    factorisation = epoch.factorisation
    if isinstance(epoch.law, JointLaw) and factorisation.measurements == factorisation.steps:
        return _exchangeable(*_spread(epoch.law), made)
    if isinstance(factorisation, Bordered) and not isinstance(epoch.law, JointLaw):
        return _bordered(factorisation, _variance(epoch), made)
    return np.zeros(made), precision_rows(own_covariance(epoch)[:made, :made])


def _exchangeable(single: float, shared: float, made: int) -> tuple[Floats, Floats]:
    """Noises of one variance, each pair with one covariance, which is at most 0."""
    own = single - shared
    weight = -shared / (own * (own + made * shared))
    return np.full(made, 1 / own), np.full((int(weight > 0), made), sqrt(max(weight, 0.0)))


def _bordered(found: Bordered, variance: float, made: int) -> tuple[Floats, Floats]:
    """Of a least-squares decoder: D² + EᵀE, and EᵀS⁻¹E where later steps are not yet known.

    S = I + E·D⁻²·Eᵀ over these later steps.
    """
    diagonal = np.array(found.diagonal, dtype=np.float64)
    rows = np.array(found.rows, dtype=np.float64).reshape(len(found.rows), found.steps)
    begun = np.any(rows[:, :made], axis=1)
    rows = rows[begun]
    later = rows[:, made:] / diagonal[made:]
    root = np.linalg.cholesky(np.eye(len(rows)) + later @ later.T)
    seen = np.linalg.solve(root, rows[:, :made])
    return diagonal[:made] ** 2 / variance, seen / sqrt(variance)


def precision_rows(totals: Floats) -> Floats:
    """G, with GᵀG the precision of what is new, from the covariance of the totals."""
    news = np.diff(np.diff(totals, axis=0, prepend=0), axis=1, prepend=0)
    root = np.linalg.cholesky(news)
    return np.asarray(np.linalg.inv(root))
