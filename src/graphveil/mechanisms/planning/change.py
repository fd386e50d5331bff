"""A change: what is new over some steps, and how that compares with the steps before.

New over s steps is the total now minus the total s steps before; against the s steps before
them it is the difference of two such news.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """Which totals are compared.

    Attributes:
        over: how many steps are taken together, at least 1.
        against: whether what is new in them is compared with the same number of steps before.
    """

    over: int = 1
    against: bool = False

    @property
    def weights(self) -> Mapping[int, int]:
        """A whole number for each release, named by how many steps ago it was."""
        if self.against:
            return {0: 1, self.over: -2, 2 * self.over: 1}
        return {0: 1, self.over: -1}

    @property
    def reach(self) -> int:
        """How many steps ago the earliest release lies that it needs."""
        return max(self.weights)

    def of(self, raw: Callable[[int], Sequence[int]], place: int) -> tuple[int, ...]:
        """Its value at one release, number by number; `raw` gives those of each release."""
        taken = [
            [weight * number for number in raw(place - ago)] for ago, weight in self.weights.items()
        ]
        return tuple(map(sum, zip(*taken, strict=True)))
