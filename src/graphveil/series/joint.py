"""The joint estimate: all series of a study at all steps, moved as little as possible to agree.

Each series is revised by itself first (`postprocessing`). Then the numbers of all series become the
nearest ones, in units of their noise, for which everything holds that is true of every network.
A function of published numbers and of public facts, so it spends nothing
(`docs/revisions.md#the-joint-estimate`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from graphveil.mechanisms.planning.covariance import LEAST, Floats
from graphveil.series.nearest import Rows, bands_of, nearest
from graphveil.statistics.breakdown import breakdown_in
from graphveil.statistics.relations import Combination, Fact, Known

if TYPE_CHECKING:
    from graphveil.graph.promises import Bound
    from graphveil.statistics.statistic import Statistic

DECIMALS = 1  # of estimates: what floats of two machines differ by does not show
TENTHS = 10**DECIMALS
LESS = 4  # times the variance of another makes a noise much larger
MOST = 1e9  # multiplications per round: a minute for all of them, at most

# A fact of one network: by window, and by projection if that changes it.
Tied: TypeAlias = tuple[Hashable, Hashable, Fact]
Terms: TypeAlias = Mapping[Tied, Fraction]
Row: TypeAlias = tuple[tuple[int, float], ...]  # columns with coefficients


@dataclass(frozen=True, eq=False)
class Member:
    """A series that takes part.

    Attributes:
        counted: what it counts.
        projection: which links are counted; None if all that the study counts.
        bound: what limits these links; None if nothing does.
        first: the step of its first release; it has one at every later step.
        values: each number as revised by itself, (releases, numbers).
        variances: of the noise of each number, release by release.
        raw: each number as published; None if only revisions are known.
    """

    counted: Statistic
    projection: Hashable
    bound: Bound | None
    first: int
    values: Floats
    variances: Floats
    raw: Floats | None = None

    def entering(self, others: Sequence[Member]) -> Floats:
        """What enters a joint estimate.

        Of many numbers that are never negative, revisions are too large together. So raw values
        enter where something else is known of the same network.
        """
        network = self.counted.counted_for, self.projection
        alone = all(
            (each.counted.counted_for, each.projection) != network
            for each in others
            if each is not self
        )
        single = self.values.shape[1] == 1
        return self.values if alone or single or self.raw is None else self.raw

    @cached_property
    def numbers(self) -> tuple[Terms, ...]:
        """What each number of a release is made of."""
        return tuple(self._tied(each) for each in self.counted.facts(self.values.shape[1]))

    def _tied(self, terms: Combination) -> Terms:
        return {self._in_network(fact): Fraction(times) for fact, times in terms.items()}

    def _in_network(self, fact: Fact) -> Tied:
        return self.counted.counted_for, self.projection if fact.of_links else None, fact

    def totals(self, known: Iterable[Tied]) -> Iterator[Tied]:
        """Facts that are not published, but whose cells are; other series may say more of them."""
        if breakdown_in(self.counted) is None:
            return
        mine = frozenset(each[2] for each in known if each == self._in_network(each[2]))
        for relation in self.counted.relations(Known(mine, self.bound)):
            total, *cells = (fact for fact, _ in relation.terms)
            if relation.identity and total not in mine and mine.issuperset(cells):
                yield self._in_network(total)

    def relations(self, known: Iterable[Tied]) -> Iterator[tuple[Terms, bool]]:
        """What holds between facts that are known, and whether it is an identity."""
        mine = frozenset(each[2] for each in known if each == self._in_network(each[2]))
        for relation in self.counted.relations(Known(mine, self.bound)):
            if all(fact in mine for fact, times in relation.terms if times):
                yield self._tied(dict(relation.terms)), relation.identity


Place: TypeAlias = tuple[int, int]  # a series, and a number of its releases


@dataclass(frozen=True)
class KnownBest:
    """By which numbers of the same release a number is known best; public plans decide.

    Attributes:
        same: the same fact with the least noise, which is often itself.
        above: one that it never exceeds, and that has much less noise; None if there is none.
        below: one that never exceeds it, likewise.
    """

    same: Place
    above: Place | None
    below: Place | None


@dataclass(frozen=True, eq=False)
class Picture:
    """All series as they are estimated together.

    Attributes:
        values: of each series, (releases, numbers).
        known_best: of each series, release and number: by which numbers it is known best.
    """

    values: tuple[Floats, ...]
    known_best: tuple[tuple[tuple[KnownBest, ...], ...], ...]


def joint(members: Sequence[Member]) -> Picture:
    """All series as estimated together; each ends at the same step.

    Guarantees: what holds of every network holds of the estimates, but for a few tenths; numbers
        that are the same fact are equal. In weighted squares they are no farther from the truth
        than what enters.
    """
    if not members:
        return Picture((), ())
    picture = _Study(members).picture()
    if picture is not None:
        return picture
    if len(members) == 1:
        return _with_one_apart(Picture((), ()), 0, members[0])
    widest = max(range(len(members)), key=lambda number: members[number].values.shape[1])
    others = joint([*members[:widest], *members[widest + 1 :]])
    return _with_one_apart(others, widest, members[widest])


def _with_one_apart(picture: Picture, number: int, member: Member) -> Picture:
    """The picture of all others, and a series as it says by itself."""

    def moved(place: Place | None) -> Place | None:
        return place if place is None or place[0] < number else (place[0] + 1, place[1])

    def renumbered(best: KnownBest) -> KnownBest:
        same = moved(best.same)
        assert same is not None, "everything is known by something"
        return KnownBest(same, moved(best.above), moved(best.below))

    values = list(picture.values)
    known = [tuple(tuple(map(renumbered, row)) for row in rows) for rows in picture.known_best]
    own = tuple(KnownBest((number, place), None, None) for place in range(member.values.shape[1]))
    values.insert(number, np.round(member.values, DECIMALS))
    known.insert(number, (own,) * len(member.values))
    return Picture(tuple(values), tuple(known))


class _Study:
    """All steps, in eras of the same series."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        self.steps = max(each.first + len(each.values) for each in members)
        starts = sorted({each.first for each in members})
        self.eras: list[_Era] = []
        column = 0
        for start, stop in zip(starts, [*starts[1:], self.steps], strict=True):
            here = [number for number, each in enumerate(members) if each.first <= start]
            era = _Era(start, stop, column, [(number, members[number]) for number in here])
            self.eras.append(era)
            column += len(era.base) * (stop - start)
        self.width = column

    def picture(self) -> Picture | None:
        """The estimate; None if it would take too long."""
        measured = self._rows(_Era.measurements)
        values, weights = self._measurements()
        walls = self._walls()
        if self.width * bands_of(measured, walls) ** 2 > MOST:
            return None
        found = nearest(measured, values, weights, walls, self.width)
        tenths = _settled(np.rint(found * TENTHS), walls)
        return Picture(self._values(tenths), self._known_best())

    def _rows(self, rows_of: Callable[[_Era], Sequence[Row]]) -> Rows:
        """The rows of every step, which are alike within an era."""
        return Rows.stacked(
            [
                Rows.of(rows_of(era)).repeated(len(era.steps), era.column, len(era.base))
                for era in self.eras
            ]
        )

    def _walls(self) -> Rows:
        between = [Rows.of(list(self._onward(*pair))) for pair in self._neighbours()]
        onward = [
            Rows.of(era.onward).repeated(len(era.steps) - 1, era.column, len(era.base))
            for era in self.eras
        ]
        return Rows.stacked([self._rows(_Era.bounds), *onward, *between])

    def _neighbours(self) -> Iterator[tuple[_Era, _Era]]:
        yield from zip(self.eras, self.eras[1:], strict=False)

    def _onward(self, before: _Era, after: _Era) -> Iterator[Row]:
        """What cannot fall from one era to the next."""
        last = before.column + len(before.base) * (len(before.steps) - 1)
        for fact in before.rising:
            yield (
                *((last + column, -times) for column, times in before.row({fact: Fraction(1)})),
                *((after.column + place, times) for place, times in after.row({fact: Fraction(1)})),
            )

    def _measurements(self) -> tuple[Floats, Floats]:
        """Values and weights, in the order of the rows."""
        values, weights = [], []
        for era in self.eras:
            parts = [
                each.entering(self.members)[era.start - each.first : era.stop - each.first]
                for _, each in era.members
            ]
            spread = [
                np.repeat(
                    each.variances[era.start - each.first : era.stop - each.first, np.newaxis],
                    each.values.shape[1],
                    axis=1,
                )
                for _, each in era.members
            ]
            values.append(np.concatenate(parts, axis=1).ravel())
            weights.append(1 / np.maximum(np.concatenate(spread, axis=1).ravel(), LEAST))
        return np.concatenate(values), np.concatenate(weights)

    def _values(self, tenths: Floats) -> tuple[Floats, ...]:
        found = [np.zeros_like(each.values) for each in self.members]
        for era in self.eras:
            table = tenths[era.column :][: len(era.base) * len(era.steps)]
            table = table.reshape(len(era.steps), len(era.base)) / TENTHS
            for (number, each), matrix in zip(era.members, era.matrices, strict=True):
                found[number][era.start - each.first : era.stop - each.first] = table @ matrix
        return tuple(found)

    def _known_best(self) -> tuple[tuple[tuple[KnownBest, ...], ...], ...]:
        found: list[list[tuple[KnownBest, ...]]] = [[] for _ in self.members]
        for era in self.eras:
            for step in era.steps:
                best = era.known_best(step)
                for (number, _), row in zip(era.members, best, strict=True):
                    found[number].append(row)
        return tuple(map(tuple, found))


class _Era:
    """Steps at which the same series have releases."""

    def __init__(
        self, start: int, stop: int, column: int, members: Sequence[tuple[int, Member]]
    ) -> None:
        self.start, self.stop, self.column, self.members = start, stop, column, members
        facts = dict.fromkeys(
            fact for _, each in members for terms in each.numbers for fact in terms
        )
        facts |= dict.fromkeys(fact for _, each in members for fact in each.totals([*facts]))
        related = dict.fromkeys(
            (tuple(terms.items()), identity)
            for _, each in members
            for terms, identity in each.relations(facts)
        )
        self._in_others = _eliminated([dict(terms) for terms, identity in related if identity])
        self._least = [dict(terms) for terms, identity in related if not identity]
        self.base = [fact for fact in facts if fact not in self._in_others]
        self._place = {fact: place for place, fact in enumerate(self.base)}
        self.rising = [fact for fact in facts if fact[2].rises]

    @property
    def steps(self) -> range:
        """Of the calendar."""
        return range(self.start, self.stop)

    def row(self, terms: Terms) -> Row:
        """A combination of facts in the columns of a step."""
        found = _substituted(terms, self._in_others)
        return tuple(sorted((self._place[fact], float(times)) for fact, times in found.items()))

    def measurements(self) -> list[Row]:
        """What is measured at a step."""
        return [self.row(terms) for _, each in self.members for terms in each.numbers]

    def bounds(self) -> list[Row]:
        """What cannot be negative at a step: what is counted, and what relations say."""
        facts = [self.row({fact: Fraction(1)}) for fact in self.base]
        rows = [*self.measurements(), *map(self.row, self._least)]
        return list(dict.fromkeys([*facts, *(row for row in rows if _can_be_negative(row))]))

    @property
    def onward(self) -> list[Row]:
        """What cannot fall from a step to the next; nor then can sums of it."""
        plain = [self.row({fact: Fraction(1)}) for fact in self.rising]
        return [
            (*((place, -times) for place, times in row), *self._later(row))
            for row in dict.fromkeys(plain)
            if len(row) == 1 or _can_be_negative(row)
        ]

    def _later(self, row: Row) -> Iterator[tuple[int, float]]:
        return ((place + len(self.base), times) for place, times in row)

    @cached_property
    def matrices(self) -> list[Floats]:
        """Of each series: its numbers from the columns of a step."""
        found = []
        for _, each in self.members:
            matrix = np.zeros((len(self.base), len(each.numbers)))
            for number, terms in enumerate(each.numbers):
                for place, times in self.row(terms):
                    matrix[place, number] = times
            found.append(matrix)
        return found

    @cached_property
    def _same(self) -> dict[Row, list[Place]]:
        """Which numbers of which series are one fact."""
        found: dict[Row, list[Place]] = {}
        for (number, _), rows in zip(self.members, self._rows_of_members, strict=True):
            for place, row in enumerate(rows):
                found.setdefault(row, []).append((number, place))
        return found

    @cached_property
    def _above(self) -> dict[Row, list[Row]]:
        """Facts that each fact never exceeds, the nearest first."""
        found: dict[Row, list[Row]] = {}
        for row in self.bounds():
            if len(row) == 2 and sorted(times for _, times in row) == [-1, 1]:
                more, less = sorted(row, key=lambda entry: -entry[1])
                found.setdefault(((less[0], 1.0),), []).append(((more[0], 1.0),))
        return {row: _reached(row, found) for row in self._same}

    @cached_property
    def _below(self) -> dict[Row, list[Row]]:
        """Facts that never exceed each fact, the nearest first."""
        found: dict[Row, list[Row]] = {row: [] for row in self._same}
        for distance in range(len(self.base)):
            for row, above in self._above.items():
                if distance < len(above) and above[distance] in found:
                    found[above[distance]].append(row)
        return found

    def known_best(self, step: int) -> list[tuple[KnownBest, ...]]:
        """Of each series and number: by which numbers it is known best."""
        spread = {number: each.variances[step - each.first] for number, each in self.members}
        best = {row: min(same, key=lambda one: spread[one[0]]) for row, same in self._same.items()}

        def much_better(rows: list[Row], than: Place) -> Place | None:
            others = (best[row] for row in rows if row in best)
            return next((one for one in others if spread[one[0]] * LESS <= spread[than[0]]), None)

        known = {
            row: KnownBest(
                one, much_better(self._above[row], one), much_better(self._below[row], one)
            )
            for row, one in best.items()
        }
        return [tuple(known[row] for row in rows) for rows in self._rows_of_members]

    @cached_property
    def _rows_of_members(self) -> list[list[Row]]:
        """Each number of each series."""
        return [[self.row(terms) for terms in each.numbers] for _, each in self.members]


def _reached(row: Row, above: Mapping[Row, list[Row]]) -> list[Row]:
    """What lies above something, directly or by way of others, the nearest first."""
    found: dict[Row, None] = {}
    layer = above.get(row, [])
    while layer:
        fresh = [each for each in dict.fromkeys(layer) if each not in found]
        found |= dict.fromkeys(fresh)
        layer = [more for each in fresh for more in above.get(each, [])]
    return list(found)


def _can_be_negative(row: Row) -> bool:
    return any(times < 0 for _, times in row)


def _eliminated(identities: Sequence[Terms]) -> dict[Tied, Terms]:
    """The first fact of each identity, in terms of facts that no identity gives."""
    found: dict[Tied, Terms] = {}
    for identity in identities:
        terms = _substituted(identity, found)
        if not terms:  # it follows from those before
            continue
        first = next(fact for fact in (*identity, *terms) if fact in terms)
        given = {fact: -times / terms[first] for fact, times in terms.items() if fact != first}
        found = {fact: _substituted(each, {first: given}) for fact, each in found.items()}
        found[first] = given
    return found


def _substituted(terms: Terms, in_others: Mapping[Tied, Terms]) -> Terms:
    """The same combination without facts that are given in terms of others."""
    found: dict[Tied, Fraction] = {}
    for fact, times in terms.items():
        for other, share in in_others.get(fact, {fact: Fraction(1)}).items():
            found[other] = found.get(other, Fraction()) + times * share
    return {fact: times for fact, times in found.items() if times}


def _settled(tenths: Floats, walls: Rows) -> Floats:
    """The same where rounding has put one number below another that it is never below."""
    above, below = walls.pairs()
    tenths = np.maximum(tenths, 0)
    while (tenths[above] < tenths[below]).any():
        raised = tenths.copy()
        np.maximum.at(raised, above, tenths[below])
        tenths = raised
    return tenths
