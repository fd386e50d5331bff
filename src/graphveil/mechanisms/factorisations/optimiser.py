"""The optimiser: the factorisation with the smallest error for a known horizon and an aim."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from graphveil.deferred import np
from graphveil.mechanisms.factorisations.bordered import Bordered, border, identity, least_squares
from graphveil.mechanisms.factorisations.objectives import Aim, plain_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Minimising a smooth function by limited-memory BFGS, the same on busy and idle machines.
#
# Libraries do this with multi-threaded linear algebra, which is slow on small problems when
# other programs run, and whose sums depend on the number of threads. Here sums are plain.


Vector: TypeAlias = "NDArray[np.float64]"
Objective: TypeAlias = Callable[[Vector], tuple[float, Vector]]

MEMORY = 20
ENOUGH_FALL, ENOUGH_TURN = 1e-4, 0.9  # what a step must achieve, as parts of the first slope
MOST_TRIALS = 30


def minimised(objective: Objective, start: Vector, rounds: int, tolerance: float) -> Vector:
    """A point near a local minimum.

    Args:
        objective: gives the value and the gradient.
        start: where to begin.
        rounds: how many steps at most.
        tolerance: stop when a step lowers the value by less than this part of it.
    """
    point, (value, slope) = start, objective(start)
    memory: deque[_Seen] = deque(maxlen=MEMORY)
    for _ in range(rounds):
        direction = -_inverse_times(memory, slope)
        length = 1.0 if memory else min(1.0, 0.1 / float(np.sqrt(dot(slope, slope))))
        found = _step(objective, point, value, slope, direction, length)
        if found is None:
            break
        ahead, lower, turned = found
        memory.append(_Seen.of(ahead - point, turned - slope))
        fall, point, value, slope = value - lower, ahead, lower, turned
        if fall <= tolerance * abs(value):
            break
    return point


def dot(a: Vector, b: Vector) -> float:
    """The inner product, on one thread."""
    return float(np.einsum("i,i->", a, b))


class _Seen(NamedTuple):
    """A step that was made.

    Attributes:
        moved: by how much the point changed.
        turned: by how much the slope did.
        product: of the two, which every later step needs.
    """

    moved: Vector
    turned: Vector
    product: float

    @classmethod
    def of(cls, moved: Vector, turned: Vector) -> _Seen:
        return cls(moved, turned, dot(moved, turned))


def _inverse_times(memory: deque[_Seen], slope: Vector) -> Vector:
    """The inverse Hessian, as the last steps saw it, times the slope."""
    result, shares = slope.copy(), []
    for moved, turned, product in reversed(memory):
        share = dot(moved, result) / product
        result -= share * turned
        shares.append(share)
    if memory:
        newest = memory[-1]
        result *= newest.product / dot(newest.turned, newest.turned)
    for (moved, turned, product), share in zip(memory, reversed(shares), strict=True):
        result += (share - dot(turned, result) / product) * moved
    return result


def _step(
    objective: Objective,
    point: Vector,
    value: float,
    slope: Vector,
    direction: Vector,
    length: float,
) -> tuple[Vector, float, Vector] | None:
    """A step that lowers the value enough and flattens the slope enough, by halving intervals."""
    fall, low, high = dot(slope, direction), 0.0, np.inf
    for _ in range(MOST_TRIALS):
        ahead = point + length * direction
        reached, turned = objective(ahead)
        if not reached <= value + ENOUGH_FALL * length * fall:  # also where it is no number
            high = length
        elif dot(turned, direction) < ENOUGH_TURN * fall:
            low = length
        else:
            return ahead, reached, turned
        length = 2 * low if np.isinf(high) else (low + high) / 2
    return None


Matrix: TypeAlias = "NDArray[np.float64]"

GRID = 1023  # columns of C add up to this at most; odd
IDENTITY_UP_TO = 9  # no other C is better on so few steps
LEAVES_UP_TO = 24  # with a sum over all steps, no further rows are better on so few
LEAST_LEAF = 0.15  # of a column; keeps the equations well-conditioned, and costs nothing
WORST_ORDER = 24  # of the norm that replaces the maximum deviation while columns are tuned
LEAST_LEAF_OF_ONE = 0.05  # where one sum alone matters, everything else may be poor
MOST_ROUNDS, TOLERANCE = 300, 1e-8
MOST_COLUMNS = 1024  # with more steps, neighbouring ones share a column while it is tuned, …
SHARED_COLUMNS = 400  # … so that about so many are left: hardly worse, and many times faster


@lru_cache(maxsize=32)
def optimised(steps: int, aim: Aim | None = None) -> Bordered:
    """A local optimum of the aim, by default the mean deviation; on an integer grid."""
    wanted = aim or plain_mean(steps)
    if wanted == plain_mean(steps) and steps <= IDENTITY_UP_TO:
        return identity(steps)
    candidates = [least_squares(*_on_grid(columns)) for columns in _columns(wanted, sums=0)]
    return min(
        (identity(steps), *candidates), key=lambda each: each.column_l1() * aimed(each, wanted)
    )


def aimed(found: Bordered, aim: Aim) -> float:
    """The value of an aim for a factorisation whose noises have variance 1."""
    if aim.totals:
        return aim.value(np.sqrt(found.decoder_squares()))
    ends = range(found.steps)
    return aim.value([sqrt(float((found.span_row(end, aim.reach) ** 2).sum())) for end in ends])


@lru_cache(maxsize=32)  # every series of a study tries the same few weights
def optimised_with_sum(
    steps: int, weight: Fraction = Fraction(1), aim: Aim | None = None
) -> Bordered:
    """The same, with one row more, which sums over all steps; the others are tuned beside it.

    Where one person's changes move, that row costs next to nothing: what leaves one step and
    enters another stays in the sum.

    Args:
        steps: how many steps there are.
        weight: that of a step in the sum, as a part of all else that is measured of it.
        aim: what the others are tuned to; by default, the mean deviation.
    """
    wanted, sums = aim or plain_mean(steps), [[round(GRID * weight)] * steps]
    candidates = [least_squares(leaves, [*rows, *sums]) for leaves, rows in _beside_a_sum(wanted)]
    return min(candidates, key=lambda each: aimed(each, wanted))


@lru_cache(maxsize=32)
def _beside_a_sum(aim: Aim) -> list[tuple[list[int], list[list[int]]]]:
    """Leaves and rows that may stand beside the sum: nothing but leaves, or what was tuned."""
    plain = [GRID] * aim.steps, list[list[int]]()
    if aim.mean_of_totals and aim.steps <= LEAVES_UP_TO:
        return [plain]
    tuned = map(_on_grid, _columns(aim, sums=1))
    return list(tuned) if aim.mean_of_totals else [plain, *tuned]


def _on_grid(columns: Matrix) -> tuple[list[int], list[list[int]]]:
    """Columns that add up to 1 as whole numbers that add up to the grid, with odd leaves."""
    rows = np.rint(GRID * columns[1:]).astype(np.int64)
    rows = rows[rows.any(axis=1)]
    leaves = GRID - rows.sum(axis=0)
    leaves -= leaves % 2 == 0
    return leaves.tolist(), rows.tolist()


def _columns(aim: Aim, *, sums: int) -> Iterator[Matrix]:
    """Tuned columns of all steps, beside so many rows that sum over all of them."""
    steps = aim.steps
    each = 1 if steps <= MOST_COLUMNS else -(-steps // SHARED_COLUMNS)
    for levels in dict.fromkeys([_levels(steps), *([] if aim.mean_of_totals else [(1,)])]):
        tuned = _tuned(_start(-(-steps // each), levels), aim.coarse(each), each, sums)
        yield np.repeat(tuned, each, axis=1)[:, :steps]


def deviation(
    aim: Aim, diagonal: Matrix, rows: Matrix, each: int = 1
) -> tuple[float, Matrix, Matrix]:
    """The value of an aim for the deviations √(2·v_t), and its gradients.

    v_t = a_tᵀ(CᵀC)⁻¹a_t, with a_t the row of the sum that ends with step t, is its least variance.
    With C a diagonal and k rows it takes only prefix sums and one k × k inverse. The worst is
    taken as a norm of high order, which has a slope.

    Args:
        aim: with one weight for each column of C.
        diagonal: of C.
        rows: the other rows of C.
        each: how many steps share a column; sums are then looked at with the last step of each.
    """
    leaves, reach, schur = border(diagonal, rows, each)
    leaves, reach = _spans(leaves, aim.reach), _spans(reach, aim.reach)
    solved = _times(np.asarray(np.linalg.inv(schur), dtype=np.float64), reach)
    deviations = np.sqrt(2 * (leaves - (reach * solved).sum(axis=0)))
    order, weights = WORST_ORDER if aim.worst else 1, np.array(aim.weights)
    value = float((weights * deviations**order).sum() ** (1 / order))
    pull = weights * (deviations / value) ** (order - 1) / deviations
    by_leaf = _later(pull, aim.reach)
    by_reach = -2 * _later(pull * solved, aim.reach)
    by_schur = _times(np.einsum("it,jt->ij", pull * solved, solved), rows)
    by_inverse = by_leaf + (rows * (by_reach + by_schur)).sum(axis=0)
    by_rows = each * (by_reach + 2 * by_schur) / diagonal**2
    return value, -2 * each * by_inverse / diagonal**3, by_rows


def _times(square: Matrix, wide: Matrix) -> Matrix:
    """A small matrix times a wide one, on one thread."""
    return np.asarray(np.einsum("ij,jt->it", square, wide))


def _spans(prefixes: Matrix, reach: int) -> Matrix:
    """Sums over the last `reach` steps, from sums over all."""
    spans = prefixes.copy()
    spans[..., reach:] -= prefixes[..., :-reach]
    return spans


def _later(values: Matrix, reach: int) -> Matrix:
    """For each step, the sum over the `reach` steps from it on."""
    return _spans(np.cumsum(values[..., ::-1], axis=-1), reach)[..., ::-1]


def _start(steps: int, levels: tuple[int, ...]) -> Matrix:
    """Columns made of a leaf, sums of blocks, and a little of everything, to be tuned."""
    rows = np.vstack([_blocks(steps, max(2, round(steps / count))) for count in levels])
    shares = np.vstack([np.ones(steps), 0.3 * rows + 0.06 / len(rows) * (1 - rows)])
    return np.asarray(shares / shares.sum(axis=0))


def _levels(steps: int) -> tuple[int, ...]:
    """Into how many blocks the horizon is cut at each level; determined by experiment."""
    if steps <= 30:
        return (1,)
    if steps <= 150:
        return (max(2, round(steps / 25)),)
    if steps <= 250:
        return (round(steps / 20), 2)
    return (18, 3) if steps <= 500 else (30, 6, 2)


def _blocks(steps: int, length: int) -> Matrix:
    """The indicators of consecutive blocks."""
    place = np.arange(steps) // length
    return np.asarray(place == np.arange(place[-1] + 1)[:, None], dtype=np.float64)


def _tuned(start: Matrix, aim: Aim, each: int, sums: int) -> Matrix:
    """Columns, not negative and adding up to 1, at a local minimum of the aim.

    A column is its leaf's least share, plus the rest in proportion to squares, so that every
    point of the search is admissible. Beside them stand rows of ones, one for each of the `sums`.
    """
    least = LEAST_LEAF if sum(weight > 0 for weight in aim.weights) > 1 else LEAST_LEAF_OF_ONE
    rest = 1 - least

    def columns(point: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        roots = point.reshape(start.shape)
        squares = roots**2
        whole = squares.sum(axis=0)
        return roots, whole, squares / whole

    def objective(point: Matrix) -> tuple[float, Matrix]:
        roots, whole, shares = columns(point)
        rows = np.vstack([rest * shares[1:], np.ones((sums, start.shape[1]))])
        value, by_leaf, by_rows = deviation(aim, least + rest * shares[0], rows, each)
        by_share = rest * np.vstack([by_leaf, by_rows[: len(shares) - 1]])
        inward = by_share - (by_share * shares).sum(axis=0)
        return value, (2 * roots * inward / whole).ravel()

    found = minimised(objective, np.sqrt(start).ravel(), MOST_ROUNDS, TOLERANCE)
    best = rest * columns(found)[2]
    best[0] += least
    return best
