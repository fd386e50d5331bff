"""How kernels are compiled: to machine code, cached on disk, and free of the GIL.

Importing this module imports numba, so it is imported only where counting starts.

Kernels are given their large arrays instead of making them: NumPy asks the system for large
pages, compiled code does not, and on scattered visits that is a third of the time. Places
are counted in unsigned numbers where it matters, which spares a test for negative ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

from graphveil.deferred import Deferred, module_of
from graphveil.kernels.cache import cache_of

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def kernel(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function on arrays once per machine; threads may run it side by side."""
    compiled: Any = numba.njit(nogil=True)(seeing_modules(function))
    cache = cache_of(function)
    if cache is not None:
        compiled._cache = cache  # what `cache=True` would set to numba's own
    return cast("Callable[Arguments, Result]", compiled)


def inlined(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a helper whose body is pasted into the kernels that call it."""
    compiled: Callable[Arguments, Result] = numba.njit(inline="always")(seeing_modules(function))
    return compiled


def seeing_modules(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function, in whose module nothing stands for another module any more.

    Definitions of statistics are compiled by those who attack them; the compiler knows NumPy, but
    not what imports it later.
    """
    names: dict[str, Any] = getattr(function, "__globals__", {})
    for name, value in list(names.items()):
        if isinstance(value, Deferred):
            names[name] = module_of(value)
    return function
