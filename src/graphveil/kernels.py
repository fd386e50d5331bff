"""Kernels: compiled to machine code, cached on disk, and free of the GIL.

Importing this module imports numba, so it is imported only where counting starts.

Kernels are given their large arrays instead of making them: NumPy asks the system for large
pages, compiled code does not, and on scattered visits that is a third of the time. Places
are counted in unsigned numbers where it matters, which spares a test for negative ones.
"""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic
from numpy.typing import NDArray

from graphveil.deferred import Deferred, module_of
from graphveil.posix import user_id

# The cache of compiled kernels: it may be unreadable or have no place, and nothing breaks.
#
# numba keeps machine code beside the source, or in the user's cache. It fails where neither can
# be written, and where a cache of an earlier version names classes that are gone.


OWNER_ONLY = 0o700


class KernelCache(FunctionCache):  # type: ignore[misc]  # numba is not typed
    """numba's own cache of one function, which takes what it cannot read for empty."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature; None if there is none, or none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling another version's cache may raise
            with suppress(OSError):
                self.flush()
            return None


def cache_of(function: Callable[..., Any]) -> KernelCache | None:
    """Where the machine code of a function is kept; None if there is no safe place for it."""
    try:
        return KernelCache(function)
    except RuntimeError:  # numba finds no folder that it may write to
        return _in_temporary_folder(function)


def _in_temporary_folder(function: Callable[..., Any]) -> KernelCache | None:
    folder = Path(tempfile.gettempdir()) / f"graphveil-kernels-{user_id()}"
    if user_id() is None or not _is_ours(folder):
        return None
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        return KernelCache(function)
    except RuntimeError:
        return None
    finally:
        config.CACHE_DIR = before


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can have put code there, which would be run."""
    with suppress(OSError):
        folder.mkdir(mode=OWNER_ONLY)
    with suppress(OSError):
        found = folder.lstat()
        mine = stat.S_ISDIR(found.st_mode) and found.st_uid == user_id()
        return mine and stat.S_IMODE(found.st_mode) == OWNER_ONLY
    return False


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
    """The function, in whose module nothing that it names stands for another module any more.

    Definitions of statistics are compiled by those who attack them; the compiler knows NumPy, but
    not what imports it later. What the function does not name stays deferred: Polars, above all.
    """
    names: dict[str, Any] = getattr(function, "__globals__", {})
    for name in names_in(getattr(function, "__code__", None)):
        value = names.get(name)
        if isinstance(value, Deferred):
            names[name] = module_of(value)
    return function


def names_in(code: object) -> set[str]:
    """The names that code uses, and the code inside of it, such as a comprehension's."""
    if not isinstance(code, CodeType):
        return set()
    return set(code.co_names).union(*map(names_in, code.co_consts))


# Asking the processor to fetch memory before it is needed.
#
# Neighbour lists lie scattered over memory, and waiting for them is most of the time that
# counting takes. A kernel that knows which list comes next asks for it ahead of time.


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
