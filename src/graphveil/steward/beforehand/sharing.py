"""Sharing: who gets how much of a budget, and what another share would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.steward.beforehand.outlook import Outlook
    from graphveil.steward.beforehand.wishes import SeriesWish
    from graphveil.study import Promise


@dataclass(frozen=True)
class Share:
    """The share of a series, with the error that it keeps small by it.

    Attributes:
        series: its name.
        epsilon: the share, as text; None in a pool.
        pool: the share of the pool, as text; None of a series with an ε of its own.
        minimise: which error that is.
        error: how large it will be.
        more: the same for a fifth more.
        less: the same for a fifth less.
        part: the error as a part of the size that is expected; None where none is.
    """

    series: str
    epsilon: str | None
    pool: str | None
    minimise: str
    error: float
    more: float
    less: float
    part: float | None

    @property
    def share(self) -> str:
        """What it gets, for people."""
        return self.epsilon or f"{self.pool} of the pool"

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "series": self.series,
            "epsilon": self.epsilon,
            "pool": self.pool,
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
        pool: what those in a pool have together, and what more or less of it would do, in
            sentences; None if there is no pool.
    """

    how: str
    shares: tuple[Share, ...]
    pool: str | None = None

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        shares = [each.as_data() for each in self.shares]
        return {"how": self.how, "pool": self.pool, "series": shares}


def shared(promise: Promise, wishes: Sequence[SeriesWish]) -> Promise:
    """The study in which series that named no share split the same ε in the best way.

    Only where the sizes of all of them are expected: others keep their equal shares.
    """
    from graphveil.noise.exact_numbers import as_text
    from graphveil.planning.best_split import best_split
    from graphveil.planning.shares import checked
    from graphveil.steward.beforehand.pools import error_curve, has_risk_to_share, pooled, series_of

    require_purpose(wishes)
    asking = _asking(wishes)
    if len(asking) < 2 or _unsized(asking):
        return promise
    if has_risk_to_share(promise, asking):
        return pooled(promise, asking, _weights(asking))
    series = series_of(promise, asking)
    total = sum((each.price[0] for each in series), Fraction())
    curves = [error_curve(promise, each) for each in series]
    shares = checked(best_split(total, curves, _weights(asking)), total)
    found = {each.name: as_text(share) for each, share in zip(series, shares, strict=True)}
    return promise.with_shares({name: {"epsilon": share} for name, share in found.items()})


def _weights(wishes: Sequence[SeriesWish]) -> list[float]:
    """What an error of 1 of each series counts in the sum that is minimised."""
    from graphveil.planning.shares import positive

    return [float(positive("weight", wish.weight or 1) / (wish.expected or 1)) for wish in wishes]


def sharing(outlooks: Sequence[Outlook], wishes: Sequence[SeriesWish]) -> Sharing | None:
    """How the series that named no share came to theirs; None if there are not two of them."""
    from graphveil.steward.beforehand.pools import told

    asking = _asking(wishes)
    if len(asking) < 2:
        return None
    names = [each.called for each in asking]
    found = [each for each in outlooks if each.series.name in names]
    shares = tuple(share_of(each) for each in found)
    return Sharing(_how(asking, found), shares, told(found))


def share_of(outlook: Outlook) -> Share:
    """The share of a series, with what another one would do."""
    from graphveil.steward.beforehand.pools import A_FIFTH, error_curve, other_shares

    series = outlook.series
    if series.pool is None:
        curve = error_curve(outlook.promise, series, outlook.first_step)
    else:
        curve = other_shares(outlook.plan)
    now = Fraction(series.pool or series.epsilon or 0)
    error = curve(now)
    return Share(
        series=series.name,
        epsilon=series.epsilon,
        pool=series.pool,
        minimise=str(outlook.plan.request.minimise),
        error=error,
        more=curve(now * (1 + A_FIFTH)),
        less=curve(now * (1 - A_FIFTH)),
        part=None if series.expected is None else error / series.expected,
    )


def _how(asking: Sequence[SeriesWish], outlooks: Sequence[Outlook]) -> str:
    from graphveil.noise.exact_numbers import as_text

    pool = outlooks[0].promise.budget.pool
    spent = sum((each.series.price[0] for each in outlooks), Fraction())
    if pool is not None and any(each.series.pool is not None for each in outlooks):
        spent += pool.price[0]
    total = as_text(spent)
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
    return [each for each in wishes if each.names_no_share]


def _unsized(wishes: Sequence[SeriesWish]) -> list[str]:
    return [each.called for each in wishes if each.expected is None]


def require_purpose(wishes: Sequence[SeriesWish]) -> None:
    """Refuse a weight that would have no effect."""
    asking = _asking(wishes)
    for each in wishes:
        if each.weight is None:
            continue
        if not each.names_no_share:
            problem = f"of series '{each.called}' has no use: its share of ε is given"
            raise ParameterError("weight", problem, hint="Leave one of the two out.")
        if unsized := _unsized(asking):
            problem = f"needs an expected size of every series; {', '.join(unsized)[:80]} has none"
            raise ParameterError("weight", problem, hint="Give --expected SERIES=N for each.")
