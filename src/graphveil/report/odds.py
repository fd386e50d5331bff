"""Odds: what ε means for somebody who suspects that a person is in the records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp

PRIORS = (0.5, 0.1, 0.01)
ODDS_SHOWN = 1_000_000  # a larger factor says no more to a reader than this one


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
