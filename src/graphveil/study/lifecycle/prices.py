"""Prices: what a steward is ready to pay for series that go on, by name."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Never, TypeAlias

from graphveil.errors import ParameterError
from graphveil.noise.exact_numbers import Exact, exact

Prices: TypeAlias = Mapping[str, Fraction]  # ε of some series, by name
NO_PRICES: Final[Mapping[str, Never]] = MappingProxyType({})


def exact_prices(prices: Mapping[str, Exact]) -> dict[str, Fraction]:
    """The price of each series as a fraction; refuses what is none, or negative."""
    found = {name: exact("price", text) for name, text in prices.items()}
    for name, price in found.items():
        if price < 0:
            raise ParameterError("price", f"of series '{name}' must not be negative")
    return found
