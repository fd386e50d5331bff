"""The memo: a draft on two pages, for the people who decide about it, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.graph.groups import BY
from graphveil.noise.exact_numbers import as_text
from graphveil.report.page import template
from graphveil.report.wording import (
    TOO_NOISY,
    certainties,
    chance,
    counted_in_general,
    factor,
    figure,
    rounded_up,
)
from graphveil.steward.outlook import study_outlook

if TYPE_CHECKING:
    from graphveil.steward.outlook import Outlook, StudyOutlook
    from graphveil.study import SeriesPromise

TEMPLATE = "memo.html.jinja"
NEARLY_ALL = 1.96  # standard deviations within which about 95 of 100 numbers lie
MANY_MORE = 10  # hubs beyond the promise, for an example


@dataclass(frozen=True)
class MemoSeries:
    """One line of the memo: what is counted, and how far a number may be off.

    Attributes:
        name: of the series.
        counts: what, in words.
        cut: what a projection counts at most; empty if nothing is left out.
        first: about 95 of 100 first numbers are off by less than this.
        last: the same of the last one.
        expected: its size in the end, if somebody has said it.
        verdict: what the noise leaves of it; empty if no size is expected.
    """

    name: str
    counts: str
    cut: str
    first: str
    last: str
    expected: str
    verdict: str


def _line(outlook: Outlook) -> MemoSeries:
    series, plan, judged = outlook.series, outlook.plan, outlook.judgement
    statistic, threshold = series.counted(), series.threshold()
    counts = counted_in_general(series.statistic, statistic.summary, vars(statistic))
    groups = str(series.parameters.get(BY, "")).replace(",", " and ")
    return MemoSeries(
        name=series.name,
        counts=f"{counts}, by {groups}" if groups else counts,
        cut="" if threshold is None else str(threshold),
        first=f"±{figure(round(NEARLY_ALL * plan.predicted[0]))}",
        last=f"±{figure(round(NEARLY_ALL * plan.last_std))}",
        expected=_expected(series),
        verdict=judged.word.in_words if judged else "",
    )


def _expected(series: SeriesPromise) -> str:
    """The size that was stated, and that of the largest number if there are several."""
    if series.expected is None:
        return "not stated"
    largest = (
        f", the largest number about {series.judged_size:,}" if series.expected_cells() else ""
    )
    return f"about {series.expected:,}{largest}"


def _too_noisy(outlook: Outlook) -> str:
    """How many numbers of a breakdown nobody will be able to tell."""
    cells = outlook.cells.values()
    noisy = sum(each.too_noisy for each in cells)
    of_all = f"Of the {len(cells):,} numbers of series {outlook.series.name} that are expected"
    return f"{of_all}, {noisy:,} will be {TOO_NOISY}." if noisy else ""


def memo(folder: Path) -> bytes:
    """The memo of a study as a page that prints on two sheets; reads no records."""
    return memo_of(study_outlook(folder))


def memo_of(outlook: StudyOutlook) -> bytes:
    """The same for an outlook that is known already."""
    promise = outlook.promise
    epsilon, delta = promise.budget_total()
    beyond = {
        each.series.name: each.times_beyond[MANY_MORE]
        for each in outlook.series
        if MANY_MORE in each.times_beyond
    }
    left, _ = promise.budget_left()
    return (
        template(TEMPLATE)
        .render(
            promise=promise,
            study=outlook.folder.resolve().name,
            series=[_line(each) for each in outlook.series],
            drowned=[said for each in outlook.series if (said := _too_noisy(each))],
            epsilon=as_text(epsilon),
            delta=as_text(delta) if delta else "",
            left=as_text(left),
            guesses=[(chance(each.before), chance(each.at_most)) for each in certainties(epsilon)],
            factor=factor(epsilon),
            beyond=rounded_up(max(beyond.values(), default=Fraction(1))) if beyond else "",
            further=MANY_MORE,
            reasons=[(each.name, each.justification) for each in promise.series],
        )
        .encode()
    )
