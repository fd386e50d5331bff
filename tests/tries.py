"""How much is tried: little in the gate, which is run often; all of it in the audit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
from hypothesis import settings

GATE = 15  # examples of a test by Hypothesis that asks for no number


def tries(number: int, **more: Any) -> settings:
    """So many examples in the gate; ten times as many under `--hypothesis-profile audit`."""
    return settings(max_examples=number * settings().max_examples // GATE, **more)


def sampled(cases: Iterable[Any], every: int, *, first: int = 0) -> list[Any]:
    """Every so-many-th of the cases for the gate, from the first one on; the others are slow.

    Of a product, a number without a common divisor with the lengths of its lists takes every
    entry of every list.
    """
    return [
        case
        if place % every == first
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for place, case in enumerate(cases)
    ]


def crossed(every: int, **lists: Iterable[Any]) -> pytest.MarkDecorator:
    """Every entry of each list with every one of the others; in the gate, a sample of that."""
    return pytest.mark.parametrize(tuple(lists), sampled(product(*lists.values()), every))
