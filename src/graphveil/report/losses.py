"""Losses in words: what ε means as odds, and what a person beyond the promise can lose."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp
from typing import TYPE_CHECKING

from graphveil.graph.promises import HubBound
from graphveil.noise.zcdp import epsilon_of, rho_of

if TYPE_CHECKING:
    from graphveil.study.public.public_part import PublicPart


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
