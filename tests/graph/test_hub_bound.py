"""A promise with hubs: what it says, whether it is kept, and what is counted under it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import ParameterError
from graphveil.graph.degrees import keeps_bound
from graphveil.graph.projection import counted_part, time_aware_projection
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound
from graphveil.records import from_rows
from graphveil.statistics.statistic import registered
from test_intake import Rows, begin, content, growing_graphs

TREE = HubBound(InOutBound(1, 10), (0, 1))


@pytest.mark.parametrize(
    ("bound", "limits", "kind", "words"),
    [
        (
            HubBound(DegreeBound(10), (2,)),
            (10, 2),
            "undirected",
            "links to at most 2 people with more than 10 links",
        ),
        (
            TREE,
            (1, 10, 0, 1),
            "directed",
            "to nobody with more than 1 incoming link, and from at most one person with more than",
        ),
        (HubBound(InOutBound(1, 2, oriented=True), (1, 3)), (1, 2, 1, 3), "oriented", "never both"),
    ],
    ids=str,
)
def test_it_answers_for_itself(
    bound: HubBound, limits: tuple[int, ...], kind: str, words: str
) -> None:
    assert (bound.limits, bound.kind) == (limits, kind)
    assert words in bound.in_words
    assert bound.directed == (kind != "undirected")
    assert ("may occur" in bound.assumption) == (kind == "directed")
    assert bound.counted == bound.within
    assert bound.wider(1).limits == tuple(limit + 1 for limit in limits)
    assert bound.thresholds(lambda most: (most,))[0].limits == bound.within.limits


@pytest.mark.parametrize("hubs", [(-1,), (True,), (1.5,), ("2",), (None,)])
def test_hubs_are_counted_in_whole_numbers(hubs: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="hubs: must be a whole number of at least 0"):
        HubBound(DegreeBound(3), hubs)


def test_hubs_fit_their_bound() -> None:
    for within, hubs in ((DegreeBound(3), (1, 1)), (InOutBound(3, 3), (1,)), (DegreeBound(3), ())):
        with pytest.raises(ParameterError, match="hubs: needs one number"):
            HubBound(within, hubs)
    with pytest.raises(ParameterError, match="without hubs"):
        HubBound(InOutBound(3, 3), (0, 0))


def test_no_formula_for_a_degree_bound_takes_it_for_one() -> None:
    """A statistic asked for the wrong kind of promise refuses; only people are people anyway."""
    for bound in (HubBound(DegreeBound(3), (1,)), HubBound(InOutBound(3, 3), (1, 1))):
        for direction in ("total", "in", "out"):
            with pytest.raises(ParameterError, match="any number of links"):
                bound.limit(direction)
        for member in registered().values():
            for example in member.examples():
                if member.name != "nodes":
                    with pytest.raises(ParameterError):
                        example.sensitivity(bound)


def most_hubs(edges: dict[tuple[str, str], int], within: DegreeBound | InOutBound) -> list[int]:
    """The most in-hubs that anybody links to, and the most out-hubs that link to anybody."""
    outward, inward = Counter(u for u, _ in edges), Counter(v for _, v in edges)
    to_hubs = Counter(u for u, v in edges if inward[v] > within.limit("in"))
    from_hubs = Counter(v for u, v in edges if outward[u] > within.limit("out"))
    return [max(found.values(), default=0) for found in (to_hubs, from_hubs)]


@given(graph=growing_graphs(), directed=st.booleans(), data=st.data())
def test_whether_it_is_kept(graph: tuple[Rows, Rows], directed: bool, data: st.DataObject) -> None:
    sequence = begin(directed=directed).extend(from_rows(*graph)).sequence
    small, few = st.integers(1, 3), st.integers(0, 3)
    within: DegreeBound | InOutBound
    if directed:
        within = data.draw(st.builds(InOutBound, small, small))
    else:
        within = data.draw(st.builds(DegreeBound, small))
    hubs = (data.draw(few), data.draw(few)) if directed else (data.draw(st.integers(1, 3)),)
    if not any(hubs):
        hubs = (1, 0)
    found = most_hubs(content(sequence)[1], within)
    kept = all(most <= allowed for most, allowed in zip(found, hubs, strict=False))
    assert keeps_bound(sequence, HubBound(within, hubs)) == kept
    if keeps_bound(sequence, within):
        assert kept
        assert max(found) == 0


@given(graph=growing_graphs(), directed=st.booleans())
def test_what_is_counted_keeps_the_bound_within(graph: tuple[Rows, Rows], directed: bool) -> None:
    sequence = begin(directed=directed).extend(from_rows(*graph)).sequence
    bound = HubBound(InOutBound(1, 2), (0, 1)) if directed else HubBound(DegreeBound(2), (1,))
    counted = counted_part(sequence, bound)
    assert keeps_bound(counted, bound.counted)
    assert content(counted) == content(time_aware_projection(sequence, bound.within))
    assert counted_part(sequence, bound.within) is sequence
