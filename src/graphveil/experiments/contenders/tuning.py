"""Tuning: of many ways to drop links, the one whose true error is least.

As the paper tunes Compose-projection, and just as optimistic: nobody may look at the true error
in a release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphveil.experiments.contenders.trial import Attempt, Trial
from graphveil.experiments.protocol.protocol import Integers
from graphveil.graph.promises.bound import Bound
from graphveil.planning.plan import Plan

LOOKED_AT = 10  # options that are simulated in full


@dataclass(frozen=True, eq=False)
class Option:
    """One way to drop links.

    Attributes:
        threshold: a projection's threshold, or a promise with hubs.
        counted: what is left at each release.
        size: what one person can change in it, to which the noise is about in proportion.
        plan: how it would be published; None if that is refused.
    """

    threshold: Bound
    counted: Integers
    size: int
    plan: Callable[[], Plan | None]

    def attempt(self, trial: Trial) -> Attempt | None:
        """Publish it."""
        plan = self.plan()
        return None if plan is None else trial.attempt(plan, self.counted, self.threshold)


def tuned(trial: Trial, options: Sequence[Option]) -> Attempt | None:
    """The option of least true error, among those that are best by a rough estimate.

    The estimate takes the noise of one option for all, in proportion to their sizes: a plan for
    each of hundreds would take minutes.
    """
    first, plan = next(
        ((option, plan) for option in options if (plan := option.plan()) is not None),
        (None, None),
    )
    if first is None or plan is None:
        return None
    unit = trial.noise(plan) / first.size

    def roughly(option: Option) -> float:
        return float(trial.errors(option.counted + unit * option.size).mean())

    likely = sorted(options, key=roughly)[:LOOKED_AT]
    attempts = (option.attempt(trial) for option in likely)
    return min((each for each in attempts if each), key=trial.error, default=None)
