"""How kernels are compiled: to machine code, cached on disk, and free of the GIL.

Importing this module imports numba, so it is imported only where counting starts.

Kernels are given their large arrays instead of making them: NumPy asks the system for large
pages, compiled code does not, and on scattered visits that is a third of the time. Places
are counted in unsigned numbers where it matters, which spares a test for negative ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def kernel(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function on arrays once per machine; threads may run it side by side."""
    compiled: Callable[Arguments, Result] = numba.njit(cache=True, nogil=True)(function)
    return compiled


def inlined(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a helper whose body is pasted into the kernels that call it."""
    compiled: Callable[Arguments, Result] = numba.njit(inline="always")(function)
    return compiled
