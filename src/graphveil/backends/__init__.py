"""Engines: where the counting runs; every engine gives the same answers."""

from graphveil.backends.backend import Engine, ExactCounts
from graphveil.backends.local import LocalEngine

__all__ = ["Engine", "ExactCounts", "LocalEngine"]
