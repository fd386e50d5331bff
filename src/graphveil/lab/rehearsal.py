"""Rehearsals: a study played to its end with made-up people, before anything is spent.

The promise is the study's own, and so are mechanisms and noise: a rehearsal is a whole study in a
temporary folder, which another machine's memory would not know. Its people are made up, or those of
a public network, so that the truth can stand beside what would be published. No record of any
study is read.

The made-up network, which the demo uses too: the well connected attract links, and friends of
friends meet. It stands for no place in particular.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl

from graphveil.backends import LocalEngine
from graphveil.errors import InputError, ParameterError
from graphveil.graph.groups import OTHER, Group, column_of
from graphveil.graph.intake.records import Records, Table
from graphveil.graph.promises import Bound, NoBound
from graphveil.graph.sequence import GraphSequence
from graphveil.noise.exact_numbers import as_text
from graphveil.records import from_rows
from graphveil.report import wording
from graphveil.report.charts import Truth
from graphveil.report.estimates import now, with_estimates
from graphveil.report.page import RehearsedPage, page
from graphveil.report.page_tables import PageTable
from graphveil.statistics.breakdown import cell_words
from graphveil.study import Promise, SeriesPromise, StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.machine import Machine
from graphveil.study.promise import LONGEST_LINE
from graphveil.study.public_part import PublicPart

if TYPE_CHECKING:
    from graphveil.study.history import PublishedSeries

MOST_PEOPLE = 200_000  # made up in seconds; beyond that a public network says more
OPEN_END = 12  # steps of a rehearsal, if the calendar has no end
UNLIMITED = 1000  # links that nobody made up exceeds where nothing is promised
NEARBY = 0.99  # friends of friends: links that make many clusters, not one
ATTRACTION = 0.1  # few people with very many links
TITLE = "Rehearsal: "
NOTE = "Rehearsal: everybody on this page is made up. These are not the study's numbers."
LIKE = "Rehearsal with the people of a public network. These are not the study's numbers."


# Networks: made up in a stated size, or taken from public files.
ALONE = 0.4  # the part of newcomers who know nobody when they come


def made_up(promise: Promise, people: int, links: int) -> Records:
    """People who come evenly over the steps, with about so many links between them."""
    if not 1 <= people <= MOST_PEOPLE:
        raise ParameterError("people", f"must be from 1 to {MOST_PEOPLE:,}")
    if not 0 <= links <= people * UNLIMITED:
        raise ParameterError("links", f"must be from 0 to {UNLIMITED:,} per person")
    steps, most = steps_of(promise), _most_links(promise.degree_bound)
    labels = promise.calendar.labels(steps)
    nodes = [(f"M{person}", labels[person * steps // people]) for person in range(people)]
    each = links / people / (1 - ALONE)
    habits = ContactHabits(lambda chance: _about(each, chance), NEARBY, most, ATTRACTION)
    pairs = drawn(people, habits, "rehearsal")
    return from_rows(nodes, [(f"M{b}", f"M{a}") for a, b in pairs])


def expected_sizes(promise: Promise) -> dict[str, int]:
    """How many people and links the study expects in the end, where it says so."""
    stated = {each.statistic: each.expected for each in promise.series if each.expected}
    names = {"people": "nodes", "links": "edges"}
    return {name: stated[each] for name, each in names.items() if each in stated}


def _about(mean: float, chance: random.Random) -> int:
    """A whole number with this mean, from few to three times as many."""
    wanted = chance.choice((0.25, 0.5, 0.75, 1.0, 2.5)) * mean
    return int(wanted) + (chance.random() < wanted % 1)


def _most_links(bound: Bound) -> int:
    """What nobody exceeds who keeps the promise."""
    limits: tuple[int, ...] = getattr(getattr(bound, "within", bound), "limits", ())
    return min((*limits, UNLIMITED))


def like(records: Records, every: str | int, promise: Promise) -> Records:
    """A public network whose own history is stretched over the steps of the study."""
    from graphveil.calendar.calendar import Calendar

    times = records.nodes.frame["time"]
    calendar = Calendar.spanning(times, every)
    own, wanted = calendar.steps_of(times).steps, steps_of(promise)
    there = max(int(own.max(initial=0)) + 1, 1)
    labels = promise.calendar.labels(wanted)
    named = [labels[step * wanted // there] if step >= 0 else None for step in own.tolist()]
    nodes = records.nodes.frame.with_columns(pl.Series("time", named, dtype=pl.String))
    edges = records.edges.frame.select("source", "target")
    return Records(Table(nodes, records.nodes.source), Table(edges, records.edges.source))


def require_public(files: Sequence[Path]) -> None:
    """Refuse files that lie in the private part of a study."""
    for file in files:
        for folder in file.resolve().parents:
            if folder.name == "private" and (folder.parent / "public" / "study.toml").is_file():
                raise InputError(
                    f"'{file.name}' belongs to the records of a study, and a rehearsal shows its "
                    "network without noise.",
                    hint="Take a public network of the same kind.",
                )


def steps_of(promise: Promise) -> int:
    """How many steps a rehearsal has."""
    last = promise.calendar.last_step
    return OPEN_END if last is None else last + 1


# The study: the same promise at another budget, played to its end.


def at_budget(promise: Promise, epsilon: Fraction) -> Promise:
    """The study for another ε in all; every series keeps its part of it."""
    factor = epsilon / Fraction(promise.budget.epsilon)
    pool = promise.budget.pool
    if pool is not None:
        pool = pool.model_copy(update={"epsilon": as_text(factor * Fraction(pool.epsilon))})
    budget = promise.budget.model_copy(update={"epsilon": as_text(epsilon), "pool": pool})
    series = tuple(
        each.costing(factor * Fraction(each.epsilon or 0), each.horizon) for each in promise.series
    )
    return promise.model_copy(update={"budget": budget, "series": series})


@dataclass(frozen=True)
class RehearsedNumber:
    """One number of a series, named with its cell, at the last step: true, and published."""

    series: str
    epsilon: Fraction
    true: int
    published: int
    low: int
    high: int

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return vars(self) | {"epsilon": as_text(self.epsilon)}


@dataclass(frozen=True, repr=False)
class Rehearsal:
    """A study that was played to its end for one ε; everybody in it is made up, or public.

    Attributes:
        epsilon: of all series together.
        part: what would be published.
        truth: by series, the true numbers of every step.
    """

    epsilon: Fraction
    part: PublicPart
    truth: Mapping[str, Truth]

    def numbers(self) -> list[RehearsedNumber]:
        """The last step of every series that is one number, or one for each cell."""
        estimated = with_estimates(self.part).series
        return [
            self._number(each, place)
            for each in estimated
            for place, (_, degree) in enumerate(each.places if each.releases else ())
            if degree is None
        ]

    def _number(self, series: PublishedSeries, place: int) -> RehearsedNumber:
        made, (cell, _) = series.releases[-1], series.places[place]
        known, true = now(series, made, place), self.truth[series.series][made.step][place]
        name = ", ".join([series.series, *([cell_words(cell)] if cell else [])])
        return RehearsedNumber(
            name, self.epsilon, true,
            max(round(known.value), 0), max(known.low, 0), max(known.high, 0),
        )  # fmt: skip

    def page(self, others: Sequence[Rehearsal], *, public: bool) -> bytes:
        """The page that readers would see, marked as a rehearsal, with the truth on it.

        Args:
            others: rehearsals of the same study for other budgets; this one may be among them.
            public: whether the network is a public one, not made up.
        """
        note = LIKE if public else NOTE
        return page(self.part, RehearsedPage(note, comparison(others), self.truth))


def rehearse(promise: Promise, network: Records) -> Rehearsal:
    """Publish every step of a study, with people who are not its own.

    A series that the study opens later begins with the first step here.
    """
    mine, network = _marked(promise), labelled(promise, network)
    through = steps_of(mine) - 1
    with TemporaryDirectory(prefix="graphveil-rehearsal-") as room:
        machine = Machine(Path(room) / "state")
        study = StoredStudy.create(Path(room) / "study", mine, machine=machine)
        study.add(network, AddOptions(yes=True, ignore_after_end=True))
        study.publish(through, early=True)
        part = PublicPart.read(study.folder.public)
    return Rehearsal(Fraction(mine.budget.epsilon), part, _truth(mine, network, through))


def labelled(promise: Promise, network: Records) -> Records:
    """The same people with labels of the study's groups, drawn as the study expects them.

    Whoever is linked has nothing to do with it: a rehearsal is about the noise.
    """
    chance, nodes = random.Random("labels of a rehearsal"), network.nodes
    columns = {
        column_of(each.name): pl.Series(
            chance.choices(_written(each), each.shares, k=len(nodes.frame))
        )
        for each in promise.groups.members
    }
    return replace(network, nodes=replace(nodes, frame=nodes.frame.with_columns(**columns)))


def _written(group: Group) -> list[str]:
    """What a file would say for each label: of a number, where the label begins."""
    return [*(map(str, group.cuts) if group.cuts else group.labels), OTHER, ""]


def _marked(promise: Promise) -> Promise:
    """The promise under a title that nobody takes for the study's."""
    series = tuple(each.model_copy(update={"opened": None}) for each in promise.series)
    title = f"{TITLE}{promise.title}"[:LONGEST_LINE]
    return promise.model_copy(update={"title": title, "series": series})


def _truth(promise: Promise, network: Records, through: int) -> dict[str, Truth]:
    """The numbers themselves, of the whole network: nothing is projected away."""
    groups = promise.groups
    begun = GraphSequence.begin(promise.calendar, directed=promise.directed, grouped=bool(groups))
    sequence = begun.extend(network, undated="first", upto=through, groups=groups).sequence
    return {each.name: _totals(sequence, each, promise.degree_bound) for each in promise.series}


def _totals(sequence: GraphSequence, series: SeriesPromise, bound: Bound) -> Truth:
    """One series of the whole network; a vector, which ends somewhere, of what is counted there."""
    counted, engine = series.counted(), LocalEngine()
    limit: Bound | None = None
    if counted.vector and (series.threshold() or not isinstance(bound, NoBound)):
        within: Bound = getattr(bound, "within", bound)
        limit = series.threshold() or within
        sequence = engine.project(sequence, limit)
    totals = engine.count(sequence, [counted], bound=limit).totals(counted)
    rows: Truth = totals.reshape(len(totals), -1).tolist()
    return rows


def comparison(rehearsals: Sequence[Rehearsal]) -> PageTable:
    """The truth, and beside it what each budget would publish, at the last step."""
    names = [each.series for each in rehearsals[0].numbers()]
    by_budget = [{each.series: each for each in one.numbers()} for one in rehearsals]
    rows = tuple(
        (
            name,
            f"{by_budget[0][name].true:,}",
            *chain.from_iterable(_cells(one[name]) for one in by_budget),
        )
        for name in names
    )
    labels = (f"published, ε = {as_text(each.epsilon)}" for each in rehearsals)
    header = ("series", "true", *chain.from_iterable((each, "its interval") for each in labels))
    step = rehearsals[0].part.steps[-1].label
    return PageTable(f"The truth, and what would be published, in {step}", header, rows)


def _cells(number: RehearsedNumber) -> tuple[str, str]:
    return f"{number.published:,}", wording.count_range(number.low, number.high)


@dataclass(frozen=True)
class ContactHabits:
    """How people of a network meet.

    Attributes:
        wanted: how many links somebody who is not alone brings along, if possible.
        nearby: how often the next acquaintance is a friend of the last one; a smaller part joins
            clusters into one.
        most: links that nobody exceeds.
        attraction: how often the first acquaintance is met by way of a link, so that people with
            many links get more; else everybody is as likely.
    """

    wanted: Callable[[random.Random], int]
    nearby: float
    most: int
    attraction: float = 1.0


def drawn(people: int, habits: ContactHabits, seed: str) -> list[tuple[int, int]]:
    """Links between people, who come one after another; the same seed draws the same links.

    Args:
        people: how many; they are numbered in the order in which they come.
        habits: how they meet.
        seed: where the randomness comes from.
    """
    chance = random.Random(seed)
    friends: list[set[int]] = []
    ends: list[int] = []  # everybody once, and once more per link
    for person in range(people):
        met = _acquaintances(chance, friends, ends, habits)
        friends.append(met)
        for friend in met:
            friends[friend].add(person)
        ends += [person, *sorted(met), *[person] * len(met)]
    return [(a, b) for a, met in enumerate(friends) for b in sorted(met) if a < b]


def _acquaintances(
    chance: random.Random, friends: list[set[int]], ends: list[int], habits: ContactHabits
) -> set[int]:
    """Nobody, or a few people, the next often a friend of the last; never beyond the most."""
    met: set[int] = set()
    if not ends or chance.random() < ALONE:
        return met
    by_link = habits.attraction == 1 or chance.random() < habits.attraction
    last = chance.choice(ends) if by_link else chance.randrange(len(friends))
    for _ in range(min(habits.wanted(chance), habits.most)):
        if len(friends[last]) < habits.most - 1:
            met.add(last)
        circle = sorted(friends[last])
        near = circle and chance.random() < habits.nearby
        last = chance.choice(circle) if near else chance.choice(ends)
    return met
