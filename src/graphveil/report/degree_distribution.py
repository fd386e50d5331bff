"""The degree distribution in words: the mean, and how many links the better connected have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from graphveil.report import wording
from graphveil.report.estimates import Estimate, EstimatedSeries, now, wider
from graphveil.report.news import opening
from graphveil.report.ratios import newest
from graphveil.series.ratios import Number, Ratio

if TYPE_CHECKING:
    from graphveil.study.public.history import PublishedSeries
    from graphveil.study.public.public_part import PublicPart

SHARES = (
    (2, "Half of all people have"),
    (10, "One person in ten has"),
    (100, "One person in a hundred has"),
)


def distribution(series: PublishedSeries, part: PublicPart) -> list[str]:
    """Sentences about the newest release of a degree CCDF; none about anything else."""
    if not wording.is_ccdf(series) or not isinstance(series, EstimatedSeries):
        return []
    last = series.releases[-1]
    numbers = [now(series, last, place) for place in range(series.width)]
    people = _people(series, numbers, part)
    if people is None or people.low <= 0:
        return []
    quantiles = (_quantile(series, numbers, people, *share) for share in SHARES)
    return [*_mean(series, part), *quantiles]


def _people(
    series: EstimatedSeries, numbers: Sequence[Estimate], part: PublicPart
) -> Estimate | None:
    """How many people there are: at least 0 links, or a series that counts them."""
    if series.degrees[0] == 0:
        return numbers[0]
    everybody = _counting_people(series, part)
    return None if everybody is None else now(everybody, everybody.releases[-1])


def _counting_people(series: EstimatedSeries, part: PublicPart) -> EstimatedSeries | None:
    """The series that counts everybody of the same network, if there is one."""
    for each in part.series:
        counts = each.statistic == "nodes" and each.spans == series.spans
        if counts and isinstance(each, EstimatedSeries):
            return each
    return None


def _mean(series: EstimatedSeries, part: PublicPart) -> Iterator[str]:
    """Ends of links over people; where every degree is published, or the links are."""
    links = next((each for each in part.series if _counts_links(each, series)), None)
    if links is not None and (people := _counting_people(series, part)) is not None:
        both = 1 if part.promise.directed else 2
        ratio = Ratio({Number(links.series): both}, {Number(people.series): 1})
    elif series.degrees == tuple(range(series.width)):
        ends = {Number(series.series, (str(degree),)): 1 for degree in series.degrees[1:]}
        ratio = Ratio(ends, {Number(series.series, ("0",)): 1})
    else:
        return
    yield f"{opening(_links(series))} per person: {newest(ratio, part)}."


def _counts_links(one: PublishedSeries, series: EstimatedSeries) -> bool:
    """Whether a series counts the links whose ends another one tells of."""
    same = one.projection == series.projection and one.spans == series.spans
    return isinstance(one, EstimatedSeries) and one.statistic == "edges" and same


def _quantile(
    series: EstimatedSeries, numbers: Sequence[Estimate], people: Estimate, part: int, who: str
) -> str:
    """The most links that so many people have at least, and between which degrees it lies.

    It is not below a degree if that and all lower ones have enough people for certain, and not
    above one if one of the lower has not enough even at a wider end (`docs/revisions.md#degrees`).
    """
    last = series.releases[-1]
    wide = [
        wider(each.high, each.high - (high - low), last.level)
        for each, low, high in zip(numbers, last.low, last.high, strict=True)
    ]
    middle = _reached(series, [each.value for each in numbers], people.value / part)
    low = _reached(series, [each.low for each in numbers], people.high / part)
    high = _reached(series, wide, people.low / part)
    low, high = min(low, middle), max(high, middle)
    return f"{who} {_at_least(series, middle)}{'' if low == high else f' ({low} to {high})'}."


def _reached(series: EstimatedSeries, values: Sequence[float], least: float) -> int:
    """The last degree up to which all numbers are large enough; 0 if none is."""
    enough = takewhile(lambda each: each[1] >= least, zip(series.degrees, values, strict=True))
    return max((degree for degree, _ in enough), default=0)


def _at_least(series: EstimatedSeries, degree: int) -> str:
    """As in "at least 1 link"."""
    if degree not in series.degrees:
        return f"fewer than {series.degrees[0]} {_links(series)}"
    words = wording.counted_at(series, series.degrees.index(degree)).partition(" with ")[2]
    return words.partition(",")[0]


def _links(series: EstimatedSeries) -> str:
    return wording.degrees(series).removeprefix("at least d ").partition(",")[0]
