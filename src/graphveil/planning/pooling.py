"""Pooling: which series share one ε and δ for Gaussian noise, and which have an ε of their own.

Costs of Gaussian noise add up as squares do (`docs/mechanisms.md#a-pool-of-several-series`), so
that many series in one pool need less of it than with shares of ε. Where errors go as 1/ε outside
of the pool and as 1/√ρ in it, those that gain most are in every best pool that has any of the
others: so pools are tried in that order, each with its best split.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

from graphveil.noise.zcdp import rho_of
from graphveil.planning.best_split import WORTH, Curve, best_split, known_between

PAYS = 1.01  # of two pools whose errors differ by less than a hundredth, the smaller is taken
ALL = Fraction(1)


@dataclass(frozen=True)
class Contender:
    """A series that takes part in a split.

    Attributes:
        weight: of its error in the sum that is minimised.
        alone: its error for an ε of its own; None if it has no noise of pure ε.
        pooled: its error for a part of the ρ that the whole ε and δ allow; None if it has no
            Gaussian noise.
    """

    weight: float
    alone: Curve | None
    pooled: Curve | None


@dataclass(frozen=True)
class Split:
    """Shares of a total.

    Attributes:
        pool: the ε of the pool; 0 if there is none.
        members: the places of the series that share it.
        shares: of each series: of the pool's ρ, or an ε of its own.
    """

    pool: Fraction
    members: frozenset[int]
    shares: tuple[Fraction, ...]


def best_pool(
    total: Fraction, delta: Fraction, contenders: Sequence[Contender], worth: float = WORTH
) -> Split:
    """The split with nearly the smallest Σ weight·error; of nearly equal ones the smallest pool.

    Args:
        total: the ε that is split: all ε of single series and that of the pool sum to it.
        delta: of the pool.
        contenders: the series.
        worth: by which factor the sum may be larger, for shares that read well.
    """
    known = [_known(each, total) for each in contenders]
    trial = _Trial(total, delta, tuple(known), worth)
    found = [trial.split(members) for members in trial.pools()]
    errors = [trial.error(each) for each in found]
    least = min(errors)
    return next(each for each, error in zip(found, errors, strict=True) if error <= PAYS * least)


def _known(contender: Contender, total: Fraction) -> Contender:
    """The same with curves that are asked for only here and there."""
    alone, pooled = contender.alone, contender.pooled
    return Contender(
        contender.weight,
        None if alone is None else known_between(alone, total, total),
        None if pooled is None else known_between(pooled, ALL, ALL),
    )


@dataclass(frozen=True)
class _Trial:
    """Pools of one total, tried one after the other."""

    total: Fraction
    delta: Fraction
    contenders: tuple[Contender, ...]
    worth: float

    def pools(self) -> Iterable[frozenset[int]]:
        """Every pool that may be the best: those who cannot do without, then one more each."""
        bound = {place for place, each in enumerate(self.contenders) if each.alone is None}
        free = [place for place, each in enumerate(self.contenders) if each.alone and each.pooled]
        free.sort(key=self._reluctance)
        return [frozenset({*bound, *free[:number]}) for number in range(len(free) + 1)]

    def _reluctance(self, place: int) -> float:
        """The smaller, the sooner a series gains from a pool: b^(4/3)/a for errors a/ε and b/√ρ."""
        each = self.contenders[place]
        assert each.alone is not None, "it has the choice"
        own = each.weight * each.alone(self.total)
        return float(self._in_pool(place) ** (4 / 3)) / own

    def _in_pool(self, place: int) -> float:
        """What the error would weigh if the series had all of ρ."""
        each = self.contenders[place]
        assert each.pooled is not None, "it has Gaussian noise"
        return each.weight * each.pooled(ALL)

    @cached_property
    def _rho(self) -> Fraction:
        return rho_of(self.total, self.delta)

    def _part(self, pool: Fraction) -> Fraction:
        """Which part of all ρ a pool has."""
        return rho_of(pool, self.delta) / self._rho

    def split(self, members: frozenset[int]) -> Split:
        """The best one with this pool, which is split like one series more."""
        curves, weights = [], []
        if members:
            together = sum(self._in_pool(place) ** (2 / 3) for place in members) ** (3 / 2)
            curves, weights = [lambda pool: together / sqrt(self._part(pool))], [1.0]
        for place, each in enumerate(self.contenders):
            if place not in members:
                assert each.alone is not None, "else it is in every pool"
                curves, weights = [*curves, each.alone], [*weights, each.weight]
        parts = list(best_split(self.total, curves, weights, self.worth))
        pool = parts.pop(0) if members else Fraction()
        inside = iter(self._shares(sorted(members)))
        shares = (
            next(inside) if place in members else parts.pop(0)
            for place in range(len(self.contenders))
        )
        return Split(pool, members, tuple(shares))

    def _shares(self, members: Sequence[int]) -> tuple[Fraction, ...]:
        """Shares of the pool; the best ones do not depend on its size."""
        inside = [self.contenders[place] for place in members]
        curves = [each.pooled for each in inside if each.pooled is not None]
        return (
            best_split(ALL, curves, [each.weight for each in inside], self.worth) if inside else ()
        )

    def error(self, split: Split) -> float:
        """The sum that is minimised."""
        part = self._part(split.pool) if split.members else Fraction()
        found = 0.0
        for place, each in enumerate(self.contenders):
            share = split.shares[place]
            curve, at = (
                (each.pooled, share * part) if place in split.members else (each.alone, share)
            )
            assert curve is not None, "it is in the pool exactly if it may"
            found += each.weight * curve(at)
        return found
