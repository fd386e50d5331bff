"""The claimed sensitivity, attacked by graphveil's own kit."""

from __future__ import annotations

import pytest
from acme_graphs.leaves import Leaves

from graphveil import DegreeBound
from graphveil.lab import attack


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_no_neighbours_exceed_the_claim(degree: int) -> None:
    """As many links as promised, and no neighbours that change more."""
    assert not attack(Leaves(), DegreeBound(degree)).broken
