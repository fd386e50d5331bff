"""A promised series: one statistic, what it may cost, and how its noise is made."""

from __future__ import annotations

from fractions import Fraction

from pydantic import Field, model_validator

from graphveil.graph.promises.bound import Bound, DegreeBound, InOutBound
from graphveil.noise.exact_numbers import as_text
from graphveil.planning import AUTO
from graphveil.planning.usefulness import LARGEST
from graphveil.statistics.statistic import Statistic, statistic
from graphveil.study.promise.entries import Delta, Epsilon, Name, Objective, Part, PoolShare, Text


class SeriesPromise(Part):
    """One statistic, published at every step from `opened` on, for its share of the budget.

    Attributes:
        name: what the series is called in files and commands.
        statistic: what is counted.
        parameters: of the statistic.
        epsilon: the share of the budget, for the whole life of the series; None in a pool.
        pool: its share of the budget's pool, instead of an ε of its own.
        mechanism: its name, or "auto".
        horizon: how many releases there will be; None if unknown.
        projection: the threshold of a projecting mechanism.
        minimise: which error the noise is to keep small; None is the plain mean, as in studies
            that were begun before it could be said.
        expected: how large the number will be at the last release, as the steward guesses from
            public knowledge; never measured. None if nobody has said it.
        opened: the label of its first step; None is the first of the study.
        justification: why this statistic, with these parameters; the card states it.

    Examples:
        >>> hubs = {"statistic": "high-degree", "parameters": {"tau": 3}}
        >>> print(SeriesPromise(name="hubs", epsilon="1/2", **hubs).counted())
        high-degree (tau=3)
    """

    name: Name
    statistic: str
    parameters: dict[str, int | str] = Field(default_factory=dict)
    epsilon: Epsilon | None = None
    delta: Delta | None = None
    pool: PoolShare | None = None
    mechanism: str = AUTO
    horizon: int | None = Field(default=None, ge=1)
    projection: int | tuple[int, int] | None = None
    minimise: Objective | None = None
    expected: int | None = Field(default=None, ge=1, le=LARGEST)
    opened: str | None = None
    justification: Text | None = None

    @model_validator(mode="after")
    def _one_price(self) -> SeriesPromise:
        if (self.epsilon is None) == (self.pool is None):
            raise ValueError("give either 'epsilon', or 'pool' for a share of the budget's pool")
        if self.pool is not None and self.delta is not None:
            raise ValueError("'delta' is that of the pool: leave it out")
        return self

    def counted(self) -> Statistic:
        """The statistic with its parameters."""
        return statistic(self.statistic, **self.parameters)

    @property
    def price(self) -> tuple[Fraction, Fraction]:
        """ε and δ that it takes out of the budget; in a pool, they are paid already."""
        return Fraction(self.epsilon or 0), Fraction(self.delta or 0)

    @property
    def share(self) -> str:
        """What it gets of the budget, in symbols."""
        return self.epsilon or f"{self.pool} of the pool"

    @property
    def price_in_words(self) -> str:
        """The same as people write it: "ε = 0.5", or "0.25 of the pool"."""
        return self.share if self.epsilon is None else f"ε = {self.epsilon}"

    def costing(self, epsilon: Fraction, horizon: int | None) -> SeriesPromise:
        """The same series for another share; its horizon is stated only if it was before.

        A share of a pool stays as it is.
        """
        stated = None if self.horizon is None else horizon
        price = None if self.pool else as_text(epsilon)
        return self.model_copy(update={"epsilon": price, "horizon": stated})

    def pooled(self, share: Fraction) -> SeriesPromise:
        """The same series with a share of the pool, instead of an ε of its own."""
        price = {"epsilon": None, "delta": None, "pool": as_text(share)}
        return self.model_copy(update=price)

    def threshold(self) -> Bound | None:
        """The threshold of the projection as a bound."""
        if self.projection is None or isinstance(self.projection, int):
            return None if self.projection is None else DegreeBound(self.projection)
        return InOutBound(*self.projection)
