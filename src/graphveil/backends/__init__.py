"""Engines: where the counting runs; every engine gives the same answers."""

from typing import TYPE_CHECKING, Any

from graphveil.backends.backend import Engine, ExactCounts

if TYPE_CHECKING:
    from graphveil.backends.local import LocalEngine

__all__ = ["Engine", "ExactCounts", "LocalEngine"]


def __getattr__(name: str) -> Any:
    if name != "LocalEngine":  # which brings all statistics along
        raise AttributeError(f"module 'graphveil.backends' has no attribute {name!r}")
    from graphveil.backends.local import LocalEngine

    return LocalEngine
