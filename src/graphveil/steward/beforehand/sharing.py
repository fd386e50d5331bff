"""Sharing: who gets how much of a budget, and what another share would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.planning.best_split import Curve
    from graphveil.steward.beforehand.outlook import Outlook
    from graphveil.steward.beforehand.wishes import SeriesWish
    from graphveil.study import Promise, SeriesPromise

A_FIFTH = Fraction(1, 5)  # by which shares are changed to show what that would do


@dataclass(frozen=True)
class Share:
    """The share of a series, with the error that it keeps small by it.

    Attributes:
        series: its name.
        epsilon: the share, as text.
        minimise: which error that is.
        error: how large it will be.
        more: the same for a fifth more.
        less: the same for a fifth less.
        part: the error as a part of the size that is expected; None where none is.
    """

    series: str
    epsilon: str
    minimise: str
    error: float
    more: float
    less: float
    part: float | None

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "series": self.series,
            "epsilon": self.epsilon,
            "minimise": self.minimise,
            "error": self.error,
            "part_of_expected": self.part,
            "with_a_fifth_more": self.more,
            "with_a_fifth_less": self.less,
        }


@dataclass(frozen=True)
class Sharing:
    """The shares of series that named none.

    Attributes:
        how: they were chosen, in a sentence.
        shares: one for each of them.
    """

    how: str
    shares: tuple[Share, ...]

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {"how": self.how, "series": [each.as_data() for each in self.shares]}


def shared(promise: Promise, wishes: Sequence[SeriesWish]) -> Promise:
    """The study in which series that named no share split the same ε in the best way.

    Only where the sizes of all of them are expected: others keep their equal shares.
    """
    from graphveil.noise.exact_numbers import as_text

    require_purpose(wishes)
    asking = _asking(wishes)
    if len(asking) < 2 or _unsized(asking):
        return promise
    names = [each.called for each in asking]
    open_ones = [each for each in promise.series if each.name in names]
    found = zip(names, _best(promise, open_ones, asking), strict=True)
    shares = {name: {"epsilon": as_text(share)} for name, share in found}
    series = (each.model_copy(update=shares.get(each.name, {})) for each in promise.series)
    return promise.model_copy(update={"series": tuple(series)})


def _best(
    promise: Promise, series: Sequence[SeriesPromise], wishes: Sequence[SeriesWish]
) -> tuple[Fraction, ...]:
    from graphveil.planning.best_split import best_split
    from graphveil.planning.shares import checked, positive

    weights = [
        float(positive("weight", wish.weight or 1) / (wish.expected or 1)) for wish in wishes
    ]
    total = sum((Fraction(each.epsilon) for each in series), Fraction())
    curves = [error_curve(promise, each) for each in series]
    return checked(best_split(total, curves, weights), total)


def error_curve(promise: Promise, series: SeriesPromise, first_step: int = 0) -> Curve:
    """The predicted error that a series keeps small, for other shares than it has."""
    from graphveil.planning.spans import achieved
    from graphveil.study.course.opening import series_plan

    def error(epsilon: Fraction) -> float:
        at_this_price = series.costing(epsilon, series.horizon)
        return achieved(series_plan(promise, at_this_price, first_step))

    return error


def sharing(outlooks: Sequence[Outlook], wishes: Sequence[SeriesWish]) -> Sharing | None:
    """How the series that named no share came to theirs; None if there are not two of them."""
    asking = _asking(wishes)
    if len(asking) < 2:
        return None
    names = [each.called for each in asking]
    shares = tuple(share_of(each) for each in outlooks if each.series.name in names)
    return Sharing(_how(asking, shares), shares)


def share_of(outlook: Outlook) -> Share:
    """The share of a series, with what another one would do."""
    curve = error_curve(outlook.promise, outlook.series, outlook.first_step)
    series, now = outlook.series, Fraction(outlook.series.epsilon)
    error = curve(now)
    return Share(
        series=series.name,
        epsilon=series.epsilon,
        minimise=str(outlook.plan.request.minimise),
        error=error,
        more=curve(now * (1 + A_FIFTH)),
        less=curve(now * (1 - A_FIFTH)),
        part=None if series.expected is None else error / series.expected,
    )


def _how(asking: Sequence[SeriesWish], shares: Sequence[Share]) -> str:
    from graphveil.noise.exact_numbers import as_text

    total = as_text(sum((Fraction(each.epsilon) for each in shares), Fraction()))
    if unsized := _unsized(asking):
        return (
            f"Equal shares of ε = {total}, since no size is expected of {', '.join(unsized)}; with "
            "--expected for each series, the best split is found."
        )
    weighted = ", by their weights" if any(each.weight for each in asking) else ""
    return (
        f"The best split of ε = {total} for these sizes: it has the smallest sum of errors in "
        f"percent of what is expected{weighted}. For another, give shares, such as edges@1/2."
    )


def _asking(wishes: Sequence[SeriesWish]) -> list[SeriesWish]:
    """The series that named no share."""
    return [each for each in wishes if each.epsilon is None]


def _unsized(wishes: Sequence[SeriesWish]) -> list[str]:
    return [each.called for each in wishes if each.expected is None]


def require_purpose(wishes: Sequence[SeriesWish]) -> None:
    """Refuse a weight that would have no effect."""
    asking = _asking(wishes)
    for each in wishes:
        if each.weight is None:
            continue
        if each.epsilon is not None:
            problem = f"of series '{each.called}' has no use: its share of ε is given"
            raise ParameterError("weight", problem, hint="Leave one of the two out.")
        if unsized := _unsized(asking):
            problem = f"needs an expected size of every series; {', '.join(unsized)[:80]} has none"
            raise ParameterError("weight", problem, hint="Give --expected SERIES=N for each.")
