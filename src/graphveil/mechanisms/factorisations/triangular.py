"""Lower-triangular factorisations, which never look at the future, as Gaussian noise needs it.

Their columns are one sequence, shifted and scaled, or prefix sums with weights, for noise that all
totals have partly in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from math import isqrt, lcm
from typing import TYPE_CHECKING, Any

from graphveil.deferred import np
from graphveil.mechanisms.factorisations.factorisation import Factorisation, register

if TYPE_CHECKING:
    from numpy.typing import NDArray

GRID = 255  # the unit of the coefficients is 1/GRID; odd, and small, since powers of it occur
SCALE_GRID = 257  # the unit of the scales
FINENESS = 1024  # the least factor of a row, nearly; rounding it costs a thousandth of the error


@register
@dataclass(frozen=True)
class ScaledToeplitz(Factorisation):
    """C[i, j] = c[i−j]·n[j] for i ≥ j, and 0 above the diagonal; B = A·C⁻¹.

    Being lower triangular, C never looks at the future, which Gaussian noise needs. B·z is
    found by forward substitution in exact integers over powers of c[0].

    Attributes:
        coefficients: c, not negative, c[0] odd; one per step.
        scales: n, odd and positive; one per step.
    """

    coefficients: tuple[int, ...]
    scales: tuple[int, ...]

    kind = "scaled-toeplitz"

    def __post_init__(self) -> None:
        if any(odd < 1 or odd % 2 == 0 for odd in (self.coefficients[0], *self.scales)):
            raise ValueError("the first coefficient and the scales must be odd and positive")
        if min(self.coefficients) < 0 or len(self.coefficients) != len(self.scales):
            raise ValueError("every step needs a coefficient, not negative, and a scale")

    @property
    def steps(self) -> int:
        """How many steps the epoch has."""
        return len(self.coefficients)

    def strategy(self) -> NDArray[np.int64]:
        """C as a dense matrix."""
        return np.asarray(_lower(np.array(self.coefficients)) * np.array(self.scales))

    def column_l1(self) -> int:
        """The largest column sum."""
        sums = reversed(list(accumulate(self.coefficients)))
        return max(n * total for n, total in zip(self.scales, sums, strict=True))

    def column_l2_squared(self) -> int:
        """The largest column sum of squares."""
        sums = reversed(list(accumulate(c * c for c in self.coefficients)))
        return max(n * n * total for n, total in zip(self.scales, sums, strict=True))

    def decoder(self) -> NDArray[np.float64]:
        """B as floats."""
        inverse = np.zeros(self.steps)
        coefficients = np.array(self.coefficients, dtype=np.float64)
        inverse[0] = 1 / coefficients[0]
        for k in range(1, self.steps):
            inverse[k] = -(coefficients[1 : k + 1] @ inverse[:k][::-1]) / coefficients[0]
        each = _lower(inverse) / np.array(self.scales, dtype=np.float64)[:, None]
        return np.asarray(np.cumsum(each, axis=0))

    def single_row(self, place: int) -> NDArray[np.float64]:
        """One row of B."""
        return np.asarray(self._dense[place])

    @cached_property
    def _dense(self) -> NDArray[np.float64]:
        """B, cached for callers that read it row by row."""
        return self.decoder()

    def decode(self, noise: Sequence[int]) -> list[Fraction]:
        """B·z exactly: solve for z through C, then add up."""
        first, common = self.coefficients[0], lcm(*self.scales)
        total, estimates = 0, []
        for power, (solved, n) in enumerate(zip(self._solved(noise), self.scales, strict=True), 1):
            total = total * first + solved * (common // n)
            estimates.append(Fraction(total, common * first**power))
        return estimates

    def _solved(self, noise: Sequence[int]) -> list[int]:
        """The solution y of c∗y = z; entry t in units of c[0]^−(t+1)."""
        first, power = self.coefficients[0], 1
        solved: list[int] = []
        for t, z in enumerate(noise):
            earlier = 0
            for c, y in zip(self.coefficients[t:0:-1], solved, strict=True):
                earlier = earlier * first + c * y  # Horner: later entries have finer units
            solved.append(z * power - earlier)
            power *= first
        return solved

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return {
            "kind": self.kind,
            "coefficients": list(self.coefficients),
            "scales": list(self.scales),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ScaledToeplitz:
        """What `to_dict` gave."""
        return cls(tuple(data["coefficients"]), tuple(data["scales"]))


@lru_cache(maxsize=32)
def square_root(steps: int) -> ScaledToeplitz:
    """The square root of A on a grid, its columns scaled to about equal length.

    The square root has the coefficients 1, 1/2, 3/8, …: the series of 1/√(1−x). Whole-number
    arithmetic only, so that every machine finds the same matrix.
    """
    series = [Fraction(1)]
    for k in range(1, steps):
        series.append(series[-1] * (2 * k - 1) / (2 * k))
    coefficients = [round(GRID * r) for r in series]
    squares = list(accumulate(c * c for c in coefficients))[::-1]
    scales = [isqrt(SCALE_GRID**2 * squares[0] // square) for square in squares]
    return ScaledToeplitz(tuple(coefficients), tuple(n - (n % 2 == 0) for n in scales))


def _lower(column: NDArray[Any]) -> NDArray[Any]:
    """The lower-triangular Toeplitz matrix with this first column."""
    place = np.subtract.outer(np.arange(len(column)), np.arange(len(column)))
    return np.where(place >= 0, column[np.maximum(place, 0)], 0)


@register
@dataclass(frozen=True)
class ScaledSums(Factorisation):
    """C[i, j] = k[i]·n[j] for i ≥ j, and 0 above the diagonal; B = A·C⁻¹.

    Lower triangular, so that C never looks at the future, which Gaussian noise needs. With w = z/k,
    B·z at step t is Σ_{i≤t} (w_i − w_{i−1})/n_i: what is new of w at each step, weighed.

    Attributes:
        rows: k, odd and positive; one per step.
        columns: n, odd and positive; one per step.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]

    kind = "scaled-sums"

    def __post_init__(self) -> None:
        if any(odd < 1 or odd % 2 == 0 for odd in (*self.rows, *self.columns)):
            raise ValueError("the factors of rows and columns must be odd and positive")
        if not self.rows or len(self.rows) != len(self.columns):
            raise ValueError("every step needs a factor for its row and one for its column")

    @property
    def steps(self) -> int:
        """How many steps the epoch has."""
        return len(self.rows)

    def strategy(self) -> NDArray[np.int64]:
        """C as a dense matrix."""
        rows, columns = (np.array(each, dtype=np.int64) for each in (self.rows, self.columns))
        return np.asarray(np.tril(np.outer(rows, columns)))

    def column_l1(self) -> int:
        """The largest column sum."""
        sums = reversed(list(accumulate(reversed(self.rows))))
        return max(n * total for n, total in zip(self.columns, sums, strict=True))

    def column_l2_squared(self) -> int:
        """The largest column sum of squares."""
        sums = reversed(list(accumulate(k * k for k in reversed(self.rows))))
        return max(n * n * total for n, total in zip(self.columns, sums, strict=True))

    def decoder(self) -> NDArray[np.float64]:
        """B as floats."""
        own, left = self._weights
        return np.asarray(np.tril(np.ones((self.steps, self.steps)), -1) * left + np.diag(own))

    def decoder_squares(self) -> NDArray[np.float64]:
        """The squared length of each row of B, without forming B."""
        own, left = self._weights
        return np.asarray(own**2 + np.cumsum(left**2) - left**2)

    def combined_row(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ coefficient·row of B, without forming B."""
        own, left = self._weights
        later = np.cumsum(coefficients[::-1])[::-1] - coefficients
        return np.asarray(coefficients * own + later * left)

    def integral_steps(self) -> NDArray[np.bool_]:
        """Where nothing is divided: as long as all factors are 1."""
        ones = [k == n == 1 for k, n in zip(self.rows, self.columns, strict=True)]
        return np.array(list(accumulate(ones, lambda before, here: before and here)))

    def decode(self, noise: Sequence[int]) -> list[Fraction]:
        """B·z exactly, in integers over one common denominator."""
        by_row, by_column = lcm(*self.rows), lcm(*self.columns)
        scaled = [z * (by_row // k) for z, k in zip(noise, self.rows, strict=True)]
        news = [here - before for before, here in pairwise([0, *scaled])]
        weighed = [new * (by_column // n) for new, n in zip(news, self.columns, strict=True)]
        return [Fraction(total, by_row * by_column) for total in accumulate(weighed)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return {"kind": self.kind, "rows": list(self.rows), "columns": list(self.columns)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ScaledSums:
        """What `to_dict` gave."""
        return cls(tuple(data["rows"]), tuple(data["columns"]))

    @cached_property
    def _weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of each noise, at its own step, and at all that follow."""
        rows, columns = (np.array(each, dtype=np.float64) for each in (self.rows, self.columns))
        after = np.append(columns[1:], columns[-1:])
        return 1 / (rows * columns), (after - columns) / (rows * columns * after)


@lru_cache(maxsize=32)
def shared(steps: int) -> ScaledSums:
    """Noise on totals with covariance about 1 + (2/m)·(all ones), m the odd number near 2√steps.

    Columns are m, m + 2, m + 4, …; row i has the largest odd factor with k²·n·(n + 2) ≤ unit²: then
    C·d has for all totals g at most the length of `rising_square`.
    """
    first = isqrt(4 * steps) | 1
    columns = [first + 2 * step for step in range(steps)]
    unit = FINENESS * (columns[-1] + 2)
    factors = (isqrt(unit**2 // (n * (n + 2))) for n in columns)
    return ScaledSums(tuple(k - (k % 2 == 0) for k in factors), tuple(columns))


def rising_square(found: ScaledSums, height: int) -> Fraction:
    """At least ‖C·d‖₂² for every d whose totals all lie between 0 and `height`.

    For columns m, m + 2, …, m + 2(T − 1), with the largest k²·n·(n + 2) for a unit, it is at most
    unit·(Σg² − 2(Σg)²/(m + 2T)), which is largest where some totals are `height` and the others 0
    (`docs/mechanisms.md#gaussian-noise-on-projected-totals`).
    """
    if any(later != earlier + 2 for earlier, later in pairwise(found.columns)):
        raise ValueError("the columns must rise by 2 from each to the next")
    unit = max(k * k * n * (n + 2) for k, n in zip(found.rows, found.columns, strict=True))
    whole = found.columns[-1] + 2
    most = max(high - Fraction(2 * high * high, whole) for high in range(found.steps + 1))
    return unit * height**2 * most
