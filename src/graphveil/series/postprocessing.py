"""Post-processing: what may be published beside the raw values, at no cost in privacy.

Everything here is a function of published numbers and of public facts, so it spends nothing.
The raw value is unbiased and processed ones are not: they stand beside it, never in its place.
Two tempting ideas are left out because they can hurt: clipping noisy increments at zero, and
the running maximum. `docs/postprocessing.md` shows by how much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Protocol, TypeAlias

from graphveil.deferred import np
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Values: TypeAlias = "NDArray[np.float64]"
# Stretches of equal fitted values, the last one first: its sum, its length, and those before it.
Stretches: TypeAlias = "tuple[float, int, Stretches] | None"


class StatisticFacts(Protocol):
    """The public facts about a statistic that its published numbers are estimated with."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def monotone(self) -> bool:
        """Whether its totals can never fall."""

    @property
    def vector(self) -> bool:
        """Whether a release has one number per degree."""

    @property
    def cumulative(self) -> bool:
        """Whether the numbers of a vector never rise with the degree."""


@dataclass(frozen=True)
class AnnouncedFacts:
    """The same as a ledger states them, of a statistic that is not installed here."""

    name: str
    monotone: bool
    vector: bool
    cumulative: bool


@dataclass(frozen=True)
class Processed:
    """What may be published beside the raw values of a series.

    Attributes:
        values: one row per release; the shape of the raw history.
        histogram: for a degree CCDF, how many nodes have exactly each degree.
        done: what was done, for readers.
    """

    values: Values
    done: str
    histogram: Values | None = None


def clipped(raw: ArrayLike, lowest: float = 0, highest: float | None = None) -> Values:
    """Values moved into the range in which the truth is known to lie.

    Guarantees: no value is farther from a truth within the range than it was.
    """
    if highest is not None and highest < lowest:
        raise ParameterError("highest", f"must be at least {lowest}")
    return np.clip(np.asarray(raw, dtype=np.float64), lowest, highest)


def online_isotonic(raw: ArrayLike) -> Values:
    """For every step t, the largest mean of raw values over s..t: the end of the best fit so far.

    It looks at the past only and revises nothing; hence it may fall from step to step, though
    every value is the end of a rising fit. Tables are treated column by column.
    """
    return _by_column(raw, _ends)


def refitted(raw: ArrayLike) -> Values:
    """The non-decreasing history that is nearest to the raw one, in squares.

    Guarantees: the sum of squared errors over the history never grows, if the truth never
    falls. Earlier values change when later ones are known.
    """
    return _by_column(raw, _fit)


def monotone_in_degree(raw: ArrayLike) -> Values:
    """Each row as the nearest one that never rises with the degree.

    Guarantees: no row is farther, in squares, from a truth that never rises.
    """
    return -refitted(-np.asarray(raw, dtype=np.float64).T).T


def monotone_ccdf(raw: ArrayLike, *, online: bool) -> Values:
    """A degree CCDF, (releases, degrees), that is consistent in degree, in time and in sign.

    First each row is fitted over the degrees, then each column over time, then all is clipped
    at 0. Fitting over time keeps the order of columns, because a fit of larger values is
    larger: so no second round is needed, and every row ends up non-increasing.

    Guarantees: refitted (`online=False`), the table never falls over time either, and its sum
    of squared errors is never more than the raw one's: each of the three is a projection onto
    a convex set that holds the truth.
    """
    in_degree = monotone_in_degree(raw)
    in_time = online_isotonic(in_degree) if online else refitted(in_degree)
    # Only the last bit of a float can still rise with the degree; no bin may show that.
    return clipped(np.minimum.accumulate(in_time, axis=1))


def histogram_of(ccdf: ArrayLike) -> Values:
    """How many nodes have exactly each degree; no bin is negative if no row of `ccdf` rises."""
    table = np.asarray(ccdf, dtype=np.float64)
    return table - np.pad(table[..., 1:], [(0, 0)] * (table.ndim - 1) + [(0, 1)])


def processed(
    statistic: StatisticFacts,
    raw_history: ArrayLike,
    *,
    online: bool = True,
    highest: float | None = None,
) -> Processed:
    """What is admissible for this statistic, applied to all of its raw values so far.

    Args:
        statistic: decides what is known about the truth: whether it can fall, its shape.
        raw_history: the raw values of all releases so far, (releases,) or (releases, degrees).
        online: keep to what each step could know; otherwise refit the whole history.
        highest: a public upper bound of every number, such as the size of the population.
    """
    raw = np.asarray(raw_history)
    if raw.ndim != (2 if statistic.vector else 1):
        shape = "one row of numbers" if statistic.vector else "one number"
        raise ParameterError("raw_history", f"must have {shape} per release of {statistic.name}")
    clip = "clipped at 0" if highest is None else f"clipped to 0..{highest:g}"
    if not statistic.monotone and not statistic.cumulative:
        return Processed(clipped(raw, 0, highest), clip)
    if not statistic.monotone:
        falling = np.minimum.accumulate(monotone_in_degree(raw), axis=1)  # to the last bit
        falling = clipped(falling, 0, highest)
        return Processed(falling, f"falling in degree, {clip}", histogram_of(falling))
    order = "each value ends a rising fit of those before it" if online else "refitted to rise"
    if not statistic.cumulative:
        fit = online_isotonic(raw) if online else refitted(raw)
        return Processed(clipped(fit, 0, highest), f"{order}, {clip}")
    table = clipped(monotone_ccdf(raw, online=online), 0, highest)
    return Processed(table, f"falling in degree, {order}, {clip}", histogram_of(table))


@dataclass(frozen=True)
class Processing:
    """Online processing: what `processed` gives for the newest release, one release at a time.

    A value: taking a release gives another one, at the cost of that release alone.

    Attributes:
        statistic: decides what is known about the truth.
        done: what is done, for readers.
        fits: the rising fit of each number so far.
    """

    statistic: StatisticFacts
    done: str
    fits: tuple[Stretches, ...]

    @classmethod
    def of(
        cls, statistic: StatisticFacts, width: int, history: Iterable[Sequence[int]] = ()
    ) -> Processing:
        """After the releases of a history, each of `width` numbers."""
        nothing = np.zeros((0, width) if statistic.vector else 0)
        under_way = cls(statistic, processed(statistic, nothing).done, (None,) * width)
        return replace(under_way, fits=reduce(under_way._fitted, history, under_way.fits))

    def take(self, raw: Sequence[int]) -> tuple[tuple[float, ...], Processing]:
        """The values published beside a new release, and the processing for later ones."""
        if not self.statistic.monotone:
            row = processed(self.statistic, [raw] if self.statistic.vector else raw).values
            return tuple(row.ravel().tolist()), self
        after = replace(self, fits=self._fitted(self.fits, raw))
        ends = np.array([_mean(fit) for fit in after.fits])
        if self.statistic.cumulative:
            ends = np.minimum.accumulate(ends)
        return tuple(clipped(ends).tolist()), after

    def _fitted(self, fits: tuple[Stretches, ...], raw: Sequence[int]) -> tuple[Stretches, ...]:
        """The fits with one more release."""
        if not self.statistic.monotone:
            return fits
        numbers = list(map(float, raw))
        if self.statistic.cumulative:
            numbers = monotone_in_degree([numbers])[0].tolist()
        return tuple(_pooled(fit, value) for fit, value in zip(fits, numbers, strict=True))


def _by_column(raw: ArrayLike, fit: Callable[[Sequence[float]], list[float]]) -> Values:
    values = np.asarray(raw)
    if values.ndim == 1:
        return np.array(fit(values.tolist()))
    columns = [fit(column) for column in values.T.tolist()]
    return np.array(columns).reshape(values.shape[::-1]).T


def _ends(values: Sequence[float]) -> list[float]:
    """The last fitted value of the fit to every beginning of `values`."""
    fit: Stretches = None
    ends: list[float] = []
    for value in values:
        fit = _pooled(fit, value)
        ends.append(_mean(fit))
    return ends


def _fit(values: Sequence[float]) -> list[float]:
    """The non-decreasing fit with the least squares."""
    fit: Stretches = None
    for value in values:
        fit = _pooled(fit, value)
    fitted: list[float] = []
    while fit is not None:
        fitted += [_mean(fit)] * fit[1]
        fit = fit[2]
    return fitted[::-1]


def _pooled(fit: Stretches, value: float) -> Stretches:
    """The fit with one more value: the last stretches are merged while their means do not rise."""
    total, length = value, 1
    while fit is not None and fit[0] * length >= total * fit[1]:
        total, length, fit = total + fit[0], length + fit[1], fit[2]
    return total, length, fit


def _mean(fit: Stretches) -> float:
    """The last fitted value."""
    assert fit is not None, "nothing was fitted"
    return fit[0] / fit[1]
