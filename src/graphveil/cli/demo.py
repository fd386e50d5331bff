"""`graphveil demo`: the main job so far, end to end, on a made-up network."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.graph.bound import Bound
    from graphveil.graph.sequence import GraphSequence
    from graphveil.statistics.statistic import Statistic

FIRST_YEAR, YEARS, PER_YEAR, DEGREE_BOUND, EPSILON = 2005, 20, 60, 15, "1"


def demo() -> None:
    """Grow a made-up network for 20 years, count it, and publish it privately.

    Example: graphveil demo
    """
    from graphveil.cli.output import print_table
    from graphveil.cli.startup import load_kernels_without_blas
    from graphveil.engines import LocalEngine
    from graphveil.graph.bound import DegreeBound

    load_kernels_without_blas()
    sequence, bound = _network(), DegreeBound(DEGREE_BOUND)
    chosen = _statistics()
    counts = LocalEngine().count(sequence, chosen)
    totals = [counts.totals(statistic).tolist() for statistic in chosen]
    print_table(
        "1. A made-up transmission network: exact counts, year by year",
        ("year", *(str(statistic) for statistic in chosen)),
        zip(sequence.labels, *totals, strict=True),
    )
    print("Of real people these numbers would be private: one person can change them.")
    print(f"By how much, if everybody has at most {DEGREE_BOUND} links?\n")
    _print_sensitivities(chosen, bound)
    _print_erratum()
    _print_releases(sequence, chosen[1], bound, totals[1])
    print("Next: graphveil statistics, graphveil plan --help, graphveil count --help")


def _statistics() -> list[Statistic]:
    from graphveil.statistics.statistic import statistic

    names = ("nodes", "edges", "triangles", "components")
    return [*(statistic(name) for name in names), statistic("high-degree", tau=3)]


def _network() -> GraphSequence:
    """A network in which the well connected attract links, and friends of friends meet."""
    from graphveil.formats import from_rows
    from graphveil.graph.calendar import Calendar
    from graphveil.graph.sequence import GraphSequence

    nodes, edges = _people(random.Random("graphveil demo"))
    empty = GraphSequence.begin(Calendar.yearly(FIRST_YEAR))
    return empty.extend(from_rows(nodes, edges)).sequence


def _people(chance: random.Random) -> tuple[list[tuple[str, int]], list[tuple[str, str]]]:
    nodes: list[tuple[str, int]] = []
    friends: dict[str, set[str]] = {}
    ends: list[str] = []  # everybody once, and once more per link
    for number in range(YEARS * PER_YEAR):
        person = f"P{number:04}"
        met = _acquaintances(chance, friends, ends)
        friends[person] = met
        for friend in met:
            friends[friend].add(person)
        ends += [person, *sorted(met), *[person] * len(met)]
        nodes.append((person, FIRST_YEAR + number // PER_YEAR))
    return nodes, [(a, b) for a, met in friends.items() for b in sorted(met) if a < b]


def _acquaintances(
    chance: random.Random, friends: dict[str, set[str]], ends: list[str]
) -> set[str]:
    """Nobody, or a few people, the next often a friend of the last; never beyond the bound."""
    met: set[str] = set()
    if not ends or chance.random() < 0.4:
        return met
    last = chance.choice(ends)
    for _ in range(chance.choice([1, 1, 2, 3])):
        if len(friends[last]) < DEGREE_BOUND - 1:
            met.add(last)
        circle = sorted(friends[last])
        last = chance.choice(circle) if circle and chance.random() < 0.7 else chance.choice(ends)
    return met


def _print_sensitivities(chosen: list[Statistic], bound: Bound) -> None:
    from graphveil.cli.output import print_table

    found = [(statistic, statistic.sensitivity(bound)) for statistic in chosen]
    print_table(
        "2. What one person can change, over all years together",
        ("statistic", "at most", "one year alone", "one link", "tight", "the paper"),
        (
            (str(s), f.l1, f.static_l1, f.edge_l1, "yes" if f.exact else "no", f.paper)
            for s, f in found
        ),
    )


def _print_releases(
    sequence: GraphSequence, statistic: Statistic, bound: Bound, exact: list[int]
) -> None:
    """Publish one statistic year by year, beside the exact counts that stay private."""
    from graphveil.cli.output import print_table
    from graphveil.mechanisms.planner import plan
    from graphveil.mechanisms.release import Release

    chosen = plan(statistic, bound, epsilon=EPSILON, horizon=YEARS)
    published, _ = Release.open(chosen, statistic, bound).publish(sequence)
    rows = []
    for each, true in zip(published, exact, strict=True):
        low, high = each.interval("0.95")
        rows.append((each.label, true, each.raw, f"{low:,} to {high:,}"))
    print_table(
        f"3. {statistic}, published: ε = {EPSILON} for all {YEARS} years ({chosen.mechanism.name})",
        ("year", "exact (private)", "published", "true number, with 95% confidence"),
        rows,
    )
    print("The noise is new at every run of this demo; of a real study it is drawn only once.\n")


def _print_erratum() -> None:
    from graphveil.graph.bound import InOutBound
    from graphveil.statistics.statistic import statistic

    found = statistic("transitive-triangles").sensitivity(InOutBound(3, 3))
    print("Where graphveil departs from the paper: four people who all link to each other both")
    print(f"ways have {found.l1} transitive triangles through each of them; the paper's bound for")
    print(
        f"in- and out-degrees of at most 3 is {found.paper}, and noise made for it is too small.\n"
    )
