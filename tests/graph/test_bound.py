"""What a bound answers, for those who count on it."""

from __future__ import annotations

import numpy as np
import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, InOutBound


@pytest.mark.parametrize(
    ("bound", "limits", "kind", "in_words"),
    [
        (DegreeBound(1500), (1500, 1500, 1500), "undirected", "at most 1,500 links"),
        (InOutBound(3, 4), (3, 4, 7), "directed", "at most 3 incoming and 4 outgoing links"),
        (
            InOutBound(3, 4, oriented=True),
            (3, 4, 7),
            "oriented",
            "at most 3 incoming and 4 outgoing links, never both ways between two people",
        ),
    ],
    ids=str,
)
def test_a_bound_answers_for_itself(
    bound: Bound, limits: tuple[int, int, int], kind: str, in_words: str
) -> None:
    assert (bound.limit("in"), bound.limit("out"), bound.limit("total")) == limits
    assert (bound.kind, bound.in_words) == (kind, in_words)
    assert bound.directed == (kind != "undirected")
    assert bound.reciprocal == (kind == "directed") == ("may occur" in bound.assumption)


@pytest.mark.parametrize(
    ("bound", "outward", "inward", "kept"),
    [
        (DegreeBound(2), [0, 2], [0, 2], True),
        (DegreeBound(2), [3, 0], [3, 0], False),
        (InOutBound(inward=1, outward=3), [3, 0], [0, 1], True),
        (InOutBound(inward=1, outward=3), [0, 1], [3, 0], False),
        (InOutBound(inward=3, outward=1), [2, 0], [0, 1], False),
        (DegreeBound(1), [], [], True),
    ],
)
def test_degrees_keep_a_bound_or_break_it(
    bound: Bound, outward: list[int], inward: list[int], kept: bool
) -> None:
    assert bound.kept_by(np.array(outward, int), np.array(inward, int)) is kept


def test_wider_bounds_and_thresholds_are_of_the_same_kind() -> None:
    oriented = InOutBound(2, 3, oriented=True)
    assert DegreeBound(2).wider(3) == DegreeBound(5)
    assert oriented.wider(1) == InOutBound(3, 4, oriented=True)
    assert DegreeBound(3).thresholds(lambda most: (1, most)) == [DegreeBound(1), DegreeBound(3)]
    both = [InOutBound(1, 1), InOutBound(1, 3), InOutBound(2, 1), InOutBound(2, 3)]
    assert oriented.thresholds(lambda most: (1, most)) == both


def test_a_bound_that_says_nothing_cannot_be_made() -> None:
    with pytest.raises(TypeError):
        Bound()  # type: ignore[abstract]
    with pytest.raises(ParameterError, match="at least 1"):
        DegreeBound(0)
