"""Ratios of published numbers: what is divided by what, and between which bounds the truth lies.

A function of published numbers and of public facts, so it spends nothing. The bounds are Fieller's
(1954): every r for which A − r·B is no farther from 0 than its noise can reach
(`docs/revisions.md#ratios`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from math import ceil, floor, gcd, log10, sqrt
from operator import add
from typing import TYPE_CHECKING, TypeAlias

from graphveil.deferred import Deferred
from graphveil.errors import ParameterError
from graphveil.graph.groups import SECOND
from graphveil.noise.tails import Noise, NoiseTails, in_parts
from graphveil.statistics.breakdown import ALIKE, MIXED, cell_words

if TYPE_CHECKING:
    from graphveil.mechanisms.planning import intervals
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.noise import noise_sum
else:  # who only reads a formula needs no laws
    intervals = Deferred("graphveil.mechanisms.planning.intervals")
    noise_sum = Deferred("graphveil.noise.noise_sum")

FORM = "2*links/people, (a - b)/c, degrees[3]/people, links[between]/links or links/before(links)"
LONGEST = 200  # characters of a formula
LARGEST = 10**6  # factor
SHOWN = 6  # cells that a refusal names
ROUNDS = 40  # of looking for an end of an interval; it takes three or four
FINEST = 12  # decimals of an end, at most


@dataclass(frozen=True, order=True)
class Number:
    """A number of a release.

    Attributes:
        series: whose.
        inside: which one of several, as it stands in brackets: a cell, a degree, or both.
        ago: how many steps before.
    """

    series: str
    inside: tuple[str, ...] = ()
    ago: int = 0


@dataclass(frozen=True)
class Ratio:
    """One sum of numbers over another.

    Attributes:
        above: what is divided: each number with its factor.
        below: by what; no factor is negative.
    """

    above: Mapping[Number, int]
    below: Mapping[Number, int]

    @classmethod
    def of(cls, text: str) -> Ratio:
        """From its formula, such as "2*links/people"; says what is wrong with it.

        Examples:
            >>> Ratio.of("2*links/people").above
            {Number(series='links', inside=(), ago=0): 2}
        """
        sides = _SLASH.split(text)
        if len(text) > LONGEST or len(sides) != 2:
            raise ParameterError("ratio", "must be one sum over another", hint=f"Write {FORM}.")
        above, below = map(_sum, sides)
        if not below or min(below.values()) < 0:
            raise ParameterError(
                "ratio",
                "divides by a difference, which may be 0 or less",
                hint="Divide by a number or by a sum.",
            )
        return cls(above, below)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Those that occur, once each."""
        return tuple(dict.fromkeys((*self.above, *self.below)))

    @property
    def reach(self) -> int:
        """How many steps back it looks."""
        return max(each.ago for each in self.numbers)

    @property
    def never_negative(self) -> bool:
        """Whether it is a sum over a sum."""
        return min(self.above.values(), default=0) >= 0


_SLASH = re.compile(r"/(?![^\[\]]*\])")  # labels may have some
_TERM = re.compile(
    r"\s*([+-]?)\s*(?:(\d+)\s*\*\s*)?"
    r"(before\(\s*)?([a-z0-9]+(?:-[a-z0-9]+)*)((?:\[[^\[\]]+\]){0,2})(?(3)\s*\))\s*"
)
_INSIDE = re.compile(r"\[([^\[\]]+)\]")


def _sum(text: str) -> dict[Number, int]:
    """The factors of a sum; several terms stand in brackets."""
    inside = text.strip()
    bracketed = inside.startswith("(") and inside.endswith(")")
    terms = list(_terms(inside[1:-1] if bracketed else inside))
    if len(terms) > 1 and not bracketed:
        raise ParameterError("ratio", "needs brackets around a sum", hint="Write (a + b)/c.")
    found: dict[Number, int] = {}
    for number, factor in terms:
        found[number] = found.get(number, 0) + factor
    return {number: factor for number, factor in found.items() if factor}


def _terms(text: str) -> Iterator[tuple[Number, int]]:
    at = 0
    while at < len(text) or at == 0:
        term = _TERM.match(text, at)
        if term is None or term.end() == at or (at and not term[1]):
            raise ParameterError("ratio", "cannot be read", hint=f"Write {FORM}.")
        sign, times, before, name, brackets = term.groups()
        factor = int(times or 1)
        if factor > LARGEST:
            raise ParameterError(
                "ratio", f"has a factor above {LARGEST:,}", hint="Use a smaller one."
            )
        at = term.end()
        ago = 0 if before is None else 1
        yield (
            Number(name, tuple(map(str.strip, _INSIDE.findall(brackets))), ago),
            -factor if sign == "-" else factor,
        )


# Which numbers of a release a formula names.

WITHIN, BETWEEN = "within", "between"  # of links and triangles: all alike, or not
Place: TypeAlias = tuple[dict[str, str], int | None]  # the cell and the degree of a number


def named_places(number: Number, places: Sequence[Place]) -> tuple[int, ...]:
    """Where in a release the numbers stand that a formula adds up; refuses what is not there.

    Args:
        number: as a formula has it.
        places: what each number of a release of its series is about.
    """
    cells = [cell for cell, _ in places]
    degrees = list(dict.fromkeys(degree for _, degree in places if degree is not None))
    divided, inside = any(cells), list(number.inside)
    if len(inside) > divided + bool(degrees):
        raise _unknown(number, "is a single number, without brackets")
    degree = _degree(number, inside.pop() if inside else "", degrees) if degrees else None
    chosen = _cells(number, inside[0], cells) if inside else set(range(len(places)))
    return tuple(at for at in sorted(chosen) if degree in (None, places[at][1]))


def _unknown(number: Number, problem: str, hint: str = "") -> ParameterError:
    return ParameterError("ratio", f"'{number.series}' {problem}", hint=hint)


def _degree(number: Number, text: str, degrees: Sequence[int]) -> int:
    if text.isdecimal() and int(text) in degrees:
        return int(text)
    before = "".join(f"[{each}]" for each in number.inside[:-1])
    raise _unknown(
        number,
        f"has one number per degree, from {degrees[0]} to {degrees[-1]}",
        hint=f"Write {number.series}{before}[{degrees[min(1, len(degrees) - 1)]}].",
    )


def _cells(number: Number, text: str, cells: Sequence[dict[str, str]]) -> set[int]:
    """The cells that are called so; those within groups, or between them."""
    wanted = _plain(text)
    for said in (cell_words, _turned):
        found = {at for at, cell in enumerate(cells) if wanted == _plain(said(cell))}
        if found:
            return found
    alike = {at: same for at, cell in enumerate(cells) if (same := _alike(cell)) is not None}
    if alike and wanted in (WITHIN, BETWEEN):
        return {at for at, same in alike.items() if same == (wanted == WITHIN)}
    known = list(dict.fromkeys(cell_words(each) for each in cells))
    listed = ", ".join([*([WITHIN, BETWEEN] if alike else []), *known[:SHOWN]])
    more = " …" if len(known) > SHOWN else ""
    raise _unknown(number, f"has no cell '{text[:40]}'", hint=f"There are: {listed}{more}.")


def _turned(cell: dict[str, str]) -> str:
    """A pair in words, its second end first."""
    other = {
        name.removesuffix(SECOND): each for name, each in cell.items() if name.endswith(SECOND)
    }
    own = {f"{name}{SECOND}": each for name, each in cell.items() if name in other}
    return cell_words(other | own)


def _alike(cell: Mapping[str, str]) -> bool | None:
    """Whether all people of an object are alike; None where it is about one person."""
    if set(cell.values()) <= {ALIKE, MIXED}:
        return ALIKE in cell.values()
    own = {name: label for name, label in cell.items() if not name.endswith(SECOND)}
    other = {name.removesuffix(SECOND): label for name, label in cell.items() if name not in own}
    return own == other if other else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


@dataclass(frozen=True)
class Bounds:
    """Between which numbers a ratio lies.

    Attributes:
        low: the lower end; None if there is none.
        high: the upper end; None if there is none.
        empty: whether no ratio that is possible fits: noise has taken a count far below 0.
    """

    low: Fraction | None
    high: Fraction | None
    empty: bool = False

    def around(self, value: Fraction) -> Bounds:
        """With an estimate between them."""
        low = None if self.low is None else min(self.low, value)
        return Bounds(low, None if self.high is None else max(self.high, value))


@dataclass(frozen=True)
class Source:
    """Where a number comes from, with noise of its own.

    Attributes:
        plan: how it is published.
        above: the factor of each release, by its place in the series, in what is divided.
        below: likewise, in what it is divided by.
    """

    plan: Plan
    above: Mapping[int, int]
    below: Mapping[int, int]

    def noise(self, ratio: Fraction) -> Noise | None:
        """The law of its noise in A − ratio·B; None if it has none."""
        weights = {
            at: self.above.get(at, 0) - ratio * self.below.get(at, 0)
            for at in {**self.above, **self.below}
        }
        used = {at: weight for at, weight in weights.items() if weight}
        if not used:
            return None
        unit = reduce(_common, used.values())
        whole = {at: int(weight / unit) for at, weight in used.items()}
        return scaled(intervals.noise_of(self.plan, whole), unit)


def _common(one: Fraction, other: Fraction) -> Fraction:
    """The largest number of which both are multiples; of small denominators."""
    below = one.denominator * other.denominator // gcd(one.denominator, other.denominator)
    return Fraction(gcd(int(one * below), int(other * below)), below)


def scaled(noise: noise_sum.NoiseSum | NoiseTails, factor: Fraction) -> Noise:
    """The law of a multiple of a noise.

    Guarantees: of what is known by its tails, P(|factor·noise| > w) = P(|noise| > w/factor).
    """
    size = abs(factor)
    if size == 1:
        return noise
    if isinstance(noise, noise_sum.NoiseSum):
        terms = tuple(replace(each, weights=each.weights * float(size)) for each in noise.terms)
        return replace(noise, terms=terms, slack=noise.slack * size)

    def beyond(width: int) -> float:
        return noise.outside(width * size.denominator // size.numerator)

    return NoiseTails(beyond, noise.variance() * float(size) ** 2)


def _only_tails(noise: Noise) -> NoiseTails:
    """The same law; sums with it are found quickly, and are a little too wide."""
    return NoiseTails(noise.outside, noise.variance())


@dataclass(frozen=True)
class Measured:
    """A ratio as it was measured.

    Attributes:
        above: the raw value of what is divided.
        below: the raw value of what it is divided by.
        sources: of both; their noises are independent.
        level: with which probability bounds hold.
        never_negative: whether the true ratio cannot be below 0.
    """

    above: int
    below: int
    sources: tuple[Source, ...]
    level: Fraction
    never_negative: bool

    def bounds(self) -> Bounds:
        """Fieller's set.

        Guarantees: it holds the true ratio with the probability `level`, if there is one: for it,
            A − r·B is nothing but noise. Where the set has a gap, the gap is taken in.
        """
        if self._may_be_over_nothing():
            return self._unbounded()
        middle = Fraction(self.above, self.below)
        low, high = self._end(middle, -1), self._end(middle, +1)
        if not self.never_negative:
            return Bounds(low, high)
        return Bounds(max(low, Fraction()), max(high, Fraction()), empty=high < 0)

    def inside(self, ratio: Fraction) -> bool:
        """Whether noise alone can explain what is left."""
        return abs(self.above - ratio * self.below) <= self._reach(ratio)

    def _noise(self, ratio: Fraction) -> Noise | None:
        noises = [noise for each in self.sources if (noise := each.noise(ratio)) is not None]
        sums = [each for each in noises if isinstance(each, noise_sum.NoiseSum)]
        tails = [_only_tails(each) for each in noises if not isinstance(each, noise_sum.NoiseSum)]
        single = intervals.quickly(reduce(add, sums)) if sums else None
        if not tails:
            return single
        # Divisions of divisions would be tried one within the other: of several, all at once.
        together = in_parts(tails) if len(tails) > 2 else reduce(NoiseTails.__add__, tails)
        return together if single is None else together + single

    def _reach(self, ratio: Fraction) -> int:
        """How far its noise can reach."""
        if ratio not in self._reaches:
            noise = self._noise(ratio)
            self._reaches[ratio] = 0 if noise is None else noise.half_width(self.level)
        return self._reaches[ratio]

    @cached_property
    def _reaches(self) -> dict[Fraction, int]:
        return {}

    def _may_be_over_nothing(self) -> bool:
        """Whether noise alone can explain what it is divided by; by Chebyshev, often not."""
        sources = tuple(Source(each.plan, each.below, {}) for each in self.sources)
        below = replace(self, above=self.below, sources=sources)
        far = below._variance(Fraction()) / float(1 - self.level)
        return (abs(self.below) - len(sources)) ** 2 <= far and below.inside(Fraction())

    def _unbounded(self) -> Bounds:
        """What it is divided by may be 0: the ratio has no upper limit, and perhaps no lower."""
        if not self.never_negative or self.inside(Fraction()):
            return Bounds(Fraction() if self.never_negative else None, None)
        low, high = Fraction(), Fraction(1, 1000)
        for _ in range(ROUNDS):
            if self.inside(high):
                break
            high *= 4
        for _ in range(ROUNDS):
            if high - low <= high / 1000:
                break
            middle = _rounded((low + high) / 2, 2)
            low, high = (low, middle) if self.inside(middle) else (middle, high)
        return Bounds(low, None)

    def _end(self, middle: Fraction, sign: int) -> Fraction:
        """The end on one side: from the shape of the law at the last guess, until it is outside."""
        step = Fraction(1, 10 ** self._decimals(middle))
        guess = middle
        for number in range(ROUNDS):
            away = max(self._away(guess, middle, sign) * (1 + Fraction(number, 50)), step)
            end = Fraction(ceil((middle * sign + away) / step)) * step * sign
            if not self.inside(end):
                return end
            guess = end
        return guess

    def _away(self, guess: Fraction, middle: Fraction, sign: int) -> Fraction:
        """How far from the middle (A − rB)² is κ² times the variance at r, with κ as at the guess.

        In s = r − middle the left side is B²s², and the variance is one of A' = A − middle·B.
        """
        kappa = self._reach(guess) ** 2 / max(self._variance(guess), 1e-300)
        own, shared, below = self._variances(middle)
        bend = self.below**2 - kappa * below
        if bend <= 0:  # as if there were no end: but there is one, a little further
            return 2 * abs(guess - middle) + 1
        turn = -sign * kappa * shared
        return Fraction((turn + sqrt(turn * turn + bend * kappa * own)) / bend)

    def _variance(self, ratio: Fraction) -> float:
        noise = self._noise(ratio)
        return 0.0 if noise is None else noise.variance()

    def _variances(self, middle: Fraction) -> tuple[float, float, float]:
        """Of A − middle·B, of that with B, and of B."""
        own, more, less = (self._variance(middle + ratio) for ratio in (0, 1, -1))
        return own, (less - more) / 4, max((more + less) / 2 - own, 0.0)

    def _decimals(self, middle: Fraction) -> int:
        """So many that an end is known to about a hundredth of the spread."""
        spread = sqrt(self._variance(middle)) / abs(self.below)
        return min(max(0, 2 - floor(log10(max(spread, 1e-12)))), FINEST)


def _rounded(value: Fraction, digits: int) -> Fraction:
    """A number of few digits, near a value; so that weights are small whole numbers."""
    shift = 10 ** max(0, digits + 1 - floor(log10(max(float(value), 1e-12))))
    return Fraction(round(value * shift), shift)
