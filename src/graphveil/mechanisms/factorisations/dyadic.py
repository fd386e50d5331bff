"""Dyadic and two-level factorisations: sums of blocks, decoded from complete ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt, lcm
from typing import TYPE_CHECKING, Any

from graphveil.deferred import np
from graphveil.mechanisms.factorisations.bordered import Bordered, identity
from graphveil.mechanisms.factorisations.factorisation import Factorisation, register

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


# Two levels: every difference is measured, and every block of k differences once more.


@lru_cache(maxsize=32)
def bridged(steps: int, block: int) -> Bordered:
    """The factorisation with blocks of `block` steps, the last of them shorter if need be.

    A finished block of length k has the weight k/(k+1), one that is under way for r steps
    r/(k+1): least squares, in closed form.
    """
    if block % 2:
        raise ValueError("the block must be even, for odd denominators")
    blocks = [(first, _even(steps - first, block)) for first in range(0, steps - 1, block)]
    if not blocks:
        return identity(steps)
    grid = lcm(*(length + 1 for _, length in blocks))
    rows = [[int(first <= j < first + length) for j in range(steps)] for first, length in blocks]
    weights = [
        [min(max(t - first, 0), length) * (grid // (length + 1)) for first, length in blocks]
        for t in range(1, steps + 1)
    ]
    return Bordered((1,) * steps, tuple(map(tuple, rows)), tuple(map(tuple, weights)), grid)


def bridged_squares(steps: int, block: int) -> NDArray[np.float64]:
    """The squared lengths of the decoder's rows, in closed form."""
    t = np.arange(1, steps + 1)
    finished = t // block
    inside = t - finished * block
    last = _even(steps % block, block)
    length = np.where(t > steps - steps % block, last, block)
    squares = finished * block / (block + 1) + inside - inside**2 / (length + 1)
    if steps % 2:  # the last step of a rest of odd length is in no block
        squares[-1] = 1 + (squares[-2] if steps > 1 else 0)
    return np.asarray(squares)


@lru_cache(maxsize=32)
def best_block(steps: int) -> int:
    """The even block length with the smallest mean standard deviation, from the horizon alone."""
    longest = min(max(steps, 2), 8 * (isqrt(steps) + 1))
    blocks = range(2, longest + 1, 2)
    return min(blocks, key=lambda block: float(np.sqrt(bridged_squares(steps, block)).mean()))


def _even(left: int, block: int) -> int:
    """The length of a block where this many steps are left; even, for odd denominators."""
    return min(left - left % 2, block)
