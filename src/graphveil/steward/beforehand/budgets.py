"""Budgets: the error of each series for less ε and for more, to decide on a total beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from graphveil.graph.promises.bound import Bound
    from graphveil.planning.plan import Plan
    from graphveil.planning.usefulness import Judgement
    from graphveil.steward.beforehand.outlook import Outlook
    from graphveil.steward.beforehand.wishes import SeriesWish

LEADING = ("1", "1.5", "2", "3", "5", "7")  # digits of the totals that are tried
WIDEST = 10**6  # by how much the largest total may exceed the smallest
SCALED = "Every series keeps its part of the total, as in the study file."
BEST = "Each total is split in the best way for the sizes that are expected."
EQUAL = "Each total is split equally; with --expected for each series, in the best way."
ALONE = "The series takes all."


@dataclass(frozen=True)
class SeriesAtPrice:
    """What a series would be like for some ε.

    Attributes:
        name: of the series.
        epsilon: its share of the total.
        std: the predicted standard deviation at the last release.
        expected: a public guess of the number's size, if there is one.
    """

    name: str
    epsilon: Fraction
    std: float
    expected: int | None

    @property
    def judgement(self) -> Judgement | None:
        """What the noise leaves of the size that is expected."""
        from graphveil.planning.usefulness import Judgement

        return None if self.expected is None else Judgement(self.std, self.expected)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        from graphveil.noise.exact_numbers import as_text

        found = self.judgement
        return {
            "series": self.name,
            "epsilon": as_text(self.epsilon),
            "last_std": self.std,
            "expected": self.expected,
            "relative_error": found.share if found else None,
            "usefulness": str(found.word) if found else None,
        }


@dataclass(frozen=True)
class Budget:
    """A total ε with what every series would get for it."""

    total: Fraction
    series: tuple[SeriesAtPrice, ...]


@dataclass(frozen=True)
class Budgets:
    """The errors for totals from small to large.

    Attributes:
        title: what it is about.
        how: a total is split, in a sentence.
        budgets: one for each total.
    """

    title: str
    how: str
    budgets: tuple[Budget, ...]

    @property
    def sized(self) -> bool:
        """Whether a size is expected of every series."""
        return all(each.expected is not None for each in self.budgets[0].series)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        from graphveil.noise.exact_numbers import as_text

        return {
            "title": self.title,
            "spent": False,
            "shares": self.how,
            "budgets": [
                {
                    "epsilon": as_text(each.total),
                    "series": [series.as_data() for series in each.series],
                }
                for each in self.budgets
            ],
        }


def read_range(text: str) -> tuple[Fraction, Fraction]:
    """The smallest and the largest total of LOW:HIGH."""
    from graphveil.noise.exact_numbers import exact

    low, colon, high = text.partition(":")
    if not colon:
        raise ParameterError("budget", f"must be LOW:HIGH, such as 0.1:10, not '{text[:40]}'")
    lowest, highest = exact("budget", low.strip()), exact("budget", high.strip())
    if not 0 < lowest < highest <= WIDEST * lowest:
        raise ParameterError("budget", "must go from above 0 to more, at most a millionfold")
    return lowest, highest


def totals(low: Fraction, high: Fraction) -> list[Fraction]:
    """Round numbers from low to high, evenly on a logarithmic scale, and both ends."""
    return sorted({low, high, *(each for each in _round(low, high) if low < each < high)})


def _round(low: Fraction, high: Fraction) -> Iterator[Fraction]:
    power = Fraction(1)
    while power > low:
        power /= 10
    while power <= high:
        yield from (Fraction(digits) * power for digits in LEADING)
        power *= 10


@dataclass(frozen=True)
class _Contender:
    """A series that takes part: how it is planned for an ε, its size and its weight."""

    name: str
    planned: Callable[[Fraction], Plan]
    expected: int | None
    weight: Fraction = Fraction(1)

    def error(self, epsilon: Fraction) -> float:
        from graphveil.planning.spans import achieved

        return achieved(self.planned(epsilon))

    def at(self, epsilon: Fraction) -> SeriesAtPrice:
        return SeriesAtPrice(self.name, epsilon, self.planned(epsilon).last_std, self.expected)


def study_budgets(
    folder: Path, low: Fraction, high: Fraction, sizes: Mapping[str, int] | None = None
) -> Budgets:
    """The series of a study, if it had another total; every one keeps its part of it."""
    from graphveil.steward.beforehand.outlook import study_outlook

    found = study_outlook(folder)
    known = [each.name for each in found.promise.series]
    for name in (sizes or {}).keys() - set(known):
        raise ParameterError("expected", f"there is no series '{name[:64]}'")
    outlooks = found.expecting(sizes or {}).series
    prices = [Fraction(each.series.epsilon) for each in outlooks]
    spent = sum(prices, Fraction())
    budgets = [
        Budget(
            total,
            tuple(
                _of_study(each).at(total * price / spent)
                for each, price in zip(outlooks, prices, strict=True)
            ),
        )
        for total in totals(low, high)
    ]
    return Budgets(found.promise.title, SCALED, tuple(budgets))


def _of_study(outlook: Outlook) -> _Contender:
    from graphveil.study.course.opening import series_plan

    series = outlook.series

    def planned(epsilon: Fraction) -> Plan:
        return series_plan(
            outlook.promise, series.costing(epsilon, series.horizon), outlook.first_step
        )

    return _Contender(series.name, planned, series.expected)


def series_budgets(
    wishes: Sequence[tuple[SeriesWish, Bound]],
    low: Fraction,
    high: Fraction,
    *,
    horizon: int | None,
    delta: str | None = None,
    minimise: str | None = None,
) -> Budgets:
    """Series that share each total in the best way, or equally if a size is missing.

    Args:
        wishes: the series, each with what is promised about links.
        low: the smallest total.
        high: the largest.
        horizon: how many releases there will be, of series that do not say it.
        delta: the probability of a loss above ε, of which each may use an equal part.
        minimise: which error is to be small, in series that do not say it.
    """
    from graphveil.noise.exact_numbers import exact_delta

    risk = None if delta is None else exact_delta(delta) / len(wishes)
    contenders = [_contender(*each, risk, horizon, minimise) for each in wishes]
    names = [each.name for each in contenders]
    if len(set(names)) < len(names):
        raise ParameterError("series", "two have the same name", hint="Write edges=NAME.")
    budgets = [
        Budget(total, tuple(each.at(share) for each, share in zip(contenders, shares, strict=True)))
        for total, shares in _splits(contenders, low, high)
    ]
    how = ALONE if len(names) == 1 else BEST if _sized(contenders) else EQUAL
    length = "with no fixed end" if horizon is None else f"over {horizon} releases"
    return Budgets(f"{', '.join(names)} {length}", how, tuple(budgets))


def _contender(
    wish: SeriesWish,
    bound: Bound,
    risk: Fraction | None,
    horizon: int | None,
    minimise: str | None,
) -> _Contender:
    """Refuses a share of its own, and sizes and weights that are none."""
    from graphveil.factorisations.objectives import DEFAULT
    from graphveil.planning.planner import plan
    from graphveil.planning.shares import positive
    from graphveil.planning.usefulness import Judgement
    from graphveil.statistics.statistic import statistic

    if wish.epsilon is not None:
        raise ParameterError("budget", f"'{wish.called}' has a share of its own", hint="Drop @E.")
    if wish.expected is not None:
        Judgement(0.0, wish.expected)  # refuses what is no size
    planned = partial(
        plan,
        statistic(wish.statistic, **wish.parameters),
        bound,
        delta=wish.delta or risk,
        horizon=wish.horizon or horizon,
        mechanism=wish.mechanism or "auto",
        projection=threshold_of(wish),
        minimise=wish.minimise or minimise or DEFAULT,
    )
    return _Contender(
        wish.called,
        lambda epsilon: planned(epsilon=epsilon),
        wish.expected,
        positive("weight", 1 if wish.weight is None else wish.weight),
    )


def threshold_of(wish: SeriesWish) -> Bound | None:
    """The threshold of a series that projects, as a bound."""
    from graphveil.graph.promises.bound import DegreeBound, InOutBound

    if wish.projection is None or isinstance(wish.projection, int):
        return None if wish.projection is None else DegreeBound(wish.projection)
    return InOutBound(*wish.projection)


def _sized(contenders: Sequence[_Contender]) -> bool:
    return all(each.expected is not None for each in contenders)


def _splits(
    contenders: Sequence[_Contender], low: Fraction, high: Fraction
) -> Iterator[tuple[Fraction, tuple[Fraction, ...]]]:
    """Every total with its shares."""
    from graphveil.planning.best_split import best_split, known_between
    from graphveil.planning.shares import checked, equal_shares

    if not _sized(contenders):
        yield from ((each, equal_shares(each, len(contenders))) for each in totals(low, high))
        return
    curves = [known_between(each.error, low, high) for each in contenders]
    weights = [float(each.weight / (each.expected or 1)) for each in contenders]
    for total in totals(low, high):
        yield total, checked(best_split(total, curves, weights, worth=1.0), total)
