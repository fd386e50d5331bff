"""Promises about links: a degree bound, a bound that leaves room for hubs, or none.

A bound comes from knowledge of the population, never from the data at hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from graphveil.deferred import np
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray


Direction: TypeAlias = Literal["total", "out", "in"]
NodeDegrees: TypeAlias = "NDArray[np.integer]"


BoundLike: TypeAlias = "Bound | int | tuple[int, int]"


def as_bound(given: BoundLike) -> Bound:
    """A bound, or the one that a number means; two are for links to and from a person."""
    if isinstance(given, Bound):
        return given
    if isinstance(given, tuple | list):
        if len(given) != 2:
            raise ParameterError("bound", "is one number, or two for links to and from a person")
        return InOutBound(*given)
    return DegreeBound(given)


def _require_positive(parameter: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(parameter, f"must be a whole number of at least 1, not {value!r}")


class Bound(ABC):
    """What is promised about everybody's links, at every step.

    A formula that is proved for one promise says nothing about another. Hence a promise that
    leaves somebody's links unlimited must refuse `limit`, not answer with a large number.
    """

    @property
    @abstractmethod
    def directed(self) -> bool:
        """Whether it speaks of directed sequences."""

    @abstractmethod
    def limit(self, direction: Direction) -> int:
        """The most links of one direction, or in total, that anybody has.

        An undirected link is an out-link and an in-link of both its ends at once.
        """

    def fits(self, *, directed: bool) -> bool:
        """Whether it can be used with sequences of this kind."""
        return self.directed == directed

    @property
    def counted(self) -> Bound:
        """The degree bound that holds of what is counted under this promise."""
        return self

    @property
    def checked(self) -> bool:
        """Whether records that break it are refused; numbers then hold for all that are not."""
        return True

    @property
    @abstractmethod
    def reciprocal(self) -> bool:
        """Whether u→v and v→u may occur together, as two edges."""

    @property
    @abstractmethod
    def limits(self) -> tuple[int, ...]:
        """The numbers of the promise, as users give them."""

    @property
    @abstractmethod
    def brief(self) -> str:
        """The promise in a table's cell."""

    @property
    @abstractmethod
    def in_words(self) -> str:
        """What a person has, for readers of what is published: "at most 15 links"."""

    @abstractmethod
    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """Whether these degrees keep the promise, whichever nodes are linked.

        An undirected graph has equal ones outward and inward.
        """

    @abstractmethod
    def wider(self, by: int) -> Bound:
        """The same promise with every limit raised."""

    @abstractmethod
    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """What graphs of this kind can be projected to: each limit at each of its `levels`."""

    @property
    def kind(self) -> str:
        """The graphs that it speaks of, in a word."""
        if not self.directed:
            return "undirected"
        return "directed" if self.reciprocal else "oriented"

    @property
    def assumption(self) -> str:
        """The assumption under which numbers for this bound hold, as a sentence."""
        text = f"every node has {self}, at every step"
        return f"{text}; reciprocal edges may occur" if self.reciprocal else text


class Unpromised(Bound, ABC):
    """Nothing is promised: every network keeps it, and nothing is wider."""

    checked = False
    assumption = "nothing: it holds for every network"

    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """By every graph."""
        return True

    def wider(self, by: int) -> Bound:
        """Nothing is wider."""
        return self

    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """None that would follow from it."""
        return []


@dataclass(frozen=True)
class OneLimit(Bound, ABC):
    """Nobody has more than `degree` links, of one direction or in total."""

    degree: int

    def __post_init__(self) -> None:
        _require_positive("bound", self.degree)

    def limit(self, direction: Direction) -> int:
        """D for all: nobody has more links of one direction than in total."""
        return self.degree

    @property
    def limits(self) -> tuple[int]:
        """D alone."""
        return (self.degree,)

    def wider(self, by: int) -> Self:
        """D raised."""
        return replace(self, degree=self.degree + by)

    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """A threshold per level."""
        return [replace(self, degree=level) for level in levels(self.degree)]


@dataclass(frozen=True)
class DegreeBound(OneLimit):
    """Every node of an undirected sequence has at most `degree` links, at every step.

    Examples:
        >>> DegreeBound(15).in_words
        'at most 15 links'
    """

    directed = False
    reciprocal = False

    @property
    def brief(self) -> str:
        """D alone."""
        return str(self.degree)

    @property
    def in_words(self) -> str:
        """As in "at most 15 links"."""
        return f"at most {self.degree:,} links"

    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """Whether nobody has more than D links."""
        return _within(outward, self.degree)

    def __str__(self) -> str:
        return f"degree at most {self.degree}"


@dataclass(frozen=True)
class InOutBound(Bound):
    """Every node of a directed sequence has at most `inward` in- and `outward` out-links.

    `oriented` declares that u→v and v→u never occur together; a sequence declared so
    refuses reciprocal edges. Without the declaration they belong to the domain.

    Examples:
        >>> print(InOutBound(inward=3, outward=10))
        in-degree at most 3, out-degree at most 10
    """

    inward: int
    outward: int
    oriented: bool = False

    directed = True

    def __post_init__(self) -> None:
        _require_positive("in-bound", self.inward)
        _require_positive("out-bound", self.outward)

    @property
    def smaller(self) -> int:
        """The paper-independent shorthand m = min(Din, Dout)."""
        return min(self.inward, self.outward)

    @property
    def larger(self) -> int:
        """The shorthand M = max(Din, Dout)."""
        return max(self.inward, self.outward)

    def limit(self, direction: Direction) -> int:
        """Din, Dout, or both together."""
        return {"in": self.inward, "out": self.outward}.get(direction, self.inward + self.outward)

    @property
    def reciprocal(self) -> bool:
        """Unless the promise excludes them."""
        return not self.oriented

    @property
    def limits(self) -> tuple[int, int]:
        """Din and Dout."""
        return self.inward, self.outward

    @property
    def brief(self) -> str:
        """As in "in 3, out 4"."""
        return f"in {self.inward}, out {self.outward}"

    @property
    def in_words(self) -> str:
        """As in "at most 3 incoming and 4 outgoing links"."""
        both = f"at most {self.inward:,} incoming and {self.outward:,} outgoing links"
        return f"{both}, never both ways between two people" if self.oriented else both

    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """Whether nobody has more than Dout out-links or Din in-links."""
        return _within(outward, self.outward) and _within(inward, self.inward)

    def wider(self, by: int) -> InOutBound:
        """Din and Dout raised."""
        return replace(self, inward=self.inward + by, outward=self.outward + by)

    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """A threshold per pair of levels; a projection takes away no reciprocal edges."""
        return [InOutBound(*pair) for pair in product(levels(self.inward), levels(self.outward))]

    def __str__(self) -> str:
        text = f"in-degree at most {self.inward}, out-degree at most {self.outward}"
        return f"{text}, oriented" if self.oriented else text


def _within(degrees: NodeDegrees, most: int) -> bool:
    return len(degrees) == 0 or int(degrees.max()) <= most


# A promise that networks with hubs keep: nobody is linked to more than a few of them.
#
# A *hub* is a person with more than D links. Hubs may have as many links as they like; what is
# promised is that nobody is linked to more than H hubs, at every step. With H = 0 that is the
# promise that nobody has more than D links. Under this promise only the links are counted that
# are among the first D of both their ends (`projection.time_aware_projection`), and one person
# changes those by little: docs/sensitivities.md#hubs.
#
# What is counted keeps the bound D whatever the records are. So nothing has to stop where the
# promise is broken: people linked to at most H hubs are protected as promised, and others
# lose more with each hub, without a limit (docs/sensitivities.md#a-broken-promise).


@dataclass(frozen=True)
class HubBound(Bound):
    """Nobody is linked to more than so many people who have more links than `within` says.

    Attributes:
        within: what makes a hub, and how many links of each person are counted.
        hubs: how many hubs a person may be linked to. Of a directed sequence two numbers, in
            the order of the limits: of those to whom a person links, how many have more
            than Din incoming links; of those who link to a person, how many have more than
            Dout outgoing ones.
        checked: whether records that break the promise are refused. If they are not, nothing is
            known of others, and the numbers are those that hold for people who keep it.

    Examples:
        >>> HubBound(DegreeBound(10), hubs=(2,)).in_words
        'links to at most 2 people with more than 10 links'
    """

    within: DegreeBound | InOutBound
    hubs: tuple[int, ...]
    checked: bool = True

    def __post_init__(self) -> None:
        for each in self.hubs:
            if isinstance(each, bool) or not isinstance(each, int) or each < 0:
                problem = f"must be a whole number of at least 0, not {each!r}"
                raise ParameterError("hubs", problem)
        if len(self.hubs) != len(self.within.limits):
            raise ParameterError(
                "hubs",
                "needs one number for an undirected network, and two, for in- and out-hubs, for a "
                "directed one",
            )
        if self.checked and not any(self.hubs):
            raise ParameterError("hubs", "0 is the degree bound without hubs", hint="Leave it out.")

    def require_sense(self) -> None:
        """Refuse more hubs than anybody can be linked to, where the rest of the promise is kept.

        Nobody has more than Din incoming links if nobody is linked to an in-hub, and so on.
        """
        if not isinstance(self.within, InOutBound):
            return
        in_hubs, out_hubs = self.hubs
        for fewer, more, most, links in (
            (in_hubs, out_hubs, self.within.inward, "incoming"),
            (out_hubs, in_hubs, self.within.outward, "outgoing"),
        ):
            if not fewer and more > most:
                raise ParameterError(
                    "hubs",
                    f"nobody has more than {most} {links} links under this promise, so nobody is "
                    f"linked to {more} hubs that way",
                    hint=f"Promise at most {most}.",
                )

    @property
    def directed(self) -> bool:
        """As the bound within."""
        return self.within.directed

    @property
    def reciprocal(self) -> bool:
        """As the bound within."""
        return self.within.reciprocal

    def limit(self, direction: Direction) -> int:
        """Refused: a hub has any number of links, so a formula for a bound does not hold."""
        raise ParameterError(
            "hubs",
            "may have any number of links, and nothing is proved about this under such a promise",
            hint="Promise a degree bound without hubs.",
        )

    @property
    def counted(self) -> DegreeBound | InOutBound:
        """What holds of the links that are counted."""
        return self.within

    @property
    def limits(self) -> tuple[int, ...]:
        """The limits within, and how many hubs."""
        return *self.within.limits, *self.hubs

    @property
    def brief(self) -> str:
        """As in "10, hubs 2"; without hubs, only the bound within."""
        if not any(self.hubs):
            return self.within.brief
        return f"{self.within.brief}, hubs {', '.join(map(str, self.hubs))}"

    @property
    def in_words(self) -> str:
        """As in "links to at most 2 people with more than 10 links", or as the bound within."""
        return self.of_one_person if any(self.hubs) else self.within.in_words

    @property
    def of_one_person(self) -> str:
        """What a person has who keeps the promise: "links to nobody with more than 10 links"."""
        if isinstance(self.within, DegreeBound):
            return f"links to {_people(self.hubs[0])} with {_above(self.within.degree, 'link')}"
        to_hubs, from_hubs = (_people(number) for number in self.hubs)
        incoming = _above(self.within.inward, "incoming link")
        outgoing = _above(self.within.outward, "outgoing link")
        limits = f"links to {to_hubs} with {incoming}, and from {from_hubs} with {outgoing}"
        return f"{limits}, never both ways between two people" if self.within.oriented else limits

    @property
    def hub_in_words(self) -> str:
        """What makes a hub: "with more than 10 links"."""
        if isinstance(self.within, DegreeBound):
            return f"with {_above(self.within.degree, 'link')}"
        incoming = _above(self.within.inward, "incoming link")
        return f"with {incoming}, or by people with {_above(self.within.outward, 'outgoing link')}"

    @property
    def uncounted(self) -> str:
        """Which links are not counted, for readers of what is published."""
        if isinstance(self.within, DegreeBound):
            return f"links of a person beyond the first {self.within.degree:,}"
        return (
            f"incoming links of a person beyond the first {self.within.inward:,}, and outgoing "
            f"ones beyond the first {self.within.outward:,}"
        )

    def kept_by(self, outward: NodeDegrees, inward: NodeDegrees) -> bool:
        """Whether there is no hub; whether there are few enough, degrees alone do not tell."""
        return self.within.kept_by(outward, inward)

    def wider(self, by: int) -> HubBound:
        """Everything raised: what is a hub, and how many."""
        more = tuple(each + by for each in self.hubs)
        return replace(self, within=self.within.wider(by), hubs=more)

    def exceeded(self, by: int) -> tuple[HubBound, ...]:
        """What is true of a person with so many more hubs than promised, of each kind in turn."""
        more = (
            tuple(number + by * (kind == own) for own, number in enumerate(self.hubs))
            for kind in range(len(self.hubs))
        )
        return tuple(HubBound(self.within, hubs, checked=False) for hubs in more)

    @property
    def assumption(self) -> str:
        """The assumption under which numbers hold; of everybody only if that is checked."""
        if self.checked:
            return super().assumption
        limit = f"the person has {self._neighbours()}, at every step, whoever else has more"
        return f"{limit}; reciprocal edges may occur" if self.reciprocal else limit

    def thresholds(self, levels: Callable[[int], Iterable[int]]) -> list[Bound]:
        """As of the bound within."""
        return self.within.thresholds(levels)

    def __str__(self) -> str:
        return self._neighbours() if any(self.hubs) else str(self.within)

    def _neighbours(self) -> str:
        if isinstance(self.within, DegreeBound):
            few = "no neighbour" if not self.hubs[0] else f"at most {self.hubs[0]} neighbours"
            return f"{few} of degree above {self.within.degree}"
        to_hubs, from_hubs = self.hubs
        text = (
            f"at most {to_hubs} out-neighbours of in-degree above {self.within.inward} and at most "
            f"{from_hubs} in-neighbours of out-degree above {self.within.outward}"
        )
        return f"{text}, oriented" if self.within.oriented else text


def _people(number: int) -> str:
    if number == 0:
        return "nobody"
    return "at most one person" if number == 1 else f"at most {number:,} people"


def _above(number: int, thing: str) -> str:
    return f"more than {number:,} {thing}{'' if number == 1 else 's'}"


# No promise at all: nothing is said about anybody's links, and nothing can be broken.
#
# What is published then must not depend on a bound: counts of a projected graph, whose threshold
# does what a promise would do, and counts that nobody's links can change.


@dataclass(frozen=True)
class NoBound(Unpromised):
    """Everybody may have any number of links.

    Attributes:
        links: of which kind the sequences are.

    Examples:
        >>> NoBound().in_words
        'any number of links'
    """

    links: Literal["undirected", "directed"] = "undirected"

    limits = ()
    brief = "none"
    in_words = "any number of links"

    @property
    def directed(self) -> bool:
        """As was said."""
        return self.links == "directed"

    @property
    def reciprocal(self) -> bool:
        """Nothing forbids them where there are two directions."""
        return self.directed

    def limit(self, direction: Direction) -> int:
        """Refused: there is none."""
        raise ParameterError("bound", "is needed: without one, one person could change everything")

    def __str__(self) -> str:
        return "no bound"
