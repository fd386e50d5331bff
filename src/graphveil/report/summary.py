"""The page in sentences: five questions that everybody asks, and the degree distribution.

Made from the public facts alone. With several series the answers are about one of them, the
`headline`; the others are in the table below it and in their own sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import TYPE_CHECKING

from graphveil.calendar import phrases
from graphveil.graph.promises import HubBound, NoBound
from graphveil.report import releases, statement, wording
from graphveil.report.estimates import Estimate, EstimatedSeries, now, wider
from graphveil.report.news import NOTHING_MORE, headline, opening, place_of, verdict
from graphveil.report.ratios import newest
from graphveil.series.ratios import Number, Ratio

if TYPE_CHECKING:
    from graphveil.study.history import PublishedSeries
    from graphveil.study.public_part import PublicPart

BEYOND = (1, 10)  # of the further hubs whose price is announced, those that the page names


@dataclass(frozen=True)
class Answer:
    """A question and the sentence that answers it."""

    question: str
    sentence: str


def summary(part: PublicPart) -> tuple[Answer, ...]:
    """The five answers."""
    return (
        Answer("How many so far?", how_many(part)),
        Answer("How many are new?", how_many_new(part)),
        Answer("More or fewer than before?", more_or_fewer(part)),
        Answer("How sure is that?", how_sure(part)),
        Answer("What is promised to me?", promised(part)),
    )


def how_many(part: PublicPart) -> str:
    """The newest number, by when, and where it lies."""
    top = headline(part)
    if top is None:
        return "Nothing is published yet."
    by = opening(phrases.by(top.calendar, top.newest.step))
    noisy = f": {NOTHING_MORE}" if top.known.too_noisy else ""
    return f"{by}, the number of {top.things} was {place_of(top.known)}{noisy}."


def _range(low: int, high: int) -> str:
    if low <= 0:
        return wording.count_range(low, high)
    return f"between {wording.figure(low)} and {wording.figure(high)}"


def how_many_new(part: PublicPart) -> str:
    """What the newest step has added."""
    top = headline(part)
    if top is None or len(top.series.releases) < 2:
        return "How many are new can be told from the second release on."
    new = top.change(releases.NEW)
    if new is None:
        return f"How many were new {top.during()} was not announced with that release."
    if not top.series.monotone:
        before = phrases.step_name(top.calendar)
        return f"{opening(top.during())}, against one {before} before: {verdict(new)}."
    noisy = f": {NOTHING_MORE}" if new.low == 0 else ""
    return f"Of these, {_range(new.low, new.high)} were new {top.during()}{noisy}."


def more_or_fewer(part: PublicPart) -> str:
    """How what is new compares with the step before."""
    top = headline(part)
    if top is None or len(top.series.releases) < 3:
        return "Whether that is more or fewer than before can be told from the third release on."
    against = top.change(releases.AGAINST)
    if against is None:
        return "Whether that is more or fewer than before was not announced with that release."
    now, before = top.during(), top.during(1)
    if not top.series.monotone:
        return f"The change {now}, against the change {before}: {verdict(against)}."
    if not against.clear:
        fewer, more = wording.figure(-against.low), wording.figure(against.high)
        return f"No clear change: {fewer} fewer to {more} more were added {now} than {before}."
    more = "More" if against.low > 0 else "Fewer"
    fell = "" if against.low > 0 else " The total did not fall."
    return f"{more} were added {now} than {before}: {verdict(against)}.{fell}"


def how_sure(part: PublicPart) -> str:
    """What the ranges mean, and what they leave out."""
    top = headline(part)
    level = wording.percent(top.newest.level if top else part.promise.confidence)
    sentence = (
        "Each of these ranges, taken by itself, holds the true number with a probability of at "
        f"least {level}; that covers the noise that was added for privacy, not people whom nobody "
        "recorded"
    )
    noisy, total = _noisy_series(part)
    if noisy:
        sentence += f"; {noisy} of {total:,} series {'is' if noisy == 1 else 'are'} mostly noise"
    return f"{sentence}."


def _noisy_series(part: PublicPart) -> tuple[int, int]:
    """How many series are mostly noise in their newest release, of how many."""
    published = [each for each in part.series if each.releases]
    return sum(_is_mostly_noise(each) for each in published), len(published)


def _is_mostly_noise(series: PublishedSeries) -> bool:
    """Whether no number of the newest release is more than its noise."""
    made = series.releases[-1]
    return all(now(series, made, place).too_noisy for place in range(len(made.raw)))


def promised(part: PublicPart) -> str:
    """What the guarantee says to a person."""
    epsilon, delta = part.total
    weak = "The promise is weak: a" if epsilon > statement.WEAK else "A"
    fails = (
        f" This may fail with a probability of at most {wording.one_in(delta)}." if delta else ""
    )
    return (
        f"{weak} 50% guess that you are in the records could rise to at most "
        f"{_certain(epsilon)}, by everything that this study will ever publish"
        f"{_condition(part)}{fails}"
    )


def _certain(epsilon: Fraction) -> str:
    """What an even guess can rise to."""
    return wording.chance(wording.certainties(epsilon)[0].at_most)


def _condition(part: PublicPart) -> str:
    """For whom that holds, and what holds for others."""
    bound = part.promise.degree_bound
    if isinstance(bound, NoBound):
        return ", however many links you or others have."
    if not isinstance(bound, HubBound) or bound.checked:
        return f", as long as everybody has {bound.in_words}."
    limits = [
        f"with {each.further:,} more, to at most {_certain(each.epsilon)}"
        for each in wording.exposures(part)
        if each.further in BEYOND
    ]
    if limits and (spent := part.spent[0]) != part.total[0]:  # what is left has no such limit yet
        limits.insert(0, f"by the series opened so far, from at most {_certain(spent)}")
    rises = f", and rises with each further such person: {'; '.join(limits)}" if limits else ""
    return f". That limit is for people with {bound.of_one_person}{rises}."


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
