"""The order of ids that are text, sorted by their bytes without comparing one with another.

Each text is cut into pieces of seven bytes. A piece and how much of the text it is make one number
of 64 bits, and texts come as these numbers do, the first of which that differs deciding. The
numbers are sorted byte by byte, from the last piece to the first; bytes that are the same in all
of them cost nothing. Which order that is, `identity.identity_order` says.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.graph.intake.identity import TextBytes
from graphveil.kernels import inlined, kernel
from graphveil.threads import available_threads, in_threads

# Eight bytes at a time: text is read as whole words of the processor, wherever they lie.
#
# The first byte of a word is its lowest, as on every processor that numba compiles for.


WORD = 8  # bytes


def _emit_load(typing: Any, text: Any, index: Any) -> Any:
    """Generate one load of eight bytes, which need not be aligned."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bytes_ = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(bytes_.data, [arguments[1]])
        word = builder.load(builder.bitcast(place, ir.PointerType(ir.IntType(64))))
        word.align = 1
        return word

    return types.uint64(text, types.intp), generate


def _emit_trailing_zeros(typing: Any, word: Any) -> Any:
    """Generate one `llvm.cttz`: 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


def _emit_turned(typing: Any, word: Any) -> Any:
    """Generate one `llvm.bswap`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


word_at = cast("Callable[[NDArray[np.uint8], int], np.uint64]", intrinsic(_emit_load))
trailing_zeros = cast("Callable[[np.uint64], np.uint64]", intrinsic(_emit_trailing_zeros))
byteswap64 = cast("Callable[[np.uint64], np.uint64]", intrinsic(_emit_turned))


Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Keys = NDArray[np.uint64]

_PIECE = WORD - 1  # bytes of a text in a key; the last byte of the key tells how many these are
_ALL = np.uint64(2**64 - 1)
_MINUS, _ZERO, _ONE, _NINE = 45, 48, 49, 57
_NEGATIVE, _WHOLE, _OTHER = 0, 1, 2  # kinds of ids, in their order
_KIND, _STEP = np.uint64(30), np.uint64(32)  # where these begin in the first key of a text
_LENGTHS = (1 << 30) - 1  # an id is much shorter: see `identity.MOST_ID_BYTES`
_EARLIEST = -(2**31)


def text_order(ids: pl.Series, steps: Int32s) -> Int64s:
    """Rows by step, then by identity; rows that are alike in both stay in their order."""
    ends, content = TextBytes.of(ids)
    keys, spare_keys = np.empty((2, len(ids)), np.uint64)
    rows, spare_rows = np.empty((2, len(ids)), np.int64)
    rows[:] = np.arange(len(ids))
    shares = pairwise(_cuts(len(ids)))
    in_threads(first_keys, [(ends, content, steps, keys, a, b) for a, b in shares])
    sort_by_keys(keys, rows, spare_keys, spare_rows)
    between = np.searchsorted(keys, keys[_cuts(len(ids))[1:-1]])  # where others begin
    shares = pairwise([0, *between.tolist(), len(ids)])
    arrays = keys, rows, spare_keys, spare_rows
    in_threads(sort_alike, [(ends, content, *(each[a:b] for each in arrays)) for a, b in shares])
    return rows


def _cuts(count: int) -> list[int]:
    """Where to cut so many rows into shares for all threads."""
    shares = min(4 * available_threads(), max(count, 1))
    return [count * share // shares for share in range(shares + 1)]


@kernel
def first_keys(
    ends: Int64s, texts: Bytes, steps: Int32s, keys: Keys, first: int, stop: int
) -> None:
    """Fill `keys` with what counts before the bytes of a text: its step and its kind.

    Of whole numbers the length comes next, of negative ones the longest first.
    """
    for row in range(first, stop):
        begin, end = ends[row], ends[row + 1]
        negative = end - begin > 1 and texts[begin] == _MINUS
        digits = begin + negative
        whole = digits < end and _ONE <= texts[digits] <= _NINE
        whole |= end - begin == 1 and texts[begin] == _ZERO
        while whole and digits < end:
            whole &= _ZERO <= texts[digits] <= _NINE
            digits += 1
        kind, length = _OTHER, 0
        if whole:
            kind = _NEGATIVE if negative else _WHOLE
            length = _LENGTHS - (end - begin) if negative else end - begin
        step = np.uint64(steps[row] - _EARLIEST)
        keys[row] = step << _STEP | np.uint64(kind) << _KIND | np.uint64(length)


@kernel
def sort_alike(
    ends: Int64s, texts: Bytes, keys: Keys, rows: Int64s, spare_keys: Keys, spare_rows: Int64s
) -> None:
    """Sort rows of the same first key by their texts; `keys` has the first keys, ascending."""
    begin = 0
    while begin < len(rows):
        first, stop, longest = keys[begin], begin, 0
        while stop < len(rows) and keys[stop] == first:
            longest = max(longest, ends[rows[stop] + 1] - ends[rows[stop]])
            stop += 1
        negative = first >> _KIND & np.uint64(3) == np.uint64(_NEGATIVE)
        turned = _ALL if negative else np.uint64(0)  # of negative numbers large digits come first
        if stop - begin > 1:
            for piece in range((longest - 1) // _PIECE, -1, -1):
                for i in range(begin, stop):
                    place, end = ends[rows[i]] + piece * _PIECE, ends[rows[i] + 1]
                    keys[i] = _key(texts, place, end, turned)
                sort_by_keys(
                    keys[begin:stop], rows[begin:stop],
                    spare_keys[begin:stop], spare_rows[begin:stop],
                )  # fmt: skip
        begin = stop


@inlined
def _key(texts: Bytes, place: int, end: int, turned: np.uint64) -> np.uint64:
    """The bytes of a piece, of which the first is the highest, and how many there are.

    Behind the end there are zeros, and the number tells them from zeros in a text.
    """
    count = min(max(end - place, 0), _PIECE)
    word = np.uint64(0)
    if place + WORD <= len(texts):
        word = byteswap64(word_at(texts, place))
    else:
        for at in range(place, place + WORD):
            word = word << np.uint64(8) | np.uint64(texts[at] if at < end else 0)
    mask = ~(_ALL >> np.uint64(8 * count))
    return (word ^ turned) & mask | np.uint64(count)


@kernel
def sort_by_keys(keys: Keys, rows: Int64s, spare_keys: Keys, spare_rows: Int64s) -> None:
    """Sort keys, and rows along with them, in place; rows of equal keys stay in their order.

    Byte by byte, from the lowest on; `spare_keys` and `spare_rows` are room of the same size.
    """
    varying = np.uint64(0)
    for key in keys:
        varying |= key ^ keys[0]
    swapped = False
    for shift in range(0, 64, 8):
        if varying >> np.uint64(shift) & np.uint64(255):
            if swapped:
                _sort_by_byte(spare_keys, spare_rows, np.uint64(shift), keys, rows)
            else:
                _sort_by_byte(keys, rows, np.uint64(shift), spare_keys, spare_rows)
            swapped = not swapped
    if swapped:
        keys[:] = spare_keys
        rows[:] = spare_rows


@kernel
def _sort_by_byte(
    keys: Keys, rows: Int64s, shift: np.uint64, sorted_keys: Keys, sorted_rows: Int64s
) -> None:
    """Put keys and rows into the order of one byte; where it is the same they stay in theirs."""
    starts = np.zeros(257, np.int64)
    for key in keys:
        starts[(key >> shift & np.uint64(255)) + np.uint64(1)] += 1
    for byte in range(256):
        starts[byte + 1] += starts[byte]
    for i in range(len(keys)):
        byte = keys[i] >> shift & np.uint64(255)
        place = starts[byte]
        sorted_keys[place], sorted_rows[place] = keys[i], rows[i]
        starts[byte] = place + 1
