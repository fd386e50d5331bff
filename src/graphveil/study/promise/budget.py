"""The budget: what all series may cost one person together, and what some share."""

from __future__ import annotations

from fractions import Fraction

from graphveil.study.promise.entries import Delta, Epsilon, Part, Text


class Pool(Part):
    """What several series with Gaussian noise cost together, of which each has a share.

    It is a part of the budget, taken whole when the study is opened
    (`docs/mechanisms.md#a-pool-of-several-series`).
    """

    epsilon: Epsilon
    delta: Delta

    @property
    def price(self) -> tuple[Fraction, Fraction]:
        """ε and δ that it takes out of the budget."""
        return Fraction(self.epsilon), Fraction(self.delta)


class Budget(Part):
    """What all series of the study may cost one person together."""

    epsilon: Epsilon
    delta: Delta | None = None
    justification: Text
    pool: Pool | None = None
