"""Modules that are imported when they are first used: most commands only look, and count nothing.

Modules with compiled code import NumPy themselves, since the compiler has to see it.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["Deferred", "module_of", "np"]


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
else:
    np = Deferred("numpy")
