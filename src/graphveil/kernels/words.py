"""Eight bytes at a time: text is read as whole words of the processor, wherever they lie.

The first byte of a word is its lowest, as on every processor that numba compiles for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

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
highest_first = cast("Callable[[np.uint64], np.uint64]", intrinsic(_emit_turned))
