"""Prices: what a steward is ready to pay for series, by name."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final, TypeAlias

Prices: TypeAlias = Mapping[str, Fraction]  # ε of some series, by name
NO_PRICES: Final[Prices] = MappingProxyType({})
