"""The tables of the page, with cells as readers see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from graphveil.graph.promises import HubBound
from graphveil.noise.exact_numbers import as_text
from graphveil.report import breakdowns, public_tables, statement, wording
from graphveil.report.artefacts import file_name
from graphveil.report.estimates import EstimatedSeries, now
from graphveil.report.ratios import all_ratios
from graphveil.report.wording import TOO_NOISY, chance
from graphveil.statistics.statistic import WINDOW

if TYPE_CHECKING:
    from graphveil.study.facts import ReleaseMade
    from graphveil.study.history import PublishedSeries
    from graphveil.study.public_part import PublicPart

SHORT = 12  # steps that it has at least
LONG = 400  # steps that a table on the page has at most; the files have all
WIDE = 4_000  # numbers that it has at most of a series with one number per degree


@dataclass(frozen=True)
class PageTable:
    """Cells as readers see them; the first column names the rows.

    Attributes:
        title: what the table is.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def shares(part: PublicPart) -> PageTable:
    """What each series costs, and what is left."""
    with_delta = bool(part.total[1])

    def row(name: str, epsilon: Fraction, delta: Fraction | None) -> tuple[str, ...]:
        spent = as_text(epsilon), as_text(delta or Fraction())
        return (name, *spent[: 2 if with_delta else 1])

    def priced(each: PublishedSeries) -> tuple[str, ...]:
        if each.pool_share is None:
            return row(each.series, each.epsilon, each.delta)
        return each.series, f"{as_text(each.pool_share)} of the pool", "in the pool"

    rows = [priced(each) for each in part.series]
    if pool := part.promise.budget.pool:
        rows.append(row("the pool", *pool.price))
    rows += [row("spent", *part.spent), row("left", *part.left), row("total", *part.total)]
    header = ("series", "ε", "δ")[: 3 if with_delta else 2]
    return PageTable("What each series costs, and what is left", header, tuple(rows))


def exposures(part: PublicPart) -> PageTable | None:
    """What people who break the promise lose; None if that is nothing."""
    exposure = wording.exposures(part)
    if not exposure:
        return None
    epsilons = (part.spent[0], *(each.epsilon for each in exposure))
    bounds = (f"at most {wording.rounded_up(loss)}" for loss in epsilons)
    times = ("1", *(f"up to {wording.rounded_up(each.times)}" for each in exposure))
    bound = part.promise.degree_bound
    assert isinstance(bound, HubBound), "nobody else is told of exposures"
    header = f"linked to people {bound.hub_in_words}", "ε of the open series", "times as much"
    rows = tuple(zip(wording.exposed_persons(part), bounds, times, strict=True))
    return PageTable("What a person loses who is linked to more", header, rows)


def certainties(part: PublicPart) -> PageTable:
    """How sure anybody can become, from how sure they were."""
    header = ("before reading", "at least", "at most")
    rows = tuple(
        (f"{chance(each.before)} sure", chance(each.at_least), chance(each.at_most))
        for each in wording.certainties(part.total[0])
    )
    return PageTable("How sure anybody can be that a person is in the records", header, rows)


def not_protected(part: PublicPart) -> PageTable:
    """What is published exactly."""
    return PageTable("Not protected", ("public", "value"), statement.not_protected(part))


def dictionary(part: PublicPart) -> PageTable:
    """What each column of each public table means."""
    header = ("column", "in", "type", "empty", "meaning")
    rows = tuple(
        (each.column, each.file, each.type, each.empty, each.meaning)
        for each in public_tables.dictionary(part)
    )
    return PageTable("Data dictionary", header, rows)


@dataclass(frozen=True)
class RatioTable:
    """A ratio at all steps, and its newest value in words."""

    name: str
    formula: str
    newest: str
    table: PageTable


def ratio_tables(part: PublicPart) -> Iterator[RatioTable]:
    """Every promised ratio that has a value."""
    for name, rows in groupby(all_ratios(part, LONG + 1), key=attrgetter("ratio")):
        ratios = list(rows)
        level = wording.percent(ratios[-1].level)
        shown = ratios[-LONG:]
        table = PageTable(
            "All steps" if len(shown) == len(ratios) else f"The newest {len(shown):,} steps",
            ("step", f"ratio, with its {level} interval"),
            tuple((each.label, each.said) for each in shown),
        )
        yield RatioTable(name, ratios[-1].formula, ratios[-1].said, table)


def release_tables(series: PublishedSeries) -> tuple[PageTable, ...]:
    """The numbers of a series that has releases; of a long one those of the newest steps."""
    if not series.vector:
        return (_scalar_table(series),)
    if series.breakdown is not None:
        tables = [PageTable(*each) for each in breakdowns.tables(series, series.releases[-1])]
        return *tables, _vector_table(series)
    return _degree_table(series), _vector_table(series)


def _newest(series: PublishedSeries) -> tuple[str, tuple[ReleaseMade, ...]]:
    """The releases that a table on the page shows, and what it is called then."""
    made = series.releases
    shown = made[-max(SHORT, min(LONG, WIDE // series.width)) :]
    if len(shown) == len(made):
        return "All releases", made
    file = f"{file_name(series.series)}.csv"
    return f"The newest {len(shown):,} of {len(made):,} releases; {file} has every one", shown


def _scalar_table(series: PublishedSeries) -> PageTable:
    level = wording.percent(series.releases[-1].level)
    has_changes = any(made.changes for made in series.releases)
    total = "value" if WINDOW in series.spans else "in all"
    title, shown = _newest(series)
    rows = tuple(
        (
            made.label,
            *_cells(series, made),
            *(_new_cells(series, made) if has_changes else ()),
            *_first_cells(series, made),
            wording.figure(made.noise_std),
        )
        for made in shown
    )
    news = ("new", "its interval") if has_changes else ()
    header = ("step", total, f"{level} interval", *news, *_first(series), "noise (std)")
    return PageTable(f"{title}{_edition(series)}", header, rows)


def _edition(series: PublishedSeries) -> str:
    """Until when numbers were taken into account."""
    if not isinstance(series, EstimatedSeries):
        return ""
    return f", as revised after {series.releases[-1].label}"


def _first(series: PublishedSeries) -> tuple[str, ...]:
    """What was published first; where nothing more is known, the value is just that."""
    return ("first published", "raw") if isinstance(series, EstimatedSeries) else ("raw",)


def _first_cells(series: PublishedSeries, made: ReleaseMade, place: int = 0) -> tuple[str, ...]:
    first, raw = wording.whole(made.processed[place]), wording.figure(made.raw[place])
    return (first, raw) if isinstance(series, EstimatedSeries) else (raw,)


def _new_cells(series: PublishedSeries, made: ReleaseMade) -> tuple[str, str]:
    """What is new in a step; nothing at the first."""
    new = now(series, made).new
    if new is None:
        return "", ""
    if series.monotone:
        return wording.figure(new.value), wording.count_range(new.low, new.high)
    return wording.figure(new.value), f"{wording.figure(new.low)} to {wording.figure(new.high)}"


def _degree_table(series: PublishedSeries) -> PageTable:
    made = series.releases[-1]
    exactly = _exactly(series, made)
    bins = ("exactly d",) if exactly else ()
    header = ("d", "people", f"{wording.percent(made.level)} interval", *bins, *_first(series))
    rows = tuple(
        (
            str(degree),
            *_cells(series, made, place),
            *exactly[place : place + 1],
            *_first_cells(series, made, place),
        )
        for place, degree in enumerate(series.degrees)
    )
    return PageTable(f"{made.label}, all numbers", header, rows)


def _exactly(series: PublishedSeries, made: ReleaseMade) -> list[str]:
    """The histogram that follows from "at least d links", where every degree is published."""
    if not wording.is_ccdf(series) or series.degrees != tuple(range(series.width)):
        return []
    known = [now(series, made, place).value for place in range(series.width)]
    return [wording.whole(one - more) for one, more in pairwise([*known, 0.0])]


def _cells(series: PublishedSeries, made: ReleaseMade, place: int = 0) -> tuple[str, str]:
    known = now(series, made, place)
    noisy = f" ({TOO_NOISY})" if known.too_noisy else ""
    return wording.whole(known.value) + noisy, wording.count_range(known.low, known.high)


def _vector_table(series: PublishedSeries) -> PageTable:
    """Step by degree; raw values stand in the rows below."""
    rows: list[tuple[str, ...]] = []
    title, shown = _newest(series)
    for made in shown:
        noise = wording.figure(made.noise_std)
        known = (now(series, made, place).value for place in range(series.width))
        rows.append((made.label, *map(wording.whole, known), noise))
        rows.append((f"{made.label}, raw", *map(wording.figure, made.raw), noise))
    header = ("step", *breakdowns.place_words(series), "noise (std)")
    return PageTable(f"{title}{_edition(series)}", header, tuple(rows))
