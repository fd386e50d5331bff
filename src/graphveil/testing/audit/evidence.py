"""Evidence against a privacy claim: how often an event happens on two neighbouring inputs.

If a mechanism is (ε, δ)-private, then P(event | one side) ≤ e^ε · P(event | other side) + δ
for every event. Two counts of how often it happened therefore bound ε from below, with
whatever confidence is asked: exact binomial bounds (Clopper and Pearson) on either side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]
CANDIDATES = 400  # how many thresholds are tried


@dataclass(frozen=True)
class DistinguishingEvent:
    """A score beyond a threshold, which speaks for one of the two sides.

    Attributes:
        threshold: the score from which the event happens, itself included.
        for_larger: whether high scores are meant, which speak for the larger sequence.
    """

    threshold: float
    for_larger: bool

    def happens(self, scores: Scores) -> int:
        """How many of the scores lie in the event."""
        beyond = scores >= self.threshold if self.for_larger else scores <= self.threshold
        return int(beyond.sum())


@dataclass(frozen=True)
class Evidence:
    """How often an event happened on either side, and what follows for ε.

    Attributes:
        runs: how many series were judged on each side.
        likely: how often the event happened on the side it speaks for.
        unlikely: how often it happened on the other side.
        lower_bound: ε is at least this, with the stated confidence.
    """

    runs: int
    likely: int
    unlikely: int
    lower_bound: float


def epsilon_bounds(
    likely: Numbers, unlikely: Numbers, runs: int, delta: float, error: float
) -> Scores:
    """Lower bounds on ε from counts; each is wrong with a probability of at most `error`."""
    from scipy.special import betaincinv

    some = np.maximum(likely, 1)
    least = np.where(likely > 0, betaincinv(some, runs - some + 1, error / 2), 0.0)
    all_but = np.minimum(unlikely, runs - 1)
    most = np.where(unlikely < runs, betaincinv(all_but + 1, runs - all_but, 1 - error / 2), 1.0)
    return np.log(np.maximum((least - delta) / most, 1.0))


def judge(
    event: DistinguishingEvent, larger: Scores, smaller: Scores, delta: float, error: float
) -> Evidence:
    """What the scores of fresh runs on both sides say about ε, by an event chosen before."""
    first, second = (larger, smaller) if event.for_larger else (smaller, larger)
    likely, unlikely, runs = event.happens(first), event.happens(second), len(larger)
    bound = epsilon_bounds(np.array([likely]), np.array([unlikely]), runs, delta, error)
    return Evidence(runs, likely, unlikely, float(bound[0]))


def best_event(
    larger: Scores, smaller: Scores, delta: float, error: float
) -> tuple[float, DistinguishingEvent]:
    """The threshold that would have given the largest bound on these runs, and that bound.

    The choice makes the bound optimistic: it must be judged on other runs.
    """
    return max(_options(larger, smaller, delta, error), key=lambda option: option[0])


def _options(
    larger: Scores, smaller: Scores, delta: float, error: float
) -> Iterator[tuple[float, DistinguishingEvent]]:
    runs = len(larger)
    pooled = np.sort(np.concatenate([larger, smaller]))
    places = np.linspace(0, len(pooled) - 1, CANDIDATES).astype(np.int64)
    thresholds = np.unique(pooled[places])
    larger, smaller = np.sort(larger), np.sort(smaller)
    above = [runs - np.searchsorted(side, thresholds, "left") for side in (larger, smaller)]
    below = [np.searchsorted(side, thresholds, "right") for side in (smaller, larger)]
    for for_larger, (likely, unlikely) in ((True, above), (False, below)):
        bounds = epsilon_bounds(likely, unlikely, runs, delta, error)
        best = int(bounds.argmax())
        yield float(bounds[best]), DistinguishingEvent(float(thresholds[best]), for_larger)
