"""Asking the processor to fetch memory before it is needed.

Neighbour lists lie scattered over memory, and waiting for them is most of the time that
counting takes. A kernel that knows which list comes next asks for it ahead of time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

_READ = 0
_KEEP_NEAR = 3
_DATA = 1


def _emit(typing: Any, array: Any, index: Any) -> Any:
    """Generate one `llvm.prefetch` of the array's element; out of range does no harm."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(
            builder.gep(words.data, [arguments[1]]), ir.PointerType(ir.IntType(8))
        )
        hint = ir.FunctionType(ir.VoidType(), [address.type, *[ir.IntType(32)] * 3])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], hint)
        options = [ir.Constant(ir.IntType(32), value) for value in (_READ, _KEEP_NEAR, _DATA)]
        builder.call(function, [address, *options])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


prefetch = cast("Callable[[NDArray[np.integer], int], None]", intrinsic(_emit))
