"""Heavy modules: imported when they are first used, since most commands only look; or in part.

Modules with compiled code import NumPy themselves, since the compiler has to see it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["Deferred", "load_kernels_without_blas", "module_of", "np", "pl"]


class Deferred:
    """Stands for a module; once it was asked for something, it has all that the module has."""

    __slots__ = ("__dict__", "_name")

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        module = module_of(self)
        self.__dict__ = module.__dict__  # the next one is found at once
        return getattr(module, attribute)


def module_of(deferred: Deferred) -> ModuleType:
    """The module itself, for those who have to see it."""
    return import_module(deferred._name)


if TYPE_CHECKING:
    import numpy as np
    import polars as pl
else:
    np, pl = Deferred("numpy"), Deferred("polars")


def load_kernels_without_blas() -> None:
    """Load numba as our kernels need it, without SciPy.

    When it is imported, numba asks for the version of SciPy, and with its first kernel it looks
    for BLAS there, which takes a quarter of a second and serves no kernel of ours. Only for
    processes that are all ours, as a command's is: in a user's process it would take BLAS away
    from the user's own kernels.
    """
    if "scipy" in sys.modules or "numba" in sys.modules:
        return
    sys.modules["scipy"] = None  # type: ignore[assignment]  # looks absent
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules["scipy"]
