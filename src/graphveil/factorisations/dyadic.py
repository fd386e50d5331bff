"""Dyadic factorisations: the binary tree of sums, decoded from its complete nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.deferred import np
from graphveil.factorisations.factorisation import Factorisation, register

if TYPE_CHECKING:
    from numpy.typing import NDArray


@register
@dataclass(frozen=True)
class Dyadic(Factorisation):
    """C = the indicators of all complete dyadic blocks; B = the best estimate from below.

    The sum of a block is known from its own measurement and from its two halves. Weighing
    both by their variances gives its estimate the variance v_j = 2^j / (2^{j+1} − 1) at
    height j, and its own measurement the weight v_j. Step t adds up the blocks that the
    binary digits of t name. Measurements are ordered by height, then by place.
    """

    length: int

    kind = "dyadic"

    @property
    def steps(self) -> int:
        """How many steps the epoch has."""
        return self.length

    @property
    def levels(self) -> int:
        """The heights that occur, 0 for single steps."""
        return self.steps.bit_length()

    @property
    def measurements(self) -> int:
        """One per complete block."""
        return sum(self.steps >> height for height in range(self.levels))

    def strategy(self) -> NDArray[np.int64]:
        """C as a dense matrix."""
        rows = []
        for height in range(self.levels):
            level = np.repeat(np.eye(self.steps >> height, dtype=np.int64), 1 << height, axis=1)
            rows.append(np.pad(level, ((0, 0), (0, self.steps - level.shape[1]))))
        return np.vstack(rows)

    def column_l1(self) -> int:
        """The first step lies in a block of every height."""
        return self.levels

    def column_l2_squared(self) -> int:
        """As `column_l1`, since the entries are 0 and 1."""
        return self.levels

    def decoder(self) -> NDArray[np.float64]:
        """B as floats, (steps, measurements)."""
        units = np.eye(self.measurements)
        places = np.cumsum([0] + [self.steps >> height for height in range(self.levels)])
        blocks = [units[: self.steps]]
        for height in range(1, self.levels):
            own = units[places[height] : places[height + 1]]
            count = len(own)
            halves = blocks[-1][0 : 2 * count : 2] + blocks[-1][1 : 2 * count : 2]
            weight = float(own_weight(height))
            blocks.append(weight * own + (1 - weight) * halves)
        sums = [
            sum((blocks[height][place] for height, place in dyadic(t)), np.zeros(len(units)))
            for t in range(1, self.steps + 1)
        ]
        return np.array(sums)

    def decoder_squares(self) -> NDArray[np.float64]:
        """Σ v_j over the digits of t, since the blocks of one step share no measurement."""
        variances = [float(own_weight(height)) for height in range(self.levels)]
        steps = range(1, self.steps + 1)
        return np.array([sum(variances[height] for height, _ in dyadic(t)) for t in steps])

    def single_row(self, place: int) -> NDArray[np.float64]:
        """One row of B: of each block that the step names, all that its estimate is made of."""
        row = np.zeros(self.measurements)
        firsts = np.cumsum([0] + [self.steps >> height for height in range(self.levels)])
        for height, block in dyadic(place % self.steps + 1):
            share = 1.0
            for below in range(height + 1):  # heights under the block's own
                own = float(own_weight(height - below))
                first = firsts[height - below] + (block << below)
                row[first : first + (1 << below)] = share * own
                share *= 1 - own
        return row

    def integral_steps(self) -> NDArray[np.bool_]:
        """Only the first: every later block is weighed against its halves."""
        return np.asarray(np.arange(self.steps) == 0)

    def decode(self, noise: Sequence[int]) -> list[Fraction]:
        """B·z exactly."""
        left = iter(noise)
        blocks = [[Fraction(next(left)) for _ in range(self.steps)]]
        for height in range(1, self.levels):
            weight = own_weight(height)
            pairs = zip(blocks[-1][::2], blocks[-1][1::2], strict=False)
            blocks.append([weight * next(left) + (1 - weight) * (a + b) for a, b in pairs])
        return [
            sum((blocks[height][place] for height, place in dyadic(t)), Fraction())
            for t in range(1, self.steps + 1)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return {"kind": self.kind, "steps": self.steps}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Dyadic:
        """What `to_dict` gave."""
        return cls(data["steps"])


def own_weight(height: int) -> Fraction:
    """The weight of a block's own measurement, which is also the variance of its estimate."""
    return Fraction(2**height, 2 ** (height + 1) - 1)


def dyadic(t: int) -> Iterator[tuple[int, int]]:
    """The blocks, as (height, place), into which the first t steps fall apart."""
    for height in range(t.bit_length()):
        if t >> height & 1:
            yield height, (t >> height) - 1
