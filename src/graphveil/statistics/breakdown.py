"""Breakdowns: another statistic by groups of people, at no further noise.

A breakdown is a table of cells: each object that the statistic counts (a person, a link, a
triangle) is in the cell that the labels of its own people give. Labels never change, so what one
person changes of an object stays in one cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.graph.groups import BY, MOST_CELLS, SECOND, Axis, Groups
from graphveil.graph.promises import Bound, HubBound
from graphveil.statistics.relations import Combination, Fact, Known, Relation, zero
from graphveil.statistics.sensitivity import PROOFS, Cells, Measure, Sensitivity, StaticChange
from graphveil.statistics.statistic import Statistic
from graphveil.statistics.tallies import (
    Counts,
    DegreeReach,
    DegreeTally,
    EdgeTally,
    GroupTally,
    RecentTally,
    TriangleTally,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

CELLS = "cells"
PROOF = f"{PROOFS}#breakdowns"
MOST_DEGREES = 256  # of a statistic by degrees: cells of more are not added up
ALIKE, MIXED = "alike", "mixed"  # labels of all people of an object

CellKind: TypeAlias = Literal["people", "pairs", "alike", "ends"]
# What an object of each tally may be sorted by; the first is taken where nobody says.
_OF_LINKS: tuple[CellKind, ...] = ("pairs", "alike", "ends")
_OF_PEOPLE: tuple[CellKind, ...] = ("people",)
_OF_TRIANGLES: tuple[CellKind, ...] = ("alike",)
# Attributes that a breakdown takes over from the statistic that it divides.
_TAKEN_OVER = ("name", "formulas", "domain", "monotone", "only_adds", "needs_bound", "advice")


@dataclass(frozen=True)
class Breakdown(Statistic):
    """Another statistic, cell by cell.

    Attributes:
        statistic: what is counted.
        axes: the groups that give the cells, crossed.
        cells: by whom an object is sorted: its one person, the pair of its ends, whether all its
            people are alike, or each end by itself, so that a link counts twice.
    """

    statistic: Statistic
    axes: tuple[Axis, ...]
    cells: CellKind

    vector: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for attribute in _TAKEN_OVER:
            object.__setattr__(self, attribute, getattr(self.statistic, attribute))
        by = " and ".join(each.name for each in self.axes)
        object.__setattr__(self, "summary", f"{self.statistic.summary}, by {by}")

    @classmethod
    def of(cls, statistic: Statistic, by: str, groups: Groups, cells: str | None) -> Breakdown:
        """A statistic by some groups; refuses one of which no breakdown is proved."""
        names = [each.strip() for each in by.split(",")]
        if len(set(names)) < len(names):
            raise ParameterError(BY, "names a group twice")
        axes = tuple(groups.axis(name) for name in names)
        kinds = _kinds(statistic)
        if cells is not None and cells not in kinds:
            raise ParameterError(
                CELLS, f"'{cells[:20]}' has no meaning here", hint=f"Choose {', '.join(kinds)}."
            )
        return cls(statistic, axes, next(each for each in kinds if cells in (None, each)))

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """None: it is swept with the statistics that it divides."""
        return ()

    # Which cells there are.

    @property
    def people_cells(self) -> int:
        """How many kinds of people there are."""
        return prod(len(each.cells) for each in self.axes)

    def count_cells(self, *, directed: bool) -> int:
        """How many cells the table has."""
        kinds = self.people_cells
        if self.cells == "pairs":
            return kinds**2 if directed else kinds * (kinds + 1) // 2
        return 2 if self.cells == "alike" else kinds

    def names(self, *, directed: bool) -> list[dict[str, str]]:
        """What each cell is, in order: by group, and of a pair by group of the second end."""
        groups = [each.name for each in self.axes]
        if self.cells == "alike":
            return [dict.fromkeys(groups, word) for word in (ALIKE, MIXED)]
        people = [
            dict(zip(groups, labels, strict=True))
            for labels in product(*(each.cells for each in self.axes))
        ]
        if self.cells != "pairs":
            return people
        pairs = product(people, people) if directed else combinations_with_replacement(people, 2)
        return [one | {f"{name}{SECOND}": other[name] for name in groups} for one, other in pairs]

    def shares(self, *, directed: bool) -> list[float]:
        """The part of the whole that is expected in each cell; from public guesses alone.

        As if people were linked without regard to their labels.
        """
        people = [prod(each) for each in product(*(axis.shares for axis in self.axes))]
        if self.cells == "alike":
            people_in = 3 if isinstance(self.statistic.tally(), TriangleTally) else 2
            alike = sum(share**people_in for share in people)
            return [alike, 1 - alike]
        if self.cells != "pairs":
            return [self._times * share for share in people]
        if directed:
            return [one * other for one, other in product(people, people)]
        places = combinations_with_replacement(range(len(people)), 2)
        return [people[a] * people[b] * (1 if a == b else 2) for a, b in places]

    def places(self, width: int) -> list[tuple[dict[str, str], int | None]]:
        """What each number of a release is about: its cell, and its degree if it has one.

        Args:
            width: how many numbers there are, which also tells whether pairs are ordered.
        """
        cells = self.names(directed=self._ordered(width))
        levels = getattr(self.statistic, "levels", None) or range(width // len(cells))
        degrees = levels if self.statistic.vector else (None,)
        return [(cell, degree) for cell in cells for degree in degrees]

    def _ordered(self, width: int) -> bool:
        """Whether pairs have a first and a second end, as the number of cells tells."""
        return self.cells == "pairs" and width == self.people_cells**2

    def require_few(self, *, directed: bool) -> None:
        """Refuse more cells than a reader could look at."""
        cells = self.count_cells(directed=directed)
        if cells > MOST_CELLS:
            raise ParameterError(
                BY,
                f"makes {cells:,} cells, and {MOST_CELLS} are allowed ('other' and 'unknown' are "
                "always there)",
                hint="Name fewer labels or groups"
                + (", or say cells=alike." if self.cells == "pairs" else "."),
            )

    # Counting.

    def tally(self) -> GroupTally:
        """What the statistic counts, by cell."""
        tally = self.statistic.tally()
        assert not isinstance(tally, RecentTally | GroupTally), "a window is around a breakdown"
        return GroupTally(tally, tuple(each.code for each in self.axes), self.cells)

    def differences(self, tallied: Counts, width: int | None = None) -> Counts:
        """Those of every cell, one beside the other: all numbers of the first cell, and so on."""
        steps, cells = tallied.shape[:2]
        own = width // cells if width is not None else None
        if own is None and self.statistic.vector:
            own = tallied.shape[2]
        by_cell = [
            self.statistic.differences(self._answer(tallied[:, cell]), own).reshape(steps, -1)
            for cell in range(cells)
        ]
        return np.concatenate(by_cell, axis=1)

    def _answer(self, counts: Counts) -> Counts | DegreeReach:
        """What a backend would have answered of one cell alone."""
        if isinstance(self.statistic.tally(), DegreeTally):
            return DegreeReach(counts, np.empty((0, 3), np.int64))
        return counts

    def width(self, bound: Bound) -> int:
        """The numbers of the statistic, for every cell."""
        return self.count_cells(directed=bound.directed) * self.statistic.width(bound)

    # How its numbers hang together with others.

    def facts(self, width: int) -> tuple[Combination, ...]:
        """Those of the statistic, cell by cell."""
        cells = len(self.names(directed=self._ordered(width)))
        own = self.statistic.facts(width // cells)
        return tuple(
            {self._in_cell(fact, cell): times for fact, times in terms.items()}
            for cell in range(cells)
            for terms in own
        )

    def _in_cell(self, fact: Fact, cell: int) -> Fact:
        by = ",".join(each.name for each in self.axes)
        return replace(fact, name=f"{fact.name}, {self.cells} by {by}: {cell}")

    def relations(self, known: Known) -> Iterator[Relation]:
        """Cells add up to the total; what holds of people holds of those in a cell."""
        plain = {fact for terms in self.statistic.facts(MOST_DEGREES) for fact in terms}
        for fact in sorted(plain):
            cells = [self._in_cell(fact, cell) for cell in range(MOST_CELLS)]
            told = [each for each in cells if each in known.facts]
            if told:
                yield zero({fact: self._times, **dict.fromkeys(told, -1)})
        if self.cells == "people":
            for cell in range(self.people_cells):
                yield from self._within(cell, plain, known)

    def _within(self, cell: int, plain: Iterable[Fact], known: Known) -> Iterator[Relation]:
        """What the statistic says, of the people of one cell."""
        named = {self._in_cell(fact, cell): fact for fact in plain}
        here = frozenset(fact for own, fact in named.items() if own in known.facts)
        for relation in self.statistic.relations(Known(here)):
            if all(fact in here for fact, _ in relation.terms):
                terms = ((self._in_cell(fact, cell), times) for fact, times in relation.terms)
                yield replace(relation, terms=tuple(terms))

    # What one person can change: object by object, so that it is the same for all cells together.

    @property
    def _times(self) -> int:
        """How often an object counts."""
        return 2 if self.cells == "ends" else 1

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """That of the statistic, where it is the sum over its objects.

        Guarantees:
            Proof: docs/sensitivities.md#breakdowns.
        """
        whole, times, shape = self.statistic.sensitivity(bound), self._times, self.shape(bound)
        squared = times**2 * whole.variation_squared
        reached: set[Measure] = {"static_l1", "edge_l1"}  # by people who are all in one cell
        if shape.mass == times * whole.l1:
            reached.add("l1")
        return replace(
            whole,
            l1=shape.mass,
            static_l1=times * whole.static_l1,
            l2_squared=squared,
            edge_l1=times * whole.edge_l1,
            variation=squared,
            exact_for=whole.exact_for & reached,
            proof=PROOF,
            paper=None,
        )

    def shape(self, bound: Bound) -> Cells:
        """The moves of the objects, each within its cell, and what changes alone.

        Guarantees:
            Proof: docs/sensitivities.md#breakdowns.
        """
        return self.statistic.cell_shape(bound).times(self._times)

    def static_change(self, bound: Bound) -> StaticChange:
        """That of the statistic, which is proved object by object, too."""
        whole, times = self.statistic.static_change(bound), self._times
        return replace(
            whole,
            l1=times * whole.l1,
            l2_squared=times**2 * whole.l2_squared,
            edge_l1=times * whole.edge_l1,
            span=2 * times * whole.l1,
            edge_span=2 * times * whole.edge_l1,
            exact_for=frozenset(),
        )

    def hub_l1(self, bound: HubBound) -> int:
        """Γ with hubs: lost links are objects, too."""
        return self.hub_shape(bound).mass

    def hub_shape(self, bound: HubBound) -> Cells:
        """Objects of the person, and those of lost links; these never cancel in a table."""
        return self.statistic.hub_cell_shape(bound).times(self._times)

    # Its words and its meaning.

    def written(self) -> dict[str, Any]:
        """The parameters of the statistic, and by what it is divided."""
        by = {BY: ",".join(each.name for each in self.axes)}
        usual = self.cells == _kinds(self.statistic)[0]
        return self.statistic.written() | by | ({} if usual else {CELLS: self.cells})

    def require_domain(self, *, directed: bool) -> None:
        """As the statistic does; and few cells."""
        self.statistic.require_domain(directed=directed)
        self.require_few(directed=directed)

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Not here: labels are no part of such a graph; see `lab.attacks.labels`."""
        raise NotImplementedError


def _kinds(statistic: Statistic) -> tuple[CellKind, ...]:
    """By whom the objects of a statistic can be sorted; refuses one without such objects."""
    if not statistic.by_groups:
        raise ParameterError(
            BY,
            f"{statistic.name} cannot be divided by groups: {statistic.undivided}",
            hint="Divide people, links, degrees, stars, triangles, or people in clusters.",
        )
    tally = statistic.tally()
    if isinstance(tally, EdgeTally):
        return _OF_LINKS
    return _OF_TRIANGLES if isinstance(tally, TriangleTally) else _OF_PEOPLE


def breakdown_in(statistic: Statistic) -> Breakdown | None:
    """The breakdown that a statistic is, perhaps in a recent network; None if it is none."""
    within = getattr(statistic, "statistic", statistic)
    found = statistic if isinstance(statistic, Breakdown) else within
    return found if isinstance(found, Breakdown) else None


def cell_words(cell: dict[str, str]) -> str:
    """A cell in words: "North", "North, female", "North and South"."""
    first = ", ".join(value for name, value in cell.items() if not name.endswith(SECOND))
    second = ", ".join(value for name, value in cell.items() if name.endswith(SECOND))
    return f"{first} and {second}" if second else first
