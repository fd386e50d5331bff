"""What statistics say of each other holds of every small graph, and an error in it is noticed."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.statistics.relations import LINKS, PEOPLE, Fact, Known, at_least, zero
from graphveil.statistics.statistic import Statistic, registered, statistic
from test_definitions import Graph, evaluated, graphs

MOST = 4  # links of a person, among five people
BOUNDS: dict[bool, Bound] = {False: DegreeBound(MOST), True: InOutBound(MOST, MOST)}


def examples(directed: bool) -> list[Statistic]:
    """Every statistic of such graphs that counts all people."""
    return [
        each
        for _, member in sorted(registered().items())
        for each in member.examples()
        if each.domain.admits(directed=directed) and each.counted_for is None
    ]


def facts_of(counted: Iterable[Statistic], graph: Graph) -> dict[Fact, Fraction]:
    """Facts that statistics state by themselves; refuses two values of one."""
    found: dict[Fact, Fraction] = {}
    for each in counted:
        width = MOST + 1 if each.vector else 1
        for terms, value in zip(each.facts(width), evaluated(each, graph), strict=False):
            if len(terms) == 1:
                ((fact, times),) = terms.items()
                assert found.setdefault(fact, Fraction(value) / times) == Fraction(value) / times
    return found


@given(graphs(), st.data())
def test_every_relation_holds_of_every_graph(graph: Graph, data: st.DataObject) -> None:
    """Whichever statistics are published: where degrees are missing, other relations take over."""
    some = examples(graph[2])
    chosen = [each for each in some if data.draw(st.booleans())]
    facts = facts_of(some, graph)
    known = Known(frozenset(facts_of(chosen, graph)), BOUNDS[graph[2]])
    for each in chosen:
        for relation in each.relations(known):
            if all(fact in known.facts for fact, _ in relation.terms):
                total = sum(times * facts[fact] for fact, times in relation.terms)
                assert total == 0 if relation.identity else total >= 0, (str(each), relation)


@given(graphs())
def test_every_number_is_the_combination_of_facts_that_it_says(graph: Graph) -> None:
    some = examples(graph[2])
    facts = facts_of(some, graph)
    for each in some:
        width = MOST + 1 if each.vector else 1
        for terms, value in zip(each.facts(width), evaluated(each, graph), strict=False):
            assert sum(times * facts[fact] for fact, times in terms.items()) == value


def test_identities_that_the_issue_names() -> None:
    """Degrees and links, and people in clusters and people with links."""
    degrees = statistic("degree-ccdf").facts(4)
    assert degrees[0] == statistic("nodes").facts(1)[0] == {PEOPLE: 1}
    assert degrees[3] == statistic("high-degree", tau=3).facts(1)[0]
    assert degrees[1] == statistic("clustered", k=2).facts(1)[0]
    known = Known(frozenset(fact for each in degrees for fact in each), DegreeBound(3))
    ends = {LINKS: 2} | {at_least("total", d): -1 for d in (1, 2, 3)}
    assert zero(ends) in set(statistic("edges").relations(known))


def test_without_all_degrees_their_sum_is_only_limited() -> None:
    known = Known(frozenset({LINKS, at_least("total", 2)}), DegreeBound(3))
    found = list(statistic("edges").relations(known))
    assert not any(each.identity for each in found)
    assert dict(found[0].terms)[at_least("total", 2)] == -2


@pytest.mark.parametrize("window", [1, 3])
def test_in_a_recent_network_nothing_only_rises(window: int) -> None:
    for terms in statistic("degree-ccdf", window=window).facts(4):
        assert not any(fact.rises for fact in terms)
