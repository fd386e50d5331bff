"""What is counted, and what ε can cost, in words; numbers as people read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp
from typing import TYPE_CHECKING

from graphveil.graph.groups import SECOND
from graphveil.graph.promises import HubBound
from graphveil.graph.thresholds import FOREST, WHOLE, as_threshold
from graphveil.noise.exact_numbers import as_text
from graphveil.noise.zcdp import epsilon_of, rho_of
from graphveil.statistics.statistic import WINDOW

if TYPE_CHECKING:
    from graphveil.study.facts import ReleaseMade
    from graphveil.study.history import PublishedSeries
    from graphveil.study.public_part import PublicPart

# Nodes are people here, and edges links: a study's unit of privacy is a person.
COUNTED = {
    "nodes": "people",
    "edges": "links between people",
    "triangles": "triangles: three people who are all linked to each other",
    "cyclic-triangles": "triangles of links that go round in one direction",
    "transitive-triangles": "triangles in which one person links to both others",
    "components": "separate groups, single people included",
    "clusters": "clusters: groups of at least {k} linked people",
    "clustered": "people in clusters: groups of at least {k} linked people",
    "growing-clusters": "growing clusters: groups with at least {k} people of {newest}",
    "high-degree": "people with at least {tau} links",
    "high-out-degree": "people with at least {tau} outgoing links",
    "high-in-degree": "people with at least {tau} incoming links",
    "h-index": "h-index: the largest h such that h people have at least h links",
    "stars": "stars: a person with {k} of their links",
    "out-stars": "stars: a person with {k} of their outgoing links",
    "in-stars": "stars: a person with {k} of their incoming links",
    "pattern": "copies of the pattern {pattern}",
    "degree-ccdf": "people with at least d links",
    "out-degree-ccdf": "people with at least d outgoing links",
    "in-degree-ccdf": "people with at least d incoming links",
    "degree-histogram": "people with exactly d links",
    "out-degree-histogram": "people with exactly d outgoing links",
    "in-degree-histogram": "people with exactly d incoming links",
}


# Placeholders in these words as long as no number is given.
OPEN = {"tau": "τ", "k": "k", "newest": "the newest steps", "pattern": "that you draw"}


def counted_in_general(
    statistic: str, summary: str, given: Mapping[str, object] | None = None
) -> str:
    """What a statistic counts; numbers that are not given stay open, as in "at least τ links"."""
    words = COUNTED.get(statistic, summary).format_map({**OPEN, **(given or {})})
    return words[0].upper() + words[1:]


def counted_things(series: PublishedSeries) -> str:
    """What a series counts, such as "people with at least 3 links"."""
    return _limited(series, _plain(series))


def _limited(series: PublishedSeries, words: str, made: ReleaseMade | None = None) -> str:
    """What is counted, and how many links of a person at most, where not all are."""
    limit = counted_links(series, made)
    return f"{words}, {limit}" if limit else words


def _plain(series: PublishedSeries) -> str:
    return _undivided(series) + _by(series)


def _undivided(series: PublishedSeries) -> str:
    known = COUNTED.get(series.statistic)
    if known is None:
        return series.summary
    return _singular(known.format(**(series.parameters | series.spans))) + _among(series)


def _by(series: PublishedSeries) -> str:
    """By which groups it is divided, if by any."""
    return f", by {' and '.join(groups)}" if (groups := groups_of(series)) else ""


def labels(cell: Mapping[str, str]) -> str:
    """A cell with the names of its groups: "region North", or "region North and South"."""
    parts = []
    for name, label in cell.items():
        if not name.endswith(SECOND):
            other = f" and {cell[f'{name}{SECOND}']}" if f"{name}{SECOND}" in cell else ""
            parts.append(f"{name.replace('_', ' ')} {label}{other}")
    return ", ".join(parts)


def groups_of(series: PublishedSeries) -> list[str]:
    """The groups by which a series is divided, as people read them."""
    divided = series.breakdown
    return [] if divided is None else [each.name.replace("_", " ") for each in divided.axes]


def counted_at(series: PublishedSeries, place: int, made: ReleaseMade | None = None) -> str:
    """What one number of a series counts, such as "people with at least 1 link"."""
    plain, (cell, degree) = _plain(series), series.places[place]
    if cell:
        plain = f"{_undivided(series)} ({labels(cell)})"
    if degree is not None:
        at, found = re.subn(r"\bd\b", str(degree), plain)
        plain = _singular(at) if found else f"{plain}, d = {degree}"
    return _limited(series, plain, made)


def _singular(words: str) -> str:
    return re.sub(r"\b(1 (?:\w+ )?link)s\b", r"\1", words)


def _among(series: PublishedSeries) -> str:
    """Who is counted, where it is not everybody."""
    window = series.spans.get(WINDOW)
    return f", among people who arrived in {window}" if window else ""


def heading(series: PublishedSeries) -> str:
    """The same as a title, without a letter for a number."""
    words = counted_things(series)
    words = re.sub(r"with at least d ((?:\w+ )?links)", r"with so many \1, or more", words)
    words = re.sub(r"with exactly d ((?:\w+ )?links)", r"by their number of \1", words)
    return words[0].upper() + words[1:]


def is_ccdf(series: PublishedSeries) -> bool:
    """Whether its numbers are of people with at least each degree."""
    return series.statistic.endswith("degree-ccdf") or series.cumulative


def degrees(series: PublishedSeries) -> str:
    """What the numbers of a vector are counted by, such as "at least d links"."""
    return _plain(series).removeprefix("people with ")


def budget(epsilon: Fraction, delta: Fraction | None) -> str:
    """As in "ε = 0.5, δ = 0.000001"."""
    loss = f"ε = {as_text(epsilon)}"
    return f"{loss}, δ = {as_text(delta)}" if delta else loss


def one_in(probability: Fraction) -> str:
    """A small probability for readers, as in "1 in 1,000,000"; exact."""
    times = 1 / probability
    return f"1 in {times.numerator:,}" if times.denominator == 1 else as_text(probability)


def price(series: PublishedSeries) -> str:
    """What a series costs: an ε of its own, or its share of what several cost together."""
    own = budget(series.epsilon, series.delta)
    return own if series.pool_share is None else f"{as_text(series.pool_share)} of a pool of {own}"


def counted_links(series: PublishedSeries, made: ReleaseMade | None = None) -> str:
    """How many links of a person are counted at most; nothing where the promise covers all.

    Where the threshold follows, each release states its own.
    """
    if series.projection == WHOLE:
        return ""
    if isinstance(series.projection, str) and not series.follows:
        (branches,) = as_threshold(series.projection).limits
        return f"counting at most {many(branches, 'joining link')} per person"
    limits = series.counted_links
    if series.follows:
        if made is None or made.threshold is None:
            return "counting at most as many links per person as each release states"
        limits = (made.threshold,)
    if limits is None:
        return ""
    kinds = ("incoming", "outgoing") if len(limits) == 2 else ("",)
    numbers = " and ".join(f"{n:,} {kind}".strip() for n, kind in zip(limits, kinds, strict=True))
    link = "link" if limits[-1] == 1 else "links"
    return f"counting at most {numbers} {link} per person"


def beyond_links(series: PublishedSeries) -> str:
    """What follows for people with more, as a further sentence; or nothing."""
    if series.follows:
        return " Further links of a person are not in it; the processed value allows for them."
    forests = isinstance(series.projection, str) and series.projection.startswith(FOREST)
    return " A group that hangs on people with more may count as several." if forests else ""


TOO_NOISY = "too noisy to tell"  # in a cell of a table


def percent(level: str) -> str:
    """A level of confidence, as in "95%"."""
    return f"{as_text(Fraction(level) * 100)}%"


def figure(number: float) -> str:
    """A number with as many digits as mean anything, as in "1,234" or "9.81"."""
    if float(number).is_integer():
        return f"{int(number):,}".replace("-", "−")
    size = abs(number)
    digits = 2 if size < 10 else 1 if size < 1000 else 0
    return f"{number:,.{digits}f}".replace("-", "−")


def whole(number: float) -> str:
    """A count: of people and links there are no fractions."""
    return figure(round(number))


def count_range(low: int, high: int) -> str:
    """An interval of a count, which is never below 0."""
    if low > 0:
        return f"{figure(low)} to {figure(high)}"
    return f"at most {figure(max(high, 0))}"


def span(part: PublicPart) -> str:
    """The published steps, as in "2005 to 2024"."""
    if not part.steps:
        return "none yet"
    first, last = part.steps[0].label, part.steps[-1].label
    return first if first == last else f"{first} to {last}"


def when(at: str) -> str:
    """A time of the ledger, as in "2026-11-16, 02:40 UTC"."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*", at)
    return f"{match[1]}, {match[2]} UTC" if match else at


def many(number: int, thing: str) -> str:
    """As in "1 step" and "3 steps"."""
    return f"{number:,} {thing if number == 1 else thing + 's'}"


def fraction(text: str) -> str:
    """An exact fraction as people read it: whole, or rounded."""
    exactly = Fraction(text)
    return figure(float(exactly)) if exactly < 10**15 else text


@dataclass(frozen=True)
class Exposure:
    """What a person loses at most who breaks the promise.

    Attributes:
        further: to how many people with many links the person is linked, beyond those promised.
        epsilon: by all series that are open.
        times: the same in multiples of what these series cost people who keep the promise.
    """

    further: int
    epsilon: Fraction
    times: Fraction


def exposures(part: PublicPart) -> tuple[Exposure, ...]:
    """The loss beyond the promise; nothing where nobody can lose more than is promised."""
    published = [{loss.further for loss in each.beyond} for each in part.series if each.beyond]
    shared = set.intersection(*published) if published else set()  # older versions have fewer hubs
    exposed = {further: _exposed(part, further) for further in sorted(shared)}
    return tuple(Exposure(more, loss, loss / part.spent[0]) for more, loss in exposed.items())


def _exposed(part: PublicPart, further: int) -> Fraction:
    """ε of such a person by all series: those of a pool are summed as ρ, and converted once.

    Guarantees: docs/mechanisms.md#a-pool-of-several-series.
    """
    pool, own, rho = part.promise.budget.pool, Fraction(), Fraction()
    for each in part.series:
        stated = next((loss for loss in each.beyond if loss.further == further), None)
        if each.pool_share is None:
            own += each.epsilon if stated is None else stated.epsilon
        elif stated is not None and stated.rho is not None:
            rho += stated.rho
        else:
            assert pool is not None, "a series shares it"
            rho += each.pool_share * rho_of(*pool.price)
    return own + epsilon_of(rho, pool.price[1]) if pool and rho else own


def exposed_persons(part: PublicPart) -> tuple[str, ...]:
    """Whom a table of exposures is about: first those who keep the promise, then row by row."""
    bound = part.promise.degree_bound
    assert isinstance(bound, HubBound), "nobody else is told of exposures"
    further = [each.further for each in exposures(part)]
    if bound.directed:
        return "as promised", *(f"{more} more than promised" for more in further)
    (promised,) = bound.hubs
    return f"at most {promised}" if promised else "0", *(str(promised + more) for more in further)


def rounded_up(epsilon: Fraction) -> str:
    """A loss for readers, never rounded down."""
    return f"{ceil(epsilon * 100) / 100:,.2f}"


# Odds: what ε means for somebody who suspects that a person is in the records.


PRIORS = (0.5, 0.1, 0.01)
ODDS_SHOWN = 1_000_000  # a larger factor means nothing else to a reader than this one


@dataclass(frozen=True)
class Certainty:
    """How sure anybody can become that a person is in the records, by Bayes' rule."""

    before: float
    at_most: float
    at_least: float


def certainties(epsilon: Fraction) -> tuple[Certainty, ...]:
    """What ε means for somebody who starts with some suspicion."""
    return tuple(
        Certainty(before, _updated(before, float(epsilon)), _updated(before, -float(epsilon)))
        for before in PRIORS
    )


def _updated(before: float, loss: float) -> float:
    """The probability after its odds were multiplied by exp(loss)."""
    return 1 / (1 + exp(min(-loss, 700)) * (1 - before) / before)


def chance(probability: float) -> str:
    """A probability in percent that is rounded, but never to certainty."""
    for digits in range(12):
        text = f"{probability * 100:.{digits}f}"
        if 0 < float(text) < 100 and abs(float(text) / 100 - probability) < 0.05 * min(
            probability, 1 - probability
        ):
            return f"{text}%"
    return "almost 100%" if probability > 0.5 else "almost 0%"


def factor(epsilon: Fraction) -> str:
    """exp(ε), as in "2.7 times"."""
    odds = exp(min(float(epsilon), 700))
    if odds > ODDS_SHOWN:
        return f"more than {ODDS_SHOWN:,} times"
    return f"{odds:.{2 if odds < 2 else 1 if odds < 20 else 0}f} times"
