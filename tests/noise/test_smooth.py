"""Functions filled in between a few places, against their values at each."""

from __future__ import annotations

import numpy as np
import pytest

from graphveil.noise.tails import LONGEST, SHORTEST, Piece, pieces


@pytest.mark.parametrize("number", [0, 1, 62, 63, 64, 65, 127, 128, 2_000, 2_048, 5_000])
def test_pieces_are_all_places_once(number: int) -> None:
    found = list(pieces(number))
    places = np.concatenate([np.zeros(0), *(each.places() for each in found)])
    assert places.tolist() == list(range(1, number + 1))
    assert [each.filled for each in found] == [place > 0 for place in range(len(found))]
    assert all(each.length <= LONGEST for each in found)
    assert not found or found[0].end == SHORTEST


@pytest.mark.parametrize("begin", [64, 128, 1_024, 40_960])
@pytest.mark.parametrize("steep", [1e-6, 1e-3, 0.02, 1.0, 1e3])
def test_a_logarithm_is_filled_in_to_nearly_the_last_digit(begin: int, steep: float) -> None:
    piece = Piece(begin, min(begin, LONGEST), 10**6)
    filled = piece.fill(np.log1p((steep * piece.nodes()) ** 2))
    exactly = np.log1p((steep * piece.places()) ** 2)
    assert filled == pytest.approx(exactly, rel=3e-14, abs=3e-14)


def test_what_is_cut_off_is_filled_as_if_it_were_whole() -> None:
    whole, short = Piece(64, 64, 128), Piece(64, 64, 91)
    assert short.places().tolist() == whole.places()[:27].tolist()
    assert short.nodes().tolist() == whole.nodes().tolist()
    assert short.fill(short.nodes()) == pytest.approx(whole.places()[:27], rel=1e-15)
    assert short.nodes()[0] > 64
    assert short.nodes()[-1] < 128
