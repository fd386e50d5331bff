"""Engines: where the counting runs; every engine gives the same answers."""

from graphveil.engines.counts import ExactCounts
from graphveil.engines.engine import Engine
from graphveil.engines.local import LocalEngine

__all__ = ["Engine", "ExactCounts", "LocalEngine"]
